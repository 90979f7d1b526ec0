/**
 * Decides whether a file may be read on the calling thread instead of in the thread pool.
 *
 * A read from the page cache takes a few microseconds; the thread pool costs several times as much. A slow
 * read would block the event loop, so slow reads may take only a small share of the time. Beyond it every
 * read goes to the pool until the debt is paid off by elapsed time.
 */
export interface ReadPace {
  mayReadHere(byteCount: number): boolean;
  /** Records the duration of a read on this thread. */
  took(ms: number): void;
}

/** A longer read is slow even from memory. */
const MAX_BYTES = 256 * 1024;
/** A read that did not wait for a disk takes a few microseconds; one that did, a tenth of a millisecond and more. */
const QUICK_MS = 0.1;
/** Milliseconds of slow reads that may occur at once, and their share of the time in the long run. */
const BURST_MS = 20;
const SHARE = 0.05;

/** @param now a monotonic clock in milliseconds */
export function createReadPace(now: () => number): ReadPace {
  let debtMs = 0;
  let countedAt = now();
  return {
    mayReadHere(byteCount) {
      if (byteCount > MAX_BYTES) return false;
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

/** Shared by all files of this process, because they share its event loop. */
export const readPace: ReadPace = createReadPace(() => performance.now());
