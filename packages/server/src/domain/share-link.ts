/** Decides whether a share link (a URL that shows slides without an account) can be opened, and whether its sessions remain valid. */
import { may, type User } from '@lamina/contract';
import { effectiveAccount, wasIssuedBeforeExpiry } from './account.ts';

interface ShareLink {
  readonly created_at: string;
  readonly expires_at: string;
  /** Time when a user, or a change of the creator's account such as a suspension, ended the link; null: not ended. */
  readonly ended_at: string | null;
  /** Null: no limit. */
  readonly max_openings: number | null;
  /** Number of times that the link has been opened. */
  readonly openings: number;
}

/**
 * Time after the end of a visitor's session in which the visitor can still renew the session, so that the page of a link goes on after
 * the computer has slept. The server keeps the row of the session this long.
 */
export const visitorRenewalMs = 12 * 60 * 60_000;

type Creator = Pick<User, 'status' | 'role' | 'expiresAt'>;

/** Whether the sessions that a link has opened are valid: it was not ended and has not expired, and its creator may still share. */
export function isShareLinkValid(
  link: Pick<ShareLink, 'created_at' | 'expires_at' | 'ended_at'>,
  creator: Creator,
  now: Date,
): boolean {
  return (
    link.ended_at === null &&
    now.getTime() < Date.parse(link.expires_at) &&
    may(effectiveAccount(creator, now), 'sharing.own') && // an account past its end date counts as suspended
    !wasIssuedBeforeExpiry(new Date(link.created_at), creator, now) // rule P7 of docs/permissions.md; the line above implies it
  );
}

/** Whether the maximum number of openings of the link is not reached. */
export function hasOpeningLeft({
  max_openings,
  openings,
}: Pick<ShareLink, 'max_openings' | 'openings'>): boolean {
  return max_openings === null || openings < max_openings;
}
