/** Counters and histograms with labels, and the format in which processes exchange their metrics. */
import { createDurations, type Durations, durationBounds } from './durations.ts';

type Labels = Readonly<Record<string, string | number>>;

/** A value of a metric for one combination of labels. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
  /** For histograms only: name of the metric with the suffix `_bucket`, `_sum` or `_count`. */
  readonly metricName?: string;
}

/** The current values of a metric, in the form of prom-client's `getMetricsAsJSON`. */
export interface MetricNow {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** How values of several processes are combined. */
  readonly aggregator: 'sum' | 'max' | 'min' | 'first' | 'average' | 'omit';
  readonly values: readonly Sample[];
}

/** A value for each combination of labels that has occurred. Values are never deleted, so there must be few combinations. */
interface ByLabels<T> {
  /** Returns the value of a combination. @param values label values, in the order of the label names */
  forLabels(...values: readonly (string | number)[]): T;
  entries(): Iterable<{ readonly labels: Labels; readonly counted: T }>;
}

function createByLabels<T>(names: readonly string[], create: () => T): ByLabels<T> {
  const entriesByKey = new Map<string, { readonly labels: Labels; readonly counted: T }>();
  return {
    forLabels(...values) {
      const key = values.join('\n');
      const existing = entriesByKey.get(key);
      if (existing !== undefined) return existing.counted;
      const labels = Object.fromEntries(names.map((name, i) => [name, values[i] ?? '']));
      const counted = create();
      entriesByKey.set(key, { labels, counted });
      return counted;
    },
    entries: () => entriesByKey.values(),
  };
}

export interface Counter {
  /** Adds one. @param values label values, in the order of the label names */
  add(...values: readonly (string | number)[]): void;
  /** Returns the count of these label values, which callers may increase themselves; faster than `add` for frequent events. */
  forLabels(...values: readonly (string | number)[]): { value: number };
  samples(): Sample[];
}

export function createCounter(...labelNames: readonly string[]): Counter {
  const counts = createByLabels(labelNames, () => ({ value: 0 }));
  return {
    add(...values) {
      counts.forLabels(...values).value++;
    },
    forLabels: counts.forLabels,
    samples: () => [...counts.entries()].map(({ labels, counted }) => ({ labels, value: counted.value })),
  };
}

export interface Histogram {
  /** Adds a duration. @param values label values, in the order of the label names */
  add(ms: number, ...values: readonly (string | number)[]): void;
  /** Returns the durations of these label values, to which callers may add themselves; faster than `add` for frequent events. */
  forLabels(...values: readonly (string | number)[]): Durations;
  entries(): Iterable<{ readonly labels: Labels; readonly counted: Durations }>;
}

export function createHistogram(...labelNames: readonly string[]): Histogram {
  const durations = createByLabels(labelNames, createDurations);
  return {
    add: (ms, ...values) => durations.forLabels(...values).add(ms),
    forLabels: durations.forLabels,
    entries: () => durations.entries(),
  };
}

/** Returns the samples of a histogram; entries with the same labels are added up. */
export function histogramSamples(
  name: string,
  entries: Iterable<{ readonly labels: Labels; readonly counted: Pick<Durations, 'counts' | 'seconds'> }>,
): Sample[] {
  const summed = new Map<string, { labels: Labels; counts: number[]; seconds: number }>();
  for (const { labels, counted } of entries) {
    const key = JSON.stringify(labels);
    const sum = summed.get(key) ?? {
      labels,
      counts: Array<number>(durationBounds.length + 1).fill(0),
      seconds: 0,
    };
    summed.set(key, sum);
    sum.seconds += counted.seconds();
    for (const [i, count] of counted.counts().entries()) sum.counts[i] = (sum.counts[i] ?? 0) + count;
  }
  return [...summed.values()].flatMap(({ labels, counts, seconds }) => {
    // A bucket of Prometheus counts all durations up to its bound (`le`), including those of smaller buckets.
    let cumulativeCount = 0;
    const buckets = counts.map((count, i) => {
      cumulativeCount += count;
      const le = durationBounds[i] ?? '+Inf';
      return { labels: { le, ...labels }, value: cumulativeCount, metricName: `${name}_bucket` };
    });
    return [
      ...buckets,
      { labels, value: seconds, metricName: `${name}_sum` },
      { labels, value: cumulativeCount, metricName: `${name}_count` },
    ];
  });
}
