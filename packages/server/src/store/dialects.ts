/** SQL expressions that differ between SQLite and PostgreSQL. */
import { type Kysely, PostgresAdapter, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from './schema.ts';

/** A database or a transaction, declared here because database.ts depends on this module. */
type DatabaseOrTransaction = Pick<Kysely<Tables>, 'getExecutor'>;

export function isPostgres(db: DatabaseOrTransaction): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/**
 * Returns the condition that a column has one of the values. It passes all values as a single parameter, so their number is not
 * limited.
 */
export function isOneOf(
  db: DatabaseOrTransaction,
  column: string,
  values: readonly string[],
): RawBuilder<SqlBool> {
  return isPostgres(db)
    ? sql`${sql.ref(column)} = any(${values}::text[])`
    : sql`${sql.ref(column)} in (select value from json_each(${JSON.stringify(values)}))`;
}

/** Returns a subquery with one row for each entry of the map, in the text columns `key` and `value`. */
export function asKeyValueRows(
  db: DatabaseOrTransaction,
  map: ReadonlyMap<string, string>,
): RawBuilder<{ key: string; value: string }> {
  return isPostgres(db)
    ? sql`(select key, value from unnest(${[...map.keys()]}::text[], ${[...map.values()]}::text[]) as rows(key, value))`
    : sql`(select key, value from json_each(${JSON.stringify(Object.fromEntries(map))}))`;
}

/**
 * Locks rows in the order of their hashes. A transaction calls this before it updates these rows, so that two processes
 * that update the same rows cannot deadlock. The lock mode `no key update` does not block inserts of rows that refer to
 * the locked rows. On SQLite this does nothing, because SQLite has one writer at a time.
 */
export async function lockInOrder(
  tx: Kysely<Tables>,
  table: 'image_sessions' | 'tokens',
  hashes: readonly string[],
): Promise<void> {
  if (!isPostgres(tx)) return;
  const hasHash = isOneOf(tx, 'hash', hashes);
  await sql`select 1 from ${sql.table(table)} where ${hasHash} order by hash for no key update`.execute(tx);
}
