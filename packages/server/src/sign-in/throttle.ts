/**
 * Slows down whoever tries too often. The limits, and their reasons, are in domain/throttle-limits.ts; the counts are
 * rows, so that they hold across processes and restarts.
 */
import { AppError } from '@lamina/contract';
import type { Logger } from 'pino';
import type { Audit, Origin } from '../audit.ts';
import { emailKey } from '../domain/email.ts';
import { networkOf } from '../domain/network-of.ts';
import {
  failureLimits,
  failuresOfKnownNetwork,
  knownNetworkMs,
  type Limit,
  maxThrottleRows,
  registrationLimits,
  resetRequestLimits,
  type Subject,
  secondFactorLimit,
  waitMs,
} from '../domain/throttle-limits.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { hashSecret } from '../secrets.ts';
import { type Change, type Connection, change, type Database } from '../store/database.ts';
import type { Row } from '../store/schema.ts';
import { deleteThrottles, findThrottles, putThrottle, sweepThrottles } from '../store/throttles.ts';

/** Who tries: from where, and for which account. */
export interface Trying {
  readonly origin: Origin;
  /** Of the account, whether or not there is one; null where none is named. */
  readonly email: string | null;
}

/** `password`: a password or a mailed code; `second-factor`: besides, a code of the second step. */
export type Door = 'password' | 'second-factor';

export interface Throttle {
  /** Counts something that is limited whether or not it succeeds. @throws AppError rate_limited */
  count(what: 'registration' | 'reset-request', trying: Trying): Promise<void>;
  /**
   * Tries a secret. A failure counts (`credentials_invalid`, `second_factor_invalid`, `reset_link_invalid`,
   * `reauth_required`, and `invalid_request` about the code); when others have used up the limit meanwhile, the
   * answer says nothing about the secret. A success forgets the failures of this account from this network, and
   * makes the network known; that this cannot be written down is logged, and the success stays one.
   *
   * @param work calls `requireOpen` in the transaction that acts upon a right secret
   * @throws AppError rate_limited
   */
  guard<T>(door: Door, trying: Trying, work: (requireOpen: RequireOpen) => Promise<T>): Promise<T>;
  /**
   * The owner of a new account has chosen its password from here. That this cannot be written down is logged: what it
   * follows has been done.
   */
  know(trying: Trying): Promise<void>;
}

/** @throws AppError rate_limited, when too much has been tried by now */
export type RequireOpen = (tx: Change) => Promise<void>;

/** A count that is limited. */
interface Rule {
  readonly key: string;
  readonly limit: Limit;
}

interface Blocked {
  readonly key: string;
  /** ISO 8601. */
  readonly until: string;
}

interface Ground {
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: Pick<Audit, 'note'>;
  /** Off for loads that come from one machine. */
  readonly isOn: boolean;
  readonly metrics: Pick<Metrics, 'rateLimited'>;
  readonly log: Logger;
}

const dayMs = 24 * 60 * 60_000;
/** What has ended is swept away at most this often. */
const sweepEveryMs = 60_000;
/** Blocks that this process has put on record already; beyond so many it starts anew. */
const maxRecorded = 10_000;

export function createThrottle({ db, now, audit, isOn, metrics, log }: Ground): Throttle {
  if (!isOn) {
    return {
      count: async () => undefined,
      guard: (_, __, work) => work(async () => undefined),
      know: async () => {},
    };
  }

  const recorded = new Set<string>();
  let sweptAt = 0;
  const nowText = () => now().toISOString();

  /** The block that lasts longest; null when there is none. */
  async function findBlock(from: Connection, rules: readonly Rule[]): Promise<Blocked | null> {
    const at = nowText();
    const keys = rules.map(({ key }) => key);
    const blocks = (await findThrottles(from, keys, at)).flatMap(({ key, blocked_until: until }) =>
      until !== null && until > at ? [{ key, until }] : [],
    );
    return blocks.toSorted((a, b) => (a.until < b.until ? 1 : -1))[0] ?? null;
  }

  async function isKnown(trying: Trying): Promise<boolean> {
    return trying.email !== null && (await findThrottles(db, [knownKey(trying)], nowText())).length > 0;
  }

  /** Counts once for each rule; not at all, and answers with the block, where there is one. */
  function addUnlessBlocked(rules: readonly Rule[]): Promise<Blocked | null> {
    return change(db, 'throttle', async (tx) => {
      const block = await findBlock(tx, rules);
      if (block !== null) return block;
      const at = now();
      const keys = rules.map(({ key }) => key);
      const rows = await findThrottles(tx, keys, at.toISOString());
      for (const { key, limit } of rules) {
        const before = rows.find((row) => row.key === key);
        await putThrottle(tx, oneMore(key, limit, before, at));
      }
      if (Math.abs(at.getTime() - sweptAt) >= sweepEveryMs) {
        sweptAt = at.getTime();
        await sweepThrottles(tx, at.toISOString(), maxThrottleRows);
      }
      return null;
    });
  }

  function rateLimited(until: string, what: string): AppError {
    metrics.rateLimited(what);
    return tooManyAttempts(until, now());
  }

  /** On record once for each block: whoever goes on trying does not fill the trail. */
  async function refuse({ key, until }: Blocked, what: string, { origin }: Trying): Promise<never> {
    const block = `${key} ${until}`;
    if (!recorded.has(block)) {
      if (recorded.size >= maxRecorded) recorded.clear();
      recorded.add(block);
      const detail = { what, until };
      await audit.note({ action: 'throttled', result: 'refused', actor: null, target: null, detail, origin });
    }
    throw rateLimited(until, what);
  }

  function markKnown(tx: Change, trying: Trying): Promise<void> {
    const expiresAt = new Date(now().getTime() + knownNetworkMs).toISOString();
    return putThrottle(tx, { key: knownKey(trying), count: 1, expires_at: expiresAt, blocked_until: null });
  }

  /** For what follows something that has been done, and must not be told as having failed. */
  async function orLogged(writing: Promise<void>): Promise<void> {
    try {
      await writing;
    } catch (error) {
      log.warn({ err: error }, 'a success could not be counted');
    }
  }

  /** Writes only where there is something to write, so that signing in costs nothing more. */
  async function forgive(trying: Trying): Promise<void> {
    const failures = [
      ruleOf('failure', 'account-and-network', failureLimits['account-and-network'], trying).key,
      ruleOf('second factor', 'account', secondFactorLimit, trying).key,
    ];
    const known = knownKey(trying);
    const rows = await findThrottles(db, [...failures, known], nowText());
    const renewAt = now().getTime() + knownNetworkMs - dayMs;
    const isFresh = rows.some(({ key, expires_at }) => key === known && Date.parse(expires_at) > renewAt);
    if (isFresh && rows.length === 1) return;
    await change(db, 'throttle', async (tx) => {
      await deleteThrottles(tx, failures);
      await markKnown(tx, trying);
    });
  }

  return {
    async count(what, trying) {
      const limits = what === 'registration' ? registrationLimits : resetRequestLimits;
      const rules = rulesOf(what, limits, trying, await isKnown(trying));
      const block = await addUnlessBlocked(rules);
      if (block !== null) await refuse(block, what, trying);
    },

    async guard(door, trying, work) {
      const known = await isKnown(trying);
      const failures = known
        ? rulesOf('failure', { ...failureLimits, network: failuresOfKnownNetwork }, trying, known)
        : rulesOf('failure', failureLimits, trying, known);
      const codes =
        door === 'second-factor' ? [ruleOf('second factor', 'account', secondFactorLimit, trying)] : [];
      const rules = [...failures, ...codes];

      const block = await findBlock(db, rules);
      if (block !== null) return refuse(block, door, trying);
      try {
        const result = await work(async (tx) => {
          const since = await findBlock(tx, rules);
          if (since !== null) throw rateLimited(since.until, door);
        });
        if (trying.email !== null) await orLogged(forgive(trying));
        return result;
      } catch (error) {
        if (!isFailure(error)) throw error;
        const since = await addUnlessBlocked(error.code === 'second_factor_invalid' ? rules : failures);
        if (since !== null) return refuse(since, door, trying);
        throw error;
      }
    },

    know: (trying) => orLogged(change(db, 'throttle', (tx) => markKnown(tx, trying))),
  };
}

/** A known network is not held by what others did to the account. */
function rulesOf(
  what: string,
  limits: Readonly<Partial<Record<Subject, Limit>>>,
  trying: Trying,
  known: boolean,
): Rule[] {
  return (Object.entries(limits) as [Subject, Limit][])
    .filter(([subject]) => trying.email !== null || !subject.startsWith('account'))
    .filter(([subject]) => !(known && subject === 'account'))
    .map(([subject, limit]) =>
      ruleOf(known && subject === 'network' ? `${what} of a known account` : what, subject, limit, trying),
    );
}

function ruleOf(what: string, subject: Subject, limit: Limit, { email, origin }: Trying): Rule {
  const account = subject.startsWith('account') ? emailKey(email ?? '') : '';
  const network = subject.endsWith('network') ? networkOf(origin.address) : '';
  return { key: hashSecret(JSON.stringify([what, subject, account, network])), limit };
}

function knownKey({ email, origin }: Trying): string {
  return hashSecret(JSON.stringify(['known', emailKey(email ?? ''), networkOf(origin.address)]));
}

function oneMore(
  key: string,
  limit: Limit,
  before: Row<'throttles'> | undefined,
  now: Date,
): Row<'throttles'> {
  const at = now.getTime();
  const count = (before?.count ?? 0) + 1;
  const wait = waitMs(count, limit);
  // Below the limit the span runs from the first attempt; beyond it from the last, so that waiting goes on growing.
  const endsAt =
    before === undefined || wait > 0 ? at + wait + limit.withinMs : Date.parse(before.expires_at);
  return {
    key,
    count,
    expires_at: new Date(endsAt).toISOString(),
    blocked_until: wait > 0 ? new Date(at + wait).toISOString() : null,
  };
}

function isFailure(error: unknown): error is AppError {
  return (
    error instanceof AppError &&
    ['credentials_invalid', 'second_factor_invalid', 'reset_link_invalid', 'reauth_required'].includes(
      error.code,
    )
  );
}

function tooManyAttempts(until: string, now: Date): AppError {
  const seconds = Math.max(1, Math.ceil((Date.parse(until) - now.getTime()) / 1000));
  const [count, tr, en] =
    seconds < 60 ? [seconds, 'saniye', 'second'] : [Math.ceil(seconds / 60), 'dakika', 'minute'];
  const message = {
    tr: `Çok fazla deneme yapıldı. Lütfen ${count} ${tr} sonra yeniden deneyin.`,
    en: `Too many attempts. Please try again in ${count} ${en}${count === 1 ? '' : 's'}.`,
  };
  return new AppError('rate_limited', { message, retryAfterSeconds: seconds });
}
