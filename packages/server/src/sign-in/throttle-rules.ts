/** Determines which counters an attempt increments, and how a counter grows. */
import type { Origin } from '../audit/audit-recorder.ts';
import { emailKey } from '../domain/email.ts';
import { networkOf } from '../domain/network-of.ts';
import {
  type Limit,
  type Subject,
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

/** A counter with its limit. */
export interface Rule {
  readonly key: string;
  readonly limit: Limit;
}

/** Returns the rules that apply: without an e-mail address, none of an account. */
export function rulesOf(
  what: string,
  limits: Readonly<Partial<Record<Subject, Limit>>>,
  attempt: Attempt,
): Rule[] {
  return (Object.entries(limits) as [Subject, Limit][])
    .filter(([subject]) => attempt.email !== null || !subject.startsWith('account'))
    .map(([subject, limit]) => ruleOf(what, subject, limit, attempt));
}

export function ruleOf(what: string, subject: Subject, limit: Limit, { email, origin }: Attempt): Rule {
  const account = subject.startsWith('account') ? emailKey(email ?? '') : '';
  const network = subject.endsWith('network') ? networkOf(origin.address) : '';
  return { key: hashSecret(JSON.stringify([what, subject, account, network])), limit };
}

export function shareLinkRules({ address }: Origin, linkId: string | null): Rule[] {
  const limits: Partial<Record<Subject, Limit>> =
    linkId === null ? unknownShareLinkLimits : shareLinkPasswordLimits;
  return (Object.entries(limits) as [Subject, Limit][]).map(([subject, limit]) => {
    const network = subject.endsWith('network') ? networkOf(address) : '';
    return { key: hashSecret(JSON.stringify(['share link', subject, linkId, network])), limit };
  });
}

export function knownKey({ email, origin }: Attempt): string {
  return hashSecret(JSON.stringify(['known', emailKey(email ?? ''), networkOf(origin.address)]));
}

export function incremented(
  key: string,
  limit: Limit,
  before: Row<'throttles'> | undefined,
  now: Date,
): Row<'throttles'> {
  const at = now.getTime();
  const count = (before?.count ?? 0) + 1;
  const wait = waitMs(count, limit);
  // Below the limit, the period starts at the first attempt; beyond it, at the last one, so that the wait keeps growing.
  const endsAt =
    before === undefined || wait > 0 ? at + wait + limit.withinMs : Date.parse(before.expires_at);
  return {
    key,
    count,
    expires_at: new Date(endsAt).toISOString(),
    blocked_until: wait > 0 ? new Date(at + wait).toISOString() : null,
  };
}
