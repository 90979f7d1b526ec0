/**
 * Registers an endpoint of the contract as a route. The route validates the input, calls the handler, and sends the response. Every
 * route of the API is registered with `serve`. `checkAccess` (access.ts) decides about the access before the route runs.
 */
import { Readable } from 'node:stream';
import {
  AppError,
  apiBase,
  type BodyOf,
  type Endpoint,
  isErrorReason,
  type Language,
  type ParamsOf,
  type Permission,
  type QueryOf,
  type ResponseOf,
  type Upload,
} from '@lamina/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Origin } from '../audit/audit-recorder.ts';
import { browserName } from '../domain/browser-name.ts';
import type { ImageSession } from '../domain/image-session.ts';
import type { Translate } from '../domain/translate.ts';
import type { Caller, Credential } from './caller.ts';
import { clientSignalOf } from './client-signal.ts';
import { languageOf } from './language.ts';
import {
  type Bytes,
  type Download,
  sendBytes,
  sendDownload,
  sendsPixels,
  sendUnchanged,
} from './send-bytes.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The contract's declaration of the route; every route below the API base has one. */
    readonly endpoint?: Endpoint;
  }
  interface FastifyRequest {
    /** Set by `checkAccess` before the body is parsed. */
    credential: Credential;
  }
}

/**
 * The caller of a request: an account, an image session (a credential for pixels), either, or null if anyone may call. A visitor of a
 * share link has only an image session. At endpoints with `isTile`, an image session also stands for a bearer token.
 */
type CallerOf<E extends Endpoint> = E['access'] extends Permission
  ? E['isTile'] extends true
    ? Caller | ImageSession
    : E['allowsVisitors'] extends true
      ? Caller | ImageSession
      : Caller
  : E['access'] extends 'image-session'
    ? ImageSession
    : E['access'] extends 'reader-or-visitor'
      ? Caller | ImageSession
      : null;

export interface EndpointRequest<E extends Endpoint> {
  readonly params: ParamsOf<E>;
  readonly query: QueryOf<E>;
  readonly body: BodyOf<E>;
  /** The file that was sent instead of a JSON body; empty when the request has no body. */
  readonly file: E['upload'] extends Upload ? Uint8Array : undefined;
  readonly caller: CallerOf<E>;
  /** Client address and request id, for the audit log. */
  readonly origin: Origin;
  /** Aborted when the client disconnects before the response is complete. */
  readonly signal: AbortSignal;
  /** Language of the response. */
  readonly language: Language;
  /** Returns the text of a Turkish and English pair that is in the language of the response. */
  readonly translate: Translate;
  /** Fastify's reply, to set headers beyond the contract. The handler returns the content of the response. */
  readonly reply: FastifyReply;
}

/** What a handler may return. `response` in the contract is a content type, null for no body, or the schema of a JSON body. */
type AnswerOf<E extends Endpoint> = E['response'] extends string
  ? ConditionalAnswerOf<E, Bytes> | Download | Redirect | StreamedText | typeof replied
  : E['response'] extends null
    ? // biome-ignore lint/suspicious/noConfusingVoidType: the type of a function without a return
      void
    : ResponseOf<E> | StreamedJson | PlainText | ConditionalAnswerOf<E, never>;

/** What may become a response with status 304: only endpoints that declare an ETag may return it. */
type ConditionalAnswerOf<E extends Endpoint, A> = E['hasEtag'] extends true ? A | typeof unchanged : never;

/** Result of a handler that has sent the response itself, with `reply`. */
export const replied = Symbol('replied');

/** Result of a handler whose ETag equals If-None-Match: 304 without a body. */
export const unchanged = Symbol('unchanged');

/** A redirect to another document (303). */
export class Redirect {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }
}

/** A long JSON response in parts. Its fields are not filtered by the contract, so its source must return only declared fields. */
export class StreamedJson {
  readonly parts: AsyncIterable<string>;

  constructor(parts: AsyncIterable<string>) {
    this.parts = parts;
  }
}

/** A long response in parts that is not JSON. */
export class StreamedText {
  readonly parts: AsyncIterable<string>;
  readonly type: string; // content type

  constructor(parts: AsyncIterable<string>, type: string) {
    this.parts = parts;
    this.type = type;
  }
}

/** A text file instead of JSON, for a client that requested it. */
export class PlainText {
  readonly text: string;
  /** Content type. */
  readonly type: string;
  /** ASCII, without quotes. */
  readonly fileName: string;

  constructor(text: string, type: string, fileName: string) {
    this.text = text;
    this.type = type;
    this.fileName = fileName;
  }
}

/** Endpoints with `needsFreshSignIn` require the current password when the sign-in is older than this. */
const freshSignInMs = 15 * 60_000;

export function serve<const E extends Endpoint>(
  app: FastifyInstance,
  endpoint: E,
  handle: (request: EndpointRequest<E>) => Promise<AnswerOf<E>> | AnswerOf<E>,
): void {
  app.route({
    method: endpoint.method,
    url: apiBase + endpoint.path,
    config: { endpoint },
    ...(endpoint.upload && { bodyLimit: endpoint.upload.maxBytes }),
    ...(endpoint.maxBodyBytes && { bodyLimit: endpoint.maxBodyBytes }),
    ...(sendsPixels(endpoint) && { helmet: false }), // `pixelHeaders` replace helmet's security headers
    handler: async (request, reply) => {
      if (endpoint.needsFreshSignIn) requireFreshSignIn(request, app.now());
      const language = languageOf(request);
      const result = await handle({
        params: request.params as ParamsOf<E>,
        query: parse(endpoint.query, request.query) as QueryOf<E>,
        body: parse(endpoint.body, request.body === undefined ? {} : request.body) as BodyOf<E>,
        file: fileOf(endpoint, request.body) as EndpointRequest<E>['file'],
        caller: request.credential as CallerOf<E>,
        origin: {
          address: request.ip,
          requestId: request.id,
          browser: browserName(request.headers['user-agent']),
        },
        // A getter, so that only handlers that read the signal pay for creating it.
        get signal() {
          return clientSignalOf(reply.raw);
        },
        language,
        translate: (text) => text[language],
        reply,
      });
      if (result instanceof Redirect) {
        return reply.header('Cache-Control', 'no-store').redirect(result.url, 303);
      }
      if (result === unchanged) return sendUnchanged(request, reply.header('Cache-Control', 'no-store'));
      if (result instanceof StreamedText) {
        reply.header('Cache-Control', 'no-store').type(result.type);
        return reply.send(Readable.from(result.parts));
      }
      if (typeof endpoint.response === 'string') {
        if (result === replied) return reply;
        const content = result as Bytes | Download;
        return 'stream' in content ? sendDownload(reply, content) : sendBytes(request, reply, content);
      }
      reply.header('Cache-Control', 'no-store').code(endpoint.status);
      if (result instanceof PlainText) {
        reply.header('Content-Disposition', `attachment; filename="${result.fileName}"`);
        return reply.type(result.type).send(result.text);
      }
      if (result instanceof StreamedJson) {
        return reply.type('application/json; charset=utf-8').send(Readable.from(result.parts));
      }
      // Properties that the contract does not declare are removed.
      return endpoint.response === null ? reply.send() : endpoint.response.parse(result);
    },
  });
}

/**
 * Requires `current_password` when the sign-in is older than 15 minutes. Runs before the body is validated (docs/permissions.md); the
 * handler verifies the password. @throws AppError reauth_required
 */
function requireFreshSignIn(request: FastifyRequest, now: Date): void {
  const { signedInAt } = request.credential as Caller;
  const body = request.body as { current_password?: unknown } | null | undefined;
  if (now.getTime() - signedInAt.getTime() > freshSignInMs && typeof body?.current_password !== 'string') {
    throw new AppError('reauth_required');
  }
}

/**
 * Returns the uploaded file, which a content type parser of the route or its scope has read into a buffer; undefined for an endpoint
 * without an upload. @throws AppError unsupported_type for a body of another content type
 */
function fileOf({ upload }: Endpoint, body: unknown): Uint8Array | undefined {
  if (upload === undefined) return undefined;
  if (body === undefined) return new Uint8Array();
  if (body instanceof Uint8Array) return body;
  throw new AppError('unsupported_type', { reason: 'file_type', name: upload.contentType });
}

/** Validates a value with a schema; undefined without a schema. @throws AppError invalid_request with the first invalid field */
function parse(schema: z.ZodObject | undefined, value: unknown): unknown {
  if (schema === undefined) return undefined;
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  if (issue === undefined) throw new AppError('invalid_request');
  const field = issue.path.join('.');
  throw new AppError('invalid_request', {
    // Schemas of the contract state an error reason as message. Without one, Zod's own message describes the issue.
    ...(isErrorReason(issue.message) ? { reason: issue.message, ...limitOf(issue) } : { issue }),
    ...(field && { field }),
  });
}

/** Returns the limit that the error message states: the maximum of a length, or `limit` of a custom rule. */
function limitOf(issue: z.core.$ZodIssue): { readonly limit?: number } {
  const limit: unknown =
    issue.code === 'too_big' ? issue.maximum : issue.code === 'custom' && issue.params?.limit;
  return typeof limit === 'number' ? { limit } : {};
}
