/**
 * Whole tables, row after row, in a form that is the same on both databases: what backups are made of, what goes from
 * one database to another, and what two of them are compared by.
 */
import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { type Change, connectDatabase, type Database, migrations } from './database.ts';
import { isPostgres } from './dialects.ts';
import { executedMigrations, migrate, tableNames } from './migrating.ts';
import type { Tables } from './schema.ts';

/** All that our tables hold; see schema.ts. */
export type Value = string | number | null;
export type Values = readonly Value[];

export interface TableShape {
  readonly name: string;
  /** In the order of the alphabet, which does not depend on how a table came about. */
  readonly columns: readonly string[];
  /** The columns of the primary key. */
  readonly key: readonly { readonly column: string; readonly isText: boolean }[];
}

/** What two copies of a table have in common if, and only if, they hold the same. */
export interface TableDigest {
  readonly rows: number;
  /** SHA-256, hexadecimal, of all lines (see `encodeRow`) in the order of the primary key. */
  readonly sha256: string;
}

/** Rows that are read, written and hashed at a time. */
const rowsAtOnce = 2000;
/** Values in one statement; SQLite takes 32,766 and PostgreSQL 65,535. */
const valuesAtOnce = 16_000;

/** Tables of any name; the typed ones are for those who know which they mean. */
type AnyTables = Record<string, Record<string, Value>>;
const untyped = (db: Kysely<Tables>) => db as unknown as Kysely<AnyTables>;

/** The last migration that a database has seen; null for one without our tables. */
export async function schemaVersion(db: Database): Promise<string | null> {
  return (await executedMigrations(db)).at(-1) ?? null;
}

/** Whether this program knows the migration, and so can make tables as they were after it. */
export function isKnownVersion(version: string): boolean {
  return Object.hasOwn(migrations, version);
}

/**
 * Our tables as they are after a migration, those before that others refer to.
 *
 * @param version a migration this program knows
 */
export async function describeTables(version: string): Promise<readonly TableShape[]> {
  const db = await connectDatabase({ url: null, file: null });
  try {
    await db.transaction().execute((tx) => migrate(tx, { migrations }, version));
    const names = [...(await tableNames(db))].filter((name) => !/^(kysely|sqlite)_/.test(name)).sort();
    const shapes = new Map<string, { shape: TableShape; needs: readonly string[] }>();
    for (const name of names) {
      const { rows: columns } = await sql<{
        name: string;
        type: string;
        pk: number;
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
        needs: references.map(({ table }) => table),
      });
    }
    return inOrderOfNeed(shapes);
  } finally {
    await db.destroy();
  }
}

function inOrderOfNeed(
  shapes: ReadonlyMap<string, { readonly shape: TableShape; readonly needs: readonly string[] }>,
): TableShape[] {
  const ordered = new Map<string, TableShape>();
  const add = (name: string) => {
    const known = shapes.get(name);
    if (known === undefined || ordered.has(name)) return;
    for (const needed of known.needs) if (needed !== name) add(needed);
    ordered.set(name, known.shape);
  };
  for (const name of shapes.keys()) add(name);
  return [...ordered.values()];
}

/** Work on the database as it is at one moment, whatever others write meanwhile; writing nothing. */
export function atOneMoment<T>(db: Database, work: (tx: Change) => Promise<T>): Promise<T> {
  if (!isPostgres(db)) return db.transaction().execute(work); // a transaction of SQLite sees what its first query saw
  const transaction = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return transaction.execute(async (tx) => {
    await takeYourTime(tx);
    return work(tx);
  });
}

/** On PostgreSQL: limits that the database, or its user, has for statements are none for this transaction. */
export async function takeYourTime(tx: Change): Promise<void> {
  for (const limit of ['statement_timeout', 'idle_in_transaction_session_timeout']) {
    await sql`set local ${sql.raw(limit)} = 0`.execute(tx);
  }
}

/** In the order of the primary key, text by its UTF-8 bytes. The values of a row stand in the order of its columns. */
export async function* readRows(
  tx: Change,
  { name, columns, key }: TableShape,
): AsyncGenerator<readonly Values[], void, undefined> {
  const isOnPostgres = isPostgres(tx);
  let query = untyped(tx)
    .selectFrom(name)
    .select([...columns]);
  for (const { column, isText } of key) {
    query = query.orderBy(isOnPostgres && isText ? sql`${sql.ref(column)} collate "C"` : sql.ref(column));
  }
  const valuesOf = (row: Record<string, Value>): Values => columns.map((column) => row[column] ?? null);
  if (isOnPostgres) {
    await sql`declare whole_table no scroll cursor for ${query}`.execute(tx);
    for (;;) {
      const { rows } = await sql<
        Record<string, Value>
      >`fetch forward ${sql.lit(rowsAtOnce)} from whole_table`.execute(tx);
      if (rows.length > 0) yield rows.map(valuesOf);
      if (rows.length < rowsAtOnce) break;
    }
    await sql`close whole_table`.execute(tx);
    return;
  }
  let rows: Values[] = [];
  for await (const row of query.stream()) {
    rows.push(valuesOf(row));
    if (rows.length < rowsAtOnce) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}

/** One line, its end included: JSON, in which every value has one spelling. @throws Error for what has none */
export function encodeRow(shape: TableShape, values: Values): string {
  refuse(shape, values, (value) => !isPortable(value), 'what is neither text nor a number of this program');
  return `${JSON.stringify(values)}\n`;
}

/** @throws Error naming the place of the first value that is odd */
function refuse(shape: TableShape, values: Values, isOdd: (value: Value) => boolean, what: string): void {
  const odd = values.findIndex(isOdd);
  if (odd === -1) return;
  const { name, columns, key } = shape;
  const row = key.map(({ column }) => `${column} ${JSON.stringify(values[columns.indexOf(column)])}`);
  throw new Error(`Table ${name}, ${row.join(', ')}: ${columns[odd]} holds ${what}.`);
}

function isPortable(value: unknown): boolean {
  if (value === null || typeof value === 'string') return true;
  if (typeof value !== 'number') return false;
  return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
}

/** Takes lines in their order. */
export function createTableDigest(): { add(line: string): void; digest(): TableDigest } {
  const hash = createHash('sha256');
  let rows = 0;
  return {
    add(line) {
      hash.update(line);
      rows++;
    },
    digest: () => ({ rows, sha256: hash.digest('hex') }),
  };
}

/** Of a table as it is in the database. */
export async function digestOf(tx: Change, shape: TableShape): Promise<TableDigest> {
  const digest = createTableDigest();
  for await (const rows of readRows(tx, shape)) {
    for (const row of rows) digest.add(encodeRow(shape, row));
  }
  return digest.digest();
}

/** @throws Error with one sentence that names the table, and the row where it is known */
export async function insertRows(tx: Change, shape: TableShape, rows: readonly Values[]): Promise<void> {
  const { name, columns } = shape;
  for (const values of rows) {
    refuse(shape, values, (value) => !isPortable(value), 'what is neither text nor a number of this program');
    if (isPostgres(tx)) refuse(shape, values, hasNul, 'a NUL character, which PostgreSQL cannot keep');
  }
  const atOnce = Math.max(1, Math.floor(valuesAtOnce / columns.length));
  for (let start = 0; start < rows.length; start += atOnce) {
    const some = rows.slice(start, start + atOnce).map((values) => {
      const row: Record<string, Value> = {};
      columns.forEach((column, place) => {
        row[column] = values[place] ?? null;
      });
      return row;
    });
    try {
      await untyped(tx).insertInto(name).values(some).execute();
    } catch (error) {
      throw new Error(`Table ${name} could not be filled: ${(error as Error).message}.`, { cause: error });
    }
  }
}

function hasNul(value: Value): boolean {
  return typeof value === 'string' && value.includes('\u0000');
}

export interface OddTables {
  /** Tables that are none of ours. */
  readonly foreign: readonly string[];
  /** Tables of ours, or `table.column`, that are not there. */
  readonly missing: readonly string[];
}

/** How a database differs from what its version says. */
export async function oddTables(tx: Change, shapes: readonly TableShape[]): Promise<OddTables> {
  const there = await tableNames(tx);
  const ours = new Set(shapes.map(({ name }) => name));
  const missing: string[] = [];
  for (const { name, columns } of shapes) {
    if (!there.has(name)) {
      missing.push(name);
      continue;
    }
    const known = await columnNames(tx, name);
    missing.push(...columns.filter((column) => !known.has(column)).map((column) => `${name}.${column}`));
  }
  const foreign = [...there].filter((name) => !ours.has(name) && !/^(kysely|sqlite)_/.test(name)).sort();
  return { foreign, missing };
}

async function columnNames(tx: Change, table: string): Promise<ReadonlySet<string>> {
  const { rows } = await (isPostgres(tx)
    ? sql<{ name: string }>`select column_name as name from information_schema.columns
        where table_schema = current_schema() and table_name = ${table}`
    : sql<{ name: string }>`select name from pragma_table_info(${table})`
  ).execute(tx);
  return new Set(rows.map(({ name }) => name));
}

/** On PostgreSQL: takes our tables away, and what belongs to them. Others that live beside them stay. */
export async function dropTables(tx: Change, shapes: readonly TableShape[]): Promise<void> {
  const there = await tableNames(tx);
  const names = [...shapes.map(({ name }) => name), 'kysely_migration', 'kysely_migration_lock'];
  const ours = names.filter((name) => there.has(name));
  if (ours.length === 0) return;
  const { rows: functions } = await sql<{ name: string }>`
    select distinct tgfoid::regprocedure::text as name from pg_trigger
    where not tgisinternal and tgrelid in (${sql.join(ours.map((name) => sql`${name}::regclass`))})`.execute(
    tx,
  );
  await sql`drop table ${sql.join(ours.map((name) => sql.table(name)))} cascade`.execute(tx);
  for (const { name } of functions) await sql`drop function ${sql.raw(name)}`.execute(tx);
}

/** Makes our tables, as they are after a migration, with nothing in them. */
export async function makeEmptyTables(
  tx: Change,
  version: string,
  shapes: readonly TableShape[],
): Promise<void> {
  await migrate(tx, { migrations }, version);
  // Some migrations put rows of their own into their tables.
  for (const { name } of [...shapes].reverse()) await untyped(tx).deleteFrom(name).execute();
}

/** The rest of the migrations, after the rows are in. */
export async function bringTablesUpToDate(tx: Change): Promise<void> {
  await migrate(tx, { migrations });
}

/** Null when there is no such table. */
export async function countRows(db: Database, table: keyof Tables): Promise<number | null> {
  if (!(await tableNames(db)).has(table)) return null;
  const { count } = await untyped(db)
    .selectFrom(table)
    .select((eb) => eb.fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** How many others are connected to a PostgreSQL database, whoever they are. */
export async function otherConnections(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/** On PostgreSQL: statistics of what has just come in, so that the first queries are as quick as later ones. */
export async function analyzeTables(db: Database): Promise<void> {
  await sql`analyze`.execute(db);
}
