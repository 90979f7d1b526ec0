import { areaOf } from '@lamina/annotations';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Placement, placementOf, toImage, toScreen, visiblePart } from './placement.ts';

/** Returns the placement of a slide that is rotated, zoomed, mirrored left and right, and moved by (dx, dy). */
function createPlacement(
  degrees: number,
  zoom: number,
  isMirrored: boolean,
  dx: number,
  dy: number,
): Placement {
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
  .map(({ degrees, zoom, isMirrored, dx, dy }) => createPlacement(degrees, zoom, isMirrored, dx, dy));
const points = fc.record({
  x: fc.integer({ min: 0, max: 200_000 }),
  y: fc.integer({ min: 0, max: 200_000 }),
});

describe('toScreen, toImage and placementOf (slide pixels on the screen):', () => {
  it('toImage converts a screen position back to the image pixel from which toScreen computed it, for every rotation, zoom and mirroring', () => {
    fc.assert(
      fc.property(placements, points, (placement, point) => {
        const convertedBack = toImage(placement, toScreen(placement, point));
        expect(Math.hypot(convertedBack.x - point.x, convertedBack.y - point.y)).toBeLessThan(0.01);
      }),
    );
  });

  it('placementOf returns the placement (affine transformation) of an image from the screen positions of three of its corners', () => {
    fc.assert(
      fc.property(placements, points, (placement, point) => {
        const size = { width: 46_000, height: 32_914 };
        const corner = (x: number, y: number) => toScreen(placement, { x, y });
        const computedPlacement = placementOf(
          size,
          corner(0, 0),
          corner(size.width, 0),
          corner(0, size.height),
        );
        const expected = toScreen(placement, point);
        const actual = toScreen(computedPlacement, point);
        expect(Math.hypot(actual.x - expected.x, actual.y - expected.y)).toBeLessThan(0.01);
      }),
    );
  });
});

describe('visiblePart (part of the slide that the viewer shows)', () => {
  const viewer = { width: 200, height: 100 };

  it.each([0, 90, 180, 270])(
    'returns an upright rectangle (bounds) for a slide that is rotated by %d°',
    (degrees) => {
      const placement = createPlacement(degrees, 0.5, false, 100, 50);
      const region = visiblePart(placement, viewer);
      if ('type' in region) throw new Error('The region is not a rectangle.');
      const corners = [
        toScreen(placement, { x: region.minX, y: region.minY }),
        toScreen(placement, { x: region.maxX, y: region.maxY }),
      ];
      const ascending = (values: readonly number[]) => values.toSorted((a, b) => a - b);
      expect(ascending(corners.map(({ x }) => x))).toEqual([expect.closeTo(0, 6), expect.closeTo(200, 6)]);
      expect(ascending(corners.map(({ y }) => y))).toEqual([expect.closeTo(0, 6), expect.closeTo(100, 6)]);
    },
  );

  it('returns a polygon with the corners of the viewer for a slide that is rotated by 45°', () => {
    const placement = createPlacement(45, 0.5, true, 100, 50);
    const region = visiblePart(placement, viewer);
    if (!('type' in region) || region.type !== 'Polygon') throw new Error('The region is not a polygon.');
    expect(areaOf(region)).toBeCloseTo((200 / 0.5) * (100 / 0.5), 6);
    const corners = region.coordinates[0]?.map(([x, y]) => toScreen(placement, { x, y })) ?? [];
    const viewerCorners = [
      [0, 0],
      [200, 0],
      [200, 100],
      [0, 100],
      [0, 0],
    ] as const;
    expect(corners).toEqual(
      viewerCorners.map(([x, y]) => ({ x: expect.closeTo(x, 6), y: expect.closeTo(y, 6) })),
    );
  });
});
