import { beforeEach, describe, expect, it } from 'vitest';
import { createReadPace, type ReadPace } from './read-pace.ts';

let now: number;
let pace: ReadPace;
beforeEach(() => {
  now = 1000;
  pace = createReadPace(() => now);
});

/** How many of the reads of this many milliseconds, one right after the other for ten seconds, were done here. */
function shareOfTime(readMs: number): number {
  let here = 0;
  const end = now + 10_000;
  while (now < end) {
    const isHere = pace.mayReadHere(1000);
    now += readMs;
    if (isHere) {
      here += readMs;
      pace.took(readMs);
    }
  }
  return here / 10_000;
}

describe('reading on the thread that asks', () => {
  it('goes on as long as reads are quick', () => {
    expect(shareOfTime(0.05)).toBeCloseTo(1);
  });

  it.each([0.2, 1, 10])('takes a small share of the time when every read takes %s ms', (ms) => {
    expect(shareOfTime(ms)).toBeGreaterThan(0.01);
    expect(shareOfTime(ms)).toBeLessThan(0.06);
  });

  it('stops after one read that hung, for twenty times as long', () => {
    pace.took(500);
    now += 9000;
    expect(pace.mayReadHere(1000)).toBe(false);
    now += 1000;
    expect(pace.mayReadHere(1000)).toBe(true);
  });

  it('is not disturbed by a read that was slow for once', () => {
    pace.took(10);
    expect(pace.mayReadHere(1000)).toBe(true);
  });

  it('is not for long reads', () => {
    expect(pace.mayReadHere(2 ** 20)).toBe(false);
  });
});
