/**
 * The first image of a TIFF file as numbers, one integer or floating-point number per pixel: masks and heatmaps. Source:
 * TIFF 6.0, sections 8, 14, 15 and 19; Adobe's TIFF Technical Note 3 (floating-point predictor); TIFF Technical Note 2 (JPEG).
 *
 * Longer than 350 lines because blocks, predictors and sample types all depend on the layout of the image.
 */
import { endianness } from 'node:os';
import { decodeJpegSamples } from '../decode/jpeg-samples.ts';
import { reverseBits } from '../decode/tiff-samples.ts';
import { unpack } from '../decode/unpack.ts';
import { completeJpeg, type JpegPrefix, jpegPrefix, tileOffset } from '../jpeg/complete-jpeg.ts';
import { notSupportedError, SlideError, type TiffCoding } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import type { TiffDirectory } from './directory.ts';
import {
  nameOfCompression,
  readGeometry,
  readRowsPerStrip,
  readSampleLayout,
  type SampleLayout,
} from './image-layout.ts';
import { tag } from './tags.ts';
import { openTiff } from './tiff-file.ts';

export type ValueArray = Uint8Array | Uint16Array | Float32Array | Float64Array;
export type ValueType = 'uint8' | 'uint16' | 'float32' | 'float64';

export interface ValueImage {
  readonly width: number;
  readonly height: number;
  /** Type of the array that can hold all values. */
  readonly type: ValueType;
  /** Red, green and blue of the values 0, 1, 2 … of a palette image; null for other images. */
  readonly palette: readonly (readonly [number, number, number])[] | null;
  /**
   * Reads `count` rows of values from row `top` into `target`. Pixels without data become NaN, which an integer array stores
   * as 0. Callers should proceed from top to bottom, because only the latest blocks are cached.
   *
   * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
   */
  readRows(top: number, count: number, target: ValueArray): Promise<void>;
}

/** Value of PhotometricInterpretation for a palette. */
const PALETTE = 3;
/** Values of SampleFormat; all other values are read as unsigned. */
const [SIGNED, FLOATING_POINT] = [2, 3];
/** The supported compressions, here called packings, by their value of the tag Compression. */
const packings: Readonly<Record<number, TiffCoding['packing']>> = {
  1: 'none',
  5: 'lzw',
  7: 'jpeg',
  8: 'deflate',
  32946: 'deflate',
  32773: 'packbits',
  50000: 'zstd',
};
/** Maximum bytes of the samples of one block. */
const maxBlockBytes = 128 * 2 ** 20;
/** Maximum bytes of cached blocks; every value is counted as 8 bytes, whatever its type. */
const maxCachedBytes = 64 * 2 ** 20;
const isHostLittleEndian = endianness() === 'LE';

/** The tiles or strips of the image, row by row. */
interface Blocks {
  /** Pixels of one block. */
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  /** Position and byte count of each block in the file. */
  readonly offsets: ArrayLike<number>;
  readonly lengths: ArrayLike<number>;
}

/**
 * Opens the first image of a TIFF file. The values of a JPEG image are those that the decoder returns, which may differ from
 * the original values because JPEG is lossy.
 *
 * @throws SlideError FORMAT_NOT_SUPPORTED for an image of several bands, another compression, or JPEG of other than
 *   unsigned 8-bit grey; FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export async function openValueTiff(source: ByteSource): Promise<ValueImage> {
  const { first: directory } = await openTiff(source);
  const geometry = await readGeometry(directory);
  const layout = await readSampleLayout(directory);
  const packing = supportedPackingOf(layout);
  const bits = layout.bitsPerSample[0] ?? 1;
  const decoder = decoderOf(bits, layout.sampleFormat);
  // The value of pixels without data, stored as text of at most 100 bytes; NaN when the file states none. `readRows` replaces this
  // value with NaN. Integers cannot represent NaN, so `type` is floating point when the file states a value.
  const statedNoData = Number.parseFloat((await directory.text(tag.GdalNoData, 100)) ?? '');
  // Floats of 32 bits contain the nearest value, for example -9999.900390625 for -9999.9.
  const noData =
    layout.sampleFormat === FLOATING_POINT && bits === 32 ? Math.fround(statedNoData) : statedNoData;
  const type = Number.isNaN(noData) || decoder.type.startsWith('float') ? decoder.type : 'float32';
  const storedBlocks = await blocksOf(directory, geometry);
  const rowBytes = Math.ceil((storedBlocks.width * bits) / 8);
  const hasUncompressedStrips = packing === 'none' && geometry.tiles === null;
  const blocks = hasUncompressedStrips ? splitStrip(storedBlocks, geometry.height, rowBytes) : storedBlocks;
  if (rowBytes * blocks.height > maxBlockBytes) {
    throw new SlideError('LIMIT_EXCEEDED', `A tile or strip has ${rowBytes * blocks.height} bytes`);
  }
  const prefix = packing === 'jpeg' ? jpegPrefix(await directory.bytes(tag.JPEGTables), 'grey') : null;
  const cache = new Map<number, ArrayLike<number>>();
  const maxCachedBlocks = Math.max(1, Math.floor(maxCachedBytes / (blocks.width * blocks.height * 8)));

  async function readBlock(index: number): Promise<ArrayLike<number> | null> {
    const cached = cache.get(index);
    if (cached !== undefined) return cached;
    const offset = blocks.offsets[index] ?? 0;
    const length = blocks.lengths[index] ?? 0;
    if (offset === 0 || length === 0) return null; // A sparse file omits blocks without data.
    if (offset + length > source.size) {
      throw new SlideError('FILE_TRUNCATED', `The file ends before the end of its tile or strip ${index}`);
    }
    const row = Math.floor(index / blocks.columns);
    const isTiled = geometry.tiles !== null;
    const rows = isTiled ? blocks.height : Math.min(blocks.height, geometry.height - row * blocks.height);
    // The samples of a block have at most `maxBlockBytes`, so a longer block is damaged. Reading only its beginning limits the memory.
    const packed = { source, offset, length: Math.min(length, maxBlockBytes) };
    const unpacked =
      packing === 'jpeg'
        ? await readJpegBlock(packed, prefix as JpegPrefix, blocks.width, rows)
        : await readPackedBlock(
            packed,
            { packing, fillOrder: layout.fillOrder },
            rows * rowBytes,
            blocks.height * rowBytes,
          );
    const isLittleEndian = undoPredictor(unpacked, { layout, bits, rows, rowBytes, directory });
    const values = decoder.decode(unpacked, { rows, width: blocks.width, rowBytes, isLittleEndian });
    // A Map lists its keys in the order of insertion, so this loop deletes the oldest blocks.
    for (const oldest of cache.keys()) if (cache.size >= maxCachedBlocks) cache.delete(oldest);
    cache.set(index, values);
    return values;
  }

  return {
    width: geometry.width,
    height: geometry.height,
    type,
    palette: layout.photometric === PALETTE ? await paletteOf(directory) : null,
    async readRows(top, count, target) {
      const firstRow = Math.floor(top / blocks.height);
      const lastRow = Math.floor((top + count - 1) / blocks.height);
      for (let row = firstRow; row <= lastRow; row++) {
        for (let column = 0; column < blocks.columns; column++) {
          const values = await readBlock(row * blocks.columns + column);
          const left = column * blocks.width;
          const width = Math.min(blocks.width, geometry.width - left);
          const firstY = Math.max(top, row * blocks.height);
          const endY = Math.min(top + count, (row + 1) * blocks.height);
          for (let y = firstY; y < endY; y++) {
            const targetStart = (y - top) * geometry.width + left;
            if (values === null) {
              target.fill(Number.NaN, targetStart, targetStart + width);
              continue;
            }
            const blockStart = (y - row * blocks.height) * blocks.width;
            for (let x = 0; x < width; x++) {
              const value = values[blockStart + x] as number;
              target[targetStart + x] = value === noData ? Number.NaN : value;
            }
          }
        }
      }
    },
  };
}

interface PackedBlock {
  readonly source: ByteSource;
  readonly offset: number;
  readonly length: number;
}

/**
 * Reads and decompresses a block.
 *
 * @param maxBytes decompressed bytes above which the block is rejected
 * @returns a copy of exactly `byteCount` bytes, aligned so that a typed array of larger samples can view it
 */
async function readPackedBlock(
  { source, offset, length }: PackedBlock,
  { packing, fillOrder }: { packing: Exclude<TiffCoding['packing'], 'jpeg'>; fillOrder: number },
  byteCount: number,
  maxBytes: number,
): Promise<Uint8Array> {
  const packed = Buffer.alloc(length);
  await source.readInto(packed, 0, offset, length);
  const inBitOrder = fillOrder === 2 ? reverseBits(packed) : packed; // with 2, the first bit of a byte is its lowest
  return Uint8Array.from(unpack(inBitOrder, packing, byteCount, maxBytes).subarray(0, byteCount));
}

/** Reads and decodes a JPEG block. @returns width × rows values */
async function readJpegBlock(
  { source, offset, length }: PackedBlock,
  prefix: JpegPrefix,
  width: number,
  rows: number,
): Promise<Uint8Array> {
  const streamAt = tileOffset(prefix);
  const buffer = new Uint8Array(streamAt + length);
  await source.readInto(buffer, streamAt, offset, length);
  const samples = await decodeJpegSamples(completeJpeg(buffer, prefix).jpeg, width, rows, 1); // 1 component: grey
  return new Uint8Array(samples.subarray(0, width * rows));
}

/** Returns the compression of a supported image. @throws SlideError FORMAT_NOT_SUPPORTED */
function supportedPackingOf(layout: SampleLayout): TiffCoding['packing'] {
  if (layout.samplesPerPixel !== 1 || layout.depth !== 1) {
    throw notSupportedError(`values of ${layout.samplesPerPixel} bands and ${layout.depth} planes in depth`);
  }
  const packing = packings[layout.compression];
  if (packing === undefined) {
    throw notSupportedError(`values with ${nameOfCompression(layout.compression)}`);
  }
  const { bitsPerSample, sampleFormat, photometric } = layout;
  const isUnsigned = sampleFormat !== SIGNED && sampleFormat !== FLOATING_POINT;
  const isUnsignedGrey = bitsPerSample[0] === 8 && isUnsigned && photometric !== PALETTE;
  if (packing === 'jpeg' && !isUnsignedGrey) {
    const description = `${bitsPerSample[0]} bits, sample format ${sampleFormat}, photometric ${photometric}`;
    throw notSupportedError(`JPEG values of ${description}`);
  }
  return packing;
}

async function blocksOf(
  directory: TiffDirectory,
  geometry: Awaited<ReturnType<typeof readGeometry>>,
): Promise<Blocks> {
  const { tiles, width } = geometry;
  const height = tiles?.height ?? (await readRowsPerStrip(directory, geometry));
  const columns = tiles?.columns ?? 1;
  const count = columns * (tiles?.rows ?? Math.ceil(geometry.height / height));
  const [offsetsTag, lengthsTag] = tiles
    ? ([tag.TileOffsets, tag.TileByteCounts] as const)
    : ([tag.StripOffsets, tag.StripByteCounts] as const);
  const listedCount = Math.min(directory.count(offsetsTag), directory.count(lengthsTag));
  if (listedCount < count) {
    throw new SlideError('FILE_CORRUPT', `The image needs ${count} tiles or strips and lists ${listedCount}`);
  }
  return {
    width: tiles?.width ?? width,
    height,
    columns,
    offsets: await directory.table(offsetsTag, count),
    lengths: await directory.table(lengthsTag, count),
  };
}

/** Bytes of the blocks into which a single strip is split. */
const SPLIT_STRIP_BYTES = 2 ** 22;

/** Splits the only strip of an uncompressed image, so that it need not be in memory as a whole. Several strips stay as they are. */
function splitStrip(blocks: Blocks, imageHeight: number, rowBytes: number): Blocks {
  const height = Math.max(1, Math.floor(SPLIT_STRIP_BYTES / rowBytes));
  if (blocks.offsets.length !== 1 || blocks.height <= height) return blocks;
  const count = Math.ceil(imageHeight / height);
  const rowsOf = (n: number) => Math.min(height, imageHeight - n * height);
  const first = blocks.offsets[0] ?? 0;
  return {
    width: blocks.width,
    height,
    columns: 1,
    offsets: Float64Array.from({ length: count }, (_, n) => first + n * height * rowBytes),
    lengths: Float64Array.from({ length: count }, (_, n) => rowsOf(n) * rowBytes),
  };
}

/** Layout of the decompressed rows of a block. */
interface RowLayout {
  readonly rows: number;
  readonly width: number;
  /** Bytes of one row; every row begins at a new byte. */
  readonly rowBytes: number;
  readonly isLittleEndian: boolean;
}

/** How the samples of an image become numbers. `decode` may change the byte order of `bytes` in place. */
interface Decoder {
  readonly type: ValueType;
  decode(bytes: Uint8Array, rowLayout: RowLayout): ArrayLike<number>;
}

/**
 * Returns how samples of this size and format become numbers.
 *
 * @param format value of SampleFormat
 * @throws SlideError FORMAT_NOT_SUPPORTED
 */
function decoderOf(bits: number, format: number): Decoder {
  /** Returns the decoder of samples that a typed array can view. @param type a `ValueType` that holds all their values */
  const viewDecoder = (viewOf: (buffer: ArrayBuffer) => ArrayLike<number>, type: ValueType): Decoder => ({
    type,
    decode(bytes, { isLittleEndian }) {
      if (isLittleEndian !== isHostLittleEndian) {
        if (bits === 16) Buffer.from(bytes.buffer).swap16();
        else if (bits === 32) Buffer.from(bytes.buffer).swap32();
        else if (bits === 64) Buffer.from(bytes.buffer).swap64();
      }
      return viewOf(bytes.buffer as ArrayBuffer);
    },
  });
  const isFloat = format === FLOATING_POINT;
  const isSigned = format === SIGNED;
  if (isFloat && bits === 32) return viewDecoder((buffer) => new Float32Array(buffer), 'float32');
  if (isFloat && bits === 64) return viewDecoder((buffer) => new Float64Array(buffer), 'float64');
  if (isFloat && bits === 16) return viewDecoder((buffer) => new Float16Array(buffer), 'float32');
  if (isSigned && bits === 8) return viewDecoder((buffer) => new Int8Array(buffer), 'float32');
  if (isSigned && bits === 16) return viewDecoder((buffer) => new Int16Array(buffer), 'float32');
  if (isSigned && bits === 32) return viewDecoder((buffer) => new Int32Array(buffer), 'float64');
  if (!isFloat && bits === 8) return viewDecoder((buffer) => new Uint8Array(buffer), 'uint8');
  if (!isFloat && bits === 16) return viewDecoder((buffer) => new Uint16Array(buffer), 'uint16');
  if (!isFloat && bits === 32) return viewDecoder((buffer) => new Uint32Array(buffer), 'float64');
  // Integers above 2^53 become the nearest floating-point number.
  if (isSigned && bits === 64)
    return viewDecoder((buffer) => Float64Array.from(new BigInt64Array(buffer), Number), 'float64');
  if (!isFloat && bits === 64)
    return viewDecoder((buffer) => Float64Array.from(new BigUint64Array(buffer), Number), 'float64');
  if (!isFloat && [1, 2, 4].includes(bits)) return { type: 'uint8', decode: bitDecoder(bits) };
  throw notSupportedError(`values of ${bits} bits (sample format ${format})`);
}

/** Returns the function that decodes samples of 1, 2 or 4 bits. The first sample of a byte is in its high bits. */
function bitDecoder(bits: number): Decoder['decode'] {
  const samplesPerByte = 8 / bits;
  const mask = 2 ** bits - 1;
  return (bytes, { rows, width, rowBytes }) => {
    const values = new Uint8Array(rows * width);
    for (let row = 0, target = 0; row < rows; row++) {
      for (let x = 0; x < width; x++) {
        const byte = bytes[row * rowBytes + Math.floor(x / samplesPerByte)] as number;
        const shift = 8 - bits * ((x % samplesPerByte) + 1);
        values[target++] = (byte >> shift) & mask;
      }
    }
    return values;
  };
}

interface PredictedRows {
  readonly layout: SampleLayout;
  readonly bits: number;
  readonly rows: number;
  readonly rowBytes: number;
  readonly directory: TiffDirectory;
}

/**
 * Undoes predictor 2 or 3 in place. With predictor 2, each stored sample is the difference from its left neighbour.
 *
 * @returns whether the samples are little-endian afterwards
 */
function undoPredictor(
  bytes: Uint8Array,
  { layout, bits, rows, rowBytes, directory }: PredictedRows,
): boolean {
  const { isLittleEndian } = directory;
  const size = bits / 8; // bytes per sample
  const packing = packings[layout.compression];
  // Predictor 1 is none. Uncompressed samples, JPEG and samples below 8 bits have none either, whatever the tag says.
  if (packing === 'none' || packing === 'jpeg' || layout.predictor === 1 || size < 1) return isLittleEndian;
  if (layout.predictor === 3) return undoFloatPredictor(bytes, rows, rowBytes, size);
  if (layout.predictor !== 2) {
    throw notSupportedError(`predictor ${layout.predictor}`);
  }
  // Adds the previous sample byte by byte with carry, because samples have 1 to 8 bytes in either byte order.
  for (let row = 0; row < rows; row++) {
    for (let sampleAt = row * rowBytes + size; sampleAt < (row + 1) * rowBytes; sampleAt += size) {
      let carry = 0;
      for (let n = 0; n < size; n++) {
        const i = isLittleEndian ? sampleAt + n : sampleAt + size - 1 - n; // the low byte first
        const sum = (bytes[i] as number) + (bytes[i - size] as number) + carry;
        bytes[i] = sum;
        carry = sum >> 8;
      }
    }
  }
  return isLittleEndian;
}

/**
 * Undoes the floating-point predictor. A row contains the high bytes of all samples, then their next bytes, and so on, each
 * byte as the difference from the byte before it.
 *
 * @param size bytes per sample
 * @returns false: the samples are big-endian afterwards
 */
function undoFloatPredictor(bytes: Uint8Array, rows: number, rowBytes: number, size: number): false {
  const width = rowBytes / size;
  const predictedRow = new Uint8Array(rowBytes);
  for (let row = 0; row < rows; row++) {
    const start = row * rowBytes;
    for (let i = start + 1; i < start + rowBytes; i++)
      bytes[i] = (bytes[i] as number) + (bytes[i - 1] as number);
    predictedRow.set(bytes.subarray(start, start + rowBytes));
    for (let x = 0; x < width; x++)
      for (let n = 0; n < size; n++) bytes[start + x * size + n] = predictedRow[n * width + x] as number;
  }
  return false;
}

/**
 * Reads the first 256 colours of the palette (all reds, all greens, all blues). Its values have 16 bits, of which some writers
 * use only the low 8: then no value exceeds 255. Source: libtiff (tif_getimage.c, checkcmap).
 */
async function paletteOf(directory: TiffDirectory): Promise<ValueImage['palette']> {
  const numbers = (await directory.numbers(tag.ColorMap)) ?? [];
  const count = Math.floor(numbers.length / 3);
  const shift = numbers.some((value) => value > 255) ? 8 : 0;
  const byteAt = (n: number) => (numbers[n] ?? 0) >> shift;
  return Array.from({ length: Math.min(count, 256) }, (_, i) => [
    byteAt(i),
    byteAt(count + i),
    byteAt(2 * count + i),
  ]);
}
