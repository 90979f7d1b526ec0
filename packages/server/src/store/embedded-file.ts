/** The embedded database as a file: kept to oneself, and put in the place of another one. */
import fs from 'node:fs';
import path from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import type { Database } from './database.ts';
import { migratedByUs } from './migrating.ts';
import type { Tables } from './schema.ts';

/** A program has the database open. */
export class DatabaseInUse extends Error {
  override readonly name = 'DatabaseInUse';
}

/**
 * Opens the database and keeps everybody else out until it is closed; makes it where there is none. While it is open,
 * all of it is in one file.
 *
 * @throws DatabaseInUse
 */
export function openAlone(file: string): Database {
  const database = new SqliteDatabase(file, { timeout: 1000 });
  try {
    database.pragma('locking_mode = EXCLUSIVE');
    // Whoever has a database open that is in WAL mode holds a lock that leaving this mode needs.
    database.pragma('journal_mode = DELETE');
    database.exec('begin exclusive; commit');
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
  } catch (error) {
    database.close();
    if ((error as { code?: unknown }).code !== 'SQLITE_BUSY') throw error;
    throw new DatabaseInUse(
      `A program has the database open (${file}): stop the server first, and whatever else uses it.`,
      { cause: error },
    );
  }
  return new Kysely<Tables>({ dialect: migratedByUs(new SqliteDialect({ database })) });
}

/**
 * Puts a finished database in the place of another one, which is kept beside under the name that is returned; null
 * where there was none. Both have to be closed. At every moment there is one or the other.
 */
export function replaceDatabase(file: string, by: string): string | null {
  const kept = `${file}.before-restore`;
  const isThere = fs.existsSync(file);
  if (isThere) {
    for (const ending of ['', '-wal', '-shm']) fs.rmSync(`${kept}${ending}`, { force: true });
    fs.linkSync(file, kept);
    // Of a database that could not be opened; the new one must not meet the changes of the old one.
    for (const ending of ['-wal', '-shm']) {
      if (fs.existsSync(`${file}${ending}`)) fs.renameSync(`${file}${ending}`, `${kept}${ending}`);
    }
  }
  fs.renameSync(by, file);
  flushFolder(path.dirname(file));
  return isThere ? kept : null;
}

/** So that the names in it stay as they are after a power cut. */
export function flushFolder(folder: string): void {
  if (process.platform === 'win32') return; // cannot open folders
  const handle = fs.openSync(folder, 'r');
  try {
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
}
