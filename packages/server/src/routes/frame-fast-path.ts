/**
 * The fast path of DICOMweb frames: a request handler in front of Fastify, like the one for tiles
 * (routes/tile-fast-path.ts).
 *
 * It takes requests for one frame (the DICOM term for a tile) that have a bearer token, and writes the response with status 200. It
 * makes no decision of its own: for the fast path as for the Fastify route (routes/dicomweb.ts), http/access.ts checks the token, and
 * dicomweb/resolve-frames.ts checks the request. When one of them throws an error, `markRefused` stores the error with the request
 * (http/refused-tiles.ts), and Fastify sends the error response.
 *
 * The fast path passes these requests to Fastify unchanged:
 *
 * - requests by a script of another origin (`Origin`)
 * - requests with an image session (`?session=`, the credential of a viewer) instead of a bearer token
 * - requests with an ETag (`If-None-Match`)
 * - requests for several frames
 * - the first request with a token, for which the Fastify route opens an image session; later requests with the token use that session
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { apiBase, getFrames } from '@lamina/contract';
import type { BufferAllocator } from '@lamina/slide';
import type { Logger } from 'pino';
import {
  type FrameResolver,
  type FramesRequest,
  type ResolvedFrames,
  wholeBody,
} from '../dicomweb/resolve-frames.ts';
import { bearerCacheControl, type ImageSession } from '../domain/image-session.ts';
import { type AccessServices, pixelSessionOfToken } from '../http/access.ts';
import type { Caller } from '../http/caller.ts';
import { createClientAddress } from '../http/client-address.ts';
import {
  type FastPath,
  FastPathRequest,
  type Handler,
  hasFastPathHeaders,
  logWhenSent,
} from '../http/fast-path-request.ts';
import { markRefused } from '../http/refused-tiles.ts';
import { createResponseWriter, type ResponseBuffer } from '../http/response-writer.ts';
import { pixelHeaders } from '../http/send-bytes.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Config } from '../platform/config.ts';

interface FrameFastPathDependencies
  extends Pick<AccessServices, 'apiTokens' | 'bearerSessions' | 'catalogue'> {
  readonly config: Pick<Config, 'tileFastPath' | 'trustedProxies'>;
  readonly frames: FrameResolver;
  readonly metrics: Pick<Metrics, 'requestsOf'>;
  readonly log: Logger;
}

/** Request headers that the responses to frames depend on. */
export const framesVary = 'Origin, Accept';

const framesRoute = apiBase + getFrames.path;
/**
 * Matches the URL of one frame, with or without the API base, and without a query, for example
 * `/dicom-web/studies/2.25.1/series/2.25.2/instances/2.25.3/frames/7`.
 */
const urlPattern = new RegExp(
  `^(?:${apiBase})?${getFrames.path
    .replace(/:(?:study|series|instance)/g, '([\\d.]{1,64})')
    .replace(':frames', '(\\d{1,9})')}$`,
);
/** The URL of a frame is never longer, so the fast path passes a longer URL to Fastify. */
const maxUrlLength = 320;
const fixedHeaders = [...Object.entries(pixelHeaders).flat(), 'Vary', framesVary]; // alternating names and values

class FastPathFrameRequest extends FastPathRequest implements FramesRequest {
  readonly params: FramesRequest['params'];
  /** Account of the API token; undefined until the token has been checked, and for the bearer token of a sign-in. */
  caller: Caller | undefined;
  /** Always undefined: the path of a frame contains a study, not an image id. */
  readonly imageId = undefined;
  readonly allocate: BufferAllocator;

  /** @param match result of `urlPattern` */
  constructor(
    match: RegExpExecArray,
    { request, response, allocate }: Pick<FastPathFrameRequest, 'request' | 'response' | 'allocate'>,
    addressOf: (request: IncomingMessage) => string,
  ) {
    super(request, response, addressOf);
    const [, study = '', series = '', instance = '', frames = ''] = match;
    this.allocate = allocate;
    this.params = { study, series, instance, frames };
  }

  get accept() {
    return this.request.headers.accept;
  }

  /** Called by http/access.ts when it has found the account of an API token. */
  onCaller(caller: Caller): void {
    this.caller = caller;
  }
}

/** Returns the match of `urlPattern`; null for a request that only Fastify answers (see the head of this file). */
function matchFrameRequest({ method, url = '', headers }: IncomingMessage): RegExpExecArray | null {
  if (method !== 'GET' || url.length > maxUrlLength || headers.authorization === undefined) return null;
  if (headers.origin !== undefined || headers['if-none-match'] !== undefined) return null;
  const match = urlPattern.exec(url);
  return match !== null && hasFastPathHeaders(headers) ? match : null;
}

/**
 * The function is long because sending and answering share the writer and the state of the fast path.
 *
 * @param keepAliveMs time after which the server closes an idle connection
 */
export function createFrameFastPath(
  { config, frames, apiTokens, bearerSessions, catalogue, metrics, log }: FrameFastPathDependencies,
  keepAliveMs: number,
): FastPath {
  const access = { apiTokens, bearerSessions, catalogue };
  const writer = createResponseWriter(fixedHeaders, keepAliveMs);
  const addressOf = createClientAddress(config.trustedProxies);
  const countResponse = metrics.requestsOf('GET', framesRoute, 200);
  const isLogged = log.isLevelEnabled('debug'); // a successful request for a frame is logged only at this level
  /** False with TILE_FAST_PATH=off, and when the server stops: Fastify then answers all further requests. */
  let isOpen = config.tileFastPath;

  function send(
    { requestId, response }: FastPathFrameRequest,
    resolved: ResolvedFrames,
    buffer: ResponseBuffer,
  ) {
    const { bytes, type, etag } = resolved;
    const variableHeaders = `X-Request-Id: ${requestId}\r\nETag: ${etag}\r\nCache-Control: ${bearerCacheControl}\r\nContent-Type: ${type}\r\n`;
    // The last argument, `resolved`, contains the text before and after the frame in a multipart body.
    const isWritten = isOpen && writer.write(response, variableHeaders, bytes, buffer, resolved);
    if (isWritten) return; // the writer releases the buffer
    // Node's own methods write every other response: a large frame, and any response while the server stops.
    const headers = ['X-Request-Id', requestId, 'ETag', etag, 'Cache-Control', bearerCacheControl];
    if (!isOpen) headers.push('Connection', 'close');
    const body = wholeBody(resolved);
    const bodyHeaders = ['Content-Type', type, 'Content-Length', String(body.byteLength)];
    response.writeHead(200, [...fixedHeaders, ...headers, ...bodyHeaders]).end(body);
    // The response reads from the buffer until it is closed. It is already closed if the client has disconnected.
    if (response.closed) writer.releaseBuffer(buffer);
    else response.once('close', () => writer.releaseBuffer(buffer));
  }

  /** Answers the request. Passes it to `fastify` if the token has no session yet, and after storing an error. */
  async function answer(
    frameRequest: FastPathFrameRequest,
    buffer: ResponseBuffer,
    fastify: Handler,
  ): Promise<void> {
    const { request, response, requestId, startedAt } = frameRequest;
    let session: ImageSession | null = null;
    let resolved: ResolvedFrames;
    try {
      // Awaiting a value that is not a promise would cost a turn of the microtask queue for each frame.
      const recentSession = pixelSessionOfToken(getFrames, frameRequest, access);
      session = recentSession instanceof Promise ? await recentSession : recentSession;
      if (session === null) {
        // The Fastify route opens a session. The buffer needs no release, because only `frames.resolve` allocates memory in it.
        fastify(request, response);
        return;
      }
      resolved = await frames.resolve(session, frameRequest);
    } catch (error) {
      writer.releaseBuffer(buffer);
      if (response.destroyed || request.socket.destroyed) return; // the client has disconnected
      const { caller } = frameRequest;
      markRefused(request, { requestId, startedAt, session, error, caller });
      fastify(request, response);
      return;
    }
    if (isLogged) logWhenSent(log, frameRequest, { route: framesRoute, session, status: 200 });
    send(frameRequest, resolved, buffer);
    countResponse(performance.now() - startedAt);
  }

  return {
    tryHandle(request: IncomingMessage, response: ServerResponse, fastify: Handler) {
      const match = isOpen ? matchFrameRequest(request) : null;
      if (match === null) return false;
      const buffer = writer.acquireBuffer();
      const { allocate } = buffer;
      const frameRequest = new FastPathFrameRequest(match, { request, response, allocate }, addressOf);
      answer(frameRequest, buffer, fastify).catch((error: unknown) => {
        const { requestId, params } = frameRequest;
        log.error(
          { err: error, requestId, ...params },
          'sending a DICOMweb frame failed with an unexpected error; the server closed the connection, and the client has to request the frame again',
        );
        response.destroy();
      });
      return true;
    },

    close() {
      isOpen = false;
    },
  };
}
