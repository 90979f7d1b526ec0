/** Writes a backup of an installation while the server runs: a snapshot of its tables, its settings and its encryption key. */
import { createWriteStream, existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Config } from '../platform/config.ts';
import { formatCsvLine } from '../platform/csv.ts';
import { keyFile } from '../platform/encryption.ts';
import { programVersion } from '../platform/program-version.ts';
import { slideRoots } from '../slide-storage/slide-roots.ts';
import { connectDatabase, type DatabaseTransaction } from '../store/database.ts';
import { isPostgres } from '../store/dialects.ts';
import { syncFolder } from '../store/embedded-file.ts';
import {
  createTableDigest,
  describeTables,
  encodeRow,
  isKnownVersion,
  type RowValues,
  readRows,
  runInSnapshot,
  schemaVersion,
  type TableShape,
  unexpectedTables,
} from '../store/table-rows.ts';
import {
  backupFiles,
  backupName,
  formatVersion,
  type Manifest,
  tableFile,
  tablesClearedByRestore,
  unfinishedSuffix,
} from './backup-format.ts';
import { sha256Of, writeChecksums } from './checksums.ts';
import { deleteOlderBackups } from './delete-older-backups.ts';
import { settingsLines } from './env-lines.ts';
import type { PrintLine } from './fill-tables.ts';

interface BackupDependencies {
  readonly config: Config;
  /** The settings that have an explicit value, by name, as strings. */
  readonly settings: Readonly<Record<string, string>>;
  readonly now: () => Date;
  readonly printLine: PrintLine;
}

interface BackupOptions {
  /** Parent folder of the backups. Each backup is a folder in it. */
  readonly to: string;
  readonly withUploads: boolean;
  /** Number of backups to keep; older ones are deleted. Null keeps all. */
  readonly keep: number | null;
}

const gzipLevel = 4; // a compromise between speed and size
const ownerOnlyMode = 0o600; // only the owner may read and write the file
/** Interval at which a running backup renews the modification time of its unfinished folder; see delete-older-backups.ts. */
const heartbeatMs = 60_000;

/**
 * Writes a backup. The server may keep running.
 *
 * @returns the path of the new backup
 * @throws Error with a sentence for the operator; the unfinished folder has been removed
 */
export async function writeBackup(
  dependencies: BackupDependencies,
  { to, withUploads, keep }: BackupOptions,
): Promise<string> {
  await fs.mkdir(to, { recursive: true, mode: 0o700 });
  const folder = await createUnfinishedFolder(to, backupName(dependencies.now()));
  const unfinishedFolder = `${folder}${unfinishedSuffix}`;
  const heartbeat = setInterval(() => {
    const time = new Date();
    // A failure is ignored: if the folder is gone, the next write into it fails.
    void fs.utimes(unfinishedFolder, time, time).catch(() => {});
  }, heartbeatMs);
  try {
    await fs.mkdir(path.join(unfinishedFolder, 'tables'), { mode: 0o700 });
    await fillFolder(dependencies, unfinishedFolder, withUploads);
    await flushFolders(unfinishedFolder);
    await fs.rename(unfinishedFolder, folder);
    syncFolder(to);
  } catch (error) {
    await fs.rm(unfinishedFolder, { recursive: true, force: true });
    throw error;
  } finally {
    clearInterval(heartbeat);
  }
  if (keep !== null) await deleteOlderBackups(folder, keep, dependencies.printLine);
  return folder;
}

/**
 * Creates the unfinished folder of a new backup. A second backup within the same second gets a number.
 * @returns the path of the finished backup, which does not exist yet
 */
async function createUnfinishedFolder(parent: string, name: string): Promise<string> {
  const existingNames = new Set(await fs.readdir(parent));
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}-${number}`;
    if (existingNames.has(candidate)) continue;
    const folder = path.join(parent, candidate);
    try {
      await fs.mkdir(folder + unfinishedSuffix, { mode: 0o700 });
      return folder;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // EEXIST: another backup is being written
    }
  }
}

async function fillFolder(
  dependencies: BackupDependencies,
  folder: string,
  withUploads: boolean,
): Promise<void> {
  const { config, settings, now } = dependencies;
  const createdAt = now().toISOString();
  const database = await writeTables(dependencies, folder);
  await writeTextFile(path.join(folder, backupFiles.settings), settingsLines(settings));
  const manifest: Manifest = {
    format: 'lamina-backup',
    formatVersion,
    programVersion,
    createdAt,
    ...database,
    sealedWith: await writeKey(dependencies, folder, database.tables),
    uploads: await copyUploads(config, folder, withUploads),
  };
  await writeTextFile(path.join(folder, backupFiles.manifest), `${JSON.stringify(manifest, null, 2)}\n`);
  const sums = new Map<string, string>();
  for (const file of await filesBelow(folder)) sums.set(file, await sha256Of(path.join(folder, file)));
  await writeTextFile(path.join(folder, backupFiles.checksums), writeChecksums(sums));
  reportContents(dependencies, manifest);
}

/** Writes all tables from one snapshot of the database. @throws Error with a sentence for the operator */
async function writeTables(
  { config, printLine }: BackupDependencies,
  folder: string,
): Promise<Pick<Manifest, 'database' | 'schema' | 'tables'>> {
  const file = path.join(config.dataDir, 'lamina.db');
  if (config.databaseUrl === null && !existsSync(file)) {
    throw new Error(`There is nothing to back up: ${file} does not exist.`);
  }
  const db = await connectDatabase({ url: config.databaseUrl, file });
  try {
    return await runInSnapshot(db, async (tx) => {
      const schema = await schemaVersion(tx);
      if (schema === null) throw new Error('There is nothing to back up: the database has no tables yet.');
      if (!isKnownVersion(schema)) {
        throw new Error(
          `The database was written by a newer version of this program (${schema}). Use that version.`,
        );
      }
      const shapes = await describeTables(schema);
      const { foreign, missing } = await unexpectedTables(tx, shapes);
      if (missing.length > 0) throw new Error(`The database lacks ${missing.join(', ')}.`);
      if (foreign.length > 0)
        printLine(`Tables of other programs are not in the backup: ${foreign.join(', ')}.`);
      const tables: Manifest['tables'] = [];
      for (const shape of shapes.filter(({ name }) => !tablesClearedByRestore.has(name))) {
        tables.push(await writeTable(tx, shape, folder));
      }
      return { database: isPostgres(db) ? 'PostgreSQL' : 'SQLite', schema, tables };
    });
  } finally {
    await db.destroy();
  }
}

/** Writes the rows of a table, and for the table of images also the list of slides. */
async function writeTable(
  tx: DatabaseTransaction,
  shape: TableShape,
  folder: string,
): Promise<Manifest['tables'][number]> {
  const { name, columns } = shape;
  const digest = createTableDigest();
  const slideList = name === 'images' ? await openSlideList(path.join(folder, backupFiles.slides)) : null;
  async function* lines() {
    for await (const rows of readRows(tx, shape)) {
      let text = '';
      for (const values of rows) {
        const line = encodeRow(shape, values);
        digest.add(line);
        text += line;
      }
      await slideList?.add(shape, rows);
      yield text;
    }
  }
  const file = path.join(folder, tableFile(name));
  await pipeline(
    lines,
    createGzip({ level: gzipLevel }),
    createWriteStream(file, { mode: ownerOnlyMode, flush: true }),
  );
  await slideList?.close();
  return { name, columns: [...columns], ...digest.digest() };
}

/** Creates the list of slides, a CSV file for spreadsheets (RFC 4180). */
async function openSlideList(file: string) {
  const handle = await fs.open(file, 'wx', ownerOnlyMode);
  const fields = ['root', 'path', 'size_bytes', 'fingerprint', 'removed_at', 'missing_since'];
  await handle.write(`${fields.join(',')}\r\n`);
  return {
    async add({ columns }: TableShape, rows: readonly RowValues[]): Promise<void> {
      const columnIndices = fields.map((field) => columns.indexOf(field));
      const lines = rows.map((row) => {
        return formatCsvLine(columnIndices.map((index) => row[index] ?? ''));
      });
      await handle.write(lines.join(''));
    },
    async close(): Promise<void> {
      await handle.sync();
      await handle.close();
    },
  };
}

/**
 * Copies the key file unless the settings contain the key. Warns if secrets are encrypted but the key is not found. Returns where the
 * key of the backup is.
 */
async function writeKey(
  { config, printLine }: BackupDependencies,
  folder: string,
  tables: Manifest['tables'],
): Promise<Manifest['sealedWith']> {
  if (config.secretKey !== null) return 'settings';
  try {
    await writeTextFile(
      path.join(folder, backupFiles.key),
      await fs.readFile(keyFile(config.dataDir), 'utf8'),
    );
    return 'file';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const rowsOf = (table: string) => tables.find(({ name }) => name === table)?.rows ?? 0;
  const [secondFactors, emails] = [rowsOf('second_factors'), rowsOf('letters')]; // encrypted values; `letters`: queued e-mails
  if (secondFactors + emails > 0) {
    printLine(
      `Warning: neither SECRET_KEY nor ${keyFile(config.dataDir)} exists. The backup therefore lacks the key that encrypts ${secondFactors} second factors and ${emails} queued e-mails. Run this command where the server runs.`,
    );
  }
  return 'none';
}

/** Whether a file below `results` is complete: not a part of an upload, nor a result that an import still writes. */
const isCompleteResult = (file: string) => !/^partial\/|\.importing(?:\.spill)?$/.test(file);

/** Copies uploaded slides and results if `withUploads` is set. @returns whether the backup contains them; `none` when there are none */
async function copyUploads(
  config: Config,
  folder: string,
  withUploads: boolean,
): Promise<Manifest['uploads']> {
  const sources = [
    [slideRoots(config).uploads, backupFiles.uploads],
    [path.join(config.dataDir, 'results'), backupFiles.results],
  ] as const;
  let count = 0;
  for (const [source, name] of sources) {
    const allFiles = await filesBelow(source);
    const files = name === backupFiles.results ? allFiles.filter(isCompleteResult) : allFiles;
    count += files.length;
    if (!withUploads) continue;
    for (const file of files) {
      const copy = path.join(folder, name, file);
      await fs.mkdir(path.dirname(copy), { recursive: true, mode: 0o700 });
      try {
        await fs.copyFile(path.join(source, file), copy);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        continue; // deleted since the files were listed
      }
      await flush(copy);
    }
  }
  if (count === 0) return 'none';
  return withUploads ? 'included' : 'left out';
}

function reportContents(
  { printLine, config }: BackupDependencies,
  { tables, uploads, createdAt }: Manifest,
): void {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  printLine(`${tables.length} tables with ${rows} rows saved. The backup has the state of ${createdAt}.`);
  if (uploads === 'left out') {
    printLine(
      `Uploaded slides and results are not in the backup: back up ${slideRoots(config).uploads} and ${path.join(config.dataDir, 'results')} separately, or use --with-uploads.`,
    );
  }
}

/**
 * Returns the regular files below a folder, without links, as relative paths with forward slashes. Returns none if the folder does
 * not exist.
 */
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

async function writeTextFile(file: string, text: string): Promise<void> {
  await fs.writeFile(file, text, { mode: ownerOnlyMode, flag: 'wx', flush: true });
}

/** Waits until the file is on disk. */
async function flush(file: string): Promise<void> {
  const handle = await fs.open(file, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Waits until the entries of the folder and its subfolders are on disk. */
async function flushFolders(folder: string): Promise<void> {
  for (const entry of await fs.readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) syncFolder(path.join(entry.parentPath, entry.name));
  }
  syncFolder(folder);
}
