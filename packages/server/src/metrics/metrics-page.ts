/** Combines the metrics of several processes into one page in the Prometheus text format. */
import { AggregatorRegistry } from 'prom-client';
import type { MetricNow } from './prometheus-types.ts';

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';

/** Returns the text of the page. @param metricsByProcess one list of metrics for each process */
export function metricsPage(metricsByProcess: readonly (readonly MetricNow[])[]): Promise<string> {
  return AggregatorRegistry.aggregate([...metricsByProcess]).metrics();
}

/**
 * Creates an object that adds up the counters and histograms of exited processes, so that the totals on the page do not decrease
 * when a process exits. Increments between the last read of a process and its exit are lost.
 */
export function createEndedProcessMetrics(): {
  /** Adds the metrics of an exited process whose aggregator is `sum`, except gauges. @param lastMetrics as they were last read */
  add(lastMetrics: readonly MetricNow[]): void;
  /** Returns the current sums. */
  now(): readonly MetricNow[];
} {
  const sums = new Map<string, MetricNow>();
  return {
    add(lastMetrics) {
      for (const metric of lastMetrics) {
        if (metric.type === 'gauge' || metric.aggregator !== 'sum') continue;
        const sum = sums.get(metric.name);
        sums.set(metric.name, sum === undefined ? metric : addMetrics(sum, metric));
      }
    },
    now: () => [...sums.values()],
  };
}

/** Returns a metric whose value for each combination of labels is the sum of the values in both readings. */
function addMetrics(first: MetricNow, second: MetricNow): MetricNow {
  const values = new Map<string, MetricNow['values'][number]>();
  for (const sample of [...first.values, ...second.values]) {
    const labels = Object.entries(sample.labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const key = JSON.stringify([sample.metricName, labels]);
    values.set(key, { ...sample, value: sample.value + (values.get(key)?.value ?? 0) });
  }
  return { ...first, values: [...values.values()] };
}
