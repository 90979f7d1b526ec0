/** Memory, processor, file handles, garbage and event-loop delay of this process, as prom-client measures them. */
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { MetricNow } from './counted.ts';

/** Of the memory of a process the largest says nothing beside the sum; when it began, only the first one does. */
const aggregators: Readonly<Record<string, MetricNow['aggregator']>> = {
  process_start_time_seconds: 'min',
};

/** Begins to measure; once a process. @returns what is measured now */
export function watchProcess(): () => Promise<MetricNow[]> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return async () => {
    const metrics = (await registry.getMetricsAsJSON()) as unknown as MetricNow[];
    return metrics.map((metric) => ({
      ...metric,
      aggregator: aggregators[metric.name] ?? metric.aggregator,
    }));
  };
}
