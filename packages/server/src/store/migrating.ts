/**
 * Migrates the tables of a database to a newer version; there are no migrations to an older version. All pending
 * migrations run in one transaction, so a process that is killed meanwhile leaves the database unchanged. A lock
 * ensures that only one process at a time migrates.
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

/** Migrations by name. They run in the order of their names. */
export type Migrations = Readonly<Record<string, Migration>>;

interface MigrationOptions {
  readonly migrations: Migrations;
  /** Called before migrations change a database that is not empty. On SQLite, no other process can write to it meanwhile. */
  readonly beforeChange?: () => void;
}

/** Arbitrary key of the PostgreSQL advisory lock that a migrating process holds until its transaction ends. */
const migrationLock = 6_127_354_021;

/** Runs all pending migrations. @throws Error when a newer version wrote the database, or a migration fails */
export async function migrateToLatest(db: Kysely<Tables>, options: MigrationOptions): Promise<void> {
  if ((await pendingMigrations(db, options.migrations)).length === 0) return;
  await db.transaction().execute((tx) => migrate(tx, options));
}

/**
 * Runs the pending migrations within the caller's transaction.
 *
 * @param upTo name of the last migration to run (if it has run already, no migration runs); undefined runs all
 */
export async function migrate(
  tx: Transaction<Tables>,
  options: MigrationOptions,
  upTo?: string,
): Promise<void> {
  await lockMigrations(tx);
  // The pending migrations are read under the lock, because another process may have run them while this one waited.
  const pending = await pendingMigrations(tx, options.migrations);
  if (pending.length === 0 || (upTo !== undefined && !pending.includes(upTo))) return;
  const isEmpty = pending.length === Object.keys(options.migrations).length;
  if (!isEmpty) options.beforeChange?.();
  const migrator = new Migrator({ db: tx, provider: { getMigrations: async () => options.migrations } });
  const { error, results } = await (upTo === undefined
    ? migrator.migrateToLatest()
    : migrator.migrateTo(upTo));
  if (error !== undefined)
    throw new Error('The migration of the database failed; the database is unchanged.', { cause: error });
  await recordChanges(tx, results?.map(({ migrationName }) => migrationName) ?? []);
}

/** Lists the names of the executed migrations in order; an empty database has none. */
export async function executedMigrations(db: Kysely<Tables>): Promise<string[]> {
  if (!(await tableNames(db)).has('kysely_migration')) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  return rows.map(({ name }) => name).sort();
}

/** Returns the names of all tables in the current schema, including the two tables of Kysely's migrator. */
export async function tableNames(db: Kysely<Tables>): Promise<ReadonlySet<string>> {
  const { rows } = await (isPostgres(db)
    ? sql<{ name: string }>`select table_name as name from information_schema.tables
        where table_schema = current_schema() and table_type = 'BASE TABLE'`
    : sql<{ name: string }>`select name from sqlite_master where type = 'table'`
  ).execute(db);
  return new Set(rows.map(({ name }) => name));
}

/** Lists the migrations that have not run. @throws Error when the database has run migrations that this version does not know */
async function pendingMigrations(db: Kysely<Tables>, migrations: Migrations): Promise<string[]> {
  const executed = new Set(await executedMigrations(db));
  const knownNames = Object.keys(migrations).sort();
  const unknownNames = [...executed].filter((name) => !knownNames.includes(name)).sort();
  const newestUnknown = unknownNames.at(-1);
  if (newestUnknown !== undefined)
    throw new Error(await describeNewerVersion(db, newestUnknown, knownNames.at(-1)));
  return knownNames.filter((name) => !executed.has(name));
}

/** Returns the error message for a database that a newer version of the program has migrated. */
async function describeNewerVersion(
  db: Kysely<Tables>,
  newestUnknown: string,
  lastKnown: string | undefined,
): Promise<string> {
  const change = (await tableNames(db)).has('schema_changes')
    ? await db
        .selectFrom('schema_changes')
        .select('program_version')
        .where('migration', '=', newestUnknown)
        .executeTakeFirst()
    : undefined;
  const version = change === undefined ? 'a newer version' : `version ${change.program_version}`;
  return (
    `The database was written by ${version} of this program (last migration: ${newestUnknown}); this is version ` +
    `${programVersion}, which knows migrations up to ${lastKnown}. Start the newer version, or restore a backup that ` +
    `version ${programVersion} made.`
  );
}

/** Records which version of the program ran the migrations, once the table for this exists. */
async function recordChanges(tx: Transaction<Tables>, names: readonly string[]): Promise<void> {
  if (names.length === 0 || !(await tableNames(tx)).has('schema_changes')) return;
  const at = new Date().toISOString();
  await tx
    .insertInto('schema_changes')
    .values(names.map((migration) => ({ migration, program_version: programVersion, at })))
    .execute();
}

/** Waits until no other process migrates the database, and prevents others from doing so until the transaction ends. */
async function lockMigrations(tx: Transaction<Tables>): Promise<void> {
  if (isPostgres(tx)) {
    await sql`select pg_advisory_xact_lock(${sql.lit(migrationLock)})`.execute(tx);
    return;
  }
  // Any write acquires SQLite's single write lock; the value of `user_version` is not used.
  await sql`pragma user_version = 1`.execute(tx);
}

/** Returns the dialect with an adapter with which Kysely runs migrations in a transaction and without a lock of its own. */
export function withoutKyselyMigrationLock(dialect: Dialect): Dialect {
  const adapter: DialectAdapter =
    dialect.createAdapter() instanceof PostgresAdapter ? new UnlockedPostgres() : new TransactionalSqlite();
  return {
    createAdapter: () => adapter,
    createDriver: () => dialect.createDriver(),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (db) => dialect.createIntrospector(db),
  };
}

/** Tells Kysely that SQLite can change tables within transactions. Kysely's own adapter states that it cannot. */
class TransactionalSqlite extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/**
 * Disables Kysely's own lock on PostgreSQL; `lockMigrations` replaces it. Kysely would release its lock with a statement before the
 * transaction ends. After a failed migration, this statement would fail, too, and hide the original error.
 */
class UnlockedPostgres extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}
