/** Shapes for property tests. */
import fc from 'fast-check';
import type { AreaGeometry, PolygonGeometry, Position, Ring } from '../model/geometry.ts';

const decimals = (value: number) => Math.round(value * 100) / 100;

/** A coordinate of a slide of 1000 pixels with two decimals, near the edges of pixels more often. */
const coordinate = fc.oneof(
  fc.integer({ min: 0, max: 1000 }),
  fc.double({ min: 0, max: 1000, noNaN: true }).map(decimals),
);

export const position = fc.tuple(coordinate, coordinate);

const close = (ring: readonly Position[]): Ring => [...ring, ...ring.slice(0, 1)];

/** A ring around a centre that does not cross itself; `radii` from 0 to 1. */
export function starRing(center: Position, radius: number, radii: readonly number[]): Ring {
  return close(
    radii.map((part, index): Position => {
      const angle = (2 * Math.PI * index) / radii.length;
      const distance = radius * (0.4 + 0.6 * part);
      return [
        decimals(center[0] + distance * Math.cos(angle)),
        decimals(center[1] + distance * Math.sin(angle)),
      ];
    }),
  );
}

const radii = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 5, maxLength: 40 });

/** A polygon whose rings do not cross, with or without a hole. */
export const polygon: fc.Arbitrary<PolygonGeometry> = fc
  .record({
    center: position,
    radius: fc.integer({ min: 50, max: 400 }),
    outer: radii,
    hole: fc.option(radii, { nil: null }),
  })
  .map(({ center, radius, outer, hole }) => ({
    type: 'Polygon',
    coordinates: [
      starRing(center, radius, outer),
      // Chords of the outer ring keep at least cos(36°) of its smallest radius.
      ...(hole ? [starRing(center, radius * 0.3, hole)] : []),
    ],
  }));

/** Rings that cross themselves and each other in every way, such as a careless stroke leaves. */
export const scribble: fc.Arbitrary<PolygonGeometry> = fc
  .array(fc.array(position, { minLength: 3, maxLength: 12 }), { minLength: 1, maxLength: 3 })
  .map((rings) => ({ type: 'Polygon', coordinates: rings.map(close) }));

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

/** A ring of many vertices around a centre, without crossings, the same for the same number. */
export function wavyRing(count: number, center: Position, radius: number): Ring {
  return starRing(
    center,
    radius,
    Array.from({ length: count }, (_, index) => 0.9 + 0.1 * Math.sin((index * 2 * Math.PI * 300) / count)),
  );
}
