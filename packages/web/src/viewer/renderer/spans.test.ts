import { describe, expect, it } from 'vitest';
import { spansOf } from './spans.ts';

describe('spansOf (device pixels on which a tile is drawn)', () => {
  it('returns one span for a tile that begins and ends on whole device pixels', () => {
    expect(spansOf(10, 250, 0, 240)).toEqual([
      { sourceStart: 0, sourceLength: 240, targetStart: 10, targetLength: 240 },
    ]);
  });

  it('returns spans that cover exactly once each device pixel whose centre lies in the tile', () => {
    for (const [start, end] of [
      [10.3, 210.7],
      [10.7, 130.2],
      [-3.6, 400.4],
      [0.49, 90.51],
    ] as const) {
      const covered = spansOf(start, end, 0, 240).flatMap(({ targetStart, targetLength }) =>
        Array.from({ length: targetLength }, (_, offset) => targetStart + offset),
      );
      const expected = [];
      for (let pixel = Math.round(start); pixel < Math.round(end); pixel += 1) expected.push(pixel);
      expect(covered.toSorted((a, b) => a - b)).toEqual(expected);
    }
  });

  it('returns spans that read no pixel from outside the tile', () => {
    for (const { sourceStart, sourceLength } of spansOf(10.7, 130.2, 0, 240)) {
      expect(sourceStart).toBeGreaterThanOrEqual(0);
      expect(sourceStart + sourceLength).toBeLessThanOrEqual(240);
    }
  });
});
