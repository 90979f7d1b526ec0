import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Placement, placementOf, toImage, toScreen } from './placement.ts';

/** A slide that is rotated, zoomed, mirrored and moved. */
function placed(degrees: number, zoom: number, isMirrored: boolean, dx: number, dy: number): Placement {
  const angle = (degrees * Math.PI) / 180;
  const side = isMirrored ? -1 : 1;
  return {
    a: side * zoom * Math.cos(angle),
    b: zoom * Math.sin(angle),
    c: side * -zoom * Math.sin(angle),
    d: zoom * Math.cos(angle),
    e: dx,
    f: dy,
  };
}

const placements = fc
  .record({
    degrees: fc.integer({ min: 0, max: 359 }),
    zoom: fc.double({ min: 0.001, max: 4, noNaN: true }),
    isMirrored: fc.boolean(),
    dx: fc.integer({ min: -5000, max: 5000 }),
    dy: fc.integer({ min: -5000, max: 5000 }),
  })
  .map(({ degrees, zoom, isMirrored, dx, dy }) => placed(degrees, zoom, isMirrored, dx, dy));
const points = fc.record({
  x: fc.integer({ min: 0, max: 200_000 }),
  y: fc.integer({ min: 0, max: 200_000 }),
});

describe('placement', () => {
  it('converts image pixels to screen pixels and back, for every rotation', () => {
    fc.assert(
      fc.property(placements, points, (placement, point) => {
        const found = toImage(placement, toScreen(placement, point));
        expect(Math.hypot(found.x - point.x, found.y - point.y)).toBeLessThan(0.01);
      }),
    );
  });

  it('is computed from the screen positions of three corners of the image', () => {
    fc.assert(
      fc.property(placements, points, (placement, point) => {
        const size = { width: 46_000, height: 32_914 };
        const corner = (x: number, y: number) => toScreen(placement, { x, y });
        const derived = placementOf(size, corner(0, 0), corner(size.width, 0), corner(0, size.height));
        const expected = toScreen(placement, point);
        const found = toScreen(derived, point);
        expect(Math.hypot(found.x - expected.x, found.y - expected.y)).toBeLessThan(0.01);
      }),
    );
  });
});
