/** Empty databases for tests. */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll } from 'vitest';
import { type Database, openDatabase } from '../database.ts';

const serverUrl = process.env.TEST_DATABASE_URL;

export type DatabaseKind = 'SQLite' | 'PostgreSQL';

/** SQLite always; PostgreSQL too, when TEST_DATABASE_URL names a server on which databases may be made. */
export const databaseKinds: readonly DatabaseKind[] = serverUrl ? ['SQLite', 'PostgreSQL'] : ['SQLite'];

export interface TestDatabase {
  readonly db: Database;
  /** Another connection to the same data, as a second process has one. Null for SQLite in memory. */
  readonly url: string | null;
  /** Closes the database, if that has not been done. */
  close(): Promise<void>;
}

export function openTestDatabase(kind: DatabaseKind): Promise<TestDatabase> {
  return kind === 'SQLite' ? openSqlite() : openPostgres();
}

async function openSqlite(): Promise<TestDatabase> {
  const db = await openDatabase({ url: null, file: null });
  return { db, url: null, close: () => db.destroy() };
}

/** Making a PostgreSQL database takes half a second, so a test file's tests use one after the other. */
const databases: string[] = [];
const unused: string[] = [];

async function openPostgres(): Promise<TestDatabase> {
  const name = unused.pop() ?? (await createPostgres());
  const url = new URL(serverUrl ?? '');
  url.pathname = `/${name}`;
  const db = await openDatabase({ url: url.href, file: null });
  await empty(db);
  return {
    db,
    url: url.href,
    async close() {
      await db.destroy();
      unused.push(name);
    },
  };
}

/** Address of a PostgreSQL database with nothing in it, not even our tables; gone after the test file. */
export async function createEmptyPostgres(): Promise<string> {
  const url = new URL(serverUrl ?? '');
  url.pathname = `/${await createPostgres()}`;
  return url.href;
}

async function createPostgres(): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await ask(`create database ${name}`);
  databases.push(name);
  return name;
}

async function empty(db: Database): Promise<void> {
  await sql`drop schema if exists jobs cascade`.execute(db); // the queue's own
  const tables = (await db.introspection.getTables()).filter(({ name }) => name !== 'locks');
  const names = tables.map(({ name }) => sql.table(name));
  await sql`truncate ${sql.join(names)}`.execute(db);
}

afterAll(async () => {
  for (const name of databases) await ask(`drop database ${name} with (force)`);
});

async function ask(command: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(command);
  } finally {
    await client.end();
  }
}
