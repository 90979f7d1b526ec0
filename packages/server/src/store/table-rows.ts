/**
 * Functions that read, write and compare whole tables in a form that is the same on SQLite and PostgreSQL, for the commands backup,
 * restore and move (from one database to another).
 *
 * The file is long because the three commands share the description of the tables and the form of a row.
 */
import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { connectDatabase, type Database, type DatabaseTransaction, migrations } from './database.ts';
import { isPostgres } from './dialects.ts';
import { executedMigrations, migrate, tableNames } from './migrating.ts';
import type { Tables } from './schema.ts';

/** Value of a column; both databases have only these types (see schema.ts). */
export type ColumnValue = string | number | null;
/** The values of a row, in the order of the columns of its `TableShape`. */
export type RowValues = readonly ColumnValue[];

export interface TableShape {
  readonly name: string;
  /** Names of the columns in alphabetical order, because their order in the database depends on the migrations. */
  readonly columns: readonly string[];
  /** The columns of the primary key, in its order. Text columns are sorted by their UTF-8 bytes (see `readRows`). */
  readonly key: readonly { readonly column: string; readonly isText: boolean }[];
}

/** Digest of a table. Two copies of a table are equal if their digests are. */
export interface TableDigest {
  readonly rows: number;
  /** SHA-256 (hexadecimal) of all rows as lines of JSON (see `encodeRow`), in the order of the primary key. */
  readonly sha256: string;
}

/** Names of tables of Kysely's migrator and of SQLite, for example kysely_migration or sqlite_sequence. */
const internalTablePattern = /^(kysely|sqlite)_/;
/** Number of rows that are read at once. */
const rowsPerBatch = 2000;
/** Maximum number of values per statement; SQLite accepts at most 32,766 and PostgreSQL 65,535. */
const valuesPerStatement = 16_000;

/** Type of a database whose table names are known only at run time. */
type AnyTables = Record<string, Record<string, ColumnValue>>;
const untyped = (db: Kysely<Tables>) => db as unknown as Kysely<AnyTables>;

/** Returns the name of the last executed migration; null for a database without Lamina's tables. */
export async function schemaVersion(db: Database): Promise<string | null> {
  return (await executedMigrations(db)).at(-1) ?? null;
}

/**
 * Returns whether this version of the program can create the tables as they were after a migration.
 *
 * @param version name of the migration
 */
export function isKnownVersion(version: string): boolean {
  return Object.hasOwn(migrations, version);
}

/**
 * Describes Lamina's tables as they were after a migration; a table comes after the tables to which its foreign keys refer.
 * Reads the shapes from a new SQLite database in memory.
 *
 * @param version name of a migration that this version of the program knows
 */
export async function describeTables(version: string): Promise<readonly TableShape[]> {
  const db = await connectDatabase({ url: null, file: null });
  try {
    await db.transaction().execute((tx) => migrate(tx, { migrations }, version));
    const names = [...(await tableNames(db))].filter((name) => !internalTablePattern.test(name)).sort();
    const shapes = new Map<string, { shape: TableShape; references: readonly string[] }>();
    for (const name of names) {
      const { rows: columns } = await sql<{
        name: string;
        type: string;
        pk: number; // place of the column in the primary key, from 1; 0 for every other column
      }>`select name, lower(type) as type, pk from pragma_table_info(${name})`.execute(db);
      const { rows: references } = await sql<{
        table: string;
      }>`select "table" from pragma_foreign_key_list(${name})`.execute(db);
      const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
      shapes.set(name, {
        shape: {
          name,
          columns: columns.map((column) => column.name).sort(),
          key: key.map((column) => ({ column: column.name, isText: column.type === 'text' })),
        },
        references: references.map(({ table }) => table),
      });
    }
    return sortByReferences(shapes);
  } finally {
    await db.destroy();
  }
}

/** Sorts tables so that each comes after the tables to which its foreign keys refer. */
function sortByReferences(
  shapes: ReadonlyMap<string, { readonly shape: TableShape; readonly references: readonly string[] }>,
): TableShape[] {
  const ordered = new Map<string, TableShape>();
  const addAfterReferenced = (name: string) => {
    const table = shapes.get(name);
    if (table === undefined || ordered.has(name)) return;
    for (const referenced of table.references) if (referenced !== name) addAfterReferenced(referenced);
    ordered.set(name, table.shape);
  };
  for (const name of shapes.keys()) addAfterReferenced(name);
  return [...ordered.values()];
}

/** Runs read-only work on a snapshot: the state of the database at one moment, whatever other processes write later. */
export function runInSnapshot<T>(db: Database, work: (tx: DatabaseTransaction) => Promise<T>): Promise<T> {
  if (!isPostgres(db)) return db.transaction().execute(work); // a SQLite transaction reads a snapshot
  const transaction = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return transaction.execute(async (tx) => {
    await withoutStatementTimeout(tx);
    return work(tx);
  });
}

/** Disables the server's time limits for statements and for idle periods in this PostgreSQL transaction. */
export async function withoutStatementTimeout(tx: DatabaseTransaction): Promise<void> {
  for (const limit of ['statement_timeout', 'idle_in_transaction_session_timeout']) {
    await sql`set local ${sql.raw(limit)} = 0`.execute(tx);
  }
}

/**
 * Reads the rows of a table in batches, sorted by the primary key (text by its UTF-8 bytes). The values of a row are in the order
 * of `columns`.
 */
export async function* readRows(
  tx: DatabaseTransaction,
  { name, columns, key }: TableShape,
): AsyncGenerator<readonly RowValues[], void, undefined> {
  const isOnPostgres = isPostgres(tx);
  let query = untyped(tx)
    .selectFrom(name)
    .select([...columns]);
  for (const { column, isText } of key) {
    // Collation "C" sorts text by its bytes, as SQLite does by default.
    query = query.orderBy(isOnPostgres && isText ? sql`${sql.ref(column)} collate "C"` : sql.ref(column));
  }
  const valuesOf = (row: Record<string, ColumnValue>): RowValues =>
    columns.map((column) => row[column] ?? null);
  if (isOnPostgres) {
    await sql`declare whole_table no scroll cursor for ${query}`.execute(tx);
    for (;;) {
      const { rows } = await sql<
        Record<string, ColumnValue>
      >`fetch forward ${sql.lit(rowsPerBatch)} from whole_table`.execute(tx);
      if (rows.length > 0) yield rows.map(valuesOf);
      if (rows.length < rowsPerBatch) break;
    }
    await sql`close whole_table`.execute(tx);
    return;
  }
  let rows: RowValues[] = [];
  for await (const row of query.stream()) {
    rows.push(valuesOf(row));
    if (rows.length < rowsPerBatch) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}

/**
 * Encodes a row as one line of JSON, so that equal rows of both databases give equal lines.
 *
 * @throws Error when a value is neither text nor a number that JSON represents exactly
 */
export function encodeRow(shape: TableShape, values: RowValues): string {
  rejectUnsupported(shape, values);
  return `${JSON.stringify(values)}\n`;
}

/** Checks a row. @throws Error when a value is neither text nor a number that JSON represents exactly */
function rejectUnsupported(shape: TableShape, values: RowValues): void {
  const isUnsupported = (value: ColumnValue) => !isPortable(value);
  rejectInvalid(shape, values, isUnsupported, 'a value that is neither text nor a supported number');
}

/**
 * Checks the values of a row.
 *
 * @param description describes an invalid value, for the error message
 * @throws Error that names table, primary key and column of the first invalid value
 */
function rejectInvalid(
  shape: TableShape,
  values: RowValues,
  isInvalid: (value: ColumnValue) => boolean,
  description: string,
): void {
  const invalidIndex = values.findIndex(isInvalid);
  if (invalidIndex === -1) return;
  const { name, columns, key } = shape;
  const keyValues = key.map(({ column }) => `${column} ${JSON.stringify(values[columns.indexOf(column)])}`);
  throw new Error(`Table ${name}, ${keyValues.join(', ')}: ${columns[invalidIndex]} holds ${description}.`);
}

/** Returns whether both databases and JSON represent a value exactly. */
function isPortable(value: unknown): boolean {
  if (value === null || typeof value === 'string') return true;
  if (typeof value !== 'number') return false;
  return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
}

/** Starts a digest, to which the caller adds the lines of a table in order. */
export function createTableDigest(): { add(line: string): void; digest(): TableDigest } {
  const hash = createHash('sha256');
  let rowCount = 0;
  return {
    add(line) {
      hash.update(line);
      rowCount++;
    },
    digest: () => ({ rows: rowCount, sha256: hash.digest('hex') }),
  };
}

/** Computes the digest of a table in the database. */
export async function digestOf(tx: DatabaseTransaction, shape: TableShape): Promise<TableDigest> {
  const digest = createTableDigest();
  for await (const rows of readRows(tx, shape)) {
    for (const row of rows) digest.add(encodeRow(shape, row));
  }
  return digest.digest();
}

/** Inserts rows into a table. @throws Error whose message names the table, and the row if it is known */
export async function insertRows(
  tx: DatabaseTransaction,
  shape: TableShape,
  rows: readonly RowValues[],
): Promise<void> {
  const { name, columns } = shape;
  for (const values of rows) {
    rejectUnsupported(shape, values);
    if (isPostgres(tx)) rejectInvalid(shape, values, hasNul, 'a NUL character, which PostgreSQL cannot keep');
  }
  const rowsPerStatement = Math.max(1, Math.floor(valuesPerStatement / columns.length));
  for (let start = 0; start < rows.length; start += rowsPerStatement) {
    const batch = rows.slice(start, start + rowsPerStatement).map((values) => {
      const row: Record<string, ColumnValue> = {};
      columns.forEach((column, index) => {
        row[column] = values[index] ?? null;
      });
      return row;
    });
    try {
      await untyped(tx).insertInto(name).values(batch).execute();
    } catch (error) {
      throw new Error(`Table ${name} could not be filled: ${(error as Error).message}.`, { cause: error });
    }
  }
}

function hasNul(value: ColumnValue): boolean {
  return typeof value === 'string' && value.includes('\u0000');
}

export interface UnexpectedTables {
  /** Tables of other programs. */
  readonly foreign: readonly string[];
  /** Names of Lamina's tables that are missing, and missing columns as `table.column`. */
  readonly missing: readonly string[];
}

/** Compares the tables and columns of a database with those that its version should have. */
export async function unexpectedTables(
  tx: DatabaseTransaction,
  shapes: readonly TableShape[],
): Promise<UnexpectedTables> {
  const existing = await tableNames(tx);
  const ownNames = new Set(shapes.map(({ name }) => name));
  const missing: string[] = [];
  for (const { name, columns } of shapes) {
    if (!existing.has(name)) {
      missing.push(name);
      continue;
    }
    const existingColumns = await columnNames(tx, name);
    const missingColumns = columns.filter((column) => !existingColumns.has(column));
    missing.push(...missingColumns.map((column) => `${name}.${column}`));
  }
  const foreign = [...existing]
    .filter((name) => !ownNames.has(name) && !internalTablePattern.test(name))
    .sort();
  return { foreign, missing };
}

async function columnNames(tx: DatabaseTransaction, table: string): Promise<ReadonlySet<string>> {
  const { rows } = await (isPostgres(tx)
    ? sql<{ name: string }>`select column_name as name from information_schema.columns
        where table_schema = current_schema() and table_name = ${table}`
    : sql<{ name: string }>`select name from pragma_table_info(${table})`
  ).execute(tx);
  return new Set(rows.map(({ name }) => name));
}

/** Drops Lamina's tables and the functions of their triggers from a PostgreSQL database. Tables of other programs stay. */
export async function dropTables(tx: DatabaseTransaction, shapes: readonly TableShape[]): Promise<void> {
  const existing = await tableNames(tx);
  const names = [...shapes.map(({ name }) => name), 'kysely_migration', 'kysely_migration_lock'];
  const ownNames = names.filter((name) => existing.has(name));
  if (ownNames.length === 0) return;
  const { rows: functions } = await sql<{ name: string }>`
    select distinct tgfoid::regprocedure::text as name from pg_trigger
    where not tgisinternal and tgrelid in (${sql.join(ownNames.map((name) => sql`${name}::regclass`))})`.execute(
    tx,
  );
  await sql`drop table ${sql.join(ownNames.map((name) => sql.table(name)))} cascade`.execute(tx);
  // `sql.raw` is safe, because the cast to regprocedure has quoted the names and added the argument types.
  for (const { name } of functions) await sql`drop function ${sql.raw(name)}`.execute(tx);
}

/** Creates Lamina's tables as they were after a migration, without rows. */
export async function createEmptyTables(
  tx: DatabaseTransaction,
  version: string,
  shapes: readonly TableShape[],
): Promise<void> {
  await migrate(tx, { migrations }, version);
  // Some migrations insert rows, which are deleted here: in reverse order, because foreign keys refer to earlier tables.
  for (const { name } of [...shapes].reverse()) await untyped(tx).deleteFrom(name).execute();
}

/** Runs the migrations that are pending after rows of an older version have been inserted. */
export async function migrateTables(tx: DatabaseTransaction): Promise<void> {
  await migrate(tx, { migrations });
}

/** Counts the rows of a table; null when the table does not exist. */
export async function countRows(db: Database, table: keyof Tables): Promise<number | null> {
  if (!(await tableNames(db)).has(table)) return null;
  const { count } = await untyped(db)
    .selectFrom(table)
    .select((eb) => eb.fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Counts the connections of other clients to a PostgreSQL database. */
export async function countOtherConnections(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/** Updates PostgreSQL's statistics after rows have been inserted, so that the first queries are fast. */
export async function analyzeTables(db: Database): Promise<void> {
  await sql`analyze`.execute(db);
}
