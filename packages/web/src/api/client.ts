/**
 * The API client: calls an endpoint of the contract and returns its typed response.
 *
 * Adds the stored bearer token, times out after 10 s, and throws a `ResponseError` for every
 * error response. A 401 for the sign-in removes the stored data (see sign-in-ended below); a 401 for the
 * image session does not.
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
  type ParamsOf,
  type QueryInputOf,
  type ResponseOf,
} from '@lamina/contract';
import type { z } from 'zod';
import { acceptLanguage, languageNow } from '../language/language.ts';
import { storedToken } from './stored-sign-in.ts';
import { imageTexts as texts } from './texts.ts';

const timeoutMs = 10_000;

type Part<Name extends string, Value> = [Value] extends [undefined]
  ? unknown
  : { readonly [N in Name]: Value };
type CallInput<E extends Endpoint> = (keyof ParamsOf<E> extends never
  ? unknown
  : { readonly params: ParamsOf<E> }) &
  Part<'query', QueryInputOf<E>> &
  Part<'body', BodyInputOf<E>> & { readonly signal?: AbortSignal };

/** No response: the server is unreachable or took longer than 10 s. */
export class NoResponseError extends Error {
  constructor(cause: unknown) {
    super(texts.noAnswer, { cause });
    this.name = 'NoResponseError';
  }
}

/** An error response of the API. Its message is the text that the server chose for the person. */
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
  /** Its `message` field; null without one. */
  readonly sentence: string | null;

  constructor(status: number, sentence: string | null = null) {
    super(sentence ?? texts.serverError(status));
    this.name = 'UnexpectedResponseError';
    this.status = status;
    this.sentence = sentence;
  }
}

/** Called when a 401 reports the end of the sign-in. Set once, by the sign-in state. */
let signInEnded: (token: string | null) => void = () => {};
export function onSignInEnded(listener: (token: string | null) => void): void {
  signInEnded = listener;
}

/** Aborted while the sign-in ends: the server would refuse the reading calls that are still on their way. */
let readingCalls = new AbortController();

/** Returns the signal that aborts requests of this sign-in, also those for pixels, while it ends. */
export function readingCallsSignal(): AbortSignal {
  return readingCalls.signal;
}

/** Aborts the reading calls of the sign-in and all that begin until the returned function is called. */
export function abortReadingCalls(): () => void {
  readingCalls.abort();
  return () => {
    readingCalls = new AbortController();
  };
}

type Query = Readonly<Record<string, string | number | null | undefined>>;

/** Returns the address of an endpoint with its parameters. */
export function addressOf(
  endpoint: Endpoint,
  params: Readonly<Record<string, string>> = {},
  query: Query = {},
): string {
  const path = endpoint.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) search.set(name, String(value));
  }
  const text = search.toString();
  return `${apiBase}${path}${text ? `?${text}` : ''}`;
}

interface PlainInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Query;
  readonly body?: unknown;
  /** Instead of a body. */
  readonly file?: Blob;
  readonly signal?: AbortSignal;
  /** ETag of the cached response: the server may answer 304. */
  readonly known?: string | null;
  /** Continues a stream of server-sent events. */
  readonly lastEventId?: string | null;
}

/** @throws AppError, NoResponseError, UnexpectedResponseError; passes the caller's abort on */
export async function call<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<ResponseOf<E>> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const text = await send(endpoint, input as PlainInput, timeout, (answer) => answer.text());
  if (endpoint.response === null || typeof endpoint.response === 'string') return undefined as ResponseOf<E>;
  return endpoint.response.parse(JSON.parse(text)) as ResponseOf<E>;
}

/**
 * Like `call`, with a conditional request.
 *
 * @param known ETag of the previous response; null without one
 * @returns null when nothing has changed
 */
export async function callIfChanged<E extends Endpoint>(
  endpoint: E,
  input: CallInput<E>,
  known: string | null,
): Promise<{ readonly answer: ResponseOf<E>; readonly etag: string | null } | null> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const read = async (answer: Response) =>
    answer.status === 304 ? null : { text: await answer.text(), etag: answer.headers.get('ETag') };
  const changed = await send(endpoint, { ...(input as PlainInput), known }, timeout, read);
  if (changed === null) return null;
  const schema = endpoint.response as z.ZodType<ResponseOf<E>>;
  return { answer: schema.parse(JSON.parse(changed.text)), etag: changed.etag };
}

/** Downloads a file, without a time limit. @throws like `call` */
export function download<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<Blob> {
  return send(endpoint, input as PlainInput, null, (answer) => answer.blob());
}

/**
 * Opens a response that is read while it arrives, without a time limit. Errors while it is read belong to the reader.
 *
 * @param lastEventId the server-sent event after which the stream continues; null: begin with the next one
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
  const text = await send(endpoint, { ...(input as PlainInput), file }, null, (answer) => answer.text());
  const schema = endpoint.response as z.ZodType<ResponseOf<E>>;
  return schema.parse(JSON.parse(text));
}

/** @param timeout includes reading the body; null: no limit */
async function send<T>(
  endpoint: Endpoint,
  { params, query, body, file, signal, known, lastEventId }: PlainInput,
  timeout: AbortSignal | null,
  read: (answer: Response) => Promise<T>,
): Promise<T> {
  const token = storedToken();
  const headers = new Headers({ 'Accept-Language': acceptLanguage() });
  // A visitor's session stands alone, also in the browser of a signed-in account.
  const isForVisitors = endpoint.access === 'reader-or-visitor' || endpoint.visitors === true;
  const isVisitor = isForVisitors && typeof query?.session === 'string';
  if (token !== null && endpoint.access !== 'anyone' && !isVisitor) {
    headers.set('Authorization', `Bearer ${token}`);
  }
  if (endpoint.body) headers.set('Content-Type', 'application/json');
  if (endpoint.upload) headers.set('Content-Type', endpoint.upload.contentType);
  if (known) headers.set('If-None-Match', known);
  if (lastEventId) headers.set('Last-Event-ID', lastEventId);

  const ending = endpoint.method === 'GET' && headers.has('Authorization') ? readingCalls.signal : null;
  const signals = [signal, timeout, ending].filter((each) => each !== undefined && each !== null);
  let refused: Response;
  let text: string;
  try {
    const answer = await fetch(addressOf(endpoint, params, query), {
      method: endpoint.method,
      headers,
      ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
      ...(endpoint.body ? { body: JSON.stringify(body ?? {}) } : {}),
      ...(file && { body: file }),
    });
    if (answer.ok || (known && answer.status === 304)) return await read(answer);
    refused = answer;
    text = await answer.text();
  } catch (error) {
    if (signal?.aborted || ending?.aborted) throw error;
    throw new NoResponseError(error);
  }
  throw apiErrorOf(refused, text, endpoint, token);
}

function apiErrorOf(answer: Response, text: string, endpoint: Endpoint, token: string | null): Error {
  const json = parseJson(text);
  const body = ErrorBody.safeParse(json);
  // The form input was wrong; the sign-in itself is still valid.
  const isTypedWrong =
    body.success && (body.data.code === 'credentials_invalid' || body.data.code === 'second_factor_invalid');
  if (
    answer.status === 401 &&
    endpoint.access !== 'anyone' &&
    answer.headers.get('WWW-Authenticate')?.startsWith('Bearer') &&
    !isTypedWrong
  ) {
    signInEnded(token);
  }
  if (!body.success || !isErrorCode(body.data.code)) {
    const sentence = ErrorBody.pick({ message: true }).safeParse(json).data?.message;
    return new UnexpectedResponseError(answer.status, sentence);
  }
  const { code, message, status, field, conflicts } = body.data;
  const detail = { ...(status && { status }), ...(field && { field }), ...(conflicts && { conflicts }) };
  return new ResponseError(code, message, detail);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // a proxy's page; the caller throws UnexpectedResponseError
  }
}

/** Returns the server's message if there is one, else the screen's. */
export function messageOf(error: unknown, otherwise: string): string {
  if (error instanceof ResponseError) return error.message;
  if (error instanceof AppError) return errorText(error, languageNow('tr'));
  return (error instanceof UnexpectedResponseError ? error.sentence : null) ?? otherwise;
}

/** Returns the field that the API rejected; null without one. */
export function fieldOf(error: unknown): string | null {
  return error instanceof AppError ? (error.detail.field ?? null) : null;
}

/** Returns the error code; null without a response or with an unexpected one. */
export function codeOf(error: unknown): ErrorCode | null {
  return error instanceof AppError ? error.code : null;
}
