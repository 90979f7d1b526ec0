/**
 * Common parts of the fast paths. A fast path is a handler in front of Fastify that answers frequent requests for tiles or DICOM
 * frames: GET or HEAD over HTTP/1.1, without a body.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Origin } from '../audit/audit-recorder.ts';
import { browserName } from '../domain/browser-name.ts';
import type { ImageSession } from '../domain/image-session.ts';
import { bytesSentOn, logResponse } from './access-log.ts';
import { clientSignalOf } from './client-signal.ts';
import { requestIdOf } from './request-id.ts';

/** A request handler in front of Fastify. */
export interface FastPath {
  /**
   * Handles a request that the fast path supports: sends the response, or passes the request to `fastify`, for example
   * if it must be refused.
   *
   * @returns false for any other request; the caller then has to pass it to Fastify
   */
  tryHandle(request: IncomingMessage, response: ServerResponse, fastify: Handler): boolean;
  /** From now on, `tryHandle` returns false for every request. */
  close(): void;
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Headers of requests that only Fastify handles: they have a body, expect an interim response, or change the protocol. */
const excludedHeaders: ReadonlySet<string> = new Set([
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
]);

/** Returns whether none of the headers requires Fastify, so that a fast path can answer the request. */
export function hasFastPathHeaders(headers: IncomingHttpHeaders): boolean {
  for (const header in headers) if (excludedHeaders.has(header)) return false;
  return true;
}

/** A request that a fast path handles. Getters compute the properties that few requests need, so the other requests save the time. */
export class FastPathRequest {
  readonly startedAt = performance.now();
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly #addressOf: (request: IncomingMessage) => string;

  /** @param addressOf returns the IP address of the client, which may be behind a trusted proxy */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    addressOf: (request: IncomingMessage) => string,
  ) {
    this.request = request;
    this.response = response;
    this.requestId = requestIdOf(request.headers);
    this.#addressOf = addressOf;
  }

  get headers() {
    return this.request.headers;
  }

  get rawHeaders() {
    return this.request.rawHeaders;
  }

  get method(): 'GET' | 'HEAD' {
    return this.request.method === 'HEAD' ? 'HEAD' : 'GET';
  }

  /** IP address of the client. */
  get address(): string {
    return this.#addressOf(this.request);
  }

  get origin(): Origin {
    const { address, requestId } = this;
    return { address, requestId, browser: browserName(this.headers['user-agent']) };
  }

  /** Each read creates a new signal, which is aborted when the client disconnects before the response is complete. */
  get signal(): AbortSignal {
    return clientSignalOf(this.response);
  }
}

/** Writes the line of the access log when the response has been sent. @param route template of the URL */
export function logWhenSent(
  log: Logger,
  fastPathRequest: FastPathRequest,
  { route, session, status }: { route: string; session: ImageSession; status: 200 | 304 },
): void {
  const { method, requestId, startedAt, address, response } = fastPathRequest;
  const { socket } = fastPathRequest.request;
  const sentBefore = bytesSentOn(socket) ?? 0; // by earlier responses on the same connection
  response.once('finish', () => {
    const ms = performance.now() - startedAt;
    const bytes = (bytesSentOn(socket) ?? 0) - sentBefore;
    const uid = session.visitor === null ? session.uid : undefined; // a visitor of a share link has no account
    const isPixels = true; // both fast paths send pixels
    logResponse(log.child({ requestId }), { method, route, status, ms, bytes, uid, address }, isPixels);
  });
}
