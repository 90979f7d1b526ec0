/** Tests real OME-TIFF files. The environment variable TEST_SLIDES names the folder with the real slides of all formats. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSlide } from '../open-slide.ts';
import { openFileSource } from '../source/file-source.ts';
import { difference } from '../testing/compare-pixels.ts';
import { drawLevel } from '../testing/draw-level.ts';
import { tag } from '../tiff/tags.ts';
import { openTiff } from '../tiff/tiff-file.ts';

const slides = process.env.TEST_SLIDES ?? '';
const skippedWithout = slides === '' ? ' (skipped: TEST_SLIDES names no folder of real slides)' : '';

describe.skipIf(slides === '')(`openSlide with a real OME-TIFF${skippedWithout}`, () => {
  it.each([
    ['OS-1-detail.ome.tif', { width: 1101, height: 1101 }, { x: 0.2271, y: 0.2271 }],
    ['OS-2-vsi.ome.tif', { width: 1445, height: 1445 }, { x: 0.34605, y: 0.34606 }],
    ['4D-series.ome.tiff', { width: 439, height: 167 }, null],
    ['cells.ome.tif', { width: 93, height: 131 }, { x: 0.25, y: 0.25 }],
    ['cells-2c.ome.tif', { width: 93, height: 131 }, { x: 0.25, y: 0.25 }],
  ])(
    'reads from %s the size %j and the pixel size %j (µm; null if the file states none)',
    async (name, size, mpp) => {
      const slide = await openSlide({ path: join(slides, 'ome-tiff', name) });
      expect(slide.levels).toMatchObject([size]);
      expect(slide.format).toBe('ome-tiff');
      expect(slide.mpp).toEqual(mpp && { x: expect.closeTo(mpp.x, 4), y: expect.closeTo(mpp.y, 4) });
      await slide.close();
    },
  );

  it('shows the two channels of cells-2c.ome.tif with the pixels of the green and blue channels of cells.ome.tif', async () => {
    const twoChannels = await openSlide({ path: join(slides, 'ome-tiff', 'cells-2c.ome.tif') });
    const threeChannels = await openSlide({ path: join(slides, 'ome-tiff', 'cells.ome.tif') });
    const rgbPixels = await drawLevel(threeChannels, 0);
    const withoutRed = { ...rgbPixels, rgb: rgbPixels.rgb.map((sample, i) => (i % 3 === 0 ? 0 : sample)) };
    // The tolerance is 2, because the palettes of the channels end at 65,280 instead of 65,535.
    expect(difference(await drawLevel(twoChannels, 0), withoutRed).max).toBeLessThanOrEqual(2);
    await Promise.all([twoChannels.close(), threeChannels.close()]);
  });

  it('shows the first focal plane at the first time point of 4D-series.ome.tiff', async () => {
    const path = join(slides, 'ome-tiff', '4D-series.ome.tiff');
    const slide = await openSlide({ path });
    const { rgb } = await drawLevel(slide, 0);
    const [width, height] = [439, 167];
    // The plane is stored uncompressed, one row per strip.
    const source = await openFileSource(path);
    const [offset] = await (await openTiff(source)).first.table(tag.StripOffsets, height);
    const stored = await source.read(offset ?? 0, width * height);
    const displayed = stored.map((_, i) => rgb[i * 3] as number);
    expect(Buffer.compare(stored, displayed)).toBe(0);
    await source.close();
    await slide.close();
  });
});
