/** Who reads a collection or answers its questions: an account that may read it, or a visitor whose share link names it. */
import { AppError, type User } from '@lamina/contract';
import type { ImageSession } from '../domain/image-session.ts';
import type { StoredCollection } from '../store/collections.ts';
import { findCollection } from '../store/collections.ts';
import type { Database } from '../store/database.ts';
import { findShareLink } from '../store/share-links.ts';
import type { Collections } from './collections.ts';

/** The credential of a call that accounts and visitors may make. */
export type Follower = { readonly user: User } | ImageSession;

/** @throws AppError not_found, session_invalid for the session of a sign-in */
export async function collectionOf(
  { db, collections }: { readonly db: Database; readonly collections: Pick<Collections, 'readable'> },
  follower: Follower,
  id: string,
): Promise<StoredCollection> {
  if ('user' in follower) return collections.readable(follower.user, id);
  if (follower.visitor === null) throw new AppError('session_invalid');
  const link = await findShareLink(db, follower.visitor.linkId);
  const isNamed = link?.target_type === 'collection' && link.target_id === id;
  const stored = isNamed ? await findCollection(db, id) : null;
  if (stored === null) throw new AppError('not_found');
  return stored;
}
