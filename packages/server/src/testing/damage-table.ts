import fs from 'node:fs';
import SqliteDatabase from 'better-sqlite3';

/**
 * Overwrites the root pages of a table and of its indexes, so that queries of this table fail with SQLITE_CORRUPT and those of other tables
 * do not. No process may have the database open.
 */
export function damageTable(file: string, table: string): void {
  const database = new SqliteDatabase(file);
  database.pragma('journal_mode = DELETE'); // all changes are then in the file, none in a write-ahead log
  const pageBytes = database.pragma('page_size', { simple: true }) as number;
  const pages = database
    .prepare('select rootpage from sqlite_schema where tbl_name = ? and rootpage > 0')
    .pluck()
    .all(table) as number[];
  database.close();
  const handle = fs.openSync(file, 'r+');
  const noise = Buffer.alloc(pageBytes, 0xff);
  for (const page of pages) fs.writeSync(handle, noise, 0, pageBytes, (page - 1) * pageBytes); // pages are numbered from 1
  fs.closeSync(handle);
}
