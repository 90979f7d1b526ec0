/** Memory, processor, file handles, garbage collection and event-loop delay of this process, measured by prom-client. */
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { MetricNow } from './prometheus-types.ts';

/** Aggregators that replace those of prom-client. The start time of the program is the earliest one of its processes. */
const aggregators: Readonly<Record<string, MetricNow['aggregator']>> = {
  process_start_time_seconds: 'min',
};

/** Starts measuring; call it once per process. @returns a function that returns the current values */
export function measureProcess(): () => Promise<MetricNow[]> {
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
