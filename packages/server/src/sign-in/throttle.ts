/**
 * Rate limits of sign-in, registration and mailed codes. The limits and their reasons are in domain/throttle-limits.ts;
 * the counts are rows of the database, so that they hold across processes and restarts.
 */
import { AppError, type ErrorCode } from '@lamina/contract';
import type { Logger } from 'pino';
import type { AuditRecorder, Origin } from '../audit/audit-recorder.ts';
import {
  allFailuresOfNetwork,
  failureLimits,
  knownNetworkMs,
  mailLimit,
  maxThrottleRows,
  registrationLimits,
  resetRequestLimits,
  secondFactorLimit,
  successLimits,
} from '../domain/throttle-limits.ts';
import type { Metrics } from '../metrics/metrics.ts';
import {
  acquireLock,
  type Change,
  type Connection,
  type Database,
  runLockedTransaction,
} from '../store/database.ts';
import { deleteExpiredThrottles, deleteThrottles, findThrottles, putThrottle } from '../store/throttles.ts';
import {
  type Attempt,
  incremented,
  knownNetworkKey,
  type Rule,
  ruleOf,
  rulesOf,
  shareLinkRules,
} from './throttle-rules.ts';

/** `password`: a password or a mailed code; `second-factor`: also a code of two-step verification. */
export type AuthenticationStep = 'password' | 'second-factor';

export interface Throttle {
  /** Counts an action that is limited whether or not it succeeds. @throws AppError rate_limited */
  count(what: 'registration' | 'reset-request', attempt: Attempt): Promise<void>;
  /**
   * Counts an e-mail that an anonymous client causes. Returns false when the address has received too many. To be called
   * after the response, which must not depend on the result.
   */
  mayMail(attempt: Attempt): Promise<boolean>;
  /**
   * Checks a secret within the limits. A failure counts (`failureCodes`); if other attempts have used up a limit
   * meanwhile, the response says nothing about the secret. A success deletes the failures of this account from this
   * network and makes the network known; when that cannot be stored, the error is logged and the success stands.
   * Successes of an account are limited too (`successLimits`), after the secret has been checked.
   *
   * @param work calls `requireAllowed` in the transaction that acts on a right secret; the success is counted in
   *   that transaction. Without such a call it is counted afterwards.
   * @param decoy takes as long as `work` with a wrong secret. It runs instead of `work` when the response is 429 anyway
   *   and the network is not known, so that the duration does not show which networks an account is known from.
   * @throws AppError rate_limited
   */
  guard<T>(
    step: AuthenticationStep,
    attempt: Attempt,
    work: (requireAllowed: RequireAllowed) => Promise<T>,
    decoy?: () => Promise<unknown>,
  ): Promise<T>;
  /** @throws AppError rate_limited while wrong passwords of a share link have reached a limit */
  requireShareLink(origin: Origin, linkId: string): Promise<void>;
  /**
   * Counts a failure with a share link: a wrong password, or with null a secret that opens nothing. These counts are
   * separate from those of sign-ins, and stop no one who has the right secret.
   *
   * @throws AppError rate_limited when a limit has been reached before
   */
  failShareLink(origin: Origin, linkId: string | null): Promise<void>;
  /** Marks the network of a new account's registration as known. Only logs an error, because the registration has succeeded. */
  rememberNetwork(attempt: Attempt): Promise<void>;
}

/** @throws AppError rate_limited when a limit has been reached since the check began */
export type RequireAllowed = (tx: Change) => Promise<void>;

interface Block {
  readonly key: string;
  /** ISO 8601. */
  readonly until: string;
}

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: Pick<AuditRecorder, 'recordSeparately'>;
  /** False for load tests that come from one machine. */
  readonly isOn: boolean;
  readonly metrics: Pick<Metrics, 'rateLimited'>;
  readonly log: Logger;
}

const dayMs = 24 * 60 * 60_000;
/** Expired rows are deleted at most this often. */
const deleteExpiredEveryMs = 60_000;
/** Size of the set of blocks that this process has recorded in the audit log; the set is emptied at this size. */
const maxRecorded = 10_000;
/** Maximum number of blocks that a process remembers; at this number it forgets all of them. */
const maxKnownBlocks = 10_000;

export function createThrottle({ db, now, audit, isOn, metrics, log }: Dependencies): Throttle {
  if (!isOn) {
    return {
      count: async () => undefined,
      mayMail: async () => true,
      guard: (_, __, work) => work(async () => undefined),
      requireShareLink: async () => {},
      failShareLink: async () => {},
      rememberNetwork: async () => {},
    };
  }

  const recorded = new Set<string>();
  const shareLinkBlocks = createKnownBlocks();
  let expiredDeletedAt = 0;
  const nowText = () => now().toISOString();

  /** Returns the block that lasts longest; null when nothing is blocked. */
  async function findBlock(connection: Connection, rules: readonly Rule[]): Promise<Block | null> {
    const at = nowText();
    const keys = rules.map(({ key }) => key);
    const blocks = (await findThrottles(connection, keys, at)).flatMap(({ key, blocked_until: until }) =>
      until !== null && until > at ? [{ key, until }] : [],
    );
    return blocks.toSorted((a, b) => (a.until < b.until ? 1 : -1))[0] ?? null;
  }

  async function isKnown(attempt: Attempt): Promise<boolean> {
    return (
      attempt.email !== null && (await findThrottles(db, [knownNetworkKey(attempt)], nowText())).length > 0
    );
  }

  /** Counts once for each rule. When one of them is blocked, counts nothing and returns the block. */
  function addUnlessBlocked(rules: readonly Rule[]): Promise<Block | null> {
    return runLockedTransaction(db, 'throttle', async (tx) => {
      const block = await findBlock(tx, rules);
      if (block !== null) return block;
      const at = now();
      await incrementCounts(tx, rules, at);
      if (Math.abs(at.getTime() - expiredDeletedAt) >= deleteExpiredEveryMs) {
        expiredDeletedAt = at.getTime();
        await deleteExpiredThrottles(tx, at.toISOString(), maxThrottleRows);
      }
      return null;
    });
  }

  /** Increments the counters; to be called in a transaction that holds the lock `throttle`. */
  async function incrementCounts(tx: Change, rules: readonly Rule[], at: Date): Promise<void> {
    const keys = rules.map(({ key }) => key);
    const rows = await findThrottles(tx, keys, at.toISOString());
    for (const { key, limit } of rules) {
      const before = rows.find((row) => row.key === key);
      await putThrottle(tx, incremented(key, limit, before, at));
    }
  }

  function rateLimited(until: string, what: string): AppError {
    metrics.rateLimited(what);
    return tooManyAttempts(until, now());
  }

  /** Records a block in the audit log once, however many attempts it stops. */
  async function recordBlock({ key, until }: Block, what: string, { origin }: Attempt): Promise<void> {
    const block = `${key} ${until}`;
    if (!recorded.has(block)) {
      if (recorded.size >= maxRecorded) recorded.clear();
      recorded.add(block);
      const detail = { what, until };
      await audit.recordSeparately({
        action: 'throttled',
        result: 'refused',
        actor: null,
        target: null,
        detail,
        origin,
      });
    }
  }

  async function refuse(block: Block, what: string, attempt: Attempt): Promise<never> {
    await recordBlock(block, what, attempt);
    throw rateLimited(block.until, what);
  }

  async function refuseShareLink(block: Block | null, origin: Origin): Promise<void> {
    if (block === null) return;
    shareLinkBlocks.add(block);
    await refuse(block, 'share-link', { origin, email: null });
  }

  function markKnown(tx: Change, attempt: Attempt): Promise<void> {
    const expiresAt = new Date(now().getTime() + knownNetworkMs).toISOString();
    return putThrottle(tx, {
      key: knownNetworkKey(attempt),
      count: 1,
      expires_at: expiresAt,
      blocked_until: null,
    });
  }

  /** Logs an error instead of throwing it: the action that came before has succeeded and must not appear to have failed. */
  async function logError(writing: Promise<void>): Promise<void> {
    try {
      await writing;
    } catch (error) {
      log.warn(
        { err: error },
        'rate limit update after a successful sign-in failed; earlier failed attempts still count',
      );
    }
  }

  /** Writes only when something changes, so that a usual sign-in costs no further transaction. */
  async function recordSuccess(attempt: Attempt): Promise<void> {
    const failures = [
      ruleOf('failure', 'account-and-network', failureLimits['account-and-network'], attempt).key,
      ruleOf('second factor', 'account', secondFactorLimit, attempt).key,
    ];
    const known = knownNetworkKey(attempt);
    const rows = await findThrottles(db, [...failures, known], nowText());
    const renewAt = now().getTime() + knownNetworkMs - dayMs;
    const isFresh = rows.some(({ key, expires_at }) => key === known && Date.parse(expires_at) > renewAt);
    if (isFresh && rows.length === 1) return;
    await runLockedTransaction(db, 'throttle', async (tx) => {
      await deleteThrottles(tx, failures);
      await markKnown(tx, attempt);
    });
  }

  return {
    async count(what, attempt) {
      const limits = what === 'registration' ? registrationLimits : resetRequestLimits;
      const block = await addUnlessBlocked(rulesOf(what, limits, attempt));
      if (block !== null) await refuse(block, what, attempt);
    },

    async mayMail(attempt) {
      const subject = (await isKnown(attempt)) ? 'account-and-network' : 'account';
      const block = await addUnlessBlocked([ruleOf('mail', subject, mailLimit, attempt)]);
      if (block !== null) await recordBlock(block, 'mail', attempt);
      return block === null;
    },

    async guard(step, attempt, work, decoy = async () => undefined) {
      const { 'account-and-network': accountAndNetwork, ...otherLimits } = failureLimits;
      const strangerRules = rulesOf('failure', otherLimits, attempt);
      const commonRules = [
        ...rulesOf('failure', { 'account-and-network': accountAndNetwork }, attempt),
        ruleOf('every failure', 'network', allFailuresOfNetwork, attempt),
      ];
      const codeRules =
        step === 'second-factor' ? [ruleOf('second factor', 'account', secondFactorLimit, attempt)] : [];
      const successRules = attempt.email === null ? [] : rulesOf('success', successLimits, attempt);
      const known = await isKnown(attempt);
      const block = await findBlock(db, [...commonRules, ...codeRules]);
      if (block !== null) return refuse(block, step, attempt);
      const strangersBlock = await findBlock(db, strangerRules);
      // Attempts during a block do not prolong it; otherwise a stranger could extend it without end.
      const failureRules = strangersBlock === null ? [...commonRules, ...strangerRules] : commonRules;

      if (strangersBlock !== null && !known) {
        await decoy();
        return refuse((await addUnlessBlocked(failureRules)) ?? strangersBlock, step, attempt);
      }
      let isCounted = successRules.length === 0;
      let blockSince: Block | null = null;
      try {
        const result = await work(async (tx) => {
          await acquireLock(tx, 'throttle');
          const rules = [...commonRules, ...codeRules, ...(known ? [] : strangerRules), ...successRules];
          blockSince = await findBlock(tx, rules);
          if (blockSince !== null) throw tooManyAttempts(blockSince.until, now());
          await incrementCounts(tx, successRules, now());
          isCounted = true;
        });
        if (!isCounted) blockSince = await addUnlessBlocked(successRules);
        if (blockSince !== null) throw tooManyAttempts(blockSince.until, now());
        if (attempt.email !== null) await logError(recordSuccess(attempt));
        return result;
      } catch (error) {
        if (blockSince !== null) return refuse(blockSince, step, attempt);
        if (!isFailure(error)) throw error;
        // The code is checked only after the right password, so this counter reveals nothing about the address.
        const isCode = error.code === 'second_factor_invalid';
        const newBlock = await addUnlessBlocked(isCode ? [...failureRules, ...codeRules] : failureRules);
        const refusedBy = newBlock ?? (isCode ? null : strangersBlock);
        if (refusedBy !== null) return refuse(refusedBy, step, attempt);
        throw error;
      }
    },

    async requireShareLink(origin, linkId) {
      const rules = shareLinkRules(origin, linkId);
      await refuseShareLink(shareLinkBlocks.find(rules, nowText()) ?? (await findBlock(db, rules)), origin);
    },

    async failShareLink(origin, linkId) {
      const rules = shareLinkRules(origin, linkId);
      // Cheapest check first: most attempts of a flood end in memory, others with a query, and only the rest need a lock.
      const block =
        shareLinkBlocks.find(rules, nowText()) ??
        (await findBlock(db, rules)) ??
        (await addUnlessBlocked(rules));
      await refuseShareLink(block, origin);
    },

    rememberNetwork: (attempt) =>
      logError(runLockedTransaction(db, 'throttle', (tx) => markKnown(tx, attempt))),
  };
}

/**
 * Blocks of share links that this process has seen. Such a block ends with time alone, so a flood of guesses is refused
 * without a query; blocks of sign-ins also end with a success and are always read from the database.
 */
function createKnownBlocks() {
  const known = new Map<string, string>();
  return {
    find(rules: readonly Rule[], at: string): Block | null {
      for (const { key } of rules) {
        const until = known.get(key);
        if (until !== undefined && until > at) return { key, until };
      }
      return null;
    },
    add({ key, until }: Block): void {
      if (known.size >= maxKnownBlocks) known.clear();
      known.set(key, until);
    },
  };
}

/** Errors that count as a failure: a wrong secret. */
const failureCodes: ReadonlySet<ErrorCode> = new Set([
  'credentials_invalid',
  'second_factor_invalid',
  'reset_link_invalid',
  'confirmation_link_invalid',
  'reauth_required',
]);

function isFailure(error: unknown): error is AppError {
  return error instanceof AppError && failureCodes.has(error.code);
}

function tooManyAttempts(until: string, now: Date): AppError {
  const seconds = Math.max(1, Math.ceil((Date.parse(until) - now.getTime()) / 1000));
  return new AppError('rate_limited', { reason: 'too_many_attempts', retryAfterSeconds: seconds });
}
