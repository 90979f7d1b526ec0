/**
 * Imports a catalogue file in two requests: `check` returns a preview of the changes, and `apply` makes exactly these
 * changes. The server stores nothing in between: `apply` computes the changes again from the current catalogue, and
 * rejects the file if they differ from the preview.
 */
import { createHash } from 'node:crypto';
import { basename } from 'node:path/posix';
import { setImmediate } from 'node:timers/promises';
import {
  AppError,
  type ImportedChange,
  ImportedField,
  type ImportPlan,
  type ImportProblem,
  isSingleLine,
  type Language,
  maxReportedImportRows,
  nameKey,
  spellName,
} from '@lamina/contract';
import type { AuditRecorder } from '../audit/audit-recorder.ts';
import { readHold } from '../domain/metadata-hold.ts';
import { createYielder } from '../platform/yield-to-event-loop.ts';
import { listSpellings } from '../store/catalogue-names.ts';
import {
  type Connection,
  changeCount,
  type Database,
  type DatabaseTransaction,
  runLockedTransaction,
} from '../store/database.ts';
import {
  type ImageNames,
  type ImageNaming,
  listImageNamings,
  renameImages,
} from '../store/managed-images.ts';
import type { Catalogue } from './catalogue.ts';
import {
  type CatalogueFile,
  type CatalogueRow,
  invalidCharacters,
  type RowProblem,
  readCatalogueFile,
} from './catalogue-file.ts';
import { type CatalogueEditor, editDetail, withEditedFields } from './edit-image.ts';
import { normalizedSlidePath } from './metadata-files.ts';

export interface CatalogueImport {
  /** Computes the changes of a file. @throws AppError invalid_request when the bytes are not a catalogue file */
  check(file: Uint8Array, language: Language): Promise<ImportPlan>;
  /**
   * Applies all changes of a file or none.
   *
   * @param plan the id of the changes that `check` has returned
   * @returns number of changed entries
   * @throws AppError import_changed when the changes would differ, invalid_request when a line is invalid
   */
  apply(file: Uint8Array, plan: string, editor: CatalogueEditor): Promise<number>;
}

interface ImportDependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: AuditRecorder;
  readonly catalogue: Pick<Catalogue, 'evict'>;
}

interface Plan {
  /** See `digestOf`. */
  readonly id: string;
  readonly changes: readonly ImportedChange[];
  /** The new columns of each changed entry. */
  readonly namings: readonly ImageNaming[];
  /** Number of lines whose values the slide already has. */
  readonly unchanged: number;
  /** Lines that match no slide of the catalogue. */
  readonly unknown: readonly RowProblem[];
  /** Invalid lines; a file with such lines cannot be applied. */
  readonly wrong: readonly RowProblem[];
}

/** Number of entries that are processed before the event loop handles other requests. */
const batchSize = 500;

export function createCatalogueImport({ db, now, audit, catalogue }: ImportDependencies): CatalogueImport {
  async function applyPlan(
    tx: DatabaseTransaction,
    plan: Plan,
    file: CatalogueFile,
    { uid, origin }: CatalogueEditor,
  ) {
    const at = now().toISOString();
    const actorAndOrigin = { actor: uid, origin };
    await audit.record(tx, {
      ...actorAndOrigin,
      action: 'catalogue-imported',
      target: null,
      detail: {
        rows: file.lines.length,
        changed: plan.changes.length,
        unchanged: plan.unchanged,
        unknown: plan.unknown.length,
      },
    });
    for (let start = 0; start < plan.namings.length; start += batchSize) {
      await renameImages(tx, plan.namings.slice(start, start + batchSize), at);
      const entries = plan.changes.slice(start, start + batchSize).map(({ image_id, fields }) => ({
        ...actorAndOrigin,
        action: 'image-edited' as const,
        target: image_id,
        detail: importDetail(fields),
      }));
      await audit.recordAll(tx, entries);
      await setImmediate();
    }
  }

  return {
    async check(bytes, language) {
      const file = await readCatalogueFile(bytes);
      const { id, changes, unchanged, unknown, wrong } = await planOf(db, file);
      const reportOf = (problems: readonly RowProblem[]): ImportProblem[] =>
        problems
          .slice(0, maxReportedImportRows)
          .map(({ line, subject, reason }) => ({ line, subject, reason: reason[language] }));
      return {
        plan: id,
        encoding: file.encoding,
        rows: file.lines.length + file.problems.length,
        changed: changes.length,
        unchanged,
        unknown: unknown.length,
        wrong: wrong.length,
        changes: changes.slice(0, maxReportedImportRows),
        unknown_lines: reportOf(unknown),
        wrong_lines: reportOf(wrong),
      };
    },

    async apply(bytes, planId, editor) {
      const file = await readCatalogueFile(bytes);
      /** @returns ids of the changed entries; null when the catalogue has changed meanwhile, so that the plan must be computed again */
      const attempt = async (): Promise<readonly string[] | null> => {
        const revision = await changeCount(db, 'catalogue');
        const plan = await planOf(db, file);
        if (plan.id !== planId) throw new AppError('import_changed');
        if (plan.wrong.length > 0)
          throw new AppError('invalid_request', { reason: 'catalogue_file_has_errors' });
        if (plan.changes.length === 0) return [];
        return runLockedTransaction(db, 'catalogue', async (tx) => {
          // The plan was computed before the transaction, so that no lock was held. It is valid only if the catalogue
          // has not changed in between; the transaction itself counts as one change.
          if ((await changeCount(tx, 'catalogue')) !== revision + 1) return null;
          await applyPlan(tx, plan, file, editor);
          return plan.namings.map(({ id }) => id);
        });
      };
      for (let attempts = 0; attempts < maxAttempts; attempts++) {
        const changed = await attempt();
        if (changed === null) continue;
        catalogue.evict(changed);
        return changed.length;
      }
      throw new AppError('import_changed');
    },
  };
}

/** An attempt fails if the catalogue changes while it runs; an ingest changes the catalogue several times a second. */
const maxAttempts = 20;

const noSuchSlide = {
  tr: 'Katalogda böyle bir slayt yok.',
  en: 'There is no such slide in the catalogue.',
};
const severalSlides = {
  tr: 'Bu adda birden çok slayt var. Klasörüyle birlikte yolunu ya da kimliğini (id) yazın.',
  en: 'Several slides are called so. Give its path with the folder, or its id.',
};
const mentionedIn = (line: number) => ({
  tr: `Bu slayttan ${line}. satırda da söz ediliyor.`,
  en: `Line ${line} is about this slide, too.`,
});

/** Computes the changes of a file. */
async function planOf(db: Connection, file: CatalogueFile): Promise<Plan> {
  const findEntries = await indexEntries(db);
  const spellRow = await spellingsOf(db);
  const changes: ImportedChange[] = [];
  const namings: ImageNaming[] = [];
  const unknown: RowProblem[] = [];
  const wrong: RowProblem[] = [...file.problems];
  const lineByImageId = new Map<string, number>();
  let unchanged = 0;
  const yieldToEventLoop = createYielder();
  for (const row of file.lines) {
    await yieldToEventLoop();
    const problem = (reason: RowProblem['reason']) => ({
      line: row.line,
      subject: row.file_name ?? row.id ?? '',
      reason,
    });
    const matches = findEntries(row);
    const [image] = matches;
    if (image === undefined) {
      unknown.push(problem(noSuchSlide));
      continue;
    }
    if (matches.length > 1) {
      wrong.push(problem(severalSlides));
      continue;
    }
    const firstLine = lineByImageId.get(image.id);
    if (firstLine !== undefined) {
      wrong.push(problem(mentionedIn(firstLine)));
      continue;
    }
    lineByImageId.set(image.id, row.line);
    const fields = fieldsOf(image, spellRow(row));
    // A file that exists may have a name with control characters; a new name must not contain any.
    const invalid = fields.find(({ after }) => !isSingleLine(after));
    if (invalid !== undefined) {
      wrong.push(problem(invalidCharacters(invalid.field)));
      continue;
    }
    if (fields.length === 0) {
      unchanged++;
      continue;
    }
    changes.push({ line: row.line, image_id: image.id, file_name: image.file_name, fields });
    namings.push(namingOf(image, fields));
  }
  wrong.sort((a, b) => a.line - b.line);
  return { id: await digestOf(changes, unknown, wrong), changes, namings, unchanged, unknown, wrong };
}

/** Returns the catalogue entries that a line of the file may identify. */
type FindEntries = (row: CatalogueRow) => readonly ImageNames[];

/**
 * Reads all entries, and returns a function that finds the entries that a line identifies: by its id; otherwise by the whole
 * path; otherwise by the last parts of the path, or by the name.
 */
async function indexEntries(db: Connection): Promise<FindEntries> {
  const byId = new Map<string, ImageNames>();
  const byName = new Map<string, ImageNames[]>();
  for (let lastId = ''; ; ) {
    const batch = await listImageNamings(db, lastId, batchSize);
    for (const image of batch) {
      byId.set(image.id, image);
      for (const name of new Set([basename(image.path), image.file_name].map(normalizedSlidePath))) {
        const others = byName.get(name);
        if (others === undefined) byName.set(name, [image]);
        else others.push(image);
      }
    }
    if (batch.length < batchSize) break;
    lastId = batch.at(-1)?.id ?? '';
    await setImmediate();
  }
  return ({ id, file_name: name }) => {
    if (id !== null) {
      const image = byId.get(id.toLowerCase());
      return image === undefined ? [] : [image];
    }
    const path = normalizedSlidePath(name ?? '');
    const sameName = byName.get(basename(path)) ?? [];
    const samePath = sameName.filter((image) => normalizedSlidePath(image.path) === path);
    if (samePath.length > 0) return samePath;
    return sameName.filter(
      (image) =>
        normalizedSlidePath(image.path).endsWith(`/${path}`) || normalizedSlidePath(image.file_name) === path,
    );
  };
}

/** Returns a function that replaces datasets and organs by their registered spellings. */
async function spellingsOf(db: Connection): Promise<(row: CatalogueRow) => CatalogueRow> {
  const registered = { dataset: await listSpellings(db, 'dataset'), organ: await listSpellings(db, 'organ') };
  const spell = (kind: keyof typeof registered, name: string | null) =>
    name === null ? null : (registered[kind].get(nameKey(name)) ?? spellName(name));
  return (row) => ({
    ...row,
    dataset_name: spell('dataset', row.dataset_name),
    organ_type: spell('organ', row.organ_type),
  });
}

/** Returns the fields of an entry that a line changes. */
function fieldsOf(image: ImageNames, row: CatalogueRow): ImportedChange['fields'] {
  return ImportedField.options.flatMap((field) => {
    // In a line without an id, the name only identifies the slide.
    const after = field === 'file_name' && row.id === null ? null : row[field];
    if (after === null || after === image[field]) return [];
    return [{ field, before: image[field], after: after.normalize('NFC') }];
  });
}

/** Returns the new columns of a changed entry. */
function namingOf(image: ImageNames, fields: ImportedChange['fields']): ImageNaming {
  const { id, file_name, dataset_name, organ_type } = image;
  const edited_fields = withEditedFields(
    image.edited_fields,
    fields.map(({ field }) => field),
  );
  const values = Object.fromEntries(fields.map(({ field, after }) => [field, after]));
  // A scan may have kept the slide in its dataset although the metadata files name another; setting the dataset ends this hold.
  const endsHold =
    fields.some(({ field }) => field === 'dataset_name') && readHold(image.metadata_hold)?.kind === 'kept';
  const metadata_hold = endsHold ? null : image.metadata_hold;
  return { id, file_name, dataset_name, organ_type, edited_fields, metadata_hold, ...values };
}

/** Returns the detail of the audit entry for one changed entry. */
function importDetail(fields: ImportedChange['fields']) {
  const names = fields.map(({ field }) => field);
  const before = Object.fromEntries(fields.map((change) => [change.field, change.before]));
  const after = Object.fromEntries(fields.map((change) => [change.field, change.after]));
  return editDetail(names, before, after);
}

/** Returns the id of a plan: a hash of its changes and of the numbers of its unknown and invalid lines. */
async function digestOf(
  changes: readonly ImportedChange[],
  unknown: readonly RowProblem[],
  wrong: readonly RowProblem[],
): Promise<string> {
  const hash = createHash('sha256');
  const yieldToEventLoop = createYielder();
  for (const { image_id, fields } of changes) {
    await yieldToEventLoop();
    hash.update(JSON.stringify([image_id, fields.map(({ field, before, after }) => [field, before, after])]));
  }
  const lines = (problems: readonly RowProblem[]) => problems.map(({ line }) => line);
  return hash.update(JSON.stringify([lines(unknown), lines(wrong)])).digest('base64url');
}
