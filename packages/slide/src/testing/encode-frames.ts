// The triple-slash reference makes the declarations of the codecs available to every project that compiles these sources.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="../decode/codecs.d.ts" />
/** Encodes frames of DICOM files for tests, in the codecs that sharp does not encode. */

import { readOnce } from '../source/read-once.ts';
import { packBits } from './pack.ts';

/** Samples of an image to encode. */
export interface FrameSamples {
  /** Size in pixels. */
  readonly width: number;
  readonly height: number;
  readonly samplesPerPixel: number;
  /** All samples of the first pixel, then those of the next one; row by row. */
  readonly values: Uint8Array | Uint16Array;
  /** The number of bits that samples use; by default all bits of an array element. */
  readonly bitsStored?: number;
}

/** Returns codec options that print nothing. Each codec gets its own object, because it adds its functions to the object. */
const silentOptions = () => ({ print: () => {}, printErr: () => {} });

const loadOpenJpeg = readOnce(async () => {
  const { default: openJpeg } = await import('@cornerstonejs/codec-openjpeg/wasmjs');
  return openJpeg(silentOptions());
});
const loadCharls = readOnce(async () => {
  const { default: charls } = await import('@cornerstonejs/codec-charls/wasmjs');
  return charls(silentOptions());
});

/**
 * Encodes a lossless JPEG 2000 code stream. Three components get the reversible colour transform (YBR_RCT), which the
 * code stream declares.
 *
 * @param halvings number of smaller resolutions in the code stream, each with half the sides of the one before
 */
export async function encodeJpeg2000(samples: FrameSamples, halvings = 3): Promise<Uint8Array> {
  const { J2KEncoder } = await loadOpenJpeg();
  const encoder = new J2KEncoder();
  encoder.getDecodedBuffer(frameInfo(samples)).set(bytesOf(samples.values));
  const [isLossless, rate] = [true, 1];
  encoder.setQuality(isLossless, rate);
  encoder.setDecompositions(halvings);
  encoder.encode();
  const encoded = Uint8Array.from(encoder.getEncodedBuffer());
  encoder.delete();
  return encoded;
}

/**
 * Encodes a lossless JPEG 2000 code stream of YCbCr with subsampled chroma, as Aperio writes it.
 *
 * A code stream of one resolution and one layer has one packet for each component. So the three components are encoded
 * as separate grey images, and their packets are joined to one code stream.
 *
 * @param samples Y, Cb and Cr of each pixel; the chroma sample that several pixels share is that of the top left pixel
 * @param steps number of columns and of rows that share a chroma sample
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
    const greyImage = { width: columns, height: rows, samplesPerPixel: 1, values: plane };
    streams.push(Buffer.from(await encodeJpeg2000(greyImage, 0)));
  }
  const [first] = streams as [Buffer];
  const [startOfTile, startOfData] = [Buffer.from([0xff, 0x90]), Buffer.from([0xff, 0x93])];
  const packets = streams.map((stream) => stream.subarray(stream.indexOf(startOfData) + 2, -2)); // no end marker
  // The SIZ segment follows the start marker (2 bytes). It has a marker (2 bytes), 38 bytes, and 3 for each component:
  // bits minus one, column step, row step. The stream of the first image has one component, so its SIZ ends at 45.
  const sizSegment = Buffer.concat([
    first.subarray(2, 42),
    Buffer.from(componentSteps.flatMap(([x, y]) => [7, x, y])),
  ]);
  sizSegment.writeUInt16BE(38 + 3 * 3, 2); // length without the marker
  sizSegment.writeUInt16BE(3, 38); // number of components
  const tileAt = first.indexOf(startOfTile);
  const tileHeader = Buffer.from(first.subarray(tileAt, first.indexOf(startOfData) + 2));
  const packetBytes = packets.reduce((sum, { length }) => sum + length, 0);
  tileHeader.writeUInt32BE(tileHeader.length + packetBytes, 6); // length of the tile part
  return Buffer.concat([
    first.subarray(0, 2),
    sizSegment,
    first.subarray(45, tileAt),
    tileHeader,
    ...packets,
    Buffer.from([0xff, 0xd9]), // end of the code stream
  ]);
}

/**
 * Encodes a JPEG-LS image.
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
  encoder.getDecodedBuffer(frameInfo(samples)).set(bytesOf(values));
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
  // The 64-byte header states the number of segments and their positions. A 16-bit plane has two: high and low bytes.
  const header = Buffer.alloc(64);
  header.writeUInt32LE(segments.length, 0);
  let at = header.length;
  for (const [i, segment] of segments.entries()) {
    header.writeUInt32LE(at, 4 + 4 * i);
    at += segment.length;
  }
  return Buffer.concat([header, ...segments]);
}

/** Packs bytes with PackBits, and adds a code without effect if the length would be odd, which DICOM does not allow. */
function evenPackBits(bytes: Uint8Array): Uint8Array {
  const noOperation = 128;
  const packed = packBits(bytes);
  return packed.length % 2 === 0 ? packed : Buffer.concat([packed, Buffer.of(noOperation)]);
}

/** Returns all first samples of the pixels, then all second ones, and so on. */
export function planesOf({ width, height, samplesPerPixel, values }: FrameSamples): Uint8Array | Uint16Array {
  const pixels = width * height;
  const planes = values.slice();
  for (let i = 0; i < values.length; i++) {
    planes[(i % samplesPerPixel) * pixels + Math.floor(i / samplesPerPixel)] = values[i] as number;
  }
  return planes;
}

/** Describes the samples as the encoders require. */
function frameInfo({ width, height, samplesPerPixel, values, bitsStored }: FrameSamples) {
  const bitsPerSample = bitsStored ?? values.BYTES_PER_ELEMENT * 8;
  return { width, height, componentCount: samplesPerPixel, bitsPerSample, isSigned: false };
}

function bytesOf(values: Uint8Array | Uint16Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}
