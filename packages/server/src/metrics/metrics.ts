/**
 * The Prometheus metrics of this process. Label values are constants of the program, such as the template of a route or an
 * error code, and never an id, an IP or e-mail address or a file name. So there are few series, and none identifies a person.
 */
import { apiBase, getTile } from '@lamina/contract';
import type { Durations } from './durations.ts';
import {
  createCounter,
  createHistogram,
  histogramSamples,
  type MetricNow,
  type Sample,
} from './prometheus-types.ts';
import {
  createTileMetrics,
  fastPathMethods,
  fastPathStatuses,
  type TileMetrics,
  tileSources,
} from './tile-metrics.ts';

/** A gauge or counter that reads its value from its source, for example the database, whenever the metrics are read. */
export interface WatchedMetric extends Omit<MetricNow, 'values'> {
  readonly type: 'counter' | 'gauge';
  /** Returns the current value. If it throws, the metric is omitted. */
  read(): number | readonly Sample[] | Promise<number | readonly Sample[]>;
}

export interface Metrics {
  readonly tiles: TileMetrics;
  /** Counts a response of a route. */
  request(method: string, route: string, status: number, ms: number): void;
  /** Returns a function that counts responses of a route with one status; faster than `request` for frequent responses. */
  requestsOf(method: string, route: string, status: number): (ms: number) => void;
  // Each of these methods counts one event. The parameter is the label value: an error code, or the kind of the throttled attempt.
  tileRefused(code: string): void;
  slideError(code: string): void;
  authFailure(code: string): void;
  rateLimited(attemptKind: string): void;
  /** Counts a database query, successful or not. @param kind select, insert, update, delete or other */
  query(kind: string, ms: number): void;
  /** Adds a metric that is read from its source. */
  watch(metric: WatchedMetric): void;
  /** Returns the current value of every metric. */
  now(): Promise<MetricNow[]>;
}

const tileRoute = apiBase + getTile.path;
/** HTTP methods with a label value of their own; all others count as `other`. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export function createMetrics(): Metrics {
  const tiles = createTileMetrics();
  const requests = createCounter('route', 'method', 'status');
  const requestSeconds = createHistogram('route');
  const refusedTiles = createCounter('result', 'source');
  const slideErrors = createCounter('kind');
  const authFailures = createCounter('reason');
  const rateLimited = createCounter('rule');
  const queries = createHistogram('kind');
  const watchedMetrics: WatchedMetric[] = [];

  /** The responses of the fast path (the handler for tiles in front of Fastify), which `requests` does not contain. */
  const fastPathRequests = () =>
    fastPathMethods.flatMap((method) =>
      fastPathStatuses.map((status) => ({
        labels: { route: tileRoute, method, status },
        value: tiles.fastPathResponses(method, status),
      })),
    );

  const tileResults = () =>
    tileSources.map((source) => ({
      labels: { result: source === null ? 'not_modified' : 'ok', source: source ?? 'none' },
      value: countOf(tiles.durations(source)),
    }));

  const tileSeconds = () =>
    tileSources
      .filter((source) => source !== null)
      .map((kind) => ({ labels: { kind }, counted: tiles.durations(kind) }));

  function readCounters(): MetricNow[] {
    return [
      counter('http_requests_total', 'Answered requests.', [...requests.samples(), ...fastPathRequests()]),
      histogram('http_request_seconds', 'Time to answer a request.', [
        ...requestSeconds.entries(),
        { labels: { route: tileRoute }, counted: tiles.fastPathDurations() },
      ]),
      counter(
        'tiles_total',
        'Tile requests by result (ok, not_modified, or the error code) and source of the tile.',
        [...refusedTiles.samples(), ...tileResults()],
      ),
      histogram(
        'tile_seconds',
        'Time to get a tile: stored = native, kept = cached, made = rendered.',
        tileSeconds(),
      ),
      counter('slide_errors_total', 'Requests for slides that could not be opened, read or decoded.', [
        ...slideErrors.samples(),
      ]),
      counter('auth_failures_total', 'Requests with failed authentication (status 401).', [
        ...authFailures.samples(),
      ]),
      counter('rate_limited_total', 'Attempts rejected by a throttle.', [...rateLimited.samples()]),
      histogram('db_seconds', 'Duration of database queries.', queries.entries()),
    ];
  }

  function requestsOf(method: string, route: string, status: number): (ms: number) => void {
    const count = requests.forLabels(route, methods.has(method) ? method : 'other', status);
    const durations = requestSeconds.forLabels(route);
    return (ms) => {
      count.value++;
      durations.add(ms);
    };
  }

  return {
    tiles,
    request: (method, route, status, ms) => requestsOf(method, route, status)(ms),
    requestsOf,
    tileRefused: (code) => refusedTiles.add(code, 'none'),
    slideError: (code) => slideErrors.add(code),
    authFailure: (code) => authFailures.add(code),
    rateLimited: (attemptKind) => rateLimited.add(attemptKind),
    query: (kind, ms) => queries.add(ms, kind),
    watch: (metric) => void watchedMetrics.push(metric),
    async now() {
      const readings = await Promise.all(watchedMetrics.map(readWatched));
      return [...readCounters(), ...readings.filter((metric) => metric !== null)];
    },
  };
}

/** Returns the number of recorded durations. */
const countOf = (durations: Durations) => durations.counts().reduce((sum, count) => sum + count, 0);

/** Returns a counter. The metrics page adds up samples with equal labels, of one process and of several. */
function counter(name: string, help: string, values: readonly Sample[]): MetricNow {
  return { name, help, type: 'counter', aggregator: 'sum', values };
}

function histogram(name: string, help: string, entries: Parameters<typeof histogramSamples>[1]): MetricNow {
  return { name, help, type: 'histogram', aggregator: 'sum', values: histogramSamples(name, entries) };
}

async function readWatched({ read, ...metric }: WatchedMetric): Promise<MetricNow | null> {
  try {
    const value = await read();
    return { ...metric, values: typeof value === 'number' ? [{ labels: {}, value }] : value };
  } catch {
    return null; // for example while the database is down, which other metrics and the log report
  }
}
