import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AreaGeometry,
  countVertices,
  type Geometry,
  type PolygonGeometry,
  type Position,
} from '../model/geometry.ts';
import { polygon, position, scribble, starRing } from '../testing/shapes.ts';
import { repairArea } from './booleans.ts';
import { createStroke } from './brush.ts';
import { fillHoles, splitArea } from './edit.ts';
import { createEllipse } from './ellipse.ts';
import { areaOf, boundsOf, centroidOf, containsPosition, lengthOf, measureGeometry } from './measure.ts';
import { findSelfIntersections, isSelfIntersecting } from './self-intersections.ts';
import { simplifyGeometry } from './simplify.ts';

const ring = (...positions: Position[]) => [...positions, positions[0] as Position];
const square = ring([0, 0], [10, 0], [10, 10], [0, 10]);
const hole = ring([2, 2], [4, 2], [4, 4], [2, 4]);
const withHole: PolygonGeometry = { type: 'Polygon', coordinates: [square, hole] };

describe('measureGeometry and its parts (areaOf, lengthOf, centroidOf, containsPosition)', () => {
  it('return area, length, centroid and bounds of an area with a hole, in pixels and in micrometres', () => {
    expect(measureGeometry(withHole, { x: 0.5, y: 0.25 })).toEqual({
      areaPx: 96, // 10 × 10 - 2 × 2
      areaUm2: 12, // 96 × 0.5 × 0.25
      lengthPx: 48, // 40 of the square, 8 of the hole
      lengthUm: 18, // 15 of the square, 3 of the hole
      centroid: [(500 - 12) / 96, (500 - 12) / 96],
      bounds: { minX: 0, minY: 0, maxX: 10, maxY: 10 },
    });
  });

  it('return null for micrometre values without a pixel size, for the area of points and lines, and for the length of points', () => {
    expect(measureGeometry(withHole, null)).toMatchObject({ areaUm2: null, lengthUm: null });
    expect(measureGeometry({ type: 'Point', coordinates: [3, 4] }, null)).toMatchObject({
      areaPx: null,
      lengthPx: null,
      centroid: [3, 4],
    });
    const line: Geometry = {
      type: 'LineString',
      coordinates: [
        [0, 0],
        [3, 4],
      ],
    };
    expect(measureGeometry(line, { x: 2, y: 2 })).toMatchObject({
      areaPx: null,
      lengthPx: 5,
      lengthUm: 10,
      centroid: [1.5, 2],
    });
  });

  it('return the area and perimeter of the exact ellipse for an ellipse annotation, not those of its polygon', () => {
    const circle = createEllipse({ minX: 10, minY: 20, maxX: 30, maxY: 40 });
    expect(areaOf(circle)).toBeCloseTo(Math.PI * 100, 10);
    expect(lengthOf(circle)).toBeCloseTo(2 * Math.PI * 10, 8);
    expect(containsPosition(circle, [20, 30])).toBe(true);
    expect(containsPosition(circle, [11, 21])).toBe(false);
  });

  it('return the same area for a polygon that is moved and reversed (clockwise to anticlockwise), and the moved centroid', () => {
    fc.assert(
      fc.property(polygon, fc.integer({ min: 0, max: 1_000_000 }), ({ coordinates }, distance) => {
        const moved: PolygonGeometry = {
          type: 'Polygon',
          coordinates: coordinates.map((original) =>
            original.map(([x, y]) => [x + distance, y + distance] as const).toReversed(),
          ),
        };
        const original: PolygonGeometry = { type: 'Polygon', coordinates };
        expect(areaOf(moved)).toBeCloseTo(areaOf(original), 1);
        const [x, y] = centroidOf(original);
        const [movedX, movedY] = centroidOf(moved);
        expect(movedX - distance).toBeCloseTo(x, 2);
        expect(movedY - distance).toBeCloseTo(y, 2);
      }),
    );
  });
});

describe('createEllipse (polygon of an ellipse annotation)', () => {
  it('returns a polygon in the given bounding box whose vertices lie on the ellipse and whose edges are at most 0.1 pixels inside it', () => {
    const size = fc.double({ min: 1, max: 5000, noNaN: true });
    fc.assert(
      fc.property(position, size, size, ([x, y], width, height) => {
        const bounds = { minX: x, minY: y, maxX: x + width, maxY: y + height };
        const { coordinates, isEllipse } = createEllipse(bounds);
        expect(isEllipse).toBe(true);
        const found = boundsOf({ type: 'Polygon', coordinates });
        for (const side of ['minX', 'minY', 'maxX', 'maxY'] as const) {
          expect(found[side]).toBeCloseTo(bounds[side], 6);
        }
        /** Distance of a position from the centre, in which 1 is the ellipse. */
        const relativeDistance = ([atX, atY]: Position) =>
          Math.hypot((atX - x) / (width / 2) - 1, (atY - y) / (height / 2) - 1);
        const [outline = []] = coordinates;
        expect(outline.at(-1)).toEqual(outline[0]);
        for (const [index, vertex] of outline.slice(1).entries()) {
          expect(relativeDistance(vertex)).toBeCloseTo(1, 6);
          const [beforeX, beforeY] = outline[index] as Position;
          const middle: Position = [(beforeX + vertex[0]) / 2, (beforeY + vertex[1]) / 2];
          expect((1 - relativeDistance(middle)) * (Math.max(width, height) / 2)).toBeLessThan(0.1001);
        }
      }),
    );
  });

  it.each([
    ['16 vertices for an ellipse of 1 × 1 pixels', 1, 16],
    ['72 vertices for an ellipse of 200 × 200 pixels', 200, 72],
    ['512 vertices for an ellipse of 1,000,000 × 1,000,000 pixels, the maximum', 1_000_000, 512],
  ])('returns %s', (_, size, vertices) => {
    const { coordinates } = createEllipse({ minX: 0, minY: 0, maxX: size, maxY: size });
    expect(coordinates[0]).toHaveLength(vertices + 1); // the last position repeats the first one
  });
});

describe('findSelfIntersections (crossings of the rings of an area)', () => {
  it.each<[string, AreaGeometry, number]>([
    ['no position for a valid polygon', withHole, 0],
    [
      'one position for a figure eight',
      { type: 'Polygon', coordinates: [ring([0, 0], [10, 10], [10, 0], [0, 10])] },
      1,
    ],
    [
      'one position for a figure eight that crosses itself at a vertex',
      { type: 'Polygon', coordinates: [ring([0, 0], [10, 10], [20, 20], [20, 0], [10, 10], [0, 20])] },
      1,
    ],
    [
      'no position for a ring that touches itself at a vertex without crossing',
      { type: 'Polygon', coordinates: [ring([0, 0], [10, 10], [20, 0], [20, 20], [10, 10], [0, 20])] },
      0,
    ],
    [
      'two positions for a ring that crosses one of its edges twice, once at a vertex that lies on the edge',
      { type: 'Polygon', coordinates: [ring([0, 0], [20, 0], [20, 20], [10, -5], [5, 0], [0, 20])] },
      2,
    ],
    [
      'one position for a ring with a spike, whose edges run back over each other',
      { type: 'Polygon', coordinates: [ring([0, 0], [10, 0], [10, 10], [10, 20], [10, 10], [0, 10])] },
      1,
    ],
    [
      'two positions for a hole that extends beyond its outer ring',
      { type: 'Polygon', coordinates: [square, ring([5, 5], [15, 5], [15, 7], [5, 7])] },
      2,
    ],
    [
      'no position for a hole that touches its outer ring without crossing',
      { type: 'Polygon', coordinates: [square, ring([0, 5], [3, 4], [3, 6])] },
      0,
    ],
    [
      'two positions for two parts that overlap',
      { type: 'MultiPolygon', coordinates: [[square], [ring([5, 5], [15, 5], [15, 15], [5, 15])]] },
      2,
    ],
  ])('returns %s', (_, shape, count) => {
    expect(findSelfIntersections(shape).positions).toHaveLength(count);
  });

  it('stops early and returns isComplete: false for a shape with more pairs of edges to compare than the limit', () => {
    const zigzag = Array.from(
      { length: 20_000 },
      (_, index): Position => [index % 2 === 0 ? 0 : 1000, index * 0.01],
    );
    const shape: AreaGeometry = { type: 'Polygon', coordinates: [ring(...zigzag, [-1, 500])] };
    expect(findSelfIntersections(shape).isComplete).toBe(false);
  });
});

describe('createStroke (area of a brush stroke along a path)', () => {
  it('covers all positions nearer than the radius to the path, and no position farther away', () => {
    fc.assert(
      fc.property(
        fc.array(position, { minLength: 1, maxLength: 10 }),
        fc.integer({ min: 2, max: 200 }),
        fc.array(position, { minLength: 30, maxLength: 30 }),
        (path, radius, probes) => {
          const stroke = createStroke(path, radius);
          expect(stroke).not.toBeNull();
          if (!stroke) return;
          expect(isSelfIntersecting(stroke)).toBe(false);
          for (const probe of probes) {
            const distance = distanceToPath(probe, path);
            if (Math.abs(distance - radius) < 0.5 + radius * 0.02) continue;
            expect(containsPosition(stroke, probe)).toBe(distance < radius);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it('returns null for an empty path', () => {
    expect(createStroke([], 10)).toBeNull();
  });
});

function distanceToPath([x, y]: Position, path: readonly Position[]): number {
  return Math.min(
    ...path.map(([x1, y1], index) => {
      const [x0, y0] = path[Math.max(0, index - 1)] as Position;
      const squaredLength = (x1 - x0) ** 2 + (y1 - y0) ** 2;
      const projection = ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / squaredLength;
      const fraction = squaredLength === 0 ? 0 : Math.max(0, Math.min(1, projection));
      return Math.hypot(x - x0 - fraction * (x1 - x0), y - y0 - fraction * (y1 - y0));
    }),
  );
}

describe('simplifyGeometry (removes vertices within a tolerance)', () => {
  it('returns areas whose rings do not cross, for random shapes and tolerances', () => {
    fc.assert(
      fc.property(
        fc.oneof(polygon, scribble),
        fc.double({ min: 0, max: 30, noNaN: true }),
        (shape, tolerance) => {
          const repaired = repairArea(shape);
          fc.pre(repaired !== null);
          const simple = simplifyGeometry(repaired, tolerance) as AreaGeometry;
          expect(isSelfIntersecting(simple)).toBe(false);
          expect(areaOf(simple)).toBeGreaterThan(0);
        },
      ),
    );
  });

  it('reduces a nearly round outline of 400 vertices to fewer than 60 vertices, and stays within the tolerance of all 400', () => {
    const shape: PolygonGeometry = {
      type: 'Polygon',
      coordinates: [
        starRing(
          [500, 500],
          400,
          Array.from({ length: 400 }, (_, index) => 0.9 + 0.002 * (index % 3)),
        ),
      ],
    };
    const simple = simplifyGeometry(shape, 2) as PolygonGeometry;
    expect(countVertices(simple)).toBeLessThan(60);
    for (const original of shape.coordinates.flat()) {
      expect(distanceToPath(original, simple.coordinates[0] ?? [])).toBeLessThan(2.01);
    }
  });

  it('returns an ellipse unchanged, and only the end points of a nearly straight line of three vertices', () => {
    const ellipse = createEllipse({ minX: 0, minY: 0, maxX: 10, maxY: 10 });
    expect(simplifyGeometry(ellipse, 5)).toBe(ellipse);
    expect(
      simplifyGeometry(
        {
          type: 'LineString',
          coordinates: [
            [0, 0],
            [5, 0.1],
            [10, 0],
          ],
        },
        1,
      ),
    ).toEqual({
      type: 'LineString',
      coordinates: [
        [0, 0],
        [10, 0],
      ],
    });
  });
});

describe('fillHoles (returns an area without holes)', () => {
  it('removes a hole, and merges a part that lies inside the hole with the area around it', () => {
    expect(areaOf(fillHoles(withHole))).toBe(100);
    const nested: AreaGeometry = {
      type: 'MultiPolygon',
      coordinates: [[square, hole], [ring([2.5, 2.5], [3, 2.5], [3, 3], [2.5, 3])]],
    };
    expect(fillHoles(nested)).toMatchObject({ type: 'Polygon' });
    expect(areaOf(fillHoles(nested))).toBe(100);
  });
});

describe('splitArea (cuts an area along a line)', () => {
  it('returns at least two pieces with the same total area for a line through the centroid of an area', () => {
    fc.assert(
      fc.property(polygon, fc.double({ min: 0, max: Math.PI, noNaN: true }), (shape, angle) => {
        const [x, y] = centroidOf(shape);
        const offset: Position = [2000 * Math.cos(angle), 2000 * Math.sin(angle)];
        const pieces = splitArea(shape, [
          [x - offset[0], y - offset[1]],
          [x + offset[0], y + offset[1]],
        ]);
        expect(pieces.length).toBeGreaterThanOrEqual(2);
        const total = pieces.reduce((sum, piece) => sum + areaOf(piece), 0);
        expect(areaOf(shape) - total).toBeGreaterThan(-1);
        expect(areaOf(shape) - total).toBeLessThan(60);
      }),
    );
  });

  it('returns only the unchanged area when the cutting line ends inside the area', () => {
    expect(
      splitArea(withHole, [
        [-5, 7],
        [5, 7],
      ]),
    ).toEqual([withHole]);
  });

  it('returns two pieces of an area with a hole when the cutting line passes through the hole', () => {
    expect(
      splitArea(withHole, [
        [-5, 3],
        [15, 3],
      ]),
    ).toHaveLength(2);
  });
});
