/**
 * A comparison of all tile servers in interleaved rounds, so that a temporary load of the machine by other programs affects all of them.
 */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { BenchEnvironment, BenchOptions } from '../environment.ts';
import { measureResponseTime } from '../load/connection.ts';
import { type LoadResult, type LoadSummary, measureLoad } from '../load/load-client.ts';
import { median, quantile } from '../load/statistics.ts';
import { maxLevelOf, nativeTrace, type TiledSlide, tilesOfLevel, viewingTrace } from '../load/trace.ts';
import { bigSlide } from '../slides/slides.ts';
import { findServers, type RunningServer, staticFolderOf, type TileServer } from './peers.ts';

/** Connections of the load with native tiles (stored in the file), and of the load with a viewing trace. */
const nativeConnections = 64;
const viewingConnections = 16;
/** Number of viewers whose requests a viewing trace contains. */
const viewers = 3;
/**
 * Duration of the load before each measurement with warm caches. During this load, servers compile their code, so that they are as fast
 * as after hours of production.
 */
const warmUpSeconds = 5;

export interface ServerResult {
  /** Milliseconds until the first tile after the start; null when the request failed. */
  readonly firstTile: number | null;
  /** Tiles of full resolution. */
  readonly native: LoadSummary;
  /** A viewing trace with empty caches; `nativeP95` is the 95th percentile, in milliseconds, of its tiles of full resolution. */
  readonly cold: LoadSummary & { readonly nativeP95: number };
  /** The same trace with warm caches. */
  readonly again: LoadSummary;
}

export interface ComparedServer {
  readonly name: string;
  readonly version: string;
  /** True for this version and the other version of the product. */
  readonly isProduct: boolean;
  /** True when the server cannot read the common slide, so that its results come from another file. */
  readonly usesOtherSlide: boolean;
}

export interface Comparison {
  readonly workload: {
    /** Number of tiles of the native trace. */
    readonly nativeTiles: number;
    /** Number of tiles of the viewing trace. */
    readonly viewingTiles: number;
    readonly rounds: number;
    readonly seconds: number;
  };
  readonly servers: readonly ComparedServer[];
  /** Names of the servers that are not installed. */
  readonly absent: readonly string[];
  /** The medians of all rounds, by the name of the server. */
  readonly results: Readonly<Record<string, ServerResult>>;
}

interface Workload {
  /** Tiles of the native trace. */
  readonly native: readonly string[];
  /** Tiles of the viewing trace. */
  readonly viewing: readonly string[];
  /** Whether a tile has full resolution. */
  readonly isNative: (tile: string) => boolean;
  readonly seconds: number;
}

/** Measures all installed servers in each round. @throws Error when a server fails a request */
export async function compareServers(
  environment: BenchEnvironment,
  { isQuick, otherCheckout }: BenchOptions,
): Promise<Comparison> {
  const slide = { ...bigSlide, tileSize: environment.tileSize };
  const workload = {
    native: nativeTrace(slide),
    viewing: viewingTrace(slide, viewers).slice(0, isQuick ? 400 : undefined), // undefined: all tiles
    isNative: (tile: string) => tile.startsWith(`${maxLevelOf(slide)}/`),
    seconds: isQuick ? 1 : 3,
  };
  const { found, absent } = findServers(environment, otherCheckout);
  const product = found.find(({ name }) => name === 'product');
  if (product !== undefined && found.some(({ name }) => name === 'nginx')) {
    const mayReuse = isQuick;
    await copyTiles(product, slide, environment, mayReuse);
  }

  const rounds: Record<string, ServerResult>[] = [];
  const roundCount = isQuick ? 1 : 3;
  for (let round = 1; round <= roundCount; round += 1) {
    console.log(`Round ${round}: ${found.map(({ name }) => name).join(', ')} …`);
    const results: Record<string, ServerResult> = {};
    for (const server of found) {
      const result = {
        ...(await measureNative(server, workload)),
        ...(await measureViewing(server, workload)),
      };
      throwOnFailures(server, result);
      results[server.name] = result;
    }
    rounds.push(results);
  }
  return {
    workload: {
      nativeTiles: workload.native.length,
      viewingTiles: workload.viewing.length,
      rounds: rounds.length,
      seconds: workload.seconds,
    },
    servers: found.map(({ name, version, isProduct = false, usesOtherSlide = false }) => ({
      name,
      version,
      isProduct,
      usesOtherSlide,
    })),
    absent,
    results: medians(rounds),
  };
}

/** @throws Error when requests failed, because rejecting a request is fast and the measured times would be meaningless */
function throwOnFailures({ name }: TileServer, { native, cold, again }: ServerResult): void {
  const failed = native.failed + cold.failed + again.failed;
  if (failed > 0) throw new Error(`${name} failed ${failed} requests.`);
}

/** Requests tiles of full resolution from a server that has just started. */
async function measureNative(server: TileServer, { native, seconds }: Workload) {
  const running = await startCold(server);
  try {
    const firstTile = await measureResponseTime(running.port, running.pathOf(native[0] ?? ''));
    await measureLoad(running, native, { connections: nativeConnections, seconds: warmUpSeconds });
    const result = await measureLoad(running, native, { connections: nativeConnections, seconds });
    return { firstTile, native: withoutTimes(result) };
  } finally {
    await running.stop();
  }
}

/** Requests a viewing trace with empty caches and, after a warm-up, again with full caches. */
async function measureViewing(server: TileServer, { viewing, isNative, seconds }: Workload) {
  const running = await startCold(server);
  try {
    const cold = await measureLoad(running, viewing, { connections: viewingConnections });
    const nativeTimes = cold.times.filter(({ tile }) => isNative(tile)).map(({ ms }) => ms);
    await measureLoad(running, viewing, { connections: viewingConnections, seconds: warmUpSeconds });
    const again = await measureLoad(running, viewing, { connections: viewingConnections, seconds });
    return {
      cold: { ...withoutTimes(cold), nativeP95: quantile(nativeTimes, 0.95) },
      again: withoutTimes(again),
    };
  } finally {
    await running.stop();
  }
}

/** Starts a server with an empty cache of rendered tiles. */
function startCold(server: TileServer): Promise<RunningServer> {
  server.clearCache?.();
  return server.start();
}

function withoutTimes({ times: _, ...summary }: LoadResult): LoadSummary {
  return summary;
}

/** Returns the median of every number in objects of the same shape, at any depth. A null counts as NaN. */
export function medians<Shape extends object>(results: readonly Shape[]): Shape {
  const [first] = results;
  const medianOfField = (key: string) => {
    const values = results.map((result) => (result as Record<string, unknown>)[key]);
    const isNumeric = values.every((value) => value === null || typeof value === 'number');
    if (isNumeric) return median(values.map((value) => value ?? Number.NaN));
    return medians(values as object[]);
  };
  return Object.fromEntries(Object.keys(first ?? {}).map((key) => [key, medianOfField(key)])) as Shape;
}

/**
 * Writes every tile of the product to a file, so that nginx can serve the same bytes.
 *
 * @param mayReuse whether the files of an earlier run are used if they exist
 */
async function copyTiles(
  product: TileServer,
  slide: TiledSlide,
  { cache }: BenchEnvironment,
  mayReuse: boolean,
): Promise<void> {
  const folder = staticFolderOf(cache);
  if (mayReuse && existsSync(folder)) return;
  console.log('Copying all tiles for nginx …');
  rmSync(folder, { recursive: true, force: true });
  const incompleteFolder = `${folder}.part`;
  rmSync(incompleteFolder, { recursive: true, force: true });
  const levels = Array.from({ length: maxLevelOf(slide) + 1 }, (_, level) => tilesOfLevel(slide, level));
  const running = await product.start();
  try {
    const queue = levels.flat().values(); // one iterator, from which eight loops take the next tile
    const copyFromQueue = async () => {
      for (const tile of queue) {
        const file = join(incompleteFolder, `${tile}.jpg`);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, await fetchTile(`http://127.0.0.1:${running.port}${running.pathOf(tile)}`));
      }
    };
    await Promise.all(Array.from({ length: 8 }, copyFromQueue));
  } finally {
    await running.stop();
  }
  renameSync(incompleteFolder, folder);
}

/** Requests a tile. Retries up to five times, because the server responds with 503 while its render queue is full. */
async function fetchTile(url: string): Promise<Buffer> {
  for (let retries = 0; ; retries += 1) {
    const response = await fetch(url);
    if (response.ok) return Buffer.from(await response.arrayBuffer());
    if (retries === 5) throw new Error(`The product responds to a tile request with ${response.status}.`);
    await setTimeout(500);
  }
}
