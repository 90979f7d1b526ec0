import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeJpeg2000, encodeSubsampledJpeg2000 } from '../testing/encode-frames.ts';
import { paintPlain, paintTissue } from '../testing/paint-tissue.ts';
import { decodeJpeg2000 } from './jpeg2000.ts';
import { isJpeg2000, readJpeg2000Header } from './jpeg2000-header.ts';
import { shrinkRaster } from './raster.ts';
import { samplesToRgb } from './samples-to-rgb.ts';

const slides = process.env.TEST_SLIDES;
const declared = { colour: 'as-declared' } as const;

/** A lossless image of 16 × 16 pixels with the samples 50,320, 36,992 and 29,712, encoded by libvips. */
const colours16Bit = Buffer.from(
  'AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAAEAAAABAAAw8HAAAAAAAPY29scgEAAAAA' +
    'ABAAAAEbanAyY/9P/1EALwAAAAAAEAAAABAAAAAAAAAAAAAAABAAAAAQAAAAAAAAAAAAAw8BAQ8BAQ8BAf9SAAwAAAABAQAEBAAB' +
    '/1wABECA/2QAJQABQ3JlYXRlZCBieSBPcGVuSlBFRyB2ZXJzaW9uIDIuNS4w/5AACgAAAAAAowAB/5PD/wAagBQAXK/0nSMkAAAA' +
    'AAGEhL/hlsAAAAAMJCX/Bp2AAAAAMJCX7WIgAABhIS/bTIAAAMJCX/9/w/8AEwARUFSv3xyyvAAAAABhIS/8KEwAAAAADCQl/0Jy' +
    'gAAAAADCQl//f8f+DFgUAFyv30eytwAAAABhIS/axEAAAMJCX/w6RAAAAAAAYSEv2jwAAADCQl//f//Z',
  'base64',
);

async function encodeTissue(width: number, height: number, halvings = 3): Promise<Uint8Array> {
  const { rgb } = paintTissue(width, height);
  return encodeJpeg2000({ width, height, samplesPerPixel: 3, values: rgb }, halvings);
}

async function encodePlain(colour: readonly [number, number, number]): Promise<Uint8Array> {
  return encodeJpeg2000({
    width: 64,
    height: 64,
    samplesPerPixel: 3,
    values: paintPlain(64, 64, colour).rgb,
  });
}

/**
 * Removes the declaration of the colour transform, so that a stream decodes to the transformed samples
 * (R + 2 G + B) / 4, B − G + 128 and R − G + 128. Source: ITU-T T.800, annex G.2.
 */
function removeTransformDeclaration(stream: Uint8Array): Uint8Array {
  return patch(stream, (view) => view.setUint8(codingAt(stream) + 8, 0));
}

/**
 * Wraps a code stream in the boxes of a .jp2 file.
 *
 * @param colourSpace 16 is sRGB, 18 is YCbCr
 * @param moreBoxes further boxes of the header
 */
function wrapInBoxes(codeStream: Uint8Array, colourSpace = 16, moreBoxes: Uint8Array[] = []): Uint8Array {
  const box = (type: string, ...parts: Uint8Array[]) => {
    const contents = Buffer.concat(parts);
    const head = Buffer.alloc(8);
    head.writeUInt32BE(contents.length + 8);
    head.write(type, 4, 'latin1');
    return Buffer.concat([head, contents]);
  };
  const colr = Buffer.from([1, 0, 0, 0, 0, 0, colourSpace]);
  return Buffer.concat([
    box('jP  ', Buffer.from([0x0d, 0x0a, 0x87, 0x0a])),
    box('ftyp', Buffer.from('jp2 \0\0\0\0jp2 ', 'latin1')),
    box('jp2h', box('colr', colr), ...moreBoxes),
    box('jp2c', codeStream),
  ]);
}

/** Positions of fields of the SIZ segment in a code stream. Depth and steps: of the first component, three bytes each. */
const siz = {
  width: 8,
  height: 12,
  left: 16,
  tileWidth: 24,
  tileHeight: 28,
  components: 40,
  depth: 42,
  stepX: 43,
  secondStepX: 46,
};

/** Returns a changed copy of a code stream; numbers are big-endian. */
function patch(stream: Uint8Array, change: (view: DataView) => void): Uint8Array {
  const copy = Uint8Array.from(stream);
  change(new DataView(copy.buffer));
  return copy;
}

describe('the JPEG 2000 decoder (decodeJpeg2000)', () => {
  it('returns the original pixels of a lossless image', async () => {
    const tissue = paintTissue(96, 64);
    const raster = await decodeJpeg2000(await encodeTissue(96, 64), { ...declared, width: 96, height: 64 });
    expect(raster).toMatchObject({ width: 96, height: 64 });
    expect(Buffer.compare(raster.rgb, tissue.rgb)).toBe(0);
  });

  it.each([2, 4, 8])(
    'returns pixels close to the mean of the source pixels when it reduces an image by the factor %i',
    async (shrink) => {
      const [width, height] = [96, 64];
      const mean = shrinkRaster(paintTissue(width, height), shrink);
      const raster = await decodeJpeg2000(await encodeTissue(width, height), {
        ...declared,
        width,
        height,
        shrink,
      });
      expect(raster).toMatchObject({ width: width / shrink, height: height / shrink });
      const sum = raster.rgb.reduce(
        (total, value, i) => total + Math.abs(value - (mean.rgb[i] as number)),
        0,
      );
      expect(sum / raster.rgb.length).toBeLessThan(4);
    },
  );

  it('returns 8 × 8 pixels for 64 × 64 pixels reduced by 8, although the smallest stored resolution is 32 × 32', async () => {
    const [width, height] = [64, 64];
    const raster = await decodeJpeg2000(await encodeTissue(width, height, 1), {
      ...declared,
      width,
      height,
      shrink: 8,
    });
    expect(raster).toMatchObject({ width: 8, height: 8 });
  });

  it('maps 16-bit grey samples between the requested black and white values to 0…255, and clamps samples outside', async () => {
    const values = Uint16Array.from({ length: 64 * 64 }, (_, i) => i * 8);
    const stream = await encodeJpeg2000({ width: 64, height: 64, samplesPerPixel: 1, values });
    const colour = { black: 8000, white: 24_000 };
    const { rgb } = await decodeJpeg2000(stream, { width: 64, height: 64, colour });
    expect([...rgb.subarray(0, 3)]).toEqual([0, 0, 0]);
    expect([...rgb.subarray(2000 * 3, 2000 * 3 + 3)]).toEqual([128, 128, 128]);
    expect([...rgb.subarray(-3)]).toEqual([255, 255, 255]);
  });

  it('returns the high byte of each sample of a 16-bit colour image', async () => {
    const { rgb } = await decodeJpeg2000(colours16Bit, { width: 16, height: 16, ...declared });
    expect(rgb).toEqual(paintPlain(16, 16, [196, 144, 116]).rgb);
  });

  it('converts samples to RGB when the caller, but not the image, declares YCbCr', async () => {
    const stream = removeTransformDeclaration(await encodePlain([196, 144, 116]));
    const request = { width: 64, height: 64 };
    const asStored = await decodeJpeg2000(stream, { ...request, ...declared });
    expect([...asStored.rgb.subarray(0, 3)]).toEqual([150, 100, 180]);
    const converted = await decodeJpeg2000(stream, { ...request, colour: 'ycc' });
    expect([...converted.rgb.subarray(0, 3)]).toEqual([223, 123, 100]);
  });

  it.each<[string, [2, 1 | 2]]>([
    ['width', [2, 1]],
    ['width and height', [2, 2]],
  ])('gives neighbouring pixels the same chroma when chroma is subsampled in %s', async (_, steps) => {
    const [width, height] = [75, 61];
    const values = paintTissue(width, height).rgb;
    const stream = await encodeSubsampledJpeg2000({ width, height, samplesPerPixel: 3, values }, steps);
    const { rgb } = await decodeJpeg2000(stream, { ...declared, width, height });
    const ycc = values.map((sample, i) => {
      const [pixel, component] = [Math.floor(i / 3), i % 3];
      const [x, y] = [pixel % width, Math.floor(pixel / width)];
      const chromaPixel = (y - (y % steps[1])) * width + x - (x % steps[0]);
      return component === 0 ? sample : (values[chromaPixel * 3 + component] as number);
    });
    const samples = { width, height, samplesPerPixel: 3, values: ycc, isPlanar: false, maximum: 255 };
    expect(Buffer.compare(rgb, samplesToRgb(samples, 'ycc').rgb)).toBe(0);
  });

  it('ignores that the caller declares YCbCr when the code stream declares its own colour transform', async () => {
    const stream = await encodePlain([196, 144, 116]);
    const { rgb } = await decodeJpeg2000(stream, { width: 64, height: 64, colour: 'ycc' });
    expect([...rgb.subarray(0, 3)]).toEqual([196, 144, 116]);
  });

  it('converts the samples of a .jp2 file to RGB when a box of the file declares YCbCr', async () => {
    const stream = removeTransformDeclaration(await encodePlain([196, 144, 116]));
    const request = { ...declared, width: 64, height: 64 };
    expect(await decodeJpeg2000(wrapInBoxes(stream), request)).toEqual(await decodeJpeg2000(stream, request));
    const ycc = await decodeJpeg2000(wrapInBoxes(stream, 18), request);
    expect(ycc).toEqual(await decodeJpeg2000(stream, { ...request, colour: 'ycc' }));
  });

  it('recognises a code stream and a .jp2 file, but not zero bytes (isJpeg2000)', async () => {
    const stream = await encodeTissue(40, 30);
    expect([isJpeg2000(stream), isJpeg2000(wrapInBoxes(stream)), isJpeg2000(new Uint8Array(40))]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('reads width, height, components, bits and number of halved resolutions from a header (readJpeg2000Header)', async () => {
    expect(readJpeg2000Header(await encodeTissue(96, 64, 4))).toMatchObject({
      width: 96,
      height: 64,
      components: 3,
      bits: 8,
      isSubsampled: false,
      halvings: 4,
    });
  });

  const truncate = (share: number) => (stream: Uint8Array) => stream.subarray(0, stream.length * share);
  it.each<[string, (stream: Uint8Array) => Uint8Array, string]>([
    ['no bytes', () => new Uint8Array(), 'FILE_CORRUPT'],
    ['bytes of another format', () => Uint8Array.from({ length: 64 }, (_, i) => i), 'FILE_CORRUPT'],
    ['only the first 30 bytes, part of its header', (stream) => stream.subarray(0, 30), 'FILE_CORRUPT'],
    ['only the first half of its bytes', truncate(0.5), 'FILE_CORRUPT'],
    ['only the first 98 % of its bytes', truncate(0.98), 'FILE_CORRUPT'],
    [
      'another size than the caller requests',
      (stream) => patch(stream, (view) => view.setUint32(siz.width, 80)),
      'FILE_CORRUPT',
    ],
    ['a width of 0', (stream) => patch(stream, (view) => view.setUint32(siz.width, 0)), 'FILE_CORRUPT'],
    [
      'an origin other than 0, 0',
      (stream) => patch(stream, (view) => view.setUint32(siz.left, 1)),
      'FORMAT_NOT_SUPPORTED',
    ],
    ['4,096 tiles', (stream) => patch(stream, declareTiles), 'LIMIT_EXCEEDED'],
    [
      'five components',
      (stream) => patch(stream, (view) => view.setUint16(siz.components, 5)),
      'FORMAT_NOT_SUPPORTED',
    ],
    ['no components', (stream) => patch(stream, (view) => view.setUint16(siz.components, 0)), 'FILE_CORRUPT'],
    [
      'signed samples',
      (stream) => patch(stream, (view) => view.setUint8(siz.depth, 0x87)),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'colours of 17 bits',
      (stream) => patch(stream, (view) => view.setUint8(siz.depth, 16)),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'one subsampled component',
      (stream) => patch(stream, (view) => view.setUint8(siz.secondStepX, 2)),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'three subsampled components',
      (stream) => patch(stream, (view) => view.setUint8(siz.stepX, 2)),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'a palette',
      (stream) => wrapInBoxes(stream, 16, [Buffer.from([0, 0, 0, 8, 0x70, 0x63, 0x6c, 0x72])]),
      'FORMAT_NOT_SUPPORTED',
    ],
    ['boxes without a code stream', (stream) => wrapInBoxes(stream).subarray(0, 60), 'FILE_CORRUPT'],
    ['a box longer than the file', (stream) => wrapInBoxes(stream, 16, [Buffer.alloc(8, 1)]), 'FILE_CORRUPT'],
    [
      'more decomposition levels than the standard allows',
      (stream) => patch(stream, (view) => view.setUint8(codingAt(stream) + 9, 40)),
      'FILE_CORRUPT',
    ],
    ['precincts of one pixel', (stream) => withPrecincts(stream, 0), 'LIMIT_EXCEEDED'],
  ])('throws $2 for an image that has %s', async (_, damage, code) => {
    const stream = damage(await encodeTissue(512, 512));
    const request = { ...declared, width: 512, height: 512 };
    await expect(decodeJpeg2000(stream, request)).rejects.toMatchObject({ code });
  });

  it('throws LIMIT_EXCEEDED for an image that states 8000 × 8000 pixels (limit: 2^23 pixels)', async () => {
    const stream = patch(await encodeTissue(64, 64), (view) => {
      for (const at of [siz.width, siz.tileWidth]) view.setUint32(at, 8000);
      for (const at of [siz.height, siz.tileHeight]) view.setUint32(at, 8000);
    });
    const request = { ...declared, width: 8000, height: 8000 };
    await expect(decodeJpeg2000(stream, request)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });

  it('returns the correct pixels of an image after it has failed to decode another image', async () => {
    const good = await encodeTissue(64, 64);
    const request = { ...declared, width: 64, height: 64 };
    const before = await decodeJpeg2000(good, request);
    await expect(decodeJpeg2000(good.subarray(0, good.length / 2), request)).rejects.toThrow();
    expect(await decodeJpeg2000(good, request)).toEqual(before);
  });

  describe.skipIf(slides === undefined)('with real slides (skipped without TEST_SLIDES)', () => {
    it('returns near-white RGB for the background of an Aperio tile with subsampled chroma', async () => {
      const file = readFileSync(join(slides ?? '', 'aperio/1065626.svs'));
      const at = file.indexOf(Buffer.from([0xff, 0x4f, 0xff, 0x51]));
      const end = file.indexOf(Buffer.from([0xff, 0xd9]), at) + 2;
      const request = { width: 512, height: 512, colour: 'ycc' } as const;
      const whole = await decodeJpeg2000(file.subarray(at, end), request);
      // The background beside the tissue is nearly white; as YCbCr its second and third samples would be 128.
      expect([...whole.rgb.subarray(0, 3)].every((sample) => sample > 230)).toBe(true);
      const half = await decodeJpeg2000(file.subarray(at, end), { ...request, shrink: 4 });
      expect(half).toMatchObject({ width: 128, height: 128 });
    });

    it('returns 185 × 261 RGB pixels for the .jp2 file cells-1.jp2', async () => {
      const file = readFileSync(join(slides ?? '', 'plain-images/cells-1.jp2'));
      const raster = await decodeJpeg2000(file, { ...declared, width: 185, height: 261 });
      expect(raster.rgb).toHaveLength(185 * 261 * 3);
    });
  });
});

/** Declares tiles of 8 × 8 pixels. */
function declareTiles(view: DataView): void {
  view.setUint32(siz.tileWidth, 8);
  view.setUint32(siz.tileHeight, 8);
}

/** Position of the COD marker. */
function codingAt(stream: Uint8Array): number {
  return Buffer.from(stream).indexOf(Buffer.from([0xff, 0x52]));
}

/** Returns a copy of the stream that declares precincts of 2^exponent × 2^exponent pixels. */
function withPrecincts(stream: Uint8Array, exponent: number): Uint8Array {
  const at = codingAt(stream);
  const halvings = stream[at + 9] as number;
  // One byte for each resolution: the exponents of width and height, four bits each.
  const sizes = new Uint8Array(halvings + 1).fill((exponent << 4) | exponent);
  const copy = Buffer.concat([stream.subarray(0, at + 14), sizes, stream.subarray(at + 14)]);
  copy.writeUInt16BE(12 + sizes.length, at + 2);
  copy[at + 4] = 1;
  return copy;
}
