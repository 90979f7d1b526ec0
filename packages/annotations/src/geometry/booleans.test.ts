import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AreaGeometry,
  countVertices,
  type PolygonGeometry,
  type Position,
  polygonsOf,
} from '../model/geometry.ts';
import { anyArea, polygon, position, starRing, wavyRing } from '../testing/shapes.ts';
import { intersectAreas, repairArea, subtractAreas, unionAreas } from './booleans.ts';
import { createStroke } from './brush.ts';
import { createEllipse } from './ellipse.ts';
import { areaOf, boundsOf, containsPosition } from './measure.ts';
import { signedArea } from './ring.ts';
import { findSelfIntersections, isSelfIntersecting } from './self-intersections.ts';

const square = (x: number, y: number, size: number): PolygonGeometry => ({
  type: 'Polygon',
  coordinates: [
    [
      [x, y],
      [x + size, y],
      [x + size, y + size],
      [x, y + size],
      [x, y],
    ],
  ],
});

const area = (geometry: AreaGeometry | null) => (geometry ? areaOf(geometry) : 0);

/** Square pixels: crossings are rounded to 0.01 pixels, which moves edges of up to 1,500 pixels. */
const areaTolerance = 60;

function expectValid(geometry: AreaGeometry | null): void {
  if (!geometry) return;
  for (const rings of polygonsOf(geometry)) {
    for (const [index, ring] of rings.entries()) {
      expect(ring.length).toBeGreaterThanOrEqual(4);
      expect(ring.at(-1)).toEqual(ring[0]);
      expect(Math.sign(signedArea(ring))).toBe(index === 0 ? 1 : -1);
    }
  }
}

describe('Boolean operations on areas (unionAreas, subtractAreas, intersectAreas)', () => {
  it('return a union and an intersection whose sizes add up to the sizes of the two given areas, also with holes and several parts', () => {
    fc.assert(
      fc.property(anyArea, anyArea, (unrepairedA, unrepairedB) => {
        const a = repairArea(unrepairedA);
        const b = repairArea(unrepairedB);
        fc.pre(a !== null && b !== null);
        const common = area(intersectAreas(a, b));
        expect(Math.abs(area(unionAreas([a, b])) + common - area(a) - area(b))).toBeLessThan(areaTolerance);
        expect(Math.abs(area(subtractAreas(a, [b])) + common - area(a))).toBeLessThan(areaTolerance);
      }),
      // Always the same areas, because a few random ones exceed the tolerance (docs/known-defects.md).
      { numRuns: 300, seed: 1 },
    );
  });

  it('return closed rings: outer rings with positive, holes with negative signed area', () => {
    fc.assert(
      fc.property(anyArea, anyArea, (a, b) => {
        for (const result of [unionAreas([a, b]), subtractAreas(a, [b]), intersectAreas(a, b)]) {
          expectValid(result);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('return an area that contains a random position if and only if the set operation on the two given areas requires it', () => {
    fc.assert(
      fc.property(
        polygon,
        polygon,
        fc.array(position, { minLength: 20, maxLength: 20 }),
        (a, b, positions) => {
          const results = [unionAreas([a, b]), subtractAreas(a, [b]), intersectAreas(a, b)];
          for (const tested of positions) {
            const isAwayFromOutlines = [a, b].every((shape) => {
              const circle = createStroke([tested], 0.1);
              const common = circle && intersectAreas(circle, shape);
              return !common || area(common) > area(circle) - 1e-6;
            });
            if (!isAwayFromOutlines) continue;
            const inA = containsPosition(a, tested);
            const inB = containsPosition(b, tested);
            expect(results.map((result) => result !== null && containsPosition(result, tested))).toEqual([
              inA || inB,
              inA && !inB,
              inA && inB,
            ]);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it('return, for two squares that do not overlap, both squares as the union and null as the intersection', () => {
    const apart = unionAreas([square(0, 0, 10), square(50, 50, 10)]);
    expect(apart).toMatchObject({ type: 'MultiPolygon' });
    expect(area(apart)).toBe(200);
    expect(intersectAreas(square(0, 0, 10), square(50, 50, 10))).toBeNull();
    expect(subtractAreas(square(0, 0, 10), [square(-1, -1, 20)])).toBeNull();
  });

  it('cut a hole for a subtracted inner square, and merge two squares that share an edge into one polygon', () => {
    const ring = subtractAreas(square(0, 0, 10), [square(2, 2, 5)]);
    expect(ring?.coordinates).toHaveLength(2);
    expect(area(ring)).toBe(75); // 10 × 10 - 5 × 5
    const merged = unionAreas([square(0, 0, 10), square(10, 0, 10)]);
    expect(merged?.type).toBe('Polygon');
    expect(area(merged)).toBe(200);
  });

  it('return an area on the image plane (c, z, t) of the first area', () => {
    const plane = { c: 0, z: 3, t: 0 };
    expect(unionAreas([{ ...square(0, 0, 10), plane }, square(5, 5, 10)])?.plane).toEqual(plane);
    expect(subtractAreas({ ...square(0, 0, 10), plane }, [square(5, 5, 10)])?.plane).toEqual(plane);
  });

  it('return a polygon of half the size, without isEllipse, when a square cuts an ellipse annotation in half', () => {
    const ellipse = createEllipse({ minX: 0, minY: 0, maxX: 200, maxY: 100 });
    const half = intersectAreas(ellipse, square(-100, -50, 200)) as PolygonGeometry;
    expect(half.isEllipse).toBeUndefined();
    expect(area(half)).toBeCloseTo((Math.PI * 100 * 50) / 2, -2);
  });
});

describe('Boolean operations with a small area on an area of many vertices', () => {
  const big: PolygonGeometry = {
    type: 'Polygon',
    coordinates: [
      wavyRing(4000, [5000, 5000], 4000),
      ...Array.from({ length: 9 }, (_, index) =>
        starRing([4000 + 1000 * (index % 3), 4000 + 1000 * Math.floor(index / 3)], 300, Array(50).fill(0.5)),
      ),
    ],
  };
  const center = fc.tuple(
    fc.double({ min: 500, max: 9500, noNaN: true }),
    fc.double({ min: 500, max: 9500, noNaN: true }),
  );
  const stroke = fc
    .record({
      path: fc.array(fc.tuple(fc.integer({ min: -300, max: 300 }), fc.integer({ min: -300, max: 300 })), {
        minLength: 1,
        maxLength: 8,
      }),
      center,
      radius: fc.integer({ min: 5, max: 300 }),
    })
    .map(({ path, center: [centerX, centerY], radius }) =>
      createStroke(
        path.map(([x, y]) => [centerX + x, centerY + y]),
        radius,
      ),
    )
    .filter((shape) => shape !== null);

  it('return the same area, within 20 square pixels, as the algorithm that clips the whole large area', () => {
    fc.assert(
      fc.property(stroke, (small) => {
        // Three areas, two of them equal, take the path that clips everything.
        const union = unionAreas([big, small]) as AreaGeometry;
        const wholeUnion = unionAreas([big, small, small]) as AreaGeometry;
        expect(Math.abs(area(union) - area(wholeUnion))).toBeLessThan(20); // square pixels, because of rounding
        const remainder = subtractAreas(big, [small]) as AreaGeometry;
        const wholeRemainder = subtractAreas(big, [small, small]) as AreaGeometry;
        expect(Math.abs(area(remainder) - area(wholeRemainder))).toBeLessThan(20);
        for (const result of [union, remainder]) {
          expectValid(result);
          expect(isSelfIntersecting(result)).toBe(false);
        }
        expect(area(subtractAreas(wholeUnion, [union]))).toBeLessThan(20);
        expect(area(subtractAreas(wholeRemainder, [remainder]))).toBeLessThan(20);
        expect(Math.abs(area(intersectAreas(big, small)) + area(remainder) - area(big))).toBeLessThan(20);
      }),
      { numRuns: 15 },
    );
  });

  it('leave vertices of the large area unchanged if they are more than 3 pixels outside the bounding box of the small area', () => {
    const precise = {
      ...big,
      coordinates: big.coordinates.map((ring) => ring.map(([x, y]) => [x + 1 / 3, y + 1 / 7] as const)),
    };
    const small = createStroke([[8900, 5000]], 200) as AreaGeometry;
    const originalPositions = new Set(precise.coordinates.flat().map(([x, y]) => `${x},${y}`));
    const { minX, minY, maxX, maxY } = boundsOf(small);
    const far = polygonsOf(unionAreas([precise, small]) as AreaGeometry)
      .flat(2)
      .filter(([x, y]) => x < minX - 3 || x > maxX + 3 || y < minY - 3 || y > maxY + 3);
    expect(far.length).toBeGreaterThan(3900);
    expect(far.every(([x, y]) => originalPositions.has(`${x},${y}`))).toBe(true);
  });

  it('join two parts into one polygon by adding a brush stroke, and divide it into two parts by subtracting a stroke', () => {
    const left = wavyRing(2000, [2000, 2000], 900);
    const right = wavyRing(2000, [4200, 2000], 900);
    const parts: AreaGeometry = { type: 'MultiPolygon', coordinates: [[left], [right]] };
    const bridge = createStroke(
      [
        [2500, 2000],
        [3700, 2000],
      ],
      50,
    ) as AreaGeometry;
    const joined = unionAreas([parts, bridge]) as AreaGeometry;
    expect(joined.type).toBe('Polygon');
    const knife = createStroke(
      [
        [3100, 1000],
        [3100, 3000],
      ],
      20,
    ) as AreaGeometry;
    const divided = subtractAreas(joined, [knife]) as AreaGeometry;
    expect(divided.type).toBe('MultiPolygon');
    expect(divided.coordinates).toHaveLength(2);
  });

  it('keep more than 45,000 of the 50,000 vertices of an area when a brush stroke crosses its edge', () => {
    const large: PolygonGeometry = {
      type: 'Polygon',
      coordinates: [wavyRing(50_000, [50_000, 50_000], 40_000)],
    };
    const small = createStroke(
      Array.from(
        { length: 60 },
        (_, index) => [88_000 + 30 * index, 50_000 + 200 * Math.sin(index / 5)] as const,
      ),
      300,
    ) as AreaGeometry;
    for (const result of [unionAreas([large, small]), subtractAreas(large, [small])])
      expect(countVertices(result as AreaGeometry)).toBeGreaterThan(45_000);
  });
});

describe('repairArea (makes the rings of a drawn area valid)', () => {
  it('returns rings that do not cross, for randomly generated areas', () => {
    fc.assert(
      fc.property(anyArea, (shape) => {
        const repaired = repairArea(shape);
        expectValid(repaired);
        expect(repaired && findSelfIntersections(repaired).positions).toEqual(repaired && []);
      }),
      { numRuns: 300 },
    );
  });

  it.each<[string, Position[][][]]>([
    [
      'a hole that cuts a thin part off its area',
      [
        [
          [
            [415, 45],
            [452, 798],
            [0, 0],
            [415, 45],
          ],
          [
            [435, 452],
            [1, 0],
            [0, 0],
            [435, 452],
          ],
        ],
      ],
    ],
    [
      'a thin hole with a corner 0.01 pixels (the rounding step) from the outline',
      [
        [
          [
            [1, 0],
            [0, 333],
            [1, 113],
            [1, 0],
          ],
        ],
        [
          [
            [0, 204],
            [2, 237],
            [0, 464],
            [0, 204],
          ],
          [
            [0.01, 462],
            [0, 0],
            [1, 0],
            [0.01, 462],
          ],
        ],
      ],
    ],
    [
      'an outline and a hole that cross within 0.01 pixels (the rounding step)',
      [
        [
          [
            [1, 1],
            [0, 1],
            [0, 0],
            [1, 1],
          ],
          [
            [0, 0.01],
            [1, 2],
            [1, 3],
            [0, 0],
            [0, 0.01],
          ],
        ],
      ],
    ],
  ])('returns rings that do not cross for %s', (_, coordinates) => {
    const repaired = repairArea({ type: 'MultiPolygon', coordinates });
    expectValid(repaired);
    expect(repaired && findSelfIntersections(repaired).positions).toEqual([]);
  });

  it('returns both loops of a bow tie (a ring that crosses itself) as two filled parts', () => {
    const bowTie: PolygonGeometry = {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [10, 10],
          [10, 0],
          [0, 10],
          [0, 0],
        ],
      ],
    };
    const repaired = repairArea(bowTie);
    expect(repaired?.type).toBe('MultiPolygon');
    expect(area(repaired)).toBe(50);
  });

  it('returns an area of the same size for an area that is already valid', () => {
    fc.assert(
      fc.property(polygon, (shape) => {
        expect(area(repairArea(shape))).toBeCloseTo(area(shape), 1);
      }),
    );
  });

  it('returns null for a ring without area (all vertices on one line)', () => {
    expect(
      repairArea({
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [10, 0],
            [5, 0],
            [0, 0],
          ],
        ],
      }),
    ).toBeNull();
  });
});
