/** Times of the last digest e-mails, so that all processes together send one at a time. */
import type { Change } from './database.ts';

/** @returns ISO 8601; null before the first digest */
export async function findDigest(tx: Change, name: string): Promise<string | null> {
  const row = await tx.selectFrom('digests').select('sent_at').where('name', '=', name).executeTakeFirst();
  return row?.sent_at ?? null;
}

export async function saveDigest(tx: Change, name: string, sentAt: string): Promise<void> {
  await tx
    .insertInto('digests')
    .values({ name, sent_at: sentAt })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ sent_at: sentAt }))
    .execute();
}
