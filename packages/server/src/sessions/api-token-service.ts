/**
 * Interface through which the rest of the server authenticates requests with API tokens (credentials of programs);
 * api-tokens/api-tokens.ts implements it. A request for pixels needs an image session; for an API token, the server
 * creates one in memory that represents the token.
 */
import type { ApiTokenScope } from '@lamina/contract';
import type { ApiTokenName, ImageSession } from '../domain/image-session.ts';
import type { ResolvedToken } from './sign-in-service.ts';

/** A valid API token with its current permissions and the current state of its owner's account. */
export interface ResolvedApiToken extends ResolvedToken {
  readonly apiToken: ApiTokenName & {
    /** Scopes of the token whose permissions the owner still has. */
    readonly scopes: ReadonlySet<ApiTokenScope>;
  };
}

/** An API token, and the image session that represents it in requests for pixels. */
export interface TokenForPixels {
  readonly resolved: ResolvedApiToken;
  readonly session: ImageSession;
}

export interface ApiTokenAuthentication {
  /**
   * Returns the token and its owner. A token is invalid when it was revoked, has expired, or its owner's account is not active.
   *
   * @throws AppError token_invalid, rate_limited, unavailable
   */
  authenticate(token: string): Promise<ResolvedApiToken>;
  /**
   * Like `authenticate`, but uses cached state that is at most half a second old, and also returns the image session
   * that represents the token. Only for requests for single tiles. Does not check scopes. Returns a promise only when
   * it must query the database.
   *
   * @throws AppError token_invalid, rate_limited, unavailable
   */
  authenticateForPixels(token: string): TokenForPixels | Promise<TokenForPixels>;
  /** Returns the image session that represents the token. @throws AppError forbidden without the scope slides:read */
  pixelSessionOf(resolved: ResolvedApiToken): Promise<ImageSession>;
  /**
   * Returns the current image session of a token, from state that is at most half a second old. Does not count a request.
   *
   * @param tokenHash the `tokenHash` of an image session that `pixelSessionOf` or `authenticateForPixels` returned
   * @throws AppError token_invalid, forbidden without the scope slides:read, unavailable
   */
  currentPixelSessionOf(tokenHash: string): Promise<ImageSession>;
}
