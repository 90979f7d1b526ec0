/** The error codes that an endpoint may return. The server checks its responses against them, and OpenAPI lists them. */
import type { Endpoint } from './endpoint.ts';
import type { ErrorCode } from './errors.ts';

const cache = new WeakMap<Endpoint, ReadonlySet<ErrorCode>>();

/** Returns the codes that the endpoint declares, and the codes that all endpoints with the same kind of access may return. */
export function declaredErrors(endpoint: Endpoint): ReadonlySet<ErrorCode> {
  let codes = cache.get(endpoint);
  if (codes === undefined) {
    codes = new Set([...commonErrors(endpoint), ...endpoint.errors]);
    cache.set(endpoint, codes);
  }
  return codes;
}

/** Returns the errors that the server may send without calling the handler of the endpoint. */
function commonErrors({
  access,
  apiTokenScope,
  path,
  method,
  needsFreshSignIn,
  allowsVisitors,
}: Endpoint): ErrorCode[] {
  const errorsByAccess: Readonly<Record<string, readonly ErrorCode[]>> = {
    anyone: [],
    'image-session': ['session_missing', 'session_invalid', 'token_invalid'],
  };
  return [
    // A kind of access without an entry in `errorsByAccess` needs a bearer token.
    ...(errorsByAccess[access] ??
      (['token_missing', 'token_invalid', 'account_not_active', 'forbidden'] as const)),
    ...(access === 'catalogue.read' || access === 'reader-or-visitor' || allowsVisitors
      ? (['session_invalid'] as const) // the query parameter `session` must be valid if it is sent
      : []),
    ...(apiTokenScope === undefined ? [] : (['forbidden', 'rate_limited'] as const)), // an API token lacks the scope, or is used too often
    ...(needsFreshSignIn ? (['reauth_required'] as const) : []),
    ...(/[:*]/.test(path) ? (['not_found'] as const) : []), // a path parameter is malformed
    ...(method === 'GET' ? [] : (['unsupported_type'] as const)),
    'invalid_request', // the query cannot be decoded, or has a parameter twice
    'too_large', // the body or the URL is too long
    'internal',
    'unavailable',
  ];
}
