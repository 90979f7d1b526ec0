// Whoever compiles this package's sources needs the declarations, and an untyped module takes none by import.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="../decode/codecs.d.ts" />
/** The codecs of DICOM frames, as writers use them; JPEG is sharp's. */

import { readOnce } from '../source/read-once.ts';
import { packBits } from './pack.ts';

/** Samples to encode: those of one pixel stand together; of 16 bits in the order of this machine. */
export interface FrameSamples {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly samplesPerPixel: number;
  readonly values: Uint8Array | Uint16Array;
  /** How many of a sample's bits are used; all when absent. */
  readonly bitsStored?: number;
}

/** A new one each time: a codec puts its functions on what it is given. */
const silent = () => ({ print: () => {}, printErr: () => {} });

const loadOpenJpeg = readOnce(async () => {
  const { default: openJpeg } = await import('@cornerstonejs/codec-openjpeg/wasmjs');
  return openJpeg(silent());
});
const loadCharls = readOnce(async () => {
  const { default: charls } = await import('@cornerstonejs/codec-charls/wasmjs');
  return charls(silent());
});

/** A bare code stream, lossless; three components are turned into YBR_RCT by the code stream itself. */
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
 * @param interleave 0: a plane for each component, 1: by line, 2: by pixel
 * @param near how far samples may be from what they were
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

/** Source: DICOM PS3.5, annex G. */
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

/** Of even length: a last byte that means nothing is added. */
function evenPackBits(bytes: Uint8Array): Uint8Array {
  const packed = packBits(bytes);
  return packed.length % 2 === 0 ? packed : Buffer.concat([packed, Buffer.of(128)]);
}

/** Those of one pixel together to a plane for each. */
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
