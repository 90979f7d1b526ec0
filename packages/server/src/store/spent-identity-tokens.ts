/** Queries for the identity tokens of external providers that were used for a sign-in. Each token is accepted only once. */
import type { Connection } from './database.ts';
import type { Row } from './schema.ts';

/** Records that a token is used, and deletes expired records. @returns false when the token was used before */
export async function consumeIdentityToken(
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
