/** Writes a backup of a running installation: its tables as they are at one moment, its settings, its key. */
import { createWriteStream, existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Config } from '../config.ts';
import { programVersion } from '../program-version.ts';
import { keyFile } from '../sealing.ts';
import { slideRoots } from '../slides/slide-roots.ts';
import { type Change, connectDatabase } from '../store/database.ts';
import { isPostgres } from '../store/dialects.ts';
import { flushFolder } from '../store/embedded-file.ts';
import {
  atOneMoment,
  createTableDigest,
  describeTables,
  encodeRow,
  isKnownVersion,
  oddTables,
  readRows,
  schemaVersion,
  type TableShape,
  type Values,
} from '../store/table-rows.ts';
import {
  backupFiles,
  backupName,
  endsWithReturn,
  formatVersion,
  isBackupName,
  type Manifest,
  tableFile,
  unfinishedEnding,
} from './backup-format.ts';
import { sha256Of, writeChecksums } from './checksums.ts';
import type { Say } from './fill-tables.ts';
import { settingsLines } from './settings-lines.ts';

interface Ground {
  readonly config: Config;
  /** The settings by their names, as they were given; see config.ts. */
  readonly settings: Readonly<Record<string, string>>;
  readonly now: () => Date;
  readonly say: Say;
}

interface Wish {
  /** Backups lie in it, each in a folder of its own. */
  readonly to: string;
  readonly withUploads: boolean;
  /** Older backups beyond so many are deleted; null keeps all. */
  readonly keep: number | null;
}

/** Fast, and small enough. */
const gzipLevel = 4;
const forOwner = 0o600;

/**
 * The server may go on running.
 *
 * @returns the folder of the backup
 * @throws Error with one sentence; what is unfinished then is removed
 */
export async function writeBackup(ground: Ground, { to, withUploads, keep }: Wish): Promise<string> {
  await fs.mkdir(to, { recursive: true, mode: 0o700 });
  const folder = await unusedName(to, backupName(ground.now()));
  const unfinished = `${folder}${unfinishedEnding}`;
  await fs.mkdir(path.join(unfinished, 'tables'), { recursive: true, mode: 0o700 });
  try {
    await fillFolder(ground, unfinished, withUploads);
    await flushFolders(unfinished);
    await fs.rename(unfinished, folder);
    flushFolder(to);
  } catch (error) {
    await fs.rm(unfinished, { recursive: true, force: true });
    throw error;
  }
  if (keep !== null) await deleteOlder(to, keep, ground.say);
  return folder;
}

/** Two backups within a second: the second one has a number. */
async function unusedName(parent: string, name: string): Promise<string> {
  const taken = new Set(await fs.readdir(parent));
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}-${number}`;
    if (!taken.has(candidate) && !taken.has(candidate + unfinishedEnding))
      return path.join(parent, candidate);
  }
}

async function fillFolder(ground: Ground, folder: string, withUploads: boolean): Promise<void> {
  const { config, settings, now } = ground;
  const createdAt = now().toISOString();
  const tables = await writeTables(ground, folder);
  await writeWhole(path.join(folder, backupFiles.settings), settingsLines(settings));
  const manifest: Manifest = {
    format: 'lamina-backup',
    formatVersion,
    programVersion,
    createdAt,
    ...tables,
    sealedWith: await writeKey(ground, folder, tables.tables),
    uploads: await copyUploads(config, folder, withUploads),
  };
  await writeWhole(path.join(folder, backupFiles.manifest), `${JSON.stringify(manifest, null, 2)}\n`);
  const sums = new Map<string, string>();
  for (const file of await filesBelow(folder)) sums.set(file, await sha256Of(path.join(folder, file)));
  await writeWhole(path.join(folder, backupFiles.checksums), writeChecksums(sums));
  sayWhatItHolds(ground, manifest);
}

async function writeTables(
  { config, say }: Ground,
  folder: string,
): Promise<Pick<Manifest, 'database' | 'schema' | 'tables'>> {
  const file = path.join(config.dataDir, 'lamina.db');
  if (config.databaseUrl === null && !existsSync(file)) {
    throw new Error(`There is nothing to back up: ${file} is not there.`);
  }
  const db = await connectDatabase({ url: config.databaseUrl, file });
  try {
    return await atOneMoment(db, async (tx) => {
      const schema = await schemaVersion(tx);
      if (schema === null) throw new Error('There is nothing to back up: the database has no tables yet.');
      if (!isKnownVersion(schema)) {
        throw new Error(`The database was written by a newer version of this program (${schema}): use that.`);
      }
      const shapes = await describeTables(schema);
      const { foreign, missing } = await oddTables(tx, shapes);
      if (missing.length > 0) throw new Error(`The database lacks ${missing.join(', ')}.`);
      if (foreign.length > 0) say(`Left out, since they are none of this program: ${foreign.join(', ')}.`);
      const tables: Manifest['tables'] = [];
      for (const shape of shapes.filter(({ name }) => !endsWithReturn.has(name))) {
        tables.push(await writeTable(tx, shape, folder));
      }
      return { database: isPostgres(db) ? 'PostgreSQL' : 'SQLite', schema, tables };
    });
  } finally {
    await db.destroy();
  }
}

async function writeTable(
  tx: Change,
  shape: TableShape,
  folder: string,
): Promise<Manifest['tables'][number]> {
  const { name, columns } = shape;
  const digest = createTableDigest();
  const slides = name === 'images' ? await openSlideList(path.join(folder, backupFiles.slides)) : null;
  async function* lines() {
    for await (const rows of readRows(tx, shape)) {
      let text = '';
      for (const values of rows) {
        const line = encodeRow(shape, values);
        digest.add(line);
        text += line;
      }
      await slides?.add(shape, rows);
      yield text;
    }
  }
  const file = path.join(folder, tableFile(name));
  await pipeline(
    lines,
    createGzip({ level: gzipLevel }),
    createWriteStream(file, { mode: forOwner, flush: true }),
  );
  await slides?.close();
  return { name, columns: [...columns], ...digest.digest() };
}

/** What a person needs to know about the slides, for spreadsheets: RFC 4180. */
async function openSlideList(file: string) {
  const handle = await fs.open(file, 'wx', forOwner);
  const fields = ['root', 'path', 'size_bytes', 'fingerprint', 'removed_at', 'missing_since'];
  await handle.write(`${fields.join(',')}\r\n`);
  return {
    async add({ columns }: TableShape, rows: readonly Values[]): Promise<void> {
      const places = fields.map((field) => columns.indexOf(field));
      const lines = rows.map((row) => `${places.map((place) => csvField(row[place] ?? '')).join(',')}\r\n`);
      await handle.write(lines.join(''));
    },
    async close(): Promise<void> {
      await handle.sync();
      await handle.close();
    },
  };
}

function csvField(value: string | number): string {
  return /[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);
}

async function writeKey(
  { config, say }: Ground,
  folder: string,
  tables: Manifest['tables'],
): Promise<Manifest['sealedWith']> {
  if (config.secretKey !== null) return 'settings';
  try {
    await writeWhole(path.join(folder, backupFiles.key), await fs.readFile(keyFile(config.dataDir), 'utf8'));
    return 'file';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const sealed = tables.find(({ name, rows }) => name === 'second_factors' && rows > 0);
  if (sealed !== undefined) {
    say(
      `Warning: neither SECRET_KEY nor ${keyFile(config.dataDir)} is there, so that the backup lacks the key of ${sealed.rows} second factors. Run this where the server runs.`,
    );
  }
  return 'none';
}

async function copyUploads(config: Config, folder: string, withThem: boolean): Promise<Manifest['uploads']> {
  const from = slideRoots(config).uploads;
  const files = await filesBelow(from);
  if (files.length === 0) return 'none';
  if (!withThem) return 'left out';
  for (const file of files) {
    const copy = path.join(folder, backupFiles.uploads, file);
    await fs.mkdir(path.dirname(copy), { recursive: true, mode: 0o700 });
    await fs.copyFile(path.join(from, file), copy);
    await flush(copy);
  }
  return 'included';
}

function sayWhatItHolds({ say, config }: Ground, { tables, uploads, createdAt }: Manifest): void {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  say(`${tables.length} tables with ${rows} rows, as they were at ${createdAt}.`);
  if (uploads === 'left out') {
    say(
      `Uploaded slides are not in it: back up ${slideRoots(config).uploads} by other means, or use --with-uploads.`,
    );
  }
}

/** With forward slashes, from the folder; none where there is no folder. Only files themselves, no links. */
async function filesBelow(folder: string): Promise<string[]> {
  try {
    const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) =>
        path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'),
      )
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function writeWhole(file: string, text: string): Promise<void> {
  await fs.writeFile(file, text, { mode: forOwner, flag: 'wx', flush: true });
}

async function flush(file: string): Promise<void> {
  const handle = await fs.open(file, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function flushFolders(folder: string): Promise<void> {
  for (const entry of await fs.readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) flushFolder(path.join(entry.parentPath, entry.name));
  }
  flushFolder(folder);
}

/** Of whole backups, and of what was left unfinished before the newest of those that stay. */
async function deleteOlder(parent: string, keep: number, say: Say): Promise<void> {
  const names = (await fs.readdir(parent)).sort();
  const whole = names.filter(isBackupName);
  const [oldestKept] = whole.slice(-keep);
  const old = names.filter(
    (name) =>
      isBackupName(name.replace(unfinishedEnding, '')) && oldestKept !== undefined && name < oldestKept,
  );
  for (const name of old) await fs.rm(path.join(parent, name), { recursive: true });
  if (old.length > 0) say(`Deleted ${old.length} older backups; the last ${keep} are kept.`);
}
