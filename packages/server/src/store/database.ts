/** Opens the database, embedded SQLite or PostgreSQL, and brings its tables up to date. */
import fs from 'node:fs';
import path from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { type Dialect, Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import pg from 'pg';
import { EmbeddedDialect } from './embedded-dialect.ts';
import { bringUpToDate, migratedByUs } from './migrating.ts';
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
import { openPatientPostgresPool, openPostgresPool, type WatchedPool } from './postgres-pool.ts';
import type { LockTable, Tables } from './schema.ts';

export type Database = Kysely<Tables>;
/** A change in progress: a transaction that holds its lock. */
export type Change = Transaction<Tables>;
/** A change in progress, or the database itself where no transaction is needed. */
export type Connection = Database | Change;

/** In order; a migration that has been released never changes. */
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
};

pg.types.setTypeParser(pg.types.builtins.INT8, Number); // counts and sizes stay below 2^53

export interface DatabaseLocation {
  /** postgres://…; null for the embedded database. */
  readonly url: string | null;
  /** File of the embedded database; null keeps it in memory, for tests. */
  readonly file: string | null;
}

/** @throws when the database cannot be reached or was written by a newer version */
export async function openDatabase(location: DatabaseLocation): Promise<Database> {
  const db = await connectDatabase(location);
  const { url, file } = location;
  try {
    await bringUpToDate(db, {
      migrations,
      ...(url === null && file !== null && { beforeChange: () => keepCopy(file) }),
    });
  } catch (error) {
    await db.destroy();
    throw error;
  }
  if (url === null) return db;
  // Changing the tables takes as long as it takes; from here on nobody waits for long.
  await db.destroy();
  const pool = openPostgresPool(url);
  const opened = kyselyOver(new PostgresDialect({ pool }));
  pools.set(opened, pool);
  return opened;
}

/**
 * The database as it is, its tables not brought up to date.
 *
 * @throws when it cannot be reached
 */
export async function connectDatabase(location: DatabaseLocation): Promise<Database> {
  const db = kyselyOver(dialectOf(location));
  try {
    await sql`select 1`.execute(db);
  } catch (error) {
    await db.destroy();
    throw new Error('The database cannot be opened.', { cause: error });
  }
  return db;
}

function kyselyOver(dialect: Dialect): Database {
  const db: Database = new Kysely<Tables>({
    dialect: migratedByUs(dialect),
    log: ({ query, queryDurationMillis }) => {
      const watchers = queryWatchers.get(db);
      if (watchers === undefined) return;
      const kind = queryKinds[query.query.kind] ?? 'other';
      for (const watcher of watchers) watcher(kind, queryDurationMillis);
    },
  });
  return db;
}

const pools = new WeakMap<Database, WatchedPool>();

/** Connections that somebody has; the embedded database has none that anybody could wait for. */
export function connectionsInUse(db: Database): number {
  return pools.get(db)?.inUse() ?? 0;
}

/** Told of every query that has been answered or has failed. @param kind select, insert, update, delete or other */
export type QueryWatcher = (kind: string, ms: number) => void;

const queryWatchers = new WeakMap<Database, Set<QueryWatcher>>();
const queryKinds: Readonly<Record<string, string>> = {
  SelectQueryNode: 'select',
  InsertQueryNode: 'insert',
  UpdateQueryNode: 'update',
  DeleteQueryNode: 'delete',
};

export function watchQueries(db: Database, watcher: QueryWatcher): void {
  const watchers = queryWatchers.get(db) ?? new Set();
  queryWatchers.set(db, watchers.add(watcher));
}

function dialectOf({ url, file }: DatabaseLocation): Dialect {
  if (url !== null) return new PostgresDialect({ pool: openPatientPostgresPool(url) });
  if (file !== null) fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const database = new SqliteDatabase(file ?? ':memory:');
  // An acknowledged change is on the disk before the answer goes out.
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  database.pragma('busy_timeout = 5000');
  database.pragma('secure_delete = ON'); // an erased account leaves nothing in the file's free pages
  return new EmbeddedDialect(database);
}

/** Of the embedded database, beside it: as it was before its tables were last changed. */
export function copyBeforeMigration(file: string): string {
  return `${file}.before-migration`;
}

/** @throws Error with one sentence when there is no room for it, say */
function keepCopy(file: string): void {
  const unfinished = `${copyBeforeMigration(file)}.${process.pid}`;
  fs.rmSync(unfinished, { force: true });
  try {
    const source = new SqliteDatabase(file, { readonly: true });
    try {
      source.prepare('vacuum into ?').run(unfinished);
    } finally {
      source.close();
    }
    flush(unfinished);
    fs.renameSync(unfinished, copyBeforeMigration(file));
  } catch (error) {
    fs.rmSync(unfinished, { force: true });
    throw new Error('The database could not be copied before it is brought up to date.', { cause: error });
  }
}

function flush(file: string): void {
  const handle = fs.openSync(file, 'r+');
  fs.fsyncSync(handle);
  fs.closeSync(handle);
}

/**
 * One change, whole or not at all, alone among all changes that take the same lock. The lock is taken
 * first, so what the change reads is the latest and stays so until it commits.
 */
export function change<T>(
  db: Database,
  lock: LockTable['name'],
  work: (tx: Change) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (tx) => {
    await takeLock(tx, lock);
    return work(tx);
  });
}

/** Held until the transaction ends. Take `accounts` before `audit`, so that nobody waits in a circle. */
export async function takeLock(tx: Change, name: LockTable['name']): Promise<void> {
  await tx
    .updateTable('locks')
    .set((eb) => ({ taken: eb('taken', '+', 1) }))
    .where('name', '=', name)
    .execute();
}

/** How many changes have been made under a lock. The same number: nothing that it guards has changed. */
export async function timesTaken(db: Database, name: LockTable['name']): Promise<number> {
  const lock = await db
    .selectFrom('locks')
    .select('taken')
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  return lock.taken;
}

/** Asks the database for nothing but an answer. @throws when it gives none */
export async function checkDatabase(db: Database): Promise<void> {
  await db.selectFrom('locks').select('name').limit(1).execute();
}

/** Whether an insert was refused because the value is taken already. */
export function isUniqueViolation(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return code === '23505' || code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}

/** Whether an insert was refused because what it belongs to is not there any more. */
export function isMissingReference(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return code === '23503' || code === 'SQLITE_CONSTRAINT_FOREIGNKEY';
}
