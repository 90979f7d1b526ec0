/** Databases of earlier versions with rows in every table, and locations for new databases, for tests of migrations. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { sql } from 'kysely';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { connectDatabase, type Database, type DatabaseLocation } from '../database.ts';
import { tableNames } from '../migrating.ts';
import { createEmptyPostgres, type DatabaseKind } from './test-database.ts';

/** The earlier versions, named by their last executed migration. 0008 belongs to version 0.1.0 of the program. */
export const oldVersions = ['0001', '0008'] as const;

/** Creates a folder that is deleted after the test. */
export function temporaryFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-database-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

/** Returns the location of a new, empty database without tables. @param folder folder for an embedded database */
export async function emptyDatabaseLocation(
  kind: DatabaseKind,
  folder = temporaryFolder(),
): Promise<DatabaseLocation> {
  if (kind === 'PostgreSQL') return { url: await createEmptyPostgres(), file: null };
  return { url: null, file: path.join(folder, 'lamina.db') };
}

/** Creates a database with the tables and rows of an old version, from the dumps in migrations/fixtures. */
export async function loadOldDatabase(
  version: (typeof oldVersions)[number],
  kind: DatabaseKind,
  folder?: string,
): Promise<DatabaseLocation> {
  const location = await emptyDatabaseLocation(kind, folder);
  const file = `${version}.${kind === 'SQLite' ? 'sqlite' : 'postgres'}.sql`;
  const dump = fs.readFileSync(path.join(import.meta.dirname, '../migrations/fixtures', file), 'utf8');
  if (location.file !== null) {
    executeIn(location.file, dump);
    return location;
  }
  const client = new pg.Client({ connectionString: location.url ?? '' });
  await client.connect();
  await client.query(dump);
  await client.end();
  return location;
}

/** Executes SQL statements directly on the file of an embedded database. */
export function executeIn(file: string, statements: string): void {
  const database = new SqliteDatabase(file);
  database.exec(statements);
  database.close();
}

/** A row of any table, by column. */
export type AnyRow = Readonly<Record<string, unknown>>;

/** Returns all rows of all tables by table name, sorted by their JSON text, so that two databases can be compared. */
export async function allRowsOf(db: Database): Promise<ReadonlyMap<string, readonly AnyRow[]>> {
  const rowsByTable = new Map<string, AnyRow[]>();
  const isInternal = (name: string) => /^(kysely|sqlite)_/.test(name); // of Kysely's migrator or of SQLite
  for (const name of [...(await tableNames(db))].filter((table) => !isInternal(table)).sort()) {
    const { rows } = await sql<AnyRow>`select * from ${sql.table(name)}`.execute(db);
    const rowsWithText = rows.map((row): [string, AnyRow] => [
      JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))),
      { ...row },
    ]);
    rowsByTable.set(
      name,
      rowsWithText.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row),
    );
  }
  return rowsByTable;
}

/** Opens a database without migrating it, reads from it, and closes it. */
export async function readWithoutMigrating<T>(
  location: DatabaseLocation,
  read: (db: Database) => Promise<T>,
): Promise<T> {
  const db = await connectDatabase(location);
  try {
    return await read(db);
  } finally {
    await db.destroy();
  }
}
