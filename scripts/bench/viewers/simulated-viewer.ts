/** Simulates a person at a browser: looks at a field of view, pauses, and moves to the next. */
import { setTimeout } from 'node:timers/promises';
import { type Connection, openConnection, requestOf } from '../load/connection.ts';
import { randomFrom } from '../load/random.ts';
import { fieldsOfViewer, type TiledSlide } from '../load/trace.ts';

/** Connections that a browser opens to one server. */
const connectionsPerViewer = 6;
/** Seconds between two fields that need tiles. */
const pauseSeconds = { least: 1, most: 6 };
/** One of ten viewers has a slow network, of this many bytes per second. */
const slowEvery = 10;
const slowNetwork = { least: 50_000, most: 200_000 };

export interface TileResponse {
  /** 0 when the connection ended before the response. */
  readonly status: number;
  /** Milliseconds until the complete response. */
  readonly ms: number;
  /** The viewer has a slow network. */
  readonly isSlow: boolean;
}

export interface ViewerOptions {
  /** From 0 on; the same number simulates the same person at every run. */
  readonly index: number;
  readonly port: number;
  readonly slide: TiledSlide;
  /** Returns the URL path of a tile. */
  readonly pathOf: (tile: string) => string;
  readonly startAfterMs: number;
  /** Ends the simulation, at the latest when the current field has been loaded. */
  readonly signal: AbortSignal;
  readonly onTile: (response: TileResponse) => void;
}

export async function simulateViewer({
  index,
  port,
  slide,
  pathOf,
  startAfterMs,
  signal,
  onTile,
}: ViewerOptions): Promise<void> {
  const random = randomFrom(index + 1);
  const between = ({ least, most }: { least: number; most: number }) => least + (most - least) * random();
  const isSlow = index % slowEvery === slowEvery - 1;
  const bytesPerSecond = isSlow ? between(slowNetwork) / connectionsPerViewer : null;
  const browser = openBrowser(port, bytesPerSecond, (status, ms) => onTile({ status, ms, isSlow }));
  try {
    await setTimeout(startAfterMs, undefined, { signal });
    for (const tiles of fieldsOfViewer(slide, random, { tours: Number.POSITIVE_INFINITY })) {
      if (tiles.length === 0) continue;
      await browser.load(tiles.map(pathOf), signal);
      await setTimeout(between(pauseSeconds) * 1000, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    browser.close();
  }
}

interface SimulatedBrowser {
  /** Requests these paths and waits for all responses. */
  load(paths: readonly string[], signal: AbortSignal): Promise<void>;
  close(): void;
}

/** @param bytesPerSecond of each connection; null is unlimited */
function openBrowser(
  port: number,
  bytesPerSecond: number | null,
  onTile: (status: number, ms: number) => void,
): SimulatedBrowser {
  let queue: string[] = [];
  let pending = 0;
  let onAllLoaded: () => void = () => {};

  const connections = Array.from({ length: connectionsPerViewer }, () => {
    const connection = openConnection({
      port,
      bytesPerSecond,
      onResponse: (status, _, ms) => {
        onTile(status, ms);
        pending -= 1;
        sendNext(connection);
      },
    });
    return connection;
  });

  function sendNext(connection: Connection): void {
    const path = queue.shift();
    if (path !== undefined) {
      pending += 1;
      connection.send(requestOf(path));
    } else if (pending === 0) onAllLoaded();
  }

  function clearQueue(): void {
    queue = [];
  }

  return {
    async load(paths, signal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      onAllLoaded = resolve;
      queue = [...paths];
      signal.addEventListener('abort', clearQueue, { once: true });
      for (const connection of connections.slice(0, paths.length)) sendNext(connection);
      await promise;
      signal.removeEventListener('abort', clearQueue);
      signal.throwIfAborted();
    },
    close() {
      for (const connection of connections) connection.close();
    },
  };
}
