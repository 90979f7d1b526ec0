import { describe, expect, it } from 'vitest';
import { memorySource } from '../source/memory-source.ts';
import { buildTiff } from '../testing/build-tiff.ts';
import { exactDirectory } from '../testing/exact-directory.ts';
import { openPyramid } from '../tiff/pyramid.ts';
import { openTiff } from '../tiff/tiff-file.ts';
import { readTiffImage } from '../tiff/tiff-image.ts';
import { estimateContrast } from './contrast.ts';

/** The contrast of a grey picture in tiles of 32 pixels, whose edge tiles are padded with 99. */
async function contrastOf(bits: 8 | 16, width: number, sampleAt: (x: number, y: number) => number) {
  const page = exactDirectory({ width, height: 100, tileSize: 32, samplesPerPixel: 1, bits, sampleAt });
  const source = memorySource(buildTiff({ directories: [page] }).bytes);
  const { first } = await openTiff(source);
  return estimateContrast(await openPyramid(source, [await readTiffImage(first)]), bits);
}

describe('the estimated contrast of a channel', () => {
  it('ranges from the darkest to the brightest sample', async () => {
    expect(await contrastOf(8, 100, (x, y) => 120 + ((x + y) % 61))).toEqual({ black: 120, white: 180 });
  });

  it('ignores one pixel in a thousand at either end, such as dead and hot pixels', async () => {
    const withSome = (x: number, y: number) => (y === 0 && x < 20 ? (x % 2) * 255 : 100 + (x % 50));
    expect(await contrastOf(8, 100, withSome)).toEqual({ black: 100, white: 149 });
    const withMore = (x: number, y: number) => (y === 0 && x < 40 ? (x % 2) * 255 : 100 + (x % 50));
    expect(await contrastOf(8, 100, withMore)).toEqual({ black: 0, white: 255 });
  });

  it('of 16 bits is accurate to 1/256 of the range between darkest and brightest sample', async () => {
    const { black, white } = await contrastOf(16, 100, (x, y) => 1000 + x * 20 + (y % 20));
    expect(Math.abs(black - 1000)).toBeLessThan(20);
    expect(Math.abs(white - 2999)).toBeLessThan(20);
  });

  it('covers all 16 bits when the samples do', async () => {
    const { black, white } = await contrastOf(16, 100, (x) => x * 661);
    expect(black).toBe(0);
    expect(Math.abs(white - 65_439)).toBeLessThan(257);
  });

  it.each<[8 | 16, number, { black: number; white: number }]>([
    [8, 7, { black: 7, white: 11 }],
    [8, 255, { black: 251, white: 255 }],
    [16, 200, { black: 200, white: 1224 }],
    [16, 65_535, { black: 64_511, white: 65_535 }],
  ])(
    'of a %s-bit channel with the constant sample %s covers at least 1/64 of all values',
    async (bits, sample, range) => {
      const { black, white } = await contrastOf(bits, 100, () => sample);
      expect(Math.abs(black - range.black)).toBeLessThanOrEqual(bits === 8 ? 0 : 2);
      expect(white - black).toBe(range.white - range.black);
    },
  );

  it('is estimated from at most 64 tiles of a large image', async () => {
    const { black, white } = await contrastOf(8, 4000, (x) => Math.floor(x / 20));
    expect(black).toBeLessThan(20);
    expect(white).toBeGreaterThan(180);
  });
});
