/** When a share link opens something. */
import { may, type User } from '@lamina/contract';
import { effectiveAccount, wasIssuedBeforeExpiry } from './account.ts';

interface Link {
  readonly created_at: string;
  readonly expires_at: string;
  readonly ended_at: string | null;
  readonly max_openings: number | null;
  readonly openings: number;
}

type Maker = Pick<User, 'status' | 'role' | 'expiresAt'>;

/** Whether the sessions that a link has opened are good: it has not ended, and its maker may still share. */
export function isShareLinkValid(
  link: Pick<Link, 'created_at' | 'expires_at' | 'ended_at'>,
  maker: Maker,
  now: Date,
): boolean {
  return (
    link.ended_at === null &&
    now.getTime() < Date.parse(link.expires_at) &&
    may(effectiveAccount(maker, now), 'sharing.own') &&
    !wasIssuedBeforeExpiry(new Date(link.created_at), maker, now)
  );
}

/** Whether a link opens: it is good and not used up. */
export function canOpenShareLink(link: Link, maker: Maker, now: Date): boolean {
  return (
    isShareLinkValid(link, maker, now) && (link.max_openings === null || link.openings < link.max_openings)
  );
}
