/** Determines which counters an attempt (sign-in, registration, mailed code) increments, and when a counter blocks further attempts. */
import type { Origin } from '../audit/audit-recorder.ts';
import { emailKey } from '../domain/email.ts';
import { networkOf } from '../domain/network-of.ts';
import {
  type Limit,
  type Subject,
  shareLinkOpeningLimits,
  shareLinkPasswordLimits,
  unknownShareLinkLimits,
  waitMs,
} from '../domain/throttle-limits.ts';
import { hashSecret } from '../platform/secrets.ts';
import type { Row } from '../store/schema.ts';

/** An attempt: its client and the account that it concerns. */
export interface Attempt {
  readonly origin: Origin;
  /** E-mail address that the request names, whether or not it has an account; null when the request names none. */
  readonly email: string | null;
}

/** A limit, and the counter in the database to which it applies. */
export interface Rule {
  /** Hash that identifies the counter in the database, without revealing e-mail and IP addresses. */
  readonly key: string;
  readonly limit: Limit;
}

/**
 * Returns one rule for each limit. Limits per account are left out when the attempt has no e-mail address.
 *
 * @param kind kind of attempt, for example `failure` or `registration`; a part of the key
 */
export function rulesOf(
  kind: string,
  limits: Readonly<Partial<Record<Subject, Limit>>>,
  attempt: Attempt,
): Rule[] {
  return (Object.entries(limits) as [Subject, Limit][])
    .filter(([subject]) => attempt.email !== null || !subject.startsWith('account'))
    .map(([subject, limit]) => ruleOf(kind, subject, limit, attempt));
}

/** Returns the rule of one limit. @param subject which attempts count together: those of an account, a network, … */
export function ruleOf(kind: string, subject: Subject, limit: Limit, { email, origin }: Attempt): Rule {
  // The subject `account-and-network` has both parts; `everybody` has none, so all attempts share one counter.
  const account = subject.startsWith('account') ? emailKey(email ?? '') : '';
  const network = subject.endsWith('network') ? networkOf(origin.address) : '';
  return { key: hashSecret(JSON.stringify([kind, subject, account, network])), limit };
}

/** Returns the rules for wrong passwords of a share link, or (`linkId` null) for secrets in URLs that open no link. */
export function shareLinkRules({ address }: Origin, linkId: string | null): Rule[] {
  return rulesOfLink(
    'share link',
    linkId === null ? unknownShareLinkLimits : shareLinkPasswordLimits,
    address,
    linkId,
  );
}

/** Returns the rules for openings of a share link. */
export function shareLinkOpeningRules({ address }: Origin, linkId: string): Rule[] {
  return rulesOfLink('share link opening', shareLinkOpeningLimits, address, linkId);
}

/** Returns one rule for each limit of a share link. In these limits, the subject `account` stands for the link. */
function rulesOfLink(
  kind: string,
  limits: Readonly<Partial<Record<Subject, Limit>>>,
  address: string,
  linkId: string | null,
): Rule[] {
  return (Object.entries(limits) as [Subject, Limit][]).map(([subject, limit]) => {
    const network = subject.endsWith('network') ? networkOf(address) : '';
    return { key: hashSecret(JSON.stringify([kind, subject, linkId, network])), limit };
  });
}

/** Returns the key of the row (in the table of the counters) that states that the account has signed in from this network. */
export function knownNetworkKey({ email, origin }: Attempt): string {
  return hashSecret(JSON.stringify(['known', emailKey(email ?? ''), networkOf(origin.address)]));
}

/** Returns the row of a counter after one more attempt. @param before the row until now; undefined for the first attempt */
export function incrementedRow(
  key: string,
  limit: Limit,
  before: Row<'throttles'> | undefined,
  now: Date,
): Row<'throttles'> {
  const nowMs = now.getTime();
  const count = (before?.count ?? 0) + 1;
  const blockMs = waitMs(count, limit); // 0: the limit is not reached
  // Until the limit is reached, the counter expires `withinMs` after the first attempt. Then each attempt extends it, so that the
  // next block is longer.
  const expiresAt =
    before === undefined || blockMs > 0 ? nowMs + blockMs + limit.withinMs : Date.parse(before.expires_at);
  return {
    key,
    count,
    expires_at: new Date(expiresAt).toISOString(),
    blocked_until: blockMs > 0 ? new Date(nowMs + blockMs).toISOString() : null,
  };
}
