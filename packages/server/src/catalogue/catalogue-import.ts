/**
 * What a catalogue file would change, and changing exactly that. Nothing is kept between the two: the file is sent
 * again, what it would change is worked out anew from the catalogue as it is then, and unless that is the very same,
 * nothing is changed.
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
  type Language,
  maxImportLinesTold,
} from '@lamina/contract';
import type { Audit } from '../audit.ts';
import { type Change, type Connection, change, type Database, timesTaken } from '../store/database.ts';
import { listNamedImages, type NamedImage, type Naming, nameImages } from '../store/managed-images.ts';
import type { Catalogue } from './catalogue.ts';
import { type CatalogueFile, type FileLine, type LineProblem, readCatalogueFile } from './catalogue-file.ts';
import { type Editor, withEdited } from './edit-image.ts';
import { createGiveWay } from './give-way.ts';

export interface CatalogueImport {
  /** Changes nothing. @throws AppError invalid_request for what is no catalogue file */
  check(file: Uint8Array, language: Language): Promise<ImportPlan>;
  /**
   * Whole or not at all.
   *
   * @param plan what `check` called the changes
   * @returns how many entries were changed
   * @throws AppError import_changed when they would be others by now, invalid_request while a line is wrong
   */
  apply(file: Uint8Array, plan: string, editor: Editor): Promise<number>;
}

interface Ground {
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: Audit;
  readonly catalogue: Pick<Catalogue, 'forget'>;
}

interface Plan {
  /** Digest of the changes, and of what is not among them. */
  readonly id: string;
  readonly changes: readonly ImportedChange[];
  readonly namings: readonly Naming[];
  readonly unchanged: number;
  readonly unknown: readonly LineProblem[];
  readonly wrong: readonly LineProblem[];
}

/** Between so many lines or entries other requests have their turn. */
const atOnce = 500;

export function createCatalogueImport({ db, now, audit, catalogue }: Ground): CatalogueImport {
  async function applyPlan(tx: Change, plan: Plan, file: CatalogueFile, { uid, origin }: Editor) {
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
    for (let from = 0; from < plan.namings.length; from += atOnce) {
      await nameImages(tx, plan.namings.slice(from, from + atOnce), at);
      const entries = plan.changes.slice(from, from + atOnce).map(({ image_id, fields }) => ({
        ...entry,
        action: 'image-edited' as const,
        target: image_id,
        detail: { fields: fields.map(({ field }) => field).join(' ') },
      }));
      await audit.recordAll(tx, entries);
      await setImmediate();
    }
  }

  return {
    async check(bytes, language) {
      const file = await readCatalogueFile(bytes);
      const { id, changes, unchanged, unknown, wrong } = await planOf(db, file);
      const told = (problems: readonly LineProblem[]): ImportProblem[] =>
        problems
          .slice(0, maxImportLinesTold)
          .map(({ line, subject, reason }) => ({ line, subject, reason: reason[language] }));
      return {
        plan: id,
        encoding: file.encoding,
        rows: file.lines.length + file.problems.length,
        changed: changes.length,
        unchanged,
        unknown: unknown.length,
        wrong: wrong.length,
        changes: changes.slice(0, maxImportLinesTold),
        unknown_lines: told(unknown),
        wrong_lines: told(wrong),
      };
    },

    async apply(bytes, planId, editor) {
      const file = await readCatalogueFile(bytes);
      const attempt = async (): Promise<readonly string[] | null> => {
        const revision = await timesTaken(db, 'catalogue');
        const plan = await planOf(db, file);
        if (plan.id !== planId) throw new AppError('import_changed');
        if (plan.wrong.length > 0) throw new AppError('invalid_request', { message: hasWrongLines });
        if (plan.changes.length === 0) return [];
        return change(db, 'catalogue', async (tx) => {
          // Worked out before, so that nobody waits for that: it holds if no other change has come between.
          if ((await timesTaken(tx, 'catalogue')) !== revision + 1) return null;
          await applyPlan(tx, plan, file, editor);
          return plan.namings.map(({ id }) => id);
        });
      };
      for (let attempts = 0; attempts < maxAttempts; attempts++) {
        const changed = await attempt();
        if (changed === null) continue;
        catalogue.forget(changed);
        return changed.length;
      }
      throw new AppError('import_changed');
    },
  };
}

/** While slides are being read the catalogue changes several times a second. */
const maxAttempts = 20;

const hasWrongLines = {
  tr: 'Dosyada hatalı satırlar var. Önce onları düzeltin.',
  en: 'The file has lines that are wrong. Please correct them first.',
};
const noSuchSlide = {
  tr: 'Katalogda böyle bir slayt yok.',
  en: 'There is no such slide in the catalogue.',
};
const severalSlides = {
  tr: 'Bu adda birden çok slayt var. Klasörüyle birlikte yolunu ya da kimliğini (id) yazın.',
  en: 'Several slides are called so. Give its path with the folder, or its id.',
};
const spokenOf = (line: number) => ({
  tr: `Bu slayttan ${line}. satırda da söz ediliyor.`,
  en: `Line ${line} is about this slide, too.`,
});

async function planOf(db: Connection, file: CatalogueFile): Promise<Plan> {
  const catalogue = await indexOf(db);
  const changes: ImportedChange[] = [];
  const namings: Naming[] = [];
  const unknown: LineProblem[] = [];
  const wrong: LineProblem[] = [...file.problems];
  const lineOfImage = new Map<string, number>();
  let unchanged = 0;
  const giveWay = createGiveWay();
  for (const said of file.lines) {
    await giveWay();
    const problem = (reason: LineProblem['reason']) => ({
      line: said.line,
      subject: said.file_name ?? said.id ?? '',
      reason,
    });
    const found = catalogue(said);
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
      wrong.push(problem(spokenOf(before)));
      continue;
    }
    lineOfImage.set(image.id, said.line);
    const fields = fieldsOf(image, said);
    if (fields.length === 0) {
      unchanged++;
      continue;
    }
    changes.push({ line: said.line, image_id: image.id, file_name: image.file_name, fields });
    namings.push(namingOf(image, fields));
  }
  wrong.sort((a, b) => a.line - b.line);
  return { id: await digestOf(changes, unknown, wrong), changes, namings, unchanged, unknown, wrong };
}

/** Which entries a line may mean. */
type Find = (said: FileLine) => readonly NamedImage[];

async function indexOf(db: Connection): Promise<Find> {
  const byId = new Map<string, NamedImage>();
  const byName = new Map<string, NamedImage[]>();
  for (let last = ''; ; ) {
    const some = await listNamedImages(db, last, atOnce);
    for (const image of some) {
      byId.set(image.id, image);
      for (const name of new Set([basename(image.path), image.file_name].map(asWritten))) {
        const others = byName.get(name);
        if (others === undefined) byName.set(name, [image]);
        else others.push(image);
      }
    }
    if (some.length < atOnce) break;
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

/** One spelling of a name: some systems keep letters and their marks apart, some write paths with backslashes. */
function asWritten(name: string): string {
  return name
    .normalize('NFC')
    .replaceAll('\\', '/')
    .replace(/^(\.?\/)+/, '');
}

function fieldsOf(image: NamedImage, said: FileLine): ImportedChange['fields'] {
  return ImportedField.options.flatMap((field) => {
    const after = field === 'file_name' && said.id === null ? null : said[field]; // there it says which slide is meant
    return after === null || after === image[field] ? [] : [{ field, before: image[field], after }];
  });
}

function namingOf(image: NamedImage, fields: ImportedChange['fields']): Naming {
  const { id, file_name, dataset_name, organ_type } = image;
  const edited_fields = withEdited(
    image.edited_fields,
    fields.map(({ field }) => field),
  );
  const said = Object.fromEntries(fields.map(({ field, after }) => [field, after]));
  return { id, file_name, dataset_name, organ_type, edited_fields, ...said };
}

async function digestOf(
  changes: readonly ImportedChange[],
  unknown: readonly LineProblem[],
  wrong: readonly LineProblem[],
): Promise<string> {
  const hash = createHash('sha256');
  const giveWay = createGiveWay();
  for (const { image_id, fields } of changes) {
    await giveWay();
    hash.update(JSON.stringify([image_id, fields.map(({ field, before, after }) => [field, before, after])]));
  }
  const lines = (problems: readonly LineProblem[]) => problems.map(({ line }) => line);
  return hash.update(JSON.stringify([lines(unknown), lines(wrong)])).digest('base64url');
}
