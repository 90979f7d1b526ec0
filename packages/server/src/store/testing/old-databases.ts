/** Databases as versions before this one left them, rows in every table; and places for databases. */
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

/** By the last migration that they have seen; 0008 is what version 0.1.0 began with. */
export const oldVersions = ['0001', '0008'] as const;

/** Gone with the test. */
export function temporaryFolder(): string {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-database-'));
  onTestFinished(() => fs.rmSync(made, { recursive: true }));
  return made;
}

/** @param folder of an embedded database */
export async function emptyPlace(kind: DatabaseKind, folder = temporaryFolder()): Promise<DatabaseLocation> {
  if (kind === 'PostgreSQL') return { url: await createEmptyPostgres(), file: null };
  return { url: null, file: path.join(folder, 'lamina.db') };
}

export async function loadOldDatabase(
  version: (typeof oldVersions)[number],
  kind: DatabaseKind,
  folder?: string,
): Promise<DatabaseLocation> {
  const place = await emptyPlace(kind, folder);
  const file = `${version}.${kind === 'SQLite' ? 'sqlite' : 'postgres'}.sql`;
  const dump = fs.readFileSync(path.join(import.meta.dirname, '../migrations/fixtures', file), 'utf8');
  if (place.file !== null) {
    executeIn(place.file, dump);
    return place;
  }
  const client = new pg.Client({ connectionString: place.url ?? '' });
  await client.connect();
  await client.query(dump);
  await client.end();
  return place;
}

/** What whoever owns an embedded database can do to it, statement after statement. */
export function executeIn(file: string, statements: string): void {
  const database = new SqliteDatabase(file);
  database.exec(statements);
  database.close();
}

export type AnyRow = Readonly<Record<string, unknown>>;

/** All rows of all tables, by table; each table in the order of its text. */
export async function everythingIn(db: Database): Promise<ReadonlyMap<string, readonly AnyRow[]>> {
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

/** Looks at a database as it is, and closes it. */
export async function lookedAt<T>(place: DatabaseLocation, look: (db: Database) => Promise<T>): Promise<T> {
  const db = await connectDatabase(place);
  try {
    return await look(db);
  } finally {
    await db.destroy();
  }
}
