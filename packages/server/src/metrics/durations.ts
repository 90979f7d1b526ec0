/** A histogram of durations for the Prometheus metrics. It stores plain numbers, so adding a duration takes almost no time. */

/** Upper bounds of the buckets in seconds, ascending. A last bucket without a bound counts longer durations. */
export const durationBounds = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const;

const boundsMs = durationBounds.map((seconds) => seconds * 1000);

export interface Durations {
  add(ms: number): void;
  /** Returns the count of each bucket: one for each bound, then one for longer durations. */
  counts(): readonly number[];
  /** Returns the sum of all durations in seconds. */
  seconds(): number;
}

export function createDurations(): Durations {
  const counts = new Float64Array(boundsMs.length + 1);
  let sumMs = 0;
  return {
    add(ms) {
      let bucket = 0;
      while (bucket < boundsMs.length && ms > (boundsMs[bucket] as number)) bucket++;
      counts[bucket] = (counts[bucket] as number) + 1;
      sumMs += ms;
    },
    counts: () => [...counts],
    seconds: () => sumMs / 1000,
  };
}
