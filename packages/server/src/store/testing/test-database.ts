/** Empty databases for tests. */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, inject } from 'vitest';
import { type Database, openDatabase } from '../database.ts';
import { createPostgresTemplate, readSqliteTemplate, withClient } from './database-template.ts';

const serverUrl = process.env.TEST_DATABASE_URL;

export type DatabaseKind = 'SQLite' | 'PostgreSQL';

/** SQLite always; PostgreSQL when TEST_DATABASE_URL names a server on which databases may be created. */
export const databaseKinds: readonly DatabaseKind[] = serverUrl ? ['SQLite', 'PostgreSQL'] : ['SQLite'];

export interface TestDatabase {
  readonly db: Database;
  /**
   * URL for another connection to the same data, as a second process would have. Null for SQLite in memory.
   */
  readonly url: string | null;
  /** Closes the database unless it is closed. */
  close(): Promise<void>;
}

export function openTestDatabase(kind: DatabaseKind): Promise<TestDatabase> {
  return kind === 'SQLite' ? openSqlite() : openPostgres();
}

/** Content of a migrated empty database; null before the first test. Migrating would take half the time of a test. */
let migrated: Buffer | null = null;

async function openSqlite(): Promise<TestDatabase> {
  migrated ??= await readSqliteTemplate(inject('databaseTemplates'));
  const db = await openDatabase({ url: null, file: null, content: migrated });
  return { db, url: null, close: () => db.destroy() };
}

/** Creating a PostgreSQL database takes a tenth of a second and more, so the tests of a file reuse databases. */
const databases: string[] = [];
const unused: string[] = [];
let template: Promise<void> | null = null;

async function openPostgres(): Promise<TestDatabase> {
  const name = unused.pop() ?? (await copyTemplate());
  const url = new URL(serverUrl ?? '');
  url.pathname = `/${name}`;
  const db = await openDatabase({ url: url.href, file: null });
  await emptyTables(db);
  return {
    db,
    url: url.href,
    async close() {
      await db.destroy();
      unused.push(name);
    },
  };
}

/** URL of an empty PostgreSQL database without Lamina's tables, which is dropped after the test file. */
export async function createEmptyPostgres(): Promise<string> {
  const url = new URL(serverUrl ?? '');
  url.pathname = `/${await createPostgres()}`;
  return url.href;
}

async function copyTemplate(): Promise<string> {
  const templates = inject('databaseTemplates');
  template ??= createPostgresTemplate(serverUrl ?? '', templates);
  await template;
  return createPostgres(templates.name);
}

/** @param copied database that the new one is a copy of */
async function createPostgres(copied = 'template1'): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await ask(`create database ${name} template ${copied}`);
  databases.push(name);
  return name;
}

/** Larger tables are truncated; the rows of smaller ones are deleted, which takes a hundredth of the time. */
const maxBytesToDelete = 1_000_000;

/** The tables of the job queue, in the schema `jobs`, stay too: to create them takes longer than most tests. */
async function emptyTables(db: Database): Promise<void> {
  const { rows } = await sql<{ name: string; bytes: number }>`
    select format('%I.%I', n.nspname, c.relname) as name, pg_relation_size(c.oid) as bytes
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('public', 'jobs') and c.relkind = 'r' and c.relname not like 'kysely_%'
      and c.relname not in ('locks', 'version')
  `.execute(db);
  const namesOf = (tables: typeof rows) => tables.map(({ name }) => name);
  const [large, small] = [
    rows.filter(({ bytes }) => bytes > maxBytesToDelete),
    rows.filter(({ bytes }) => bytes <= maxBytesToDelete && bytes > 0),
  ];
  if (large.length > 0) await sql`truncate ${sql.raw(namesOf(large).join(', '))} cascade`.execute(db);
  if (small.length === 0) return;
  const deletions = namesOf(small).map((name) => `delete from ${name};`);
  try {
    // Disables the triggers that protect foreign keys and the audit log.
    const withoutTriggers = 'set local session_replication_role = replica;';
    await sql.raw(`do $$ begin ${withoutTriggers} ${deletions.join(' ')} end $$`).execute(db);
  } catch {
    // Only a superuser may disable triggers.
    await sql`truncate ${sql.raw(namesOf(small).join(', '))} cascade`.execute(db);
  }
}

afterAll(async () => {
  for (const name of databases) await ask(`drop database ${name} with (force)`);
});

async function ask(command: string): Promise<void> {
  await withClient(serverUrl ?? '', (client) => client.query(command));
}
