import type { FastifyReply } from 'fastify';
import type { Config } from '../platform/config.ts';
import { imageSessionCookieName } from '../sessions/pixel-access.ts';

/**
 * Sets a cookie with the id of an image session, the credential with which a viewer loads pixels. If IMAGE_SESSION_COOKIE is `strict`,
 * requests for pixels must contain this cookie. With any other value of the setting, this function does nothing.
 *
 * @param session `expires_in` is in seconds
 */
export function setSessionCookie(
  reply: FastifyReply,
  { imageSessionCookie }: Pick<Config, 'imageSessionCookie'>,
  session: { readonly session_id: string; readonly expires_in: number },
): void {
  if (imageSessionCookie !== 'strict') return;
  // Path=/ is the only path that all URLs of pixels have in common: the IIIF URLs also exist outside the API, below `/iiif`.
  reply.header(
    'Set-Cookie',
    `${imageSessionCookieName}=${session.session_id}; Path=/; Max-Age=${session.expires_in}; HttpOnly; Secure; SameSite=Strict`,
  );
}
