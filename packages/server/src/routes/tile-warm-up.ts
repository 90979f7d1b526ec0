/**
 * Warm-up of the fast path of tiles (the handler in front of Fastify). Before the server accepts connections, it requests native tiles
 * of a small temporary slide from a temporary HTTP server in the same process, over loopback connections. V8 has then compiled the code
 * when requests arrive (docs/performance.md, "The first seconds").
 *
 * The requests run through the normal code. But fixed values replace the image session (the credential of the viewer) and the catalogue
 * entry, and the warm-up has its own logger and metrics. So nothing reaches the database, the audit log, the access log or the metrics
 * of the server.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import path from 'node:path';
import { apiBase, getTile } from '@lamina/contract';
import { fingerprintOf } from '@lamina/slide';
import pino, { type Logger } from 'pino';
import type { ImageSession } from '../domain/image-session.ts';
import { keepAliveMs, serverOptions } from '../http/connections.ts';
import { createMetrics } from '../metrics/metrics.ts';
import type { Config } from '../platform/config.ts';
import type { RenderedTiles } from '../tiles/rendered-tiles.ts';
import { createTileResolver } from '../tiles/resolve-tile.ts';
import { createSlides, type ServableImage, type Slides } from '../tiles/slides.ts';
import { createTileFastPath } from './tile-fast-path.ts';
import { warmUpSlide } from './tile-warm-up-slide.ts';

interface WarmUpOptions {
  readonly config: Config;
  readonly log: Logger;
  /** The warm-up ends when this signal is aborted. */
  readonly signal: AbortSignal;
  /** Number of tiles to request in each round; default: `defaultTileCount`. */
  readonly tileCount?: number;
}

const warmUpImageId = '00000000-0000-4000-8000-000000000000';
/** After about this number of tiles, further requests no longer reduce the CPU time of a tile. */
const defaultTileCount = 6000;
/**
 * V8 optimises a call site for the one function that it has seen there, and discards the code when the site calls
 * another function. Each round creates a new fast path, so the code that V8 compiles in the second round also suits the
 * server's own fast path.
 */
const rounds = 2;
const connectionCount = 16;
const maxDurationMs = 2000;

/**
 * Warms up the fast path for at most 2 s. Never rejects, because after a failure only the first tiles are slower.
 *
 * @returns the number of answered tile requests; 0 with TILE_FAST_PATH=off
 */
export async function warmUpTiles({ signal, ...options }: WarmUpOptions): Promise<number> {
  if (!options.config.tileFastPath) return 0;
  const stopSignal = AbortSignal.any([signal, AbortSignal.timeout(maxDurationMs)]);
  let answeredCount = 0;
  for (let round = 0; round < rounds; round++)
    answeredCount += await runRound({ ...options, signal: stopSignal });
  return answeredCount;
}

/** Requests tiles from a fast path of its own. @returns the number of answered requests; 0 after a failure */
async function runRound({
  config,
  log,
  signal,
  tileCount = defaultTileCount,
}: WarmUpOptions): Promise<number> {
  const silent = pino({ level: 'silent' });
  const folder = path.join(config.dataDir, 'scratch');
  const fileName = `warm-up-${process.pid}-${randomBytes(4).toString('hex')}.tif`;
  const warmUpConfig = { ...config, slidesDir: folder, trustedProxies: [] };
  const slides = createSlides({
    config: warmUpConfig,
    log: silent,
    renderedTiles: noRendering,
    objects: null, // no object storage
  });
  let server: Server | null = null;
  try {
    await fs.mkdir(folder, { recursive: true });
    await fs.writeFile(path.join(folder, fileName), warmUpSlide.file);
    const fingerprint = await fingerprintOf({ path: path.join(folder, fileName) }, null); // null: no object storage
    server = await startServer({ config: warmUpConfig, slides, log: silent, fileName, fingerprint });
    return await requestTiles((server.address() as AddressInfo).port, tileCount, signal);
  } catch (error) {
    log.debug({ err: error, folder }, 'tile warm-up failed; only the first tiles after the start are slower');
    return 0;
  } finally {
    server?.close();
    server?.closeAllConnections();
    await slides.close();
    await fs.rm(path.join(folder, fileName), { force: true }).catch(() => {});
  }
}

/** Starts an HTTP server with a fast path of its own on a free port of the loopback interface. */
async function startServer({
  config,
  slides,
  log,
  fileName,
  fingerprint,
}: {
  readonly config: Config;
  readonly slides: Slides;
  readonly log: Logger;
  readonly fileName: string;
  readonly fingerprint: string;
}): Promise<Server> {
  const metrics = createMetrics();
  const image: ServableImage = {
    root: 'slides',
    path: fileName,
    members: [],
    id: warmUpImageId,
    fileName,
    dataset: null,
    isHidden: false,
    fingerprint,
  };
  const session = createStandInSession();
  const tiles = createTileResolver({
    pixelAccess: { authorize: () => session },
    catalogue: { servable: () => image },
    slides,
    imageOpenings: { isRecorded: () => true, record: async () => {} },
    recheckAccess: async () => {},
    metrics,
    now: () => new Date(),
  });
  const fastPath = createTileFastPath({ config, tiles, metrics, log }, keepAliveMs);
  // There is no Fastify behind this fast path, so the server closes the connection of a request that the fast path does not answer.
  const disconnect = (_: unknown, response: { destroy(): unknown }) => void response.destroy();
  const server = createServer(serverOptions, (request, response) => {
    if (!fastPath.tryHandle(request, response, disconnect)) disconnect(request, response);
  });
  server.unref();
  server.listen({ host: '127.0.0.1', port: 0, exclusive: true }); // exclusive: not shared within node:cluster
  await once(server, 'listening');
  return server;
}

/** Returns a session that may view every image that is not hidden, and belongs to no account. */
function createStandInSession(): ImageSession {
  const createdAt = Date.now();
  return {
    hash: '',
    uid: '',
    tokenHash: '',
    visitor: null,
    createdAt,
    expiresAt: createdAt + 3_600_000, // one hour
    inaccessibleDatasets: new Set(),
    seesHidden: false,
    auditedViews: new Map(),
  };
}

/** Sends `count` requests over several connections, one after another on each. @returns the number of answered requests */
async function requestTiles(port: number, count: number, signal: AbortSignal): Promise<number> {
  let sentCount = 0;
  let answeredCount = 0;
  const nthRequest = (n: number) => {
    const { level, columns, rows } = warmUpSlide;
    const url = (apiBase + getTile.path)
      .replace(':imageId', warmUpImageId)
      .replace(':dziLevel', String(level))
      .replace(':tile', `${n % columns}_${Math.floor(n / columns) % rows}.jpeg`);
    const sessionId = 'w'.repeat(43); // has the length of a real one; the warm-up does not check it
    return `GET ${url}?session=${sessionId} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
  };
  const runConnection = async () => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true, signal });
    socket.write(nthRequest(sentCount++));
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      if (!isEndOfTile(chunk)) continue; // the response arrives in several chunks, and this is not the last one
      answeredCount++;
      if (sentCount >= count) break;
      socket.write(nthRequest(sentCount++));
    }
  };
  // A connection rejects when `signal` is aborted; the tiles that were answered before still count.
  await Promise.allSettled(Array.from({ length: connectionCount }, runConnection));
  return answeredCount;
}

/** Returns whether the chunk ends with EOI, the last marker of a JPEG (ITU-T T.81 table B.1). */
const isEndOfTile = (chunk: Buffer) => chunk.length > 1 && chunk.readUInt16BE(chunk.length - 2) === 0xffd9;

const rejectRendering = async () => {
  throw new Error('The warm-up requests only native tiles, which are not rendered.');
};

const noRendering: RenderedTiles = {
  tile: rejectRendering,
  view: rejectRendering,
  colourProfile: async () => null,
  colourTable: rejectRendering,
  thumbnail: rejectRendering,
  inspect: rejectRendering,
  group: rejectRendering,
  startWorker: () => {},
  queuePrerendering: () => {},
  figures: () => ({
    memoryBytes: 0,
    diskBytes: 0,
    foundInMemory: 0,
    foundOnDisk: 0,
    queueLength: 0,
    isQueueFull: false,
    workerFaults: 0,
  }),
  close: async () => {},
};
