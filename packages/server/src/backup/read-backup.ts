/** Opens a backup, after verifying all of its files, and reads its rows. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { createGunzip } from 'node:zlib';
import { programVersion } from '../platform/program-version.ts';
import {
  describeTables,
  isKnownVersion,
  type RowValues,
  type TableDigest,
  type TableShape,
} from '../store/table-rows.ts';
import { backupFiles, formatVersion, Manifest, tableFile, unfinishedSuffix } from './backup-format.ts';
import { readChecksums, sha256Of } from './checksums.ts';

export interface Backup {
  readonly folder: string;
  readonly manifest: Manifest;
  /** Columns and keys of all tables in the schema version of the backup. */
  readonly shapes: readonly TableShape[];
  /**
   * Files of uploaded slides and results, as paths relative to the folder of the backup with forward slashes. Empty for a backup without
   * uploads.
   */
  readonly uploads: readonly { readonly file: string; readonly sha256: string }[];
}

const chunkBytes = 256 * 1024;

/** Verifies and opens a backup. @throws Error with a sentence for the operator that names the defect */
export async function openBackup(folder: string): Promise<Backup> {
  if (path.resolve(folder).endsWith(unfinishedSuffix)) throw new Error(`${folder} is an unfinished backup.`);
  const sums = await checkFiles(folder);
  const manifest = await readManifest(folder);
  const shapes = await describeTables(manifest.schema);
  for (const table of manifest.tables) {
    const shape = shapes.find(({ name }) => name === table.name);
    if (shape?.columns.join() !== table.columns.join()) {
      throw new Error(
        `Table ${table.name} of the backup does not match its columns after the migration ${manifest.schema}.`,
      );
    }
    if (!sums.has(tableFile(table.name))) throw new Error(`${tableFile(table.name)} is not in the backup.`);
    const { rows, sha256 } = await digestOfLines(path.join(folder, tableFile(table.name)));
    if (rows !== table.rows || sha256 !== table.sha256) {
      throw new Error(`${tableFile(table.name)} does not match the manifest of the backup.`);
    }
  }
  const requiredFiles = [
    ...(manifest.sealedWith === 'file' ? [backupFiles.key] : []), // `file`: the backup contains the encryption key
    backupFiles.settings,
    backupFiles.manifest,
  ];
  for (const file of requiredFiles) {
    if (!sums.has(file)) throw new Error(`${file} is not in the backup.`);
  }
  const uploads = [...sums]
    .filter(([file]) => /^(?:uploads|results)\//.test(file))
    .map(([file, sha256]) => ({ file, sha256 }));
  return { folder, manifest, shapes, uploads };
}

/** Checks that every file in the list of hashes exists and has its hash. @returns the hashes by file name */
async function checkFiles(folder: string): Promise<ReadonlyMap<string, string>> {
  const list = path.join(folder, backupFiles.checksums);
  const sums = readChecksums(
    await fs.readFile(list, 'utf8').catch((error: unknown) => {
      throw new Error(`${folder} is not a backup: it has no ${backupFiles.checksums}.`, { cause: error });
    }),
  );
  for (const [file, sum] of sums) {
    if (file.split('/').includes('..') || path.isAbsolute(file)) {
      throw new Error(`The list of checksums names ${file}, which is outside the backup.`);
    }
    const actual = await sha256Of(path.join(folder, file)).catch((error: NodeJS.ErrnoException) => {
      throw new Error(`${file} of the backup ${error.code === 'ENOENT' ? 'is missing' : 'cannot be read'}.`, {
        cause: error,
      });
    });
    if (actual !== sum) throw new Error(`${file} of the backup is damaged: its SHA-256 differs.`);
  }
  return sums;
}

async function readManifest(folder: string): Promise<Manifest> {
  const text = await fs.readFile(path.join(folder, backupFiles.manifest), 'utf8');
  const { success, data: manifest } = Manifest.safeParse(JSON.parse(text));
  if (!success) throw new Error(`${backupFiles.manifest} of the backup has an unknown format.`);
  // No format is older than that of this program, so another format, or an unknown migration, is newer.
  if (manifest.formatVersion !== formatVersion || !isKnownVersion(manifest.schema)) {
    throw new Error(
      `The backup was made by version ${manifest.programVersion} of this program (last migration: ${manifest.schema}); this is version ${programVersion}, which is older. Use the newer version.`,
    );
  }
  return manifest;
}

/** Returns the number of lines of a table file, one for each row, and the hash of the uncompressed lines. */
async function digestOfLines(file: string): Promise<TableDigest> {
  const hash = createHash('sha256');
  let rows = 0;
  for await (const chunk of unzipped(file)) {
    hash.update(chunk);
    for (const byte of chunk) if (byte === 0x0a) rows++; // line feed
  }
  return { rows, sha256: hash.digest('hex') };
}

/** Yields batches of rows of a table in the order of its primary key. */
export async function* rowsOf(
  { folder }: Backup,
  table: string,
): AsyncGenerator<readonly RowValues[], void, undefined> {
  const decoder = new TextDecoder();
  let incompleteLine = '';
  for await (const chunk of unzipped(path.join(folder, tableFile(table)))) {
    const lines = (incompleteLine + decoder.decode(chunk, { stream: true })).split('\n');
    incompleteLine = lines.pop() ?? ''; // empty after the last chunk, because every row ends with a line feed
    if (lines.length > 0) yield lines.map((line) => JSON.parse(line) as RowValues);
  }
}

function unzipped(file: string): AsyncIterable<Buffer> {
  const source = createReadStream(file, { highWaterMark: chunkBytes });
  const unzip = createGunzip({ chunkSize: chunkBytes });
  source.on('error', (error) => unzip.destroy(error));
  return source.pipe(unzip);
}
