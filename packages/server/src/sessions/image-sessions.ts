/**
 * Image sessions: created from a sign-in, resolved from a cache for every tile, revoked in all processes at once.
 *
 * Requests are answered from the cache, whose entries are at most one second old: every half second one query renews all
 * sessions in use, in the background. The file is long because it contains one state machine over one cache.
 */
import { AppError, type ImageSessionStats, may } from '@lamina/contract';
import type { Logger } from 'pino';
import { effectiveAccount, wasIssuedBeforeExpiry } from '../domain/account.ts';
import { type ImageSession, maxSessionsPerAccount, secondsLeft } from '../domain/image-session.ts';
import { isShareLinkValid } from '../domain/share-link.ts';
import { isFromTheFuture } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import { hashSecret, newSecret } from '../platform/secrets.ts';
import { createStalenessLimit } from '../platform/staleness-limit.ts';
import { type Change, type Database, runLockedTransaction } from '../store/database.ts';
import {
  deleteExpiredSessions,
  deleteSession,
  findSessionStates,
  insertSession,
  insertVisitorSession,
  listSessionStates,
  recordSessionUse,
  type SessionState,
} from '../store/image-sessions.ts';
import { type ResolvedToken, tokenIdleMs } from './sign-in-service.ts';

export interface ImageSessions {
  /**
   * Creates a session. `record` writes the audit event in the same transaction.
   *
   * @throws AppError token_invalid when the sign-in has ended meanwhile
   */
  create(
    caller: ResolvedToken,
    record?: (tx: Change) => Promise<void>,
  ): Promise<{ readonly sessionId: string; readonly expiresInSeconds: number }>;
  /**
   * Creates the session of a share link, in the transaction that counts its opening. The session ends with the link at the latest.
   */
  createForVisitor(
    tx: Change,
    link: { readonly id: string; readonly uid: string; readonly expires_at: string },
  ): Promise<{ readonly sessionId: string; readonly expiresInSeconds: number }>;
  /**
   * Returns null for a session that does not exist or has ended. Counts the request and renews the idle time of the
   * sign-in. Returns a promise only when the database must be queried.
   *
   * @throws AppError unavailable when the query fails
   */
  resolve(sessionId: string): ImageSession | null | Promise<ImageSession | null>;
  /** The sessions of the account, newest first. */
  statsOf(uid: string): Promise<ImageSessionStats>;
  /**
   * Ends a session of this account. `record` writes the audit event in the same transaction.
   *
   * @throws AppError not_found for a session of another account
   */
  revoke(uid: string, sessionId: string, record?: (tx: Change) => Promise<void>): Promise<void>;
  /**
   * Deletes revoked sessions from the cache; to be called after the commit. With `uid`, sessions of the account's share
   * links are only queried again, because a change of the password does not end them.
   */
  forget(
    ended:
      | { readonly uid: string; readonly exceptTokenHash?: string }
      | { readonly tokenHash: string }
      | { readonly shareLinkId: string },
  ): void;
  /**
   * Invalidates the cache entries of one account, or of all accounts without `whose`: the next request queries the
   * database. To be called after a change of access rights.
   */
  recheck(whose?: { readonly uid: string }): void;
  /** Returns how often `forget` and `recheck` were called, so that other caches of access rights notice a change. */
  countChanges(): number;
  /** Deletes expired sessions from the database. */
  deleteExpired(): Promise<void>;
  close(): Promise<void>;
}

/** Age from which a cache entry is renewed in the background when the session is used. */
const renewAfterMs = 500;
/**
 * Time after its last request during which a session is renewed with the others. A person who looks at one field for some
 * seconds then does not wait for the database when moving on, and one query serves all viewers.
 */
const renewUnusedForMs = 10_000;
const flushEveryMs = 5000;
const purgeEveryMs = 10 * 60_000;
const maxEndedHashes = 10_000;

/** One sign-in, shared by the sessions created from it. */
interface SharedSignIn {
  usedAt: number;
}

interface CachedSession {
  session: ImageSession;
  /** Null for the session of a share link, which has no idle time. */
  readonly token: SharedSignIn | null;
  /** Time of the last query about the session. */
  checkedAt: number;
  /** Time of the last request to this process; minus infinity before the first one. */
  usedAt: number;
  /** Requests that are not yet added to the count in the database. */
  requests: number;
}

const recordNothing = async () => {};

interface Dependencies {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
}

export async function createImageSessions({ config, db, now, log }: Dependencies): Promise<ImageSessions> {
  const cachedSessions = new Map<string, CachedSession>();
  /** The same entries by session id, so that the id is not hashed for each tile of a view. Emptied every 5 s. */
  const recentById = new Map<string, CachedSession>();
  const tokens = new Map<string, SharedSignIn>();
  /** Hashes of unknown and ended sessions. They can be cached, because an id is never reused and an ended session stays ended. */
  const endedHashes = new Set<string>();
  /** Number of revocations so far. A query that ran during a revocation is repeated. */
  let revocations = 0;
  let lastRenewal = 0;
  const clock = () => now().getTime();
  const staleness = createStalenessLimit(clock);

  function evict(hash: string): void {
    if (cachedSessions.delete(hash)) recentById.clear();
    if (endedHashes.size >= maxEndedHashes) endedHashes.clear();
    endedHashes.add(hash);
  }

  function store(state: SessionState, checkedAt: number): void {
    const { restrictedDatasets, link } = state;
    const visitor = link === null ? null : { linkId: link.id, images: link.images };
    const seesHidden = visitor === null && may(state, 'catalogue.write');
    const token = state.token === null ? null : tokenOf(state.token);
    const known = cachedSessions.get(state.hash);
    if (known !== undefined) {
      known.checkedAt = checkedAt;
      if (
        visitor !== null ||
        known.session.restrictedDatasets !== restrictedDatasets ||
        known.session.seesHidden !== seesHidden
      ) {
        known.session = { ...known.session, restrictedDatasets, seesHidden, visitor };
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
        restrictedDatasets,
        seesHidden,
        shownImages: new Map(),
      },
      token,
      checkedAt,
      usedAt: Number.NEGATIVE_INFINITY,
      requests: 0,
    });
  }

  function tokenOf({ hash, last_used_at }: NonNullable<SessionState['token']>): SharedSignIn {
    const usedAt = Date.parse(last_used_at);
    const token = tokens.get(hash) ?? { usedAt };
    token.usedAt = Math.max(token.usedAt, usedAt);
    tokens.set(hash, token);
    return token;
  }

  function isStateValid(state: Omit<SessionState, 'restrictedDatasets'>, nowMs: number): boolean {
    const { status, role, account_expires_at: expiresAt, token, link } = state;
    const now = new Date(nowMs);
    if (nowMs >= Date.parse(state.expires_at) || isFromTheFuture(new Date(state.created_at), now))
      return false;
    if (link !== null) return isShareLinkValid(link, { status, role, expiresAt }, now);
    if (token === null) return false;
    const usedAt = Math.max(Date.parse(token.last_used_at), tokens.get(token.hash)?.usedAt ?? 0);
    const account = effectiveAccount({ status, role, expiresAt }, now);
    return (
      may(account, 'image.view') &&
      !wasIssuedBeforeExpiry(new Date(token.created_at), account, now) &&
      !isFromTheFuture(new Date(usedAt), now) &&
      nowMs < Date.parse(token.expires_at) &&
      nowMs < usedAt + tokenIdleMs
    );
  }

  // Only one query runs at a time; hashes that arrive meanwhile share the next one. So guessing session ids uses at
  // most one connection.
  let waitingHashes = new Set<string>();
  let nextLookUp: Promise<void> | null = null;
  let lookUpRunning: Promise<void> = Promise.resolve();

  function lookUpState(hash: string): Promise<void> {
    waitingHashes.add(hash);
    nextLookUp ??= lookUpRunning.then(() => {
      const hashes = [...waitingHashes];
      waitingHashes = new Set();
      nextLookUp = null;
      const lookingUp = queryStates(hashes);
      lookUpRunning = lookingUp.catch(() => {}); // its callers get the error; the next query is independent
      return lookingUp;
    });
    return nextLookUp;
  }

  async function queryStates(hashes: readonly string[]): Promise<void> {
    for (;;) {
      const queriedAt = clock();
      const revocationsBefore = revocations;
      const states = await staleness.track(() => findSessionStates(db, hashes));
      if (revocations !== revocationsBefore) continue;
      const found = new Map(states.map((state) => [state.hash, state]));
      for (const hash of hashes) {
        const state = found.get(hash);
        if (state !== undefined && isStateValid(state, queriedAt)) store(state, queriedAt);
        else evict(hash);
      }
      return;
    }
  }

  /** Renews the cache entries of all sessions in use, in the background. */
  function renewInBackground(nowMs: number): void {
    if (Math.abs(nowMs - lastRenewal) < renewAfterMs) return;
    lastRenewal = nowMs;
    recentById.clear();
    let lookingUp: Promise<void> | undefined;
    for (const [hash, entry] of cachedSessions) {
      if (Math.abs(nowMs - entry.usedAt) < renewUnusedForMs) lookingUp = lookUpState(hash);
    }
    lookingUp?.catch((error) =>
      log.warn(
        { err: error },
        'image session lookup failed; cached sessions stay valid for 30 s without the database',
      ),
    );
  }

  function use(entry: CachedSession, nowMs: number): ImageSession {
    entry.usedAt = nowMs;
    entry.requests++;
    if (entry.token !== null) entry.token.usedAt = nowMs;
    flushSoon();
    renewInBackground(nowMs);
    return entry.session;
  }

  const isSessionId = (text: string) => /^[\w-]{43}$/.test(text);

  /** Returns undefined for a session that is not in the cache. */
  function liveEntryOf(sessionId: string): CachedSession | undefined {
    const known = recentById.get(sessionId);
    if (known !== undefined) return known;
    const entry = cachedSessions.get(hashSecret(sessionId));
    if (entry !== undefined) recentById.set(sessionId, entry);
    return entry;
  }

  /** Returns whether the session can be accepted now without a query. */
  function isValidInCache(entry: CachedSession, nowMs: number): boolean {
    const isTokenInUse = entry.token === null || nowMs < entry.token.usedAt + tokenIdleMs;
    return nowMs < entry.session.expiresAt && isTokenInUse && staleness.isFresh(entry.checkedAt, nowMs);
  }

  function resolve(sessionId: string): ImageSession | null | Promise<ImageSession | null> {
    if (!isSessionId(sessionId)) return null;
    const nowMs = clock();
    const entry = liveEntryOf(sessionId);
    if (entry === undefined) {
      const hash = hashSecret(sessionId);
      return endedHashes.has(hash) ? null : resolveByLookUp(hash);
    }
    const { hash, expiresAt } = entry.session;
    if (nowMs >= expiresAt) {
      evict(hash);
      return null;
    }
    return isValidInCache(entry, nowMs) ? use(entry, nowMs) : resolveByLookUp(hash);
  }

  async function resolveByLookUp(hash: string): Promise<ImageSession | null> {
    try {
      await lookUpState(hash);
    } catch (error) {
      const known = cachedSessions.get(hash);
      const nowMs = clock();
      if (known !== undefined && isValidInCache(known, nowMs)) return use(known, nowMs);
      throw new AppError('unavailable', { cause: error });
    }
    const entry = cachedSessions.get(hash);
    return entry === undefined ? null : use(entry, clock());
  }

  let flushTimer: NodeJS.Timeout | null = null;
  let flushing: Promise<void> = Promise.resolve();
  let lastPurge = clock();

  function flushSoon(): void {
    flushTimer ??= setTimeout(() => {
      flushTimer = null;
      recentById.clear();
      flushing = flush().catch((error) =>
        log.warn(
          { err: error },
          'saving request counts of image sessions failed; it is tried again after the next requests',
        ),
      );
    }, flushEveryMs).unref();
  }

  async function flush(): Promise<void> {
    const used = [...cachedSessions.values()].filter(({ requests }) => requests > 0);
    if (used.length > 0) {
      const requests = new Map(used.map((entry) => [entry.session.hash, entry.requests]));
      const tokensUsedAt = new Map(
        used.flatMap(({ session: { tokenHash }, token }) =>
          tokenHash === null || token === null ? [] : [[tokenHash, new Date(token.usedAt)] as const],
        ),
      );
      for (const entry of used) entry.requests = 0;
      try {
        await recordSessionUse(db, { requests, tokensUsedAt });
      } catch (error) {
        for (const entry of used) entry.requests += requests.get(entry.session.hash) ?? 0;
        throw error;
      }
    }
    const nowMs = clock();
    if (Math.abs(nowMs - lastPurge) < purgeEveryMs) return;
    lastPurge = nowMs;
    for (const [hash, { session }] of cachedSessions) if (nowMs >= session.expiresAt) evict(hash);
    const inUse = new Set([...cachedSessions.values()].map(({ session }) => session.tokenHash));
    for (const hash of tokens.keys()) if (!inUse.has(hash)) tokens.delete(hash);
  }

  return {
    async create({ user, tokenHash }, record = recordNothing) {
      const sessionId = newSecret();
      const hash = hashSecret(sessionId);
      const createdAt = now();
      const started = await insertSession(
        db,
        {
          hash,
          prefix: sessionId.slice(0, 8),
          uid: user.uid,
          token_hash: tokenHash,
          created_at: createdAt.toISOString(),
          expires_at: new Date(createdAt.getTime() + config.imageSessionTtlSeconds * 1000).toISOString(),
          request_count: 0,
        },
        maxSessionsPerAccount,
        record,
      );
      if (started === null) throw new AppError('token_invalid');
      if (started.endedHashes.length > 0) revocations++;
      for (const endedHash of started.endedHashes) evict(endedHash);
      const expiresAt = Date.parse(started.expiresAt);
      return { sessionId, expiresInSeconds: secondsLeft({ expiresAt }, createdAt) };
    },

    async createForVisitor(tx, link) {
      const sessionId = newSecret();
      const createdAt = now();
      const endsAt = createdAt.getTime() + config.imageSessionTtlSeconds * 1000;
      const expiresAt = Math.min(endsAt, Date.parse(link.expires_at));
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
      return { sessionId, expiresInSeconds: secondsLeft({ expiresAt }, createdAt) };
    },

    resolve,

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
      revocations++;
      evict(hash);
    },

    forget(ended) {
      revocations++;
      for (const [hash, entry] of cachedSessions) {
        const { session } = entry;
        if ('uid' in ended && session.visitor !== null) {
          if (session.uid === ended.uid) entry.checkedAt = Number.NEGATIVE_INFINITY;
        } else if (hasEnded(session, ended)) evict(hash);
      }
    },

    recheck(whose) {
      revocations++;
      for (const entry of cachedSessions.values()) {
        if (whose === undefined || entry.session.uid === whose.uid) {
          entry.checkedAt = Number.NEGATIVE_INFINITY;
        }
      }
    },

    countChanges: () => revocations,

    async deleteExpired() {
      while (await deleteExpiredSessions(db, now().toISOString()));
    },

    async close() {
      if (flushTimer !== null) clearTimeout(flushTimer);
      flushTimer = null;
      await flushing;
      await lookUpRunning;
      await flush().catch((error) =>
        log.warn(
          { err: error },
          'saving request counts of image sessions failed; the counts are lost because the process stops',
        ),
      );
    },
  };
}

function hasEnded(session: ImageSession, ended: Parameters<ImageSessions['forget']>[0]): boolean {
  if ('tokenHash' in ended) return session.tokenHash === ended.tokenHash;
  if ('shareLinkId' in ended) return session.visitor?.linkId === ended.shareLinkId;
  return session.uid === ended.uid && session.tokenHash !== ended.exceptTokenHash;
}
