/** Empty databases with all tables of the current version, for tests. */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { expect, inject } from 'vitest';
import { type Database, openDatabase, openMigratedPostgres } from '../database.ts';
import { createPostgresTemplate, readSqliteTemplate, withClient } from './database-template.ts';

const serverUrl = process.env.TEST_DATABASE_URL;

export type DatabaseKind = 'SQLite' | 'PostgreSQL';

/** SQLite, and PostgreSQL if TEST_DATABASE_URL is set (its user creates databases): for tests whose subject is the database. */
export const everyDatabaseKind: readonly DatabaseKind[] = serverUrl ? ['SQLite', 'PostgreSQL'] : ['SQLite'];
/** The databases for all other tests: without PostgreSQL in `npm test`, which sets TEST_SCOPE to `short`. */
export const databaseKinds: readonly DatabaseKind[] =
  process.env.TEST_SCOPE === 'short' ? ['SQLite'] : everyDatabaseKind;

export interface TestDatabase {
  readonly db: Database;
  /** URL for further connections to the same database, like those of a second process. Null for SQLite in memory. */
  readonly url: string | null;
  /** Closes the database; does nothing if it is closed already. */
  close(): Promise<void>;
}

/** Opens an empty database with all tables. The test must close it. */
export function openTestDatabase(kind: DatabaseKind): Promise<TestDatabase> {
  return kind === 'SQLite' ? openSqlite() : openPostgres();
}

/** Content of a migrated empty SQLite database; null before the first test. Migrating would take half the time of a test. */
let migratedContent: Buffer | null = null;

async function openSqlite(): Promise<TestDatabase> {
  migratedContent ??= await readSqliteTemplate(inject('databaseTemplates'));
  const db = await openDatabase({ url: null, file: null, content: migratedContent });
  return { db, url: null, close: () => db.destroy() };
}

/**
 * PostgreSQL databases that earlier tests of the same file have closed and later tests reuse, because creating a
 * database takes at least a tenth of a second. Other test files do not reuse them: the order of rows and the values of
 * sequences would depend on the earlier files.
 */
let unusedDatabases: { testFile: string | undefined; readonly names: string[] } = {
  testFile: undefined,
  names: [],
};
/** Creation of the PostgreSQL database that this test file copies; null before the first test. */
let templateCreation: Promise<void> | null = null;

async function openPostgres(): Promise<TestDatabase> {
  const { testPath: testFile } = expect.getState();
  if (testFile !== unusedDatabases.testFile) {
    const obsoleteNames = unusedDatabases.names;
    unusedDatabases = { testFile, names: [] };
    await withClient(serverUrl ?? '', async (client) => {
      for (const name of obsoleteNames) await client.query(`drop database ${name} with (force)`);
    });
  }
  const { names } = unusedDatabases;
  const name = names.pop() ?? (await copyTemplate());
  const url = new URL(serverUrl ?? '');
  url.pathname = `/${name}`;
  const db = openMigratedPostgres(url.href); // a copy of the template, which is migrated
  await emptyTables(db);
  let isClosed = false;
  return {
    db,
    url: url.href,
    async close() {
      if (isClosed) return;
      isClosed = true; // a second call must not offer the database to two tests
      await db.destroy();
      names.push(name);
    },
  };
}

/** Creates an empty PostgreSQL database without tables, which is dropped at the end of the run. Returns its URL. */
export async function createEmptyPostgres(): Promise<string> {
  const url = new URL(serverUrl ?? '');
  url.pathname = `/${await createPostgres()}`;
  return url.href;
}

async function copyTemplate(): Promise<string> {
  const templates = inject('databaseTemplates');
  templateCreation ??= createPostgresTemplate(serverUrl ?? '', templates);
  await templateCreation;
  return createPostgres(templates.name);
}

/** Creates a database as a copy of another, by default of PostgreSQL's own empty template. @returns its name */
async function createPostgres(original = 'template1'): Promise<string> {
  const name = `${inject('databaseTemplates').name}_${randomBytes(6).toString('hex')}`;
  await withClient(serverUrl ?? '', (client) => client.query(`create database ${name} template ${original}`));
  return name;
}

/** Tables above this size are truncated. The rows of smaller tables are deleted, which takes a hundredth of the time. */
const maxBytesToDelete = 1_000_000;

/**
 * Deletes all rows, except in `locks`, whose rows are needed, in the tables of Kysely's migrator, and in the table `version` of the
 * job queue (pg-boss). Keeps the tables, including those of the job queue in the schema `jobs`, because creating them takes long.
 */
async function emptyTables(db: Database): Promise<void> {
  const { rows } = await sql<{ name: string; bytes: number }>`
    select format('%I.%I', n.nspname, c.relname) as name, pg_relation_size(c.oid) as bytes
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('public', 'jobs') and c.relkind = 'r' and c.relname not like 'kysely_%'
      and c.relname not in ('locks', 'version')
  `.execute(db);
  const namesOf = (tables: typeof rows) => tables.map(({ name }) => name);
  const largeTables = rows.filter(({ bytes }) => bytes > maxBytesToDelete);
  const smallTables = rows.filter(({ bytes }) => bytes <= maxBytesToDelete && bytes > 0);
  if (largeTables.length > 0) {
    await sql`truncate ${sql.raw(namesOf(largeTables).join(', '))} cascade`.execute(db);
  }
  if (smallTables.length === 0) return;
  const deletions = namesOf(smallTables).map((name) => `delete from ${name};`);
  try {
    // Disables the triggers that protect foreign keys and the audit log.
    const withoutTriggers = 'set local session_replication_role = replica;';
    await sql.raw(`do $$ begin ${withoutTriggers} ${deletions.join(' ')} end $$`).execute(db);
  } catch {
    // The user is not a superuser, so it may not disable triggers.
    await sql`truncate ${sql.raw(namesOf(smallTables).join(', '))} cascade`.execute(db);
  }
}
