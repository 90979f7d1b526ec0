/** Reader of the pixels of subblocks (the images that a CZI file stores). */
import { LRUCache } from 'lru-cache';
import { decodeImage } from '../decode/decode-image.ts';
import type { Raster } from '../decode/raster.ts';
import { unpack } from '../decode/unpack.ts';
import { readJpegHeader } from '../jpeg/header.ts';
import { type GreyRange, SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import type { Subblock } from './directory.ts';
import { corruptError, limitExceededError, notSupportedError } from './errors.ts';
import { limits } from './limits.ts';
import { type ByteRange, readSubblockSegment } from './segments.ts';

/** A rectangle in stored pixels of a subblock. */
export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Reads a rectangle of a subblock. @param range samples displayed as black and white; ignored for colour pixels of 8 bits */
export type ReadSubblock = (
  subblock: Subblock,
  rectangle: Rectangle,
  range: GreyRange,
  signal?: AbortSignal,
) => Promise<Raster>;

interface PixelType {
  readonly name: string;
  /** Null when the type is not supported. */
  readonly samples: { readonly count: 1 | 3 | 4; readonly bytes: 1 | 2 } | null;
}

/** Source: ZEISS, "DS_ZISRAW-FileFormat", pixel types; libCZI. */
const pixelTypes: Readonly<Record<number, PixelType>> = {
  0: { name: 'Gray8', samples: { count: 1, bytes: 1 } },
  1: { name: 'Gray16', samples: { count: 1, bytes: 2 } },
  2: { name: 'Gray32Float', samples: null },
  3: { name: 'Bgr24', samples: { count: 3, bytes: 1 } },
  4: { name: 'Bgr48', samples: { count: 3, bytes: 2 } },
  8: { name: 'Bgr96Float', samples: null },
  9: { name: 'Bgra32', samples: { count: 4, bytes: 1 } },
  10: { name: 'Gray64ComplexFloat', samples: null },
  11: { name: 'Bgr192ComplexFloat', samples: null },
  12: { name: 'Gray32', samples: null },
  13: { name: 'Gray64Float', samples: null },
};

/** Compression codes. zstd0 is plain Zstandard; zstd1 adds a header. Source: ZEISS, "DS_ZISRAW-FileFormat". */
const compression = { none: 0, jpeg: 1, lzw: 2, jpegXr: 4, zstd0: 5, zstd1: 6 } as const;
const supportedCompressions: ReadonlySet<number> = new Set([
  compression.none,
  compression.jpeg,
  compression.zstd0,
  compression.zstd1,
]);
const unsupportedCompressions: Readonly<Record<number, string>> = {
  [compression.lzw]: 'LZW',
  [compression.jpegXr]: 'JPEG XR',
};

/** Maximum bytes of an uncompressed subblock that is read and cached as a whole, because neighbouring tiles show it too. */
const MAX_WHOLE_BYTES = 2 ** 25;
/** Bytes of decoded samples in the cache of a slide. */
const MAX_CACHED_BYTES = 2 ** 26;
/** Rows of a large uncompressed subblock that are requested concurrently. */
const CONCURRENT_ROWS = 64;

export function isColour(subblock: Subblock): boolean {
  return samplesPerPixel(subblock) >= 3;
}

function samplesPerPixel({ pixelType }: Subblock): number {
  return pixelTypes[pixelType]?.samples?.count ?? 1;
}

export function bitsPerSample({ pixelType }: Subblock): 8 | 16 {
  return pixelTypes[pixelType]?.samples?.bytes === 2 ? 16 : 8;
}

/**
 * Checks that the encoding of a subblock is supported. Called for every displayed subblock when the slide is opened.
 *
 * @throws SlideError FORMAT_NOT_SUPPORTED, LIMIT_EXCEEDED
 */
export function checkReadable(subblock: Subblock): void {
  const type = pixelTypes[subblock.pixelType];
  if (!type?.samples) throw notSupportedError(`pixels of the type ${type?.name ?? subblock.pixelType}`);
  if (!supportedCompressions.has(subblock.compression)) {
    const name = unsupportedCompressions[subblock.compression] ?? `compression ${subblock.compression}`;
    throw new SlideError(
      'FORMAT_NOT_SUPPORTED',
      `Not supported: CZI with ${name}. Save the slide in ZEN without compression or with Zstandard, or convert it to OME-TIFF or DICOM.`,
    );
  }
  // A compressed subblock can only be decoded as a whole.
  const isCompressed = subblock.compression !== compression.none;
  if (isCompressed && decodedBytes(subblock) > limits.subblockBytes) {
    throw limitExceededError(`a compressed subblock has ${decodedBytes(subblock)} bytes`);
  }
}

/** Decoded samples of a subblock or of a rectangle of it. */
interface Samples {
  readonly bytes: Uint8Array;
  /** Whether a colour pixel begins with red, as in the output of the JPEG decoder; otherwise it begins with blue. */
  readonly isRgb: boolean;
}

/**
 * Returns a function that reads pixels of subblocks. It decodes one subblock at a time and caches the last ones (LRU), so
 * that the memory in use does not depend on the number of concurrent requests. Of an uncompressed subblock above
 * `MAX_WHOLE_BYTES`, it reads only the rectangle and caches nothing.
 */
export function createSubblockReader(source: ByteSource): ReadSubblock {
  /** Decoded subblocks by the offset of the subblock in the file. */
  const cache = new LRUCache<number, Promise<Samples>>({ maxSize: MAX_CACHED_BYTES });
  let previousDecoding: Promise<unknown> = Promise.resolve();

  function readWholeSubblock(subblock: Subblock): Promise<Samples> {
    const cached = cache.get(subblock.offset);
    if (cached) return cached;
    const samples = previousDecoding.then(() => decodeSubblock(source, subblock));
    previousDecoding = samples.catch(() => {});
    // If decoding failed, the next request reads the subblock again.
    samples.catch(() => cache.delete(subblock.offset));
    // The size is capped because the cache rejects an entry that is larger than the cache.
    cache.set(subblock.offset, samples, { size: Math.min(decodedBytes(subblock), MAX_CACHED_BYTES) });
    return samples;
  }

  return async (subblock, rectangle, range, signal) => {
    const { width, height } = rectangle;
    const isUncompressed = subblock.compression === compression.none;
    if (isUncompressed && decodedBytes(subblock) > MAX_WHOLE_BYTES) {
      const bytes = await readRectangle(source, subblock, rectangle, signal);
      return toRaster({ bytes, isRgb: false }, width, height, subblock, range);
    }
    const { bytes, isRgb } = await readWholeSubblock(subblock);
    const samples = { bytes: cutRectangle(bytes, subblock, rectangle), isRgb };
    return toRaster(samples, width, height, subblock, range);
  };
}

async function decodeSubblock(source: ByteSource, subblock: Subblock): Promise<Samples> {
  const pixelRange = await readSubblockSegment(source, subblock.offset, subblock.entryBytes);
  const expectedBytes = decodedBytes(subblock);
  if (subblock.compression === compression.none) {
    checkUncompressed(pixelRange, subblock);
    return { bytes: await source.read(pixelRange.offset, expectedBytes), isRgb: false };
  }
  if (pixelRange.length > limits.subblockBytes)
    throw limitExceededError(`a subblock has ${pixelRange.length} bytes`);
  const stored = await source.read(pixelRange.offset, pixelRange.length);
  if (subblock.compression === compression.jpeg) return decodeJpeg(stored, subblock);

  const { packed, isSplit } =
    subblock.compression === compression.zstd1 ? readZstd1(stored) : { packed: stored, isSplit: false };
  const samples = unpack(packed, 'zstd', expectedBytes, expectedBytes); // minimum and maximum of unpacked bytes
  return { bytes: isSplit ? interleaveBytes(samples) : samples, isRgb: false };
}

function cutRectangle(bytes: Uint8Array, subblock: Subblock, { x, y, width, height }: Rectangle): Uint8Array {
  const pixelBytes = bytesPerPixel(subblock);
  const rowBytes = width * pixelBytes;
  const cut = new Uint8Array(rowBytes * height);
  for (let row = 0; row < height; row++) {
    const start = ((y + row) * subblock.storedWidth + x) * pixelBytes;
    cut.set(bytes.subarray(start, start + rowBytes), row * rowBytes);
  }
  return cut;
}

/** Reads a rectangle of an uncompressed subblock that is larger than `MAX_WHOLE_BYTES`, row by row from the file. */
async function readRectangle(
  source: ByteSource,
  subblock: Subblock,
  { x, y, width, height }: Rectangle,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const pixelRange = await readSubblockSegment(source, subblock.offset, subblock.entryBytes);
  checkUncompressed(pixelRange, subblock);
  const pixelBytes = bytesPerPixel(subblock);
  const rowBytes = width * pixelBytes;
  const samples = new Uint8Array(rowBytes * height);
  for (let firstRow = 0; firstRow < height; firstRow += CONCURRENT_ROWS) {
    signal?.throwIfAborted();
    const rowCount = Math.min(CONCURRENT_ROWS, height - firstRow);
    const rows = Array.from({ length: rowCount }, (_, i) => firstRow + i);
    await Promise.all(
      rows.map((row) => {
        const rowOffset = pixelRange.offset + ((y + row) * subblock.storedWidth + x) * pixelBytes;
        return source.readInto(samples, row * rowBytes, rowOffset, rowBytes, signal);
      }),
    );
  }
  return samples;
}

function checkUncompressed({ length }: ByteRange, subblock: Subblock): void {
  if (length < decodedBytes(subblock)) {
    throw corruptError(`a subblock has ${length} bytes, not ${decodedBytes(subblock)}`);
  }
}

async function decodeJpeg(bytes: Uint8Array, subblock: Subblock): Promise<Samples> {
  const { storedWidth: width, storedHeight: height } = subblock;
  if (bitsPerSample(subblock) === 16) throw notSupportedError('JPEG of 16 bits a sample');
  const header = readJpegHeader(bytes);
  if (header.width !== width || header.height !== height) {
    throw corruptError(`a subblock is ${header.width} × ${header.height} pixels, not ${width} × ${height}`);
  }
  const components = samplesPerPixel(subblock);
  if (header.components.length !== components) {
    throw corruptError(`a subblock has ${header.components.length} components, not ${components}`);
  }
  const { rgb } = await decodeImage({ codec: 'jpeg', bytes, width, height });
  if (components === 3) return { bytes: rgb, isRgb: true };
  const grey = new Uint8Array(width * height);
  for (let i = 0; i < grey.length; i++) grey[i] = rgb[i * 3] as number;
  return { bytes: grey, isRgb: false };
}

/**
 * Removes the header of a zstd1 payload. `isSplit` states whether the low bytes of all 16-bit samples precede all their
 * high bytes.
 *
 * The header has one byte (its length, 1), or three bytes: its length (3), the chunk type 1, and options. The lowest bit of
 * the options is `isSplit`.
 * Source: ZEISS, "ZSTD1 compression" of libCZI's documentation.
 */
function readZstd1(bytes: Uint8Array): { packed: Uint8Array; isSplit: boolean } {
  const [headerLength = 0, chunkType, options = 0] = bytes;
  if (headerLength === 1) return { packed: bytes.subarray(1), isSplit: false };
  if (headerLength !== 3 || chunkType !== 1 || bytes.length < 3)
    throw corruptError('a subblock has an unknown zstd1 header');
  return { packed: bytes.subarray(3), isSplit: (options & 1) === 1 };
}

/** Joins the low bytes (first half) and the high bytes (second half) to little-endian 16-bit samples. */
function interleaveBytes(halves: Uint8Array): Uint8Array {
  const sampleCount = halves.length >> 1;
  const joined = new Uint8Array(sampleCount * 2);
  for (let i = 0; i < sampleCount; i++) {
    joined[2 * i] = halves[i] as number;
    joined[2 * i + 1] = halves[sampleCount + i] as number;
  }
  return joined;
}

/** Converts the samples of a rectangle of a subblock to RGB. */
function toRaster(
  { bytes, isRgb }: Samples,
  width: number,
  height: number,
  subblock: Subblock,
  range: GreyRange,
): Raster {
  if (isRgb) return { width, height, rgb: bytes };
  const step = samplesPerPixel(subblock);
  const isGrey = step === 1;
  const rgb = new Uint8Array(width * height * 3);
  const samples = scaleSamples(bytes, subblock, range);
  // A colour pixel is stored as blue, green, red and possibly alpha, which is ignored.
  for (let from = 0, to = 0; to < rgb.length; from += step, to += 3) {
    const greyOrBlue = samples[from] as number;
    rgb[to] = isGrey ? greyOrBlue : (samples[from + 2] as number);
    rgb[to + 1] = isGrey ? greyOrBlue : (samples[from + 1] as number);
    rgb[to + 2] = greyOrBlue;
  }
  return { width, height, rgb };
}

/** Scales samples to 8 bits so that `range` becomes 0 to 255; returns colour samples of 8 bits unchanged. */
function scaleSamples(
  bytes: Uint8Array,
  subblock: Subblock,
  range: GreyRange,
): Uint8Array | Uint8ClampedArray {
  if (bitsPerSample(subblock) === 16) return scale16Bits(bytes, range);
  return isColour(subblock) ? bytes : scale8Bits(bytes, range);
}

function scale16Bits(bytes: Uint8Array, { black, white }: GreyRange): Uint8ClampedArray {
  const scaled = new Uint8ClampedArray(bytes.length >> 1);
  const slope = 255 / Math.max(1, white - black);
  for (let i = 0; i < scaled.length; i++) {
    const sample = (bytes[2 * i] as number) | ((bytes[2 * i + 1] as number) << 8);
    scaled[i] = (sample - black) * slope;
  }
  return scaled;
}

function scale8Bits(bytes: Uint8Array, { black, white }: GreyRange): Uint8Array {
  if (black === 0 && white === 255) return bytes;
  const slope = 255 / Math.max(1, white - black);
  const scaledBySample = Uint8ClampedArray.from({ length: 256 }, (_, sample) => (sample - black) * slope);
  return bytes.map((sample) => scaledBySample[sample] as number);
}

function bytesPerPixel({ pixelType }: Subblock): number {
  const samples = pixelTypes[pixelType]?.samples;
  return samples ? samples.count * samples.bytes : 1;
}

/** Returns the size in bytes of a subblock when it is decoded. */
function decodedBytes(subblock: Subblock): number {
  return subblock.storedWidth * subblock.storedHeight * bytesPerPixel(subblock);
}
