/**
 * Rules of image sessions. An image session is the credential for loading pixels (`?session=` in a URL). There are three kinds:
 * - The session of a sign-in: the web app requests it, or the server opens it for a program that loads pixels with a bearer token
 *   (tiles/bearer-sessions.ts). `visitor` is null, and `apiToken` is undefined.
 * - The session of a visitor of a share link, for the slides of the link. Only in this kind, `visitor` is not null.
 * - The session of an API token, which the server creates in memory. Only in this kind, `apiToken` is defined.
 */
import { noDataset } from './dataset-access.ts';

/** An image session as this process keeps it in memory. */
export interface ImageSession {
  /** SHA-256 (base64url) of the session id, which is not stored. For an API token: a string with the token's id. */
  readonly hash: string;
  /** Uid of the account that owns the session; for a share link, of the account that created the link. */
  readonly uid: string;
  /** Hash of the sign-in's bearer token (the session ends with the sign-in) or of the API token; null for a visitor. */
  readonly tokenHash: string | null;
  /** The visitor of a share link; null for the session of an account. */
  readonly visitor: Visitor | null;
  /** Times in milliseconds since the epoch. `expiresAt` is Infinity for an API token, whose expiry is checked at each request. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Datasets that the account, or its API token, may not see. For a visitor: datasets that the creator of the link may not see. */
  readonly inaccessibleDatasets: ReadonlySet<string>;
  /** Whether the account sees hidden images, which only administrators may see (`hidden_at` in the database). */
  readonly seesHidden: boolean;
  /**
   * The views of this session that the audit log contains already, by image id, so that they are not recorded again. Other processes may
   * have recorded more.
   */
  readonly auditedViews: Map<string, ViewKind>;
  /** The API token that this session represents; undefined for other sessions. */
  readonly apiToken?: ApiTokenName;
}

/** Identifies an API token in the audit log. */
export interface ApiTokenName {
  readonly id: string;
  /** First characters of the token, which are not secret. */
  readonly prefix: string;
}

/** A user without an account who has opened a share link. */
export interface Visitor {
  readonly linkId: string;
  /** Ids of the images that the link shares, which are the only ones that the visitor may see. */
  readonly images: ReadonlySet<string>;
}

/**
 * The part of an image that a request asks for. `descriptor`: the size and tile layout; `colour-table`: the table with which the
 * viewer corrects the colours.
 */
export type PixelSource = 'thumbnail' | 'descriptor' | 'colour-table' | 'tile';

/** How an image was shown in a session: only as a thumbnail, or in the viewer, which includes the thumbnail. */
export type ViewKind = 'thumbnail' | 'viewer';

/** Returns the kind of view that a request for these pixels counts as. */
export function viewKindOf(source: PixelSource): ViewKind {
  return source === 'thumbnail' ? 'thumbnail' : 'viewer';
}

/** Whether an earlier view of an image includes the required kind of view. @param earlier undefined: not shown yet */
export function includesView(earlier: ViewKind | undefined, required: ViewKind): boolean {
  return earlier === 'viewer' || earlier === required;
}

interface ProtectedImage {
  /** Required for the session of a visitor, which is limited to the images of a share link. */
  readonly id?: string;
  /** Null: the image belongs to no dataset (see `noDataset`). */
  readonly dataset: string | null;
  readonly isHidden: boolean;
}

/** Whether the session may load pixels of the image. */
export function mayViewImage(
  {
    inaccessibleDatasets,
    seesHidden,
    visitor = null,
  }: Pick<ImageSession, 'inaccessibleDatasets' | 'seesHidden'> & Partial<Pick<ImageSession, 'visitor'>>,
  { id, dataset, isHidden }: ProtectedImage,
): boolean {
  if (visitor !== null && (id === undefined || !visitor.images.has(id))) return false;
  return (seesHidden || !isHidden) && !inaccessibleDatasets.has(dataset ?? noDataset);
}

/**
 * Returns the keys by which the render queue divides its capacity fairly: first among accounts, then among the sessions of an
 * account. The API tokens of an account count as a separate account, and all visitors of a share link count as one account.
 */
export function requesterOf({
  uid,
  hash,
  apiToken,
  visitor,
}: Pick<ImageSession, 'uid' | 'hash' | 'apiToken' | 'visitor'>): {
  readonly account: string;
  readonly session: string;
} {
  if (visitor !== null) return { account: `link ${visitor.linkId}`, session: hash };
  return { account: apiToken === undefined ? uid : `api-token ${uid}`, session: hash };
}

/** Maximum number of sessions of an account, not counting visitors of its share links. A further session ends the oldest one. */
export const maxSessionsPerAccount = 10;

/** Returns the remaining whole seconds of a session, at least 0. */
export function secondsLeft(session: Pick<ImageSession, 'expiresAt'>, now: Date): number {
  return Math.max(0, Math.floor((session.expiresAt - now.getTime()) / 1000));
}

/** Maximum time that a browser caches pixels. */
const maxBrowserCacheSeconds = 3600;

/**
 * The Cache-Control header for a response to a bearer token, which is not part of the URL: a cache cannot distinguish responses for
 * different tokens, so it must revalidate each of them. Otherwise another person who signs in at the same browser would get cached
 * pixels of slides that this person may not see.
 */
export const bearerCacheControl = 'private, no-cache';

/**
 * Returns the Cache-Control header for pixels. With an image session in the URL, only the browser may cache them, for at most an hour and
 * not beyond the end of the session.
 */
export function cacheControlOf(session: Pick<ImageSession, 'expiresAt' | 'apiToken'>, now: Date): string {
  if (session.apiToken !== undefined) return bearerCacheControl;
  return `private, max-age=${Math.min(secondsLeft(session, now), maxBrowserCacheSeconds)}`;
}
