/** Tests real CZI files. The environment variable TEST_SLIDES names the folder with the real slides of all formats. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cropRaster, type Raster } from '../decode/raster.ts';
import type { Slide } from '../model/slide.ts';
import { openSlide } from '../open-slide.ts';
import { openFileSource } from '../source/file-source.ts';
import { boxFilter, difference } from '../testing/compare-pixels.ts';

const slides = process.env.TEST_SLIDES ?? '';
const skipped = slides === '' ? ' (skipped without TEST_SLIDES)' : '';
/** Returns the path of a real CZI file. */
const pathOf = (name: string) => join(slides, 'zeiss-czi', name);

async function rasterOf(slide: Slide, level: number, column: number, row: number): Promise<Raster> {
  const tile = await slide.readTile({ level, column, row });
  return { width: tile?.width ?? 0, height: tile?.height ?? 0, rgb: tile?.bytes ?? new Uint8Array() };
}

describe.skipIf(slides === '')(`openSlide with a real Zeiss slide${skipped}`, () => {
  it.each<[name: string, levelSizes: number[][], mpp: number, objectivePower: number]>([
    ['RGB-8bit.czi', [[924, 624]], 1.0833, 10],
    [
      '1_tileregion.czi',
      [
        [1480, 570],
        [740, 285],
      ],
      0.4,
      5,
    ],
    ['S3_1Pos_2Mosaic_T1_Z1_CH1.czi', [[645, 514]], 1.6, 5],
    ['CellDivision_T3_Z6_CH1_X300_Y200_DCV_ZSTD.czi', [[300, 200]], 0.09058, 50],
  ])(
    'reads %s with the level sizes %j, %d micrometres per pixel and the objective power %d',
    async (name, levelSizes, mpp, objectivePower) => {
      const slide = await openSlide({ path: pathOf(name) });
      expect(slide).toMatchObject({ format: 'czi', vendor: 'Zeiss', objectivePower });
      expect(slide.levels.map(({ width, height }) => [width, height])).toEqual(levelSizes);
      expect(slide.mpp?.x).toBeCloseTo(mpp, 4);
      expect(slide.mpp?.y).toBeCloseTo(mpp, 4);
      expect([...slide.associatedImages]).toEqual(['thumbnail']);
      await slide.close();
    },
  );

  it('returns the samples of RGB-8bit.czi in the order red, green, blue, although the file stores blue, green, red', async () => {
    const path = pathOf('RGB-8bit.czi');
    const slide = await openSlide({ path });
    const source = await openFileSource(path);
    // The only subblock is at offset 3680; it has a header of 288 bytes and metadata of 12 bytes.
    const stored = await source.read(3680 + 288 + 12, 924 * 624 * 3);
    const reversedSample = (i: number) => i - (i % 3) + 2 - (i % 3);
    const rgb = stored.map((_, i) => stored[reversedSample(i)] as number);
    const expectedPixels = cropRaster({ width: 924, height: 624, rgb }, 512, 512, 412, 112);
    expect(difference(await rasterOf(slide, 0, 1, 1), expectedPixels).max).toBe(0);

    await Promise.all([slide.close(), source.close()]);
  });

  it('shows the same image in the levels of full and half resolution of 1_tileregion.czi', async () => {
    const slide = await openSlide({ path: pathOf('1_tileregion.czi') });
    // Tile 1, 0 of full resolution begins at column 512, which is column 256 at half resolution.
    const full = await rasterOf(slide, 0, 1, 0);
    const half = await rasterOf(slide, 1, 0, 0);
    // The compared area has one subblock, because overlapping ones have another order in the smaller resolution.
    const [x, y, width, height] = [10, 60, 70, 60];
    const expectedPixels = boxFilter(full, 2, { x, y, width, height });
    /** Returns the mean difference if the half resolution is shifted by some columns and rows. */
    const differenceAtShift = (columns: number, rows: number) =>
      difference(cropRaster(half, 256 + x + columns, y + rows, width, height), expectedPixels).mean;
    // ZEN reduces with a wider filter than the box filter, so the difference is not 0.
    expect(differenceAtShift(0, 0)).toBeLessThan(4);
    for (const [columns, rows] of [
      [1, 0],
      [-1, 0],
      [0, 1],
      [0, -1],
    ] as const) {
      expect(differenceAtShift(columns, rows)).toBeGreaterThan(5);
    }
    await slide.close();
  });

  it('shows the three scenes (scanned areas) of S3_1Pos_2Mosaic_T1_Z1_CH1.czi with black background between them', async () => {
    const slide = await openSlide({ path: pathOf('S3_1Pos_2Mosaic_T1_Z1_CH1.czi') });
    const { rgb, width } = await rasterOf(slide, 0, 0, 0);
    const brightnessAt = (x: number, y: number) => rgb[(y * width + x) * 3] as number;
    const maxBrightness = (left: number, top: number) => {
      const square = Array.from({ length: 64 * 64 }, (_, i) =>
        brightnessAt(left + (i % 64), top + Math.floor(i / 64)),
      );
      return Math.max(...square);
    };
    // The scenes begin at 145, 0; 0, 213; and 293, 277.
    expect(maxBrightness(145, 0)).toBeGreaterThan(60);
    expect(maxBrightness(0, 213)).toBeGreaterThan(60);
    expect(maxBrightness(293, 277)).toBeGreaterThan(60);
    expect(maxBrightness(0, 0)).toBe(0);
    expect(maxBrightness(70, 213)).toBe(0);
    await slide.close();
  });
});
