import { beforeEach, describe, expect, it } from 'vitest';
import { createReadPace, type ReadPace } from './read-pace.ts';

let now: number;
let pace: ReadPace;
beforeEach(() => {
  now = 1000;
  pace = createReadPace(() => now);
});

/** Returns the share of 10 seconds that reads on this thread take, if each read takes `readMs` and follows the one before. */
function shareOfTime(readMs: number): number {
  let onThread = 0;
  const end = now + 10_000;
  while (now < end) {
    const isOnThread = pace.mayReadOnThisThread(1000);
    now += readMs;
    if (isOnThread) {
      onThread += readMs;
      pace.recordRead(readMs);
    }
  }
  return onThread / 10_000;
}

describe('reading a file on the calling thread (not in the thread pool)', () => {
  it('is always allowed when each read takes 0.05 ms, because reads of at most 0.1 ms come from the page cache', () => {
    expect(shareOfTime(0.05)).toBeCloseTo(1);
  });

  it.each([0.2, 1, 10])(
    'is limited to about 5 % (1 to 6 %) of the elapsed time when every read takes %s ms',
    (ms) => {
      expect(shareOfTime(ms)).toBeGreaterThan(0.01);
      expect(shareOfTime(ms)).toBeLessThan(0.06);
    },
  );

  it('is not allowed for 9 to 10 seconds after a read of 500 ms, because slow reads may take 5 % of the time', () => {
    pace.recordRead(500);
    now += 9000;
    expect(pace.mayReadOnThisThread(1000)).toBe(false);
    now += 1000;
    expect(pace.mayReadOnThisThread(1000)).toBe(true);
  });

  it('is still allowed after a single slow read of 10 ms, because the limit is 20 ms of slow reads', () => {
    pace.recordRead(10);
    expect(pace.mayReadOnThisThread(1000)).toBe(true);
  });

  it('is not allowed for a read of 1 MiB (limit 256 KiB)', () => {
    expect(pace.mayReadOnThisThread(2 ** 20)).toBe(false);
  });
});
