/** Interface of API tokens to the rest of the server; api-tokens/api-tokens.ts implements it. */
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

/** An API token, and the object that stands for an image session in requests for pixels with this token. */
export interface TokenForPixels {
  readonly resolved: ResolvedApiToken;
  readonly session: ImageSession;
}

export interface ApiTokenAuthentication {
  /**
   * Returns the token and its owner. A token is invalid when it was revoked, has ended, or its owner's account is not active.
   *
   * @throws AppError token_invalid, rate_limited, unavailable
   */
  authenticate(token: string): Promise<ResolvedApiToken>;
  /**
   * Like `authenticate`, but from a cache that is at most half a second old, and with the object that stands for an image session. Only
   * for requests for single tiles. Does not check scopes. The result is a promise only when the database has to be queried.
   *
   * @throws AppError token_invalid, rate_limited, unavailable
   */
  authenticateForPixels(token: string): TokenForPixels | Promise<TokenForPixels>;
  /** Returns the object that stands for an image session. @throws AppError forbidden when the token may not read slides */
  pixelSessionOf(resolved: ResolvedApiToken): Promise<ImageSession>;
}
