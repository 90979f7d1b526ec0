import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cellAt, type Gland, noCell, placeInGland, wallPoint, wallRange } from './glands.ts';

const gland: Gland = {
  seed: 3,
  x: 500,
  y: 300,
  dx: 0.6,
  dy: 0.8,
  length: 700,
  lumen: 20,
  height: 84,
  bend: 0,
  open: false,
  cellWidth: 46,
  goblets: 0.5,
};
const range = wallRange(gland);
const along = fc.double({ min: range.from, max: range.to, noNaN: true });
const side = fc.constantFrom(1, -1);

describe('a place in a gland', () => {
  it('is found again from its depth and its place along the wall', () => {
    fc.assert(
      fc.property(along, side, fc.double({ min: 1, max: 80, noNaN: true }), (a, s, depth) => {
        const { x, y } = wallPoint(gland, a, s, depth);
        const place = placeInGland(gland, x, y, { depth: 0, along: 0, side: 0 });
        expect(place.depth).toBeCloseTo(depth);
        expect(place.along).toBeCloseTo(a);
      }),
    );
  });

  it('is in the lumen on the axis', () => {
    const place = placeInGland(gland, 500 + 0.6 * 300, 300 + 0.8 * 300, { depth: 0, along: 0, side: 0 });
    expect(place.depth).toBeCloseTo(-gland.lumen);
  });
});

describe('the cells of a wall', () => {
  it('are found by any place between their sides, whichever was asked before', () => {
    const kept = noCell();
    fc.assert(
      fc.property(along, (a) => {
        cellAt(9, 0.5, 46, a, kept);
        expect(kept).toEqual(cellAt(9, 0.5, 46, a, noCell()));
        expect(kept.across).toBeGreaterThanOrEqual(0);
        expect(kept.across).toBeLessThan(1);
      }),
    );
  });
});
