import { SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';

/** The metadata that precede the image data in a PNG file. */
export interface PngHeader {
  /** Size in pixels. */
  readonly width: number;
  readonly height: number;
  /** Bytes per decoded pixel, before the conversion to RGB. */
  readonly bytesPerPixel: number;
  /** Whether the image is 16-bit grey without transparency. */
  readonly isOpaqueGrey16: boolean;
  /** Whether the pixels are stored in seven passes over the image, so that it must be decoded as a whole. */
  readonly isInterlaced: boolean;
  readonly isAnimated: boolean;
  /** Null when the file does not declare it. */
  readonly pixelsPerMetre: { readonly x: number; readonly y: number } | null;
}

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
/** A chunk has a head (length and type), data, and a checksum, which the decoder of the image verifies. */
const HEAD_BYTES = 8;
const CHECKSUM_BYTES = 4;
/** Maximum chunks before the image data; writers produce a dozen. */
const MAX_CHUNKS = 1000;
/** Length of the data of the IHDR chunk, the longest chunk whose data are read. */
const IHDR_DATA_BYTES = 13;
/** Value of the unit field of the pHYs chunk: pixels per metre. */
const PHYS_UNIT_METRE = 1;

/** Maximum width and height: the largest four-byte number that the PNG specification allows (section 7.1). */
const MAX_SIDE = 2 ** 31 - 1;

const GREY = 0; // a colour type
/** Allowed bits per sample, and samples per decoded pixel, by colour type. Source: PNG specification, section 11.2.1, table 12. */
const colourTypes: Readonly<Record<number, { bits: readonly number[]; decodedSamples: number }>> = {
  [GREY]: { bits: [1, 2, 4, 8, 16], decodedSamples: 1 },
  2: { bits: [8, 16], decodedSamples: 3 }, // RGB
  3: { bits: [1, 2, 4, 8], decodedSamples: 4 }, // palette, decoded with alpha
  4: { bits: [8, 16], decodedSamples: 2 }, // grey with alpha
  6: { bits: [8, 16], decodedSamples: 4 }, // RGB with alpha
};

/** Whether the bytes start with the PNG signature. */
export function isPng(start: Uint8Array): boolean {
  return SIGNATURE.every((byte, i) => start[i] === byte);
}

/**
 * Reads the chunks of a PNG file that precede its image data (IDAT).
 *
 * Source: the PNG specification (W3C, third edition), sections 5 (chunks), 11.2.1 (IHDR), 11.3.1.1 (tRNS),
 * 11.3.4.3 (pHYs), 11.3.6.1 (acTL).
 *
 * @param source a file that begins with the PNG signature, which the caller has checked
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export async function readPngHeader(source: ByteSource): Promise<PngHeader> {
  let header: Omit<PngHeader, 'isAnimated' | 'pixelsPerMetre'> | null = null;
  let isAnimated = false;
  let isTransparent = false;
  let pixelsPerMetre: PngHeader['pixelsPerMetre'] = null;
  for (let at = SIGNATURE.length, chunks = 0; ; chunks++) {
    if (chunks > MAX_CHUNKS) {
      throw new SlideError(
        'LIMIT_EXCEEDED',
        `A PNG has more than ${MAX_CHUNKS} chunks before its image data`,
      );
    }
    if (at + HEAD_BYTES > source.size)
      throw new SlideError('FILE_TRUNCATED', 'A PNG ends before its image data');
    const bytes = await source.read(at, Math.min(HEAD_BYTES + IHDR_DATA_BYTES, source.size - at));
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const length = view.getUint32(0);
    const type = String.fromCharCode(...bytes.subarray(4, HEAD_BYTES));
    if (!/^[A-Za-z]{4}$/.test(type))
      throw corruptError(`the type of a chunk is ${JSON.stringify(type)}, which is not four letters`);
    if (at + HEAD_BYTES + length + CHECKSUM_BYTES > source.size) {
      throw new SlideError('FILE_TRUNCATED', `A PNG ends inside its chunk ${type}`);
    }
    if ((chunks === 0) !== (type === 'IHDR')) throw corruptError('its header does not come first');

    if (type === 'IHDR') header = readHeaderChunk(view, length);
    else if (type === 'tRNS') isTransparent = true;
    else if (type === 'acTL') isAnimated = true;
    // pHYs: 4 bytes for x, 4 bytes for y, 1 byte for the unit.
    else if (type === 'pHYs' && length === 9 && view.getUint8(HEAD_BYTES + 8) === PHYS_UNIT_METRE) {
      pixelsPerMetre = { x: view.getUint32(HEAD_BYTES), y: view.getUint32(HEAD_BYTES + 4) };
    } else if (type === 'IDAT' && header) {
      return {
        ...header,
        isOpaqueGrey16: header.isOpaqueGrey16 && !isTransparent,
        isAnimated,
        pixelsPerMetre,
      };
    } else if (type === 'IEND') throw corruptError('it has no image data');
    at += HEAD_BYTES + length + CHECKSUM_BYTES;
  }
}

function readHeaderChunk(view: DataView, length: number): Omit<PngHeader, 'isAnimated' | 'pixelsPerMetre'> {
  if (length !== IHDR_DATA_BYTES)
    throw corruptError(`its IHDR chunk has ${length} bytes, not ${IHDR_DATA_BYTES}`);
  const width = view.getUint32(HEAD_BYTES);
  const height = view.getUint32(HEAD_BYTES + 4);
  const [bits, colourType, compression, filter, interlace] = Array.from({ length: 5 }, (_, i) =>
    view.getUint8(HEAD_BYTES + 8 + i),
  ) as [number, number, number, number, number];
  const colours = colourTypes[colourType];
  if (width === 0 || height === 0 || width > MAX_SIDE || height > MAX_SIDE) {
    throw corruptError(`it declares ${width} × ${height} pixels (1 to ${MAX_SIDE} per side are valid)`);
  }
  if (!colours?.bits.includes(bits))
    throw corruptError(`it has ${bits} bits per sample with colour type ${colourType}`);
  if (compression !== 0 || filter !== 0 || interlace > 1) {
    throw corruptError(
      `its compression method is ${compression}, its filter method ${filter}, its interlace method ${interlace}`,
    );
  }
  const bytesPerPixel = colours.decodedSamples * (bits === 16 ? 2 : 1);
  const isOpaqueGrey16 = colourType === GREY && bits === 16;
  return { width, height, bytesPerPixel, isOpaqueGrey16, isInterlaced: interlace === 1 };
}

function corruptError(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `A PNG is damaged: ${reason}`);
}
