/** A client of the API of a running server, for scripts that need accounts or data on it (development, benchmarks). */
import { setTimeout } from 'node:timers/promises';

/** Waits until the server reports that it is ready. There is no time limit. */
export async function waitUntilReady(serverUrl: string): Promise<void> {
  for (;;) {
    try {
      if ((await fetch(`${serverUrl}/health/ready`)).ok) return;
    } catch {
      // The server does not listen yet.
    }
    await setTimeout(200, undefined, { ref: false }); // does not keep this process running
  }
}

export interface ApiCall {
  /** Bearer token of the caller. */
  readonly token?: string;
  readonly body?: object;
}

/**
 * Calls the API and returns the response body, which must be JSON.
 *
 * @param path path below `/api/v1`
 * @typeParam Body shape of the response body, which is not validated
 * @throws Error when the response status is not 2xx
 */
export async function callApi<Body>(
  serverUrl: string,
  method: string,
  path: string,
  { token, body }: ApiCall = {},
): Promise<Body> {
  const response = await fetch(`${serverUrl}/api/v1${path}`, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (response.ok) return (await response.json()) as Body;
  const { message } = (await response.json()) as { message?: string };
  throw new Error(`${method} ${path}: ${response.status} ${message}`);
}

/** Signs in with a password and returns the bearer token. */
export async function signIn(
  serverUrl: string,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<string> {
  const { token } = await callApi<{ token: string }>(serverUrl, 'POST', '/auth/login', {
    body: { email, password },
  });
  return token;
}
