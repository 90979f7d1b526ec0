/** What the two databases have different words for. */
import { type Kysely, PostgresAdapter, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from './schema.ts';

/** Of the database, and of a change in it. */
type Where = Pick<Kysely<Tables>, 'getExecutor'>;

export function isPostgres(db: Where): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** Whether a column has one of these values: one parameter, however many they are. */
export function isOneOf(db: Where, column: string, values: readonly string[]): RawBuilder<SqlBool> {
  return isPostgres(db)
    ? sql`${sql.ref(column)} = any(${values}::text[])`
    : sql`${sql.ref(column)} in (select value from json_each(${JSON.stringify(values)}))`;
}

/** As a table of rows `key` and `value`, both text. */
export function asRows(
  db: Where,
  map: ReadonlyMap<string, string>,
): RawBuilder<{ key: string; value: string }> {
  return isPostgres(db)
    ? sql`(select key, value from unnest(${[...map.keys()]}::text[], ${[...map.values()]}::text[]) as rows(key, value))`
    : sql`(select key, value from json_each(${JSON.stringify(Object.fromEntries(map))}))`;
}

/**
 * Takes these rows before they are changed, in the order of their hashes, so that two processes which change some of the
 * same never wait for one another. SQLite has one writer at a time.
 */
export async function takeInOrder(
  tx: Kysely<Tables>,
  table: 'image_sessions' | 'tokens',
  hashes: readonly string[],
): Promise<void> {
  if (!isPostgres(tx)) return;
  const those = isOneOf(tx, 'hash', hashes);
  await sql`select 1 from ${sql.table(table)} where ${those} order by hash for no key update`.execute(tx);
}
