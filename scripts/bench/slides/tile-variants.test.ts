/** Tests variants of JPEG tiles, which differ in brightness although the tiles are not encoded again. */
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { encodePicture } from '../../../packages/slide/src/testing/encode-picture.ts';
import { paintTissue } from '../../../packages/slide/src/testing/paint-tissue.ts';
import { lengthsByCode, variantOf } from './tile-variants.ts';

let tables: Uint8Array;
let tile: Uint8Array;
beforeAll(async () => {
  const { tags, tiles = [] } = await encodePicture(paintTissue(128, 128), 128, 'ycbcr');
  tables = Uint8Array.from(tags[347]?.numbers ?? []); // JPEGTables
  tile = tiles[0] ?? new Uint8Array();
});

/** Returns a complete JPEG file: the shared tables and the tile. */
const jpegOf = (nativeTile: Uint8Array) => Buffer.concat([tables.subarray(0, -2), nativeTile.subarray(2)]);
/** Returns the mean of each colour channel, 0 to 255. */
const meansOf = async (nativeTile: Uint8Array) => {
  const { channels } = await sharp(jpegOf(nativeTile)).stats();
  return channels.map(({ mean }) => mean);
};

describe('variantOf (changes the brightness of a JPEG tile, for test slides of the benchmarks)', () => {
  it('returns a valid JPEG of the same length with another brightness', async () => {
    const variant = variantOf(tile, lengthsByCode(tables), 1);
    expect(variant).toHaveLength(tile.length);
    const [[, before = 0], [, after = 0]] = [await meansOf(tile), await meansOf(variant)];
    expect(Math.abs(after - before)).toBeGreaterThan(0.5);
  });

  it('returns different bytes for each of the variants 0 to 3', () => {
    const codes = lengthsByCode(tables);
    const texts = [0, 1, 2, 3].map((variant) => Buffer.from(variantOf(tile, codes, variant)).toString('hex'));
    expect(new Set(texts).size).toBe(4);
  });

  it('returns the tile itself as variant 0', () => {
    expect(variantOf(tile, lengthsByCode(tables), 0)).toBe(tile);
  });
});
