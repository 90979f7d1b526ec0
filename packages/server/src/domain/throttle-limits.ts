/**
 * The limits of sign-ins and similar attempts, with the reason of each limit.
 *
 * Failures count. Successes count too, with far higher limits, because each one costs a password hash, a token and an audit
 * entry. Once the limit is reached, the next attempt must wait 30 s, then twice as long after each further failure, at most the window of the limit; then
 * counting starts again. No account is locked permanently.
 */

export interface Limit {
  readonly maxCount: number;
  readonly withinMs: number;
}

const minute = 60_000;
const hour = 60 * minute;

/** What a limit counts by: one account, one network (network-of.ts), both together, or all requests. */
export type Subject = 'account-and-network' | 'account' | 'network' | 'everybody';

/**
 * Failed passwords, second factors and e-mailed codes count together, so that changing the endpoint does not help. Every
 * count is the same for addresses with and without an account.
 *
 * - One account from one network: a person who has forgotten a password tries less than ten times.
 * - One account from all networks: guesses from many networks.
 * - One network over all accounts: a few passwords tried on many accounts.
 *
 * The second and the third limit do not stop an account that signed in from the network recently: the correct
 * password still signs in, so that an attacker cannot lock out an owner, and a hospital can be one network. A wrong one
 * gets the 429 that an unknown address gets.
 */
export const failureLimits = {
  'account-and-network': { maxCount: 10, withinMs: 15 * minute },
  account: { maxCount: 100, withinMs: 15 * minute },
  network: { maxCount: 100, withinMs: 15 * minute },
} as const satisfies Partial<Record<Subject, Limit>>;
/** Failures of one network over all accounts, including those above the limit before. Stops every account. */
export const allFailuresOfNetwork: Limit = { maxCount: 300, withinMs: 15 * minute };

/**
 * Right passwords of one account: sign-ins, and the current password where a change asks for it. Strangers cannot use
 * up these limits, since only right passwords count. Both are checked after the password, in the transaction that would
 * issue the token: a wrong password gets the same response for an account that signs in often and one that does not exist.
 *
 * - From one network: a class that shares a teaching account, and a program that signs in at every run.
 * - From everywhere: a client with many networks (a /48 of IPv6 has 65,536).
 */
export const successLimits = {
  'account-and-network': { maxCount: 60, withinMs: 15 * minute },
  account: { maxCount: 300, withinMs: hour },
} as const satisfies Partial<Record<Subject, Limit>>;

/**
 * Wrong second factors of one account from all networks. An attacker at this step has the password, and six digits are
 * few: three codes are valid at any time, so 20 attempts an hour find one in 5 % of a month. Applies to the owner's networks too.
 */
export const secondFactorLimit: Limit = { maxCount: 20, withinMs: hour };

/**
 * Registrations, successful or not: each is work for an administrator and reveals whether an address is
 * known. A class that registers together has one address.
 */
export const registrationLimits = {
  network: { maxCount: 200, withinMs: hour },
  everybody: { maxCount: 1000, withinMs: hour },
} as const satisfies Partial<Record<Subject, Limit>>;

/** Requests for a reset link, whether or not the address is known. */
export const resetRequestLimits = {
  'account-and-network': { maxCount: 10, withinMs: hour },
  network: { maxCount: 60, withinMs: hour },
} as const satisfies Partial<Record<Subject, Limit>>;

/**
 * E-mails to one address that requests without sign-in can trigger. The response does not show that the limit is reached.
 * Networks from which the account signed in recently have a separate count.
 */
export const mailLimit: Limit = { maxCount: 20, withinMs: hour };

/**
 * Share links that do not exist or have ended. A class behind one address may come back to a link that has ended; 256 random
 * bits are not guessed, so the limit only bounds the work.
 */
export const unknownShareLinkLimits = {
  network: { maxCount: 100, withinMs: 15 * minute },
} as const satisfies Partial<Record<Subject, Limit>>;

/**
 * Wrong passwords of one share link (`account` stands for the link). The client has the secret of the link; the limit over all
 * networks is high, so that one of them can hardly lock out the others.
 */
export const shareLinkPasswordLimits = {
  'account-and-network': { maxCount: 10, withinMs: 15 * minute },
  account: { maxCount: 300, withinMs: 15 * minute },
} as const satisfies Partial<Record<Subject, Limit>>;

/** A network stays known to an account for this long after a sign-in. */
export const knownNetworkMs = 30 * 24 * hour;

/** Maximum number of throttle rows; the rows that expire soonest are deleted first. */
export const maxThrottleRows = 100_000;

const firstWaitMs = 30_000;

/** Returns how long the next attempt must wait after `count` attempts; 0 below the limit. */
export function waitMs(count: number, { maxCount, withinMs }: Limit): number {
  if (count < maxCount) return 0;
  return Math.min(withinMs, firstWaitMs * 2 ** Math.min(count - maxCount, 20));
}
