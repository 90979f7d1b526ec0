import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Raster } from '../decode/raster.ts';
import { difference, pixelsOf } from '../testing/compare-pixels.ts';
import { encodePicture, type PictureColour } from '../testing/encode-picture.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { tag } from '../tiff/tags.ts';
import { completeJpeg, type JpegColour, type JpegPrefix, jpegPrefix, tileOffset } from './complete-jpeg.ts';
import { segments } from './header.ts';

const picture = paintTissue(64, 64);
/** The same image in grey: all samples of a pixel have the value of its green sample. */
const grey: Raster = { ...picture, rgb: picture.rgb.map((_, i, rgb) => rgb[i - (i % 3) + 1] as number) };

function complete(tile: Uint8Array, prefix: JpegPrefix): Uint8Array {
  const offset = tileOffset(prefix);
  const buffer = new Uint8Array(offset + tile.length);
  buffer.set(tile, offset);
  return completeJpeg(buffer, prefix).jpeg;
}

/** Encodes an image of 64 × 64 pixels as TIFF stores it: a tile, and the JPEG tables of its level. */
async function encodeTile(
  colour: PictureColour,
  original = picture,
): Promise<{ tile: Uint8Array; tables: Uint8Array }> {
  const { tags, tiles } = await encodePicture(original, 64, colour);
  return { tile: tiles?.[0] as Uint8Array, tables: Uint8Array.from(tags[tag.JPEGTables]?.numbers ?? []) };
}

const markers = (jpeg: Uint8Array) => [...segments(jpeg, 2)].map(({ marker }) => marker.toString(16));

describe('completeJpeg (adds JPEG tables and a colour declaration to a tile without decoding it)', () => {
  it.each<[PictureColour, JpegColour]>([
    ['rgb', 'rgb'],
    ['ycbcr', 'ycbcr'],
    ['grey', 'grey'],
  ])('returns a JPEG with the original colours for a tile of %s samples', async (tileColour, colour) => {
    const original = tileColour === 'grey' ? grey : picture;
    const { tile, tables } = await encodeTile(tileColour, original);
    const pixels = await pixelsOf(complete(tile, jpegPrefix(tables, colour)));
    expect(difference(pixels, original).mean).toBeLessThan(5);
  });

  it('returns every byte of the tile after its start-of-image marker unchanged', async () => {
    const { tile, tables } = await encodeTile('rgb');
    const jpeg = Buffer.from(complete(tile, jpegPrefix(tables, 'rgb')));
    expect(jpeg.subarray(-(tile.length - 2))).toEqual(Buffer.from(tile.subarray(2)));
  });

  it('adds an Adobe marker that declares RGB or YCbCr samples, but no Adobe marker for grey samples', async () => {
    const { tile, tables } = await encodeTile('rgb');
    const jpeg = complete(tile, jpegPrefix(tables, 'rgb'));
    expect([...jpeg.subarray(2, 18)]).toEqual([
      ...[0xff, 0xee, 0, 14],
      ...Buffer.from('Adobe'),
      ...[0, 100, 0, 0, 0, 0, 0],
    ]);
    // The last byte of the Adobe marker states the transform: 0 for none (RGB), 1 for YCbCr.
    expect(complete(tile, jpegPrefix(tables, 'ycbcr'))[17]).toBe(1);
    expect(markers(complete((await encodeTile('grey')).tile, jpegPrefix(null, 'grey')))).not.toContain('ee');
  });

  describe('for a tile with a JFIF marker', () => {
    let jfif: Buffer;
    beforeAll(async () => {
      const { rgb, width, height } = picture;
      const jpeg = await sharp(rgb, { raw: { width, height, channels: 3 } })
        .jpeg()
        .toBuffer();
      const marker = [0xff, 0xe0, 0, 16, ...Buffer.from('JFIF\0'), 1, 2, 0, 0, 1, 0, 1, 0, 0];
      jfif = Buffer.concat([jpeg.subarray(0, 2), Buffer.from(marker), jpeg.subarray(2)]);
    });

    it('returns the tile unchanged, without an Adobe marker, even if the TIFF directory declares RGB', async () => {
      const jpeg = complete(jfif, jpegPrefix(null, 'rgb'));
      expect(Buffer.from(jpeg)).toEqual(jfif);
    });

    it('adds the JPEG tables but no Adobe marker when the TIFF directory contains JPEG tables', async () => {
      const { tables } = await encodeTile('ycbcr');
      const jpeg = complete(jfif, jpegPrefix(tables, 'rgb'));
      expect(markers(jpeg)).not.toContain('ee');
      expect(difference(await pixelsOf(jpeg), await pixelsOf(jfif)).max).toBe(0);
    });
  });

  it('rejects with FILE_CORRUPT a tile that does not start with the start-of-image marker (SOI)', async () => {
    const { tile, tables } = await encodeTile('rgb');
    expect(() => complete(tile.subarray(2), jpegPrefix(tables, 'rgb'))).toThrow(
      expect.objectContaining({ code: 'FILE_CORRUPT' }),
    );
  });
});

describe('jpegPrefix (reads the JPEGTables field of a TIFF)', () => {
  it.each<[string, (tables: Uint8Array) => Uint8Array]>([
    ['without SOI (start of image)', (tables) => tables.subarray(2)],
    ['without EOI (end of image)', (tables) => tables.subarray(0, -2)],
    ['with a truncated table', (tables) => tables.subarray(0, 40)],
    ['without any bytes', () => new Uint8Array()],
  ])('rejects with FILE_CORRUPT JPEG tables %s', async (_, damage) => {
    const { tables } = await encodeTile('rgb');
    expect(() => jpegPrefix(damage(tables), 'rgb')).toThrow(
      expect.objectContaining({ code: 'FILE_CORRUPT' }),
    );
  });

  it('rejects with FILE_CORRUPT JPEG tables that contain an image', async () => {
    const jpeg = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer();
    expect(() => jpegPrefix(jpeg, 'rgb')).toThrow(expect.objectContaining({ code: 'FILE_CORRUPT' }));
  });
});
