/**
 * The one way to the API: an endpoint of the contract in, its typed answer out.
 *
 * Adds the stored bearer token, ends a call after 10 s, and throws the contract's AppError for every
 * refusal. A 401 about the sign-in removes the stored data (see sign-in-ended below); a 401 about the
 * image session does not.
 */
import {
  AppError,
  apiBase,
  type BodyInputOf,
  type Endpoint,
  ErrorBody,
  type ErrorCode,
  isErrorCode,
  type ParamsOf,
  type QueryInputOf,
  type ResponseOf,
} from '@lamina/contract';
import type { z } from 'zod';
import { acceptLanguage } from '../language.ts';
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

/** No answer came: the server is out of reach or took longer than 10 s. */
export class NoAnswerError extends Error {
  constructor(cause: unknown) {
    super(texts.noAnswer, { cause });
    this.name = 'NoAnswerError';
  }
}

/** The server refused with something that is not an error of the contract (a proxy's page, say). */
export class UnexpectedAnswerError extends Error {
  readonly status: number;
  /** The sentence of its `message` field; null when it has none. */
  readonly sentence: string | null;

  constructor(status: number, sentence: string | null = null) {
    super(sentence ?? texts.serverError(status));
    this.name = 'UnexpectedAnswerError';
    this.status = status;
    this.sentence = sentence;
  }
}

/** Called when a 401 says that the sign-in is over. Set once, by the sign-in state. */
let signInEnded: (token: string | null) => void = () => {};
export function onSignInEnded(listener: (token: string | null) => void): void {
  signInEnded = listener;
}

type Query = Readonly<Record<string, string | number | null | undefined>>;

/** Address of an endpoint, parameters filled in. */
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
  /** In place of a body. */
  readonly file?: Blob;
  readonly signal?: AbortSignal;
  /** ETag of what is known already: the answer may be 304. */
  readonly known?: string | null;
}

/** @throws AppError, NoAnswerError, UnexpectedAnswerError; the caller's own abort passes through */
export async function call<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<ResponseOf<E>> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const text = await send(endpoint, input as PlainInput, timeout, (answer) => answer.text());
  if (endpoint.response === null || typeof endpoint.response === 'string') return undefined as ResponseOf<E>;
  return endpoint.response.parse(JSON.parse(text)) as ResponseOf<E>;
}

/**
 * As `call`, for what may be known already.
 *
 * @param known ETag of the answer before; null: there was none
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

/** A file, which may take as long as it takes. @throws as `call` does */
export function download<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<Blob> {
  return send(endpoint, input as PlainInput, null, (answer) => answer.blob());
}

/** As `call`, with a file in place of a body; that may take as long as it takes. */
export async function sendFile<E extends Endpoint>(
  endpoint: E,
  input: CallInput<E>,
  file: Blob,
): Promise<ResponseOf<E>> {
  const text = await send(endpoint, { ...(input as PlainInput), file }, null, (answer) => answer.text());
  const schema = endpoint.response as z.ZodType<ResponseOf<E>>;
  return schema.parse(JSON.parse(text));
}

/** @param timeout ends the call, reading included; null lets it take its time */
async function send<T>(
  endpoint: Endpoint,
  { params, query, body, file, signal, known }: PlainInput,
  timeout: AbortSignal | null,
  read: (answer: Response) => Promise<T>,
): Promise<T> {
  const token = storedToken();
  const headers = new Headers({ 'Accept-Language': acceptLanguage() });
  if (token !== null && endpoint.access !== 'anyone') headers.set('Authorization', `Bearer ${token}`);
  if (endpoint.body) headers.set('Content-Type', 'application/json');
  if (endpoint.upload) headers.set('Content-Type', endpoint.upload.contentType);
  if (known) headers.set('If-None-Match', known);

  const signals = [signal, timeout].filter((each) => each !== undefined && each !== null);
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
    if (signal?.aborted) throw error;
    throw new NoAnswerError(error);
  }
  throw refusalOf(refused, text, endpoint, token);
}

function refusalOf(answer: Response, text: string, endpoint: Endpoint, token: string | null): Error {
  const json = parseJson(text);
  const body = ErrorBody.safeParse(json);
  // What was typed into a form was wrong; the sign-in that sent it is as good as before.
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
    return new UnexpectedAnswerError(answer.status, sentence);
  }
  const { code, message, status, field } = body.data;
  return new AppError(code, { message, ...(status && { status }), ...(field && { field }) });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // a proxy's page; the caller turns it into UnexpectedAnswerError
  }
}

/** The server's sentence where there is one, else the screen's own. */
export function messageOf(error: unknown, otherwise: string): string {
  if (error instanceof AppError) return error.message;
  return (error instanceof UnexpectedAnswerError ? error.sentence : null) ?? otherwise;
}

/** The field that the API refused; null when it refused none. */
export function fieldOf(error: unknown): string | null {
  return error instanceof AppError ? (error.detail.field ?? null) : null;
}

/** Why the API refused; null when it did not answer, or answered nonsense. */
export function codeOf(error: unknown): ErrorCode | null {
  return error instanceof AppError ? error.code : null;
}
