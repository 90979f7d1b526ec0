/**
 * How often something may be tried, and why not more often. Every figure of the throttling is here.
 *
 * What counts is failures: whoever signs in with the right password is never slowed down by doing so often. A limit
 * that is reached makes one wait, first half a minute, then twice as long after each further failure, at most the
 * span of the limit; then the counting starts anew. Nobody is locked out for good.
 */

export interface Limit {
  readonly most: number;
  readonly withinMs: number;
}

const minute = 60_000;
const hour = 60 * minute;

/** By whom something is tried: one account, one network (see network-of.ts), or the one from the other. */
export type Subject = 'account-and-network' | 'account' | 'network' | 'everybody';

/**
 * Failures of passwords, second factors and mailed codes together, so that changing the door does not help.
 *
 * - One account from one network: a person who has forgotten a password tries less than ten.
 * - One account from everywhere: what many networks together may guess. Does not hold the networks its owner has
 *   signed in from lately, so that a stranger cannot keep an owner out.
 * - One network over all accounts: a few passwords tried on many accounts. Three times as many for accounts that have
 *   signed in from there lately: a hospital is one network.
 */
export const failureLimits = {
  'account-and-network': { most: 10, withinMs: 15 * minute },
  account: { most: 100, withinMs: 15 * minute },
  network: { most: 100, withinMs: 15 * minute },
} as const satisfies Partial<Record<Subject, Limit>>;
export const failuresOfKnownNetwork: Limit = { most: 300, withinMs: 15 * minute };

/**
 * Wrong second factors of one account from everywhere. Who fails here has the password already, and six digits are
 * few: three codes are good at any time, so 20 an hour find one in 5 % of a month. Holds the owner's networks too.
 */
export const secondFactorLimit: Limit = { most: 20, withinMs: hour };

/**
 * Registrations, whether they succeed or not: each is work for an administrator, and tells whether an address is
 * known. A class that registers together sits behind one address.
 */
export const registrationLimits = {
  network: { most: 200, withinMs: hour },
  everybody: { most: 1000, withinMs: hour },
} as const satisfies Partial<Record<Subject, Limit>>;

/** Requests for a reset link, whether or not the address is known: each may be a letter in somebody's mailbox. */
export const resetRequestLimits = {
  'account-and-network': { most: 10, withinMs: hour },
  account: { most: 20, withinMs: hour },
  network: { most: 60, withinMs: hour },
} as const satisfies Partial<Record<Subject, Limit>>;

/** Networks that an account has signed in from stay known for so long. */
export const knownNetworkMs = 30 * 24 * hour;

/** Rows the counting may take; the ones that end soonest go first. */
export const maxThrottleRows = 100_000;

const firstWaitMs = 30_000;

/** How long the next attempt waits after so many; 0 below the limit. */
export function waitMs(count: number, { most, withinMs }: Limit): number {
  if (count < most) return 0;
  return Math.min(withinMs, firstWaitMs * 2 ** Math.min(count - most, 20));
}
