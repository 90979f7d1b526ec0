/**
 * Finds a collection for a follower: an account that may read the collection, or a visitor (without an account) whose share link
 * opens it. Followers answer the questions of the collection and follow its presentation.
 */
import { AppError, type User } from '@lamina/contract';
import type { ImageSession } from '../domain/image-session.ts';
import { findCollection, mayReadCollection, type StoredCollection } from '../store/collections.ts';
import type { Database } from '../store/database.ts';
import { findShareLink } from '../store/share-links.ts';

/** The caller of an endpoint for accounts and visitors. A visitor has only an image session, the credential for loading pixels. */
export type Follower = { readonly user: User } | ImageSession;

/** Returns the collection. @throws AppError not_found; session_invalid for an image session that is not a visitor's */
export async function findFollowedCollection(
  db: Database,
  follower: Follower,
  id: string,
): Promise<StoredCollection> {
  await requireMayFollow(db, follower, id);
  const stored = await findCollection(db, id);
  if (stored === null) throw new AppError('not_found');
  return stored;
}

/**
 * Checks that the follower may follow the collection. Does not read its items, because each open stream makes this check every second.
 *
 * @throws AppError as `findFollowedCollection` does
 */
export async function requireMayFollow(db: Database, follower: Follower, id: string): Promise<void> {
  const mayFollow =
    'user' in follower
      ? await mayReadCollection(db, id, follower.user.uid)
      : (await isTargetOfLink(db, follower, id)) && (await mayReadCollection(db, id, null)); // null: the link gives access
  if (!mayFollow) throw new AppError('not_found');
}

async function isTargetOfLink(db: Database, { visitor }: ImageSession, id: string): Promise<boolean> {
  if (visitor === null) throw new AppError('session_invalid');
  const link = await findShareLink(db, visitor.linkId);
  return link?.target_type === 'collection' && link.target_id === id;
}
