/** Interface of API tokens to the rest of the server; api-tokens/api-tokens.ts implements it. */
import type { ApiTokenScope } from '@lamina/contract';
import type { ApiTokenName, ImageSession } from '../domain/image-session.ts';
import type { ResolvedToken } from './sign-in-service.ts';

/** A valid API token, what it may do at this moment, and its owner's account as it is now. */
export interface ResolvedApiToken extends ResolvedToken {
  readonly apiToken: ApiTokenName & {
    /** Those of the token that the owner may still give. */
    readonly scopes: ReadonlySet<ApiTokenScope>;
  };
}

/** A token, and what takes the place of an image session for its requests. */
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
   * As `authenticate`, by what the database said at most half a second ago, with what takes the place of an image session.
   * For requests of single tiles alone; the scopes are not checked. A promise only when the database has to be asked.
   *
   * @throws AppError token_invalid, rate_limited, unavailable
   */
  authenticateForPixels(token: string): TokenForPixels | Promise<TokenForPixels>;
  /** Returns what takes the place of an image session for a request with this token. @throws AppError forbidden */
  pixelSessionOf(resolved: ResolvedApiToken): Promise<ImageSession>;
}
