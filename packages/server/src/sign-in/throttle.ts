/**
 * Rate limits of sign-in, registration, mailed codes and share links (URLs that show slides without an account).
 * domain/throttle-limits.ts has the limits and their reasons. The counters are rows of the database, which survive a
 * restart and which all processes share. The file is long because `guard` states the reasons for the order of checks.
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
  type Connection,
  type Database,
  type DatabaseTransaction,
  runLockedTransaction,
} from '../store/database.ts';
import { deleteExpiredThrottles, deleteThrottles, findThrottles, saveThrottle } from '../store/throttles.ts';
import {
  type Attempt,
  incrementedRow,
  knownNetworkKey,
  type Rule,
  ruleOf,
  rulesOf,
  shareLinkOpeningRules,
  shareLinkRules,
} from './throttle-rules.ts';

/** The secret that a request contains. `password`: a password or a mailed code; `second-factor`: also a code of two-step verification. */
export type AuthenticationStep = 'password' | 'second-factor';

export interface Throttle {
  /** Counts an action that is limited whether or not it succeeds. @throws AppError rate_limited */
  count(action: 'registration' | 'reset-request', attempt: Attempt): Promise<void>;
  /**
   * Counts an e-mail that a client without a sign-in causes. Returns false when the address has received too many e-mails. Call it only
   * after the response, which must not depend on the result.
   */
  mayMail(attempt: Attempt): Promise<boolean>;
  /**
   * Runs `work`, which checks a secret, within the limits.
   *
   * - A wrong secret (`failureCodes`) counts as a failure. When other attempts have reached a limit during the check, the response is 429,
   *   which does not reveal whether the secret was right.
   * - A right secret deletes the counted failures of this account from this network, and its wrong codes from all networks. It makes the
   *   network known for the account, so that fewer limits apply there. If this cannot be stored, the error is logged, and the attempt
   *   still succeeds.
   * - Right secrets of an account are limited too (`successLimits`); this limit is applied after the check. A right password without the
   *   required code of the second factor counts for this limit, but is no success otherwise.
   *
   * @param work checks the secret. In the transaction that acts on a right secret, it calls `requireAllowed`, which
   *   counts the success in this transaction. If `work` does not call it, the success is counted after `work`.
   * @param decoy takes as long as `work` with a wrong secret. It runs instead of `work` when the response is 429 in any case, because
   *   the network is not known for the account. The duration of the response therefore does not reveal which networks are known.
   * @throws AppError rate_limited, and the errors of `work`
   */
  guard<T>(
    step: AuthenticationStep,
    attempt: Attempt,
    work: (requireAllowed: RequireAllowed) => Promise<T>,
    decoy?: () => Promise<unknown>,
  ): Promise<T>;
  /** Checks the limits for wrong passwords of a share link. @throws AppError rate_limited while a limit is reached */
  requireShareLink(origin: Origin, linkId: string): Promise<void>;
  /**
   * Counts a wrong password of a share link, or (`linkId` null) a secret that opens no link, separately from sign-ins.
   *
   * @throws AppError rate_limited when a limit was already reached
   */
  countFailedShareLink(origin: Origin, linkId: string | null): Promise<void>;
  /** Counts an opening of a share link. @throws AppError rate_limited when a limit was already reached */
  countShareLinkOpening(origin: Origin, linkId: string): Promise<void>;
  /** Marks the network of a new account's registration as known. Only logs an error, because the registration has succeeded. */
  rememberNetwork(attempt: Attempt): Promise<void>;
}

/** Counts a success. @throws AppError rate_limited when a limit has been reached since the check began */
export type RequireAllowed = (tx: DatabaseTransaction) => Promise<void>;

/** A limit that was reached: further attempts are rejected for some time. */
interface Block {
  readonly key: string;
  /** End of the block, ISO 8601. */
  readonly until: string;
}

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: Pick<AuditRecorder, 'recordSeparately'>;
  /** False with THROTTLE=off, for load tests from one machine. */
  readonly isOn: boolean;
  readonly metrics: Pick<Metrics, 'rateLimited'>;
  readonly log: Logger;
}

const dayMs = 24 * 60 * 60_000;
/** Minimum interval between two deletions of expired counters. */
const deleteExpiredEveryMs = 60_000;
/** Maximum size of the set of blocks that this process has recorded in the audit log. A full set is cleared. */
const maxRecordedBlocks = 10_000;
/** Maximum number of blocks of share links that this process remembers. A full map is cleared. */
const maxKnownBlocks = 10_000;

export function createThrottle({ db, now, audit, isOn, metrics, log }: Dependencies): Throttle {
  if (!isOn) {
    return {
      count: async () => undefined,
      mayMail: async () => true,
      guard: (_, __, work) => work(async () => undefined),
      requireShareLink: async () => {},
      countFailedShareLink: async () => {},
      countShareLinkOpening: async () => {},
      rememberNetwork: async () => {},
    };
  }

  /** Blocks that this process has recorded in the audit log: key and end of each. */
  const recordedBlocks = new Set<string>();
  const shareLinkBlocks = createKnownBlocks();
  let lastDeletionMs = 0;
  const nowIso = () => now().toISOString();

  /** Returns the block that ends last among the blocks of these rules; null when no rule is blocked. */
  async function findBlock(connection: Connection, rules: readonly Rule[]): Promise<Block | null> {
    const timestamp = nowIso();
    const keys = rules.map(({ key }) => key);
    const blocks = (await findThrottles(connection, keys, timestamp)).flatMap(
      ({ key, blocked_until: until }) => (until !== null && until > timestamp ? [{ key, until }] : []),
    );
    return blocks.toSorted((a, b) => (a.until < b.until ? 1 : -1))[0] ?? null;
  }

  /** Returns whether the account has signed in or registered from the network of the attempt within `knownNetworkMs`. */
  async function isNetworkKnown(attempt: Attempt): Promise<boolean> {
    return (
      attempt.email !== null && (await findThrottles(db, [knownNetworkKey(attempt)], nowIso())).length > 0
    );
  }

  /**
   * Increments the counter of each rule. When one of them is blocked, increments none and returns the block. The lock `throttle` makes
   * concurrent attempts wait for each other, so that each is counted before the next one is checked.
   */
  function incrementUnlessBlocked(rules: readonly Rule[]): Promise<Block | null> {
    return runLockedTransaction(db, 'throttle', async (tx) => {
      const block = await findBlock(tx, rules);
      if (block !== null) return block;
      const time = now();
      await incrementCounts(tx, rules, time);
      // `abs`: the deletion continues even after the clock was set back.
      if (Math.abs(time.getTime() - lastDeletionMs) >= deleteExpiredEveryMs) {
        lastDeletionMs = time.getTime();
        await deleteExpiredThrottles(tx, time.toISOString(), maxThrottleRows);
      }
      return null;
    });
  }

  /** Increments the counters. The transaction must hold the lock `throttle`. */
  async function incrementCounts(tx: DatabaseTransaction, rules: readonly Rule[], time: Date): Promise<void> {
    const keys = rules.map(({ key }) => key);
    const rows = await findThrottles(tx, keys, time.toISOString());
    for (const { key, limit } of rules) {
      const before = rows.find((row) => row.key === key);
      await saveThrottle(tx, incrementedRow(key, limit, before, time));
    }
  }

  /** Counts the rejected attempt in the metrics, and returns its error. */
  function rateLimited(until: string, kind: string): AppError {
    metrics.rateLimited(kind);
    return tooManyAttempts(until, now());
  }

  /** Records a block in the audit log once, no matter how many attempts it rejects. */
  async function recordBlock({ key, until }: Block, kind: string, { origin }: Attempt): Promise<void> {
    const blockId = `${key} ${until}`;
    if (!recordedBlocks.has(blockId)) {
      if (recordedBlocks.size >= maxRecordedBlocks) recordedBlocks.clear();
      recordedBlocks.add(blockId);
      const detail = { what: kind, until };
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

  /** Records the block and throws rate_limited. @param kind kind of attempt, for the audit log and the metrics */
  async function rejectAttempt(block: Block, kind: string, attempt: Attempt): Promise<never> {
    await recordBlock(block, kind, attempt);
    throw rateLimited(block.until, kind);
  }

  async function rejectShareLinkIfBlocked(block: Block | null, origin: Origin): Promise<void> {
    if (block === null) return;
    shareLinkBlocks.add(block);
    await rejectAttempt(block, 'share-link', { origin, email: null });
  }

  /** Increments the counters of a share link. @throws AppError rate_limited when a limit was already reached */
  async function countShareLink(rules: readonly Rule[], origin: Origin): Promise<void> {
    // The cheapest check comes first: most attempts of a flood are rejected from memory, others after a query, and only the rest needs
    // a transaction with a lock.
    const block =
      shareLinkBlocks.find(rules, nowIso()) ??
      (await findBlock(db, rules)) ??
      (await incrementUnlessBlocked(rules));
    await rejectShareLinkIfBlocked(block, origin);
  }

  function markNetworkKnown(tx: DatabaseTransaction, attempt: Attempt): Promise<void> {
    const expiresAt = new Date(now().getTime() + knownNetworkMs).toISOString();
    return saveThrottle(tx, {
      key: knownNetworkKey(attempt),
      count: 1, // not used: the row only states that the network is known
      expires_at: expiresAt,
      blocked_until: null,
    });
  }

  /** Waits for a write and logs its error instead of throwing it, because the sign-in or registration itself has succeeded. */
  async function logWriteError(write: Promise<void>, { origin }: Attempt): Promise<void> {
    try {
      await write;
    } catch (error) {
      log.warn(
        { err: error, requestId: origin.requestId },
        'sign-in rate limit could not be updated after a successful sign-in or registration; earlier failed attempts still count',
      );
    }
  }

  /**
   * Deletes the account's failures from this network and its wrong codes from all networks, and makes the network known. Writes nothing
   * if there are none of these, and the network was made known less than a day ago: a usual sign-in costs no further transaction.
   */
  async function recordSuccess(attempt: Attempt): Promise<void> {
    const failures = [
      ruleOf('failure', 'account-and-network', failureLimits['account-and-network'], attempt).key,
      ruleOf('second factor', 'account', secondFactorLimit, attempt).key,
    ];
    const networkKey = knownNetworkKey(attempt);
    const rows = await findThrottles(db, [...failures, networkKey], nowIso());
    const expiryIfMarkedADayAgo = now().getTime() + knownNetworkMs - dayMs;
    const wasMarkedToday = rows.some(
      ({ key, expires_at }) => key === networkKey && Date.parse(expires_at) > expiryIfMarkedADayAgo,
    );
    if (wasMarkedToday && rows.length === 1) return; // the only row is that of the network
    await runLockedTransaction(db, 'throttle', async (tx) => {
      await deleteThrottles(tx, failures);
      await markNetworkKnown(tx, attempt);
    });
  }

  return {
    async count(action, attempt) {
      const limits = action === 'registration' ? registrationLimits : resetRequestLimits;
      const block = await incrementUnlessBlocked(rulesOf(action, limits, attempt));
      if (block !== null) await rejectAttempt(block, action, attempt);
    },

    async mayMail(attempt) {
      // A known network has a counter of its own, so that strangers cannot stop the e-mails to the owner of the account.
      const subject = (await isNetworkKnown(attempt)) ? 'account-and-network' : 'account';
      const block = await incrementUnlessBlocked([ruleOf('mail', subject, mailLimit, attempt)]);
      if (block !== null) await recordBlock(block, 'mail', attempt);
      return block === null;
    },

    async guard(step, attempt, work, decoy = async () => undefined) {
      const { 'account-and-network': accountAndNetwork, ...otherLimits } = failureLimits;
      /** Limits that do not apply in a network from which the account has signed in before. */
      const strangerRules = rulesOf('failure', otherLimits, attempt);
      /** Limits that apply in every network. */
      const commonRules = [
        ...rulesOf('failure', { 'account-and-network': accountAndNetwork }, attempt),
        ruleOf('every failure', 'network', allFailuresOfNetwork, attempt),
      ];
      const codeRules =
        step === 'second-factor' ? [ruleOf('second factor', 'account', secondFactorLimit, attempt)] : [];
      const successRules = attempt.email === null ? [] : rulesOf('success', successLimits, attempt);
      const isKnown = await isNetworkKnown(attempt);
      const block = await findBlock(db, [...commonRules, ...codeRules]);
      if (block !== null) return rejectAttempt(block, step, attempt);
      /** Block for networks that are not known for the account. */
      const strangersBlock = await findBlock(db, strangerRules);
      // Attempts during a block do not increment its counter; otherwise a stranger could extend the block without end.
      const failureRules = strangersBlock === null ? [...commonRules, ...strangerRules] : commonRules;

      if (strangersBlock !== null && !isKnown) {
        await decoy();
        // The common limits also count the attempts that are rejected here.
        const newCommonBlock = await incrementUnlessBlocked(commonRules);
        return rejectAttempt(newCommonBlock ?? strangersBlock, step, attempt);
      }
      let isSuccessCounted = successRules.length === 0;
      /** A block that another attempt has caused during `work`. */
      let blockDuringWork: Block | null = null;
      try {
        const result = await work(async (tx) => {
          await acquireLock(tx, 'throttle');
          const rules = [...commonRules, ...codeRules, ...(isKnown ? [] : strangerRules), ...successRules];
          blockDuringWork = await findBlock(tx, rules);
          if (blockDuringWork !== null) throw tooManyAttempts(blockDuringWork.until, now());
          await incrementCounts(tx, successRules, now());
          isSuccessCounted = true;
        });
        if (!isSuccessCounted) blockDuringWork = await incrementUnlessBlocked(successRules);
        if (blockDuringWork !== null) throw tooManyAttempts(blockDuringWork.until, now());
        if (attempt.email !== null) await logWriteError(recordSuccess(attempt), attempt);
        return result;
      } catch (error) {
        if (blockDuringWork !== null) return rejectAttempt(blockDuringWork, step, attempt);
        if (isCodeMissing(error)) {
          const successBlock = await incrementUnlessBlocked(successRules);
          if (successBlock !== null) return rejectAttempt(successBlock, step, attempt);
        }
        if (!isWrongSecret(error)) throw error;
        // A code is only checked after the right password, so a 429 because of wrong codes does not reveal whether an account exists.
        const isWrongCode = error.code === 'second_factor_invalid';
        const newBlock = await incrementUnlessBlocked(
          isWrongCode ? [...failureRules, ...codeRules] : failureRules,
        );
        // While other networks are blocked, a wrong password from a known network also gets 429, so that it does not reveal the network.
        const blockOfFailure = newBlock ?? (isWrongCode ? null : strangersBlock);
        if (blockOfFailure !== null) return rejectAttempt(blockOfFailure, step, attempt);
        throw error;
      }
    },

    async requireShareLink(origin, linkId) {
      const rules = shareLinkRules(origin, linkId);
      await rejectShareLinkIfBlocked(
        shareLinkBlocks.find(rules, nowIso()) ?? (await findBlock(db, rules)),
        origin,
      );
    },

    countFailedShareLink: (origin, linkId) => countShareLink(shareLinkRules(origin, linkId), origin),
    countShareLinkOpening: (origin, linkId) => countShareLink(shareLinkOpeningRules(origin, linkId), origin),

    rememberNetwork: (attempt) =>
      logWriteError(
        runLockedTransaction(db, 'throttle', (tx) => markNetworkKnown(tx, attempt)),
        attempt,
      ),
  };
}

/**
 * Keeps the blocks of share links that this process has seen, so that a flood of guesses is rejected without a query. This is possible
 * because such a block ends only when its time is over. A block of sign-ins also ends with a success, so it is always queried.
 */
function createKnownBlocks() {
  /** End of the block (ISO 8601) by key of the counter. */
  const blockEndByKey = new Map<string, string>();
  return {
    find(rules: readonly Rule[], timestamp: string): Block | null {
      for (const { key } of rules) {
        const until = blockEndByKey.get(key);
        if (until !== undefined && until > timestamp) return { key, until };
      }
      return null;
    },
    add({ key, until }: Block): void {
      if (blockEndByKey.size >= maxKnownBlocks) blockEndByKey.clear();
      blockEndByKey.set(key, until);
    },
  };
}

/** Errors that mean that the secret was wrong, so that the attempt counts as a failure. */
const failureCodes: ReadonlySet<ErrorCode> = new Set([
  'credentials_invalid',
  'second_factor_invalid',
  'reset_link_invalid',
  'confirmation_link_invalid',
  'reauth_required',
]);

function isWrongSecret(error: unknown): error is AppError {
  return error instanceof AppError && failureCodes.has(error.code);
}

/** Returns whether the password was right, but the code of the second factor is missing. */
function isCodeMissing(error: unknown): boolean {
  return error instanceof AppError && error.code === 'second_factor_required';
}

function tooManyAttempts(until: string, now: Date): AppError {
  const seconds = Math.max(1, Math.ceil((Date.parse(until) - now.getTime()) / 1000));
  return new AppError('rate_limited', { reason: 'too_many_attempts', retryAfterSeconds: seconds });
}
