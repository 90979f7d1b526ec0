import { describe, expect, it } from 'vitest';
import { readJpegHeader } from '../jpeg/header.ts';
import type { EncodedImage } from '../model/slide.ts';
import { buildSvs, type SvsPlan } from '../testing/build-svs.ts';
import { difference } from '../testing/compare-pixels.ts';
import type { PictureColour } from '../testing/encode-picture.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { decodeImage, type Shrink } from './decode-image.ts';
import { decodeTiles } from './decode-tiles.ts';
import { cropRaster, type Raster } from './raster.ts';

type ThreeTiles = [above: EncodedImage, middle: EncodedImage, below: EncodedImage];

/** Reads three vertically adjacent tiles of a built slide. */
async function tilesOf(plan: SvsPlan): Promise<ThreeTiles> {
  const slide = await openBytes(await buildSvs(plan));
  const tiles = [0, 1, 2].map((row) => slide.readTile({ level: 0, column: 1, row }));
  return (await Promise.all(tiles)) as ThreeTiles;
}

describe('decodeTiles (decodes adjacent JPEG tiles together)', () => {
  it.each<[Shrink, PictureColour]>([
    [1, 'rgb'],
    [2, 'rgb'],
    [2, 'grey'],
  ])(
    'returns the same pixels as decoding each tile separately (reduction factor %d, colour model %s)',
    async (shrink, colour) => {
      const [above, middle, below] = await tilesOf({ colour });
      const together = await decodeTiles([[above, middle], [below]], shrink);
      expect(together).toHaveLength(3);
      for (const [i, tile] of [above, middle, below].entries()) {
        expect(difference(together[i] as Raster, await decodeImage(tile, shrink)).max).toBe(0);
      }
    },
  );

  it.each<[Shrink, PictureColour]>([
    [4, 'rgb'],
    [8, 'rgb'],
    [1, 'ycbcr'],
    [2, 'ycbcr'],
    [8, 'ycbcr'],
  ])(
    'returns the same pixels as decoding each tile separately, except within 4 pixels of the seam between tiles (reduction factor %d, colour model %s)',
    async (shrink, colour) => {
      const [above, middle, below] = await tilesOf({ colour });
      const together = await decodeTiles([[above, middle], [below]], shrink);
      const side = 128 / shrink;
      const seamPixels = 4;
      for (const [i, tile, top, bottom] of [
        [0, above, 0, seamPixels],
        [1, middle, seamPixels, 0],
        [2, below, 0, 0],
      ] as const) {
        const inside = (raster: Raster) => cropRaster(raster, 0, top, side, side - top - bottom);
        const separate = await decodeImage(tile, shrink);
        expect(difference(inside(together[i] as Raster), inside(separate)).max).toBe(0);
      }
    },
  );

  it('returns the same pixels as decoding each tile separately when the JPEG tables of the tiles differ', async () => {
    const [rgbTile] = await tilesOf({ colour: 'rgb' });
    const [, yccTile] = await tilesOf({ colour: 'ycbcr' });
    const together = await decodeTiles([[rgbTile, yccTile]], 2);
    for (const [i, tile] of [rgbTile, yccTile].entries()) {
      expect(difference(together[i] as Raster, await decodeImage(tile, 2)).max).toBe(0);
    }
  });

  it('returns an empty list for no tiles', async () => {
    expect(await decodeTiles([], 4)).toEqual([]);
  });

  it.each<[string, (tile: EncodedImage) => Uint8Array]>([
    ['is truncated', ({ bytes }) => bytes.subarray(0, readJpegHeader(bytes).dataAt + 200)],
    [
      'has lost its second half',
      ({ bytes }) => Buffer.concat([bytes.subarray(0, bytes.length / 2), Buffer.of(0xff, 0xd9)]),
    ],
  ])('rejects all tiles with FILE_CORRUPT when one tile %s', async (_, damage) => {
    const [above, ...others] = await tilesOf({});
    const damaged = { ...above, bytes: damage(above) };
    await expect(decodeTiles([[damaged, ...others]], 2)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
    await expect(decodeTiles([[damaged]], 1)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
  });
});
