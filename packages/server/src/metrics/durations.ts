/** Durations counted by how long they took, in plain numbers: counting one costs next to nothing. */

/** Upper bounds in seconds, ascending; what took longer than the last one is counted by itself. */
export const durationBounds = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const;

const boundsMs = durationBounds.map((seconds) => seconds * 1000);

export interface Durations {
  add(ms: number): void;
  /** How many there were of each length: one number a bound, and a last one for what took longer. */
  counts(): readonly number[];
  /** All of them together. */
  seconds(): number;
}

export function createDurations(): Durations {
  const counts = new Float64Array(boundsMs.length + 1);
  let sumMs = 0;
  return {
    add(ms) {
      let place = 0;
      while (place < boundsMs.length && ms > (boundsMs[place] as number)) place++;
      counts[place] = (counts[place] as number) + 1;
      sumMs += ms;
    },
    counts: () => [...counts],
    seconds: () => sumMs / 1000,
  };
}
