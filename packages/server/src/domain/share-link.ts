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

/** Whether a visitor can open the link: the link is valid, and its maximum number of openings is not reached. */
export function canOpenShareLink(link: ShareLink, creator: Creator, now: Date): boolean {
  return (
    isShareLinkValid(link, creator, now) && (link.max_openings === null || link.openings < link.max_openings)
  );
}
