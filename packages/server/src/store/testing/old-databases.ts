/** Databases of earlier versions with rows in every table, and locations for new databases. */
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

/** By the last executed migration; 0008 is that of version 0.1.0. */
export const oldVersions = ['0001', '0008'] as const;

/** A folder that is deleted after the test. */
export function temporaryFolder(): string {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-database-'));
  onTestFinished(() => fs.rmSync(made, { recursive: true }));
  return made;
}

/** @param folder folder of an embedded database */
export async function emptyDatabaseLocation(
  kind: DatabaseKind,
  folder = temporaryFolder(),
): Promise<DatabaseLocation> {
  if (kind === 'PostgreSQL') return { url: await createEmptyPostgres(), file: null };
  return { url: null, file: path.join(folder, 'lamina.db') };
}

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

/** Executes statements on the file of an embedded database, as its owner could. */
export function executeIn(file: string, statements: string): void {
  const database = new SqliteDatabase(file);
  database.exec(statements);
  database.close();
}

export type AnyRow = Readonly<Record<string, unknown>>;

/** All rows of all tables, by table, in the order of their text. */
export async function allRowsOf(db: Database): Promise<ReadonlyMap<string, readonly AnyRow[]>> {
  const all = new Map<string, AnyRow[]>();
  for (const name of [...(await tableNames(db))].filter((each) => !/^(kysely|sqlite)_/.test(each)).sort()) {
    const { rows } = await sql<AnyRow>`select * from ${sql.table(name)}`.execute(db);
    const inOrder = rows.map((row): [string, AnyRow] => [
      JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))),
      { ...row },
    ]);
    all.set(
      name,
      inOrder.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row),
    );
  }
  return all;
}

/** Opens a database without migrating it, runs `look`, and closes it. */
export async function readWithoutMigrating<T>(
  location: DatabaseLocation,
  look: (db: Database) => Promise<T>,
): Promise<T> {
  const db = await connectDatabase(location);
  try {
    return await look(db);
  } finally {
    await db.destroy();
  }
}
