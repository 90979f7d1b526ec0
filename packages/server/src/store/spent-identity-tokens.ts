/** Identity tokens of an external provider that were used; each is valid for one sign-in. */
import type { Connection } from './database.ts';
import type { Row } from './schema.ts';

/** Records a token, and deletes expired ones. @returns false when the token was used before */
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
