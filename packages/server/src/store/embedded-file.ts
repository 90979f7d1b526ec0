/** The file of the embedded database: exclusive access, and atomic replacement. */
import fs from 'node:fs';
import path from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import type { Database } from './database.ts';
import { withOwnMigrationLock } from './migrating.ts';
import type { Tables } from './schema.ts';

/** Another program has the database open. */
export class DatabaseInUse extends Error {
  override readonly name = 'DatabaseInUse';
}

/**
 * Opens the database exclusively, or creates it. While it is open, all data are in one file.
 *
 * @throws DatabaseInUse
 */
export function openExclusively(file: string): Database {
  const database = new SqliteDatabase(file, { timeout: 1000 });
  try {
    database.pragma('locking_mode = EXCLUSIVE');
    // Leaving WAL mode needs a lock that any other program with the database open holds.
    database.pragma('journal_mode = DELETE');
    database.exec('begin exclusive; commit');
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
  } catch (error) {
    database.close();
    if ((error as { code?: unknown }).code !== 'SQLITE_BUSY') throw error;
    throw new DatabaseInUse(
      `A program has the database open (${file}): stop the server and all other programs that use it.`,
      { cause: error },
    );
  }
  return new Kysely<Tables>({ dialect: withOwnMigrationLock(new SqliteDialect({ database })) });
}

/**
 * Replaces a database by another one; both must be closed. At every moment one of them exists.
 *
 * @returns the path of the safety copy of the replaced database; null when there was none
 */
export function replaceDatabase(file: string, replacement: string): string | null {
  const safetyCopy = `${file}.before-restore`;
  const isReplacement = fs.existsSync(file);
  if (isReplacement) {
    for (const ending of ['', '-wal', '-shm']) fs.rmSync(`${safetyCopy}${ending}`, { force: true });
    fs.linkSync(file, safetyCopy);
    // WAL files of a database that was not closed cleanly; the new database must not apply them.
    for (const ending of ['-wal', '-shm']) {
      if (fs.existsSync(`${file}${ending}`)) fs.renameSync(`${file}${ending}`, `${safetyCopy}${ending}`);
    }
  }
  fs.renameSync(replacement, file);
  syncFolder(path.dirname(file));
  return isReplacement ? safetyCopy : null;
}

/** Flushes a folder, so that renames in it survive a power failure. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return; // cannot open folders
  const handle = fs.openSync(folder, 'r');
  try {
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
}
