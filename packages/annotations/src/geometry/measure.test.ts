import { describe, expect, it } from 'vitest';
import type { AreaGeometry, Geometry, PolygonGeometry, Position } from '../model/geometry.ts';
import { createEllipse, expandEllipse } from './ellipse.ts';
import { areaOf, boundsOf, centroidOf, containsPosition, lengthOf, measureGeometry } from './measure.ts';
import { type Bounds, boundsTouch, orientRing, signedArea } from './ring.ts';
import { simplifyLine } from './simplify.ts';

/** Returns the ring of a rectangle, clockwise on a screen. */
const rectangle = (x: number, y: number, width: number, height: number): Position[] => [
  [x, y],
  [x + width, y],
  [x + width, y + height],
  [x, y + height],
  [x, y],
];
const polygonOf = (...coordinates: Position[][]): PolygonGeometry => ({ type: 'Polygon', coordinates });
const lineOf = (...coordinates: Position[]): Geometry => ({ type: 'LineString', coordinates });

const twoSquares: AreaGeometry = {
  type: 'MultiPolygon',
  coordinates: [[rectangle(0, 0, 10, 10)], [rectangle(100, 40, 20, 20), rectangle(100, 40, 10, 10)]],
};

describe('areaOf, lengthOf and centroidOf (measures of a geometry)', () => {
  it('add up the parts of an area and subtract their holes', () => {
    expect(areaOf(twoSquares)).toBe(400); // 100 + 400 - 100
    expect(lengthOf(twoSquares)).toBe(160); // 40 + 80 + 40
    // The parts have the centroids (5, 5), (110, 50) and, for the hole, (105, 45).
    const [x, y] = centroidOf(twoSquares);
    expect(x).toBeCloseTo((100 * 5 + 400 * 110 - 100 * 105) / 400, 9);
    expect(y).toBeCloseTo((100 * 5 + 400 * 50 - 100 * 45) / 400, 9);
  });

  it('return the same for rings in the opposite direction', () => {
    const reversed: AreaGeometry = {
      type: 'MultiPolygon',
      coordinates: twoSquares.coordinates.map((rings) => rings.map((ring) => [...ring].reverse())),
    } as AreaGeometry;
    expect([areaOf(reversed), lengthOf(reversed)]).toEqual([areaOf(twoSquares), lengthOf(twoSquares)]);
    expect(centroidOf(reversed)).toEqual(centroidOf(twoSquares));
  });

  it('weight the lines of a MultiLineString by their length', () => {
    const lines: Geometry = {
      type: 'MultiLineString',
      coordinates: [
        [
          [0, 0],
          [30, 0],
        ],
        [
          [100, 10],
          [100, 20],
        ],
      ],
    };
    expect(lengthOf(lines)).toBe(40);
    expect(centroidOf(lines)).toEqual([(30 * 15 + 10 * 100) / 40, (10 * 15) / 40]);
    expect(lengthOf(lines, { x: 2, y: 3 })).toBe(90); // 30 × 2 along x, 10 × 3 along y
  });

  it('return the mean of the positions for points, and for a line of length 0', () => {
    const points: Geometry = {
      type: 'MultiPoint',
      coordinates: [
        [0, 0],
        [4, 2],
        [8, 10],
      ],
    };
    expect([lengthOf(points), centroidOf(points)]).toEqual([0, [4, 4]]);
    expect(centroidOf(lineOf([3, 4], [3, 4]))).toEqual([3, 4]);
  });

  it('return the centroid of the outline for an area of 0', () => {
    expect(
      centroidOf(
        polygonOf([
          [0, 0],
          [10, 0],
          [20, 0],
          [0, 0],
        ]),
      ),
    ).toEqual([10, 0]);
  });

  it('return the area and perimeter of an ellipse of unequal half-axes', () => {
    const ellipse = createEllipse({ minX: 30, minY: 40, maxX: 230, maxY: 140 });
    expect(areaOf(ellipse)).toBeCloseTo(Math.PI * 100 * 50, 9);
    expect(lengthOf(ellipse)).toBeCloseTo(484.4224, 3); // 4 a E(e), the complete elliptic integral
    // With these pixels, the ellipse is a circle of radius 25 µm.
    expect(lengthOf(ellipse, { x: 0.25, y: 0.5 })).toBeCloseTo(2 * Math.PI * 25, 9);
  });

  it('return the area and perimeter of a rectangle, not those of an ellipse, for a polygon without isEllipse', () => {
    const polygon = polygonOf(rectangle(3, 4, 10, 5));
    expect([areaOf(polygon), lengthOf(polygon)]).toEqual([50, 30]);
  });

  it('return the length 0 for an ellipse of size 0', () => {
    expect(lengthOf(createEllipse({ minX: 5, minY: 5, maxX: 5, maxY: 5 }))).toBe(0);
  });

  it('return no micrometres for lines without a pixel size, and no length for several points', () => {
    expect(measureGeometry(lineOf([0, 0], [3, 4]), null)).toMatchObject({ lengthPx: 5, lengthUm: null });
    const points: Geometry = { type: 'MultiPoint', coordinates: [[1, 2]] };
    expect(measureGeometry(points, { x: 1, y: 1 })).toMatchObject({ lengthPx: null, lengthUm: null });
  });

  it('keep the digits of a small area far from the origin', () => {
    expect(areaOf(polygonOf(rectangle(1e6 + 0.25, 2e6 + 0.5, 0.5, 0.25)))).toBe(0.125);
  });
});

describe('containsPosition (whether an area contains a position)', () => {
  it.each<[boolean, string, Position]>([
    [true, 'in the first part', [5, 5]],
    [true, 'in the second part beside its hole', [115, 45]],
    [false, 'in the hole', [105, 45]],
    [false, 'between the parts', [50, 20]],
    [false, 'right of the first part', [11, 5]],
    [false, 'below the first part', [5, 11]],
  ])('returns %s for a position %s', (expected, _, position) => {
    expect(containsPosition(twoSquares, position)).toBe(expected);
  });

  it.each<[boolean, Position]>([
    [true, [110, 25]],
    [true, [101, 25]],
    [false, [99, 25]],
    [true, [110, 20.5]],
    [false, [110, 19.5]],
    [false, [118, 29]],
    [true, [119.76, 25.97]], // outside the polygon that approximates the ellipse
  ])('returns %s for %j and the ellipse from (100, 20) to (120, 30)', (expected, position) => {
    const ellipse = createEllipse({ minX: 100, minY: 20, maxX: 120, maxY: 30 });
    expect(containsPosition(ellipse, position)).toBe(expected);
  });
});

describe('containsPosition of a polygon', () => {
  it.each<[boolean, Position]>([
    [true, [108, 105]],
    [false, [108, 103]],
    [true, [108, 115]],
    [false, [108, 117]],
    [true, [119, 110]],
    [false, [121, 110]],
  ])('returns %s for %j and the triangle (100, 100), (120, 110), (100, 120)', (expected, position) => {
    const triangle = polygonOf([
      [100, 100],
      [120, 110],
      [100, 120],
      [100, 100],
    ]);
    expect(containsPosition(triangle, position)).toBe(expected);
  });

  it('returns true for a position near a corner of a rectangle', () => {
    expect(containsPosition(polygonOf(rectangle(3, 4, 10, 5)), [3.5, 4.5])).toBe(true);
  });
});

describe('boundsOf and boundsTouch (bounding boxes)', () => {
  it('boundsOf covers all parts of a geometry', () => {
    expect(boundsOf(twoSquares)).toEqual({ minX: 0, minY: 0, maxX: 120, maxY: 60 });
    expect(boundsOf(lineOf([5, -1], [-2, 7]))).toEqual({ minX: -2, minY: -1, maxX: 5, maxY: 7 });
  });

  const box: Bounds = { minX: 0, minY: 0, maxX: 10, maxY: 10 };
  it.each<[boolean, string, Bounds]>([
    [true, 'that overlaps it', { minX: 5, minY: 5, maxX: 15, maxY: 15 }],
    [true, 'that touches its right edge', { minX: 10, minY: 2, maxX: 12, maxY: 4 }],
    [true, 'that touches its lower edge', { minX: 2, minY: 10, maxX: 4, maxY: 12 }],
    [false, 'on its right', { minX: 11, minY: 2, maxX: 12, maxY: 4 }],
    [false, 'below it', { minX: 2, minY: 11, maxX: 4, maxY: 12 }],
  ])('boundsTouch returns %s for a box and one %s, in either order', (expected, _, other) => {
    expect([boundsTouch(box, other), boundsTouch(other, box)]).toEqual([expected, expected]);
  });
});

describe('signedArea and orientRing (direction of a ring)', () => {
  it('signedArea is positive for a ring that is clockwise on a screen', () => {
    expect(signedArea(rectangle(3, 4, 10, 5))).toBe(50);
    expect(signedArea(rectangle(3, 4, 10, 5).reverse())).toBe(-50);
    expect(signedArea([])).toBe(0);
  });

  it('orientRing reverses a ring only when its direction is the other one', () => {
    const ring = rectangle(0, 0, 10, 10);
    expect(orientRing(ring, 1)).toBe(ring);
    expect(orientRing(ring, -1)).toEqual(ring.toReversed());
  });
});

describe('expandEllipse (an ellipse as an ordinary polygon)', () => {
  const ellipse = createEllipse({ minX: 0, minY: 0, maxX: 20, maxY: 10 });

  it('returns the positions of the ellipse without the mark isEllipse, and keeps its plane', () => {
    const plane = { c: 0, z: 2, t: 0 };
    expect(expandEllipse(ellipse)).toEqual({ type: 'Polygon', coordinates: ellipse.coordinates });
    expect(expandEllipse({ ...ellipse, plane })).toEqual({
      type: 'Polygon',
      coordinates: ellipse.coordinates,
      plane,
    });
  });

  it('returns other areas unchanged', () => {
    const square = polygonOf(rectangle(0, 0, 10, 10));
    expect(expandEllipse(square)).toBe(square);
    expect(expandEllipse(twoSquares)).toBe(twoSquares);
  });
});

describe('simplifyLine (removes positions near the simplified line)', () => {
  it.each<[string, number, readonly Position[], readonly Position[]]>([
    [
      'removes a position at the tolerance',
      2,
      [
        [0, 0],
        [5, 2],
        [10, 0],
      ],
      [
        [0, 0],
        [10, 0],
      ],
    ],
    [
      'keeps a position beyond the tolerance',
      2,
      [
        [0, 0],
        [5, 2.01],
        [10, 0],
      ],
      [
        [0, 0],
        [5, 2.01],
        [10, 0],
      ],
    ],
    [
      'keeps a position that lies beyond an end of the line',
      2,
      [
        [0, 0],
        [-3, 0],
        [10, 0],
      ],
      [
        [0, 0],
        [-3, 0],
        [10, 0],
      ],
    ],
    [
      'keeps the positions far from a line with equal ends',
      2,
      [
        [0, 0],
        [10, 0],
        [10, 10],
        [0, 0],
      ],
      [
        [0, 0],
        [10, 0],
        [10, 10],
        [0, 0],
      ],
    ],
    [
      'removes positions near the edges of the corner that it keeps',
      1,
      [
        [0, 0],
        [5, 0.5],
        [10, 0],
        [10.5, 5],
        [10, 10],
      ],
      [
        [0, 0],
        [10, 0],
        [10, 10],
      ],
    ],
    [
      'keeps both ends of a line of two positions',
      100,
      [
        [0, 0],
        [1, 1],
      ],
      [
        [0, 0],
        [1, 1],
      ],
    ],
  ])('%s', (_, tolerance, line, expected) => {
    expect(simplifyLine(line, tolerance)).toEqual(expected);
  });
});
