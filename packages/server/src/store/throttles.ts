/** What was tried too often, and which networks an account is known from; by opaque keys. */
import type { Change, Connection } from './database.ts';
import type { Row } from './schema.ts';

/** Those that have not ended; in no order. */
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

/** Takes the place of the row of the same key. */
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

/** Removes what has ended, and beyond `most` rows those that end soonest. */
export async function sweepThrottles(tx: Change, now: string, most: number): Promise<void> {
  await tx.deleteFrom('throttles').where('expires_at', '<=', now).execute();
  const beyond = await tx
    .selectFrom('throttles')
    .select('expires_at')
    .orderBy('expires_at', 'desc')
    .offset(most)
    .limit(1)
    .executeTakeFirst();
  if (beyond === undefined) return;
  await tx.deleteFrom('throttles').where('expires_at', '<=', beyond.expires_at).execute();
}
