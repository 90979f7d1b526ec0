/** The catalogue for administrators: lists all entries, changes many at once, and exports them as a CSV file. */
import { basename } from 'node:path/posix';
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
import type { AuditEntry, AuditRecorder } from '../audit/audit-recorder.ts';
import { parseHold } from '../domain/metadata-hold.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { csvByteOrderMark, formatCsvLine } from '../platform/csv.ts';
import { createYielder } from '../platform/yield-to-event-loop.ts';
import { spellingOf } from '../store/catalogue-names.ts';
import { type Database, runLockedTransaction } from '../store/database.ts';
import { editableFields, type ImageRow } from '../store/images.ts';
import { imageOf } from '../store/listed-image.ts';
import {
  countManagedImages,
  findImages,
  listImagesToExport,
  listManagedImages,
} from '../store/managed-images.ts';
import type { Catalogue } from './catalogue.ts';
import { decodeImageCursor, encodeImageCursor } from './catalogue-cursor.ts';
import { catalogueColumns } from './catalogue-file.ts';
import { type CatalogueEditor, editImage, type ImageEdit } from './edit-image.ts';
import { isMetadataName } from './metadata-files.ts';

export interface SlideManagement {
  /** Returns a page in the order of the catalogue. @throws AppError invalid_request for an invalid cursor */
  list(query: QueryOf<typeof listEndpoint>): Promise<ResponseOf<typeof listEndpoint>>;
  /** Counts the matching entries by status, for example `ready` or `hidden`. */
  counts(filter: QueryOf<typeof countEndpoint>): Promise<ManagedCounts>;
  /**
   * Applies the same change to several entries, or to none of them when it throws.
   *
   * @returns number of entries that changed
   * @throws AppError not_found for an unknown entry, and for a removed entry, unless the change restores it or removes it again
   */
  change(changes: BodyOf<typeof changeImages>, editor: CatalogueEditor): Promise<number>;
  /** Exports the current catalogue as CSV. The export is audited before the first byte is sent. */
  exportCsv(editor: CatalogueEditor): Promise<Readable>;
}

interface SlideManagementDependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: AuditRecorder;
  readonly jobs: Pick<Jobs, 'enqueue'>;
  readonly catalogue: Pick<Catalogue, 'evict' | 'rescanSoon'>;
}

const rowsPerQuery = 1000;

export function createSlideManagement({
  db,
  now,
  audit,
  jobs,
  catalogue,
}: SlideManagementDependencies): SlideManagement {
  async function* csvLines(): AsyncGenerator<string> {
    yield csvByteOrderMark + formatCsvLine(catalogueColumns);
    let after = { sortKey: '', id: '' };
    for (;;) {
      const rows = await listImagesToExport(db, after, rowsPerQuery);
      if (rows.length > 0) {
        yield rows.map((row) => formatCsvLine(catalogueColumns.map((column) => row[column]))).join('');
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < rowsPerQuery) return;
      after = { sortKey: last.sort_key, id: last.id };
    }
  }

  /** Returns the registered spelling of a dataset. The empty name stays empty: it selects entries without a dataset. */
  const registeredSpelling = async (dataset: string | undefined) =>
    dataset ? spellingOf(db, 'dataset', dataset) : dataset;

  return {
    async list({ q, dataset, status, limit, cursor }) {
      const rows = await listManagedImages(db, {
        search: q?.trim(),
        dataset: await registeredSpelling(dataset),
        status,
        after: cursor === undefined ? null : decodeImageCursor(cursor),
        limit: limit + 1, // one more row shows whether there is a next page
      });
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const hasMore = page.length < rows.length;
      return {
        images: page.map(managedImageOf),
        next_cursor: hasMore && last ? encodeImageCursor({ sortKey: last.sort_key, id: last.id }) : null,
      };
    },

    counts: async ({ q, dataset }) =>
      countManagedImages(db, { search: q?.trim(), dataset: await registeredSpelling(dataset) }),

    async change({ ids: requestedIds, ...edit }, editor) {
      const uniqueIds = [...new Set(requestedIds)];
      /** Ids of entries that stand for an unusable metadata file (such as `catalogue.csv`), not for a slide. */
      const metadataFileIds = new Set<string>();
      const changedIds = await runLockedTransaction(db, 'catalogue', async (tx) => {
        const rows = await findImages(tx, uniqueIds);
        if (rows.length < uniqueIds.length) throw new AppError('not_found');
        const at = now().toISOString();
        const yieldToEventLoop = createYielder();
        const ids: string[] = [];
        const auditEntries: AuditEntry[] = [];
        for (const row of rows) {
          await yieldToEventLoop();
          if (isMetadataName(basename(row.path))) metadataFileIds.add(row.id);
          const edited = await editImage(tx, row, withoutUnchanged(edit, row), editor, at);
          if (edited.row !== row) ids.push(row.id); // the same object means that nothing changed
          auditEntries.push(...edited.auditEntries);
        }
        await audit.recordAll(tx, auditEntries);
        return ids;
      });
      catalogue.evict(changedIds);
      if (edit.read_again && changedIds.length > 0) {
        await jobs.enqueue(
          'read-slide',
          changedIds.filter((id) => !metadataFileIds.has(id)).map((imageId) => ({ imageId, again: true })),
        );
      }
      // Only a scan reads metadata files.
      if (changedIds.some((id) => metadataFileIds.has(id))) catalogue.rescanSoon();
      return changedIds.length;
    },

    async exportCsv({ uid, origin }) {
      await audit.recordSeparately({ action: 'catalogue-exported', actor: uid, target: null, origin });
      return Readable.from(csvLines(), { objectMode: false });
    },
  };
}

/** Returns an entry as the API sends it to administrators. */
function managedImageOf(row: ImageRow): ManagedImage {
  const hold = parseHold(row.metadata_hold);
  return {
    ...imageOf(row),
    removed: row.removed_at !== null,
    missing: row.missing_since !== null,
    metadata_hold:
      hold === null ? null : { kind: hold.kind, dataset: hold.kind === 'kept' ? hold.dataset : null },
  };
}

/** Returns the edit without the values that the entry already has. Null and '' both mean no dataset, or no organ. */
function withoutUnchanged(edit: ImageEdit, row: ImageRow): ImageEdit {
  const unchanged = editableFields.filter(
    (field) =>
      edit[field] !== undefined &&
      (edit[field] || null) === row[field] &&
      // If a scan has kept the slide in its dataset although metadata files name another one, confirming the dataset is an edit.
      !(field === 'dataset_name' && parseHold(row.metadata_hold)?.kind === 'kept'),
  );
  return { ...edit, ...Object.fromEntries(unchanged.map((field) => [field, undefined])) };
}
