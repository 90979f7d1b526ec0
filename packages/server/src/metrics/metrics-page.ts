/** The metrics of several processes as one page, in the text format of Prometheus. */
import { AggregatorRegistry } from 'prom-client';
import type { MetricNow } from './counted.ts';

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';

/** @param processes the metrics of each */
export function metricsPage(processes: readonly (readonly MetricNow[])[]): Promise<string> {
  return AggregatorRegistry.aggregate([...processes]).metrics();
}

/**
 * What processes that have ended leave behind: their counters, for a sum must never shrink. What they counted after
 * they were last asked is lost.
 */
export function createEndedMetrics(): {
  add(last: readonly MetricNow[]): void;
  now(): readonly MetricNow[];
} {
  const sums = new Map<string, MetricNow>();
  return {
    add(last) {
      for (const metric of last) {
        if (metric.type === 'gauge' || metric.aggregator !== 'sum') continue;
        const before = sums.get(metric.name);
        sums.set(metric.name, before === undefined ? metric : addedUp(before, metric));
      }
    },
    now: () => [...sums.values()],
  };
}

function addedUp(one: MetricNow, other: MetricNow): MetricNow {
  const values = new Map<string, MetricNow['values'][number]>();
  for (const sample of [...one.values, ...other.values]) {
    const labels = Object.entries(sample.labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const key = JSON.stringify([sample.metricName, labels]);
    values.set(key, { ...sample, value: sample.value + (values.get(key)?.value ?? 0) });
  }
  return { ...one, values: [...values.values()] };
}
