/** Stub of the API, in place of `fetch`. */
import { apiBase, type ErrorCode, errors } from '@lamina/contract';
import { vi } from 'vitest';

export interface ApiCall {
  /** Method and path under the API base, without the query: 'GET /user/profile'. */
  readonly name: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** The Authorization header; null without one. */
  readonly authorization: string | null;
}

type Answer = Response | object;
type Answering = (call: ApiCall) => Answer | Promise<Answer>;
/** Responses by call: JSON or a Response; a function runs for every call. */
export type Answers = Readonly<Record<string, Answer | Answering>>;

/** Returns an error response like the server's. */
export function refusal(code: ErrorCode, message: string = errors[code].tr): Response {
  const { status } = errors[code];
  const headers = { ...(status === 401 && { 'WWW-Authenticate': 'Bearer realm="api"' }) };
  return Response.json({ code, message }, { status, headers });
}

/**
 * Replaces the network. A call without a response fails with a network error.
 *
 * @returns all calls so far, in order
 */
export function stubApi(answers: Answers): readonly ApiCall[] {
  const calls: ApiCall[] = [];
  vi.stubGlobal('fetch', async (address: string | URL, request: RequestInit = {}) => {
    const { pathname, searchParams } = new URL(address, 'http://localhost');
    const call: ApiCall = {
      name: `${request.method ?? 'GET'} ${pathname.replace(apiBase, '')}`,
      query: Object.fromEntries(searchParams),
      body: typeof request.body === 'string' ? (JSON.parse(request.body) as unknown) : undefined,
      authorization: new Headers(request.headers).get('Authorization'),
    };
    calls.push(call);
    request.signal?.throwIfAborted();
    const response = answers[call.name];
    if (response === undefined) throw new TypeError('Failed to fetch');
    const answer = typeof response === 'function' ? await (response as Answering)(call) : response;
    request.signal?.throwIfAborted();
    return answer instanceof Response ? answer.clone() : Response.json(answer);
  });
  return calls;
}

/** Returns a response that the test resolves later. */
export function later(): { readonly answer: () => Promise<Answer>; readonly give: (answer: Answer) => void } {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  return { answer: () => promise, give: resolve };
}
