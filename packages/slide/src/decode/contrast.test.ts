import { describe, expect, it } from 'vitest';
import { memorySource } from '../source/memory-source.ts';
import { buildTiff } from '../testing/build-tiff.ts';
import { losslessDirectory } from '../testing/lossless-directory.ts';
import { openPyramid } from '../tiff/pyramid.ts';
import { openTiff } from '../tiff/tiff-file.ts';
import { readTiffImage } from '../tiff/tiff-image.ts';
import { estimateGreyRange } from './contrast.ts';

/** Estimates the contrast of a grey image in tiles of 32 × 32 pixels, whose edge tiles are padded with samples of 99. */
async function contrastOf(bits: 8 | 16, width: number, sampleAt: (x: number, y: number) => number) {
  const page = losslessDirectory({ width, height: 100, tileSize: 32, samplesPerPixel: 1, bits, sampleAt });
  const source = memorySource(buildTiff({ directories: [page] }).bytes);
  const { first } = await openTiff(source);
  return estimateGreyRange(await openPyramid(source, [await readTiffImage(first)]), bits);
}

describe('estimateGreyRange (estimates the black and the white value of a grey channel)', () => {
  it('returns the darkest and the brightest 8-bit sample of a channel', async () => {
    expect(await contrastOf(8, 100, (x, y) => 120 + ((x + y) % 61))).toEqual({ black: 120, white: 180 });
  });

  it('ignores the darkest and the brightest 0.1 % of the pixels, such as dead and hot pixels', async () => {
    // Of 10,000 pixels, 0.1 % are 10.
    const withTenOfEach = (x: number, y: number) => (y === 0 && x < 20 ? (x % 2) * 255 : 100 + (x % 50));
    expect(await contrastOf(8, 100, withTenOfEach)).toEqual({ black: 100, white: 149 });
    const withTwentyOfEach = (x: number, y: number) => (y === 0 && x < 40 ? (x % 2) * 255 : 100 + (x % 50));
    expect(await contrastOf(8, 100, withTwentyOfEach)).toEqual({ black: 0, white: 255 });
  });

  it('returns the darkest and the brightest 16-bit sample, each with an error below 1 % of the range', async () => {
    const { black, white } = await contrastOf(16, 100, (x, y) => 1000 + x * 20 + (y % 20));
    expect(Math.abs(black - 1000)).toBeLessThan(20);
    expect(Math.abs(white - 2999)).toBeLessThan(20);
  });

  it('returns about the darkest and the brightest 16-bit sample when they span the whole range (0 to 65,439)', async () => {
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
    'returns the minimum range (1/64 of all values) for a channel of %s bits whose samples are all %s: about $2',
    async (bits, sample, range) => {
      const { black, white } = await contrastOf(bits, 100, () => sample);
      expect(Math.abs(black - range.black)).toBeLessThanOrEqual(bits === 8 ? 0 : 2);
      expect(white - black).toBe(range.white - range.black);
      expect(white).toBeLessThanOrEqual(2 ** bits - 1);
    },
  );

  it('returns a range inside a gradient from 30 to 229 across 4,000 pixels that covers at least 80 % of it (50 to 210)', async () => {
    const { black, white } = await contrastOf(8, 4000, (x) => 30 + Math.floor(x / 20));
    expect(black).toBeGreaterThanOrEqual(30);
    expect(black).toBeLessThan(50);
    expect(white).toBeGreaterThan(210);
    expect(white).toBeLessThanOrEqual(229);
  });

  it('reads 64 tiles of a level of 500 tiles', async () => {
    const page = { width: 4000, height: 100, tileSize: 32, samplesPerPixel: 1, bits: 8 } as const;
    const directory = losslessDirectory({ ...page, sampleAt: () => 7 });
    const source = memorySource(buildTiff({ directories: [directory] }).bytes);
    const { first } = await openTiff(source);
    const pyramid = await openPyramid(source, [await readTiffImage(first)]);
    const addresses: string[] = [];
    const readTile: typeof pyramid.readTile = (address) => {
      addresses.push(`${address.column} ${address.row}`);
      return pyramid.readTile(address);
    };
    await estimateGreyRange({ levels: pyramid.levels, readTile }, 8);
    expect(addresses).toHaveLength(64);
    expect(new Set(addresses).size).toBe(64);
  });
});
