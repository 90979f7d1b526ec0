import { describe, expect, it } from 'vitest';
import { cropRaster, type Raster } from '../decode/raster.ts';
import { pixelsOf } from '../testing/compare-pixels.ts';
import { encodeIntervals, type IntervalCoding } from '../testing/encode-intervals.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { readJpegHeader } from './header.ts';
import { padJpeg } from './pad-jpeg.ts';

/** A picture of 128 × 80 pixels as a JPEG. */
const encode = async (coding: IntervalCoding) => (await encodeIntervals(paintTissue(128, 80), coding)).bytes;

/** Returns the part of an image that a rectangle covers. */
const partOf = (raster: Raster, x: number, y: number, width: number, height: number) =>
  Buffer.from(cropRaster(raster, x, y, width, height).rgb);

describe('padJpeg (a larger JPEG from copies of restart intervals)', () => {
  it.each<[string, IntervalCoding, number, number]>([
    ['at the bottom, from intervals of half a row', { width: 64, height: 8 }, 128, 208],
    ['on the right and at the bottom, from intervals of half a row', { width: 64, height: 8 }, 256, 256],
    ['at the bottom, from intervals of a whole row', { width: 128, height: 8 }, 128, 160],
    ['at the bottom, from intervals of two rows', { width: 128, height: 16 }, 128, 160],
    ['with subsampled chroma', { width: 64, height: 16, colour: 'half' }, 192, 160],
    ['in grey', { width: 64, height: 8, colour: 'grey' }, 192, 160],
  ])('pads %s, and keeps all pixels of the JPEG', async (_, coding, width, height) => {
    const jpeg = await encode(coding);
    const padded = padJpeg(jpeg, width, height);
    const [before, after] = [await pixelsOf(jpeg), await pixelsOf(padded ?? new Uint8Array())];
    expect(after).toMatchObject({ width, height });
    // Chroma of half resolution is interpolated, so the last pixel before the padding may depend on the padding.
    const margin = coding.colour === 'half' ? 1 : 0;
    const [w, h] = [128 - margin, 80 - margin];
    expect(partOf(after, 0, 0, w, h).equals(partOf(before, 0, 0, w, h))).toBe(true);
  });

  it('repeats the last row of intervals at the bottom, and the last interval of each row on the right', async () => {
    const padded = padJpeg(await encode({ width: 64, height: 8 }), 192, 96);
    const pixels = await pixelsOf(padded ?? new Uint8Array());
    expect(partOf(pixels, 0, 88, 192, 8).equals(partOf(pixels, 0, 72, 192, 8))).toBe(true);
    expect(partOf(pixels, 128, 0, 64, 96).equals(partOf(pixels, 64, 0, 64, 96))).toBe(true);
  });

  it('returns a JPEG of the same data when its last interval contains the missing rows already', async () => {
    const { bytes } = await encodeIntervals(paintTissue(128, 76), { width: 128, height: 8 });
    const padded = padJpeg(bytes, 128, 80) ?? new Uint8Array();
    expect(readJpegHeader(padded).height).toBe(80);
    expect(padded.length).toBe(bytes.length);
  });

  it.each<[string, IntervalCoding, number, number]>([
    ['intervals of a whole row cannot fill a wider row', { width: 128, height: 8 }, 192, 80],
    ['the larger width is not a whole number of intervals', { width: 64, height: 8 }, 160, 80],
    ['the last interval has fewer rows than the others', { width: 128, height: 32 }, 128, 128],
  ])('returns null when %s', async (_, coding, width, height) => {
    expect(padJpeg(await encode(coding), width, height)).toBeNull();
  });

  it('throws FILE_CORRUPT for a JPEG that ends before its last interval', async () => {
    const jpeg = await encode({ width: 64, height: 8 });
    const shorter = Buffer.concat([jpeg.subarray(0, jpeg.length >> 1), Uint8Array.of(0xff, 0xd9)]);
    expect(() => padJpeg(shorter, 128, 160)).toThrow(expect.objectContaining({ code: 'FILE_CORRUPT' }));
    expect(() => padJpeg(jpeg.subarray(0, -2), 128, 160)).toThrow('it has no end marker');
  });
});
