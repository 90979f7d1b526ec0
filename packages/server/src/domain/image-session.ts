import { withoutDataset } from './dataset-access.ts';

/** An image session in memory: permission to load pixels until it expires. An API token acts as one for its requests. */
export interface ImageSession {
  /** SHA-256 of the session id, base64url; the server does not store the id. */
  readonly hash: string;
  /** Uid of the account that owns the session; for a share link, of the account that created the link. */
  readonly uid: string;
  /** The sign-in that created the session; the session ends with it. Null for the session of a share link. */
  readonly tokenHash: string | null;
  /** Null for the session of a sign-in. */
  readonly visitor: Visitor | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Datasets that the account, or its API token, may not see. */
  readonly restrictedDatasets: ReadonlySet<string>;
  /** Whether the account sees hidden images, as administrators do. */
  readonly seesHidden: boolean;
  /** Images of this session that have an audit event, as far as this process knows; see audit/image-openings.ts. */
  readonly shownImages: Map<string, ViewKind>;
  /** The API token in place of a session. */
  readonly apiToken?: ApiTokenName;
}

/** Identifies an API token in the audit log. */
export interface ApiTokenName {
  readonly id: string;
  readonly prefix: string;
}

/** A visitor without an account, who has opened a share link. */
export interface Visitor {
  readonly linkId: string;
  /** The slides that the link opens; the visitor sees no other. */
  readonly images: ReadonlySet<string>;
}

/** The kind of request that returned pixels of an image. */
export type PixelSource = 'thumbnail' | 'descriptor' | 'colour-table' | 'tile';

/** How far an image has been shown in a session: only its thumbnail, or in the viewer too. */
export type ViewKind = 'thumbnail' | 'viewer';

export function viewKindOf(source: PixelSource): ViewKind {
  return source === 'thumbnail' ? 'thumbnail' : 'viewer';
}

/** Whether the image was already shown this far. @param soFar undefined: not shown yet */
export function includesView(soFar: ViewKind | undefined, required: ViewKind): boolean {
  return soFar === 'viewer' || soFar === required;
}

interface ProtectedImage {
  /** Undefined where the session cannot be a visitor's. */
  readonly id?: string;
  /** Null: no dataset, open to all members. */
  readonly dataset: string | null;
  readonly isHidden: boolean;
}

/** Whether the session may see the image. */
export function mayViewImage(
  {
    restrictedDatasets,
    seesHidden,
    visitor = null,
  }: Pick<ImageSession, 'restrictedDatasets' | 'seesHidden'> & Partial<Pick<ImageSession, 'visitor'>>,
  { id, dataset, isHidden }: ProtectedImage,
): boolean {
  if (visitor !== null && (id === undefined || !visitor.images.has(id))) return false;
  return (seesHidden || !isHidden) && !restrictedDatasets.has(dataset ?? withoutDataset);
}

/**
 * Returns the account and session by which the render queue shares its capacity. API tokens of an account count separately
 * from its browsers, and all visitors of a share link count as one account.
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

/** Active image sessions per account; creating one more ends the oldest. */
export const maxSessionsPerAccount = 10;

/** Returns the remaining whole seconds of a session, at least 0. */
export function secondsLeft(session: Pick<ImageSession, 'expiresAt'>, now: Date): number {
  return Math.max(0, Math.floor((session.expiresAt - now.getTime()) / 1000));
}

/** Maximum time that a browser caches pixels. */
const maxBrowserCacheSeconds = 3600;

/**
 * Returns the Cache-Control header of pixels: only the browser may cache them, and not beyond the end of the session. An API
 * token must revalidate each response, because the URL does not contain the token.
 */
export function cacheControlOf(session: Pick<ImageSession, 'expiresAt' | 'apiToken'>, now: Date): string {
  if (session.apiToken !== undefined) return 'private, no-cache';
  return `private, max-age=${Math.min(secondsLeft(session, now), maxBrowserCacheSeconds)}`;
}
