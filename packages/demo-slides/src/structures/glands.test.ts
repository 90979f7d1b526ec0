import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cellAt, emptyWallCell, type Gland, locateInGland, wallPoint, wallRange } from './glands.ts';

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
  gobletShare: 0.5,
};
const range = wallRange(gland);
const along = fc.double({ min: range.start, max: range.end, noNaN: true });
const side = fc.constantFrom(1, -1);

describe('locateInGland', () => {
  it('returns the wall position for which wallPoint returns the position on the slide', () => {
    fc.assert(
      fc.property(along, side, fc.double({ min: 1, max: 80, noNaN: true }), (position, wallSide, depth) => {
        const { x, y } = wallPoint(gland, position, wallSide, depth);
        const place = locateInGland(gland, x, y, { depth: 0, along: 0, side: 0 });
        expect(place.depth).toBeCloseTo(depth);
        expect(place.along).toBeCloseTo(position);
      }),
    );
  });

  it('returns a negative depth for a position on the axis', () => {
    const place = locateInGland(gland, 500 + 0.6 * 300, 300 + 0.8 * 300, { depth: 0, along: 0, side: 0 });
    expect(place.depth).toBeCloseTo(-gland.lumen);
  });
});

describe('cellAt', () => {
  it('returns the same cell whether it receives an empty object or the cell of a neighbouring position', () => {
    const cached = emptyWallCell();
    fc.assert(
      fc.property(along, (position) => {
        cellAt(9, 0.5, 46, position, cached);
        expect(cached).toEqual(cellAt(9, 0.5, 46, position, emptyWallCell()));
        expect(cached.across).toBeGreaterThanOrEqual(0);
        expect(cached.across).toBeLessThan(1);
      }),
    );
  });
});
