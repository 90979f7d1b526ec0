/** A load client, which sends a list of tile requests to a server over many connections and measures the responses. */
import { usageOf } from '../resource-usage.ts';
import { openConnection, requestOf } from './connection.ts';
import { quantile } from './statistics.ts';

/** A running server under load. */
export interface LoadTarget {
  readonly port: number;
  /** Process ids of the server, whose CPU time and memory are measured together with those of their child processes. */
  readonly processIds: readonly number[];
  /** Returns the URL path of a tile, named `level/column_row`. */
  pathOf(tile: string): string;
  /** Header fields of each request. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface LoadSummary {
  readonly requests: number;
  /** Number of requests without a response of status 200. */
  readonly failed: number;
  /** Requests per second, including failed ones. */
  readonly perSecond: number;
  /** Percentiles of the response times, in milliseconds. */
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** CPU seconds of the server per 1,000 requests. */
  readonly cpuPer1000: number;
  /** CPU time of this process as a share of one core. Near 1, this client and not the server limited the throughput. */
  readonly clientShare: number;
  /** Memory of the server at the end of the load. */
  readonly megabytes: number;
  readonly bytesPerTile: number;
}

export interface LoadResult extends LoadSummary {
  /** The response time of every request. */
  readonly times: readonly { readonly tile: string; readonly ms: number }[];
}

/**
 * Requests tiles in the given order. Each connection sends the next request as soon as it has received a response.
 *
 * @param options with `seconds`, the client repeats the list for that time; with null it requests the list once
 */
export async function measureLoad(
  target: LoadTarget,
  tiles: readonly string[],
  { connections, seconds = null }: { readonly connections: number; readonly seconds?: number | null },
): Promise<LoadResult> {
  const requests = tiles.map((tile) => requestOf(target.pathOf(tile), target.headers));
  // Two arrays of numbers: an object per response would cause garbage-collection pauses.
  const times: number[] = [];
  /** For each entry of `times`, the index of its tile in `tiles`. */
  const tileIndexes: number[] = [];
  let sentRequests = 0;
  let failed = 0;
  let bytes = 0;

  const usageAtStart = usageOf(target.processIds);
  const clientCpuAtStart = process.cpuUsage();
  const startedAt = performance.now();
  const isFinished = () =>
    seconds === null ? sentRequests >= requests.length : performance.now() > startedAt + seconds * 1000;

  await Promise.all(
    Array.from({ length: connections }, () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      let index = 0;
      const connection = openConnection({
        port: target.port,
        onResponse: (status, bodyBytes, ms) => {
          if (status !== 200) failed += 1;
          bytes += bodyBytes;
          times.push(ms);
          tileIndexes.push(index);
          sendNext();
        },
      });
      const sendNext = () => {
        index = sentRequests % requests.length;
        const request = requests[index];
        if (isFinished() || request === undefined) {
          connection.close();
          resolve();
          return;
        }
        sentRequests += 1;
        connection.send(request);
      };
      sendNext();
      return promise;
    }),
  );

  const elapsedSeconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(clientCpuAtStart); // microseconds
  const { cpuSeconds, megabytes } = usageOf(target.processIds);
  return {
    requests: times.length,
    failed,
    perSecond: times.length / elapsedSeconds,
    p50: quantile(times, 0.5),
    p95: quantile(times, 0.95),
    p99: quantile(times, 0.99),
    cpuPer1000: ((cpuSeconds - usageAtStart.cpuSeconds) * 1000) / times.length,
    clientShare: (user + system) / 1e6 / elapsedSeconds,
    megabytes,
    bytesPerTile: bytes / times.length,
    times: times.map((ms, i) => ({ tile: tiles[tileIndexes[i] ?? 0] ?? '', ms })),
  };
}
