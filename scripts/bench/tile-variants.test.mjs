import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { encodePicture } from '../../packages/slide/src/testing/encode-picture.ts';
import { paintTissue } from '../../packages/slide/src/testing/paint-tissue.ts';
import { lengthsByCode, variantOf } from './tile-variants.mjs';

let tables;
let tile;
beforeAll(async () => {
  const { tags, tiles } = await encodePicture(paintTissue(128, 128), 128, 'ycbcr');
  tables = Uint8Array.from(tags[347].numbers);
  tile = tiles[0];
});

const wholeOf = (stored) => Buffer.concat([tables.subarray(0, -2), stored.subarray(2)]);
const meansOf = async (stored) => {
  const { channels } = await sharp(wholeOf(stored)).stats();
  return channels.map(({ mean }) => mean);
};

describe('a variant of a stored tile', () => {
  it('is a good JPEG of the same length, in another brightness', async () => {
    const variant = variantOf(tile, lengthsByCode(tables), 1);
    expect(variant).toHaveLength(tile.length);
    const [before, after] = [await meansOf(tile), await meansOf(variant)];
    expect(Math.abs(after[1] - before[1])).toBeGreaterThan(0.5);
  });

  it('differs from the variants beside it', () => {
    const codes = lengthsByCode(tables);
    const texts = [0, 1, 2, 3].map((variant) => Buffer.from(variantOf(tile, codes, variant)).toString('hex'));
    expect(new Set(texts).size).toBe(4);
  });

  it('0 is the tile itself', () => {
    expect(variantOf(tile, lengthsByCode(tables), 0)).toBe(tile);
  });
});
