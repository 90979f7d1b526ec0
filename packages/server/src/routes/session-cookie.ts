import { apiBase } from '@lamina/contract';
import type { FastifyReply } from 'fastify';
import type { Config } from '../platform/config.ts';
import { imageSessionCookieName } from '../sessions/pixel-access.ts';

/**
 * Sets a cookie with the id of an image session, the credential with which a viewer loads pixels. Requests for pixels must contain this
 * cookie only with IMAGE_SESSION_COOKIE=strict, so the function does nothing with any other value of the setting.
 *
 * @param session `expires_in` is in seconds
 */
export function setSessionCookie(
  reply: FastifyReply,
  { imageSessionCookie }: Pick<Config, 'imageSessionCookie'>,
  session: { readonly session_id: string; readonly expires_in: number },
): void {
  if (imageSessionCookie !== 'strict') return;
  // A browser sends the cookie only to URLs below `Path`: the descriptors, colour tables, thumbnails and tiles of slides.
  reply.header(
    'Set-Cookie',
    `${imageSessionCookieName}=${session.session_id}; Path=${apiBase}/image-catalog/proxy; Max-Age=${session.expires_in}; HttpOnly; Secure; SameSite=Strict`,
  );
}
