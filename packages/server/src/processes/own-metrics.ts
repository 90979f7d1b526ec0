/** What this one process has counted, and what it takes of the machine. */
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import type { MetricNow } from '../metrics/counted.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import { watchProcess } from '../metrics/process-figures.ts';

export interface OwnMetrics {
  readonly metrics: Metrics;
  read(): Promise<readonly MetricNow[]>;
}

/** Measures the process only where somebody may ask for it. */
export function createOwnMetrics(
  { metricsPort }: Pick<Config, 'metricsPort'>,
  { lostLines }: Pick<Log, 'lostLines'>,
): OwnMetrics {
  const metrics = createMetrics();
  metrics.watch({
    name: 'log_lines_lost_total',
    help: 'Lines of the log that could not be written, because nobody read them or the disk was full.',
    type: 'counter',
    aggregator: 'sum',
    read: lostLines,
  });
  const processFigures = metricsPort === null ? async () => [] : watchProcess();
  return {
    metrics,
    read: async () => [...(await metrics.now()), ...(await processFigures())],
  };
}
