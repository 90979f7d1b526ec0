/**
 * Queries for the times of the last digest e-mails (such as the one that tells administrators about new applications), so that only
 * one of several processes sends a digest.
 */
import type { DatabaseTransaction } from './database.ts';

/** Returns when the digest with this name was last sent (ISO 8601); null if it was never sent. */
export async function findDigest(tx: DatabaseTransaction, name: string): Promise<string | null> {
  const row = await tx.selectFrom('digests').select('sent_at').where('name', '=', name).executeTakeFirst();
  return row?.sent_at ?? null;
}

/** Records when a digest was sent (ISO 8601). */
export async function saveDigest(tx: DatabaseTransaction, name: string, sentAt: string): Promise<void> {
  await tx
    .insertInto('digests')
    .values({ name, sent_at: sentAt })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ sent_at: sentAt }))
    .execute();
}
