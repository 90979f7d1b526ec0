import { SlideError } from '../model/slide.ts';

const HEADER_BYTES = 64;
const MAX_SEGMENTS = 15;

/**
 * Decodes the run-length encoding of DICOM: a header of offsets, then one segment for each byte of a sample,
 * high byte first, each packed with PackBits.
 *
 * Source: DICOM PS3.5, annex G.
 *
 * @param pixels number of pixels of the picture
 * @returns planes: all first samples, all second samples, …; 16-bit values in the byte order of this machine
 * @throws SlideError FILE_CORRUPT
 */
export function decodeDicomRle(
  bytes: Uint8Array,
  pixels: number,
  samplesPerPixel: number,
  bits: 8 | 16,
): Uint8Array | Uint16Array {
  const bytesPerSample = bits / 8;
  const segments = samplesPerPixel * bytesPerSample;
  const offsets = readOffsets(bytes, segments);
  const values = bits === 8 ? new Uint8Array(segments * pixels) : new Uint16Array(samplesPerPixel * pixels);
  const plane = new Uint8Array(pixels);
  for (const [segment, start] of offsets.entries()) {
    unpack(bytes.subarray(start, offsets[segment + 1] ?? bytes.length), plane);
    const to = Math.floor(segment / bytesPerSample) * pixels;
    const isHighByte = segment % bytesPerSample < bytesPerSample - 1;
    if (bits === 8) values.set(plane, to);
    else if (isHighByte) for (let i = 0; i < pixels; i++) values[to + i] = (plane[i] as number) << 8;
    else for (let i = 0; i < pixels; i++) values[to + i] = (values[to + i] as number) | (plane[i] as number);
  }
  return values;
}

function readOffsets(bytes: Uint8Array, segments: number): number[] {
  if (bytes.length < HEADER_BYTES) throw corrupt('its header is truncated');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const count = view.getUint32(0, true);
  if (count !== segments || count > MAX_SEGMENTS) {
    throw corrupt(`it has ${count} segments, and needs ${segments}`);
  }
  const offsets = Array.from({ length: count }, (_, i) => view.getUint32(4 + 4 * i, true));
  for (const [i, offset] of offsets.entries()) {
    if (offset < (offsets[i - 1] ?? HEADER_BYTES) || offset > bytes.length) {
      throw corrupt(`segment ${i + 1} begins at ${offset} of ${bytes.length} bytes`);
    }
  }
  return offsets;
}

/** Unpacks a segment until the plane is full; a byte that pads the segment to an even length may follow. */
function unpack(packed: Uint8Array, plane: Uint8Array): void {
  let from = 0;
  let to = 0;
  while (to < plane.length) {
    const code = packed[from++];
    if (code === undefined) throw corrupt('a segment is too short');
    if (code === 128) continue;
    const length = code < 128 ? code + 1 : 257 - code;
    const consumed = code < 128 ? length : 1;
    if (to + length > plane.length) throw corrupt('a segment is too long');
    if (from + consumed > packed.length) throw corrupt('a segment is too short');
    if (code < 128) plane.set(packed.subarray(from, from + length), to);
    else plane.fill(packed[from] as number, to, to + length);
    from += consumed;
    to += length;
  }
}

function corrupt(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `A run-length coded picture is damaged: ${reason}`);
}
