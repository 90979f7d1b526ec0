import { describe, expect, it } from 'vitest';
import { cropRaster, type Raster } from '../decode/raster.ts';
import type { Level, Slide } from '../model/slide.ts';
import { buildSvs, type SvsPlan } from '../testing/build-svs.ts';
import { difference, pixelsOf } from '../testing/compare-pixels.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import {
  type DeepZoomAddress,
  describeDeepZoom,
  descriptorXml,
  readNativeDziTile,
  regionOfTile,
  renderSourceLevel,
  sizeOfLevel,
  tilesToPrerender,
} from './deep-zoom.ts';

const openSvs = async (plan?: SvsPlan) => openBytes(await buildSvs(plan));

/** Returns a slide whose tiles consist of three bytes: their level, column and row. */
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
  ])('of %d × %d pixels has maxLevel %d', (width, height, maxLevel) => {
    expect(describeDeepZoom(slideOf([width, height]))).toMatchObject({ width, height, maxLevel });
  });

  it.each([128, 240, 500, 1024])(
    'has the tile size of the file when that is %d pixels (128 to 1024 are usable)',
    (tileSize) => {
      expect(describeDeepZoom(slideOf([5000, 5000, tileSize])).tileSize).toBe(tileSize);
    },
  );

  it.each([64, 2048])(
    'has a tile size of 256 when the tiles of the file have %d pixels per side (128 to 1024 are usable)',
    (stored) => {
      expect(describeDeepZoom(slideOf([5000, 5000, stored])).tileSize).toBe(256);
    },
  );

  it('has a tile size of 256 when the tiles of the file are not square', () => {
    const slide = slideOf([5000, 5000]);
    const [level] = slide.levels;
    expect(describeDeepZoom({ ...slide, levels: [{ ...level, tileWidth: 512 }] }).tileSize).toBe(256);
  });

  it('is written as XML with tile size, overlap, format, width and height', () => {
    expect(descriptorXml(describeDeepZoom(slideOf([2220, 2967, 240])))).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n' +
        '<Image xmlns="http://schemas.microsoft.com/deepzoom/2008" TileSize="240" Overlap="0" Format="jpg">' +
        '<Size Width="2220" Height="2967"/></Image>\n',
    );
  });
});

describe('a Deep Zoom level', () => {
  const descriptor = describeDeepZoom(slideOf([2221, 2967, 240]));

  it('has half the size of the next larger level, rounded up', () => {
    expect([12, 11, 10, 1, 0].map((level) => Object.values(sizeOfLevel(descriptor, level)))).toEqual([
      [2221, 2967],
      [1111, 1484],
      [556, 742],
      [2, 2],
      [1, 1],
    ]);
  });

  it('has tiles that end at its right and bottom edges instead of reaching beyond them', () => {
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

  it.each<[string, DeepZoomAddress]>([
    ['a level above the largest one', { dziLevel: 13, column: 0, row: 0 }],
    ['a negative level', { dziLevel: -1, column: 0, row: 0 }],
    ['a fractional level', { dziLevel: 11.5, column: 0, row: 0 }],
    ['the level NaN', { dziLevel: Number.NaN, column: 0, row: 0 }],
    ['a column beyond the last one', { dziLevel: 12, column: 10, row: 0 }],
    ['a row beyond the last one', { dziLevel: 12, column: 0, row: 13 }],
    ['a negative column', { dziLevel: 12, column: -1, row: 0 }],
    ['a fractional column', { dziLevel: 12, column: 0.5, row: 0 }],
    ['an infinite column', { dziLevel: 12, column: Number.POSITIVE_INFINITY, row: 0 }],
    ['a second column of level 0, which is one pixel', { dziLevel: 0, column: 1, row: 0 }],
  ])('throws TILE_OUT_OF_RANGE for a tile address with %s', async (_, address) => {
    expect(() => regionOfTile(descriptor, address)).toThrow(
      expect.objectContaining({ code: 'TILE_OUT_OF_RANGE' }),
    );
    const reading = readNativeDziTile(slideOf([2221, 2967, 240]), address);
    await expect(reading).rejects.toMatchObject({ code: 'TILE_OUT_OF_RANGE' });
  });
});

describe('a native tile (which is sent without decoding)', () => {
  /** Returns the bytes of a native tile, which state its level, column and row; null when there is none. */
  const readNative = async (slide: Slide, dziLevel: number, column = 0, row = 0) => {
    const bytes = await readNativeDziTile(slide, { dziLevel, column, row });
    return bytes && [...bytes];
  };

  it('comes from the level of the file with the size of the Deep Zoom level, and is null if the file has no such level', async () => {
    const slide = slideOf([40_000, 30_000], [10_000, 7500], [2500, 1875]);
    expect(await readNative(slide, 16, 5, 6)).toEqual([0, 5, 6]);
    expect(await readNative(slide, 15, 5, 6)).toBeNull();
    expect(await readNative(slide, 14, 5, 6)).toEqual([1, 5, 6]);
    expect(await readNative(slide, 12, 5, 6)).toEqual([2, 5, 6]);
    expect(await readNative(slide, 11)).toBeNull();
    expect(await readNative(slide, 0)).toBeNull();
  });

  it.each([
    ['a quarter of full resolution, rounded down', [750, 500]],
    ['a quarter of full resolution, rounded up', [751, 501]],
    ['a quarter of full resolution, rounded up, plus one pixel', [752, 502]],
  ])(
    'comes from a level of the file that differs by at most one pixel from the Deep Zoom level: %s',
    async (_, [width = 0, height = 0]) => {
      const slide = slideOf([3003, 2003], [width, height]);
      expect(await readNative(slide, 10, 1, 0)).toEqual([1, 1, 0]);
    },
  );

  it.each<[string, Slide]>([
    ['has a third of the full size', slideOf([3000, 2000], [1000, 667])],
    ['is two pixels wider than the Deep Zoom level', slideOf([3003, 2003], [753, 501])],
    ['has another tile size than level 0', slideOf([3000, 2000], [750, 500, 512])],
  ])('is null when the only level of the file below full resolution %s', async (_, slide) => {
    for (const dziLevel of [11, 10]) expect(await readNative(slide, dziLevel)).toBeNull();
  });

  it('does not exist (null) at the edge of a level, where the file stores padding', async () => {
    const slide = slideOf([1000, 1024]);
    expect(await readNative(slide, 10, 2, 3)).toEqual([0, 2, 3]);
    expect(await readNative(slide, 10, 3, 0)).toBeNull();
  });

  it('does not exist (null) at the edge when the level of the file is one pixel smaller than the Deep Zoom level', async () => {
    const slide = slideOf([2047, 2048], [1023, 1024]);
    expect(await readNative(slide, 10, 2, 3)).toEqual([1, 2, 3]);
    expect(await readNative(slide, 10, 3, 3)).toBeNull();
  });

  it('does not exist (null) when the tile of the file is not JPEG', async () => {
    const slide = slideOf([1024, 1024]);
    const readTile: Slide['readTile'] = async () => ({
      codec: 'jpeg2000',
      bytes: new Uint8Array(),
      width: 256,
      height: 256,
    });
    expect(await readNativeDziTile({ ...slide, readTile }, { dziLevel: 10, column: 0, row: 0 })).toBeNull();
  });

  it('shows the pixels of the slide at the position of the tile', async () => {
    const slide = await openSvs();
    const tile = await readNativeDziTile(slide, { dziLevel: 9, column: 1, row: 1 });
    const expected = cropRaster(paintTissue(480, 400), 128, 128, 128, 128);
    expect(difference(await pixelsOf(tile ?? new Uint8Array()), expected).mean).toBeLessThan(6);
  });

  it('is one cached white JPEG for all tiles that the scanner left empty', async () => {
    const slide = await openSvs({ isEmpty: () => true });
    const emptyTile = await readNativeDziTile(slide, { dziLevel: 9, column: 1, row: 1 });
    const otherEmptyTile = await readNativeDziTile(slide, { dziLevel: 9, column: 0, row: 2 });
    const white: Raster = { width: 128, height: 128, rgb: new Uint8Array(128 * 128 * 3).fill(255) };
    expect(difference(await pixelsOf(emptyTile ?? new Uint8Array()), white).max).toBe(0);
    expect(otherEmptyTile).toBe(emptyTile);
  });

  it('is not returned when the abort signal is aborted: the promise rejects with "aborted"', async () => {
    const reading = readNativeDziTile(
      await openSvs(),
      { dziLevel: 9, column: 1, row: 1 },
      AbortSignal.abort(),
    );
    await expect(reading).rejects.toThrow('aborted');
  });
});

describe('tilesToPrerender (lists the Deep Zoom tiles to render before a user requests them)', () => {
  it('returns the tiles that the file does not store as native tiles (sent without decoding), smallest level first', async () => {
    const slide = slideOf([1000, 800], [250, 200]);
    const { tileSize, maxLevel } = describeDeepZoom(slide);
    const expected: DeepZoomAddress[] = [];
    for (let dziLevel = 0; dziLevel <= maxLevel; dziLevel++) {
      const { width, height } = sizeOfLevel(describeDeepZoom(slide), dziLevel);
      for (let row = 0; row * tileSize < height; row++) {
        for (let column = 0; column * tileSize < width; column++) {
          const address = { dziLevel, column, row };
          if ((await readNativeDziTile(slide, address)) === null) expected.push(address);
        }
      }
    }
    expect(tilesToPrerender(slide, 100)).toEqual(expected);
    expect(expected).toContainEqual({ dziLevel: 9, column: 1, row: 1 });
    expect(expected).not.toContainEqual({ dziLevel: 10, column: 1, row: 1 });
  });

  it('omits a level whose tiles would exceed the maximum number of tiles, and all larger levels', () => {
    const slide = slideOf([1000, 800], [250, 200]);
    const all = tilesToPrerender(slide, 100);
    const below9 = all.filter(({ dziLevel }) => dziLevel < 9);
    expect(tilesToPrerender(slide, all.length)).toEqual(all);
    expect(tilesToPrerender(slide, below9.length)).toEqual(below9);
    expect(tilesToPrerender(slide, below9.length + 1)).toEqual(below9);
    expect(tilesToPrerender(slide, 0)).toEqual([]);
  });
});

describe('renderSourceLevel (chooses the level of the file from which a Deep Zoom level is rendered)', () => {
  it.each([
    [16, 0, 1],
    [15, 0, 2],
    [14, 1, 1],
    [13, 1, 2],
    [12, 2, 1],
    [9, 2, 8],
    [0, 2, 4096],
  ])(
    'for Deep Zoom level %d, chooses level %d, larger by the factor %d (level widths of the file: 46,001, 11,500 and 2,875)',
    (dziLevel, level, reduction) => {
      // Rounded down, so that the ratio of the sizes is not a power of two.
      const slide = slideOf([46_001, 32_915], [11_500, 8228], [2875, 2057]);
      expect(renderSourceLevel(slide, dziLevel)).toEqual({
        level,
        reductionX: reduction,
        reductionY: reduction,
      });
    },
  );

  it('chooses the smallest level of the file that is larger than the Deep Zoom level when none has the same size', () => {
    const slide = slideOf([3000, 2000], [1000, 667]);
    expect(renderSourceLevel(slide, 11)).toMatchObject({ level: 0, reductionX: 2 });
    const source = renderSourceLevel(slide, 10);
    expect(source.level).toBe(1);
    expect(source.reductionX).toBeCloseTo(4 / 3);
  });
});
