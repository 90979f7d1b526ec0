/** The API as a test tells it, answered at the edge of the network. */
import { apiBase, type ErrorCode, errors } from '@lamina/contract';
import { vi } from 'vitest';

export interface ApiCall {
  /** Method and path under the API base, without the query: 'GET /user/profile'. */
  readonly name: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** The whole Authorization header; null without one. */
  readonly authorization: string | null;
}

type Answer = Response | object;
type Answering = (call: ApiCall) => Answer | Promise<Answer>;
/** What each call is answered with: JSON, or a Response; a function is asked at every call. */
export type Answers = Readonly<Record<string, Answer | Answering>>;

/** A refusal as the server words it. */
export function refusal(code: ErrorCode, message: string = errors[code].tr): Response {
  const { status } = errors[code];
  const headers = { ...(status === 401 && { 'WWW-Authenticate': 'Bearer realm="api"' }) };
  return Response.json({ code, message }, { status, headers });
}

/**
 * Takes the place of the network. A call that the test does not answer finds no server.
 *
 * @returns every call so far, in order
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
    const told = answers[call.name];
    if (told === undefined) throw new TypeError('Failed to fetch');
    const answer = typeof told === 'function' ? await (told as Answering)(call) : told;
    return answer instanceof Response ? answer.clone() : Response.json(answer);
  });
  return calls;
}

/** For a call that the test answers when it is ready. */
export function later(): { readonly answer: () => Promise<Answer>; readonly give: (answer: Answer) => void } {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  return { answer: () => promise, give: resolve };
}
