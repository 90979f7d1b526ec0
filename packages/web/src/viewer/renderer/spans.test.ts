import { describe, expect, it } from 'vitest';
import { spansOf } from './spans.ts';

describe('spansOf', () => {
  it('is one span for a picture on whole device pixels', () => {
    expect(spansOf(10, 250, 0, 240)).toEqual([{ from: 0, length: 240, to: 10, drawn: 240 }]);
  });

  it('covers every device pixel whose centre is in the picture once', () => {
    for (const [start, end] of [
      [10.3, 210.7],
      [10.7, 130.2],
      [-3.6, 400.4],
      [0.49, 90.51],
    ] as const) {
      const covered = spansOf(start, end, 0, 240).flatMap(({ to, drawn }) =>
        Array.from({ length: drawn }, (_, place) => to + place),
      );
      const expected = [];
      for (let pixel = Math.round(start); pixel < Math.round(end); pixel += 1) expected.push(pixel);
      expect(covered.toSorted((one, other) => one - other)).toEqual(expected);
    }
  });

  it('reads no pixel outside the picture', () => {
    for (const { from, length } of spansOf(10.7, 130.2, 0, 240)) {
      expect(from).toBeGreaterThanOrEqual(0);
      expect(from + length).toBeLessThanOrEqual(240);
    }
  });
});
