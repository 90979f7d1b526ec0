/** A simulated person who views a slide in a browser: loads a field of view, pauses, and moves to the next field. */
import { setTimeout } from 'node:timers/promises';
import { type Connection, openConnection, requestOf } from '../load/connection.ts';
import { randomFrom } from '../load/random.ts';
import { fieldsOfViewer, type TiledSlide } from '../load/trace.ts';

/** Connections that a browser opens to one server with HTTP/1.1. */
const connectionsPerViewer = 6;
/** Range of the pause after a field of view, in seconds. Fields whose tiles are already loaded follow without a pause. */
const pauseSeconds = { min: 1, max: 6 };
/** Every tenth viewer has a slow network. */
const slowViewerInterval = 10;
/** Range of the speed of a slow network, in bytes per second for all connections of a viewer together. */
const slowBytesPerSecond = { min: 50_000, max: 200_000 };

export interface TileResponse {
  /** 0 when the connection ended before the response. */
  readonly status: number;
  /** Milliseconds from the request to the complete response. */
  readonly ms: number;
  /** Whether the viewer has a slow network. */
  readonly isSlow: boolean;
}

export interface ViewerOptions {
  /** Number of the viewer from 0. The random seed is derived from it, so that every run simulates the same viewers. */
  readonly index: number;
  readonly port: number;
  readonly slide: TiledSlide;
  /** Returns the URL path of a tile. */
  readonly pathOf: (tile: string) => string;
  /** Delay before the first request. */
  readonly startAfterMs: number;
  /** When this signal aborts, the viewer sends no further request, waits for the outstanding responses, and ends. */
  readonly signal: AbortSignal;
  /** Called for each response. */
  readonly onTile: (response: TileResponse) => void;
}

/** Simulates a viewer until `signal` aborts. */
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
  const randomBetween = ({ min, max }: { min: number; max: number }) => min + (max - min) * random();
  const isSlow = index % slowViewerInterval === slowViewerInterval - 1;
  const bytesPerSecond = isSlow ? randomBetween(slowBytesPerSecond) / connectionsPerViewer : null;
  const browser = openBrowser(port, bytesPerSecond, (status, ms) => onTile({ status, ms, isSlow }));
  try {
    await setTimeout(startAfterMs, undefined, { signal }); // undefined: the promise has no value
    // A tour is one round of zooming in, panning and zooming out; the viewer makes them until `signal` aborts.
    for (const tiles of fieldsOfViewer(slide, random, { tours: Number.POSITIVE_INFINITY })) {
      if (tiles.length === 0) continue; // all tiles of this field are in the browser's cache
      await browser.load(tiles.map(pathOf), signal);
      await setTimeout(randomBetween(pauseSeconds) * 1000, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error; // the abort ends the simulation and is not an error
  } finally {
    browser.close();
  }
}

interface SimulatedBrowser {
  /** Requests the paths and waits for all responses. @throws the reason of the signal when it aborts */
  load(paths: readonly string[], signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Opens the connections of a browser. @param bytesPerSecond speed of each connection; null is unlimited */
function openBrowser(
  port: number,
  bytesPerSecond: number | null,
  onTile: (status: number, ms: number) => void,
): SimulatedBrowser {
  /** Paths that are not requested yet. */
  let queue: string[] = [];
  /** Number of requests without a response. */
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
