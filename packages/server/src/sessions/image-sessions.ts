/**
 * The service for image sessions, the credentials with which viewers request pixels. It stores two kinds: the session of a sign-in has a
 * `tokenHash`, and the session of a share link's visitor has a `visitor`. Each ends at the latest with its sign-in or link. The third
 * kind, which represents an API token and has an `apiToken`, is not stored (api-tokens/api-tokens.ts).
 *
 * Each request for a tile resolves its session from a cache in this process. A cache entry is valid for 1 s after the
 * last query of its session (30 s while the database is down). While requests arrive, a background query every 0.5 s
 * renews the entries of all sessions in use. So a revocation takes effect at once in the process that makes it, and
 * within 1 s in all others. The file is long because all functions share the cache.
 */
import { AppError, type ImageSessionStats, may } from '@lamina/contract';
import type { Logger } from 'pino';
import { effectiveAccount, wasIssuedBeforeExpiry } from '../domain/account.ts';
import { type ImageSession, maxSessionsPerAccount, secondsLeft } from '../domain/image-session.ts';
import { isShareLinkValid, visitorRenewalMs } from '../domain/share-link.ts';
import { isFromTheFuture } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import { hashSecret, newSecret } from '../platform/secrets.ts';
import { createStalenessLimit } from '../platform/staleness-limit.ts';
import { type Database, type DatabaseTransaction, runLockedTransaction } from '../store/database.ts';
import {
  deleteExpiredSessions,
  deleteSession,
  findSessionStates,
  insertSession,
  listSessionStates,
  recordSessionUse,
  type SessionState,
} from '../store/image-sessions.ts';
import {
  extendVisitorSession,
  insertVisitorSession,
  isVisitorSessionRenewable,
} from '../store/visitor-sessions.ts';
import { type ResolvedToken, tokenIdleMs } from './sign-in-service.ts';

export interface ImageSessions {
  /**
   * Creates a session. `record` writes the audit event in the same transaction.
   *
   * @param fixedId id of the session, computed from a bearer token so that all processes use one session (tiles/bearer-sessions.ts). If
   *   the session exists, this returns it without calling `record`. Default: a new random secret.
   * @throws AppError token_invalid when the sign-in has ended since the access check of the request
   */
  create(
    caller: ResolvedToken,
    record?: (tx: DatabaseTransaction) => Promise<void>,
    fixedId?: string,
  ): Promise<{ readonly sessionId: string; readonly expiresInSeconds: number }>;
  /**
   * Creates the session of a visitor, in the transaction that counts the opening of the share link. The session ends with the link
   * at the latest.
   */
  createForVisitor(
    tx: DatabaseTransaction,
    link: { readonly id: string; readonly uid: string; readonly expires_at: string },
  ): Promise<{ readonly sessionId: string; readonly expiresInSeconds: number }>;
  /** Whether `renewForVisitor` can renew this session of the link. */
  isRenewable(sessionId: string, linkId: string): Promise<boolean>;
  /**
   * Extends the session of a visitor, as long as a new session would last. It keeps its id, so renewals never increase the number of
   * sessions of a link.
   *
   * @returns null for a session of another link, and for one that has ended or expired longer than `visitorRenewalMs` ago
   */
  renewForVisitor(
    tx: DatabaseTransaction,
    link: { readonly id: string; readonly expires_at: string },
    sessionId: string,
  ): Promise<{ readonly sessionId: string; readonly expiresInSeconds: number } | null>;
  /**
   * Returns a valid session, counts the request, and renews the idle time of the sign-in. Returns null for a session that does not
   * exist or has ended. Returns a promise only when it must query the database.
   *
   * @throws AppError unavailable when the query fails
   */
  resolve(sessionId: string): ImageSession | null | Promise<ImageSession | null>;
  /**
   * Returns the current state of a session that `resolve` returned earlier, or null when it has ended. Does not count a request.
   *
   * @throws AppError unavailable when the query fails
   */
  current(session: Pick<ImageSession, 'hash'>): Promise<ImageSession | null>;
  /** Returns the sessions of the account's sign-ins, newest first. */
  statsOf(uid: string): Promise<ImageSessionStats>;
  /**
   * Ends a session of this account. `record` writes the audit event in the same transaction.
   *
   * @throws AppError not_found when the account has no such session
   */
  revoke(uid: string, sessionId: string, record?: (tx: DatabaseTransaction) => Promise<void>): Promise<void>;
  /**
   * Deletes the sessions of ended sign-ins (`uid`: all sign-ins of the account, except `exceptTokenHash`) or of an ended share link from
   * the cache of this process. Call it after the commit. With `uid`, the sessions of the account's share links stay, because a new
   * password does not end them; their next request queries the database.
   */
  evictEnded(
    ended:
      | { readonly uid: string; readonly exceptTokenHash?: string }
      | { readonly tokenHash: string }
      | { readonly shareLinkId: string },
  ): void;
  /**
   * Makes the next request with each session of the account (without `account`: of every account) query the database. Call it after a
   * change of access rights.
   */
  invalidateRights(account?: { readonly uid: string }): void;
  /**
   * Returns the number of revocations and changes of access rights in this process so far. Other caches of access rights are valid
   * only while it stays the same.
   */
  countChanges(): number;
  /** Deletes expired sessions from the database. */
  deleteExpired(): Promise<void>;
  /** Saves the request counts that are not in the database yet. */
  close(): Promise<void>;
}

/** Minimum interval between two queries that renew the cache entries of the sessions in use. */
const renewAfterMs = 500;
/** A session is in use until this time after its last request. So a user who pauses for some seconds does not wait for a query. */
const inUseForMs = 10_000;
/** Interval at which request counts and the last use of sign-ins are saved. */
const flushEveryMs = 5000;
/** Interval at which expired entries are deleted from the cache. */
const purgeEveryMs = 10 * 60_000;
/** Size at which the set of hashes of ended sessions is cleared, which limits its memory. */
const maxEndedHashes = 10_000;

/** A sign-in, shared by all sessions that were created with it. */
interface SharedSignIn {
  /** Time of the last request with one of the sessions, in milliseconds since the epoch; the idle time is counted from it. */
  usedAt: number;
}

interface CachedSession {
  session: ImageSession;
  /** Null for the session of a share link, which does not end when it is idle. */
  readonly signIn: SharedSignIn | null;
  /** Time of the last query of the session, in ms since the epoch; minus infinity forces a query at the next use. */
  checkedAt: number;
  /** Time of the last request to this process, in milliseconds since the epoch; minus infinity before the first one. */
  usedAt: number;
  /** Number of requests that are not yet added to `request_count` in the database. */
  requests: number;
}

const recordNothing = async () => {};

interface Dependencies {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  /** Called for each new session: a viewer will soon request pixels. */
  readonly onCreate?: () => void;
}

/** Creates the image sessions of this process, with an empty cache. */
export async function createImageSessions({
  config,
  db,
  now,
  log,
  onCreate,
}: Dependencies): Promise<ImageSessions> {
  /** The cache, by hash of the session id. */
  const cachedSessions = new Map<string, CachedSession>();
  /** Recently used entries of the cache by session id, which saves hashing the id for each tile. Cleared at least every 5 s. */
  const recentById = new Map<string, CachedSession>();
  /** Sign-ins of the sessions in the cache, by hash of the bearer token. */
  const signIns = new Map<string, SharedSignIn>();
  /** Hashes of ids without a valid session. They are not queried again, unless `create` creates a session with such an id. */
  const endedHashes = new Set<string>();
  /** Number of revocations and changes of access rights. A query during which this number has changed is repeated. */
  let accessChanges = 0;
  let lastRenewalMs = 0;
  const clock = () => now().getTime();
  /** Decides whether a cache entry is recent enough: up to 1 s old, or 30 s while the database is down. */
  const staleness = createStalenessLimit(clock);

  /** Deletes a session from the cache and remembers its hash, because it has ended or does not exist. */
  function evict(hash: string): void {
    if (cachedSessions.delete(hash)) recentById.clear();
    if (endedHashes.size >= maxEndedHashes) endedHashes.clear();
    endedHashes.add(hash);
  }

  /** Deletes a session from the cache. Its next use queries the database, because a visitor may renew the session after its end. */
  function forget(hash: string): void {
    if (cachedSessions.delete(hash)) recentById.clear();
  }

  /** Deletes a session from the cache and from the ended hashes, so that its next use queries the database. */
  function deleteFromCache(hash: string): void {
    accessChanges++; // makes `queryStates` repeat a query that is in progress
    if (cachedSessions.delete(hash)) recentById.clear();
    endedHashes.delete(hash);
  }

  /** Adds a session to the cache, or updates its cache entry. */
  function storeInCache(state: SessionState, checkedAt: number): void {
    const { inaccessibleDatasets, link } = state;
    const visitor = link === null ? null : { linkId: link.id, images: link.images };
    const seesHidden = visitor === null && may(state, 'catalogue.write');
    const signIn = state.token === null ? null : sharedSignInOf(state.token);
    const entry = cachedSessions.get(state.hash);
    if (entry !== undefined) {
      entry.checkedAt = checkedAt;
      // This runs for all sessions every 0.5 s, so it creates a new object only when the rights may have changed.
      if (
        visitor !== null ||
        entry.session.inaccessibleDatasets !== inaccessibleDatasets ||
        entry.session.seesHidden !== seesHidden
      ) {
        const expiresAt = Date.parse(state.expires_at); // later than before when the visitor has renewed the session
        entry.session = { ...entry.session, inaccessibleDatasets, seesHidden, visitor, expiresAt };
      }
      return;
    }
    cachedSessions.set(state.hash, {
      session: {
        hash: state.hash,
        uid: state.uid,
        tokenHash: state.token?.hash ?? null,
        visitor,
        createdAt: Date.parse(state.created_at),
        expiresAt: Date.parse(state.expires_at),
        inaccessibleDatasets,
        seesHidden,
        auditedViews: new Map(),
      },
      signIn,
      checkedAt,
      usedAt: Number.NEGATIVE_INFINITY,
      requests: 0,
    });
  }

  /** Returns the sign-in that all sessions with this bearer token share, with the latest known time of its use. */
  function sharedSignInOf({ hash, last_used_at }: NonNullable<SessionState['token']>): SharedSignIn {
    const usedAt = Date.parse(last_used_at);
    const signIn = signIns.get(hash) ?? { usedAt };
    signIn.usedAt = Math.max(signIn.usedAt, usedAt); // the latest use may have been in this process or in another one
    signIns.set(hash, signIn);
    return signIn;
  }

  /** Returns whether a session gives access now, given the current state of its account and of its sign-in or share link. */
  function isStateValid(state: Omit<SessionState, 'inaccessibleDatasets'>, nowMs: number): boolean {
    const { status, role, token, link } = state;
    const expiresAt = state.account_expires_at;
    const time = new Date(nowMs);
    // A creation time in the future means that the clock was set back, so the age of the session is unknown.
    if (nowMs >= Date.parse(state.expires_at) || isFromTheFuture(new Date(state.created_at), time))
      return false;
    if (link !== null) return isShareLinkValid(link, { status, role, expiresAt }, time);
    if (token === null) return false; // neither the link nor the sign-in of the session exists
    // This process may know a later use that is not saved yet.
    const usedAt = Math.max(Date.parse(token.last_used_at), signIns.get(token.hash)?.usedAt ?? 0);
    const account = effectiveAccount({ status, role, expiresAt }, time);
    return (
      may(account, 'image.view') &&
      !wasIssuedBeforeExpiry(new Date(token.created_at), account, time) &&
      !isFromTheFuture(new Date(usedAt), time) &&
      nowMs < Date.parse(token.expires_at) &&
      nowMs < usedAt + tokenIdleMs
    );
  }

  // Only one query runs at a time, and hashes that arrive during it share the next query. So a client that guesses session ids uses
  // at most one connection to the database.
  let waitingHashes = new Set<string>();
  let nextLookUp: Promise<void> | null = null;
  let runningLookUp: Promise<void> = Promise.resolve();

  /** Queries the session and updates the cache. Calls that arrive while a query runs share the next query. */
  function lookUpState(hash: string): Promise<void> {
    waitingHashes.add(hash);
    nextLookUp ??= runningLookUp.then(() => {
      const hashes = [...waitingHashes];
      waitingHashes = new Set();
      nextLookUp = null;
      const lookUp = queryStates(hashes);
      runningLookUp = lookUp.catch(() => {}); // callers of `lookUpState` get the error; the next query still starts
      return lookUp;
    });
    return nextLookUp;
  }

  /** Stores the valid sessions with these hashes in the cache, and evicts all others. */
  async function queryStates(hashes: readonly string[]): Promise<void> {
    for (;;) {
      const queriedAt = clock();
      const changesBefore = accessChanges;
      const states = await staleness.track(() => findSessionStates(db, hashes));
      if (accessChanges !== changesBefore) continue;
      const statesByHash = new Map(states.map((state) => [state.hash, state]));
      for (const hash of hashes) {
        const state = statesByHash.get(hash);
        if (state !== undefined && isStateValid(state, queriedAt)) storeInCache(state, queriedAt);
        else if (state !== undefined && state.link !== null) forget(hash);
        else evict(hash);
      }
      return;
    }
  }

  /** Renews the cache entries of all sessions in use, in the background. */
  function renewInBackground(nowMs: number): void {
    // The absolute value lets renewals continue after the clock was set back.
    if (Math.abs(nowMs - lastRenewalMs) < renewAfterMs) return;
    lastRenewalMs = nowMs;
    recentById.clear();
    let lookUp: Promise<void> | undefined; // the same promise for all sessions, because they share one query
    for (const [hash, entry] of cachedSessions) {
      if (Math.abs(nowMs - entry.usedAt) < inUseForMs) lookUp = lookUpState(hash);
    }
    lookUp?.catch((error) =>
      log.warn(
        { err: error, cachedSessions: cachedSessions.size },
        'image session lookup in the database failed; cached image sessions still authorise tile requests for up to 30 s',
      ),
    );
  }

  /** Counts a request with a session, and returns the session. */
  function countRequest(entry: CachedSession, nowMs: number): ImageSession {
    entry.usedAt = nowMs;
    entry.requests++;
    if (entry.signIn !== null) entry.signIn.usedAt = nowMs;
    flushSoon();
    renewInBackground(nowMs);
    return entry.session;
  }

  const isSessionId = (text: string) => /^[\w-]{43}$/.test(text); // 256 bits in base64url

  /** Returns the cache entry of a session; undefined when there is none. */
  function cacheEntryOf(sessionId: string): CachedSession | undefined {
    const recentEntry = recentById.get(sessionId);
    if (recentEntry !== undefined) return recentEntry;
    const entry = cachedSessions.get(hashSecret(sessionId));
    if (entry !== undefined) recentById.set(sessionId, entry);
    return entry;
  }

  /** Returns whether the session can be accepted without a query: its last query is recent enough, and it has not expired since. */
  function isValidInCache(entry: CachedSession, nowMs: number): boolean {
    const isSignInActive = entry.signIn === null || nowMs < entry.signIn.usedAt + tokenIdleMs;
    return nowMs < entry.session.expiresAt && isSignInActive && staleness.isFresh(entry.checkedAt, nowMs);
  }

  function resolve(sessionId: string): ImageSession | null | Promise<ImageSession | null> {
    if (!isSessionId(sessionId)) return null;
    const nowMs = clock();
    const entry = cacheEntryOf(sessionId);
    if (entry === undefined) {
      const hash = hashSecret(sessionId);
      return endedHashes.has(hash) ? null : resolveByLookUp(hash);
    }
    const { hash, expiresAt, visitor } = entry.session;
    // A visitor may have renewed the session in another process.
    if (nowMs >= expiresAt && visitor === null) {
      evict(hash);
      return null;
    }
    return isValidInCache(entry, nowMs) ? countRequest(entry, nowMs) : resolveByLookUp(hash);
  }

  async function resolveByLookUp(hash: string): Promise<ImageSession | null> {
    const entry = await lookUpEntry(hash);
    return entry === undefined ? null : countRequest(entry, clock());
  }

  /** Queries a session and returns its cache entry; undefined when it has ended. @throws AppError unavailable */
  async function lookUpEntry(hash: string): Promise<CachedSession | undefined> {
    try {
      await lookUpState(hash);
    } catch (error) {
      // After a failed query, `staleness` accepts entries that are up to 30 s old, so the session may now be valid in the cache.
      const entry = cachedSessions.get(hash);
      if (entry !== undefined && isValidInCache(entry, clock())) return entry;
      throw new AppError('unavailable', { cause: error });
    }
    return cachedSessions.get(hash);
  }

  async function current({ hash }: Pick<ImageSession, 'hash'>): Promise<ImageSession | null> {
    if (endedHashes.has(hash)) return null;
    const entry = cachedSessions.get(hash);
    if (entry !== undefined && isValidInCache(entry, clock())) return entry.session;
    return (await lookUpEntry(hash))?.session ?? null;
  }

  let flushTimer: NodeJS.Timeout | null = null;
  let flushing: Promise<void> = Promise.resolve();
  let lastPurgeMs = clock();

  /** Saves the request counts within 5 s. */
  function flushSoon(): void {
    flushTimer ??= setTimeout(() => {
      flushTimer = null;
      recentById.clear();
      flushing = flush().catch((error) =>
        log.warn(
          { err: error, cachedSessions: cachedSessions.size },
          'numbers of tile requests and times of last use of image sessions could not be saved in the database; they stay in memory and are saved with the next tile requests',
        ),
      );
    }, flushEveryMs).unref();
  }

  /** Saves request counts and the last use of sign-ins, and every 10 minutes deletes expired entries from the cache. */
  async function flush(): Promise<void> {
    const usedEntries = [...cachedSessions.values()].filter(({ requests }) => requests > 0);
    if (usedEntries.length > 0) {
      const requests = new Map(usedEntries.map((entry) => [entry.session.hash, entry.requests]));
      const tokensUsedAt = new Map(
        usedEntries.flatMap(({ session: { tokenHash }, signIn }) =>
          tokenHash === null || signIn === null ? [] : [[tokenHash, new Date(signIn.usedAt)] as const],
        ),
      );
      for (const entry of usedEntries) entry.requests = 0; // requests that arrive during this write belong to the next one
      try {
        await recordSessionUse(db, { requests, tokensUsedAt });
      } catch (error) {
        for (const entry of usedEntries) entry.requests += requests.get(entry.session.hash) ?? 0;
        throw error;
      }
    }
    const nowMs = clock();
    if (Math.abs(nowMs - lastPurgeMs) < purgeEveryMs) return;
    lastPurgeMs = nowMs;
    for (const [hash, { session }] of cachedSessions) {
      if (nowMs < session.expiresAt) continue;
      if (session.visitor === null) evict(hash);
      else forget(hash);
    }
    const usedTokenHashes = new Set([...cachedSessions.values()].map(({ session }) => session.tokenHash));
    for (const hash of signIns.keys()) if (!usedTokenHashes.has(hash)) signIns.delete(hash);
  }

  /** Returns the end of a visitor's session that starts or is renewed now, in milliseconds since the epoch. */
  function endOfVisitorSession(link: { readonly expires_at: string }, startsAt: Date): number {
    return Math.min(startsAt.getTime() + config.imageSessionTtlSeconds * 1000, Date.parse(link.expires_at));
  }

  function presentedSession(sessionId: string, linkId: string) {
    const expiresAfter = new Date(clock() - visitorRenewalMs).toISOString();
    return { hash: hashSecret(sessionId), linkId, expiresAfter };
  }

  return {
    async create({ user, tokenHash }, record = recordNothing, fixedId) {
      const sessionId = fixedId ?? newSecret();
      const hash = hashSecret(sessionId);
      const createdAt = now();
      // Null when the sign-in has ended. Beyond `maxSessionsPerAccount`, this also ends the oldest sessions of the account.
      const inserted = await insertSession(
        db,
        {
          hash,
          prefix: sessionId.slice(0, 8), // by which the owner recognises the session
          uid: user.uid,
          token_hash: tokenHash,
          created_at: createdAt.toISOString(),
          expires_at: new Date(createdAt.getTime() + config.imageSessionTtlSeconds * 1000).toISOString(),
          request_count: 0,
        },
        maxSessionsPerAccount,
        record,
      );
      if (inserted === null) throw new AppError('token_invalid');
      onCreate?.();
      if (inserted.endedHashes.length > 0) accessChanges++; // a query in progress may still return the ended sessions
      for (const endedHash of inserted.endedHashes) evict(endedHash);
      if (fixedId !== undefined) deleteFromCache(hash); // this process may know an earlier session with this id
      const expiresAt = Date.parse(inserted.expiresAt); // not after the end of the sign-in
      return { sessionId, expiresInSeconds: secondsLeft({ expiresAt }, createdAt) };
    },

    async createForVisitor(tx, link) {
      const sessionId = newSecret();
      const createdAt = now();
      const expiresAt = endOfVisitorSession(link, createdAt);
      await insertVisitorSession(tx, {
        hash: hashSecret(sessionId),
        prefix: sessionId.slice(0, 8),
        uid: link.uid,
        token_hash: null,
        share_link_id: link.id,
        created_at: createdAt.toISOString(),
        expires_at: new Date(expiresAt).toISOString(),
        request_count: 0,
      });
      onCreate?.();
      return { sessionId, expiresInSeconds: secondsLeft({ expiresAt }, createdAt) };
    },

    isRenewable: (sessionId, linkId) => isVisitorSessionRenewable(db, presentedSession(sessionId, linkId)),

    async renewForVisitor(tx, link, sessionId) {
      const expiresAt = endOfVisitorSession(link, now());
      const presented = presentedSession(sessionId, link.id);
      if (!(await extendVisitorSession(tx, presented, new Date(expiresAt).toISOString()))) return null;
      return { sessionId, expiresInSeconds: secondsLeft({ expiresAt }, now()) };
    },

    resolve,
    current,

    async statsOf(uid) {
      const currentTime = now();
      const validStates = (await listSessionStates(db, uid)).filter((state) =>
        isStateValid(state, currentTime.getTime()),
      );
      return {
        active_sessions: validStates.length,
        sessions: validStates.map((state) => ({
          session_id: state.prefix,
          created_at: state.created_at,
          expires_in: secondsLeft({ expiresAt: Date.parse(state.expires_at) }, currentTime),
          age: Math.max(0, Math.floor((currentTime.getTime() - Date.parse(state.created_at)) / 1000)),
          request_count: state.request_count + (cachedSessions.get(state.hash)?.requests ?? 0),
        })),
      };
    },

    async revoke(uid, sessionId, record = recordNothing) {
      const hash = hashSecret(sessionId);
      await runLockedTransaction(db, 'accounts', async (tx) => {
        if (!(await deleteSession(tx, uid, hash))) throw new AppError('not_found');
        await record(tx);
      });
      accessChanges++;
      evict(hash);
    },

    evictEnded(ended) {
      accessChanges++;
      for (const [hash, entry] of cachedSessions) {
        const { session } = entry;
        if ('uid' in ended && session.visitor !== null) {
          if (session.uid === ended.uid) entry.checkedAt = Number.NEGATIVE_INFINITY; // forces a query
        } else if (hasEnded(session, ended)) evict(hash);
      }
    },

    invalidateRights(account) {
      accessChanges++;
      for (const entry of cachedSessions.values()) {
        if (account === undefined || entry.session.uid === account.uid) {
          entry.checkedAt = Number.NEGATIVE_INFINITY; // forces a query
        }
      }
    },

    countChanges: () => accessChanges,

    async deleteExpired() {
      const visitorsExpired = new Date(clock() - visitorRenewalMs).toISOString();
      // Each call deletes one batch; true: there may be more.
      while (await deleteExpiredSessions(db, now().toISOString(), visitorsExpired));
    },

    async close() {
      if (flushTimer !== null) clearTimeout(flushTimer);
      flushTimer = null;
      await flushing;
      await runningLookUp;
      await flush().catch((error) =>
        log.warn(
          { err: error, cachedSessions: cachedSessions.size },
          'numbers of tile requests and times of last use of image sessions could not be saved in the database during the shutdown; they are lost',
        ),
      );
    },
  };
}

/** Returns whether a session belongs to an ended sign-in or share link. */
function hasEnded(session: ImageSession, ended: Parameters<ImageSessions['evictEnded']>[0]): boolean {
  if ('tokenHash' in ended) return session.tokenHash === ended.tokenHash;
  if ('shareLinkId' in ended) return session.visitor?.linkId === ended.shareLinkId;
  return session.uid === ended.uid && session.tokenHash !== ended.exceptTokenHash;
}
