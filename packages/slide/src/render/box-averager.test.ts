import { describe, expect, it } from 'vitest';
import { cropRaster, type Raster, shrinkRaster } from '../decode/raster.ts';
import { boxFilter, difference } from '../testing/compare-pixels.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { BoxAverager } from './box-averager.ts';

const white = { r: 255, g: 255, b: 255 };
const grey = (...values: number[]): Raster => ({
  width: values.length,
  height: 1,
  rgb: Uint8Array.from(values.flatMap((value) => [value, value, value])),
});
const values = ({ rgb }: Raster) => [...rgb].filter((_, i) => i % 3 === 0);

describe('the result of BoxAverager (which scales an image down)', () => {
  it('equals the added piece of the image when the scale is 1', () => {
    const piece = paintTissue(40, 30);
    const averager = new BoxAverager(40, 30);
    averager.add(piece, 0, 0, 1, 1);
    expect(difference(averager.finish(white), piece).max).toBe(0);
  });

  it('contains only the pixels inside its area when an added piece of the image is larger than the area', () => {
    const piece = paintTissue(40, 30);
    const averager = new BoxAverager(10, 8);
    averager.add(piece, -5, -20, 1, 1);
    expect(difference(averager.finish(white), cropRaster(piece, 5, 20, 10, 8)).max).toBe(0);
  });

  it.each([2, 4, 16])('is the mean of $0 × $0 source pixels per pixel when the scale is $0', (factor) => {
    const picture = paintTissue(64, 64);
    const averager = new BoxAverager(64 / factor, 64 / factor);
    averager.add(picture, 0, 0, 1 / factor, 1 / factor);
    const expected = boxFilter(picture, factor, { x: 0, y: 0, width: 64 / factor, height: 64 / factor });
    expect(difference(averager.finish(white), expected).max).toBeLessThanOrEqual(1);
  });

  it('divides a source pixel between two result pixels in proportion to the covered areas', () => {
    const averager = new BoxAverager(2, 1);
    averager.add(grey(0, 90, 240), 0, 0, 2 / 3, 1);
    // Half of the middle pixel lies in each result pixel.
    expect(values(averager.finish(white))).toEqual([30, 190]);
  });

  it('differs by at most 1 of 255 when an image is added in four unordered pieces instead of as a whole', () => {
    const picture = paintTissue(90, 60);
    const scale = 0.35;
    const inOne = new BoxAverager(31, 21);
    inOne.add(picture, 0, 0, scale, scale);
    const inPieces = new BoxAverager(31, 21);
    for (const [x, y, width, height] of [
      [50, 20, 40, 40],
      [0, 0, 50, 20],
      [50, 0, 40, 20],
      [0, 20, 50, 40],
    ] as const) {
      inPieces.add(cropRaster(picture, x, y, width, height), x * scale, y * scale, scale, scale);
    }
    expect(difference(inOne.finish(white), inPieces.finish(white)).max).toBeLessThanOrEqual(1);
  });

  it('shows the background only where no piece was added', () => {
    const averager = new BoxAverager(4, 1);
    averager.add(grey(10, 20), 1, 0, 1, 1);
    expect(values(averager.finish({ r: 7, g: 7, b: 7 }))).toEqual([7, 10, 20, 7]);
  });

  it('is the mean over the covered part of a pixel when the added pieces of the image cover the pixel only partly', () => {
    const averager = new BoxAverager(2, 1);
    averager.add(grey(100, 100, 40), 0, 0, 0.5, 1);
    expect(values(averager.finish(white))).toEqual([100, 40]);
  });

  it('equals, within rounding, the result of shrinkRaster (reduction by an integer factor) when the scale is an integer', () => {
    const picture = paintTissue(61, 47);
    const averager = new BoxAverager(16, 12);
    averager.add(picture, 0, 0, 0.25, 0.25);
    expect(difference(averager.finish(white), shrinkRaster(picture, 4)).max).toBeLessThanOrEqual(1);
  });
});
