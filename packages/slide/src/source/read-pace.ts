/**
 * Whether a file may be read on the thread that asks, instead of by the pool of threads beside it.
 *
 * What the page cache answers takes some microseconds; handing that to another thread and back costs several times as
 * much. But a slow read would hold up everything else, so slow ones may take a small share of the time and no more:
 * beyond it every read goes to the pool, until the debt is paid by waiting.
 */
export interface ReadPace {
  mayReadHere(byteCount: number): boolean;
  /** How long a read on this thread took. */
  took(ms: number): void;
}

/** A longer read is slow even from memory. */
const MOST_BYTES = 256 * 1024;
/** A read that did not wait for a disk takes a few microseconds; one that did, a tenth of a millisecond and more. */
const QUICK_MS = 0.1;
/** Milliseconds of slow reading that may come at once, and the share of the time it may take in the long run. */
const BURST_MS = 20;
const SHARE = 0.05;

/** @param now milliseconds of a clock that never goes back */
export function createReadPace(now: () => number): ReadPace {
  let debtMs = 0;
  let countedAt = now();
  return {
    mayReadHere(byteCount) {
      if (byteCount > MOST_BYTES) return false;
      if (debtMs === 0) return true;
      const at = now();
      debtMs = Math.max(0, debtMs - (at - countedAt) * SHARE);
      countedAt = at;
      return debtMs < BURST_MS;
    },
    took(ms) {
      if (ms <= QUICK_MS) return;
      if (debtMs === 0) countedAt = now();
      debtMs += ms;
    },
  };
}

/** Of this process: its files share the one thread that they must not hold up. */
export const readPace: ReadPace = createReadPace(() => performance.now());
