import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { depthIn, nearestPoint, voronoiCell } from './voronoi.ts';

const grid = { seed: 5, spacing: 100, jitter: 0.8 };
const column = fc.integer({ min: -50, max: 50 });
const offset = fc.double({ min: -90, max: 90, noNaN: true });

describe('voronoiCell (the area around one point of an irregular grid)', () => {
  it('returns a cell that contains exactly the positions nearest to its grid point', () => {
    fc.assert(
      fc.property(column, column, offset, offset, (c, r, dx, dy) => {
        const cell = voronoiCell(grid, c, r);
        const depth = { straight: 0, rounded: 0 };
        depthIn(cell, dx, dy, 20, depth);
        const nearest = nearestPoint(grid, cell.x + dx, cell.y + dy);
        const belongsToCell = Math.hypot(nearest.x - cell.x, nearest.y - cell.y) < 1e-6;
        // A position on a side is equally near to both grid points.
        fc.pre(Math.abs(depth.straight) > 1e-6);
        expect(depth.straight > 0).toBe(belongsToCell);
        expect(depth.rounded).toBeLessThanOrEqual(depth.straight);
      }),
    );
  });

  it('returns, for a side that two cells share, the same length and the same distance from the grid point in both cells', () => {
    fc.assert(
      fc.property(column, column, (c, r) => {
        const cell = voronoiCell(grid, c, r);
        for (const side of cell.sides) {
          const neighbour = voronoiCell(grid, side.neighbourColumn, side.neighbourRow);
          const sharedSide = neighbour.sides.find((s) => s.neighbourColumn === c && s.neighbourRow === r);
          expect(sharedSide?.distance).toBeCloseTo(side.distance);
          expect((sharedSide?.end ?? 0) - (sharedSide?.start ?? 0)).toBeCloseTo(side.end - side.start);
        }
      }),
    );
  });
});
