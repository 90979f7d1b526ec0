/**
 * The database (embedded SQLite or PostgreSQL): opening, migration, and transactions under named locks. The other modules of this
 * folder contain the queries.
 */
import fs from 'node:fs';
import path from 'node:path';
import { AppError } from '@lamina/contract';
import SqliteDatabase from 'better-sqlite3';
import { type Dialect, Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import pg from 'pg';
import { EmbeddedDialect } from './embedded-dialect.ts';
import { migrateToLatest, withoutKyselyMigrationLock } from './migrating.ts';
import { up as first } from './migrations/0001-first.ts';
import { up as derivedScale } from './migrations/0002-derived-scale.ts';
import { up as auditChain } from './migrations/0003-audit-chain.ts';
import { up as signIn } from './migrations/0004-sign-in.ts';
import { up as approvalAndGrants } from './migrations/0005-approval-and-grants.ts';
import { up as externalSignIn } from './migrations/0006-external-sign-in.ts';
import { up as imageOpenings } from './migrations/0007-image-openings.ts';
import { up as catalogueSearch } from './migrations/0008-catalogue-search.ts';
import { up as uploads } from './migrations/0009-uploads.ts';
import { up as slideManagement } from './migrations/0010-slide-management.ts';
import { up as catalogueAtScale } from './migrations/0011-catalogue-at-scale.ts';
import { up as schemaChanges } from './migrations/0013-schema-changes.ts';
import { up as registrations } from './migrations/0014-registrations.ts';
import { up as viewedImages } from './migrations/0015-viewed-images.ts';
import { up as catalogueNames } from './migrations/0016-catalogue-names.ts';
import { up as searchWithoutDiacritics } from './migrations/0017-search-without-diacritics.ts';
import { up as languages } from './migrations/0018-languages.ts';
import { up as annotations } from './migrations/0019-annotations.ts';
import { up as cases } from './migrations/0021-cases.ts';
import { up as collections } from './migrations/0022-collections.ts';
import { up as shareLinks } from './migrations/0023-share-links.ts';
import { up as apiTokens } from './migrations/0024-api-tokens.ts';
import { up as originals } from './migrations/0025-originals.ts';
import { up as results } from './migrations/0026-results.ts';
import { up as recentAnnotations } from './migrations/0027-recent-annotations.ts';
import { up as calibration } from './migrations/0031-calibration.ts';
import { up as casesOfFiles } from './migrations/0035-cases-of-files.ts';
import { up as longClassNames } from './migrations/0036-long-class-names.ts';
import { up as hiddenLayers } from './migrations/0037-hidden-layers.ts';
import { up as firstAnswers } from './migrations/0038-first-answers.ts';
import { up as caseNameKeys } from './migrations/0039-case-name-keys.ts';
import { type MonitoredPool, openBackgroundPostgresPool, openPostgresPool } from './postgres-pool.ts';
import type { LockName, Tables } from './schema.ts';

export type Database = Kysely<Tables>;
/** A running transaction. A function with a parameter of this type must be called within a transaction of the caller. */
export type DatabaseTransaction = Transaction<Tables>;
/** Where a query runs: a transaction, or the database itself if the query needs no transaction. */
export type Connection = Database | DatabaseTransaction;

/** All migrations in the order in which they run. A released migration never changes. The numbers have gaps. */
export const migrations = {
  '0001-first': { up: first },
  '0002-derived-scale': { up: derivedScale },
  '0003-audit-chain': { up: auditChain },
  '0004-sign-in': { up: signIn },
  '0005-approval-and-grants': { up: approvalAndGrants },
  '0006-external-sign-in': { up: externalSignIn },
  '0007-image-openings': { up: imageOpenings },
  '0008-catalogue-search': { up: catalogueSearch },
  '0009-uploads': { up: uploads },
  '0010-slide-management': { up: slideManagement },
  '0011-catalogue-at-scale': { up: catalogueAtScale },
  '0013-schema-changes': { up: schemaChanges },
  '0014-registrations': { up: registrations },
  '0015-viewed-images': { up: viewedImages },
  '0016-catalogue-names': { up: catalogueNames },
  '0017-search-without-diacritics': { up: searchWithoutDiacritics },
  '0018-languages': { up: languages },
  '0019-annotations': { up: annotations },
  '0021-cases': { up: cases },
  '0022-collections': { up: collections },
  '0023-share-links': { up: shareLinks },
  '0024-api-tokens': { up: apiTokens },
  '0025-originals': { up: originals },
  '0026-results': { up: results },
  '0027-recent-annotations': { up: recentAnnotations },
  '0031-calibration': { up: calibration },
  '0035-cases-of-files': { up: casesOfFiles },
  '0036-long-class-names': { up: longClassNames },
  '0037-hidden-layers': { up: hiddenLayers },
  '0038-first-answers': { up: firstAnswers },
  '0039-case-name-keys': { up: caseNameKeys },
};

// The driver returns 64-bit integers as text by default. Counts and sizes stay below 2^53, so numbers are exact.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export interface DatabaseLocation {
  /** URL of a PostgreSQL database (postgres://…); null for the embedded database. */
  readonly url: string | null;
  /** File of the embedded database. With null, the database is in memory: for tests, and to read the list of tables. */
  readonly file: string | null;
  /** Content of a database file with which a database in memory starts; without it, the database starts empty. */
  readonly content?: Buffer;
}

/**
 * Opens the database and migrates its tables. Copies the file of an embedded database before a migration changes the file.
 *
 * @throws Error when the database cannot be reached, a newer version wrote it, or a migration fails
 */
export async function openDatabase(location: DatabaseLocation): Promise<Database> {
  const db = await connectDatabase(location);
  const { url, file } = location;
  try {
    await migrateToLatest(db, {
      migrations,
      ...(url === null && file !== null && { beforeChange: () => copyDatabaseFile(file) }),
    });
  } catch (error) {
    await db.destroy();
    throw error;
  }
  if (url === null) return db;
  // Migrations may take minutes, so they ran on connections without timeouts. Requests get connections with timeouts.
  await db.destroy();
  return openMigratedPostgres(url);
}

/** Opens a PostgreSQL database that has already been migrated to this version. It connects at the first query. */
export function openMigratedPostgres(url: string): Database {
  const pool = openPostgresPool(url);
  const db = createKysely(new PostgresDialect({ pool }));
  poolsByDatabase.set(db, pool);
  return db;
}

/** Connects to the database without migrating its tables. @throws Error when the database cannot be reached */
export async function connectDatabase(location: DatabaseLocation): Promise<Database> {
  const db = createKysely(dialectOf(location));
  try {
    await sql`select 1`.execute(db);
  } catch (error) {
    await db.destroy();
    throw new Error('The database cannot be opened.', { cause: error });
  }
  return db;
}

function createKysely(dialect: Dialect): Database {
  const db: Database = new Kysely<Tables>({
    dialect: withoutKyselyMigrationLock(dialect), // `lockMigrations` of migrating.ts replaces Kysely's lock
    log: ({ query, queryDurationMillis }) => {
      const watchers = queryWatchers.get(db);
      if (watchers === undefined) return;
      const kind = queryKinds[query.query.kind] ?? 'other';
      for (const watcher of watchers) watcher(kind, queryDurationMillis);
    },
  });
  return db;
}

const poolsByDatabase = new WeakMap<Database, MonitoredPool>();

/** Returns the number of pooled connections in use; always 0 for the embedded database. */
export function connectionsInUse(db: Database): number {
  return poolsByDatabase.get(db)?.inUse() ?? 0;
}

/** Called after each query, even after a failed one. @param kind select, insert, update, delete or other */
export type QueryWatcher = (kind: string, durationMs: number) => void;

const queryWatchers = new WeakMap<Database, Set<QueryWatcher>>();
/** Values of `kind` for a `QueryWatcher`, by the kind of the root node of Kysely's syntax tree. */
const queryKinds: Readonly<Record<string, string>> = {
  SelectQueryNode: 'select',
  InsertQueryNode: 'insert',
  UpdateQueryNode: 'update',
  DeleteQueryNode: 'delete',
};

/** Registers a function that is called after each query of the database. */
export function watchQueries(db: Database, watcher: QueryWatcher): void {
  const watchers = queryWatchers.get(db) ?? new Set();
  queryWatchers.set(db, watchers.add(watcher));
}

function dialectOf({ url, file, content }: DatabaseLocation): Dialect {
  if (url !== null) return new PostgresDialect({ pool: openBackgroundPostgresPool(url) });
  if (file !== null) fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const database = new SqliteDatabase(file ?? content ?? ':memory:');
  // With a write-ahead log (WAL) and full synchronisation, a commit returns only after the data are on the disk. The server sends
  // its response after the commit, so acknowledged changes survive a power failure.
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  database.pragma('busy_timeout = 5000'); // a statement waits up to 5 s for the write lock of another process
  // Overwrites deleted data with zeros, so that an erased account does not remain in free pages of the file.
  database.pragma('secure_delete = ON');
  return new EmbeddedDialect(database);
}

/** Returns the path of the copy that `openDatabase` makes of an embedded database file before a migration. */
export function migrationCopyPath(file: string): string {
  return `${file}.before-migration`;
}

/** Copies the database file atomically. @throws Error, for example when the disk is full */
function copyDatabaseFile(file: string): void {
  const unfinishedCopy = `${migrationCopyPath(file)}.${process.pid}`;
  fs.rmSync(unfinishedCopy, { force: true });
  try {
    const source = new SqliteDatabase(file, { readonly: true });
    try {
      source.prepare('vacuum into ?').run(unfinishedCopy); // includes the write-ahead log, which a file copy would miss
    } finally {
      source.close();
    }
    flushToDisk(unfinishedCopy);
    fs.renameSync(unfinishedCopy, migrationCopyPath(file));
  } catch (error) {
    fs.rmSync(unfinishedCopy, { force: true });
    throw new Error('The database could not be copied before its migration.', { cause: error });
  }
}

function flushToDisk(file: string): void {
  const handle = fs.openSync(file, 'r+');
  fs.fsyncSync(handle);
  fs.closeSync(handle);
}

/** Maximum number of attempts of a transaction that fails because of a deadlock. */
const maxAttempts = 3;

/**
 * Runs a transaction, and runs it again if PostgreSQL aborts it because of a deadlock.
 *
 * @param work may run several times, so it must change nothing but the database
 */
export async function runTransaction<T>(
  db: Database,
  work: (tx: DatabaseTransaction) => Promise<T>,
): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      if (!isDeadlock(error) || attempts === maxAttempts) throw error;
    }
  }
}

/**
 * Runs a transaction that holds a named lock: across all processes, only one transaction at a time holds the lock. The
 * transaction acquires the lock before it reads, so it sees the latest data, and no other transaction with this lock
 * changes them until the commit.
 *
 * @param lock name of the data that the transaction changes or relies on; see `LockName`
 * @param work may run several times, as in `runTransaction`
 */
export function runLockedTransaction<T>(
  db: Database,
  lock: LockName,
  work: (tx: DatabaseTransaction) => Promise<T>,
): Promise<T> {
  return runTransaction(db, async (tx) => {
    await acquireLock(tx, lock);
    return work(tx);
  });
}

/**
 * Acquires a lock until the transaction ends, by updating its row of the table `locks`. A transaction that needs several locks
 * acquires `accounts` first and `audit` last. Before `audit`, it locks the rows of `tokens` and then those of `image_sessions`, as the
 * deletion of a token does. The same order everywhere prevents deadlocks.
 */
export async function acquireLock(tx: DatabaseTransaction, name: LockName): Promise<void> {
  await tx
    .updateTable('locks')
    .set((eb) => ({ taken: eb('taken', '+', 1) }))
    .where('name', '=', name)
    .execute();
}

/**
 * Returns how many transactions have acquired the lock so far. While this number stays the same, cached data that the
 * lock guards are up to date.
 */
export async function changeCount(db: Database, name: LockName): Promise<number> {
  const lock = await db
    .selectFrom('locks')
    .select('taken')
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  return lock.taken;
}

/** Checks that the database responds, with a trivial query. @throws Error when it does not */
export async function checkDatabase(db: Database): Promise<void> {
  await db.selectFrom('locks').select('name').limit(1).execute();
}

/** Returns whether the error of an insert means that a row with the same unique key exists. */
export function isUniqueViolation(error: unknown): boolean {
  const code = (error as { code?: unknown }).code; // PostgreSQL's code 23505 is unique_violation
  return code === '23505' || code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}

/** Returns whether the error of an insert means that a row to which a foreign key refers does not exist, or no longer exists. */
export function isMissingReference(error: unknown): boolean {
  const code = (error as { code?: unknown }).code; // PostgreSQL's code 23503 is foreign_key_violation
  return code === '23503' || code === 'SQLITE_CONSTRAINT_FOREIGNKEY';
}

/**
 * Returns whether the error means that the database is unreachable, starting or stopping; false for an error of one
 * statement. The codes are Node's system errors, and from Appendix A of the PostgreSQL documentation: 08 (connection
 * exceptions), 57P (operator intervention, such as a shutdown) and 53300 (too many connections).
 */
export function isDatabaseDown(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  if (error instanceof AppError) return code === 'unavailable'; // the connection pool throws it (see postgres-pool.ts)
  return (
    typeof code === 'string' && /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|08|57P|53300)/.test(code)
  );
}

/** Returns whether PostgreSQL aborted the transaction because of a deadlock (code 40P01). */
function isDeadlock(error: unknown): boolean {
  return (error as { code?: unknown }).code === '40P01';
}
