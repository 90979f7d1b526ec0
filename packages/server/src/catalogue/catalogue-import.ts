/**
 * Import of a catalogue file: a check shows the changes, then the same file applies exactly those. The server keeps nothing in
 * between: it computes the changes again from the current catalogue, and applies them only if they are the same.
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
import { type Change, type Connection, change, changeCount, type Database } from '../store/database.ts';
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
import { type CatalogueEditor, editDetail, withEditedField } from './edit-image.ts';
import { asWritten } from './metadata-files.ts';

export interface CatalogueImport {
  /** Computes the changes of a file. @throws AppError invalid_request for anything but a catalogue file */
  check(file: Uint8Array, language: Language): Promise<ImportPlan>;
  /**
   * Applies all changes of a file or none.
   *
   * @param plan id of the changes, from `check`
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
  /** Digest of the changes and of the other lines. */
  readonly id: string;
  readonly changes: readonly ImportedChange[];
  readonly namings: readonly ImageNaming[];
  readonly unchanged: number;
  readonly unknown: readonly RowProblem[];
  readonly wrong: readonly RowProblem[];
}

/** Lines or entries processed before the event loop serves other requests. */
const batchSize = 500;

export function createCatalogueImport({ db, now, audit, catalogue }: ImportDependencies): CatalogueImport {
  async function applyPlan(tx: Change, plan: Plan, file: CatalogueFile, { uid, origin }: CatalogueEditor) {
    const at = now().toISOString();
    const entry = { actor: uid, origin };
    await audit.record(tx, {
      ...entry,
      action: 'catalogue-imported',
      target: null,
      detail: {
        rows: file.lines.length,
        changed: plan.changes.length,
        unchanged: plan.unchanged,
        unknown: plan.unknown.length,
      },
    });
    for (let from = 0; from < plan.namings.length; from += batchSize) {
      await renameImages(tx, plan.namings.slice(from, from + batchSize), at);
      const entries = plan.changes.slice(from, from + batchSize).map(({ image_id, fields }) => ({
        ...entry,
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
      const attempt = async (): Promise<readonly string[] | null> => {
        const revision = await changeCount(db, 'catalogue');
        const plan = await planOf(db, file);
        if (plan.id !== planId) throw new AppError('import_changed');
        if (plan.wrong.length > 0)
          throw new AppError('invalid_request', { reason: 'catalogue_file_has_errors' });
        if (plan.changes.length === 0) return [];
        return change(db, 'catalogue', async (tx) => {
          // Computed before the transaction, so that it holds no lock meanwhile; valid if no other change came in between.
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

/** The catalogue changes several times a second while slides are ingested. */
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

async function planOf(db: Connection, file: CatalogueFile): Promise<Plan> {
  const catalogue = await indexOf(db);
  const spelled = await spellingsOf(db);
  const changes: ImportedChange[] = [];
  const namings: ImageNaming[] = [];
  const unknown: RowProblem[] = [];
  const wrong: RowProblem[] = [...file.problems];
  const lineOfImage = new Map<string, number>();
  let unchanged = 0;
  const yieldToEventLoop = createYielder();
  for (const row of file.lines) {
    await yieldToEventLoop();
    const problem = (reason: RowProblem['reason']) => ({
      line: row.line,
      subject: row.file_name ?? row.id ?? '',
      reason,
    });
    const found = catalogue(row);
    const [image] = found;
    if (image === undefined) {
      unknown.push(problem(noSuchSlide));
      continue;
    }
    if (found.length > 1) {
      wrong.push(problem(severalSlides));
      continue;
    }
    const before = lineOfImage.get(image.id);
    if (before !== undefined) {
      wrong.push(problem(mentionedIn(before)));
      continue;
    }
    lineOfImage.set(image.id, row.line);
    const fields = fieldsOf(image, spelled(row));
    // An existing name may have unusual characters, since the folder has them. A new name may not.
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

/** Returns the entries that a line may identify. */
type Find = (row: CatalogueRow) => readonly ImageNames[];

async function indexOf(db: Connection): Promise<Find> {
  const byId = new Map<string, ImageNames>();
  const byName = new Map<string, ImageNames[]>();
  for (let last = ''; ; ) {
    const some = await listImageNamings(db, last, batchSize);
    for (const image of some) {
      byId.set(image.id, image);
      for (const name of new Set([basename(image.path), image.file_name].map(asWritten))) {
        const others = byName.get(name);
        if (others === undefined) byName.set(name, [image]);
        else others.push(image);
      }
    }
    if (some.length < batchSize) break;
    last = some.at(-1)?.id ?? '';
    await setImmediate();
  }
  return ({ id, file_name: name }) => {
    if (id !== null) return [byId.get(id.toLowerCase()) ?? []].flat();
    const path = asWritten(name ?? '');
    const called = byName.get(basename(path)) ?? [];
    const there = called.filter((image) => asWritten(image.path) === path);
    if (there.length > 0) return there;
    return called.filter(
      (image) => asWritten(image.path).endsWith(`/${path}`) || asWritten(image.file_name) === path,
    );
  };
}

/** Returns a function that replaces datasets and organs by their registered spellings. */
async function spellingsOf(db: Connection): Promise<(row: CatalogueRow) => CatalogueRow> {
  const known = { dataset: await listSpellings(db, 'dataset'), organ: await listSpellings(db, 'organ') };
  const spelled = (kind: keyof typeof known, name: string | null) =>
    name === null ? null : (known[kind].get(nameKey(name)) ?? spellName(name));
  return (row) => ({
    ...row,
    dataset_name: spelled('dataset', row.dataset_name),
    organ_type: spelled('organ', row.organ_type),
  });
}

function fieldsOf(image: ImageNames, row: CatalogueRow): ImportedChange['fields'] {
  return ImportedField.options.flatMap((field) => {
    const after = field === 'file_name' && row.id === null ? null : row[field]; // without an id the name identifies the slide
    if (after === null || after === image[field]) return [];
    return [{ field, before: image[field], after: after.normalize('NFC') }];
  });
}

function namingOf(image: ImageNames, fields: ImportedChange['fields']): ImageNaming {
  const { id, file_name, dataset_name, organ_type } = image;
  const edited_fields = withEditedField(
    image.edited_fields,
    fields.map(({ field }) => field),
  );
  const values = Object.fromEntries(fields.map(({ field, after }) => [field, after]));
  const isDecided =
    fields.some(({ field }) => field === 'dataset_name') && readHold(image.metadata_hold)?.kind === 'kept';
  const metadata_hold = isDecided ? null : image.metadata_hold;
  return { id, file_name, dataset_name, organ_type, edited_fields, metadata_hold, ...values };
}

function importDetail(fields: ImportedChange['fields']) {
  const names = fields.map(({ field }) => field);
  const before = Object.fromEntries(fields.map((change) => [change.field, change.before]));
  const after = Object.fromEntries(fields.map((change) => [change.field, change.after]));
  return editDetail(names, before, after);
}

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
