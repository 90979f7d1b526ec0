import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { ValueImage } from '@lamina/slide/result-files';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createContainer } from './container.ts';
import { openPngValues } from './png-values.ts';
import { importRaster } from './raster-import.ts';

let folder: string;
beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'raster-import-'));
});
afterEach(() => fs.rm(folder, { recursive: true }));

/** Returns an image of one row with these values. */
function rowOf(type: ValueImage['type'], values: readonly number[]): ValueImage {
  return {
    width: values.length,
    height: 1,
    type,
    palette: null,
    readRows: async (_top, _count, target) => target.set(values),
  };
}

/** Imports an image, and returns the values of the categories; null when the raster is no mask. */
async function categoryValuesOf(image: ValueImage, isMask: boolean | null): Promise<number[] | null> {
  const writer = createContainer(path.join(folder, 'a.result'), 2 ** 20);
  const { categories } = await importRaster(image, writer, {
    maxPixels: 100,
    isMask,
    registrationFor: () => [1, 0, 0, 1, 0, 0],
    onProgress: () => undefined,
  });
  writer.abort();
  return categories?.map(({ value }) => value) ?? null;
}

describe('importRaster (imports a mask or heatmap of a slide)', () => {
  it.each(['uint8', 'uint16', 'float32', 'float64'] as const)(
    'returns a category for each distinct value of a mask of the type %s',
    async (type) => {
      expect(await categoryValuesOf(rowOf(type, [3, 0, 1, 1]), true)).toEqual([0, 1, 3]);
    },
  );

  it('returns no category for the pixels without data (NaN) of a floating-point mask', async () => {
    expect(await categoryValuesOf(rowOf('float32', [3, Number.NaN, 1]), true)).toEqual([1, 3]);
  });

  it('returns a category for each distinct value of a PNG mask, but not for the value of its transparent pixels', async () => {
    const file = path.join(folder, 'a.png');
    const greyAndAlpha = Uint8Array.of(3, 255, 0, 255, 9, 0, 1, 255); // the pixel with the value 9 is transparent
    await sharp(greyAndAlpha, { raw: { width: 4, height: 1, channels: 2 } })
      .toColourspace('b-w')
      .png({ palette: false })
      .toFile(file);
    const image = await openPngValues(file);
    expect(image.type).toBe('float32');
    expect(await categoryValuesOf(image, true)).toEqual([0, 1, 3]);
    image.close();
  });

  it.each([
    ['values with a fraction, although its file name states a mask', [0, 0.5, 1], true],
    ['values below 0, although its file name states a mask', [-1, 0, 1], true],
    ['values above 255, although its file name states a mask', [0, 1, 256], true],
    ['the values 0, 1 and 3, whose file name does not state whether it is a mask', [0, 1, 3], null],
  ])('returns no categories for a floating-point raster with %s', async (_, values, isMask) => {
    expect(await categoryValuesOf(rowOf('float64', values), isMask)).toBeNull();
  });
});
