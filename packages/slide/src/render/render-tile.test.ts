import { afterEach, describe, expect, it, vi } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import type { Raster } from '../decode/raster.ts';
import { describeDeepZoom, readNativeDziTile, regionOfTile, sizeOfLevel } from '../deep-zoom/deep-zoom.ts';
import type { Slide, SlideError } from '../model/slide.ts';
import { buildSvs, type SvsPlan } from '../testing/build-svs.ts';
import { buildTiff, long } from '../testing/build-tiff.ts';
import { buildTiledTiff, type TiledTiffPlan } from '../testing/build-tiled-tiff.ts';
import { boxFilter, difference, pixelsOf } from '../testing/compare-pixels.ts';
import { encodeSamples } from '../testing/encode-samples.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintPlain } from '../testing/paint-tissue.ts';
import { tag } from '../tiff/tags.ts';
import { renderPixels } from './render-pixels.ts';
import { renderTile } from './render-tile.ts';

// Every pixel of every level is compared in TypeScript.
vi.setConfig({ testTimeout: 60_000 });

const openSvs = async (plan?: SvsPlan) => openBytes(await buildSvs(plan));
const openTiff = async (plan?: TiledTiffPlan) => openBytes(await buildTiledTiff(plan));

/** Decodes full resolution tile by tile, as a reference for the rendered tiles. */
async function fullResolution(slide: Slide): Promise<Raster> {
  const [{ width, height, tileWidth, tileHeight, columns, rows }] = slide.levels;
  const rgb = new Uint8Array(width * height * 3);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const tile = await slide.readTile({ level: 0, column, row });
      const pixels = tile && (await decodeImage(tile));
      const [left, top] = [column * tileWidth, row * tileHeight];
      for (let y = top; pixels && y < Math.min(top + tileHeight, height); y++) {
        const from = (y - top) * tileWidth * 3;
        const line = pixels.rgb.subarray(from, from + Math.min(tileWidth, width - left) * 3);
        rgb.set(line, (y * width + left) * 3);
      }
    }
  }
  return { width, height, rgb };
}

/** Yields every tile of a Deep Zoom level; `native` is null where the tile has to be rendered. */
async function* tilesOf(slide: Slide, dziLevel: number) {
  const descriptor = describeDeepZoom(slide);
  const { width, height } = sizeOfLevel(descriptor, dziLevel);
  for (let row = 0; row < Math.ceil(height / descriptor.tileSize); row++) {
    for (let column = 0; column < Math.ceil(width / descriptor.tileSize); column++) {
      const address = { dziLevel, column, row };
      const native = await readNativeDziTile(slide, address);
      yield { address, native, region: regionOfTile(descriptor, address) };
    }
  }
}

describe.each<[string, () => Promise<Slide>]>([
  ['an Aperio slide', () => openSvs()],
  ['an Aperio slide in YCbCr', () => openSvs({ colour: 'ycbcr' })],
  ['a slide of odd size, whose levels the scanner rounded down', () => openSvs({ width: 483, height: 405 })],
  ['a slide without a pyramid', () => openSvs({ width: 500, height: 300, downsamples: [1] })],
  ['a slide whose second level is reduced by a factor of 3', () => openTiff({ downsamples: [1, 3] })],
  [
    'a slide with tiles of 64 × 64 pixels, too small to send',
    () => openTiff({ tileSize: 64, downsamples: [1, 2] }),
  ],
  ['a long and thin slide', () => openSvs({ width: 3000, height: 40, downsamples: [1] })],
  ['a slide smaller than a tile', () => openSvs({ width: 40, height: 30, downsamples: [1] })],
])('the native (sent without decoding) and rendered tiles of %s', (_, open) => {
  it('have the size that Deep Zoom requires and show the slide reduced by a box filter', async () => {
    const slide = await open();
    const full = await fullResolution(slide);
    const { maxLevel } = describeDeepZoom(slide);
    for (let dziLevel = maxLevel; dziLevel >= 0; dziLevel--) {
      for await (const { address, region, native } of tilesOf(slide, dziLevel)) {
        // The scanner reduced the smaller levels of the file with its own filter, so they are not compared.
        if (native && dziLevel !== maxLevel) continue;
        const expected = boxFilter(full, 2 ** (maxLevel - dziLevel), region);
        const rendered = await renderPixels(slide, region);
        expect(difference(rendered, expected).mean, JSON.stringify(address)).toBeLessThanOrEqual(2);

        const tilePixels = await pixelsOf(native ?? (await renderTile(slide, address)));
        expect(tilePixels).toMatchObject({ width: region.width, height: region.height });
        // In a tile of a few blocks the comparison would only measure the JPEG quality.
        if (region.width < 32 || region.height < 32) continue;
        expect(difference(tilePixels, expected).mean, JSON.stringify(address)).toBeLessThanOrEqual(2.5);
      }
    }
  });
});

describe('a rendered tile (computed from the tiles of the file)', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('shows the background colour where the scanner stored no tile', async () => {
    const picture = paintPlain(512, 512, [150, 60, 120]);
    const slide = await openSvs({
      width: 512,
      height: 512,
      picture,
      downsamples: [1],
      isEmpty: (_, column) => column < 2,
    });
    const tile = await pixelsOf(await renderTile(slide, { dziLevel: 7, column: 0, row: 0 }));
    /** Returns a pixel of row 64 of the tile, whose right half shows the tiles of the file. */
    const pixelAt = (x: number) => [...tile.rgb.subarray((64 * 128 + x) * 3, (64 * 128 + x) * 3 + 3)];
    expect(pixelAt(30)).toEqual([255, 255, 255]);
    for (const [i, sample] of [150, 60, 120].entries())
      expect(Math.abs(sample - (pixelAt(100)[i] ?? 0))).toBeLessThan(4);
  });

  it('shows the pixels of a level of higher resolution where a level has no tile', async () => {
    const plan = { width: 1000, height: 900, downsamples: [1, 4, 8] };
    const isEmpty = (level: number, column: number, row: number) =>
      (level === 1 && column === 1 && row === 0) || (level === 2 && column === 0 && row === 0);
    const [withGaps, whole] = [await openSvs({ ...plan, isEmpty }), await openSvs(plan)];
    for (const [dziLevel, column] of [
      [8, 1],
      [7, 0],
      [6, 0],
      [5, 0],
    ] as const) {
      const address = { dziLevel, column, row: 0 };
      expect(await readNativeDziTile(withGaps, address)).toBeNull();
      const region = regionOfTile(describeDeepZoom(whole), address);
      const rendered = await renderPixels(withGaps, region);
      expect(difference(rendered, await renderPixels(whole, region)).mean, `level ${dziLevel}`).toBeLessThan(
        3,
      );
    }
  });

  it('shows the background colour where no level of the file has a tile', async () => {
    const isEmpty = (_: number, column: number) => column === 0;
    const slide = await openSvs({ width: 1000, height: 900, downsamples: [1, 4], isEmpty });
    const { rgb } = await renderPixels(slide, { dziLevel: 8, x: 0, y: 0, width: 30, height: 30 });
    expect(new Set(rgb)).toEqual(new Set([255]));
  });

  it('at the edge of the slide shows no padding of the tiles of the file', async () => {
    // libtiff repeats the last pixel in the padding; a scanner may leave any bytes there.
    const slide = await openSvs({
      width: 130,
      height: 130,
      picture: paintPlain(130, 130, [200, 50, 50]),
      downsamples: [1],
    });
    const readTile: Slide['readTile'] = async (address) => {
      const tile = await slide.readTile(address);
      if (!tile) return null;
      const raster = await decodeImage(tile);
      const [filledX, filledY] = [address.column === 0 ? 128 : 2, address.row === 0 ? 128 : 2];
      const bytes = raster.rgb.map((value, i) => {
        const pixel = Math.floor(i / 3);
        const isPicture = pixel % 128 < filledX && Math.floor(pixel / 128) < filledY;
        return isPicture ? value : 0;
      });
      return { codec: 'rgb', bytes, width: 128, height: 128 };
    };
    const padded = { ...slide, readTile };
    for (const dziLevel of [8, 7, 6, 5, 4, 1, 0]) {
      for await (const { address } of tilesOf(padded, dziLevel)) {
        const pixels = await pixelsOf(await renderTile(padded, address));
        const plain = paintPlain(pixels.width, pixels.height, [200, 50, 50]);
        expect(difference(pixels, plain).max, `level ${dziLevel}`).toBeLessThan(6);
      }
    }
  });

  it('of one of the seven smallest levels causes no second read of any of the 64 tiles of the file', async () => {
    const slide = await openSvs({ width: 1000, height: 900, downsamples: [1] });
    let tilesRead = 0;
    const readTile: Slide['readTile'] = (...args) => {
      tilesRead++;
      return slide.readTile(...args);
    };
    const counted = { ...slide, readTile };
    for (let dziLevel = 6; dziLevel >= 0; dziLevel--) {
      await renderTile(counted, { dziLevel, column: 0, row: 0 });
    }
    expect(tilesRead).toBe(8 * 8); // 1000 × 900 pixels in tiles of 128
  });

  it('that takes 15 s is returned by the third call, because a call ends with BUSY after 5 s and the next one continues', async () => {
    const side = 16_384;
    const small = { width: 1, height: 1, samples: [0], samplesPerPixel: 1, photometric: 1 };
    const { tags } = encodeSamples({ ...small, tile: { width: 512, height: 512 } });
    const tiles = new Array<null>((side / 512) ** 2).fill(null);
    const size = { [tag.ImageWidth]: long(side), [tag.ImageLength]: long(side) };
    const slide = await openBytes(buildTiff({ directories: [{ tags: { ...tags, ...size }, tiles }] }).bytes);
    let tilesRead = 0;
    // A thousand tiles of 15 ms each, and 5 seconds per call.
    vi.useFakeTimers({ toFake: ['performance'] });
    const readTile: Slide['readTile'] = (...args) => {
      tilesRead++;
      vi.advanceTimersByTime(15);
      return slide.readTile(...args);
    };
    const counted = { ...slide, readTile };
    const outcomes: string[] = [];
    while (outcomes.at(-1) !== 'rendered') {
      const call = renderTile(counted, { dziLevel: 4, column: 0, row: 0 }).then(() => 'rendered');
      outcomes.push(await call.catch((error: SlideError) => error.code));
    }
    expect(outcomes).toEqual(['BUSY', 'BUSY', 'rendered']);
    expect(tilesRead).toBe(tiles.length);
  });

  it('outside the slide is rejected with TILE_OUT_OF_RANGE', async () => {
    const rendering = renderTile(await openSvs(), { dziLevel: 8, column: 2, row: 0 });
    await expect(rendering).rejects.toMatchObject({ code: 'TILE_OUT_OF_RANGE' });
  });

  it('fails for an aborted request, while a concurrent request for the same tile succeeds', async () => {
    const slide = await openSvs({ width: 1000, height: 900, downsamples: [1] });
    const address = { dziLevel: 3, column: 0, row: 0 };
    const controller = new AbortController();
    const aborted = renderTile(slide, address, controller.signal);
    const next = renderTile(slide, address);
    controller.abort();
    await expect(aborted).rejects.toThrow('aborted');
    expect(await pixelsOf(await next)).toMatchObject({ width: 8, height: 8 });
  });
});
