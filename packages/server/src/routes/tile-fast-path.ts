/**
 * The fast path of tiles: a request handler in front of Fastify.
 *
 * It makes no decision of its own: tiles/resolve-tile.ts decides, as it does for the Fastify route. This adapter reads the
 * plain form of a tile request and writes the 200 or 304. A request in any other form goes to Fastify untouched; a refused
 * one goes there with its decision (http/refused-tiles.ts). TILE_FAST_PATH=off sends everything to Fastify.
 */
import type { IncomingMessage } from 'node:http';
import { apiBase, getTile } from '@lamina/contract';
import type { Allocate } from '@lamina/slide';
import type { Logger } from 'pino';
import type { ImageSession } from '../domain/image-session.ts';
import { createClientAddress } from '../http/client-address.ts';
import {
  type FastPath,
  type Handler,
  hasPlainHeaders,
  logWhenSent,
  PlainRequest,
} from '../http/plain-request.ts';
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

/** A tile URL without percent-encoding, and with no query parameter but the image session. */
const urlPattern = new RegExp(
  `^${(apiBase + getTile.path)
    .replace(':imageId', '([\\w-]+)')
    .replace(':dziLevel', '([\\w.-]+)')
    .replace(':tile', '([\\w.-]+)')}(?:\\?session=([\\w-]*))?$`,
);
const maxUrlLength = 256;

const securityHeaders = Object.entries(pixelHeaders).flat();
const fixedHeaders = [...securityHeaders, 'Content-Type', getTile.response];
const tileRoute = apiBase + getTile.path;

class PlainTileRequest extends PlainRequest implements TileRequest {
  readonly imageId: string;
  readonly dziLevel: string;
  readonly tile: string;
  readonly sessionId: string | undefined;
  readonly allocate: Allocate;

  /** @param match of `urlPattern` */
  constructor(
    match: RegExpExecArray,
    { request, response, allocate }: Pick<PlainTileRequest, 'request' | 'response' | 'allocate'>,
    addressOf: (request: IncomingMessage) => string,
  ) {
    super(request, response, addressOf);
    [, this.imageId = '', this.dziLevel = '', this.tile = '', this.sessionId] = match;
    this.allocate = allocate;
  }

  get knownTag() {
    return this.request.headers['if-none-match'];
  }
}

/** Matches the URL of a request in the plain form; null for any other request. */
function matchPlainForm({ method, url = '', headers }: IncomingMessage): RegExpExecArray | null {
  if ((method !== 'GET' && method !== 'HEAD') || url.length > maxUrlLength) return null;
  const match = urlPattern.exec(url);
  return match !== null && hasPlainHeaders(headers) ? match : null;
}

/**
 * One closure of more than 60 lines: sending and answering share the writer and the state of the adapter.
 *
 * @param keepAliveMs how long the server keeps an idle connection
 */
export function createTileFastPath(
  { config, tiles, metrics, log }: TileFastPathDependencies,
  keepAliveMs: number,
): FastPath {
  const writer = createResponseWriter(fixedHeaders, keepAliveMs);
  const addressOf = createClientAddress(config.trustedProxies);
  const isLogged = log.isLevelEnabled('debug');
  let isOpen = config.tileFastPath;

  function send(
    { method, requestId, response }: PlainTileRequest,
    { bytes, etag, cacheControl }: ResolvedTile,
    buffer: ResponseBuffer,
  ): void {
    if (bytes !== null && method === 'GET' && isOpen) {
      const variable = `X-Request-Id: ${requestId}\r\nETag: ${etag}\r\nCache-Control: ${cacheControl}\r\n`;
      if (writer.write(response, variable, bytes, buffer)) return;
    }
    const headers = ['X-Request-Id', requestId, 'ETag', etag, 'Cache-Control', cacheControl];
    if (!isOpen) headers.push('Connection', 'close'); // the server is stopping
    if (bytes === null) {
      response.writeHead(304, [...securityHeaders, ...headers]).end();
    } else {
      response.writeHead(200, [...fixedHeaders, ...headers, 'Content-Length', String(bytes.byteLength)]);
      response.end(method === 'HEAD' ? undefined : bytes);
    }
    // The response reads from the buffer until it is closed. If the client has disconnected, it was closed before.
    if (response.closed) writer.releaseBuffer(buffer);
    else response.once('close', () => writer.releaseBuffer(buffer));
  }

  async function answer(tileRequest: PlainTileRequest, buffer: ResponseBuffer, fastify: Handler) {
    const { request, response, requestId, startedAt, method } = tileRequest;
    let session: ImageSession | null = null;
    let tile: ResolvedTile;
    try {
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
    take(request, response, fastify) {
      const match = isOpen ? matchPlainForm(request) : null;
      if (match === null) return false;
      const buffer = writer.acquireBuffer();
      const { allocate } = buffer;
      const tileRequest = new PlainTileRequest(match, { request, response, allocate }, addressOf);
      answer(tileRequest, buffer, fastify).catch((error: unknown) => {
        log.error({ err: error }, 'tile response failed; connection closed');
        response.destroy();
      });
      return true;
    },

    close() {
      isOpen = false;
    },
  };
}
