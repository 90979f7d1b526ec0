/** A stub of the API that replaces `fetch` in tests. */
import { apiBase, type ErrorCode, endpoints, errors, type Language } from '@lamina/contract';
import { vi } from 'vitest';

export interface ApiCall {
  /** Method and path under the API base, without the query: 'GET /user/profile'. */
  readonly name: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** The Authorization header; null if there is none. */
  readonly authorization: string | null;
}

/** A response, or the JSON body of a response with status 200. */
type Answer = Response | object;
/** @param language language in which the server would respond to the call */
type AnswerFunction = (call: ApiCall, language: Language) => Answer | Promise<Answer>;
/** Answers by `ApiCall.name`. An answer can be a function, which runs for every call with this name. */
export type Answers = Readonly<Record<string, Answer | AnswerFunction>>;

/** Returns an error response as the server sends it. The message is Turkish by default. */
export function errorResponse(code: ErrorCode, message: string = errors[code].tr): Response {
  const { status } = errors[code];
  const headers = { ...(status === 401 && { 'WWW-Authenticate': 'Bearer realm="api"' }) };
  return Response.json({ code, message }, { status, headers });
}

/** Returns an answer for `stubApi`: the error in the language in which the server would respond to the call. */
export function errorInLanguageOfCall(code: ErrorCode): AnswerFunction {
  return (_, language) => errorResponse(code, errors[code][language]);
}

/** Returns the language in which the server responds: the language that the request chooses, otherwise the default of the endpoint. */
function languageOf({ name }: ApiCall, acceptLanguage: string | null): Language {
  if (acceptLanguage === 'tr' || acceptLanguage === 'en') return acceptLanguage;
  const endpoint = Object.values(endpoints).find(({ method, path }) =>
    new RegExp(`^${method} ${path.replaceAll(/:\w+/g, '[^/]+')}$`).test(name),
  );
  return endpoint?.defaultMessageLanguage ?? 'tr';
}

/**
 * Replaces `fetch`. A call that `answers` does not contain fails with a network error.
 *
 * @returns all calls so far, in order
 */
export function stubApi(answers: Answers): readonly ApiCall[] {
  const calls: ApiCall[] = [];
  vi.stubGlobal('fetch', async (url: string | URL, request: RequestInit = {}) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const call: ApiCall = {
      name: `${request.method ?? 'GET'} ${pathname.replace(apiBase, '')}`,
      query: Object.fromEntries(searchParams),
      body: typeof request.body === 'string' ? (JSON.parse(request.body) as unknown) : undefined,
      authorization: new Headers(request.headers).get('Authorization'),
    };
    calls.push(call);
    request.signal?.throwIfAborted();
    const answerOrFunction = answers[call.name];
    if (answerOrFunction === undefined) throw new TypeError('Failed to fetch');
    const answer =
      typeof answerOrFunction === 'function'
        ? await (answerOrFunction as AnswerFunction)(
            call,
            languageOf(call, new Headers(request.headers).get('Accept-Language')),
          )
        : answerOrFunction;
    request.signal?.throwIfAborted();
    return answer instanceof Response ? answer.clone() : Response.json(answer);
  });
  return calls;
}

/** Returns an `answer` for `stubApi` that stays pending until the test passes the response to `respondWith`. */
export function pendingResponse(): {
  readonly answer: () => Promise<Answer>;
  readonly respondWith: (answer: Answer) => void;
} {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  return { answer: () => promise, respondWith: resolve };
}
