/** Shapes for the tests of geometry: fast-check arbitraries (generators of random values), and functions that create rings. */
import fc from 'fast-check';
import type { AreaGeometry, PolygonGeometry, Position, Ring } from '../model/geometry.ts';

const roundToHundredths = (value: number) => Math.round(value * 100) / 100;

/** Generates a coordinate from 0 to 1000: often an integer, otherwise a number with two decimals. */
const coordinate = fc.oneof(
  fc.integer({ min: 0, max: 1000 }),
  fc.double({ min: 0, max: 1000, noNaN: true }).map(roundToHundredths),
);

export const position = fc.tuple(coordinate, coordinate);

/** Adds the closing position. */
const closeRing = (ring: readonly Position[]): Ring => [...ring, ...ring.slice(0, 1)];

/**
 * Creates a star-shaped ring, which does not cross itself.
 *
 * @param fractions one number from 0 to 1 per vertex: 0 gives 40 % of the radius, 1 the whole radius
 */
export function starRing(center: Position, radius: number, fractions: readonly number[]): Ring {
  return closeRing(
    fractions.map((fraction, index): Position => {
      const angle = (2 * Math.PI * index) / fractions.length;
      const distance = radius * (0.4 + 0.6 * fraction);
      return [
        roundToHundredths(center[0] + distance * Math.cos(angle)),
        roundToHundredths(center[1] + distance * Math.sin(angle)),
      ];
    }),
  );
}

/** Generates the `fractions` of a `starRing`. */
const ringFractions = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 5, maxLength: 40 });

/** Generates a polygon whose rings do not cross, with or without a hole. */
export const polygon: fc.Arbitrary<PolygonGeometry> = fc
  .record({
    center: position,
    radius: fc.integer({ min: 50, max: 400 }),
    outer: ringFractions,
    hole: fc.option(ringFractions, { nil: null }),
  })
  .map(({ center, radius, outer, hole }) => ({
    type: 'Polygon',
    coordinates: [
      starRing(center, radius, outer),
      // The hole fits: with at least 5 vertices, the outer edges are at least cos(36°) × 0.4 = 0.32 of the radius from the centre.
      ...(hole ? [starRing(center, radius * 0.3, hole)] : []),
    ],
  }));

/** Generates polygons of random rings, which usually cross themselves and each other. */
export const scribble: fc.Arbitrary<PolygonGeometry> = fc
  .array(fc.array(position, { minLength: 3, maxLength: 12 }), { minLength: 1, maxLength: 3 })
  .map((rings) => ({ type: 'Polygon', coordinates: rings.map(closeRing) }));

export const anyArea: fc.Arbitrary<AreaGeometry> = fc.oneof(
  polygon,
  scribble,
  fc.array(fc.oneof(polygon, scribble), { minLength: 1, maxLength: 3 }).map(
    (parts): AreaGeometry => ({
      type: 'MultiPolygon',
      coordinates: parts.map(({ coordinates }) => coordinates),
    }),
  ),
);

/** Creates a nearly circular ring of `count` vertices with 300 small waves, which does not cross itself. */
export function wavyRing(count: number, center: Position, radius: number): Ring {
  return starRing(
    center,
    radius,
    Array.from({ length: count }, (_, index) => 0.9 + 0.1 * Math.sin((index * 2 * Math.PI * 300) / count)),
  );
}
