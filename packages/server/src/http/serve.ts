/**
 * Registers an endpoint of the contract: access, then input, then the route's own work, then the answer.
 * Every route of the API goes through here.
 */
import { Readable } from 'node:stream';
import { createBrotliDecompress } from 'node:zlib';
import {
  AppError,
  apiBase,
  type BodyOf,
  type Endpoint,
  type InBothLanguages,
  type Language,
  type ParamsOf,
  type Permission,
  type QueryOf,
  type ResponseOf,
  ruleIn,
  type Upload,
} from '@lamina/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Origin } from '../audit.ts';
import { browserName } from '../domain/browser-name.ts';
import type { ImageSession } from '../domain/image-session.ts';
import type { Caller, Credential } from './access.ts';
import { languageOf } from './language.ts';
import { type Bytes, type Download, sendBytes, sendDownload } from './send-bytes.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The contract's declaration behind a route; every route below the API base has one. */
    readonly endpoint?: Endpoint;
  }
  interface FastifyRequest {
    credential: Credential;
  }
}

type CallerOf<E extends Endpoint> = E['access'] extends Permission
  ? Caller
  : E['access'] extends 'image-session'
    ? ImageSession
    : null;

export interface ServedRequest<E extends Endpoint> {
  readonly params: ParamsOf<E>;
  readonly query: QueryOf<E>;
  readonly body: BodyOf<E>;
  /** What was sent in place of a body; empty when nothing was. */
  readonly file: E['upload'] extends Upload ? Uint8Array : undefined;
  readonly caller: CallerOf<E>;
  /** Where it comes from, for the audit trail: client address and request id. */
  readonly origin: Origin;
  /** Aborted when the client leaves before the answer is complete. */
  readonly signal: AbortSignal;
  /** Language of the answer. */
  readonly language: Language;
  /** A sentence for the person, in that language. */
  readonly say: (sentence: InBothLanguages) => string;
  /** For headers beyond the contract; the answer itself is what the handler returns. */
  readonly reply: FastifyReply;
}

type AnswerOf<E extends Endpoint> = E['response'] extends string
  ? Bytes | Download
  : E['response'] extends null
    ? // biome-ignore lint/suspicious/noConfusingVoidType: what a function without a return returns
      void
    : ResponseOf<E> | StreamedJson | typeof unchanged;

/** Answer of a handler that has set an ETag which the caller named: 304, without a body. */
export const unchanged = Symbol('unchanged');

/**
 * A long answer, as JSON in parts, or in Brotli already. Whoever makes it answers for its being what the contract says,
 * and no more.
 */
export class StreamedJson {
  readonly text: { readonly parts: AsyncIterable<string> } | { readonly brotli: AsyncIterable<Uint8Array> };

  constructor(text: StreamedJson['text']) {
    this.text = text;
  }
}

/** A sign-in older than this asks for the current password before it changes the account. */
const freshSignInMs = 15 * 60_000;

export function serve<const E extends Endpoint>(
  app: FastifyInstance,
  endpoint: E,
  handle: (request: ServedRequest<E>) => Promise<AnswerOf<E>> | AnswerOf<E>,
): void {
  app.route({
    method: endpoint.method,
    url: apiBase + endpoint.path,
    config: { endpoint },
    ...(endpoint.upload && { bodyLimit: endpoint.upload.maxBytes }),
    ...(endpoint.access === 'image-session' && { helmet: false }), // pixelHeaders take its place
    handler: async (request, reply) => {
      if (endpoint.freshSignIn) requireFreshSignIn(request, app.now());
      const language = languageOf(request);
      const answer = await handle({
        params: request.params as ParamsOf<E>,
        query: parse(endpoint.query, request.query, language) as QueryOf<E>,
        body: parse(endpoint.body, request.body ?? {}, language) as BodyOf<E>,
        file: fileOf(endpoint, request.body) as ServedRequest<E>['file'],
        caller: request.credential as CallerOf<E>,
        origin: {
          address: request.ip,
          requestId: request.id,
          browser: browserName(request.headers['user-agent']),
        },
        get signal() {
          return signalOf(reply);
        },
        language,
        say: (sentence) => sentence[language],
        reply,
      });
      if (typeof endpoint.response === 'string') {
        const file = answer as Bytes | Download;
        return 'stream' in file ? sendDownload(reply, file) : sendBytes(request, reply, file);
      }
      reply.header('Cache-Control', 'no-store').code(endpoint.status);
      if (answer === unchanged) return reply.code(304).send();
      if (answer instanceof StreamedJson) return sendStreamed(request, reply, answer);
      // Only what the contract names leaves the server.
      return endpoint.response === null ? reply.send() : endpoint.response.parse(answer);
    },
  });
}

function sendStreamed(request: FastifyRequest, reply: FastifyReply, { text }: StreamedJson) {
  reply.type('application/json; charset=utf-8');
  if ('parts' in text) return reply.send(Readable.from(text.parts));
  reply.header('Vary', 'Accept-Encoding');
  const packed = Readable.from(text.brotli);
  if (/\bbr\b(?!\s*;\s*q=0)/.test(String(request.headers['accept-encoding'] ?? ''))) {
    return reply.header('Content-Encoding', 'br').send(packed);
  }
  return reply.send(packed.compose(createBrotliDecompress()));
}

/** permissions.md section 7 step 6: asked before the rest of the body is looked at. */
function requireFreshSignIn(request: FastifyRequest, now: Date): void {
  const { signedInAt } = request.credential as Caller;
  const body = request.body as { current_password?: unknown } | null | undefined;
  if (now.getTime() - signedInAt.getTime() > freshSignInMs && typeof body?.current_password !== 'string') {
    throw new AppError('reauth_required');
  }
}

/** @throws AppError unsupported_type for what is no file of the kind */
function fileOf({ upload }: Endpoint, body: unknown): Uint8Array | undefined {
  if (upload === undefined) return undefined;
  if (body === undefined) return new Uint8Array();
  if (body instanceof Uint8Array) return body;
  const { contentType } = upload;
  const message = { tr: `Dosya ${contentType} türünde olmalı.`, en: `The file must be ${contentType}.` };
  throw new AppError('unsupported_type', { message });
}

const locales = { tr: z.locales.tr().localeError, en: z.locales.en().localeError };

/** @throws AppError invalid_request, naming the first field that does not fit */
function parse(schema: z.ZodObject | undefined, value: unknown, language: Language): unknown {
  if (schema === undefined) return undefined;
  const localise = locales[language];
  const result = schema.safeParse(value, {
    error: (issue) => {
      const sentence = localise(issue);
      const message = typeof sentence === 'string' ? sentence : sentence?.message;
      return issue.path?.length ? `${issue.path.join('.')}: ${message}` : message;
    },
  });
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const field = issue?.path.join('.');
  throw new AppError('invalid_request', {
    ...(issue && { message: ruleIn(language, issue.message) }),
    ...(field && { field }),
  });
}

function signalOf(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}
