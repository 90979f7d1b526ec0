import { describe, expect, it } from 'vitest';
import { boxFilter, difference } from '../testing/compare-pixels.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { cropRaster, type Raster, shrinkRaster } from './raster.ts';

/** Returns an image whose red samples are the pixel numbers, row by row from 0. */
const numbered = (width: number, height: number): Raster => ({
  width,
  height,
  rgb: Uint8Array.from({ length: width * height * 3 }, (_, i) => (i % 3 === 0 ? i / 3 : 100)),
});
const reds = ({ rgb }: Raster) => [...rgb].filter((_, i) => i % 3 === 0);

describe('cropRaster (cuts a rectangle out of an image)', () => {
  it('returns the pixels of a rectangle of 3 × 2 pixels inside the image', () => {
    const part = cropRaster(numbered(5, 4), 1, 2, 3, 2);
    expect(part).toMatchObject({ width: 3, height: 2 });
    expect(reds(part)).toEqual([11, 12, 13, 16, 17, 18]);
  });

  it('returns the same object, without a copy, when the rectangle is the whole image', () => {
    const whole = numbered(5, 4);
    expect(cropRaster(whole, 0, 0, 5, 4)).toBe(whole);
  });
});

describe('shrinkRaster (reduces an image by an integer factor)', () => {
  it('returns the mean of each 2 × 2 pixels for factor 2', () => {
    const small = shrinkRaster(numbered(4, 4), 2);
    expect(small).toMatchObject({ width: 2, height: 2 });
    expect(reds(small)).toEqual([3, 5, 11, 13]); // (0 + 1 + 4 + 5) / 4 = 2.5, …
    expect([...small.rgb.subarray(1, 3)]).toEqual([100, 100]);
  });

  it('averages the remaining pixels on the right and bottom edges when the size is not a multiple of the factor', () => {
    const small = shrinkRaster(numbered(5, 3), 2);
    expect(small).toMatchObject({ width: 3, height: 2 });
    expect(reds(small)).toEqual([3, 5, 7, 11, 13, 14]); // 2.5, 4.5, 6.5, 10.5, 12.5 and 14
  });

  it.each([
    ['of even size', 40, 30, 0],
    ['of odd size', 41, 31, 0],
    ['whose width is not a multiple of 4', 42, 30, 0],
    ['whose bytes start inside a 32-bit memory word', 40, 30, 3],
  ])('returns the same pixels as a box filter for factor 2 and an image %s', (_, width, height, offset) => {
    const { rgb } = paintTissue(width, height);
    const memory = new Uint8Array(offset + rgb.length);
    memory.set(rgb, offset);
    const picture = { width, height, rgb: memory.subarray(offset) };
    const small = shrinkRaster(picture, 2);
    const whole = { x: 0, y: 0, width: Math.ceil(width / 2), height: Math.ceil(height / 2) };
    expect(difference(small, boxFilter(picture, 2, whole)).max).toBe(0);
  });

  it('returns the same object, without a copy, for factor 1', () => {
    const whole = numbered(5, 3);
    expect(shrinkRaster(whole, 1)).toBe(whole);
  });

  it('returns one pixel, the mean of all pixels, when the factor is larger than both sides', () => {
    expect(reds(shrinkRaster(numbered(3, 3), 8))).toEqual([4]);
  });
});
