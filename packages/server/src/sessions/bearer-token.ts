/** Functions for bearer tokens (RFC 6750) in the Authorization header: the tokens of sign-ins, and API tokens. */
import { AppError, apiTokenPrefix } from '@lamina/contract';
import type { ApiTokenAuthentication, ResolvedApiToken } from './api-token-service.ts';
import type { ResolvedToken, SignInService } from './sign-in-service.ts';

interface BearerServices {
  readonly signIn: Pick<SignInService, 'resolveToken'>;
  readonly apiTokens: Pick<ApiTokenAuthentication, 'authenticate'>;
}

/**
 * Returns the account to which the request's bearer token belongs, and the sign-in or the API token.
 *
 * @param rawHeaders alternating names and values, because Node's `headers` hides a repeated header
 * @throws AppError token_missing; token_invalid, also for a repeated header; rate_limited, only for an API token
 */
export async function resolveBearerToken(
  rawHeaders: readonly string[],
  { signIn, apiTokens }: BearerServices,
): Promise<ResolvedToken | ResolvedApiToken> {
  const token = bearerTokenIn(rawHeaders);
  if (isApiToken(token)) return apiTokens.authenticate(token);
  const resolved = await signIn.resolveToken(token);
  if (resolved === null) throw new AppError('token_invalid');
  return resolved;
}

/**
 * Returns the bearer token of the Authorization header.
 *
 * @throws AppError token_missing; token_invalid for another scheme, a malformed value or a repeated header
 */
export function bearerTokenIn(rawHeaders: readonly string[]): string {
  let headerValue: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() !== 'authorization') continue;
    if (headerValue !== undefined) throw new AppError('token_invalid');
    headerValue = rawHeaders[i + 1] ?? '';
  }
  if (headerValue === undefined) throw new AppError('token_missing');
  // For example: Bearer mF_9.B5f-4.1JqM
  const token = /^Bearer ([\w.~+/-]{1,8192}=*)$/i.exec(headerValue)?.[1];
  if (token === undefined) throw new AppError('token_invalid');
  return token;
}

export function isApiToken(token: string): boolean {
  return token.startsWith(apiTokenPrefix);
}

const apiTokenHeaderPattern = new RegExp(`^Bearer +${apiTokenPrefix}`, 'i');

/** Returns whether an Authorization header contains a token with the prefix of API tokens, valid or not. */
export function carriesApiToken(authorization: string | undefined): boolean {
  return authorization !== undefined && apiTokenHeaderPattern.test(authorization);
}
