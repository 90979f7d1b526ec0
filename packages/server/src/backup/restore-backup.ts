/** Restores a backup: verifies all of it first, and changes nothing before the new database is complete. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';
import type { Logger } from 'pino';
import { createAuditRecorder } from '../audit/audit-recorder.ts';
import type { Config } from '../platform/config.ts';
import { keyFile } from '../platform/encryption.ts';
import { slideRoots } from '../slide-storage/slide-roots.ts';
import type { Change } from '../store/database.ts';
import { readRows } from '../store/table-rows.ts';
import { backupFiles } from './backup-format.ts';
import { sha256Of } from './checksums.ts';
import { fillTables, type Say } from './fill-tables.ts';
import { type Backup, openBackup, rowsOf } from './read-backup.ts';
import { type DatabaseContents, openTarget } from './target-database.ts';

interface RestoreDependencies {
  readonly config: Config;
  /** The current settings by name. */
  readonly settings: Readonly<Record<string, string>>;
  readonly now: () => Date;
  readonly log: Logger;
  readonly say: Say;
}

/**
 * @param replace whether to replace a database that has accounts
 * @throws Error with one sentence; then nothing has changed, except that uploads may have been copied
 */
export async function restoreBackup(
  dependencies: RestoreDependencies,
  folder: string,
  replace: boolean,
): Promise<void> {
  const { config, say } = dependencies;
  const backup = await openBackup(folder);
  const { manifest, shapes } = backup;
  say(
    `The backup is complete: version ${manifest.programVersion}, ${manifest.database}, ${manifest.createdAt}.`,
  );
  await requireSameKey(dependencies, backup);
  const target = await openTarget(config.databaseUrl, config.dataDir);
  try {
    requireReplaceable(target.holding, replace);
    await placeUploads(dependencies, backup, replace);
    const contents = manifest.tables.map(({ name, rows, sha256 }) => ({
      shape: requireTable(shapes.find((shape) => shape.name === name)),
      rows: () => rowsOf(backup, name),
      digest: async () => ({ rows, sha256 }),
    }));
    let slides: readonly string[] = [];
    const oldFile = await target.fill(async (tx) => {
      await fillTables(tx, manifest.schema, shapes, contents, say);
      await record(dependencies, tx, backup);
      slides = await missingSlides(config, tx);
      await placeKey(config, backup);
    });
    if (oldFile !== null) say(`The previous database is kept as ${oldFile}.`);
    reportMissingSlides(say, slides);
  } finally {
    await target.close();
  }
  await reportChangedSettings(dependencies, backup);
  say('Restored. All sign-ins and image sessions have ended; passwords are those of the backup.');
}

function requireTable<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('The backup contains an unknown table.');
  return value;
}

/** The new installation must use the key that encrypted the secrets in the tables. */
async function requireSameKey({ config }: RestoreDependencies, backup: Backup): Promise<void> {
  const currentKey = config.secretKey;
  const [settings, key] = [backupFiles.settings, backupFiles.key].map((name) =>
    path.join(backup.folder, name),
  );
  if (backup.manifest.sealedWith === 'settings' && currentKey !== (await settingsOf(backup)).SECRET_KEY) {
    throw new Error(
      `Secrets in the backup are encrypted with the SECRET_KEY of its settings. Set SECRET_KEY as in ${settings} first.`,
    );
  }
  if (backup.manifest.sealedWith !== 'file' || currentKey === null) return;
  if (currentKey !== (await readKey(backup)).trim()) {
    throw new Error(
      `Secrets in the backup are encrypted with another key. Remove SECRET_KEY, or set it to the contents of ${key}.`,
    );
  }
}

function readKey({ folder }: Backup): Promise<string> {
  return fs.readFile(path.join(folder, backupFiles.key), 'utf8');
}

function requireReplaceable(holding: DatabaseContents | null, replace: boolean): void {
  if (holding === null || holding.accounts === 0 || replace) return;
  const { accounts, images, auditEntries } = holding;
  throw new Error(
    `The database holds ${accounts} accounts, ${images} catalogue entries and ${auditEntries} audit events, which would be lost. Use --replace to replace them. Nothing has been changed.`,
  );
}

async function settingsOf({ folder }: Backup): Promise<Readonly<NodeJS.Dict<string>>> {
  return parseEnv(await fs.readFile(path.join(folder, backupFiles.settings), 'utf8'));
}

/** @throws Error when another file has the path of an upload */
async function placeUploads(
  { config, say }: RestoreDependencies,
  backup: Backup,
  replace: boolean,
): Promise<void> {
  const places = backup.uploads.map(({ file, sha256 }) => ({
    from: path.join(backup.folder, file),
    to: file.startsWith(`${backupFiles.results}/`)
      ? path.join(config.dataDir, file)
      : path.join(slideRoots(config).uploads, path.relative(backupFiles.uploads, file)),
    sha256,
  }));
  const absent: typeof places = [];
  for (const place of places) {
    const existing = await sha256Of(place.to).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (existing === place.sha256) continue;
    if (existing !== null && !replace) throw new Error(`${place.to} already exists with other contents.`);
    absent.push(place);
  }
  for (const { from, to } of absent) {
    await fs.mkdir(path.dirname(to), { recursive: true, mode: 0o700 });
    const unfinished = `${to}.restoring`;
    await fs.copyFile(from, unfinished);
    await fs.rename(unfinished, to);
  }
  if (absent.length > 0)
    say(`${absent.length} files of uploaded slides and results restored in ${config.dataDir}.`);
}

/** Installs the key file. A previous key is kept beside it, since it decrypts the previous database. */
async function placeKey({ dataDir }: Config, backup: Backup): Promise<void> {
  if (backup.manifest.sealedWith !== 'file') return;
  const file = keyFile(dataDir);
  const key = await readKey(backup);
  const existing = await fs.readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (existing === key) return;
  if (existing !== null) await fs.copyFile(file, `${file}.before-restore`);
  await fs.mkdir(dataDir, { recursive: true, mode: 0o700 });
  const unfinished = `${file}.restoring`;
  await fs.writeFile(unfinished, key, { mode: 0o600, flush: true });
  await fs.rename(unfinished, file);
}

function record({ now, log }: RestoreDependencies, tx: Change, { manifest }: Backup): Promise<void> {
  return createAuditRecorder({ db: tx, now, log }).record(tx, {
    action: 'backup-restored',
    actor: null,
    target: null,
    detail: { backup_of: manifest.createdAt, version: manifest.programVersion },
    origin: null,
  });
}

/** Returns the slide files in folders of this machine that the catalogue lists and that do not exist. */
async function missingSlides(config: Config, tx: Change): Promise<string[]> {
  const roots: Readonly<Record<string, string>> = slideRoots(config);
  const missing: string[] = [];
  const columns = ['missing_since', 'path', 'removed_at', 'root'];
  const query = { name: 'images', columns, key: [{ column: 'id', isText: true }] };
  for await (const rows of readRows(tx, query)) {
    for (const [missingSince, place, removedAt, root] of rows) {
      const folder = roots[String(root)];
      if (folder === undefined || missingSince !== null || removedAt !== null) continue;
      const file = path.join(folder, String(place));
      if (!(await exists(file))) missing.push(file);
    }
  }
  return missing;
}

async function exists(file: string): Promise<boolean> {
  return fs.access(file).then(
    () => true,
    () => false,
  );
}

function reportMissingSlides(say: Say, slides: readonly string[]): void {
  if (slides.length === 0) return;
  const more = slides.length > 3 ? ' …' : '';
  say(`Missing slide files: ${slides.length} slides (${slides.slice(0, 3).join(', ')}${more}).`);
}

/** Names only: values may be secrets. */
async function reportChangedSettings({ settings, say }: RestoreDependencies, backup: Backup): Promise<void> {
  const previous = await settingsOf(backup);
  const names = new Set([...Object.keys(previous), ...Object.keys(settings)]);
  const different = [...names].filter((name) => previous[name] !== settings[name]).sort();
  if (different.length === 0) return;
  say(
    `Settings that differ from the backup: ${different.join(', ')}. Those of the backup are in ${path.join(backup.folder, backupFiles.settings)}.`,
  );
}
