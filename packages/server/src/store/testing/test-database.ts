/** Empty databases for tests: each call gets one of its own. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { type Database, openDatabase } from '../database.ts';

const serverUrl = process.env.TEST_DATABASE_URL;

export type DatabaseKind = 'SQLite' | 'PostgreSQL';

/** SQLite always; PostgreSQL too, when TEST_DATABASE_URL names a server on which databases may be made. */
export const databaseKinds: readonly DatabaseKind[] = serverUrl ? ['SQLite', 'PostgreSQL'] : ['SQLite'];

export interface TestDatabase {
  readonly db: Database;
  /** Closes the database, if that has not been done, and removes it. */
  remove(): Promise<void>;
}

export async function openTestDatabase(kind: DatabaseKind): Promise<TestDatabase> {
  if (kind === 'SQLite') {
    const db = await openDatabase({ url: null, file: null });
    return { db, remove: () => db.destroy() };
  }
  const name = `test_${randomBytes(8).toString('hex')}`;
  await ask(`create database ${name}`);
  const url = new URL(serverUrl ?? '');
  url.pathname = `/${name}`;
  const db = await openDatabase({ url: url.href, file: null });
  return {
    db,
    async remove() {
      await db.destroy();
      await ask(`drop database ${name} with (force)`);
    },
  };
}

async function ask(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
