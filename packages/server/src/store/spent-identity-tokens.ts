/** Identity tokens of an external provider that have been taken: each is good for one sign-in. */
import type { Connection } from './database.ts';
import type { Row } from './schema.ts';

/** Those that are too old to be taken anyway are forgotten. @returns false when it had been taken before */
export async function spendIdentityToken(
  db: Connection,
  row: Row<'spent_identity_tokens'>,
  now: Date,
): Promise<boolean> {
  await db.deleteFrom('spent_identity_tokens').where('expires_at', '<', now.toISOString()).execute();
  const inserted = await db
    .insertInto('spent_identity_tokens')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return inserted.numInsertedOrUpdatedRows === 1n;
}
