/**
 * The second access check of a request for pixels that has waited, for example for a render worker. The first check
 * (sessions/pixel-access.ts) was before the wait, which may last many seconds, and a revocation must take effect within one second.
 */
import { AppError } from '@lamina/contract';
import { type ImageSession, mayViewImage } from '../domain/image-session.ts';
import type { ApiTokenAuthentication } from '../sessions/api-token-service.ts';
import type { ImageSessions } from '../sessions/image-sessions.ts';
import type { ServableImage } from './slides.ts';

/** A request that has taken longer is checked again before its pixels are sent. Milliseconds. */
export const recheckAfterMs = 500;

/**
 * Checks that a session, or the API token that it represents, is still valid and may still view an image. The check does
 * not count as a request of the session or token.
 *
 * @throws AppError session_invalid, token_invalid, forbidden, not_found, unavailable
 */
export type RecheckAccess = (session: ImageSession, imageId: string) => Promise<void>;

export function createRecheckAccess({
  imageSessions,
  apiTokens,
  catalogue,
}: {
  readonly imageSessions: Pick<ImageSessions, 'current'>;
  readonly apiTokens: Pick<ApiTokenAuthentication, 'currentPixelSessionOf'>;
  readonly catalogue: { servable(imageId: string): ServableImage | null | Promise<ServableImage | null> };
}): RecheckAccess {
  return async (session, imageId) => {
    const { apiToken, tokenHash } = session;
    // With `apiToken`, `tokenHash` is the hash of the API token and never null: the second condition is for the type.
    const isOfApiToken = apiToken !== undefined && tokenHash !== null;
    const current = isOfApiToken
      ? await apiTokens.currentPixelSessionOf(tokenHash)
      : await imageSessions.current(session);
    if (current === null) throw new AppError('session_invalid');
    const image = await catalogue.servable(imageId);
    if (image === null || !mayViewImage(current, image)) throw new AppError('not_found');
  };
}
