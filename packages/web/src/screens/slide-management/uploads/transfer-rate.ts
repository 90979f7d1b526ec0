/** How fast an upload is, from what was sent lately. */

/** Older samples say nothing of the network now. */
const windowMs = 10_000;
/** Below this, a rate would be a guess. */
const leastMs = 1000;

export interface TransferRate {
  /** @param bytes sent so far @param now milliseconds */
  add(bytes: number, now: number): void;
  /** Returns bytes per second over the last 10 s; null before a second of samples. */
  bytesPerSecond(): number | null;
}

export function createTransferRate(): TransferRate {
  let samples: { readonly bytes: number; readonly at: number }[] = [];
  return {
    add(bytes, now) {
      samples = [...samples.filter(({ at }) => now - at <= windowMs), { bytes, at: now }];
    },
    bytesPerSecond() {
      const [first, last] = [samples[0], samples.at(-1)];
      if (first === undefined || last === undefined || last.at - first.at < leastMs) return null;
      return ((last.bytes - first.bytes) / (last.at - first.at)) * 1000;
    },
  };
}
