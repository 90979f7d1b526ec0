/** Queries that write the image sessions of visitors, who have opened a share link. All other queries: image-sessions.ts. */
import type { Connection, DatabaseTransaction } from './database.ts';
import type { NewRow } from './schema.ts';

/** Inserts a visitor's session, in the transaction that counts the opening of the share link. */
export async function insertVisitorSession(
  tx: DatabaseTransaction,
  row: NewRow<'image_sessions'> & { readonly share_link_id: string },
): Promise<void> {
  await tx.insertInto('image_sessions').values(row).execute();
}

/** A visitor's session that a request presents for renewal. */
interface PresentedSession {
  readonly hash: string;
  /** Share link to which the session must belong. */
  readonly linkId: string;
  /** ISO 8601; a session that expired at this time or earlier cannot be renewed. */
  readonly expiresAfter: string;
}

/** Returns whether the session exists, belongs to the link, and can be renewed. */
export async function isVisitorSessionRenewable(
  db: Connection,
  { hash, linkId, expiresAfter }: PresentedSession,
): Promise<boolean> {
  const row = await db
    .selectFrom('image_sessions')
    .select('hash')
    .where('hash', '=', hash)
    .where('share_link_id', '=', linkId)
    .where('expires_at', '>', expiresAfter)
    .executeTakeFirst();
  return row !== undefined;
}

/** Extends a visitor's session, if it can be renewed. @returns whether it was extended @param expiresAt new end, ISO 8601 */
export async function extendVisitorSession(
  tx: DatabaseTransaction,
  { hash, linkId, expiresAfter }: PresentedSession,
  expiresAt: string,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('image_sessions')
    .set({ expires_at: expiresAt })
    .where('hash', '=', hash)
    .where('share_link_id', '=', linkId)
    .where('expires_at', '>', expiresAfter)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
