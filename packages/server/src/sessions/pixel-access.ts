/**
 * The access check of requests for pixels: the descriptor, the thumbnail or a tile of a slide. Such a request needs an image
 * session (a credential only for pixels) or, instead of it, an API token with the scope slides:read. The checks run in the order
 * of docs/permissions.md.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '@lamina/contract';
import type { ImageSession } from '../domain/image-session.ts';
import type { Config } from '../platform/config.ts';
import type { ApiTokenAuthentication } from './api-token-service.ts';
import { carriesApiToken, resolveBearerToken } from './bearer-token.ts';
import type { ImageSessions } from './image-sessions.ts';
import type { SignInService } from './sign-in-service.ts';

/** The credentials of a request for pixels. */
export interface PixelRequest {
  /** The `session` query parameter. */
  readonly sessionId: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Alternating names and values of the headers, as Node provides them. */
  readonly rawHeaders: readonly string[];
}

export interface PixelAccess {
  /**
   * Returns the valid image session of the request, or the image session that represents its API token, and counts the
   * request. Returns a promise only when it must query the database, or when the request has a bearer token.
   *
   * @throws AppError session_missing, session_invalid, token_invalid, unavailable; for API tokens forbidden, rate_limited
   */
  authorize(request: PixelRequest): ImageSession | Promise<ImageSession>;
}

interface PixelAccessDependencies {
  readonly config: Pick<Config, 'imageSessionCookie'>;
  readonly imageSessions: Pick<ImageSessions, 'resolve'>;
  readonly signIn: Pick<SignInService, 'resolveToken'>;
  readonly apiTokens: ApiTokenAuthentication;
}

/**
 * Returns the cookie (name and value) that IMAGE_SESSION_COOKIE=strict requires in addition to the session id in the URL. Its name contains
 * the start of the id, so that several tabs of a browser can each have a session.
 */
export function imageSessionCookieOf(sessionId: string): string {
  return `${imageSessionCookiePrefix}${sessionId.slice(0, 8)}=${sessionId}`;
}

/** Start of the names of all cookies of image sessions. */
export const imageSessionCookiePrefix = 'image_session_';

export function createPixelAccess({
  config,
  imageSessions,
  signIn,
  apiTokens,
}: PixelAccessDependencies): PixelAccess {
  /** Returns the session after checking its cookie and, if the request has one, its bearer token. */
  function acceptSession(
    session: ImageSession | null,
    { sessionId, headers, rawHeaders }: PixelRequest,
  ): ImageSession | Promise<ImageSession> {
    if (session === null) throw new AppError('session_invalid');
    if (config.imageSessionCookie === 'strict' && !hasCookieOf(sessionId, headers.cookie)) {
      throw new AppError('session_invalid');
    }
    return headers.authorization === undefined ? session : acceptWithToken(session, rawHeaders);
  }

  /** Returns the session after checking that the bearer token of the request is valid and belongs to the session's account. */
  async function acceptWithToken(
    session: ImageSession,
    rawHeaders: readonly string[],
  ): Promise<ImageSession> {
    const { user } = await resolveBearerToken(rawHeaders, { signIn, apiTokens });
    if (user.uid !== session.uid) throw new AppError('session_invalid');
    return session;
  }

  /** Returns the image session that represents the API token of the request. */
  async function acceptApiToken(rawHeaders: readonly string[]): Promise<ImageSession> {
    const resolved = await resolveBearerToken(rawHeaders, { signIn, apiTokens });
    if (!('apiToken' in resolved)) throw new AppError('session_missing'); // the token of a sign-in does not replace an image session
    return apiTokens.pixelSessionOf(resolved);
  }

  return {
    authorize(request) {
      const { sessionId } = request;
      const { authorization } = request.headers;
      const hasNoSession = sessionId === undefined || sessionId === '';
      if (hasNoSession) {
        if (carriesApiToken(authorization)) return acceptApiToken(request.rawHeaders);
        throw new AppError('session_missing');
      }
      const resolved = imageSessions.resolve(sessionId);
      if (resolved instanceof Promise) return resolved.then((session) => acceptSession(session, request));
      return acceptSession(resolved, request);
    },
  };
}

function hasCookieOf(sessionId: string | undefined, header = ''): boolean {
  return sessionId !== undefined && header.split(/;\s*/).includes(imageSessionCookieOf(sessionId));
}
