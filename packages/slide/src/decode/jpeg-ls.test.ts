import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SlideError } from '../model/slide.ts';
import { encodeJpegLs } from '../testing/encode-frames.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { decodeJpegLs } from './jpeg-ls.ts';

const slides = process.env.TEST_SLIDES;
const size = { width: 40, height: 24 };
const tissue = paintTissue(size.width, size.height);
const encodeTissue = (interleave: 0 | 1 | 2 = 2) =>
  encodeJpegLs({ ...size, samplesPerPixel: 3, values: tissue.rgb }, interleave);

/** Positions of fields in a stream of three components, which begins with SOI, the frame and the scan. */
const field = {
  frameMarker: 3,
  bits: 6,
  height: 7,
  componentCount: 11,
  secondSampling: 16,
  scan: 21,
  firstScanComponent: 26,
  NEAR: 32,
  interleaveMode: 33,
  pointTransform: 34,
};
/** Second bytes of the markers of restart intervals, coding parameters, and a segment of Hewlett-Packard. */
const [DRI, LSE, APP8] = [0xdd, 0xf8, 0xe8];

/** Returns a copy with other bytes from a position on. */
function patch(stream: Uint8Array, at: number, ...bytes: number[]): Uint8Array {
  const copy = Uint8Array.from(stream);
  copy.set(bytes, at);
  return copy;
}

/** Returns a copy with one more segment after SOI. */
function withSegment(stream: Uint8Array, marker: number, ...body: number[]): Uint8Array {
  return Uint8Array.from([0xff, 0xd8, 0xff, marker, 0, body.length + 2, ...body, ...stream.subarray(2)]);
}

describe('decodeJpegLs (decodes a JPEG-LS image)', () => {
  it.each([
    ['planar components', 0],
    ['line-interleaved components', 1],
    ['pixel-interleaved components', 2],
  ] as const)('returns the original pixels of an image with %s', async (_, interleave) => {
    const { rgb } = decodeJpegLs(await encodeTissue(interleave), size, 'rgb');
    expect(Buffer.compare(rgb, tissue.rgb)).toBe(0);
  });

  it.each([0, 1, 2] as const)(
    'returns the exact samples of an image with flat areas, long runs and noise (interleave mode %i)',
    async (interleave) => {
      const [width, height] = [301, 40];
      const values = new Uint8Array(width * height * 3).fill(200);
      for (let i = 0; i < values.length; i++) {
        const x = Math.floor(i / 3) % width;
        if (x % 67 === 0) values[i] = (i * 7919) % 256;
        if (x > 250) values[i] = (i * i * 31 + i * 17) % 256;
      }
      const stream = await encodeJpegLs({ width, height, samplesPerPixel: 3, values }, interleave);
      expect(Buffer.compare(decodeJpegLs(stream, { width, height }, 'rgb').rgb, values)).toBe(0);
    },
  );

  it.each([1, 3, 10])(
    'returns samples that differ from the original by at most NEAR, the error limit of the stream (NEAR = %i)',
    async (near) => {
      const stream = await encodeJpegLs({ ...size, samplesPerPixel: 3, values: tissue.rgb }, 1, near);
      const { rgb } = decodeJpegLs(stream, size, 'rgb');
      const maxDifference = rgb.reduce(
        (max, value, i) => Math.max(max, Math.abs(value - (tissue.rgb[i] as number))),
        0,
      );
      expect(maxDifference).toBeGreaterThan(0);
      expect(maxDifference).toBeLessThanOrEqual(near);
    },
  );

  it.each([2, 7, 8, 10, 12, 16])(
    'returns the exact samples, scaled to 0…255, of one component of %i bits',
    async (bitsStored) => {
      const length = size.width * size.height;
      const noise = Array.from({ length }, (_, i) => (i * i * 131 + i * 7) % 2 ** bitsStored);
      const values = bitsStored > 8 ? Uint16Array.from(noise) : Uint8Array.from(noise);
      const stream = await encodeJpegLs({ ...size, samplesPerPixel: 1, values, bitsStored }, 0);
      const white = 2 ** bitsStored - 1;
      const { rgb } = decodeJpegLs(stream, size, null);
      const grey = noise.flatMap((value) => Array(3).fill(Math.round((value * 255) / white)) as number[]);
      expect([...rgb]).toEqual(grey);
    },
  );

  it('scales 12-bit samples to inverted grey when the black value (3,200) is larger than the white value (640)', async () => {
    const values = Uint16Array.from({ length: 40 * 24 }, (_, i) => i * 4);
    const stream = await encodeJpegLs({ ...size, samplesPerPixel: 1, values, bitsStored: 12 }, 0);
    const { rgb } = decodeJpegLs(stream, size, { black: 3200, white: 640 });
    expect([rgb[0], rgb[480 * 3], rgb.at(-1)]).toEqual([255, 128, 0]);
  });

  it.each<[string, (stream: Uint8Array) => Uint8Array, string]>([
    ['no bytes', () => new Uint8Array(), 'FILE_CORRUPT'],
    [
      'the frame marker of another kind of JPEG',
      (stream) => patch(stream, field.frameMarker, 0xc0),
      'FILE_CORRUPT',
    ],
    [
      'two frame headers',
      (stream) => Uint8Array.from([...stream.subarray(0, field.scan), ...stream.subarray(2)]),
      'FILE_CORRUPT',
    ],
    ['a truncated header', (stream) => stream.subarray(0, 12), 'FILE_CORRUPT'],
    ['a truncated scan', (stream) => stream.subarray(0, 60), 'FILE_CORRUPT'],
    ['only the first half of its bytes', (stream) => stream.subarray(0, stream.length / 2), 'FILE_CORRUPT'],
    ['a stream without its last 8 bytes', (stream) => stream.subarray(0, -8), 'FILE_CORRUPT'],
    [
      'an end-of-image marker (EOI) in the middle',
      (stream) => patch(stream, 600, 0xff, 0xd9),
      'FILE_CORRUPT',
    ],
    [
      'coded data that consists of zero bytes only',
      (stream) => patch(stream, 40, ...Array<number>(200).fill(0)),
      'FILE_CORRUPT',
    ],
    ['another size than the caller requests', (stream) => patch(stream, field.height, 0, 25), 'FILE_CORRUPT'],
    ['two components', (stream) => patch(stream, field.componentCount, 2), 'FORMAT_NOT_SUPPORTED'],
    ['colours of 12 bits', (stream) => patch(stream, field.bits, 12), 'FORMAT_NOT_SUPPORTED'],
    ['subsampled components', (stream) => patch(stream, field.secondSampling, 0x21), 'FORMAT_NOT_SUPPORTED'],
    ['a scan of unknown components', (stream) => patch(stream, field.firstScanComponent, 9), 'FILE_CORRUPT'],
    ['an invalid interleave mode', (stream) => patch(stream, field.interleaveMode, 3), 'FILE_CORRUPT'],
    ['a NEAR value above the sample range', (stream) => patch(stream, field.NEAR, 128), 'FILE_CORRUPT'],
    [
      'samples shifted by a point transform',
      (stream) => patch(stream, field.pointTransform, 1),
      'FORMAT_NOT_SUPPORTED',
    ],
    ['restart intervals', (stream) => withSegment(stream, DRI, 0, 4), 'FORMAT_NOT_SUPPORTED'],
    ['a palette', (stream) => withSegment(stream, LSE, 2, 1, 1, 0), 'FORMAT_NOT_SUPPORTED'],
    [
      'coding parameters (LSE) whose thresholds are not ascending',
      (stream) => withSegment(stream, LSE, 1, 0, 255, 0, 9, 0, 3, 0, 1, 0, 64),
      'FILE_CORRUPT',
    ],
    [
      'coding parameters (LSE) for samples of more bits than the image has',
      (stream) => withSegment(stream, LSE, 1, 1, 255, 0, 0, 0, 0, 0, 0, 0, 0),
      'FILE_CORRUPT',
    ],
    ['truncated coding parameters (LSE)', (stream) => withSegment(stream, LSE, 1, 0, 255), 'FILE_CORRUPT'],
    [
      'the colour transform of Hewlett-Packard (segment mrfx)',
      (stream) => withSegment(stream, APP8, ...Buffer.from('mrfx'), 1),
      'FORMAT_NOT_SUPPORTED',
    ],
  ])('throws $2 for an image that has %s', async (_, damage, code) => {
    const stream = damage(await encodeTissue());
    expect(() => decodeJpegLs(stream, size, 'rgb')).toThrow(expect.objectContaining({ code }));
  });

  it('throws FILE_CORRUPT for an image that has two scans of the same component', async () => {
    const stream = Buffer.from(await encodeTissue(0));
    const startOfScan = Buffer.from([0xff, 0xda]);
    const second = stream.indexOf(startOfScan, stream.indexOf(startOfScan) + 2);
    const repeated = Buffer.concat([stream.subarray(0, second), stream.subarray(field.scan)]);
    expect(() => decodeJpegLs(repeated, size, 'rgb')).toThrow(
      expect.objectContaining({ code: 'FILE_CORRUPT' }),
    );
  });

  it('throws LIMIT_EXCEEDED for an image that states 8192 × 8192 pixels (limit: 2^24 pixels)', async () => {
    const stream = patch(await encodeTissue(), field.height, 0x20, 0, 0x20, 0);
    expect(() => decodeJpegLs(stream, { width: 8192, height: 8192 }, 'rgb')).toThrow(
      expect.objectContaining({ code: 'LIMIT_EXCEEDED' }),
    );
  });

  it('throws FILE_CORRUPT or returns all pixels, never a part of them, for a stream truncated after any number of bytes', async () => {
    const stream = await encodeTissue();
    const outcomes = Array.from(stream, (_, length) => {
      try {
        return Buffer.compare(decodeJpegLs(stream.subarray(0, length), size, 'rgb').rgb, tissue.rgb) === 0;
      } catch (error) {
        return error instanceof SlideError && error.code === 'FILE_CORRUPT';
      }
    });
    expect(outcomes).not.toContain(false);
  });

  it.skipIf(slides === undefined)(
    'returns 243, 243, 243 for the first pixel of the real DICOM slide sm_image_jpegls.dcm (skipped without TEST_SLIDES)',
    () => {
      const file = readFileSync(join(slides ?? '', 'dicom/highdicom/sm_image_jpegls.dcm'));
      const at = file.indexOf(Buffer.from([0xff, 0xd8, 0xff, 0xf7]));
      const { rgb } = decodeJpegLs(file.subarray(at), { width: 10, height: 10 }, 'rgb');
      expect([...rgb.subarray(0, 3)]).toEqual([243, 243, 243]);
    },
  );
});
