/**
 * Real slides of TEST_SLIDES. Their pixels are compared with those of libvips' own readers, which share only
 * the JPEG decoder with Lamina.
 */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { cropRaster, type Raster } from '../decode/raster.ts';
import { describeDeepZoom, readNativeTile, regionOfTile, sizeOfLevel } from '../deep-zoom/deep-zoom.ts';
import { type Slide, SlideError } from '../model/slide.ts';
import { openSlide } from '../open-slide.ts';
import { renderThumbnail } from '../render/render-thumbnail.ts';
import { renderTile } from '../render/render-tile.ts';
import { openFileSource } from '../source/file-source.ts';
import { boxFilter, difference, pixelsOf } from '../testing/compare-pixels.ts';
import { loadPeerSharp } from '../testing/peer-sharp.ts';
import { tag } from '../tiff/tags.ts';
import { openTiff } from '../tiff/tiff-file.ts';

vi.setConfig({ testTimeout: 120_000 });

const slides = process.env.TEST_SLIDES ?? '';
const badSlides = join(slides, '..', 'bad-slides');
const cmu = join(slides, 'aperio', 'CMU-1-Small-Region.svs');

const skippedWithout = slides === '' ? ' (skipped: TEST_SLIDES names no folder of real slides)' : '';
const skippedWithoutBad = existsSync(badSlides)
  ? ''
  : ' (skipped: there is no folder bad-slides beside TEST_SLIDES)';

/** A page of a TIFF, read by libvips. */
async function pageOf(path: string, page: number): Promise<Raster> {
  const sharp = await loadPeerSharp();
  const picture = sharp(path, { page, limitInputPixels: false }).toColourspace('srgb').removeAlpha().raw();
  const { data, info } = await picture.toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, rgb: data };
}

/** Every tile of a Deep Zoom level. */
function* addressesOf(slide: Slide, dziLevel: number) {
  const descriptor = describeDeepZoom(slide);
  const { width, height } = sizeOfLevel(descriptor, dziLevel);
  for (let row = 0; row < Math.ceil(height / descriptor.tileSize); row++) {
    for (let column = 0; column < Math.ceil(width / descriptor.tileSize); column++) {
      const address = { dziLevel, column, row };
      yield { address, region: regionOfTile(descriptor, address) };
    }
  }
}

describe.skipIf(slides === '')(`CMU-1-Small-Region.svs${skippedWithout}`, () => {
  it('has the metadata and levels of its scanner', async () => {
    const slide = await openSlide({ path: cmu });
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

  it('has native tiles with the entropy-coded data and pixels of the file', async () => {
    const slide = await openSlide({ path: cmu });
    const source = await openFileSource(cmu);
    const { first } = await openTiff(source);
    const [offsets, byteCounts] = [
      await first.table(tag.TileOffsets, 130),
      await first.table(tag.TileByteCounts, 130),
    ];
    const whole = await pageOf(cmu, 0);
    let compared = 0;
    for (const { address, region } of addressesOf(slide, 12)) {
      const tile = await readNativeTile(slide, address);
      const isEdge = region.width < 240 || region.height < 240;
      expect(tile === null, JSON.stringify(address)).toBe(isEdge);
      if (!tile) continue;
      const i = address.row * 10 + address.column;
      const nativeScan = await source.read((offsets[i] ?? 0) + 2, (byteCounts[i] ?? 0) - 2);
      expect(Buffer.compare(tile.subarray(-nativeScan.length), nativeScan)).toBe(0);
      const shown = cropRaster(whole, region.x, region.y, region.width, region.height);
      expect(difference(await pixelsOf(tile), shown).most).toBe(0);
      compared++;
    }
    expect(compared).toBe(9 * 12);
    await Promise.all([slide.close(), source.close()]);
  });

  it('has rendered tiles within 2/255 of a box filter', async () => {
    const slide = await openSlide({ path: cmu });
    const whole = await pageOf(cmu, 0);
    for (let dziLevel = 12; dziLevel >= 7; dziLevel--) {
      let sum = 0;
      let renderedCount = 0;
      for (const { address, region } of addressesOf(slide, dziLevel)) {
        if (await readNativeTile(slide, address)) continue;
        const tile = await pixelsOf(await renderTile(slide, address));
        sum += difference(tile, boxFilter(whole, 2 ** (12 - dziLevel), region)).mean;
        renderedCount++;
      }
      expect(sum / renderedCount, `Deep Zoom level ${dziLevel}`).toBeLessThanOrEqual(2);
    }
    await slide.close();
  });

  it('has a thumbnail that shows the whole slide, not the associated image', async () => {
    const slide = await openSlide({ path: cmu });
    const thumbnail = await pixelsOf(await renderThumbnail(slide, 256));
    expect(thumbnail).toMatchObject({ width: 192, height: 256 });
    await slide.close();
  });

  it('has associated images that decode to the same pixels as in libvips', async () => {
    const slide = await openSlide({ path: cmu });
    for (const [name, page] of [
      ['thumbnail', 1],
      ['macro', 3],
    ] as const) {
      const { bytes } = await slide.readAssociatedImage(name);
      expect(difference(await pixelsOf(bytes), await pageOf(cmu, page)).most).toBe(0);
    }
    await slide.close();
  });
});

describe.skipIf(slides === '')(`a real slide${skippedWithout}`, () => {
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
  ])('%s has the expected levels, and the same pixels as in libvips', async (name, sizes) => {
    const path = join(slides, name);
    const slide = await openSlide({ path });
    expect(slide.levels.map(({ width, height }) => [width, height])).toEqual(sizes);
    for (const [level, { columns, rows, width, height, tileWidth, tileHeight }] of slide.levels.entries()) {
      // In all of these files the levels follow the first directory; only Aperio's thumbnail lies between.
      const whole = await pageOf(path, level);
      for (let row = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++) {
          const tile = await slide.readTile({ level, column, row });
          const wide = Math.min(tileWidth, width - column * tileWidth);
          const high = Math.min(tileHeight, height - row * tileHeight);
          const ours = cropRaster(await pixelsOf(tile?.bytes ?? new Uint8Array()), 0, 0, wide, high);
          const theirs = cropRaster(whole, column * tileWidth, row * tileHeight, wide, high);
          expect(difference(ours, theirs).most, `${level}: ${column}, ${row}`).toBe(0);
        }
      }
    }
    await slide.close();
  });

  it.each(['OS-1-detail.ome.tif', 'OS-2-vsi.ome.tif'])(
    '%s is decoded as YCbCr, as its tiles declare, although its TIFF tag says RGB',
    async (name) => {
      const slide = await openSlide({ path: join(slides, 'ome-tiff', name) });
      const { rgb } = await pixelsOf(await renderThumbnail(slide, 64));
      let brightest = 0;
      for (let at = 0; at < rgb.length; at += 3)
        brightest = Math.max(brightest, Math.min(...rgb.subarray(at, at + 3)));
      // Glass is nearly white; YCbCr shown as RGB would be pink: 240, 128, 128.
      expect(brightest).toBeGreaterThan(180);
      await slide.close();
    },
  );
});

describe.skipIf(!existsSync(badSlides))(`files that crashed other readers${skippedWithoutBad}`, () => {
  it('can be opened and rendered, or are rejected with a SlideError', async () => {
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

  it('include unreadable.svs, which has valid metadata and an invalid tile', async () => {
    const path = join(badSlides, 'aperio', 'unreadable.svs');
    const slide = await openSlide({ path });
    expect(slide).toMatchObject({ format: 'aperio', mpp: { x: 0.499, y: 0.499 }, objectivePower: 20 });
    await expect(renderTile(slide, { dziLevel: 4, column: 0, row: 0 })).rejects.toMatchObject({
      code: 'FILE_CORRUPT',
    });
    await slide.close();
  });
});

async function openAndRender(path: string): Promise<string> {
  const slide = await openSlide({ path });
  try {
    await renderThumbnail(slide, 64);
    return 'shown';
  } finally {
    await slide.close();
  }
}
