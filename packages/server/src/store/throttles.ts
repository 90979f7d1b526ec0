/**
 * Queries for rate limiting (see sign-in/throttle.ts): counters of failed attempts, and networks from which accounts have
 * signed in. Keys are hashes, so that the table contains no e-mail or IP addresses.
 */
import type { Connection, DatabaseTransaction } from './database.ts';
import type { Row } from './schema.ts';

/** Finds the unexpired rows with these keys, unordered. @param now ISO 8601 */
export async function findThrottles(
  db: Connection,
  keys: readonly string[],
  now: string,
): Promise<Row<'throttles'>[]> {
  return db
    .selectFrom('throttles')
    .selectAll()
    .where('key', 'in', keys)
    .where('expires_at', '>', now)
    .execute();
}

/** Inserts or replaces a row. */
export async function saveThrottle(tx: DatabaseTransaction, row: Row<'throttles'>): Promise<void> {
  const { key: _, ...fields } = row;
  await tx
    .insertInto('throttles')
    .values(row)
    .onConflict((conflict) => conflict.column('key').doUpdateSet(fields))
    .execute();
}

export async function deleteThrottles(tx: DatabaseTransaction, keys: readonly string[]): Promise<void> {
  await tx.deleteFrom('throttles').where('key', 'in', keys).execute();
}

/** Deletes expired rows, and the rows that expire first if more than `maxRows` remain. @param now ISO 8601 */
export async function deleteExpiredThrottles(
  tx: DatabaseTransaction,
  now: string,
  maxRows: number,
): Promise<void> {
  await tx.deleteFrom('throttles').where('expires_at', '<=', now).execute();
  const firstBeyondLimit = await tx
    .selectFrom('throttles')
    .select('expires_at')
    .orderBy('expires_at', 'desc')
    .offset(maxRows)
    .limit(1)
    .executeTakeFirst();
  if (firstBeyondLimit === undefined) return;
  await tx.deleteFrom('throttles').where('expires_at', '<=', firstBeyondLimit.expires_at).execute();
}
