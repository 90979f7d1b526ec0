import { describe, expect, it } from 'vitest';
import { captureSizeOf, tilesOfStrip } from './capture.ts';

/** A slide whose full resolution is Deep Zoom level 16, because 2^16 is the first power of two that is at least 40,000. */
const descriptor = {
  width: 40_000,
  height: 30_000,
  tileSize: 240,
  overlap: 0,
  format: 'jpeg',
  profile: null,
};
/** Returns the placement that shows image position x, y at the top left of the picture. @param zoom pixels per image pixel */
const placementAt = (x: number, y: number, zoom: number) => ({
  a: zoom,
  b: 0,
  c: 0,
  d: zoom,
  e: -x * zoom,
  f: -y * zoom,
});

describe('tilesOfStrip (tiles for a strip of a screenshot)', () => {
  it('returns the tiles of full resolution when the screenshot has one pixel per image pixel', () => {
    const tiles = tilesOfStrip(descriptor, placementAt(2400, 4800, 1), { width: 480, height: 240 });
    // The strip begins at column 2400 / 240 = 10 and row 4800 / 240 = 20, and is two tiles wide.
    expect(tiles).toEqual([
      { level: 16, column: 10, row: 20 },
      { level: 16, column: 11, row: 20 },
    ]);
  });

  it('returns the tiles of the coarsest level whose resolution is at least that of the screenshot', () => {
    const levelAt = (zoom: number) =>
      tilesOfStrip(descriptor, placementAt(0, 0, zoom), { width: 100, height: 100 })[0]?.level;
    expect([2, 1, 0.51, 0.5, 0.26, 0.25].map(levelAt)).toEqual([16, 16, 16, 15, 15, 14]);
  });

  it('returns no tiles outside the slide', () => {
    const tiles = tilesOfStrip(descriptor, placementAt(-500, 29_900, 1), { width: 600, height: 600 });
    // The strip contains only x from 0 to 100 and y from 29,900 to 30,000 of the slide; row 124 begins at 29,760.
    expect(tiles.map(({ column, row }) => [column, row])).toEqual([[0, 124]]);
  });
});

describe('captureSizeOf (size of a screenshot)', () => {
  it('returns the size of the viewer times the pixels per CSS pixel, rounded to whole pixels', () => {
    expect(captureSizeOf({ size: { width: 961, height: 686 }, ratio: 2.5 })).toEqual({
      width: 2403,
      height: 1715,
    });
  });
});
