/**
 * Image sessions: made from a sign-in, found again in memory for every tile, ended everywhere at once.
 *
 * The database decides; memory answers. What memory knows of a session is at most a second old: the sessions
 * in use are looked up again every half second, all of them in one query, and no request waits for it.
 */
import { AppError, type ImageSessionStats, may } from '@lamina/contract';
import type { Logger } from 'pino';
import { createBelief } from './belief.ts';
import { isFromTheFuture } from './clock.ts';
import type { Config } from './config.ts';
import { standing as accountStanding, isFromBeforeExpiry } from './domain/account.ts';
import { type ImageSession, maxSessionsPerAccount, secondsLeft } from './domain/image-session.ts';

import { hashSecret, newSecret } from './secrets.ts';
import { tokenIdleMs } from './sign-in/embedded.ts';
import type { ResolvedToken } from './sign-in/sign-in-service.ts';
import { type Change, change, type Database, isMissingReference } from './store/database.ts';
import { insertOpening } from './store/image-openings.ts';
import {
  addSessionUse,
  deleteExpiredSessions,
  deleteSession,
  findSessionStandings,
  insertSession,
  listSessionStandings,
  type SessionStanding,
} from './store/image-sessions.ts';

export interface ImageSessions {
  /**
   * `record` writes it down in the same change.
   *
   * @throws AppError token_invalid when the sign-in has ended meanwhile
   */
  create(
    caller: ResolvedToken,
    record?: (tx: Change) => Promise<void>,
  ): Promise<{ readonly sessionId: string; readonly expiresInSeconds: number }>;
  /**
   * Null for a session that never was or has ended. Counts the request and keeps the sign-in alive.
   * A promise only when the database has to be asked.
   *
   * @throws AppError unavailable when the database cannot be asked
   */
  resolve(sessionId: string): ImageSession | null | Promise<ImageSession | null>;
  /**
   * What `resolve` would let in, not yet counted; null where it would refuse, and for a session that memory has never
   * heard of. A promise where what memory knows has to be looked up again.
   *
   * @throws what asking the database throws
   */
  inMemory(sessionId: string): ImageSession | null | Promise<ImageSession | null>;
  /** Counts a request that `inMemory` let in, at the moment of its answer. */
  count(session: ImageSession, at: Date): void;
  /** The account's own, newest first. */
  statsOf(uid: string): Promise<ImageSessionStats>;
  /** Ends a session of this account; `record` writes it down in the same change. @throws AppError not_found for any other */
  revoke(uid: string, sessionId: string, record?: (tx: Change) => Promise<void>): Promise<void>;
  /** After a revocation has been committed: drops from memory what went with it. */
  forget(
    ended: { readonly uid: string; readonly exceptTokenHash?: string } | { readonly tokenHash: string },
  ): void;
  /**
   * After what may be seen has changed: what memory knows of these sessions is not believed before the database has
   * been asked again. All of them without an account.
   */
  recheck(whose?: { readonly uid: string }): void;
  /**
   * An image is opened in a session. Once for each image and session, whichever process is asked, `record` writes that
   * down in the same change.
   *
   * @throws AppError session_invalid when the session has ended meanwhile
   */
  opened(session: ImageSession, imageId: string, record: (tx: Change) => Promise<void>): Promise<void>;
  /** Removes what has ended from the database. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

/** A look-up this old is renewed in the background when the session is used. */
const renewAfterMs = 500;
/**
 * So long after its last request a session is looked up with the others: whoever looks at a field for some seconds does
 * not wait for the database at the next one, and the database is not asked about each viewer by himself.
 */
const keptFreshForMs = 10_000;
const flushEveryMs = 5000;
const purgeEveryMs = 10 * 60_000;
const maxKnownDead = 10_000;

/** One sign-in, shared by the sessions made from it. */
interface Token {
  usedAt: number;
}

interface Live {
  session: ImageSession;
  readonly token: Token;
  readonly openedImages: Set<string>;
  /** When the database was last asked about it. */
  checkedAt: number;
  /** Here; long ago before the first time. */
  usedAt: number;
  /** Not yet added to the database. */
  requests: number;
}

const nothingMore = async () => {};

interface Ground {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
}

export async function createImageSessions({ config, db, now, log }: Ground): Promise<ImageSessions> {
  const live = new Map<string, Live>();
  /** Of those, by their ids, so that the tiles of one view are not hashed one by one. No id stays for long. */
  const justUsed = new Map<string, Live>();
  const tokens = new Map<string, Token>();
  /** Hashes that were found to be nobody's. They stay so: an id is never given twice, an ended one never revives. */
  const dead = new Set<string>();
  /** Grows with every revocation, so that an answer that was read before it is not believed after it. */
  let revocations = 0;
  let lastRenewal = 0;
  const clock = () => now().getTime();
  const belief = createBelief(clock);

  function drop(hash: string): void {
    if (live.delete(hash)) justUsed.clear();
    if (dead.size >= maxKnownDead) dead.clear();
    dead.add(hash);
  }

  function keep(standing: SessionStanding, checkedAt: number): void {
    const { closedDatasets } = standing;
    const seesHidden = may(standing, 'catalogue.write');
    const usedAt = Date.parse(standing.token_last_used_at);
    const token = tokens.get(standing.token_hash) ?? { usedAt };
    token.usedAt = Math.max(token.usedAt, usedAt);
    tokens.set(standing.token_hash, token);
    const known = live.get(standing.hash);
    if (known !== undefined) {
      known.checkedAt = checkedAt;
      if (known.session.closedDatasets !== closedDatasets || known.session.seesHidden !== seesHidden) {
        known.session = { ...known.session, closedDatasets, seesHidden };
      }
      return;
    }
    live.set(standing.hash, {
      session: {
        hash: standing.hash,
        uid: standing.uid,
        tokenHash: standing.token_hash,
        createdAt: Date.parse(standing.created_at),
        expiresAt: Date.parse(standing.expires_at),
        closedDatasets,
        seesHidden,
      },
      token,
      openedImages: new Set(),
      checkedAt,
      usedAt: Number.NEGATIVE_INFINITY,
      requests: 0,
    });
  }

  function isGood(standing: Omit<SessionStanding, 'closedDatasets'>, at: number): boolean {
    const usedAt = Math.max(
      Date.parse(standing.token_last_used_at),
      tokens.get(standing.token_hash)?.usedAt ?? 0,
    );
    const { status, role, account_expires_at: expiresAt } = standing;
    const now = new Date(at);
    const account = accountStanding({ status, role, expiresAt }, now);
    return (
      may(account, 'image.view') &&
      !isFromBeforeExpiry(new Date(standing.token_created_at), account, now) &&
      !isFromTheFuture(new Date(standing.created_at), now) &&
      !isFromTheFuture(new Date(usedAt), now) &&
      at < Date.parse(standing.expires_at) &&
      at < Date.parse(standing.token_expires_at) &&
      at < usedAt + tokenIdleMs
    );
  }

  // One query at a time: whoever comes meanwhile is asked about in the next one, all together. So guessing
  // costs one connection at most.
  let waiting = new Set<string>();
  let nextLookUp: Promise<void> | null = null;
  let lookUpRunning: Promise<void> = Promise.resolve();

  function lookUp(hash: string): Promise<void> {
    waiting.add(hash);
    nextLookUp ??= lookUpRunning.then(() => {
      const hashes = [...waiting];
      waiting = new Set();
      nextLookUp = null;
      const lookingUp = askDatabase(hashes);
      lookUpRunning = lookingUp.catch(() => {}); // whoever waits for this one is told; the next one starts anew
      return lookingUp;
    });
    return nextLookUp;
  }

  async function askDatabase(hashes: readonly string[]): Promise<void> {
    for (;;) {
      const askedAt = clock();
      const revocationsBefore = revocations;
      const standings = await belief.ask(() => findSessionStandings(db, hashes));
      if (revocations !== revocationsBefore) continue;
      const found = new Map(standings.map((standing) => [standing.hash, standing]));
      for (const hash of hashes) {
        const standing = found.get(hash);
        if (standing !== undefined && isGood(standing, askedAt)) keep(standing, askedAt);
        else drop(hash);
      }
      return;
    }
  }

  /** Looks up again, in the background, every session that was used lately. */
  function renewInBackground(at: number): void {
    if (Math.abs(at - lastRenewal) < renewAfterMs) return;
    lastRenewal = at;
    justUsed.clear();
    let lookingUp: Promise<void> | undefined;
    for (const [hash, entry] of live) {
      if (Math.abs(at - entry.usedAt) < keptFreshForMs) lookingUp = lookUp(hash);
    }
    lookingUp?.catch((error) => log.warn({ err: error }, 'image sessions could not be looked up'));
  }

  function use(entry: Live, at: number): ImageSession {
    entry.usedAt = at;
    entry.requests++;
    entry.token.usedAt = at;
    flushSoon();
    renewInBackground(at);
    return entry.session;
  }

  const isSessionId = (text: string) => /^[\w-]{43}$/.test(text);

  /** Undefined for one that memory does not know. */
  function liveEntryOf(sessionId: string): Live | undefined {
    const known = justUsed.get(sessionId);
    if (known !== undefined) return known;
    const entry = isSessionId(sessionId) ? live.get(hashSecret(sessionId)) : undefined;
    if (entry !== undefined) justUsed.set(sessionId, entry);
    return entry;
  }

  /** Whether memory alone lets it in now. */
  function isGoodInMemory(entry: Live, at: number): boolean {
    const isTokenInUse = at < entry.token.usedAt + tokenIdleMs;
    return at < entry.session.expiresAt && isTokenInUse && belief.holds(entry.checkedAt, at);
  }

  function resolve(sessionId: string): ImageSession | null | Promise<ImageSession | null> {
    if (!isSessionId(sessionId)) return null;
    const hash = hashSecret(sessionId);
    const at = clock();
    const entry = live.get(hash);
    if (entry === undefined) return dead.has(hash) ? null : resolveByLookUp(hash);
    if (at >= entry.session.expiresAt) {
      drop(hash);
      return null;
    }
    return isGoodInMemory(entry, at) ? use(entry, at) : resolveByLookUp(hash);
  }

  async function resolveByLookUp(hash: string): Promise<ImageSession | null> {
    try {
      await lookUp(hash);
    } catch (error) {
      const known = live.get(hash);
      const at = clock();
      if (known !== undefined && isGoodInMemory(known, at)) return use(known, at);
      throw new AppError('unavailable', { cause: error });
    }
    const entry = live.get(hash);
    return entry === undefined ? null : use(entry, clock());
  }

  let flushTimer: NodeJS.Timeout | null = null;
  let flushing: Promise<void> = Promise.resolve();
  let lastPurge = clock();

  function flushSoon(): void {
    flushTimer ??= setTimeout(() => {
      flushTimer = null;
      justUsed.clear();
      flushing = flush().catch((error) => log.warn({ err: error }, 'request counts could not be saved'));
    }, flushEveryMs).unref();
  }

  async function flush(): Promise<void> {
    const used = [...live.values()].filter(({ requests }) => requests > 0);
    if (used.length > 0) {
      const requests = new Map(used.map((entry) => [entry.session.hash, entry.requests]));
      const tokensUsedAt = new Map(
        used.map(({ session, token }) => [session.tokenHash, new Date(token.usedAt)]),
      );
      for (const entry of used) entry.requests = 0;
      try {
        await addSessionUse(db, { requests, tokensUsedAt });
      } catch (error) {
        for (const entry of used) entry.requests += requests.get(entry.session.hash) ?? 0;
        throw error;
      }
    }
    const at = clock();
    if (Math.abs(at - lastPurge) < purgeEveryMs) return;
    lastPurge = at;
    for (const [hash, { session }] of live) if (at >= session.expiresAt) drop(hash);
    const inUse = new Set([...live.values()].map(({ session }) => session.tokenHash));
    for (const hash of tokens.keys()) if (!inUse.has(hash)) tokens.delete(hash);
  }

  return {
    async create({ user, tokenHash }, record = nothingMore) {
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
      for (const ended of started.endedHashes) drop(ended);
      const expiresAt = Date.parse(started.expiresAt);
      return { sessionId, expiresInSeconds: secondsLeft({ expiresAt }, createdAt) };
    },

    resolve,

    inMemory(sessionId) {
      const entry = liveEntryOf(sessionId);
      if (entry === undefined) return null;
      const { session } = entry;
      if (isGoodInMemory(entry, clock())) return session;
      return lookUp(session.hash).then(() => {
        const current = live.get(session.hash);
        return current !== undefined && isGoodInMemory(current, clock()) ? current.session : null;
      });
    },

    count({ hash }, at) {
      const entry = live.get(hash);
      if (entry !== undefined) use(entry, at.getTime());
    },

    async statsOf(uid) {
      const at = now();
      const mine = (await listSessionStandings(db, uid)).filter((standing) => isGood(standing, at.getTime()));
      return {
        active_sessions: mine.length,
        sessions: mine.map((standing) => ({
          session_id: standing.prefix,
          created_at: standing.created_at,
          expires_in: secondsLeft({ expiresAt: Date.parse(standing.expires_at) }, at),
          age: Math.max(0, Math.floor((at.getTime() - Date.parse(standing.created_at)) / 1000)),
          request_count: standing.request_count + (live.get(standing.hash)?.requests ?? 0),
        })),
      };
    },

    async revoke(uid, sessionId, record = nothingMore) {
      const hash = hashSecret(sessionId);
      await change(db, 'audit', async (tx) => {
        if (!(await deleteSession(tx, uid, hash))) throw new AppError('not_found');
        await record(tx);
      });
      revocations++;
      drop(hash);
    },

    forget(ended) {
      revocations++;
      for (const [hash, { session }] of live) {
        const isEnded =
          'tokenHash' in ended
            ? session.tokenHash === ended.tokenHash
            : session.uid === ended.uid && session.tokenHash !== ended.exceptTokenHash;
        if (isEnded) drop(hash);
      }
    },

    recheck(whose) {
      revocations++;
      for (const entry of live.values()) {
        if (whose === undefined || entry.session.uid === whose.uid) {
          entry.checkedAt = Number.NEGATIVE_INFINITY;
        }
      }
    },

    async opened({ hash }, imageId, record) {
      if (live.get(hash)?.openedImages.has(imageId)) return;
      try {
        await change(db, 'audit', async (tx) => {
          if (await insertOpening(tx, hash, imageId)) await record(tx);
        });
      } catch (error) {
        if (isMissingReference(error)) throw new AppError('session_invalid');
        throw error;
      }
      live.get(hash)?.openedImages.add(imageId);
    },

    async sweep() {
      while (await deleteExpiredSessions(db, now().toISOString()));
    },

    async close() {
      if (flushTimer !== null) clearTimeout(flushTimer);
      flushTimer = null;
      await flushing;
      await lookUpRunning;
      await flush().catch((error) => log.warn({ err: error }, 'request counts could not be saved'));
    },
  };
}
