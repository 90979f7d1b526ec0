/** The catalogue as administrators keep it: all entries, changes to many of them at once, and the file of them. */
import { Readable } from 'node:stream';
import {
  AppError,
  type BodyOf,
  type changeImages,
  type countManagedImages as countEndpoint,
  type listManagedImages as listEndpoint,
  type ManagedCounts,
  type ManagedImage,
  type QueryOf,
  type ResponseOf,
} from '@lamina/contract';
import type { Audit, AuditEntry } from '../audit.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { csvLineOf, csvStart } from '../spreadsheet.ts';
import { change, type Database } from '../store/database.ts';
import { editableFields, type ImageRow, imageOf } from '../store/images.ts';
import {
  countManagedImages,
  findImages,
  listImagesToExport,
  listManagedImages,
} from '../store/managed-images.ts';
import type { Catalogue } from './catalogue.ts';
import { catalogueColumns } from './catalogue-file.ts';
import { decodePlace, encodePlace } from './cursor.ts';
import { type Editor, editImage, type ImageEdit } from './edit-image.ts';
import { createGiveWay } from './give-way.ts';

export interface SlideManagement {
  /** In the order of the catalogue. @throws AppError invalid_request for a cursor that is none */
  list(query: QueryOf<typeof listEndpoint>): Promise<ResponseOf<typeof listEndpoint>>;
  counts(filter: QueryOf<typeof countEndpoint>): Promise<ManagedCounts>;
  /**
   * All of them or none.
   *
   * @returns how many were otherwise before
   * @throws AppError not_found when one is not there, or is removed and not brought back
   */
  change(changes: BodyOf<typeof changeImages>, editor: Editor): Promise<number>;
  /** What is in the catalogue now, in its order; that it was asked for is on record before it begins. */
  exportCsv(editor: Editor): Promise<Readable>;
}

interface Ground {
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: Audit;
  readonly jobs: Pick<Jobs, 'ask'>;
  readonly catalogue: Pick<Catalogue, 'forget'>;
}

const linesAtOnce = 1000;

export function createSlideManagement({ db, now, audit, jobs, catalogue }: Ground): SlideManagement {
  async function* csvLines(): AsyncGenerator<string> {
    yield csvStart + csvLineOf(catalogueColumns);
    let after = { sortKey: '', id: '' };
    for (;;) {
      const rows = await listImagesToExport(db, after, linesAtOnce);
      if (rows.length > 0) {
        yield rows.map((row) => csvLineOf(catalogueColumns.map((column) => row[column]))).join('');
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < linesAtOnce) return;
      after = { sortKey: last.sort_key, id: last.id };
    }
  }

  return {
    async list({ q, dataset, status, limit, cursor }) {
      const rows = await listManagedImages(db, {
        search: q?.trim(),
        dataset,
        status,
        after: cursor === undefined ? null : decodePlace(cursor),
        limit: limit + 1, // one more tells whether there is a next page
      });
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const hasMore = page.length < rows.length;
      return {
        images: page.map(managedImageOf),
        next_cursor: hasMore && last ? encodePlace({ sortKey: last.sort_key, id: last.id }) : null,
      };
    },

    counts: ({ q, dataset }) => countManagedImages(db, { search: q?.trim(), dataset }),

    async change({ ids, ...edit }, editor) {
      const wanted = [...new Set(ids)];
      const changed = await change(db, 'catalogue', async (tx) => {
        const rows = await findImages(tx, wanted);
        if (rows.length < wanted.length) throw new AppError('not_found');
        const at = now().toISOString();
        const giveWay = createGiveWay();
        const others: string[] = [];
        const entries: AuditEntry[] = [];
        for (const row of rows) {
          await giveWay();
          const edited = await editImage(tx, row, withoutNeedless(edit, row), editor, at);
          if (edited.row !== row) others.push(row.id);
          entries.push(...edited.entries);
        }
        await audit.recordAll(tx, entries);
        return others;
      });
      catalogue.forget(changed);
      if (edit.read_again && changed.length > 0) {
        await jobs.ask(
          'read-slide',
          changed.map((imageId) => ({ imageId, again: true })),
        );
      }
      return changed.length;
    },

    async exportCsv({ uid, origin }) {
      await audit.note({ action: 'catalogue-exported', actor: uid, target: null, origin });
      return Readable.from(csvLines(), { objectMode: false });
    },
  };
}

function managedImageOf(row: ImageRow): ManagedImage {
  return { ...imageOf(row), removed: row.removed_at !== null, missing: row.missing_since !== null };
}

/** Whoever moves many does not mean those that are there already. */
function withoutNeedless(edit: ImageEdit, row: ImageRow): ImageEdit {
  const needless = editableFields.filter(
    (field) => edit[field] !== undefined && (edit[field] || null) === row[field],
  );
  return { ...edit, ...Object.fromEntries(needless.map((field) => [field, undefined])) };
}
