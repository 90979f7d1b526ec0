/** Brings a backup back: all of it is checked first, and nothing is changed before the new database is right. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';
import type { Logger } from 'pino';
import { createAudit } from '../audit.ts';
import type { Config } from '../config.ts';
import { keyFile } from '../sealing.ts';
import { slideRoots } from '../slides/slide-roots.ts';
import type { Change } from '../store/database.ts';
import { readRows } from '../store/table-rows.ts';
import { backupFiles } from './backup-format.ts';
import { sha256Of } from './checksums.ts';
import { fillTables, type Say } from './fill-tables.ts';
import { type Backup, openBackup, rowsOf } from './read-backup.ts';
import { type Holding, openTarget } from './target-database.ts';

interface Ground {
  readonly config: Config;
  /** The settings by their names, as they are now. */
  readonly settings: Readonly<Record<string, string>>;
  readonly now: () => Date;
  readonly log: Logger;
  readonly say: Say;
}

/**
 * @param replace even when there are accounts already
 * @throws Error with one sentence; nothing has been changed then, except that uploads may have been copied
 */
export async function restoreBackup(ground: Ground, folder: string, replace: boolean): Promise<void> {
  const { config, say } = ground;
  const backup = await openBackup(folder);
  const { manifest, shapes } = backup;
  say(
    `The backup is whole: version ${manifest.programVersion}, ${manifest.database}, ${manifest.createdAt}.`,
  );
  await refuseOtherKey(ground, backup);
  const target = await openTarget(config.databaseUrl, config.dataDir);
  try {
    refuseLoss(target.holding, replace);
    await placeUploads(ground, backup, replace);
    const contents = manifest.tables.map(({ name, rows, sha256 }) => ({
      shape: found(shapes.find((shape) => shape.name === name)),
      rows: () => rowsOf(backup, name),
      digest: async () => ({ rows, sha256 }),
    }));
    let slides: readonly string[] = [];
    const kept = await target.fill(async (tx) => {
      await fillTables(tx, manifest.schema, shapes, contents, say);
      await record(ground, tx, backup);
      slides = await missingSlides(config, tx);
      await placeKey(config, backup);
    });
    if (kept !== null) say(`The database that was there is kept as ${kept}.`);
    sayWhatIsMissing(say, slides);
  } finally {
    await target.close();
  }
  await sayWhatDiffers(ground, backup);
  say('Restored. All sign-ins and image sessions have ended; passwords are those of the backup.');
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('A table of the backup is not known.');
  return value;
}

/** Secrets in the tables can be read with the key they were sealed with, and no other. */
async function refuseOtherKey({ config }: Ground, backup: Backup): Promise<void> {
  const given = config.secretKey;
  const [settings, key] = [backupFiles.settings, backupFiles.key].map((name) =>
    path.join(backup.folder, name),
  );
  if (backup.manifest.sealedWith === 'settings' && given !== (await settingsOf(backup)).SECRET_KEY) {
    throw new Error(
      `Secrets in the backup are sealed with the SECRET_KEY of its settings: set it first, as in ${settings}.`,
    );
  }
  if (backup.manifest.sealedWith !== 'file' || given === null) return;
  if (given !== (await readKey(backup)).trim()) {
    throw new Error(
      `Secrets in the backup are sealed with another key: leave SECRET_KEY out, or set it to what stands in ${key}.`,
    );
  }
}

function readKey({ folder }: Backup): Promise<string> {
  return fs.readFile(path.join(folder, backupFiles.key), 'utf8');
}

function refuseLoss(holding: Holding | null, replace: boolean): void {
  if (holding === null || holding.accounts === 0 || replace) return;
  const { accounts, images, auditEntries } = holding;
  throw new Error(
    `The database holds ${accounts} accounts, ${images} catalogue entries and ${auditEntries} entries of the audit trail, which would be lost. With --replace they are. Nothing has been changed.`,
  );
}

async function settingsOf({ folder }: Backup): Promise<Readonly<NodeJS.Dict<string>>> {
  return parseEnv(await fs.readFile(path.join(folder, backupFiles.settings), 'utf8'));
}

/** @throws Error when another file lies where one is to go */
async function placeUploads({ config, say }: Ground, backup: Backup, replace: boolean): Promise<void> {
  const places = backup.uploads.map(({ file, sha256 }) => ({
    from: path.join(backup.folder, file),
    to: path.join(slideRoots(config).uploads, path.relative(backupFiles.uploads, file)),
    sha256,
  }));
  const absent: typeof places = [];
  for (const place of places) {
    const there = await sha256Of(place.to).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (there === place.sha256) continue;
    if (there !== null && !replace) throw new Error(`${place.to} is there already and is another file.`);
    absent.push(place);
  }
  for (const { from, to } of absent) {
    await fs.mkdir(path.dirname(to), { recursive: true, mode: 0o700 });
    const unfinished = `${to}.restoring`;
    await fs.copyFile(from, unfinished);
    await fs.rename(unfinished, to);
  }
  if (absent.length > 0)
    say(`${absent.length} files of uploaded slides are back in ${slideRoots(config).uploads}.`);
}

/** The key that was there is kept beside: it opens what the database before sealed. */
async function placeKey({ dataDir }: Config, backup: Backup): Promise<void> {
  if (backup.manifest.sealedWith !== 'file') return;
  const file = keyFile(dataDir);
  const key = await readKey(backup);
  const there = await fs.readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (there === key) return;
  if (there !== null) await fs.copyFile(file, `${file}.before-restore`);
  await fs.mkdir(dataDir, { recursive: true, mode: 0o700 });
  const unfinished = `${file}.restoring`;
  await fs.writeFile(unfinished, key, { mode: 0o600, flush: true });
  await fs.rename(unfinished, file);
}

function record({ now, log }: Ground, tx: Change, { manifest }: Backup): Promise<void> {
  return createAudit({ db: tx, now, log }).record(tx, {
    action: 'backup-restored',
    actor: null,
    target: null,
    detail: { backup_of: manifest.createdAt, version: manifest.programVersion },
    origin: null,
  });
}

/** Files that the catalogue counts as there, of those in folders of this machine. */
async function missingSlides(config: Config, tx: Change): Promise<string[]> {
  const roots: Readonly<Record<string, string>> = slideRoots(config);
  const missing: string[] = [];
  const columns = ['missing_since', 'path', 'removed_at', 'root'];
  const asked = { name: 'images', columns, key: [{ column: 'id', isText: true }] };
  for await (const rows of readRows(tx, asked)) {
    for (const [missingSince, place, removedAt, root] of rows) {
      const folder = roots[String(root)];
      if (folder === undefined || missingSince !== null || removedAt !== null) continue;
      const file = path.join(folder, String(place));
      if (!(await isThere(file))) missing.push(file);
    }
  }
  return missing;
}

async function isThere(file: string): Promise<boolean> {
  return fs.access(file).then(
    () => true,
    () => false,
  );
}

function sayWhatIsMissing(say: Say, slides: readonly string[]): void {
  if (slides.length === 0) return;
  const more = slides.length > 3 ? ' …' : '';
  say(
    `Not where the catalogue looks for them: ${slides.length} slides (${slides.slice(0, 3).join(', ')}${more}).`,
  );
}

/** By their names alone: values may be secrets. */
async function sayWhatDiffers({ settings, say }: Ground, backup: Backup): Promise<void> {
  const then = await settingsOf(backup);
  const names = new Set([...Object.keys(then), ...Object.keys(settings)]);
  const different = [...names].filter((name) => then[name] !== settings[name]).sort();
  if (different.length === 0) return;
  say(
    `Settings that were others then: ${different.join(', ')}. They stand in ${path.join(backup.folder, backupFiles.settings)}.`,
  );
}
