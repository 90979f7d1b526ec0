/** Counters of attempts, and networks that accounts are known from, by hashed keys. */
import type { Change, Connection } from './database.ts';
import type { Row } from './schema.ts';

/** Finds unexpired rows, unordered. */
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
export async function putThrottle(tx: Change, row: Row<'throttles'>): Promise<void> {
  const { key: _, ...rest } = row;
  await tx
    .insertInto('throttles')
    .values(row)
    .onConflict((conflict) => conflict.column('key').doUpdateSet(rest))
    .execute();
}

export async function deleteThrottles(tx: Change, keys: readonly string[]): Promise<void> {
  await tx.deleteFrom('throttles').where('key', 'in', keys).execute();
}

/** Deletes expired rows, and beyond `most` rows those that expire first. */
export async function deleteExpiredThrottles(tx: Change, now: string, most: number): Promise<void> {
  await tx.deleteFrom('throttles').where('expires_at', '<=', now).execute();
  const firstBeyond = await tx
    .selectFrom('throttles')
    .select('expires_at')
    .orderBy('expires_at', 'desc')
    .offset(most)
    .limit(1)
    .executeTakeFirst();
  if (firstBeyond === undefined) return;
  await tx.deleteFrom('throttles').where('expires_at', '<=', firstBeyond.expires_at).execute();
}
