import type { FastifyReply } from 'fastify';
import { maxSessionsPerAccount } from '../domain/image-session.ts';
import type { Config } from '../platform/config.ts';
import { imageSessionCookieOf, imageSessionCookiePrefix } from '../sessions/pixel-access.ts';

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
  const attributes = (maxAgeSeconds: number) =>
    `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; Secure; SameSite=Strict`;
  reply.header('Set-Cookie', [
    `${imageSessionCookieOf(session.session_id)}; ${attributes(session.expires_in)}`,
    ...surplusCookieNames(reply.request.headers.cookie).map((name) => `${name}=; ${attributes(0)}`),
  ]);
}

/**
 * Returns the names of the oldest session cookies of a request, which the response deletes: without a limit, a browser that opens many
 * sessions in an hour would send headers that are too large for a proxy. Browsers send the oldest cookies first (RFC 6265 section 5.4).
 */
function surplusCookieNames(header = ''): readonly string[] {
  const names = header
    .split(/;\s*/)
    .filter((cookie) => /^[\w-]+=/.test(cookie) && cookie.startsWith(imageSessionCookiePrefix))
    .map((cookie) => cookie.slice(0, cookie.indexOf('=')));
  const cookieCount = names.length + 1; // with the cookie that the response sets
  return names.slice(0, Math.max(0, cookieCount - maxSessionsPerAccount));
}
