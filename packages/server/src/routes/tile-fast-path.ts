/**
 * The fast path of tiles: a request handler in front of Fastify.
 *
 * It takes tile requests in their usual form (see `matchTileRequest`) and writes the response with status 200 or 304. For
 * the fast path as for the Fastify route (routes/tiles.ts), tiles/resolve-tile.ts checks the access and returns the tile. When
 * resolve-tile.ts throws an error, `markRefused` stores the error with the request (http/refused-tiles.ts), and Fastify
 * sends the error response. The fast path passes requests in any other form to Fastify unchanged, and with
 * TILE_FAST_PATH=off all requests.
 */
import type { IncomingMessage } from 'node:http';
import { apiBase, getTile } from '@lamina/contract';
import type { BufferAllocator } from '@lamina/slide';
import type { Logger } from 'pino';
import type { ImageSession } from '../domain/image-session.ts';
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
import type { ResolvedTile, TileRequest, TileResolver } from '../tiles/resolve-tile.ts';

export interface TileFastPathDependencies {
  readonly config: Pick<Config, 'tileFastPath' | 'trustedProxies'>;
  readonly tiles: TileResolver;
  readonly metrics: Pick<Metrics, 'tiles'>;
  readonly log: Logger;
}

/**
 * Matches a tile URL without percent-encoding whose only query parameter, if any, is the image session (the credential of the viewer).
 * The part after the API base is for example `/image-catalog/proxy/<image id>/image_files/14/3_5.jpeg?session=<session id>`.
 */
const urlPattern = new RegExp(
  `^${(apiBase + getTile.path)
    .replace(':imageId', '([\\w-]+)')
    .replace(':dziLevel', '([\\w.-]+)')
    .replace(':tile', '([\\w.-]+)')}(?:\\?session=([\\w-]*))?$`,
);
/** The URL of a tile is never longer, so the fast path passes a longer URL to Fastify. */
const maxUrlLength = 256;

const securityHeaders = Object.entries(pixelHeaders).flat(); // alternating names and values
const fixedHeaders = [...securityHeaders, 'Content-Type', getTile.response];
const tileRoute = apiBase + getTile.path;

class FastPathTileRequest extends FastPathRequest implements TileRequest {
  readonly imageId: string;
  readonly dziLevel: string;
  readonly tile: string;
  readonly sessionId: string | undefined;
  /** Returns memory in the response buffer; the tile is read into it, so that it need not be copied. */
  readonly allocate: BufferAllocator;

  /** @param match result of `urlPattern` */
  constructor(
    match: RegExpExecArray,
    { request, response, allocate }: Pick<FastPathTileRequest, 'request' | 'response' | 'allocate'>,
    addressOf: (request: IncomingMessage) => string,
  ) {
    super(request, response, addressOf);
    // The groups of `urlPattern` in their order; the session is undefined when the URL has none.
    [, this.imageId = '', this.dziLevel = '', this.tile = '', this.sessionId] = match;
    this.allocate = allocate;
  }

  /** ETag of the tile that the client already has. */
  get knownTag() {
    return this.request.headers['if-none-match'];
  }
}

/** Returns the match of `urlPattern`; null for a request that only Fastify answers, such as one with a body. */
function matchTileRequest({ method, url = '', headers }: IncomingMessage): RegExpExecArray | null {
  if ((method !== 'GET' && method !== 'HEAD') || url.length > maxUrlLength) return null;
  const match = urlPattern.exec(url);
  return match !== null && hasFastPathHeaders(headers) ? match : null;
}

/**
 * Creates the fast path. The function is long because sending and answering share the writer and the state of the fast path.
 *
 * @param keepAliveMs time after which the server closes an idle connection
 */
export function createTileFastPath(
  { config, tiles, metrics, log }: TileFastPathDependencies,
  keepAliveMs: number,
): FastPath {
  const writer = createResponseWriter(fixedHeaders, keepAliveMs);
  const addressOf = createClientAddress(config.trustedProxies);
  const isLogged = log.isLevelEnabled('debug'); // a successful tile request is logged only at this level
  /** False with TILE_FAST_PATH=off, and when the server stops: Fastify then answers all further requests. */
  let isOpen = config.tileFastPath;

  /** Sends the response: 304 if `bytes` is null, because the client already has the tile, otherwise 200. */
  function send(
    { method, requestId, response }: FastPathTileRequest,
    { bytes, etag, cacheControl }: ResolvedTile,
    buffer: ResponseBuffer,
  ): void {
    if (bytes !== null && method === 'GET' && isOpen) {
      const variableHeaders = `X-Request-Id: ${requestId}\r\nETag: ${etag}\r\nCache-Control: ${cacheControl}\r\n`;
      const isWritten = writer.write(response, variableHeaders, bytes, buffer);
      if (isWritten) return; // the writer releases the buffer
    }
    // Node's own methods write every other response: 304, HEAD, a large tile, and any response while the server stops.
    const headers = ['X-Request-Id', requestId, 'ETag', etag, 'Cache-Control', cacheControl];
    if (!isOpen) headers.push('Connection', 'close');
    if (bytes === null) {
      response.writeHead(304, [...securityHeaders, ...headers]).end();
    } else {
      response.writeHead(200, [...fixedHeaders, ...headers, 'Content-Length', String(bytes.byteLength)]);
      response.end(method === 'HEAD' ? undefined : bytes);
    }
    // The response reads from the buffer until it is closed. It is already closed if the client has disconnected.
    if (response.closed) writer.releaseBuffer(buffer);
    else response.once('close', () => writer.releaseBuffer(buffer));
  }

  /** Answers the request. After an error, stores the error and passes the request to `fastify`, which responds. */
  async function answer(tileRequest: FastPathTileRequest, buffer: ResponseBuffer, fastify: Handler) {
    const { request, response, requestId, startedAt, method } = tileRequest;
    let session: ImageSession | null = null;
    let tile: ResolvedTile;
    try {
      // Awaiting a value that is not a promise would cost a turn of the microtask queue for each tile.
      const authorized = tiles.authorize(tileRequest);
      session = authorized instanceof Promise ? await authorized : authorized;
      tile = await tiles.resolve(session, tileRequest);
    } catch (error) {
      writer.releaseBuffer(buffer);
      if (response.destroyed || request.socket.destroyed) return; // the client has disconnected
      markRefused(request, { requestId, startedAt, session, error });
      fastify(request, response);
      return;
    }
    const status = tile.bytes === null ? 304 : 200;
    if (isLogged) logWhenSent(log, tileRequest, { route: tileRoute, session, status });
    send(tileRequest, tile, buffer);
    metrics.tiles.addFastPathResponse(method, status, performance.now() - startedAt);
  }

  return {
    tryHandle(request, response, fastify) {
      const match = isOpen ? matchTileRequest(request) : null;
      if (match === null) return false;
      const buffer = writer.acquireBuffer();
      const { allocate } = buffer;
      const tileRequest = new FastPathTileRequest(match, { request, response, allocate }, addressOf);
      answer(tileRequest, buffer, fastify).catch((error: unknown) => {
        const { requestId, imageId, dziLevel, tile } = tileRequest;
        log.error(
          { err: error, requestId, imageId, dziLevel, tile },
          'sending a tile failed with an unexpected error; the server closed the connection, and the viewer requests the tile again',
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
