import { afterEach, describe, expect, it, vi } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import type { Raster } from '../decode/raster.ts';
import { describeDeepZoom, readStoredTile, regionOfTile, sizeOfLevel } from '../deep-zoom.ts';
import type { Slide, SlideError } from '../slide.ts';
import { buildSvs, type SvsPlan } from '../testing/build-svs.ts';
import { buildTiff, long } from '../testing/build-tiff.ts';
import { buildTiledTiff, type TiledTiffPlan } from '../testing/build-tiled-tiff.ts';
import { boxFilter, difference, pixelsOf } from '../testing/compare-pixels.ts';
import { encodeSamples } from '../testing/encode-samples.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintPlain } from '../testing/paint-tissue.ts';
import { tag } from '../tiff/tags.ts';
import { makeTile } from './make-tile.ts';
import { renderPixels } from './render-pixels.ts';

// Every pixel of every level is compared in plain arithmetic.
vi.setConfig({ testTimeout: 60_000 });

const openSvs = async (plan?: SvsPlan) => openBytes(await buildSvs(plan));
const openTiff = async (plan?: TiledTiffPlan) => openBytes(await buildTiledTiff(plan));

/** Full resolution, decoded tile by tile: what every made tile shows smaller. */
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

/** Every tile of a Deep Zoom level; `stored` is null where it has to be made. */
async function* tilesOf(slide: Slide, dziLevel: number) {
  const descriptor = describeDeepZoom(slide);
  const { width, height } = sizeOfLevel(descriptor, dziLevel);
  for (let row = 0; row < Math.ceil(height / descriptor.tileSize); row++) {
    for (let column = 0; column < Math.ceil(width / descriptor.tileSize); column++) {
      const address = { dziLevel, column, row };
      const stored = await readStoredTile(slide, address);
      yield { address, stored, region: regionOfTile(descriptor, address) };
    }
  }
}

describe.each<[string, () => Promise<Slide>]>([
  ['an Aperio slide', () => openSvs()],
  ['an Aperio slide in YCbCr', () => openSvs({ colour: 'ycbcr' })],
  ['a slide of odd size, rounded down by the scanner', () => openSvs({ width: 483, height: 405 })],
  ['a slide without a pyramid', () => openSvs({ width: 500, height: 300, downsamples: [1] })],
  ['a slide with levels of a third', () => openTiff({ downsamples: [1, 3] })],
  ['a slide of tiles too small to send', () => openTiff({ tileSize: 64, downsamples: [1, 2] })],
  ['a slide that is long and thin', () => openSvs({ width: 3000, height: 40, downsamples: [1] })],
  ['a slide smaller than a tile', () => openSvs({ width: 40, height: 30, downsamples: [1] })],
])('the tiles of %s', (_, open) => {
  it('are as large as Deep Zoom promises, and show the slide reduced by a box filter', async () => {
    const slide = await open();
    const full = await fullResolution(slide);
    const { maxLevel } = describeDeepZoom(slide);
    for (let dziLevel = maxLevel; dziLevel >= 0; dziLevel--) {
      for await (const { address, region, stored } of tilesOf(slide, dziLevel)) {
        // A stored level is the scanner's own, made by whatever filter it has.
        if (stored && dziLevel !== maxLevel) continue;
        const expected = boxFilter(full, 2 ** (maxLevel - dziLevel), region);
        const rendered = await renderPixels(slide, region);
        expect(difference(rendered, expected).mean, JSON.stringify(address)).toBeLessThanOrEqual(2);

        const shown = await pixelsOf(stored ?? (await makeTile(slide, address)));
        expect(shown).toMatchObject({ width: region.width, height: region.height });
        // In a picture of a few blocks the quality of the JPEG is all that is left to measure.
        if (region.width < 32 || region.height < 32) continue;
        expect(difference(shown, expected).mean, JSON.stringify(address)).toBeLessThanOrEqual(2.5);
      }
    }
  });
});

describe('a made tile', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('shows the background where the scanner left the slide empty', async () => {
    const picture = paintPlain(512, 512, [150, 60, 120]);
    const slide = await openSvs({
      width: 512,
      height: 512,
      picture,
      downsamples: [1],
      isEmpty: (_, column) => column < 2,
    });
    const tile = await pixelsOf(await makeTile(slide, { dziLevel: 7, column: 0, row: 0 }));
    const at = (x: number) => [...tile.rgb.subarray((64 * 128 + x) * 3, (64 * 128 + x) * 3 + 3)];
    expect(at(30)).toEqual([255, 255, 255]);
    for (const [i, sample] of [150, 60, 120].entries())
      expect(Math.abs(sample - (at(100)[i] ?? 0))).toBeLessThan(4);
  });

  it('shows what a smaller level has lost, from the larger one', async () => {
    const plan = { width: 1000, height: 900, downsamples: [1, 4, 8] };
    const isEmpty = (level: number, column: number, row: number) =>
      (level === 1 && column === 1 && row === 0) || (level === 2 && column === 0 && row === 0);
    const [lossy, whole] = [await openSvs({ ...plan, isEmpty }), await openSvs(plan)];
    for (const [dziLevel, column] of [
      [8, 1],
      [7, 0],
      [6, 0],
      [5, 0],
    ] as const) {
      const address = { dziLevel, column, row: 0 };
      expect(await readStoredTile(lossy, address)).toBeNull();
      const region = regionOfTile(describeDeepZoom(whole), address);
      const shown = await renderPixels(lossy, region);
      expect(difference(shown, await renderPixels(whole, region)).mean, `level ${dziLevel}`).toBeLessThan(3);
    }
  });

  it('shows glass where full resolution was left empty too', async () => {
    const isEmpty = (_: number, column: number) => column === 0;
    const slide = await openSvs({ width: 1000, height: 900, downsamples: [1, 4], isEmpty });
    const { rgb } = await renderPixels(slide, { dziLevel: 8, x: 0, y: 0, width: 30, height: 30 });
    expect(new Set(rgb)).toEqual(new Set([255]));
  });

  it('does not let what the scanner put beside the picture into its edge', async () => {
    // libtiff repeats the last pixel; a scanner may leave anything there.
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
        const pixels = await pixelsOf(await makeTile(padded, address));
        const plain = paintPlain(pixels.width, pixels.height, [200, 50, 50]);
        expect(difference(pixels, plain).most, `level ${dziLevel}`).toBeLessThan(6);
      }
    }
  });

  it('does not read the file again for each of the smallest levels', async () => {
    const slide = await openSvs({ width: 1000, height: 900, downsamples: [1] });
    let tilesRead = 0;
    const readTile: Slide['readTile'] = (...asked) => {
      tilesRead++;
      return slide.readTile(...asked);
    };
    const counted = { ...slide, readTile };
    for (let dziLevel = 6; dziLevel >= 0; dziLevel--) {
      await makeTile(counted, { dziLevel, column: 0, row: 0 });
    }
    expect(tilesRead).toBe(8 * 8);
  });

  it('of a very large slide without a pyramid takes several goes, none of which is lost', async () => {
    const side = 16_384;
    const small = { width: 1, height: 1, samples: [0], samplesPerPixel: 1, photometric: 1 };
    const { tags } = encodeSamples({ ...small, tile: { width: 512, height: 512 } });
    const tiles = new Array<null>((side / 512) ** 2).fill(null);
    const size = { [tag.ImageWidth]: long(side), [tag.ImageLength]: long(side) };
    const slide = await openBytes(buildTiff({ directories: [{ tags: { ...tags, ...size }, tiles }] }).bytes);
    let tilesRead = 0;
    // A thousand tiles of 15 ms each, and five seconds a go.
    vi.useFakeTimers({ toFake: ['performance'] });
    const readTile: Slide['readTile'] = (...asked) => {
      tilesRead++;
      vi.advanceTimersByTime(15);
      return slide.readTile(...asked);
    };
    const counted = { ...slide, readTile };
    const goes: string[] = [];
    while (goes.at(-1) !== 'made') {
      const go = makeTile(counted, { dziLevel: 4, column: 0, row: 0 }).then(() => 'made');
      goes.push(await go.catch((error: SlideError) => error.code));
    }
    expect(goes).toEqual(['BUSY', 'BUSY', 'made']);
    expect(tilesRead).toBe(tiles.length);
  });

  it('is refused outside the slide', async () => {
    const making = makeTile(await openSvs(), { dziLevel: 8, column: 2, row: 0 });
    await expect(making).rejects.toMatchObject({ code: 'TILE_OUT_OF_RANGE' });
  });

  it('is not made for someone who has gone, and made for the next', async () => {
    const slide = await openSvs({ width: 1000, height: 900, downsamples: [1] });
    const address = { dziLevel: 3, column: 0, row: 0 };
    const controller = new AbortController();
    const given = makeTile(slide, address, controller.signal);
    const next = makeTile(slide, address);
    controller.abort();
    await expect(given).rejects.toThrow('aborted');
    expect(await pixelsOf(await next)).toMatchObject({ width: 8, height: 8 });
  });
});
