/**
 * Tests real slides of the folder TEST_SLIDES. Their pixels are compared with those that libvips reads. Libvips has its own
 * readers of files; it shares only the JPEG decoder with Lamina.
 */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { cropRaster, type Raster } from '../decode/raster.ts';
import { describeDeepZoom, readNativeDziTile, regionOfTile, sizeOfLevel } from '../deep-zoom/deep-zoom.ts';
import { type Slide, SlideError } from '../model/slide.ts';
import { openSlide } from '../open-slide.ts';
import { renderThumbnail } from '../render/render-thumbnail.ts';
import { renderTile } from '../render/render-tile.ts';
import { openFileSource } from '../source/file-source.ts';
import { boxFilter, difference, pixelsOf } from '../testing/compare-pixels.ts';
import { loadPeerSharp } from '../testing/peer-sharp.ts';
import { realSlide } from '../testing/real-slide.ts';
import { tag } from '../tiff/tags.ts';
import { openTiff } from '../tiff/tiff-file.ts';

vi.setConfig({ testTimeout: 120_000 });

const slides = process.env.TEST_SLIDES ?? '';
const badSlides = join(slides, '..', 'bad-slides');

const skippedWithout = slides === '' ? ' (skipped: TEST_SLIDES names no folder of real slides)' : '';
const skippedWithoutBad = existsSync(badSlides)
  ? ''
  : ' (skipped: there is no folder bad-slides beside TEST_SLIDES)';

/** Returns the pixels of a TIFF page (directory), read by libvips. */
async function readPage(path: string, page: number): Promise<Raster> {
  const sharp = await loadPeerSharp();
  const picture = sharp(path, { page, limitInputPixels: false }).toColourspace('srgb').removeAlpha().raw();
  const { data, info } = await picture.toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, rgb: data };
}

/** Returns the address and the pixel region of every tile of a Deep Zoom level. */
function* tilesOf(slide: Slide, dziLevel: number) {
  const descriptor = describeDeepZoom(slide);
  const { width, height } = sizeOfLevel(descriptor, dziLevel);
  for (let row = 0; row < Math.ceil(height / descriptor.tileSize); row++) {
    for (let column = 0; column < Math.ceil(width / descriptor.tileSize); column++) {
      const address = { dziLevel, column, row };
      yield { address, region: regionOfTile(descriptor, address) };
    }
  }
}

describe('the opened slide CMU-1-Small-Region.svs', () => {
  it('has 0.499 µm per pixel, objective power 20, one level, and label, macro and thumbnail', async () => {
    const slide = await openSlide({ path: realSlide });
    expect(slide).toMatchObject({ format: 'aperio', mpp: { x: 0.499, y: 0.499 }, objectivePower: 20 });
    expect(slide.levels).toMatchObject([
      { width: 2220, height: 2967, tileWidth: 240, columns: 10, rows: 13 },
    ]);
    expect([...slide.associatedImages].sort()).toEqual(['label', 'macro', 'thumbnail']);
    expect(describeDeepZoom(slide)).toEqual({
      width: 2220,
      height: 2967,
      tileSize: 240,
      overlap: 0,
      format: 'jpg',
      maxLevel: 12,
    });
    await slide.close();
  });

  it('has native tiles (sent without decoding) with the compressed bytes of the file and the pixels that libvips reads', async () => {
    const slide = await openSlide({ path: realSlide });
    const source = await openFileSource(realSlide);
    const { first } = await openTiff(source);
    const [columns, rows, tileSide] = [10, 13, 240];
    const offsets = await first.table(tag.TileOffsets, columns * rows);
    const byteCounts = await first.table(tag.TileByteCounts, columns * rows);
    const fullResolution = await readPage(realSlide, 0);
    let comparedTiles = 0;
    for (const { address, region } of tilesOf(slide, 12)) {
      const tile = await readNativeDziTile(slide, address);
      const isEdge = region.width < tileSide || region.height < tileSide;
      expect(tile === null, JSON.stringify(address)).toBe(isEdge);
      if (!tile) continue;
      const i = address.row * columns + address.column;
      // Lamina writes the start marker (2 bytes) and a header before the other bytes of the file.
      const storedBytes = await source.read((offsets[i] ?? 0) + 2, (byteCounts[i] ?? 0) - 2);
      expect(Buffer.compare(tile.subarray(-storedBytes.length), storedBytes)).toBe(0);
      const expected = cropRaster(fullResolution, region.x, region.y, region.width, region.height);
      expect(difference(await pixelsOf(tile), expected).max).toBe(0);
      comparedTiles++;
    }
    expect(comparedTiles).toBe((columns - 1) * (rows - 1));
    await Promise.all([slide.close(), source.close()]);
  });

  it('has rendered tiles whose pixels differ from box-filtered full-resolution pixels by at most 2 of 255 on average', async () => {
    const slide = await openSlide({ path: realSlide });
    const fullResolution = await readPage(realSlide, 0);
    for (let dziLevel = 12; dziLevel >= 7; dziLevel--) {
      let sum = 0;
      let renderedCount = 0;
      for (const { address, region } of tilesOf(slide, dziLevel)) {
        if (await readNativeDziTile(slide, address)) continue;
        const tile = await pixelsOf(await renderTile(slide, address));
        sum += difference(tile, boxFilter(fullResolution, 2 ** (12 - dziLevel), region)).mean;
        renderedCount++;
      }
      expect(sum / renderedCount, `Deep Zoom level ${dziLevel}`).toBeLessThanOrEqual(2);
    }
    await slide.close();
  });

  it('has a rendered thumbnail of 192 × 256 pixels for the maximum side 256', async () => {
    const slide = await openSlide({ path: realSlide });
    const thumbnail = await pixelsOf(await renderThumbnail(slide, 256));
    expect(thumbnail).toMatchObject({ width: 192, height: 256 });
    await slide.close();
  });

  it('has a thumbnail and a macro image with the same pixels as libvips reads from the file', async () => {
    const slide = await openSlide({ path: realSlide });
    for (const [name, page] of [
      ['thumbnail', 1],
      ['macro', 3],
    ] as const) {
      const { bytes } = await slide.readAssociatedImage(name);
      expect(difference(await pixelsOf(bytes), await readPage(realSlide, page)).max).toBe(0);
    }
    await slide.close();
  });
});

describe.skipIf(slides === '')(`openSlide with a real slide${skippedWithout}`, () => {
  it.each<[string, number[][]]>([
    ['aperio/small.svs', [[16, 16]]],
    [
      'generic-tiff/CMU-1-small.tiff',
      [
        [718, 514],
        [359, 257],
        [179, 128],
      ],
    ],
    [
      'generic-tiff/cog.tiff',
      [
        [64, 64],
        [32, 32],
        [16, 16],
        [8, 8],
        [4, 4],
      ],
    ],
    [
      'generic-tiff/be_cog.tiff',
      [
        [64, 64],
        [32, 32],
        [16, 16],
        [8, 8],
        [4, 4],
      ],
    ],
    ['generic-tiff/quad-tile.jpg.tiff', [[512, 384]]],
    ['generic-tiff/tiled-jpeg-rgb-u8.tif', [[374, 499]]],
    ['generic-tiff/tiff_tiled_ycbcr_jpeg_2x2_sampling.tif', [[480, 360]]],
    [
      'generic-tiff/test_orient1.tif',
      [
        [120, 180],
        [60, 90],
        [30, 45],
      ],
    ],
    ['generic-tiff/imagecodecs/rgb.tiled.jpeg.u1.tif', [[111, 83]]],
  ])('finds in %s levels of the sizes %j, with the pixels that libvips reads', async (name, sizes) => {
    const path = join(slides, name);
    const slide = await openSlide({ path });
    expect(slide.levels.map(({ width, height }) => [width, height])).toEqual(sizes);
    for (const [level, { columns, rows, width, height, tileWidth, tileHeight }] of slide.levels.entries()) {
      // In these files, directory n is level n.
      const wholeLevel = await readPage(path, level);
      for (let row = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++) {
          const tile = await slide.readTile({ level, column, row });
          const left = column * tileWidth;
          const top = row * tileHeight;
          const shownWidth = Math.min(tileWidth, width - left);
          const shownHeight = Math.min(tileHeight, height - top);
          const tilePixels = await pixelsOf(tile?.bytes ?? new Uint8Array());
          const actual = cropRaster(tilePixels, 0, 0, shownWidth, shownHeight);
          const expected = cropRaster(wholeLevel, left, top, shownWidth, shownHeight);
          expect(difference(actual, expected).max, `${level}: ${column}, ${row}`).toBe(0);
        }
      }
    }
    await slide.close();
  });

  it.each(['OS-1-detail.ome.tif', 'OS-2-vsi.ome.tif'])(
    'decodes tiles of %s as YCbCr, which the JPEGs declare, although the TIFF tag says RGB',
    async (name) => {
      const slide = await openSlide({ path: join(slides, 'ome-tiff', name) });
      const { rgb } = await pixelsOf(await renderThumbnail(slide, 64));
      let whitest = 0;
      for (let i = 0; i < rgb.length; i += 3)
        whitest = Math.max(whitest, Math.min(...rgb.subarray(i, i + 3)));
      // Glass is nearly white; YCbCr shown as RGB would be pink: 240, 128, 128.
      expect(whitest).toBeGreaterThan(180);
      await slide.close();
    },
  );
});

describe.skipIf(!existsSync(badSlides))(
  `openSlide with the damaged slides in bad-slides${skippedWithoutBad}`,
  () => {
    it('opens every file that has crashed another slide reader, or rejects it with a SlideError', async () => {
      const files = await readdir(badSlides, { recursive: true, withFileTypes: true });
      const outcomes = new Map<string, number>();
      for (const file of files.filter((entry) => entry.isFile())) {
        const path = join(file.parentPath, file.name);
        const outcome = await openAndRender(path).catch((error: unknown) => {
          if (error instanceof SlideError) return error.code;
          throw new Error(`${path}: ${String(error)}`, { cause: error });
        });
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
      expect(outcomes.get('FORMAT_NOT_RECOGNISED')).toBeGreaterThan(0);
      expect(outcomes.get('FILE_TRUNCATED')).toBeGreaterThan(0);
    });

    it('opens unreadable.svs, whose metadata are valid, and throws FILE_CORRUPT for its damaged tile', async () => {
      const path = join(badSlides, 'aperio', 'unreadable.svs');
      const slide = await openSlide({ path });
      expect(slide).toMatchObject({ format: 'aperio', mpp: { x: 0.499, y: 0.499 }, objectivePower: 20 });
      await expect(renderTile(slide, { dziLevel: 4, column: 0, row: 0 })).rejects.toMatchObject({
        code: 'FILE_CORRUPT',
      });
      await slide.close();
    });
  },
);

async function openAndRender(path: string): Promise<string> {
  const slide = await openSlide({ path });
  try {
    await renderThumbnail(slide, 64);
    return 'shown';
  } finally {
    await slide.close();
  }
}
