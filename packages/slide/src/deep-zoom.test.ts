import { describe, expect, it } from 'vitest';
import { cropRaster, type Raster } from './decode/raster.ts';
import {
  type DeepZoomAddress,
  describeDeepZoom,
  descriptorXml,
  firstTilesToMake,
  makingSource,
  readStoredTile,
  regionOfTile,
  sizeOfLevel,
} from './deep-zoom.ts';
import type { Level, Slide } from './slide.ts';
import { buildSvs, type SvsPlan } from './testing/build-svs.ts';
import { difference, pixelsOf } from './testing/compare-pixels.ts';
import { openBytes } from './testing/open-bytes.ts';
import { paintTissue } from './testing/paint-tissue.ts';

const open = async (plan?: SvsPlan) => openBytes(await buildSvs(plan));

/** A slide of which only the levels matter. */
function slideOf(...sizes: readonly [width: number, height: number, tileSide?: number][]): Slide {
  const levels = sizes.map(
    ([width, height, tileSide = 256]): Level => ({
      width,
      height,
      tileWidth: tileSide,
      tileHeight: tileSide,
      columns: Math.ceil(width / tileSide),
      rows: Math.ceil(height / tileSide),
      downsample: (sizes[0]?.[0] ?? width) / width,
    }),
  );
  return {
    format: 'made up',
    fingerprint: 'made up',
    vendor: null,
    levels: levels as [Level, ...Level[]],
    mpp: null,
    objectivePower: null,
    background: { r: 255, g: 255, b: 255 },
    associatedImages: new Set(),
    readTile: async ({ level, column, row }) => ({
      codec: 'jpeg',
      bytes: Uint8Array.of(level, column, row),
      width: levels[level]?.tileWidth ?? 0,
      height: levels[level]?.tileHeight ?? 0,
    }),
    readAssociatedImage: () => Promise.reject(new Error('There is none')),
    readIccProfile: async () => null,
    close: async () => {},
  };
}

describe('a Deep Zoom descriptor', () => {
  it.each([
    [46_000, 32_914, 16],
    [1024, 1, 10],
    [1025, 1, 11],
    [2, 2, 1],
    [1, 1, 0],
    [2 ** 31 - 1, 10, 31],
  ])('of %d × %d pixels has %d halvings down to one pixel', (width, height, maxLevel) => {
    expect(describeDeepZoom(slideOf([width, height]))).toMatchObject({ width, height, maxLevel });
  });

  it.each([
    [240, 240],
    [128, 128],
    [1024, 1024],
    [500, 500],
    [64, 256],
    [2048, 256],
  ])('of tiles of %d pixels has tiles of %d', (stored, tileSize) => {
    expect(describeDeepZoom(slideOf([5000, 5000, stored])).tileSize).toBe(tileSize);
  });

  it('of tiles that are not square has tiles of 256', () => {
    const slide = slideOf([5000, 5000]);
    const [level] = slide.levels;
    expect(describeDeepZoom({ ...slide, levels: [{ ...level, tileWidth: 512 }] }).tileSize).toBe(256);
  });

  it('is the XML that viewers read', () => {
    expect(descriptorXml(describeDeepZoom(slideOf([2220, 2967, 240])))).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n' +
        '<Image xmlns="http://schemas.microsoft.com/deepzoom/2008" TileSize="240" Overlap="0" Format="jpg">' +
        '<Size Width="2220" Height="2967"/></Image>\n',
    );
  });
});

describe('a Deep Zoom level', () => {
  const descriptor = describeDeepZoom(slideOf([2221, 2967, 240]));

  it('is the one above it halved, rounded up', () => {
    expect([12, 11, 10, 1, 0].map((level) => Object.values(sizeOfLevel(descriptor, level)))).toEqual([
      [2221, 2967],
      [1111, 1484],
      [556, 742],
      [2, 2],
      [1, 1],
    ]);
  });

  it('is cut into tiles that end where it ends', () => {
    expect(regionOfTile(descriptor, { dziLevel: 12, column: 9, row: 12 })).toEqual({
      dziLevel: 12,
      x: 2160,
      y: 2880,
      width: 61,
      height: 87,
    });
    expect(regionOfTile(descriptor, { dziLevel: 0, column: 0, row: 0 })).toMatchObject({
      width: 1,
      height: 1,
    });
  });

  it.each<DeepZoomAddress>([
    { dziLevel: 13, column: 0, row: 0 },
    { dziLevel: -1, column: 0, row: 0 },
    { dziLevel: 11.5, column: 0, row: 0 },
    { dziLevel: Number.NaN, column: 0, row: 0 },
    { dziLevel: 12, column: 10, row: 0 },
    { dziLevel: 12, column: 0, row: 13 },
    { dziLevel: 12, column: -1, row: 0 },
    { dziLevel: 12, column: 0.5, row: 0 },
    { dziLevel: 12, column: Number.POSITIVE_INFINITY, row: 0 },
    { dziLevel: 0, column: 1, row: 0 },
  ])('has no tile %j', async (address) => {
    expect(() => regionOfTile(descriptor, address)).toThrow(
      expect.objectContaining({ code: 'TILE_OUT_OF_RANGE' }),
    );
    const reading = readStoredTile(slideOf([2221, 2967, 240]), address);
    await expect(reading).rejects.toMatchObject({ code: 'TILE_OUT_OF_RANGE' });
  });
});

describe('a stored tile', () => {
  const stored = async (slide: Slide, dziLevel: number, column = 0, row = 0) => {
    const bytes = await readStoredTile(slide, { dziLevel, column, row });
    return bytes && [...bytes];
  };

  it('comes from the level of the file that has the size of the Deep Zoom level', async () => {
    const slide = slideOf([40_000, 30_000], [10_000, 7500], [2500, 1875]);
    expect(await stored(slide, 16, 5, 6)).toEqual([0, 5, 6]);
    expect(await stored(slide, 15, 5, 6)).toBeNull();
    expect(await stored(slide, 14, 5, 6)).toEqual([1, 5, 6]);
    expect(await stored(slide, 12, 5, 6)).toEqual([2, 5, 6]);
    expect(await stored(slide, 11)).toBeNull();
    expect(await stored(slide, 0)).toBeNull();
  });

  it.each([
    ['rounded down', [750, 500]],
    ['rounded up', [751, 501]],
    ['one pixel off', [752, 502]],
  ])('may come from a level %s', async (_, [width = 0, height = 0]) => {
    const slide = slideOf([3003, 2003], [width, height]);
    expect(await stored(slide, 10, 1, 0)).toEqual([1, 1, 0]);
  });

  it.each<[string, Slide]>([
    ['of a third', slideOf([3000, 2000], [1000, 667])],
    ['two pixels off', slideOf([3003, 2003], [753, 501])],
    ['of other tiles', slideOf([3000, 2000], [750, 500, 512])],
  ])('does not come from a level %s', async (_, slide) => {
    for (const dziLevel of [11, 10]) expect(await stored(slide, dziLevel)).toBeNull();
  });

  it('is none on an edge, where the file stores more than Deep Zoom promises', async () => {
    const slide = slideOf([1000, 1024]);
    expect(await stored(slide, 10, 2, 3)).toEqual([0, 2, 3]);
    expect(await stored(slide, 10, 3, 0)).toBeNull();
  });

  it('is none where the level of the file ends a pixel too early', async () => {
    const slide = slideOf([2047, 2048], [1023, 1024]);
    expect(await stored(slide, 10, 2, 3)).toEqual([1, 2, 3]);
    expect(await stored(slide, 10, 3, 3)).toBeNull();
  });

  it('is none in another codec than JPEG', async () => {
    const slide = slideOf([1024, 1024]);
    const readTile: Slide['readTile'] = async () => ({
      codec: 'jpeg2000',
      bytes: new Uint8Array(),
      width: 256,
      height: 256,
    });
    expect(await readStoredTile({ ...slide, readTile }, { dziLevel: 10, column: 0, row: 0 })).toBeNull();
  });

  it('shows the slide', async () => {
    const slide = await open();
    const tile = await readStoredTile(slide, { dziLevel: 9, column: 1, row: 1 });
    const shown = cropRaster(paintTissue(480, 400), 128, 128, 128, 128);
    expect(difference(await pixelsOf(tile ?? new Uint8Array()), shown).mean).toBeLessThan(6);
  });

  it('is blank, and always the same, where the scanner left the slide empty', async () => {
    const slide = await open({ isEmpty: () => true });
    const one = await readStoredTile(slide, { dziLevel: 9, column: 1, row: 1 });
    const other = await readStoredTile(slide, { dziLevel: 9, column: 0, row: 2 });
    const white: Raster = { width: 128, height: 128, rgb: new Uint8Array(128 * 128 * 3).fill(255) };
    expect(difference(await pixelsOf(one ?? new Uint8Array()), white).most).toBe(0);
    expect(other).toBe(one);
  });

  it('is not read for someone who has gone', async () => {
    const reading = readStoredTile(await open(), { dziLevel: 9, column: 1, row: 1 }, AbortSignal.abort());
    await expect(reading).rejects.toThrow('aborted');
  });
});

describe('the tiles that have to be made', () => {
  it('are those that are not stored, the smallest level first', async () => {
    const slide = slideOf([1000, 800], [250, 200]);
    const { tileSize, maxLevel } = describeDeepZoom(slide);
    const expected: DeepZoomAddress[] = [];
    for (let dziLevel = 0; dziLevel <= maxLevel; dziLevel++) {
      const { width, height } = sizeOfLevel(describeDeepZoom(slide), dziLevel);
      for (let row = 0; row * tileSize < height; row++) {
        for (let column = 0; column * tileSize < width; column++) {
          const address = { dziLevel, column, row };
          if ((await readStoredTile(slide, address)) === null) expected.push(address);
        }
      }
    }
    expect(firstTilesToMake(slide, 100)).toEqual(expected);
    expect(expected).toContainEqual({ dziLevel: 9, column: 1, row: 1 });
    expect(expected).not.toContainEqual({ dziLevel: 10, column: 1, row: 1 });
  });

  it('are those of whole levels, where there are too many', () => {
    const slide = slideOf([1000, 800], [250, 200]);
    const all = firstTilesToMake(slide, 100);
    const below9 = all.filter(({ dziLevel }) => dziLevel < 9);
    expect(firstTilesToMake(slide, all.length)).toEqual(all);
    expect(firstTilesToMake(slide, below9.length)).toEqual(below9);
    expect(firstTilesToMake(slide, below9.length + 1)).toEqual(below9);
    expect(firstTilesToMake(slide, 0)).toEqual([]);
  });
});

describe('a tile that has to be made', () => {
  it.each([
    [16, 0, 1],
    [15, 0, 2],
    [14, 1, 1],
    [13, 1, 2],
    [12, 2, 1],
    [9, 2, 8],
    [0, 2, 4096],
  ])('of Deep Zoom level %d comes from level %d, %d of its pixels to one', (dziLevel, level, perPixel) => {
    // Rounded down, so that the ratio of the sizes is no power of two.
    const slide = slideOf([46_001, 32_915], [11_500, 8228], [2875, 2057]);
    expect(makingSource(slide, dziLevel)).toEqual({ level, perPixelX: perPixel, perPixelY: perPixel });
  });

  it('comes from the smallest level that is large enough where none fits', () => {
    const slide = slideOf([3000, 2000], [1000, 667]);
    expect(makingSource(slide, 11)).toMatchObject({ level: 0, perPixelX: 2 });
    const source = makingSource(slide, 10);
    expect(source.level).toBe(1);
    expect(source.perPixelX).toBeCloseTo(4 / 3);
  });
});
