/**
 * Finds a collection for a follower: an account that may read the collection, or a visitor (without an account) whose share link
 * opens it. Followers answer the questions of the collection and follow its presentation.
 */
import { AppError, type User } from '@lamina/contract';
import type { ImageSession } from '../domain/image-session.ts';
import { findCollection, type StoredCollection } from '../store/collections.ts';
import type { Database } from '../store/database.ts';
import { findShareLink } from '../store/share-links.ts';
import type { Collections } from './collections.ts';

/** The caller of an endpoint for accounts and visitors. A visitor has only an image session, the credential for loading pixels. */
export type Follower = { readonly user: User } | ImageSession;

/** Returns the collection. @throws AppError not_found; session_invalid for an image session that is not a visitor's */
export async function findFollowedCollection(
  { db, collections }: { readonly db: Database; readonly collections: Pick<Collections, 'findReadable'> },
  follower: Follower,
  id: string,
): Promise<StoredCollection> {
  if ('user' in follower) return collections.findReadable(follower.user, id);
  if (follower.visitor === null) throw new AppError('session_invalid');
  const link = await findShareLink(db, follower.visitor.linkId);
  const isShared = link?.target_type === 'collection' && link.target_id === id;
  const stored = isShared ? await findCollection(db, id) : null;
  if (stored === null) throw new AppError('not_found');
  return stored;
}
