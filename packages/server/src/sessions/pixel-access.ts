/**
 * Access to pixels: decides whether a request for a descriptor, a thumbnail or a tile has a valid image session or, instead of a
 * session, an API token with the scope slides:read. The checks have the order of docs/permissions.md.
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
  /** Alternating names and values, as Node provides them. */
  readonly rawHeaders: readonly string[];
}

export interface PixelAccess {
  /**
   * Returns the valid image session of the request, or the object that stands for it with an API token, and counts the request. The
   * result is a promise only when the database has to be queried, or when the request has a bearer token.
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

/** Name of the cookie that IMAGE_SESSION_COOKIE=strict requires. */
export const imageSessionCookieName = 'image_session';

export function createPixelAccess({
  config,
  imageSessions,
  signIn,
  apiTokens,
}: PixelAccessDependencies): PixelAccess {
  /** Checks the session, its cookie, and the bearer token if the request has one. */
  function acceptSession(
    session: ImageSession | null,
    { sessionId, headers, rawHeaders }: PixelRequest,
  ): ImageSession | Promise<ImageSession> {
    if (session === null) throw new AppError('session_invalid');
    if (config.imageSessionCookie === 'strict' && imageSessionCookieIn(headers.cookie) !== sessionId) {
      throw new AppError('session_invalid');
    }
    return headers.authorization === undefined ? session : acceptWithToken(session, rawHeaders);
  }

  /** Checks the bearer token of a request with a session. The token is optional, but must be valid and belong to the session's account. */
  async function acceptWithToken(
    session: ImageSession,
    rawHeaders: readonly string[],
  ): Promise<ImageSession> {
    const { user } = await resolveBearerToken(rawHeaders, { signIn, apiTokens });
    if (user.uid !== session.uid) throw new AppError('session_invalid');
    return session;
  }

  async function acceptApiToken(rawHeaders: readonly string[]): Promise<ImageSession> {
    const resolved = await resolveBearerToken(rawHeaders, { signIn, apiTokens });
    if (!('apiToken' in resolved)) throw new AppError('session_missing'); // a sign-in needs an image session
    return apiTokens.pixelSessionOf(resolved);
  }

  return {
    authorize(request) {
      const { sessionId } = request;
      const { authorization } = request.headers;
      const hasNoSession = sessionId === undefined || sessionId === '';
      if (hasNoSession && carriesApiToken(authorization)) return acceptApiToken(request.rawHeaders);
      if (hasNoSession) throw new AppError('session_missing');
      const resolved = imageSessions.resolve(sessionId);
      if (resolved instanceof Promise) return resolved.then((session) => acceptSession(session, request));
      return acceptSession(resolved, request);
    },
  };
}

function imageSessionCookieIn(header: string | undefined): string | undefined {
  for (const cookie of header?.split(/;\s*/) ?? []) {
    if (cookie.startsWith(`${imageSessionCookieName}=`))
      return cookie.slice(imageSessionCookieName.length + 1);
  }
  return undefined;
}
