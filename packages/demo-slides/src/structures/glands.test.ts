import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cellAt, emptyWallCell, type Gland, locateInGland, wallPoint, wallRange } from './glands.ts';

/** A straight crypt with the direction (0.6, 0.8); all lengths are pixels. */
const gland: Gland = {
  seed: 3,
  x: 500,
  y: 300,
  dx: 0.6,
  dy: 0.8,
  length: 700,
  lumenRadius: 20,
  height: 84,
  bend: 0,
  opensAtSurface: false,
  cellWidth: 46,
  gobletShare: 0.5,
};
const range = wallRange(gland);
const along = fc.double({ min: range.start, max: range.end, noNaN: true });
const side = fc.constantFrom(1, -1);

describe('locateInGland (the position in a gland of a position on the slide)', () => {
  it('returns the depth and the distance along the wall from which wallPoint computed the position', () => {
    fc.assert(
      fc.property(along, side, fc.double({ min: 1, max: 80, noNaN: true }), (position, wallSide, depth) => {
        const { x, y } = wallPoint(gland, position, wallSide, depth);
        const located = locateInGland(gland, x, y, { depth: 0, along: 0, side: 0 });
        expect(located.depth).toBeCloseTo(depth);
        expect(located.along).toBeCloseTo(position);
      }),
    );
  });

  it('returns minus the radius of the lumen as depth for a position on the axis of the gland', () => {
    const located = locateInGland(gland, 500 + 0.6 * 300, 300 + 0.8 * 300, { depth: 0, along: 0, side: 0 });
    expect(located.depth).toBeCloseTo(-gland.lumenRadius);
  });
});

describe('cellAt (the epithelial cell at a position along a gland wall)', () => {
  it('writes the same cell into a reused result object, which holds an earlier cell, as into an empty one', () => {
    const reused = emptyWallCell();
    fc.assert(
      fc.property(along, (position) => {
        cellAt(9, 0.5, 46, position, reused);
        expect(reused).toEqual(cellAt(9, 0.5, 46, position, emptyWallCell()));
        expect(reused.across).toBeGreaterThanOrEqual(0);
        expect(reused.across).toBeLessThan(1);
      }),
    );
  });
});
