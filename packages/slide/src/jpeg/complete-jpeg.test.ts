import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Raster } from '../decode/raster.ts';
import { difference, pixelsOf } from '../testing/compare-pixels.ts';
import { encodePicture, type PictureColour } from '../testing/encode-picture.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { tag } from '../tiff/tags.ts';
import { completeJpeg, type JpegColour, type JpegPrefix, jpegPrefix, streamPlace } from './complete-jpeg.ts';
import { segments } from './header.ts';

const picture = paintTissue(64, 64);
/** The same without colour: every pixel as bright as its green. */
const grey: Raster = { ...picture, rgb: picture.rgb.map((_, i, rgb) => rgb[i - (i % 3) + 1] as number) };

function complete(stream: Uint8Array, prefix: JpegPrefix): Uint8Array {
  const at = streamPlace(prefix);
  const buffer = new Uint8Array(at + stream.length);
  buffer.set(stream, at);
  return completeJpeg(buffer, prefix).jpeg;
}

/** A tile and the tables of its level, as TIFF stores them. */
async function stored(
  colour: PictureColour,
  shown = picture,
): Promise<{ tile: Uint8Array; tables: Uint8Array }> {
  const { tags, tiles } = await encodePicture(shown, 64, colour);
  return { tile: tiles?.[0] as Uint8Array, tables: Uint8Array.from(tags[tag.JPEGTables]?.numbers ?? []) };
}

const markers = (jpeg: Uint8Array) => [...segments(jpeg, 2)].map(({ marker }) => marker.toString(16));

describe('a stored tile made complete', () => {
  it.each<[PictureColour, JpegColour]>([
    ['rgb', 'rgb'],
    ['ycbcr', 'ycbcr'],
    ['grey', 'grey'],
  ])('shows the picture in its own colours: %s', async (written, colour) => {
    const shown = written === 'grey' ? grey : picture;
    const { tile, tables } = await stored(written, shown);
    const pixels = await pixelsOf(complete(tile, jpegPrefix(tables, colour)));
    expect(difference(pixels, shown).mean).toBeLessThan(5);
  });

  it('keeps every byte of the scan', async () => {
    const { tile, tables } = await stored('rgb');
    const jpeg = Buffer.from(complete(tile, jpegPrefix(tables, 'rgb')));
    expect(jpeg.subarray(-(tile.length - 2))).toEqual(Buffer.from(tile.subarray(2)));
  });

  it('says what its samples are, so that no viewer has to guess', async () => {
    const { tile, tables } = await stored('rgb');
    const jpeg = complete(tile, jpegPrefix(tables, 'rgb'));
    expect([...jpeg.subarray(2, 18)]).toEqual([
      ...[0xff, 0xee, 0, 14],
      ...Buffer.from('Adobe'),
      ...[0, 100, 0, 0, 0, 0, 0],
    ]);
    expect(complete(tile, jpegPrefix(tables, 'ycbcr'))[17]).toBe(1);
    expect(markers(complete((await stored('grey')).tile, jpegPrefix(null, 'grey')))).not.toContain('ee');
  });

  describe('that speaks for its own colours', () => {
    let jfif: Buffer;
    beforeAll(async () => {
      const { rgb, width, height } = picture;
      const jpeg = await sharp(rgb, { raw: { width, height, channels: 3 } })
        .jpeg()
        .toBuffer();
      const marker = [0xff, 0xe0, 0, 16, ...Buffer.from('JFIF\0'), 1, 2, 0, 0, 1, 0, 1, 0, 0];
      jfif = Buffer.concat([jpeg.subarray(0, 2), Buffer.from(marker), jpeg.subarray(2)]);
    });

    it('is believed before the directory: no Adobe marker contradicts it', async () => {
      const jpeg = complete(jfif, jpegPrefix(null, 'rgb'));
      expect(Buffer.from(jpeg)).toEqual(jfif);
    });

    it('still gets the tables of its level', async () => {
      const { tables } = await stored('ycbcr');
      const jpeg = complete(jfif, jpegPrefix(tables, 'rgb'));
      expect(markers(jpeg)).not.toContain('ee');
      expect(difference(await pixelsOf(jpeg), await pixelsOf(jfif)).most).toBe(0);
    });
  });

  it('is refused when it does not begin as a JPEG', async () => {
    const { tile, tables } = await stored('rgb');
    expect(() => complete(tile.subarray(2), jpegPrefix(tables, 'rgb'))).toThrow(
      expect.objectContaining({ code: 'FILE_CORRUPT' }),
    );
  });
});

describe('the tables of a level', () => {
  it.each<[string, (tables: Uint8Array) => Uint8Array]>([
    ['no start', (tables) => tables.subarray(2)],
    ['no end', (tables) => tables.subarray(0, -2)],
    ['a cut table', (tables) => tables.subarray(0, 40)],
    ['nothing at all', () => new Uint8Array()],
  ])('are refused with %s', async (_, damage) => {
    const { tables } = await stored('rgb');
    expect(() => jpegPrefix(damage(tables), 'rgb')).toThrow(
      expect.objectContaining({ code: 'FILE_CORRUPT' }),
    );
  });

  it('are refused when they are a whole picture', async () => {
    const jpeg = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer();
    expect(() => jpegPrefix(jpeg, 'rgb')).toThrow(expect.objectContaining({ code: 'FILE_CORRUPT' }));
  });
});
