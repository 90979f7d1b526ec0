import { describe, expect, it } from 'vitest';
import type { EncodedImage, TiffCoding } from '../model/slide.ts';
import { decodeImage } from './decode-image.ts';

const coding: TiffCoding = {
  packing: 'none',
  blockBytes: [12],
  blockRows: 2,
  samplesPerPixel: 3,
  bits: 8,
  isPlanar: false,
  isLittleEndian: true,
  isBitReversed: false,
  isDifferenced: false,
  colour: { model: 'rgb', alpha: null },
};

/** Returns a tile of 2 × 2 RGB pixels whose bytes are 0 to 11. */
const image = (change: Partial<TiffCoding> = {}, more: Partial<EncodedImage> = {}): EncodedImage => ({
  codec: 'tiff',
  bytes: Uint8Array.from({ length: 12 }, (_, i) => i),
  width: 2,
  height: 2,
  coding: { ...coding, ...change },
  ...more,
});

describe('decodeImage (decodes a tile to RGB) of a TIFF tile', () => {
  it('returns uncompressed RGB samples unchanged', async () => {
    expect(await decodeImage(image())).toEqual({
      width: 2,
      height: 2,
      rgb: Uint8Array.from({ length: 12 }, (_, i) => i),
    });
  });

  it('joins the two blocks of rows in which a tile is stored, from top to bottom', async () => {
    const { rgb } = await decodeImage(image({ blockRows: 1, blockBytes: [6, 6] }));
    expect([...rgb]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it('interleaves the samples of colour planes that are stored in separate blocks', async () => {
    const planes = { isPlanar: true, blockRows: 1, blockBytes: [2, 2, 2, 2, 2, 2] };
    const { rgb } = await decodeImage(image(planes));
    expect([...rgb]).toEqual([0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]);
  });

  it('returns the running sums of each row, modulo 256, when samples are stored as differences', async () => {
    const packed = { packing: 'packbits', isDifferenced: true } as const;
    // PackBits: the code 11, then 12 literal bytes.
    const bytes = Uint8Array.of(11, 250, 1, 2, 10, 1, 2, 3, 0, 0, 1, 1, 1);
    const { rgb } = await decodeImage(image({ ...packed, blockBytes: [13] }, { bytes }));
    expect([...rgb]).toEqual([250, 1, 2, 4, 2, 4, 3, 0, 0, 4, 1, 1]);
  });

  it('does not change the bytes that it receives when it decodes a tile with reversed bit order', async () => {
    const reversed = image({ isBitReversed: true });
    await decodeImage(reversed);
    expect([...reversed.bytes]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it.each<[string, EncodedImage, string]>([
    [
      'does not state how its samples are coded',
      { ...image(), coding: undefined } as unknown as EncodedImage,
      'FORMAT_NOT_SUPPORTED',
    ],
    ['has too few bytes', image({}, { bytes: new Uint8Array(11) }), 'FILE_CORRUPT'],
    ['has too few blocks', image({ blockRows: 1 }), 'FILE_CORRUPT'],
    ['has too many blocks', image({ blockBytes: [6, 6] }), 'FILE_CORRUPT'],
    ['has a block that is too short', image({ blockRows: 1, blockBytes: [5, 7] }), 'FILE_CORRUPT'],
    ['states 2^27 pixels', image({}, { width: 2 ** 14, height: 2 ** 13 }), 'LIMIT_EXCEEDED'],
    [
      'states 8192 × 4096 pixels of 8 samples of 16 bits',
      image({ samplesPerPixel: 8, bits: 16 }, { width: 8192, height: 4096 }),
      'LIMIT_EXCEEDED',
    ],
    [
      'states blocks of 2^31 − 1 rows',
      image({ blockRows: 2 ** 31 - 1, packing: 'deflate' }),
      'LIMIT_EXCEEDED',
    ],
  ])('throws $2 for a tile that %s', async (_, damagedTile, code) => {
    await expect(decodeImage(damagedTile)).rejects.toMatchObject({ name: 'SlideError', code });
  });
});
