/** Counters and durations by their labels, and the form in which the metrics of several processes are added up. */
import { createDurations, type Durations, durationBounds } from './durations.ts';

type Labels = Readonly<Record<string, string | number>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
  /** Where it is not that of the metric: `_bucket`, `_sum` and `_count` of a histogram. */
  readonly metricName?: string;
}

/** One metric as it stands now, in the form of prom-client's `getMetricsAsJSON`. */
export interface MetricNow {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** How those of several processes become one. */
  readonly aggregator: 'sum' | 'max' | 'min' | 'first' | 'average' | 'omit';
  readonly values: readonly Sample[];
}

/** Something for each combination of labels that has come up; these must be few. */
interface ByLabels<T> {
  /** @param values of the labels, in their order */
  of(...values: readonly (string | number)[]): T;
  entries(): Iterable<{ readonly labels: Labels; readonly counted: T }>;
}

function byLabels<T>(names: readonly string[], create: () => T): ByLabels<T> {
  const known = new Map<string, { readonly labels: Labels; readonly counted: T }>();
  return {
    of(...values) {
      const key = values.join('\n');
      const found = known.get(key);
      if (found !== undefined) return found.counted;
      const labels = Object.fromEntries(names.map((name, i) => [name, values[i] ?? '']));
      const counted = create();
      known.set(key, { labels, counted });
      return counted;
    },
    entries: () => known.values(),
  };
}

export interface Counter {
  /** One more. @param values of the labels, in their order */
  add(...values: readonly (string | number)[]): void;
  samples(): Sample[];
}

export function createCounter(...labelNames: readonly string[]): Counter {
  const counts = byLabels(labelNames, () => ({ value: 0 }));
  return {
    add(...values) {
      counts.of(...values).value++;
    },
    samples: () => [...counts.entries()].map(({ labels, counted }) => ({ labels, value: counted.value })),
  };
}

export interface Histogram {
  /** @param values of the labels, in their order */
  add(ms: number, ...values: readonly (string | number)[]): void;
  entries(): Iterable<{ readonly labels: Labels; readonly counted: Durations }>;
}

export function createHistogram(...labelNames: readonly string[]): Histogram {
  const durations = byLabels(labelNames, createDurations);
  return {
    add: (ms, ...values) => durations.of(...values).add(ms),
    entries: () => durations.entries(),
  };
}

/** The samples of a histogram; what has the same labels is added up. */
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
    let below = 0;
    const buckets = counts.map((count, i) => {
      below += count;
      const le = durationBounds[i] ?? '+Inf';
      return { labels: { le, ...labels }, value: below, metricName: `${name}_bucket` };
    });
    return [
      ...buckets,
      { labels, value: seconds, metricName: `${name}_sum` },
      { labels, value: below, metricName: `${name}_count` },
    ];
  });
}
