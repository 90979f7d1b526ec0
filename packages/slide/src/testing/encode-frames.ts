// The triple-slash reference makes the declarations available to every project that compiles these sources.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="../decode/codecs.d.ts" />
/** Encodes frames of DICOM files for tests, in the codecs that sharp does not encode. */

import { readOnce } from '../source/read-once.ts';
import { packBits } from './pack.ts';

/** Samples to encode, interleaved by pixel; 16-bit values in the byte order of this machine. */
export interface FrameSamples {
  /** Size in pixels. */
  readonly width: number;
  readonly height: number;
  readonly samplesPerPixel: number;
  readonly values: Uint8Array | Uint16Array;
  /** Used bits of a sample; by default all. */
  readonly bitsStored?: number;
}

/** Returns codec options that print nothing; a new object each time, because a codec adds its functions to it. */
const silent = () => ({ print: () => {}, printErr: () => {} });

const loadOpenJpeg = readOnce(async () => {
  const { default: openJpeg } = await import('@cornerstonejs/codec-openjpeg/wasmjs');
  return openJpeg(silent());
});
const loadCharls = readOnce(async () => {
  const { default: charls } = await import('@cornerstonejs/codec-charls/wasmjs');
  return charls(silent());
});

/**
 * Encodes a lossless JPEG 2000 code stream. Three components get the reversible colour transform (YBR_RCT), which the
 * code stream declares.
 */
export async function encodeJpeg2000(samples: FrameSamples, halvings = 3): Promise<Uint8Array> {
  const { J2KEncoder } = await loadOpenJpeg();
  const encoder = new J2KEncoder();
  encoder.getDecodedBuffer(frameOf(samples)).set(bytesOf(samples.values));
  encoder.setQuality(true, 1);
  encoder.setDecompositions(halvings);
  encoder.encode();
  const encoded = Uint8Array.from(encoder.getEncodedBuffer());
  encoder.delete();
  return encoded;
}

/**
 * Encodes a lossless JPEG 2000 code stream of YCbCr with subsampled chroma, as Aperio writes it.
 *
 * With one resolution and one layer, each component is one packet. So the three components can be encoded as separate
 * pictures, and their packets are joined to one code stream.
 *
 * @param ycc Y, Cb and Cr of each pixel; chroma is taken from the first of the pixels that share it
 * @param steps columns and rows that share chroma
 */
export async function encodeSubsampledJpeg2000(
  { width, height, values }: FrameSamples,
  steps: readonly [2, 1 | 2],
): Promise<Uint8Array> {
  const componentSteps = [[1, 1], steps, steps] as const;
  const streams: Buffer[] = [];
  for (const [component, [stepX, stepY]] of componentSteps.entries()) {
    const [columns, rows] = [Math.ceil(width / stepX), Math.ceil(height / stepY)];
    const plane = Uint8Array.from({ length: columns * rows }, (_, i) => {
      const pixel = Math.floor(i / columns) * stepY * width + (i % columns) * stepX;
      return values[pixel * 3 + component] as number;
    });
    const samples = { width: columns, height: rows, samplesPerPixel: 1, values: plane };
    streams.push(Buffer.from(await encodeJpeg2000(samples, 0)));
  }
  const [first] = streams as [Buffer];
  const [startOfTile, startOfData] = [Buffer.from([0xff, 0x90]), Buffer.from([0xff, 0x93])];
  const packets = streams.map((stream) => stream.subarray(stream.indexOf(startOfData) + 2, -2));
  // SIZ has 38 bytes after its marker, and three for each component.
  const size = Buffer.concat([
    first.subarray(2, 42),
    Buffer.from(componentSteps.flatMap(([x, y]) => [7, x, y])),
  ]);
  size.writeUInt16BE(38 + 9, 2);
  size.writeUInt16BE(3, 38);
  const tileAt = first.indexOf(startOfTile);
  const tile = Buffer.from(first.subarray(tileAt, first.indexOf(startOfData) + 2));
  tile.writeUInt32BE(tile.length + packets.reduce((sum, { length }) => sum + length, 0), 6);
  return Buffer.concat([
    first.subarray(0, 2),
    size,
    first.subarray(45, tileAt),
    tile,
    ...packets,
    Buffer.from([0xff, 0xd9]),
  ]);
}

/**
 * Encodes a JPEG-LS picture.
 *
 * @param interleave 0 stores planes, 1 interleaves the components by line, 2 by pixel
 * @param near maximum difference from the original samples; 0 for lossless
 */
export async function encodeJpegLs(
  samples: FrameSamples,
  interleave: 0 | 1 | 2,
  near = 0,
): Promise<Uint8Array> {
  const { JpegLSEncoder } = await loadCharls();
  const encoder = new JpegLSEncoder();
  const values = interleave === 0 ? planesOf(samples) : samples.values;
  encoder.getDecodedBuffer(frameOf(samples)).set(bytesOf(values));
  encoder.setInterleaveMode(interleave);
  encoder.setNearLossless(near);
  encoder.encode();
  const encoded = Uint8Array.from(encoder.getEncodedBuffer());
  encoder.delete();
  return encoded;
}

/** Encodes samples in the run-length encoding of DICOM. Source: DICOM PS3.5, annex G. */
export function encodeDicomRle(samples: FrameSamples): Uint8Array {
  const planes = planesOf(samples);
  const pixels = samples.width * samples.height;
  const segments: Uint8Array[] = [];
  for (let sample = 0; sample < samples.samplesPerPixel; sample++) {
    const plane = planes.subarray(sample * pixels, (sample + 1) * pixels);
    if (plane instanceof Uint16Array)
      segments.push(evenPackBits(Uint8Array.from(plane, (value) => value >> 8)));
    segments.push(evenPackBits(Uint8Array.from(plane, (value) => value & 255)));
  }
  const header = Buffer.alloc(64);
  header.writeUInt32LE(segments.length, 0);
  let at = header.length;
  for (const [i, segment] of segments.entries()) {
    header.writeUInt32LE(at, 4 + 4 * i);
    at += segment.length;
  }
  return Buffer.concat([header, ...segments]);
}

/** Packs bytes to an even length, with a no-op code at the end if necessary. */
function evenPackBits(bytes: Uint8Array): Uint8Array {
  const packed = packBits(bytes);
  return packed.length % 2 === 0 ? packed : Buffer.concat([packed, Buffer.of(128)]);
}

/** Converts pixel-interleaved samples to planes. */
export function planesOf({ width, height, samplesPerPixel, values }: FrameSamples): Uint8Array | Uint16Array {
  const pixels = width * height;
  const planes = values.slice();
  for (let i = 0; i < values.length; i++) {
    planes[(i % samplesPerPixel) * pixels + Math.floor(i / samplesPerPixel)] = values[i] as number;
  }
  return planes;
}

function frameOf({ width, height, samplesPerPixel, values, bitsStored }: FrameSamples) {
  const bitsPerSample = bitsStored ?? values.BYTES_PER_ELEMENT * 8;
  return { width, height, componentCount: samplesPerPixel, bitsPerSample, isSigned: false };
}

function bytesOf(values: Uint8Array | Uint16Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}
