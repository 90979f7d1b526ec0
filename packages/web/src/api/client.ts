/**
 * The API client: calls an endpoint of the contract and returns its typed response.
 *
 * It adds the stored bearer token if the endpoint needs one, times out after 10 s (except for files and streams), and
 * throws a `ResponseError` for every error response of the API. When a 401 rejects the bearer token (and not an image
 * session, the credential for loading pixels), it calls the listener of `onSignInEnded`, which removes the sign-in.
 */
import {
  AppError,
  type AppErrorDetail,
  apiBase,
  type BodyInputOf,
  type Endpoint,
  ErrorBody,
  type ErrorCode,
  errorText,
  isErrorCode,
  type Language,
  type ParamsOf,
  type QueryInputOf,
  type ResponseOf,
} from '@lamina/contract';
import type { z } from 'zod';
import { acceptLanguage, chosenLanguageOr } from '../language/language.ts';
import { storedToken } from './stored-sign-in.ts';
import { imageTexts as texts } from './texts.ts';

const defaultTimeoutMs = 10_000;

/** The property `Name` of the input of a call; `unknown` adds no property when the endpoint has no such input. */
type InputPart<Name extends string, Value> = [Value] extends [undefined]
  ? unknown
  : { readonly [N in Name]: Value };
type CallInput<E extends Endpoint> = (keyof ParamsOf<E> extends never
  ? unknown
  : { readonly params: ParamsOf<E> }) &
  InputPart<'query', QueryInputOf<E>> &
  InputPart<'body', BodyInputOf<E>> & {
    readonly signal?: AbortSignal;
    /** Time after which `call` gives up, in milliseconds; 10 s by default. */
    readonly timeoutMs?: number;
    /** Language of error messages until the user chooses one (language/language.ts); by default, the language of the endpoint. */
    readonly languageBeforeChoice?: Language;
  };

/** The server sent no response: it is unreachable, or took longer than 10 s. */
export class NoResponseError extends Error {
  constructor(cause: unknown) {
    super(texts.noResponse, { cause });
    this.name = 'NoResponseError';
  }
}

/** An error response of the API. Its message is the text that the server chose for the user. */
export class ResponseError extends AppError {
  constructor(code: ErrorCode, text: string, detail: AppErrorDetail = {}) {
    super(code, detail);
    this.name = 'ResponseError';
    this.message = text;
  }
}

/** An error response that is not in the contract, such as a proxy's page. */
export class UnexpectedResponseError extends Error {
  readonly status: number;
  /** The `message` field of the response; null if there is none. The message of the Error then states only the status. */
  readonly serverMessage: string | null;

  constructor(status: number, serverMessage: string | null = null) {
    super(serverMessage ?? texts.serverError(status));
    this.name = 'UnexpectedResponseError';
    this.status = status;
    this.serverMessage = serverMessage;
  }
}

/** Called with the token of the request when a 401 ends the sign-in. `connectAuth` sets it. */
let notifySignInEnded: (token: string | null) => void = () => {};
export function onSignInEnded(listener: (token: string | null) => void): void {
  notifySignInEnded = listener;
}

/** Aborts GET requests when the user signs out: the server would reject requests that arrive after the sign-in has ended. */
let signOutController = new AbortController();

/** Returns the signal that aborts the GET requests of this sign-in, including those for pixels, when the user signs out. */
export function signOutSignal(): AbortSignal {
  return signOutController.signal;
}

/** Aborts all GET requests of the sign-in, and also new GET requests until the caller calls the returned function. */
export function abortCallsAtSignOut(): () => void {
  signOutController.abort();
  return () => {
    signOutController = new AbortController();
  };
}

type Query = Readonly<Record<string, string | number | null | undefined>>;

/** Returns the URL of an endpoint with its path parameters and query. @throws Error 'Image ID is required' for an empty image id */
export function endpointUrl(
  endpoint: Endpoint,
  params: Readonly<Record<string, string>> = {},
  query: Query = {},
): string {
  const path = endpoint.path.replace(/:(\w+)/g, (_, name: string) => {
    const value = params[name] ?? '';
    // With an empty id, the URL would be that of another endpoint, which lists all images.
    if (name === 'imageId' && value === '') throw new Error('Image ID is required');
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) search.set(name, String(value));
  }
  const queryText = search.toString();
  return `${apiBase}${path}${queryText ? `?${queryText}` : ''}`;
}

/** `CallInput` without the types of a particular endpoint, and with further options of the functions below. */
interface PlainInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Query;
  readonly body?: unknown;
  /** Request body of endpoints that accept a file; used instead of `body`. */
  readonly file?: Blob;
  readonly signal?: AbortSignal;
  readonly languageBeforeChoice?: Language;
  /** ETag of the cached response, for which the server may respond with 304. */
  readonly cachedEtag?: string | null;
  /** Id of the last received event, to resume a stream of server-sent events. */
  readonly lastEventId?: string | null;
}

/**
 * Calls an endpoint.
 *
 * @throws ResponseError, NoResponseError or UnexpectedResponseError; ZodError or SyntaxError when a successful response violates the
 *   contract; the abort reason of the caller's signal or of `signOutSignal`
 */
export async function call<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<ResponseOf<E>> {
  const timeout = AbortSignal.timeout(input.timeoutMs ?? defaultTimeoutMs);
  const text = await send(endpoint, input as PlainInput, timeout, (response) => response.text());
  // Null: the endpoint has no response body. A string is the content type of a response that is not JSON; use `download` or `openStream`.
  if (endpoint.response === null || typeof endpoint.response === 'string') return undefined as ResponseOf<E>;
  return endpoint.response.parse(JSON.parse(text)) as ResponseOf<E>;
}

/**
 * Like `call`, with a conditional request.
 *
 * @param cachedEtag ETag of the cached response; null if there is none
 * @returns null when the server responds with 304, that is, nothing has changed
 */
export async function callIfChanged<E extends Endpoint>(
  endpoint: E,
  input: CallInput<E>,
  cachedEtag: string | null,
): Promise<{ readonly response: ResponseOf<E>; readonly etag: string | null } | null> {
  const timeout = AbortSignal.timeout(defaultTimeoutMs);
  const read = async (response: Response) =>
    response.status === 304 ? null : { text: await response.text(), etag: response.headers.get('ETag') };
  const changed = await send(endpoint, { ...(input as PlainInput), cachedEtag }, timeout, read);
  if (changed === null) return null;
  const schema = endpoint.response as z.ZodType<ResponseOf<E>>;
  return { response: schema.parse(JSON.parse(changed.text)), etag: changed.etag };
}

/** Downloads a file, without a time limit. @throws like `call` */
export function download<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<Blob> {
  return send(endpoint, input as PlainInput, null, (response) => response.blob());
}

/** Like `download`. Also returns the value of a header of the response; null when the header is absent. */
export function downloadWithHeader<E extends Endpoint>(
  endpoint: E,
  input: CallInput<E>,
  headerName: string,
): Promise<{ readonly file: Blob; readonly header: string | null }> {
  return send(endpoint, input as PlainInput, null, async (response) => ({
    file: await response.blob(),
    header: response.headers.get(headerName),
  }));
}

/**
 * Opens a response that the caller reads while it is being received, without a time limit. Reading the stream may throw.
 *
 * @param lastEventId id of the server-sent event after which the stream resumes; null begins with the next event
 * @throws like `call`
 */
export function openStream<E extends Endpoint>(
  endpoint: E,
  input: CallInput<E>,
  lastEventId: string | null = null,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const read = async ({ body }: Response) => body ?? new ReadableStream();
  return send(endpoint, { ...(input as PlainInput), lastEventId }, null, read);
}

/** Like `call`, with a file as the body and without a time limit. */
export async function sendFile<E extends Endpoint>(
  endpoint: E,
  input: CallInput<E>,
  file: Blob,
): Promise<ResponseOf<E>> {
  const text = await send(endpoint, { ...(input as PlainInput), file }, null, (response) => response.text());
  const schema = endpoint.response as z.ZodType<ResponseOf<E>>;
  return schema.parse(JSON.parse(text));
}

/** Sends a request and reads the response. @param timeout aborts the request and the reading of the body; null for no time limit */
async function send<T>(
  endpoint: Endpoint,
  { params, query, body, file, signal, languageBeforeChoice, cachedEtag, lastEventId }: PlainInput,
  timeout: AbortSignal | null,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const token = storedToken();
  const headers = new Headers({ 'Accept-Language': acceptLanguage(languageBeforeChoice) });
  // With the session of a share link, the call acts for a visitor, even in the browser of a signed-in account.
  const isForVisitors = endpoint.access === 'reader-or-visitor' || endpoint.allowsVisitors === true;
  const isVisitor = isForVisitors && typeof query?.session === 'string';
  if (token !== null && endpoint.access !== 'anyone' && !isVisitor) {
    headers.set('Authorization', `Bearer ${token}`);
  }
  if (endpoint.body) headers.set('Content-Type', 'application/json');
  if (endpoint.upload) headers.set('Content-Type', endpoint.upload.contentType);
  if (cachedEtag) headers.set('If-None-Match', cachedEtag);
  if (lastEventId) headers.set('Last-Event-ID', lastEventId);

  const untilSignOut =
    endpoint.method === 'GET' && headers.has('Authorization') ? signOutController.signal : null;
  const signals = [signal, timeout, untilSignOut].filter(
    (abortSignal) => abortSignal !== undefined && abortSignal !== null,
  );
  let errorResponse: Response;
  let responseText: string;
  try {
    const response = await fetch(endpointUrl(endpoint, params, query), {
      method: endpoint.method,
      headers,
      ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
      ...(endpoint.body ? { body: JSON.stringify(body ?? {}) } : {}),
      ...(file && { body: file }),
    });
    if (response.ok || (cachedEtag && response.status === 304)) return await read(response);
    errorResponse = response;
    responseText = await response.text();
  } catch (error) {
    if (signal?.aborted || untilSignOut?.aborted) throw error;
    throw new NoResponseError(error);
  }
  throw apiErrorOf(errorResponse, responseText, endpoint, token);
}

/** Converts an error response to an Error. Reports a 401 that ends the sign-in. @param token the bearer token of the request */
function apiErrorOf(response: Response, text: string, endpoint: Endpoint, token: string | null): Error {
  const json = parseJson(text);
  const body = ErrorBody.safeParse(json);
  // With these codes, the user has typed a wrong password or second-factor code, and the sign-in is still valid.
  const isWrongInput =
    body.success && (body.data.code === 'credentials_invalid' || body.data.code === 'second_factor_invalid');
  if (
    response.status === 401 &&
    endpoint.access !== 'anyone' &&
    concernsSignIn(response, endpoint) &&
    !isWrongInput
  )
    notifySignInEnded(token);
  if (!body.success || !isErrorCode(body.data.code)) {
    const serverMessage = ErrorBody.pick({ message: true }).safeParse(json).data?.message;
    return new UnexpectedResponseError(response.status, serverMessage);
  }
  const { code, message, status, field, conflicts } = body.data;
  const detail = { ...(status && { status }), ...(field && { field }), ...(conflicts && { conflicts }) };
  return new ResponseError(code, message, detail);
}

/**
 * Returns whether a 401 rejects the bearer token. The scheme in its header is `ImageSession` for a rejected image session. A proxy may
 * remove the header: a 401 of a catalogue endpoint then counts as a rejected image session, and any other as a rejected bearer token.
 */
function concernsSignIn({ headers }: Response, { path }: Endpoint): boolean {
  const scheme = headers.get('WWW-Authenticate');
  return scheme === null ? !path.startsWith('/image-catalog/') : scheme.startsWith('Bearer');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // not JSON, such as the page of a proxy: the caller throws UnexpectedResponseError
  }
}

/** Returns the message of an error for the user: the server's, if it sent one. @param fallback returned when there is none */
export function messageOf(error: unknown, fallback: string): string {
  if (error instanceof ResponseError) return error.message;
  if (error instanceof AppError) return errorText(error, chosenLanguageOr('tr')); // not from a response body: this app created it
  return (error instanceof UnexpectedResponseError ? error.serverMessage : null) ?? fallback;
}

/** Returns the name of the request field that the API rejected; null if the error names none. */
export function fieldOf(error: unknown): string | null {
  return error instanceof AppError ? (error.detail.field ?? null) : null;
}

/** Returns the error code; null when the server sent no response or one that is not in the contract. */
export function codeOf(error: unknown): ErrorCode | null {
  return error instanceof AppError ? error.code : null;
}
