import { describe, expect, it } from 'vitest';
import type { EncodedImage, SampleColour, SampleLayout } from '../model/slide.ts';
import { encodeDicomRle, planesOf } from '../testing/encode-frames.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { decodeSamples } from './decode-samples.ts';

const size = { width: 20, height: 12 };
const tissue = paintTissue(size.width, size.height);
const colourSamples = { ...size, samplesPerPixel: 3, values: tissue.rgb };
const rgbLayout: SampleLayout = { samplesPerPixel: 3, bits: 8, isPlanar: false };
const grey16: SampleLayout = { samplesPerPixel: 1, bits: 16, isPlanar: false };
/** 240 grey samples that grow by 270. */
const ramp = Uint16Array.from({ length: 240 }, (_, i) => i * 270);
/** The samples of `ramp`, little-endian. */
const rampBytes = Buffer.alloc(480);
ramp.forEach((value, i) => {
  rampBytes.writeUInt16LE(value, i * 2);
});

function image(
  codec: 'samples' | 'rle',
  bytes: Uint8Array,
  layout: SampleLayout,
  colour: SampleColour = 'rgb',
): EncodedImage {
  return { codec, bytes, ...size, layout, colour };
}

describe('decodeSamples (converts DICOM samples to RGB) of uncompressed samples', () => {
  it('returns interleaved RGB samples unchanged', () => {
    expect(decodeSamples(image('samples', tissue.rgb, rgbLayout)).rgb).toEqual(tissue.rgb);
  });

  it('interleaves RGB samples that are stored in planes', () => {
    const planes = planesOf(colourSamples) as Uint8Array;
    const raster = decodeSamples(image('samples', planes, { ...rgbLayout, isPlanar: true }));
    expect(raster.rgb).toEqual(tissue.rgb);
  });

  it('converts YCbCr samples to RGB', () => {
    const ycc = Uint8Array.from({ length: 720 }, (_, i) => [150, 100, 180][i % 3] as number);
    expect([...decodeSamples(image('samples', ycc, rgbLayout, 'ycc')).rgb.subarray(0, 3)]).toEqual([
      223, 123, 100,
    ]);
  });

  it('maps 16-bit samples between the given black and white values to 0…255, and clamps samples outside', () => {
    const { rgb } = decodeSamples(image('samples', rampBytes, grey16, { black: 2700, white: 29_700 }));
    expect([rgb[0], rgb[60 * 3], rgb[110 * 3], rgb.at(-1)]).toEqual([0, 128, 255, 255]); // sample 60: 16,200
  });

  it('returns black up to the black value and white above it when the given black and white values are equal', () => {
    const { rgb } = decodeSamples(image('samples', rampBytes, grey16, { black: 2700, white: 2700 }));
    expect([rgb[10 * 3], rgb[11 * 3]]).toEqual([0, 255]);
  });

  it('throws FILE_CORRUPT for an image with one sample too few', () => {
    expect(() => decodeSamples(image('samples', tissue.rgb.subarray(1), rgbLayout))).toThrow(
      expect.objectContaining({ code: 'FILE_CORRUPT' }),
    );
  });
});

describe('decodeSamples (converts DICOM samples to RGB) of run-length encoded samples', () => {
  it('returns the original RGB pixels', () => {
    expect(decodeSamples(image('rle', encodeDicomRle(colourSamples), rgbLayout)).rgb).toEqual(tissue.rgb);
  });

  it('joins 16-bit samples from a segment of high bytes and a segment of low bytes', () => {
    const bytes = encodeDicomRle({ ...size, samplesPerPixel: 1, values: ramp });
    const range = { black: 0, white: 65_535 };
    expect(decodeSamples(image('rle', bytes, grey16, range)).rgb).toEqual(
      decodeSamples(image('samples', rampBytes, grey16, range)).rgb,
    );
  });

  const replaceUint32 = (at: number, value: number) => (bytes: Uint8Array) => {
    const copy = Buffer.from(bytes);
    copy.writeUInt32LE(value, at);
    return copy;
  };
  it.each<[string, (bytes: Uint8Array) => Uint8Array]>([
    ['no bytes', () => new Uint8Array()],
    ['a truncated header', (bytes) => bytes.subarray(0, 63)],
    ['only two segments for three samples per pixel', replaceUint32(0, 2)],
    ['16 segments, more than a header holds', replaceUint32(0, 16)],
    ['a segment that starts inside the header', replaceUint32(4, 10)],
    ['a segment that starts beyond the end of the stream', replaceUint32(12, 1_000_000)],
    ['segments in the wrong order', replaceUint32(8, 64)],
    ['a segment without its last 8 bytes', (bytes) => bytes.subarray(0, bytes.length - 8)],
    [
      'a run longer than the image',
      // The code 129 repeats the next byte 128 times.
      (bytes) => Uint8Array.from([...bytes.subarray(0, 64), ...new Uint8Array(240).fill(129)]),
    ],
  ])('throws FILE_CORRUPT for a stream that has %s', (_, damage) => {
    const flat = { ...size, samplesPerPixel: 3, values: new Uint8Array(720).fill(7) };
    const bytes = damage(encodeDicomRle(flat));
    expect(() => decodeSamples(image('rle', bytes, rgbLayout))).toThrow(
      expect.objectContaining({ code: 'FILE_CORRUPT' }),
    );
  });
});
