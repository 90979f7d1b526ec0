import { describe, expect, it } from 'vitest';
import { outlineRegion, type Pixels } from './wand.ts';

/** @param rows one character per pixel: `#` dark, `.` light, a space beside the slide */
function pixelsOf(...rows: readonly string[]): Pixels {
  const width = rows[0]?.length ?? 0;
  const data = rows.flatMap((row) =>
    [...row].flatMap((sign) =>
      sign === ' ' ? [0, 0, 0, 0] : sign === '#' ? [80, 20, 90, 255] : [240, 230, 240, 255],
    ),
  );
  return { data: Uint8ClampedArray.from(data), width, height: rows.length };
}

describe('outlineRegion', () => {
  it('outlines the connected pixels of similar colour', () => {
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

  it('keeps a large hole and fills a small one', () => {
    const solid = '#'.repeat(12);
    const large = `##${'.'.repeat(7)}###`;
    const small = `${'#'.repeat(10)}.#`;
    const rows = [solid, solid, large, large, large, large, large, solid, solid, small, solid];
    const rings = outlineRegion(pixelsOf(...rows), 0, 0);
    expect(rings?.map((ring) => ring.length)).toEqual([5, 5]);
  });

  it('returns null for a click beside the slide', () => {
    expect(outlineRegion(pixelsOf('# '), 1, 0)).toBeNull();
    expect(outlineRegion(pixelsOf('#'), 5, 5)).toBeNull();
  });
});
