import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { marker, readJpegHeader, segments } from '../jpeg/header.ts';
import { difference, pixelsOf } from '../testing/compare-pixels.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import type { Raster } from './raster.ts';
import { loadTurboJpeg, type TurboJpeg } from './turbo-jpeg.ts';

const picture = paintTissue(150, 90);
const encoder = () => sharp(picture.rgb, { raw: { width: 150, height: 90, channels: 3 } });
const library = await loadTurboJpeg();
const skippedWithout = library ? '' : ' (skipped without libjpeg-turbo)';

describe.skipIf(!library)(
  `libjpeg-turbo (decodes and encodes JPEG faster than sharp)${skippedWithout}`,
  () => {
    const turbo = library as TurboJpeg;
    function decode(jpeg: Uint8Array): Raster | null {
      const rgb = new Uint8Array(picture.rgb.length);
      return turbo.decode(jpeg, 150, 90, rgb) ? { ...picture, rgb } : null;
    }

    it.each([
      ['full chroma resolution', { chromaSubsampling: '4:4:4' }],
      ['subsampled chroma', { chromaSubsampling: '4:2:0' }],
      ['low quality', { quality: 20 }],
    ])('decodes a JPEG with %s to the same pixels as sharp', async (_, options) => {
      const jpeg = await encoder().jpeg(options).toBuffer();
      expect(difference(decode(jpeg) as Raster, await pixelsOf(jpeg)).max).toBe(0);
    });

    it('decodes a stream of RGB components, declared by an Adobe marker, without a colour transform', async () => {
      const jpeg = await encoder().jpeg({ chromaSubsampling: '4:4:4' }).toBuffer();
      // An Adobe marker with transform 0.
      const adobe = Uint8Array.of(0xff, 0xee, 0, 14, 0x41, 0x64, 0x6f, 0x62, 0x65, 0, 100, 0, 0, 0, 0, 0);
      const rgb = Buffer.concat([jpeg.subarray(0, 2), adobe, jpeg.subarray(2)]);
      const decoded = decode(rgb) as Raster;
      expect(difference(decoded, await pixelsOf(rgb)).max).toBe(0);
      expect(difference(decoded, await pixelsOf(jpeg)).mean).toBeGreaterThan(20);
    });

    it.each<[string, () => Promise<Uint8Array>]>([
      ['is progressive', () => encoder().jpeg({ progressive: true }).toBuffer()],
      ['is grey', () => encoder().toColourspace('b-w').jpeg().toBuffer()],
      ['has another size than requested', () => encoder().resize(90, 150, { fit: 'fill' }).jpeg().toBuffer()],
      ['contains a colour profile', () => encoder().jpeg().withIccProfile('p3').toBuffer()],
      ['is a PNG', () => encoder().png().toBuffer()],
      [
        'is truncated',
        async () => {
          const jpeg = await encoder().jpeg().toBuffer();
          return jpeg.subarray(0, readJpegHeader(jpeg).dataAt + 300);
        },
      ],
      [
        'has no quantisation tables, although the stream before it had them',
        async () => {
          const jpeg = await encoder().jpeg().toBuffer();
          expect(decode(jpeg)).not.toBeNull();
          const tables = [...segments(jpeg, 2)].filter((segment) => segment.marker === marker.DQT);
          return Buffer.concat([jpeg.subarray(0, tables[0]?.at), jpeg.subarray(tables.at(-1)?.end)]);
        },
      ],
    ])('decode returns false, so that sharp decodes instead, for a stream that %s', async (_, encode) => {
      expect(decode(await encode())).toBeNull();
    });

    it('encodes a JPEG within 2 % of the size that sharp writes, with pixels close to the original', async () => {
      const jpeg = turbo.encode(picture, 97) as Uint8Array;
      const sharpJpeg = await encoder()
        .jpeg({ quality: 97, chromaSubsampling: '4:4:4', optimiseCoding: false })
        .toBuffer();
      expect(Math.abs(jpeg.length / sharpJpeg.length - 1)).toBeLessThan(0.02);
      expect(difference(await pixelsOf(jpeg), picture).mean).toBeLessThan(1.2);
      expect(readJpegHeader(jpeg)).toMatchObject({ frameMarker: 0xc0, declaresColour: true });
    });

    it('encodes, after a large image, a small image with pixels close to the original', async () => {
      const large = paintTissue(600, 500);
      const [first, second] = [turbo.encode(large, 97), turbo.encode(picture, 97)] as [
        Uint8Array,
        Uint8Array,
      ];
      expect(await pixelsOf(first)).toMatchObject({ width: 600, height: 500 });
      expect(difference(await pixelsOf(second), picture).mean).toBeLessThan(1.2);
    });
  },
);
