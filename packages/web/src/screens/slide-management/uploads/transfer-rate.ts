/** A meter for the speed of an upload over the last 10 s. */

/** Samples that are older than this do not describe the current speed of the network. */
const windowMs = 10_000;
/** Minimum time between the oldest and the newest sample: a rate over a shorter time would be inaccurate. */
const minMeasuredMs = 1000;

export interface TransferRate {
  /** Adds a sample. @param totalBytes bytes sent since the beginning of the upload @param nowMs time of a monotonic clock */
  add(totalBytes: number, nowMs: number): void;
  /** Returns the rate over the last 10 s; null while the samples cover less than 1 s. */
  bytesPerSecond(): number | null;
}

export function createTransferRate(): TransferRate {
  let samples: { readonly totalBytes: number; readonly timeMs: number }[] = [];
  return {
    add(totalBytes, nowMs) {
      const recent = samples.filter(({ timeMs }) => nowMs - timeMs <= windowMs);
      samples = [...recent, { totalBytes, timeMs: nowMs }];
    },
    bytesPerSecond() {
      const [oldest, newest] = [samples[0], samples.at(-1)];
      if (oldest === undefined || newest === undefined) return null;
      const measuredMs = newest.timeMs - oldest.timeMs;
      if (measuredMs < minMeasuredMs) return null;
      return ((newest.totalBytes - oldest.totalBytes) / measuredMs) * 1000;
    },
  };
}
