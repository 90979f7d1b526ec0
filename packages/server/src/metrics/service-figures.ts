/** Figures that somebody else keeps, looked at whenever the metrics are asked for. */
import type { MadeTiles } from '../slides/made-tiles.ts';
import type { Slides } from '../slides/slides.ts';
import { connectionsInUse, type Database, watchQueries } from '../store/database.ts';
import { countSessions } from '../store/image-sessions.ts';
import type { Metrics } from './metrics.ts';

interface Watched {
  readonly db: Database;
  readonly now: () => Date;
  readonly slides: Pick<Slides, 'openCount'>;
  readonly madeTiles: Pick<MadeTiles, 'figures'>;
}

/** A database that is down must not hold up the metrics that tell of it. */
const databaseAnswersWithinMs = 1000;

export function watchServices(metrics: Metrics, { db, now, slides, madeTiles }: Watched): void {
  const gauge = { type: 'gauge', aggregator: 'sum' } as const;
  const counter = { type: 'counter', aggregator: 'sum' } as const;
  metrics.watch({
    ...gauge,
    name: 'slides_open',
    help: 'Slides that are open.',
    read: () => slides.openCount(),
  });
  metrics.watch({
    ...gauge,
    name: 'decode_queue_length',
    help: 'Jobs that wait for a process that decodes.',
    read: () => madeTiles.figures().queueLength,
  });
  metrics.watch({
    ...counter,
    name: 'decode_worker_restarts_total',
    help: 'Processes that a slide brought down or that took too long over one, and were replaced.',
    read: () => madeTiles.figures().faults,
  });
  metrics.watch({
    ...gauge,
    name: 'tile_cache_bytes',
    help: 'Made tiles that are kept.',
    read: () => {
      const { memoryBytes, diskBytes } = madeTiles.figures();
      return [
        { labels: { where: 'memory' }, value: memoryBytes },
        { labels: { where: 'disk' }, value: diskBytes },
      ];
    },
  });
  metrics.watch({
    ...counter,
    name: 'tile_cache_hits_total',
    help: 'Made tiles that were found among those that are kept.',
    read: () => {
      const { foundInMemory, foundOnDisk } = madeTiles.figures();
      return [
        { labels: { where: 'memory' }, value: foundInMemory },
        { labels: { where: 'disk' }, value: foundOnDisk },
      ];
    },
  });
  watchQueries(db, metrics.query);
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
    help: 'Image sessions that have not ended, of all processes and servers over the same database.',
    read: () => withinTime(countSessions(db, now().toISOString())),
  });
}

function withinTime(count: Promise<number>): Promise<number> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('The database does not answer.')), databaseAnswersWithinMs);
  return Promise.race([count, tooLate]).finally(() => clearTimeout(timer));
}
