import { describe, expect, it } from 'vitest';
import { outlineRegion, type Pixels } from './wand.ts';

/** Red, green, blue and alpha. */
const colours = new Map([
  ['#', [80, 20, 90, 255]],
  ['.', [240, 230, 240, 255]],
  [' ', [0, 0, 0, 0]],
]);

/** Creates a picture. @param rows one character per pixel: `#` dark, `.` light, and a space for transparent (beside the slide) */
function pixelsOf(...rows: readonly string[]): Pixels {
  const width = rows[0]?.length ?? 0;
  const data = rows.flatMap((row) => [...row].flatMap((character) => colours.get(character) ?? []));
  return { data: Uint8ClampedArray.from(data), width, height: rows.length };
}

describe('outlineRegion (magic wand)', () => {
  it('returns the outline of the connected pixels whose colour is similar to that of the start pixel', () => {
    const pixels = pixelsOf('......', '.##...', '.##..#', '......');
    expect(outlineRegion(pixels, 1, 1)).toEqual([
      [
        [1, 1],
        [3, 1],
        [3, 3],
        [1, 3],
        [1, 1],
      ],
    ]);
  });

  it('excludes a pixel that touches the region only at a corner', () => {
    const pixels = pixelsOf('#..', '.#.', '...');
    expect(outlineRegion(pixels, 0, 0)).toEqual([
      [
        [0, 0],
        [1, 0],
        [1, 1],
        [0, 1],
        [0, 0],
      ],
    ]);
  });

  it('fills holes of fewer than 30 pixels: keeps a hole of 35 pixels and fills a hole of one pixel', () => {
    const solid = '#'.repeat(12);
    const wideHole = `##${'.'.repeat(7)}###`;
    const onePixelHole = `${'#'.repeat(10)}.#`;
    const hole = Array.from({ length: 5 }, () => wideHole); // 7 × 5 pixels
    const rows = [solid, solid, ...hole, solid, solid, onePixelHole, solid];
    const rings = outlineRegion(pixelsOf(...rows), 0, 0);
    // The outer ring and the one of the large hole: four corners each, with the first one repeated at the end.
    expect(rings?.map((ring) => ring.length)).toEqual([5, 5]);
  });

  it('returns null for a start on a transparent pixel or outside the picture', () => {
    expect(outlineRegion(pixelsOf('# '), 1, 0)).toBeNull();
    expect(outlineRegion(pixelsOf('#'), 5, 5)).toBeNull();
  });
});
