/** The metrics of this process, including its use of memory and CPU. */
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import { measureProcess } from '../metrics/process-measurements.ts';
import type { MetricNow } from '../metrics/prometheus-types.ts';
import type { Config } from '../platform/config.ts';
import type { Log } from '../platform/log.ts';

export interface ProcessMetrics {
  /** The registry to which services add their metrics. */
  readonly metrics: Metrics;
  /** Returns the current values of the registry, memory and CPU. */
  read(): Promise<readonly MetricNow[]>;
}

/** Creates the metrics. Memory and CPU are measured only if METRICS_PORT is set. */
export function createProcessMetrics(
  { metricsPort }: Pick<Config, 'metricsPort'>,
  { lostLines }: Pick<Log, 'lostLines'>,
): ProcessMetrics {
  const metrics = createMetrics();
  metrics.watch({
    name: 'log_lines_lost_total',
    help: 'Log lines that were dropped because the log was not read or its disk was full.',
    type: 'counter',
    aggregator: 'sum',
    read: lostLines,
  });
  const readProcessMetrics = metricsPort === null ? async () => [] : measureProcess();
  return {
    metrics,
    read: async () => [...(await metrics.now()), ...(await readProcessMetrics())],
  };
}
