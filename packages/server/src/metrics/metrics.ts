/**
 * What this process has done, counted. Labels are words of ours alone (a route's template, an error's code): never an
 * id, an address or a file's name, so that there are few series and none names anybody.
 */
import { apiBase, getTile } from '@lamina/contract';
import { createCounter, createHistogram, histogramSamples, type MetricNow, type Sample } from './counted.ts';
import type { Durations } from './durations.ts';
import { createTileTally, type TileSource, type TileTally } from './tile-tally.ts';

/** What is not counted but looked at, whenever somebody asks for the metrics. */
export interface Figure extends Omit<MetricNow, 'values'> {
  readonly type: 'counter' | 'gauge';
  /** What throws is left out. */
  read(): number | readonly Sample[] | Promise<number | readonly Sample[]>;
}

export interface Metrics {
  /** Of the fast lane, which has no time for anything else. */
  readonly lane: TileTally;
  /** A route has answered. */
  request(method: string, route: string, status: number, ms: number): void;
  /** A route has a tile, from somewhere; `isKnown`: its asker had it already. */
  tile(source: TileSource, isKnown: boolean, ms: number): void;
  /** A route has none, and answers with the code of an error. */
  tileRefused(code: string): void;
  slideError(kind: string): void;
  authFailure(reason: string): void;
  rateLimited(rule: string): void;
  /** The database has answered, or refused to. @param kind select, insert, update, delete or other */
  query(kind: string, ms: number): void;
  watch(figure: Figure): void;
  /** Everything as it is now. */
  now(): Promise<MetricNow[]>;
}

const tileRoute = apiBase + getTile.path;
/** Any other one a client may think of counts as `other`. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const laneSources = ['stored', 'kept', null] as const;

export function createMetrics(): Metrics {
  const lane = createTileTally();
  const requests = createCounter('route', 'method', 'status');
  const requestSeconds = createHistogram('route');
  const tiles = createCounter('result', 'source');
  const tileSeconds = createHistogram('kind');
  const slideErrors = createCounter('kind');
  const authFailures = createCounter('reason');
  const rateLimited = createCounter('rule');
  const queries = createHistogram('kind');
  const figures: Figure[] = [];

  /** What the lane has answered, with the labels that the route would have given it. */
  const laneTiles = () => laneSources.map((source) => ({ source, ...countsOf(lane, source) }));

  const laneRequests = () =>
    laneTiles().flatMap(({ source, total, heads }) => {
      const labels = { route: tileRoute, status: source === null ? 304 : 200 };
      return [
        { labels: { ...labels, method: 'GET' }, value: total - heads },
        { labels: { ...labels, method: 'HEAD' }, value: heads },
      ];
    });

  const laneResults = () =>
    laneTiles().map(({ source, total }) => ({
      labels: { result: source === null ? 'not_modified' : 'ok', source: source ?? 'none' },
      value: total,
    }));

  const laneSeconds = (label: string, sources: readonly ('stored' | 'kept' | null)[]) =>
    sources.map((source) => ({
      labels: { [label]: label === 'route' ? tileRoute : (source ?? '') },
      counted: lane.durations(source),
    }));

  function counted(): MetricNow[] {
    return [
      counter('http_requests_total', 'Requests that were answered.', [
        ...requests.samples(),
        ...laneRequests(),
      ]),
      histogram('http_request_seconds', 'Time until a request was answered.', [
        ...requestSeconds.entries(),
        ...laneSeconds('route', laneSources),
      ]),
      counter(
        'tiles_total',
        'Tiles by what became of the request (ok, not_modified, or the code of an error) and where they came from.',
        [...tiles.samples(), ...laneResults()],
      ),
      histogram('tile_seconds', 'Time until a tile was at hand: stored in the file, kept, or made.', [
        ...tileSeconds.entries(),
        ...laneSeconds('kind', ['stored', 'kept']),
      ]),
      counter(
        'slide_errors_total',
        'Slides that could not be opened, read or decoded when they were asked for.',
        [...slideErrors.samples()],
      ),
      counter('auth_failures_total', 'Requests that were refused because of who asked: status 401.', [
        ...authFailures.samples(),
      ]),
      counter('rate_limited_total', 'Attempts that were refused because there had been too many.', [
        ...rateLimited.samples(),
      ]),
      histogram('db_seconds', 'Time the database took for a query.', queries.entries()),
    ];
  }

  return {
    lane,
    request(method, route, status, ms) {
      requests.add(route, methods.has(method) ? method : 'other', status);
      requestSeconds.add(ms, route);
    },
    tile(source, isKnown, ms) {
      tiles.add(isKnown ? 'not_modified' : 'ok', source);
      tileSeconds.add(ms, source);
    },
    tileRefused: (code) => tiles.add(code, 'none'),
    slideError: (kind) => slideErrors.add(kind),
    authFailure: (reason) => authFailures.add(reason),
    rateLimited: (rule) => rateLimited.add(rule),
    query: (kind, ms) => queries.add(ms, kind),
    watch: (figure) => void figures.push(figure),
    async now() {
      const looked = await Promise.all(figures.map(lookAt));
      return [...counted(), ...looked.filter((metric) => metric !== null)];
    },
  };
}

function countsOf(lane: TileTally, source: 'stored' | 'kept' | null): { total: number; heads: number } {
  const total = sumOf(lane.durations(source));
  return { total, heads: lane.heads(source) };
}

const sumOf = (durations: Durations) => durations.counts().reduce((sum, count) => sum + count, 0);

/** What has the same labels is added up where the metrics of all processes are. */
function counter(name: string, help: string, values: readonly Sample[]): MetricNow {
  return { name, help, type: 'counter', aggregator: 'sum', values };
}

function histogram(name: string, help: string, entries: Parameters<typeof histogramSamples>[1]): MetricNow {
  return { name, help, type: 'histogram', aggregator: 'sum', values: histogramSamples(name, entries) };
}

async function lookAt({ read, ...about }: Figure): Promise<MetricNow | null> {
  try {
    const found = await read();
    return { ...about, values: typeof found === 'number' ? [{ labels: {}, value: found }] : found };
  } catch {
    return null; // a database that is down is told of by what fails because of it
  }
}
