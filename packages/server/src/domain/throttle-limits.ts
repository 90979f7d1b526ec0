/**
 * The limits of sign-ins and similar attempts, with the reason for each limit.
 *
 * Failed attempts have low limits. Successful attempts are limited too, because each costs a password hash, a token and
 * an audit entry, but their limits are far higher. Once a limit is reached, the next attempt must wait 30 s. Each
 * further attempt doubles the wait, up to the window of the limit. Counting starts again when no attempt follows
 * within one window after the wait. No account is locked permanently.
 */

/** At most `maxCount` attempts in a window of `withinMs` milliseconds. */
export interface Limit {
  readonly maxCount: number;
  readonly withinMs: number;
}

const minute = 60_000;
const hour = 60 * minute;

/** What the attempts that a limit counts together have in common: the account, the network (network-of.ts), both, or nothing. */
export type Subject = 'account-and-network' | 'account' | 'network' | 'everybody';

/**
 * Limits of failed attempts. Wrong passwords, second factors and e-mailed codes count together, so an attacker gains nothing by
 * switching endpoints. E-mail addresses without an account are counted in the same way as addresses with one.
 *
 * - `account-and-network`: a user who has forgotten a password tries fewer than ten times.
 * - `account`: stops guesses of one account's password from many networks.
 * - `network`: stops a client that tries a few passwords on many accounts.
 *
 * The limits `account` and `network` do not apply to an account that signed in from the network recently: its correct password
 * still signs in. Otherwise an attacker could lock out an owner, or all users of a hospital that is one network. While one of
 * these limits is reached, a wrong password from that network also gets 429, as from any other network.
 */
export const failureLimits = {
  'account-and-network': { maxCount: 10, withinMs: 15 * minute },
  account: { maxCount: 100, withinMs: 15 * minute },
  network: { maxCount: 100, withinMs: 15 * minute },
} as const satisfies Partial<Record<Subject, Limit>>;
/**
 * Limit of the failures of one network, including attempts that `failureLimits.network` rejected. Applies to every account, even if it
 * signed in from the network recently.
 */
export const allFailuresOfNetwork: Limit = { maxCount: 300, withinMs: 15 * minute };

/**
 * Limits of correct passwords of one account: at sign-ins (also if the code of the second factor is missing), and where a change asks
 * for the current password. An attacker cannot use up these limits, since only correct passwords count. They are checked after the
 * password, so a wrong password gets the same response whether the account signs in often or does not exist.
 *
 * - `account-and-network`: enough for a class that shares a teaching account, or a program that signs in at every run.
 * - `account`: stops a client that uses many networks (an IPv6 /48, as one site gets it, contains 65,536 /64 networks).
 */
export const successLimits = {
  'account-and-network': { maxCount: 60, withinMs: 15 * minute },
  account: { maxCount: 300, withinMs: hour },
} as const satisfies Partial<Record<Subject, Limit>>;

/**
 * Wrong second factors of one account from all networks, including those from which the owner signed in. An attacker at this step
 * has the password. A code has six digits and three codes are valid at any time, so 20 attempts an hour for a month find a valid
 * code with a probability of about 4 %.
 */
export const secondFactorLimit: Limit = { maxCount: 20, withinMs: hour };

/**
 * Registrations, successful or not. Each is work for an administrator, and may reveal whether an e-mail address has an
 * account. A class that registers together shares one IP address.
 */
export const registrationLimits = {
  network: { maxCount: 200, withinMs: hour },
  everybody: { maxCount: 1000, withinMs: hour },
} as const satisfies Partial<Record<Subject, Limit>>;

/** Requests for a password-reset link, whether or not the e-mail address has an account. */
export const resetRequestLimits = {
  'account-and-network': { maxCount: 10, withinMs: hour },
  network: { maxCount: 60, withinMs: hour },
} as const satisfies Partial<Record<Subject, Limit>>;

/**
 * E-mails to one address that are caused by requests without a sign-in. The response does not reveal a reached limit.
 * Requests from networks from which the account signed in recently are counted separately.
 */
export const mailLimit: Limit = { maxCount: 20, withinMs: hour };

/**
 * Requests for share links that do not exist or have ended. A class behind one IP address may return to a link that has ended.
 * The 256 random bits of a link cannot be guessed, so this limit only bounds the server's work.
 */
export const unknownShareLinkLimits = {
  network: { maxCount: 100, withinMs: 15 * minute },
} as const satisfies Partial<Record<Subject, Limit>>;

/**
 * Wrong passwords for one share link; `account` stands for the link here. All clients with this link know its secret
 * URL. The limit over all networks is high, so that one client can hardly lock out the others.
 */
export const shareLinkPasswordLimits = {
  'account-and-network': { maxCount: 10, withinMs: 15 * minute },
  account: { maxCount: 300, withinMs: 15 * minute },
} as const satisfies Partial<Record<Subject, Limit>>;

/**
 * Openings of one share link (`account` stands for the link), each of which writes an image session and an audit entry. A class of 100
 * students behind one IP address can open the link ten times each in one lesson.
 */
export const shareLinkOpeningLimits = {
  'account-and-network': { maxCount: 1000, withinMs: 15 * minute },
} as const satisfies Partial<Record<Subject, Limit>>;

/** Time after a sign-in for which the account counts as having signed in from the network recently. */
export const knownNetworkMs = 30 * 24 * hour;

/** Maximum number of rows in the table `throttles`, one for each counter; the rows that expire soonest are deleted first. */
export const maxThrottleRows = 100_000;

const firstWaitMs = 30_000;

/** Returns the milliseconds that the next attempt must wait after `count` attempts; 0 below the limit. */
export function waitMs(count: number, { maxCount, withinMs }: Limit): number {
  if (count < maxCount) return 0;
  const doublings = Math.min(count - maxCount, 20); // after 20 doublings, the wait exceeds every window
  return Math.min(withinMs, firstWaitMs * 2 ** doublings);
}
