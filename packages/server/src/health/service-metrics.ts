/** Registers the Prometheus metrics whose values are read from services at each scrape of the metrics endpoint. */
import type { Metrics } from '../metrics/metrics.ts';
import { connectionsInUse, type Database, watchQueries } from '../store/database.ts';
import { countSessions } from '../store/image-sessions.ts';
import type { RenderedTiles } from '../tiles/rendered-tiles.ts';
import type { Slides } from '../tiles/slides.ts';

interface MeasuredServices {
  readonly db: Database;
  readonly now: () => Date;
  readonly slides: Pick<Slides, 'openCount'>;
  readonly renderedTiles: Pick<RenderedTiles, 'figures'>;
}

/** Time limit of the query for sessions. The other metrics must be returned even while the database is down. */
const databaseTimeoutMs = 1000;

/** Registers the metrics. Their names are documented and must not change. */
export function registerServiceMetrics(
  metrics: Metrics,
  { db, now, slides, renderedTiles }: MeasuredServices,
): void {
  // The metrics page combines the values of several processes with the aggregator.
  const gauge = { type: 'gauge', aggregator: 'sum' } as const;
  const counter = { type: 'counter', aggregator: 'sum' } as const;
  metrics.watch({
    ...gauge,
    name: 'slides_open',
    help: 'Open slides.',
    read: () => slides.openCount(),
  });
  metrics.watch({
    ...gauge,
    name: 'decode_queue_length',
    help: 'Jobs that wait for a render worker.',
    read: () => renderedTiles.figures().queueLength,
  });
  metrics.watch({
    ...counter,
    name: 'decode_worker_restarts_total',
    help: 'Render workers that crashed or exceeded the time limit of a job, and were restarted.',
    read: () => renderedTiles.figures().workerFaults,
  });
  metrics.watch({
    ...gauge,
    name: 'tile_cache_bytes',
    help: 'Cached rendered tiles.',
    read: () => {
      const { memoryBytes, diskBytes } = renderedTiles.figures();
      return [
        { labels: { where: 'memory' }, value: memoryBytes },
        { labels: { where: 'disk' }, value: diskBytes },
      ];
    },
  });
  metrics.watch({
    ...counter,
    name: 'tile_cache_hits_total',
    help: 'Rendered tiles that were found in a cache.',
    read: () => {
      const { foundInMemory, foundOnDisk } = renderedTiles.figures();
      return [
        { labels: { where: 'memory' }, value: foundInMemory },
        { labels: { where: 'disk' }, value: foundOnDisk },
      ];
    },
  });
  watchQueries(db, metrics.query); // adds the duration of each query to `db_seconds`
  metrics.watch({
    ...gauge,
    name: 'db_pool_in_use',
    help: 'Connections to PostgreSQL that are in use; always 0 with the embedded database.',
    read: () => connectionsInUse(db),
  });
  metrics.watch({
    type: 'gauge',
    aggregator: 'max', // every process sees the same rows
    name: 'image_sessions_active',
    help: 'Active image sessions of all processes and servers over the same database.',
    read: () => withTimeout(countSessions(db, now().toISOString())),
  });
}

/** Returns the count, or rejects if the database has not answered after a second. */
function withTimeout(count: Promise<number>): Promise<number> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('database unavailable')), databaseTimeoutMs);
  return Promise.race([count, tooLate]).finally(() => clearTimeout(timer));
}
