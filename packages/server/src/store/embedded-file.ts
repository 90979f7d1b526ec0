/** Opens the file of the embedded SQLite database exclusively, or replaces it atomically, for backup and restore. */
import fs from 'node:fs';
import path from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import type { Database } from './database.ts';
import { withoutKyselyMigrationLock } from './migrating.ts';
import type { Tables } from './schema.ts';

/** Thrown when another program has the database open. */
export class DatabaseInUse extends Error {
  override readonly name = 'DatabaseInUse';
}

/**
 * Opens or creates a database file exclusively. While it is open, all data are in this one file, without a write-ahead log.
 *
 * @throws DatabaseInUse when another program has the database open
 */
export function openExclusively(file: string): Database {
  const database = new SqliteDatabase(file, { timeout: 1000 }); // waits up to 1 s for locks
  try {
    database.pragma('locking_mode = EXCLUSIVE');
    // Ends WAL mode. Only the last connection can do so, so this fails while another program has the database open.
    database.pragma('journal_mode = DELETE');
    database.exec('begin exclusive; commit'); // acquires the exclusive lock, which is then kept
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
  } catch (error) {
    database.close();
    if ((error as { code?: unknown }).code !== 'SQLITE_BUSY') throw error; // BUSY: another connection holds a lock
    throw new DatabaseInUse(
      `A program has the database open (${file}): stop the server and all other programs that use it.`,
      { cause: error },
    );
  }
  return new Kysely<Tables>({ dialect: withoutKyselyMigrationLock(new SqliteDialect({ database })) }); // see migrating.ts
}

/**
 * Replaces a database file with another; both databases must be closed. A crash at any moment leaves either the old or the new
 * file.
 *
 * @returns the path of the safety copy of the replaced file; null when no file was replaced
 */
export function replaceDatabase(file: string, replacement: string): string | null {
  const safetyCopy = `${file}.before-restore`;
  const hasOldDatabase = fs.existsSync(file);
  if (hasOldDatabase) {
    // SQLite adds `-wal` and `-shm` to the file name for the write-ahead log and its index.
    for (const ending of ['', '-wal', '-shm']) fs.rmSync(`${safetyCopy}${ending}`, { force: true });
    fs.linkSync(file, safetyCopy); // the old file has both names until the rename below
    // After an unclean shutdown the log and its index still exist, and SQLite would apply the old log to the new file.
    for (const ending of ['-wal', '-shm']) {
      if (fs.existsSync(`${file}${ending}`)) fs.renameSync(`${file}${ending}`, `${safetyCopy}${ending}`);
    }
  }
  fs.renameSync(replacement, file);
  syncFolder(path.dirname(file));
  return hasOldDatabase ? safetyCopy : null;
}

/** Flushes a folder to the disk, so that renames in it survive a power failure. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return; // Node cannot open folders on Windows
  const handle = fs.openSync(folder, 'r');
  try {
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
}
