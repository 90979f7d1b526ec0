/**
 * Decides whether a file may be read on the calling thread instead of in the thread pool.
 *
 * A read from the page cache takes a few microseconds; the thread pool adds several times that. A slow read blocks the
 * event loop, so slow reads may take at most 5 % of the time. Their duration is added to a debt, which elapsed time pays off;
 * while the debt is 20 ms or more, every read goes to the thread pool.
 */
export interface ReadPace {
  mayReadOnThisThread(byteCount: number): boolean;
  /** Records the duration of a read on this thread. */
  recordRead(durationMs: number): void;
}

/** A larger read always goes to the thread pool, because it is slow even from the page cache. */
const MAX_BYTES = 256 * 1024;
/** Reads of at most this duration add no debt: they came from the page cache. A read that waits for a disk takes longer. */
const QUICK_MS = 0.1;
/** While the debt is at least this value, reads go to the thread pool. */
const MAX_DEBT_MS = 20;
/** Milliseconds of debt that each elapsed millisecond pays off. */
const REPAYMENT_RATE = 0.05;

/** Creates a pace whose debt is 0. @param now a monotonic clock in milliseconds */
export function createReadPace(now: () => number): ReadPace {
  let debtMs = 0;
  let updatedAt = now();
  return {
    mayReadOnThisThread(byteCount) {
      if (byteCount > MAX_BYTES) return false;
      if (debtMs === 0) return true;
      const time = now();
      debtMs = Math.max(0, debtMs - (time - updatedAt) * REPAYMENT_RATE);
      updatedAt = time;
      return debtMs < MAX_DEBT_MS;
    },
    recordRead(durationMs) {
      if (durationMs <= QUICK_MS) return;
      if (debtMs === 0) updatedAt = now();
      debtMs += durationMs;
    },
  };
}

/** Shared by all files of this process, because they share its event loop. */
export const readPace: ReadPace = createReadPace(() => performance.now());
