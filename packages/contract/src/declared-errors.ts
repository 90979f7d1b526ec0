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
    // By the kind of access. An access without an entry in `errorsByAccess` needs a bearer token.
    ...(errorsByAccess[access] ??
      (['token_missing', 'token_invalid', 'account_not_active', 'forbidden'] as const)),
    ...(access === 'catalogue.read' || access === 'reader-or-visitor' || allowsVisitors
      ? (['session_invalid'] as const) // a session parameter must be valid
      : []),
    ...(apiTokenScope === undefined ? [] : (['forbidden', 'rate_limited'] as const)), // for requests with API tokens
    ...(needsFreshSignIn ? (['reauth_required'] as const) : []),
    ...(/[:*]/.test(path) ? (['not_found'] as const) : []), // for a malformed path parameter
    ...(method === 'GET' ? [] : (['unsupported_type'] as const)),
    'invalid_request', // a query that cannot be decoded, or a parameter sent twice
    'too_large', // for a body or URL that is too long
    'internal',
    'unavailable',
  ];
}
