import { SlideError } from '../model/slide.ts';

/** The header has sixteen little-endian 32-bit numbers: the number of segments, and at most 15 segment offsets. */
const HEADER_BYTES = 64;
const MAX_SEGMENTS = 15;

/**
 * Decodes the run-length encoding of DICOM: a header of offsets, then segments packed with PackBits. Each segment
 * contains one byte per pixel. A 16-bit component has two segments: the high bytes of all pixels, then the low bytes.
 *
 * Source: DICOM PS3.5, annex G.
 *
 * @param pixels number of pixels of the image
 * @returns planes: the first samples of all pixels, then the second samples of all pixels, and so on
 * @throws SlideError FILE_CORRUPT
 */
export function decodeDicomRle(
  bytes: Uint8Array,
  pixels: number,
  samplesPerPixel: number,
  bits: 8 | 16,
): Uint8Array | Uint16Array {
  const bytesPerSample = bits / 8;
  const segmentCount = samplesPerPixel * bytesPerSample;
  const offsets = readOffsets(bytes, segmentCount);
  const valueCount = samplesPerPixel * pixels;
  const values = bits === 8 ? new Uint8Array(valueCount) : new Uint16Array(valueCount);
  const segmentBytes = new Uint8Array(pixels);
  for (const [segment, start] of offsets.entries()) {
    unpackSegment(bytes.subarray(start, offsets[segment + 1] ?? bytes.length), segmentBytes);
    const planeStart = Math.floor(segment / bytesPerSample) * pixels;
    if (bits === 8) {
      values.set(segmentBytes, planeStart);
      continue;
    }
    const isHighByte = segment % 2 === 0; // a segment of high bytes comes before one of low bytes
    for (let i = 0; i < pixels; i++) {
      const byte = segmentBytes[i] as number;
      const value = values[planeStart + i] as number;
      values[planeStart + i] = isHighByte ? byte << 8 : value | byte;
    }
  }
  return values;
}

function readOffsets(bytes: Uint8Array, segmentCount: number): number[] {
  if (bytes.length < HEADER_BYTES) throw corruptError('its header is truncated');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const count = view.getUint32(0, true);
  if (count !== segmentCount || count > MAX_SEGMENTS) {
    throw corruptError(`it has ${count} segments instead of ${segmentCount}`);
  }
  // The first four bytes are the count.
  const offsets = Array.from({ length: count }, (_, i) => view.getUint32(4 + 4 * i, true));
  for (const [i, offset] of offsets.entries()) {
    if (offset < (offsets[i - 1] ?? HEADER_BYTES) || offset > bytes.length) {
      throw corruptError(`segment ${i + 1} begins at ${offset} of ${bytes.length} bytes`);
    }
  }
  return offsets;
}

/**
 * Unpacks a PackBits segment until `target` is full, and ignores the remaining bytes, which pad the segment to an even length.
 * Unlike `unpackPackBits`, throws when the segment ends early, or when a run goes past the end of `target`.
 * A code below 128 precedes `code + 1` literal bytes; a code above 128 repeats the next byte `257 - code` times; 128 does nothing.
 */
function unpackSegment(packed: Uint8Array, target: Uint8Array): void {
  let readPosition = 0;
  let writePosition = 0;
  while (writePosition < target.length) {
    const code = packed[readPosition++];
    if (code === undefined) throw corruptError('a segment is too short');
    if (code === 128) continue;

    const isLiteral = code < 128;
    const length = isLiteral ? code + 1 : 257 - code;
    const consumed = isLiteral ? length : 1;
    if (writePosition + length > target.length) throw corruptError('a segment is too long');
    if (readPosition + consumed > packed.length) throw corruptError('a segment is too short');

    if (isLiteral) target.set(packed.subarray(readPosition, readPosition + length), writePosition);
    else target.fill(packed[readPosition] as number, writePosition, writePosition + length);
    readPosition += consumed;
    writePosition += length;
  }
}

function corruptError(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `A run-length coded image is damaged: ${reason}`);
}
