/**
 * Migrates the tables of a database: forward only, all pending migrations in one transaction, one process at
 * a time. A process that is killed meanwhile leaves the database unchanged.
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
import { programVersion } from '../platform/program-version.ts';
import { isPostgres } from './dialects.ts';
import type { Tables } from './schema.ts';

/** Migrations by name, in the order of their names. */
export type Migrations = Readonly<Record<string, Migration>>;

interface MigrationOptions {
  readonly migrations: Migrations;
  /** Called before a database that is not empty is changed, while no other process can write. */
  readonly beforeChange?: () => void;
}

/**
 * Arbitrary number of the PostgreSQL advisory lock that a migrating process holds until its transaction ends.
 */
const migrationLock = 6_127_354_021;

/** @throws Error with one sentence when a newer version wrote the database, or a migration fails */
export async function migrateToLatest(db: Kysely<Tables>, options: MigrationOptions): Promise<void> {
  if ((await pendingMigrations(db, options.migrations)).length === 0) return;
  await db.transaction().execute((tx) => migrate(tx, options));
}

/**
 * Migrates within a transaction of the caller.
 *
 * @param upTo last migration to run; absent: all
 */
export async function migrate(
  tx: Transaction<Tables>,
  options: MigrationOptions,
  upTo?: string,
): Promise<void> {
  await lockMigrations(tx);
  const pending = await pendingMigrations(tx, options.migrations); // checked again: another process may have migrated first
  if (pending.length === 0 || (upTo !== undefined && !pending.includes(upTo))) return;
  if (pending.length < Object.keys(options.migrations).length) options.beforeChange?.();
  const migrator = new Migrator({ db: tx, provider: { getMigrations: async () => options.migrations } });
  const { error, results } = await (upTo === undefined
    ? migrator.migrateToLatest()
    : migrator.migrateTo(upTo));
  if (error !== undefined) throw new Error('The database could not be brought up to date.', { cause: error });
  await recordChanges(tx, results?.map(({ migrationName }) => migrationName) ?? []);
}

/** Lists the executed migrations in order; none for an empty database. */
export async function executedMigrations(db: Kysely<Tables>): Promise<string[]> {
  if (!(await tableNames(db)).has('kysely_migration')) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  return rows.map(({ name }) => name).sort();
}

/** Names of all tables in the current schema, including those of the migrator. */
export async function tableNames(db: Kysely<Tables>): Promise<ReadonlySet<string>> {
  const { rows } = await (isPostgres(db)
    ? sql<{ name: string }>`select table_name as name from information_schema.tables
        where table_schema = current_schema() and table_type = 'BASE TABLE'`
    : sql<{ name: string }>`select name from sqlite_master where type = 'table'`
  ).execute(db);
  return new Set(rows.map(({ name }) => name));
}

/**
 * @throws Error with one sentence when the database has executed migrations that this version does not know
 */
async function pendingMigrations(db: Kysely<Tables>, migrations: Migrations): Promise<string[]> {
  const executed = new Set(await executedMigrations(db));
  const known = Object.keys(migrations).sort();
  const unknown = [...executed].filter((name) => !known.includes(name)).sort();
  const newest = unknown.at(-1);
  if (newest !== undefined) throw new Error(await describeNewerVersion(db, newest, known.at(-1)));
  return known.filter((name) => !executed.has(name));
}

async function describeNewerVersion(
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

async function recordChanges(tx: Transaction<Tables>, names: readonly string[]): Promise<void> {
  if (names.length === 0 || !(await tableNames(tx)).has('schema_changes')) return;
  const at = new Date().toISOString();
  await tx
    .insertInto('schema_changes')
    .values(names.map((migration) => ({ migration, program_version: programVersion, at })))
    .execute();
}

async function lockMigrations(tx: Transaction<Tables>): Promise<void> {
  if (isPostgres(tx)) await sql`select pg_advisory_xact_lock(${sql.lit(migrationLock)})`.execute(tx);
  // The value is irrelevant; writing it acquires SQLite's single write lock.
  else await sql`pragma user_version = 1`.execute(tx);
}

/**
 * Wraps a Kysely dialect so that migrations run in a transaction, under this module's lock, on both
 * databases.
 */
export function withOwnMigrationLock(dialect: Dialect): Dialect {
  const adapter: DialectAdapter =
    dialect.createAdapter() instanceof PostgresAdapter ? new LockedPostgres() : new TransactionalSqlite();
  return {
    createAdapter: () => adapter,
    createDriver: () => dialect.createDriver(),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (db) => dialect.createIntrospector(db),
  };
}

/** SQLite supports DDL in transactions; Kysely assumes that it does not. */
class TransactionalSqlite extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Kysely would release its lock before the transaction ends, and hide the error of a failed migration. */
class LockedPostgres extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}
