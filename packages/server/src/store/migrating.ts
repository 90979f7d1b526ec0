/**
 * Brings the tables of a database up to date: forward only, all that is missing in one transaction, one process at a
 * time. A process that is killed on the way leaves everything as it was.
 */
import {
  type Dialect,
  type DialectAdapter,
  type Kysely,
  PostgresAdapter,
  SqliteAdapter,
  sql,
  type Transaction,
} from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { programVersion } from '../program-version.ts';
import { isPostgres } from './dialects.ts';
import type { Tables } from './schema.ts';

/** By name; the order of the names is the order in which they are made. */
export type Migrations = Readonly<Record<string, Migration>>;

interface Way {
  readonly migrations: Migrations;
  /** Called before anything of a database that holds something already is changed, while nobody else may write. */
  readonly beforeChange?: () => void;
}

/** Any number; whoever migrates a PostgreSQL database holds this lock of it until the transaction ends. */
const migrationLock = 6_127_354_021;

/** @throws Error with one sentence when a newer version wrote the database, or a migration fails */
export async function bringUpToDate(db: Kysely<Tables>, way: Way): Promise<void> {
  if ((await pendingMigrations(db, way.migrations)).length === 0) return;
  await db.transaction().execute((tx) => migrate(tx, way));
}

/**
 * The same within a transaction that does more.
 *
 * @param upTo the last migration to be made; without it, all
 */
export async function migrate(tx: Transaction<Tables>, way: Way, upTo?: string): Promise<void> {
  await lockMigrations(tx);
  const pending = await pendingMigrations(tx, way.migrations); // anew: another process may have been first
  if (pending.length === 0 || (upTo !== undefined && !pending.includes(upTo))) return;
  if (pending.length < Object.keys(way.migrations).length) way.beforeChange?.();
  const migrator = new Migrator({ db: tx, provider: { getMigrations: async () => way.migrations } });
  const { error, results } = await (upTo === undefined
    ? migrator.migrateToLatest()
    : migrator.migrateTo(upTo));
  if (error !== undefined) throw new Error('The database could not be brought up to date.', { cause: error });
  await recordChanges(tx, results?.map(({ migrationName }) => migrationName) ?? []);
}

/** The migrations that a database has seen, in order; none of an empty one. */
export async function executedMigrations(db: Kysely<Tables>): Promise<string[]> {
  if (!(await tableNames(db)).has('kysely_migration')) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  return rows.map(({ name }) => name).sort();
}

/** Of everything in the schema that we write to, migration tables included. */
export async function tableNames(db: Kysely<Tables>): Promise<ReadonlySet<string>> {
  const { rows } = await (isPostgres(db)
    ? sql<{ name: string }>`select table_name as name from information_schema.tables
        where table_schema = current_schema() and table_type = 'BASE TABLE'`
    : sql<{ name: string }>`select name from sqlite_master where type = 'table'`
  ).execute(db);
  return new Set(rows.map(({ name }) => name));
}

/** @throws Error with one sentence when the database has seen migrations that this program does not know */
async function pendingMigrations(db: Kysely<Tables>, migrations: Migrations): Promise<string[]> {
  const executed = new Set(await executedMigrations(db));
  const known = Object.keys(migrations).sort();
  const unknown = [...executed].filter((name) => !known.includes(name)).sort();
  const newest = unknown.at(-1);
  if (newest !== undefined) throw new Error(await sentenceAboutNewer(db, newest, known.at(-1)));
  return known.filter((name) => !executed.has(name));
}

async function sentenceAboutNewer(
  db: Kysely<Tables>,
  newest: string,
  lastKnown: string | undefined,
): Promise<string> {
  const change = (await tableNames(db)).has('schema_changes')
    ? await db
        .selectFrom('schema_changes')
        .select('program_version')
        .where('migration', '=', newest)
        .executeTakeFirst()
    : undefined;
  const version = change === undefined ? 'a newer version' : `version ${change.program_version}`;
  return (
    `The database was written by ${version} of this program (its tables are at ${newest}); this is version ` +
    `${programVersion}, which knows them up to ${lastKnown}. Start the newer version, or restore a backup that ` +
    `version ${programVersion} made.`
  );
}

async function recordChanges(tx: Transaction<Tables>, made: readonly string[]): Promise<void> {
  if (made.length === 0 || !(await tableNames(tx)).has('schema_changes')) return;
  const at = new Date().toISOString();
  await tx
    .insertInto('schema_changes')
    .values(made.map((migration) => ({ migration, program_version: programVersion, at })))
    .execute();
}

async function lockMigrations(tx: Transaction<Tables>): Promise<void> {
  if (isPostgres(tx)) await sql`select pg_advisory_xact_lock(${sql.lit(migrationLock)})`.execute(tx);
  // The number means nothing: that it is written takes the one lock that writers have.
  else await sql`pragma user_version = 1`.execute(tx);
}

/** A dialect of Kysely whose migrations run in a transaction and under a lock of ours, on both databases. */
export function migratedByUs(dialect: Dialect): Dialect {
  const adapter: DialectAdapter =
    dialect.createAdapter() instanceof PostgresAdapter ? new LockedPostgres() : new TransactionalSqlite();
  return {
    createAdapter: () => adapter,
    createDriver: () => dialect.createDriver(),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (db) => dialect.createIntrospector(db),
  };
}

/** SQLite changes tables in a transaction as it changes rows; Kysely would make each change on its own. */
class TransactionalSqlite extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Kysely would give its lock back before the transaction ends, and hide the reason of one that failed. */
class LockedPostgres extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}
