/**
 * Queries for image sessions, the credentials with which viewers request pixels. A session belongs either to a sign-in or to a
 * share link that a visitor has opened. Its row is deleted when the session, the sign-in or the link ends. The session that represents
 * an API token exists only in memory (domain/image-session.ts).
 */
import type { Role, Status } from '@lamina/contract';
import { sql } from 'kysely';
import { seesEveryDataset } from '../domain/dataset-access.ts';
import {
  type Connection,
  type Database,
  type DatabaseTransaction,
  isMissingReference,
  runLockedTransaction,
} from './database.ts';
import { noRestrictedDatasets, restrictedDatasetsOf } from './datasets.ts';
import { asKeyValueRows, isOneOf, lockInOrder } from './dialects.ts';
import type { NewRow, Row } from './schema.ts';
import { openedImageIds, shareableImagesByLink } from './share-links.ts';
import { touchTokens } from './tokens.ts';
import { parseRole, parseStatus } from './users.ts';

/**
 * A session with the current state of its sign-in or share link and of its account. From these, the caller decides whether the
 * session is still valid.
 */
export type SessionState = Pick<Row<'image_sessions'>, 'hash' | 'uid' | 'created_at' | 'expires_at'> & {
  /** Bearer token of the sign-in; null for a visitor's session. */
  readonly token: {
    readonly hash: string;
    readonly last_used_at: string;
    readonly expires_at: string;
    readonly created_at: string;
  } | null;
  /** Share link of a visitor's session; null for the session of a sign-in. */
  readonly link: {
    readonly id: string;
    readonly created_at: string;
    readonly expires_at: string;
    readonly ended_at: string | null;
    /** Ids of the slides that the link opens (see `openedImageIds`). */
    readonly images: ReadonlySet<string>;
  } | null;
  /** Time at which the access of the account ends; null: never. */
  readonly account_expires_at: string | null;
  readonly status: Status;
  readonly role: Role;
  /** Restricted datasets that the account may not see. */
  readonly inaccessibleDatasets: ReadonlySet<string>;
};

/** Counts the sessions that have not expired. @param now ISO 8601 */
export async function countSessions(db: Connection, now: string): Promise<number> {
  const { count } = await db
    .selectFrom('image_sessions')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Finds sessions by hash, unordered; deleted sessions are missing from the result. */
export async function findSessionStates(db: Connection, hashes: readonly string[]): Promise<SessionState[]> {
  const rows = await selectSessionStates(db)
    .where(isOneOf(db, 'image_sessions.hash', hashes))
    .execute();
  const linkIds = rows.flatMap(({ share_link_id }) => share_link_id ?? []);
  const imagesByLink = await shareableImagesByLink(db, [...new Set(linkIds)]);
  const states = await withRestrictedDatasets(db, rows.map(stateOf));
  return states.map(({ link, ...state }) => {
    if (link === null) return { ...state, link };
    const images = openedImageIds(imagesByLink.get(link.id) ?? [], state.inaccessibleDatasets);
    return { ...state, link: { ...link, images } };
  });
}

/** Lists the sessions of an account's sign-ins with their request counts, newest first. */
export async function listSessionStates(
  db: Connection,
  uid: string,
): Promise<
  (Omit<SessionState, 'inaccessibleDatasets'> & Pick<Row<'image_sessions'>, 'prefix' | 'request_count'>)[]
> {
  const rows = await selectSessionStates(db)
    .select(['image_sessions.prefix', 'image_sessions.request_count'])
    .where('image_sessions.uid', '=', uid)
    .where('image_sessions.share_link_id', 'is', null)
    .orderBy('image_sessions.created_at', 'desc')
    .orderBy('image_sessions.hash')
    .execute();
  return rows.map((row) => ({
    ...stateOf(row),
    link: null, // these are sessions of sign-ins
    prefix: row.prefix,
    request_count: row.request_count,
  }));
}

async function withRestrictedDatasets<
  T extends { readonly uid: string; readonly status: Status; readonly role: Role },
>(db: Connection, rows: readonly T[]): Promise<(T & Pick<SessionState, 'inaccessibleDatasets'>)[]> {
  const memberUids = rows.filter((row) => !seesEveryDataset(row)).map(({ uid }) => uid);
  const restrictedByUid = await restrictedDatasetsOf(db, memberUids);
  return rows.map((row) => ({
    ...row,
    inaccessibleDatasets: restrictedByUid.get(row.uid) ?? noRestrictedDatasets,
  }));
}

type SessionStateRow = Awaited<ReturnType<ReturnType<typeof selectSessionStates>['execute']>>[number];

/** Returns the state of a session, without the slides of its share link. The columns of a joined table are null together. */
function stateOf(row: SessionStateRow) {
  const { token_hash, token_last_used_at, token_expires_at, token_created_at } = row;
  const { share_link_id, link_created_at, link_expires_at } = row;
  return {
    hash: row.hash,
    uid: row.uid,
    created_at: row.created_at,
    expires_at: row.expires_at,
    account_expires_at: row.account_expires_at,
    status: parseStatus(row.status),
    role: parseRole(row.role),
    token:
      token_hash === null ||
      token_last_used_at === null ||
      token_expires_at === null ||
      token_created_at === null
        ? null
        : {
            hash: token_hash,
            last_used_at: token_last_used_at,
            expires_at: token_expires_at,
            created_at: token_created_at,
          },
    link:
      share_link_id === null || link_created_at === null || link_expires_at === null
        ? null
        : {
            id: share_link_id,
            created_at: link_created_at,
            expires_at: link_expires_at,
            ended_at: row.link_ended_at,
          },
  };
}

function selectSessionStates(db: Connection) {
  return db
    .selectFrom('image_sessions')
    .leftJoin('tokens', 'tokens.hash', 'image_sessions.token_hash')
    .leftJoin('share_links', 'share_links.id', 'image_sessions.share_link_id')
    .innerJoin('users', 'users.uid', 'image_sessions.uid')
    .select([
      'image_sessions.hash',
      'image_sessions.uid',
      'image_sessions.token_hash',
      'image_sessions.share_link_id',
      'image_sessions.created_at',
      'image_sessions.expires_at',
      'tokens.last_used_at as token_last_used_at',
      'tokens.expires_at as token_expires_at',
      'tokens.created_at as token_created_at',
      'share_links.created_at as link_created_at',
      'share_links.expires_at as link_expires_at',
      'share_links.ended_at as link_ended_at',
      'users.status',
      'users.role',
      'users.expires_at as account_expires_at',
    ]);
}

/** Row of a new session of a sign-in. */
type SignInSessionRow = NewRow<'image_sessions'> & { readonly token_hash: string };

/** Result of `insertSession`. If a valid session with the same hash existed, `insertSession` has changed nothing. */
export interface NewImageSession {
  readonly expiresAt: string;
  /** Hashes of older sessions that were deleted because they had expired or exceeded the limit per account. */
  readonly endedHashes: readonly string[];
}

/**
 * Inserts a session of a sign-in. Deletes the account's expired sessions, and its oldest sessions beyond `maxSessions`.
 * The session expires no later than the sign-in. If a valid session with the same hash exists, because another process
 * has inserted it, changes nothing. The transaction holds the lock `accounts` (see `LockName`), so a concurrent suspension
 * of the account happens entirely before or after the transaction.
 *
 * @param record writes the audit event in the same transaction
 * @returns null when the sign-in has ended
 */
export async function insertSession(
  db: Database,
  row: SignInSessionRow,
  maxSessions: number,
  record: (tx: DatabaseTransaction) => Promise<void>,
): Promise<NewImageSession | null> {
  try {
    return await insertUnlessSignedOut(db, row, maxSessions, record);
  } catch (error) {
    // A deletion that does not hold the lock removed the token between the check and the insert.
    if (isMissingReference(error)) return null;
    throw error;
  }
}

function insertUnlessSignedOut(
  db: Database,
  row: SignInSessionRow,
  maxSessions: number,
  record: (tx: DatabaseTransaction) => Promise<void>,
): Promise<NewImageSession | null> {
  // The lock prevents a sign-out or suspension between the check of the token and the insert of the session.
  return runLockedTransaction(db, 'accounts', async (tx) => {
    const token = await tx
      .selectFrom('tokens')
      .select('expires_at')
      .where('hash', '=', row.token_hash)
      .where('uid', '=', row.uid)
      .executeTakeFirst();
    if (token === undefined) return null;
    const expiresAt = row.expires_at < token.expires_at ? row.expires_at : token.expires_at;
    const existing = await tx
      .selectFrom('image_sessions')
      .select(['hash', 'expires_at'])
      .where('uid', '=', row.uid)
      .where('share_link_id', 'is', null)
      .orderBy('created_at', 'desc')
      .orderBy('hash')
      .execute();
    // `created_at` of the new session is the current time.
    const expired = existing.filter(({ expires_at }) => expires_at <= row.created_at);
    const valid = existing.filter(({ expires_at }) => expires_at > row.created_at);
    const sameSession = valid.find(({ hash }) => hash === row.hash);
    if (sameSession !== undefined) return { expiresAt: sameSession.expires_at, endedHashes: [] };
    const beyondLimit = valid.slice(maxSessions - 1); // together with the new session, `maxSessions` remain
    const endedHashes = [...expired, ...beyondLimit].map(({ hash }) => hash);
    if (endedHashes.length > 0) {
      await tx.deleteFrom('image_sessions').where('hash', 'in', endedHashes).execute();
    }
    await tx
      .insertInto('image_sessions')
      .values({ ...row, expires_at: expiresAt })
      .execute();
    await record(tx);
    return { expiresAt, endedHashes };
  });
}

/** Deletes a session of one of the account's sign-ins. @returns false when the account has no such session */
export async function deleteSession(db: Connection, uid: string, hash: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('image_sessions')
    .where('hash', '=', hash)
    .where('uid', '=', uid)
    .where('share_link_id', 'is', null)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Use of image sessions that this process has counted in memory and not saved yet. */
export interface SessionUse {
  /** Number of requests by session hash. */
  readonly requests: ReadonlyMap<string, number>;
  /** Time of the latest request by token hash. */
  readonly tokensUsedAt: ReadonlyMap<string, Date>;
}

/** Adds the counted requests to the stored counts, and updates the time of each token's last use. */
export async function recordSessionUse(db: Database, { requests, tokensUsedAt }: SessionUse): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await touchTokens(tx, tokensUsedAt); // first, because the deletion of a token also locks the token before its sessions
    await lockInOrder(tx, 'image_sessions', [...requests.keys()]);
    const countsAsText = new Map([...requests].map(([hash, count]) => [hash, String(count)]));
    await tx
      .updateTable('image_sessions')
      .from(asKeyValueRows(tx, countsAsText).as('used'))
      .set((eb) => ({
        request_count: sql`${eb.ref('request_count')} + cast(${eb.ref('used.value')} as integer)`,
      }))
      .whereRef('image_sessions.hash', '=', 'used.key')
      .execute();
  });
}

/** Number of rows that one statement deletes, which limits how long it holds its locks. */
const sessionsPerStatement = 1000;

/**
 * Deletes up to `sessionsPerStatement` expired sessions. Visitors' sessions are deleted later, because visitors can renew them.
 *
 * @param now time at which sessions of sign-ins have expired, ISO 8601
 * @param visitorsExpired time at which visitors' sessions have expired if they can no longer be renewed, ISO 8601
 * @returns false when there is none left
 */
export async function deleteExpiredSessions(
  db: Connection,
  now: string,
  visitorsExpired: string,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('image_sessions')
    .where('hash', 'in', (eb) =>
      eb
        .selectFrom('image_sessions')
        .select('hash')
        .where('expires_at', '<=', now)
        .where((or) => or.or([or('share_link_id', 'is', null), or('expires_at', '<=', visitorsExpired)]))
        .limit(sessionsPerStatement),
    )
    .executeTakeFirst();
  return numDeletedRows === BigInt(sessionsPerStatement);
}
