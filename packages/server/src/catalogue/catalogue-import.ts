/**
 * Imports a catalogue file in two requests: `check` returns a preview of the changes, and `apply` makes exactly these changes. The server
 * stores nothing in between: `apply` computes the changes again from the current catalogue, and rejects the file if they differ.
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
  maxReportedImportLines,
  nameKey,
  toStoredName,
} from '@lamina/contract';
import type { AuditRecorder } from '../audit/audit-recorder.ts';
import { parseHold } from '../domain/metadata-hold.ts';
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
  type ImageNamesAndPath,
  listImageNamesAndPaths,
  updateImageNames,
} from '../store/managed-images.ts';
import type { Catalogue } from './catalogue.ts';
import {
  type CatalogueFile,
  type CatalogueRow,
  invalidCharacters,
  type RowProblem,
  readCatalogueFile,
  valueOfCell,
} from './catalogue-file.ts';
import { type CatalogueEditor, editDetail, withEditedFields } from './edit-image.ts';
import { normalizedSlidePath } from './metadata-files.ts';

export interface CatalogueImport {
  /** Computes the changes that a file makes. @throws AppError invalid_request when the bytes are not a catalogue file */
  check(file: Uint8Array, language: Language): Promise<ImportPlan>;
  /**
   * Makes all changes of a file, or none of them. @returns the number of changed entries
   * @param planId the `plan` that `check` has returned: the id of the changes in the preview
   * @throws AppError import_changed if changes differ from the preview or the catalogue keeps changing; invalid_request for invalid rows
   */
  apply(file: Uint8Array, planId: string, editor: CatalogueEditor): Promise<number>;
}

interface ImportDependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: AuditRecorder;
  readonly catalogue: Pick<Catalogue, 'evict'>;
}

/** The changes that an import of a file would make in the current catalogue. */
interface Plan {
  /** Hash of the plan (see `computePlanId`). */
  readonly id: string;
  readonly changes: readonly ImportedChange[];
  /** The names of each changed entry after the import, in the order of `changes`. */
  readonly newNames: readonly ImageNames[];
  /** Number of rows whose values the slide already has. */
  readonly unchanged: number;
  /** Rows that match no slide of the catalogue. */
  readonly unknown: readonly RowProblem[];
  /** Invalid rows; a file with such rows cannot be applied. */
  readonly invalid: readonly RowProblem[];
}

/** Number of entries that are processed before the event loop can handle other requests. */
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
        rows: file.rows.length,
        changed: plan.changes.length,
        unchanged: plan.unchanged,
        unknown: plan.unknown.length,
      },
    });
    for (let start = 0; start < plan.newNames.length; start += batchSize) {
      await updateImageNames(tx, plan.newNames.slice(start, start + batchSize), at);
      const auditEntries = plan.changes.slice(start, start + batchSize).map(({ image_id, fields }) => ({
        ...actorAndOrigin,
        action: 'image-edited' as const,
        target: image_id,
        detail: importDetail(fields),
      }));
      await audit.recordAll(tx, auditEntries);
      await setImmediate();
    }
  }

  return {
    async check(bytes, language) {
      const file = await readCatalogueFile(bytes);
      const { id, changes, unchanged, unknown, invalid } = await computePlan(db, file);
      const reportOf = (problems: readonly RowProblem[]): ImportProblem[] =>
        problems
          .slice(0, maxReportedImportLines)
          .map(({ line, subject, reason }) => ({ line, subject, reason: reason[language] }));
      return {
        plan: id,
        encoding: file.encoding,
        rows: file.rows.length + file.problems.length,
        changed: changes.length,
        unchanged,
        unknown: unknown.length,
        wrong: invalid.length,
        changes: changes.slice(0, maxReportedImportLines),
        unknown_lines: reportOf(unknown),
        wrong_lines: reportOf(invalid),
      };
    },

    async apply(bytes, planId, editor) {
      const file = await readCatalogueFile(bytes);
      /** Returns the ids of the changed entries; null when the catalogue changed during the attempt, which must then be repeated. */
      const tryToApply = async (): Promise<readonly string[] | null> => {
        const revision = await changeCount(db, 'catalogue');
        const plan = await computePlan(db, file);
        if (plan.id !== planId) throw new AppError('import_changed');
        if (plan.invalid.length > 0)
          throw new AppError('invalid_request', { reason: 'catalogue_file_has_errors' });
        if (plan.changes.length === 0) return [];
        return runLockedTransaction(db, 'catalogue', async (tx) => {
          // The plan was computed before this transaction, so that the lock is held only briefly. The plan is valid
          // only if the catalogue has not changed since then; the transaction itself counts as one change.
          if ((await changeCount(tx, 'catalogue')) !== revision + 1) return null;
          await applyPlan(tx, plan, file, editor);
          return plan.newNames.map(({ id }) => id);
        });
      };
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const changedIds = await tryToApply();
        if (changedIds === null) continue;
        catalogue.evict(changedIds);
        return changedIds.length;
      }
      throw new AppError('import_changed');
    },
  };
}

/**
 * Maximum number of attempts to apply a file. An attempt fails if the catalogue changes during the attempt. While the
 * server reads new slide files, the catalogue changes several times a second.
 */
const maxAttempts = 20;

const noSuchSlide = {
  tr: 'Katalogda böyle bir slayt yok.',
  en: 'There is no such slide in the catalogue.',
};
const severalSlides = {
  tr: 'Bu adda birden çok slayt var. Klasörüyle birlikte yolunu ya da kimliğini (id) yazın.',
  en: 'Several slides have this name. Give the path with the folder, or the id.',
};
const alsoMentionedIn = (line: number) => ({
  tr: `Bu slayttan ${line}. satırda da söz ediliyor.`,
  en: `Line ${line} is about this slide, too.`,
});

/** Computes the changes that a file makes to the current catalogue. */
async function computePlan(db: Connection, file: CatalogueFile): Promise<Plan> {
  const findEntries = await createEntryFinder(db);
  const withRegisteredSpellings = await createSpellingReplacer(db);
  const changes: ImportedChange[] = [];
  const newNames: ImageNames[] = [];
  const unknown: RowProblem[] = [];
  const invalid: RowProblem[] = [...file.problems];
  const lineByImageId = new Map<string, number>();
  let unchanged = 0;
  const yieldToEventLoop = createYielder();
  for (const row of file.rows) {
    await yieldToEventLoop();
    const problemOfRow = (reason: RowProblem['reason']): RowProblem => ({
      line: row.line,
      subject: row.file_name ?? row.id ?? '',
      reason,
    });
    const matches = findEntries(row);
    const [image] = matches;
    if (image === undefined) {
      unknown.push(problemOfRow(noSuchSlide));
      continue;
    }
    if (matches.length > 1) {
      invalid.push(problemOfRow(severalSlides));
      continue;
    }
    const firstLine = lineByImageId.get(image.id);
    if (firstLine !== undefined) {
      invalid.push(problemOfRow(alsoMentionedIn(firstLine)));
      continue;
    }
    lineByImageId.set(image.id, row.line);
    const fields = changedFieldsOf(image, withRegisteredSpellings(row));
    // The present name of a slide may contain control characters, because it comes from a file. A new name must not.
    const invalidField = fields.find(({ after }) => !isSingleLine(after));
    if (invalidField !== undefined) {
      invalid.push(problemOfRow(invalidCharacters(invalidField.field)));
      continue;
    }
    if (fields.length === 0) {
      unchanged++;
      continue;
    }
    changes.push({ line: row.line, image_id: image.id, file_name: image.file_name, fields });
    newNames.push(newNamesOf(image, fields));
  }
  invalid.sort((a, b) => a.line - b.line);
  return {
    id: await computePlanId(changes, unknown, invalid),
    changes,
    newNames,
    unchanged,
    unknown,
    invalid,
  };
}

/** Returns the catalogue entries that a row of the file may identify. */
type FindEntries = (row: CatalogueRow) => readonly ImageNamesAndPath[];

/**
 * Reads all entries, and returns a function that finds the entries that a row identifies. A row with an id identifies
 * the entry with this id. In any other row, `file_name` identifies the entries with exactly this path. If there are
 * none, it identifies the entries whose path ends with `/` and this value, or whose name equals this value.
 */
async function createEntryFinder(db: Connection): Promise<FindEntries> {
  const byId = new Map<string, ImageNamesAndPath>();
  const byName = new Map<string, ImageNamesAndPath[]>(); // by base name of the path, and by file_name
  for (let lastId = ''; ; ) {
    const batch = await listImageNamesAndPaths(db, lastId, batchSize);
    for (const image of batch) {
      byId.set(image.id, image);
      for (const name of new Set([basename(image.path), image.file_name].map(normalizedSlidePath))) {
        const imagesOfName = byName.get(name);
        if (imagesOfName === undefined) byName.set(name, [image]);
        else imagesOfName.push(image);
      }
    }
    if (batch.length < batchSize) break;
    lastId = batch.at(-1)?.id ?? '';
    await setImmediate();
  }
  return ({ id, file_name: nameOrPath }) => {
    if (id !== null) {
      const image = byId.get(id.toLowerCase());
      return image === undefined ? [] : [image];
    }
    const path = normalizedSlidePath(nameOrPath ?? '');
    const candidates = byName.get(basename(path)) ?? [];
    const withSamePath = candidates.filter((image) => normalizedSlidePath(image.path) === path);
    if (withSamePath.length > 0) return withSamePath;
    return candidates.filter(
      (image) =>
        normalizedSlidePath(image.path).endsWith(`/${path}`) || normalizedSlidePath(image.file_name) === path,
    );
  };
}

/** Returns a function that replaces dataset and organ names with their registered spellings: those that were stored first. */
async function createSpellingReplacer(db: Connection): Promise<(row: CatalogueRow) => CatalogueRow> {
  const registered = { dataset: await listSpellings(db, 'dataset'), organ: await listSpellings(db, 'organ') };
  const registeredSpelling = (kind: keyof typeof registered, name: string | null) =>
    name === null ? null : (registered[kind].get(nameKey(name)) ?? toStoredName(name));
  return (row) => ({
    ...row,
    dataset_name: registeredSpelling('dataset', row.dataset_name),
    organ_type: registeredSpelling('organ', row.organ_type),
  });
}

/** Returns the fields of an entry that a row changes. The present value, in the form in which an export writes it, is no change. */
function changedFieldsOf(image: ImageNamesAndPath, row: CatalogueRow): ImportedChange['fields'] {
  return ImportedField.options.flatMap((field) => {
    // In a row without an id, the name only identifies the slide.
    const after = field === 'file_name' && row.id === null ? null : (row[field]?.normalize('NFC') ?? null);
    const before = image[field];
    if (after === null || after === before) return [];
    if (before !== null && after === valueOfCell(before).normalize('NFC')) return [];
    return [{ field, before, after }];
  });
}

/** Returns the names of an entry after the import. */
function newNamesOf(image: ImageNamesAndPath, fields: ImportedChange['fields']): ImageNames {
  const { id, file_name, dataset_name, organ_type } = image;
  const edited_fields = withEditedFields(
    image.edited_fields,
    fields.map(({ field }) => field),
  );
  const values = Object.fromEntries(fields.map(({ field, after }) => [field, after]));
  // A hold of kind 'kept' means that a scan left the slide in its dataset although the metadata files of the slide folder name
  // another dataset. The hold ends when an administrator sets the dataset.
  const endsHold =
    fields.some(({ field }) => field === 'dataset_name') && parseHold(image.metadata_hold)?.kind === 'kept';
  const metadata_hold = endsHold ? null : image.metadata_hold;
  return { id, file_name, dataset_name, organ_type, edited_fields, metadata_hold, ...values };
}

/** Returns the detail of the audit event for one changed entry. */
function importDetail(fields: ImportedChange['fields']) {
  const names = fields.map(({ field }) => field);
  const before = Object.fromEntries(fields.map((change) => [change.field, change.before]));
  const after = Object.fromEntries(fields.map((change) => [change.field, change.after]));
  return editDetail(names, before, after);
}

/** Returns the id of a plan: a hash of its changes and of the line numbers of its unknown and invalid rows. */
async function computePlanId(
  changes: readonly ImportedChange[],
  unknown: readonly RowProblem[],
  invalid: readonly RowProblem[],
): Promise<string> {
  const hash = createHash('sha256');
  const yieldToEventLoop = createYielder();
  for (const { image_id, fields } of changes) {
    await yieldToEventLoop();
    hash.update(JSON.stringify([image_id, fields.map(({ field, before, after }) => [field, before, after])]));
  }
  const lineNumbers = (problems: readonly RowProblem[]) => problems.map(({ line }) => line);
  return hash.update(JSON.stringify([lineNumbers(unknown), lineNumbers(invalid)])).digest('base64url');
}
