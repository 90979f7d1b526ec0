/**
 * Reads the first image of a TIFF file as one band of numbers: masks and heatmaps, also of floating point, which are no
 * pictures. Source: TIFF 6.0, sections 8, 14, 15 and 19; Adobe's TIFF Technical Note 3 (floating-point predictor);
 * TIFF Technical Note 2 (JPEG).
 */
import { endianness } from 'node:os';
import { decodeJpegSamples } from '../decode/jpeg-samples.ts';
import { unpack } from '../decode/unpack.ts';
import { completeJpeg, type JpegPrefix, jpegPrefix, streamPlace } from '../jpeg/complete-jpeg.ts';
import { SlideError, type TiffCoding } from '../model/slide.ts';
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

/** One band of numbers. */
export interface ValueImage {
  readonly width: number;
  readonly height: number;
  readonly type: ValueType;
  /** Colours of the values 0, 1, 2 … of a palette image. */
  readonly palette: readonly (readonly [number, number, number])[] | null;
  /**
   * Reads rows of values; values without data are NaN. The rows of consecutive calls follow each other.
   *
   * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
   */
  readRows(top: number, count: number, target: ValueArray): Promise<void>;
}

const packings: Readonly<Record<number, TiffCoding['packing']>> = {
  1: 'none',
  5: 'lzw',
  7: 'jpeg',
  8: 'deflate',
  32946: 'deflate',
  32773: 'packbits',
  50000: 'zstd',
};
const maxBlockBytes = 128 * 2 ** 20;
const cachedBytes = 64 * 2 ** 20;
const isHostLittleEndian = endianness() === 'LE';

interface Blocks {
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  readonly offsets: ArrayLike<number>;
  readonly lengths: ArrayLike<number>;
}

/**
 * The values of a JPEG image are what the JPEG decoder returns: its compression has changed the values that were written.
 *
 * @throws SlideError FORMAT_NOT_SUPPORTED for an image of several bands, another compression, or JPEG of other than
 *   unsigned 8-bit grey; FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export async function openValueTiff(source: ByteSource): Promise<ValueImage> {
  const { first: directory } = await openTiff(source);
  const geometry = await readGeometry(directory);
  const layout = await readSampleLayout(directory);
  const packing = requireBand(layout);
  const bits = layout.bitsPerSample[0] ?? 1;
  const sample = sampleOf(bits, layout.sampleFormat);
  const noData = Number.parseFloat((await directory.text(tag.GdalNoData, 100)) ?? '');
  const type = Number.isNaN(noData) || sample.type.startsWith('float') ? sample.type : 'float32';
  const stored = await blocksOf(directory, geometry);
  const rowBytes = Math.ceil((stored.width * bits) / 8);
  const isPlain = packing === 'none' && geometry.tiles === null;
  const blocks = isPlain ? splitStrips(stored, geometry.height, rowBytes) : stored;
  if (rowBytes * blocks.height > maxBlockBytes) {
    throw new SlideError('LIMIT_EXCEEDED', `A block has ${rowBytes * blocks.height} bytes of samples`);
  }
  const prefix = packing === 'jpeg' ? jpegPrefix(await directory.bytes(tag.JPEGTables), 'grey') : null;
  const cache = new Map<number, ArrayLike<number>>();
  const mostCached = Math.max(1, Math.floor(cachedBytes / (blocks.width * blocks.height * 8)));

  async function readBlock(index: number): Promise<ArrayLike<number> | null> {
    const known = cache.get(index);
    if (known !== undefined) return known;
    const offset = blocks.offsets[index] ?? 0;
    const length = blocks.lengths[index] ?? 0;
    if (offset === 0 || length === 0) return null; // sparse: no data
    if (offset + length > source.size) {
      throw new SlideError('FILE_TRUNCATED', `The file ends before its block ${index}`);
    }
    const row = Math.floor(index / blocks.columns);
    const isTiled = geometry.tiles !== null;
    const rows = isTiled ? blocks.height : Math.min(blocks.height, geometry.height - row * blocks.height);
    const packed = { source, offset, length: Math.min(length, maxBlockBytes) };
    const stored =
      packing === 'jpeg'
        ? await readJpegBlock(packed, prefix as JpegPrefix, blocks.width, rows)
        : await readPackedBlock(packed, packing, rows * rowBytes, blocks.height * rowBytes);
    const isLittleEndian = undoPredictor(stored, { layout, bits, rows, rowBytes, directory });
    const values = sample.decode(stored, { rows, width: blocks.width, rowBytes, isLittleEndian });
    for (const oldest of cache.keys()) if (cache.size >= mostCached) cache.delete(oldest);
    cache.set(index, values);
    return values;
  }

  return {
    width: geometry.width,
    height: geometry.height,
    type,
    palette: layout.photometric === 3 ? await paletteOf(directory) : null,
    async readRows(top, count, target) {
      const firstRow = Math.floor(top / blocks.height);
      const lastRow = Math.floor((top + count - 1) / blocks.height);
      for (let row = firstRow; row <= lastRow; row++) {
        for (let column = 0; column < blocks.columns; column++) {
          const values = await readBlock(row * blocks.columns + column);
          const left = column * blocks.width;
          const width = Math.min(blocks.width, geometry.width - left);
          const from = Math.max(top, row * blocks.height);
          const to = Math.min(top + count, (row + 1) * blocks.height);
          for (let y = from; y < to; y++) {
            const at = (y - top) * geometry.width + left;
            if (values === null) {
              target.fill(Number.NaN, at, at + width);
              continue;
            }
            const start = (y - row * blocks.height) * blocks.width;
            for (let x = 0; x < width; x++) {
              const value = values[start + x] as number;
              target[at + x] = value === noData ? Number.NaN : value;
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

/** @returns a copy of exactly `expected` bytes, which a view of larger samples can be made of */
async function readPackedBlock(
  { source, offset, length }: PackedBlock,
  packing: Exclude<TiffCoding['packing'], 'jpeg'>,
  expected: number,
  most: number,
): Promise<Uint8Array> {
  const packed = Buffer.alloc(length);
  await source.readInto(packed, 0, offset, length);
  return Uint8Array.from(unpack(packed, packing, expected, most).subarray(0, expected));
}

/** @returns width × rows values */
async function readJpegBlock(
  { source, offset, length }: PackedBlock,
  prefix: JpegPrefix,
  width: number,
  rows: number,
): Promise<Uint8Array> {
  const at = streamPlace(prefix);
  const buffer = new Uint8Array(at + length);
  await source.readInto(buffer, at, offset, length);
  const samples = await decodeJpegSamples(completeJpeg(buffer, prefix).jpeg, width, rows, 1);
  return new Uint8Array(samples.subarray(0, width * rows));
}

/** @throws SlideError FORMAT_NOT_SUPPORTED */
function requireBand(layout: SampleLayout): TiffCoding['packing'] {
  if (layout.samplesPerPixel !== 1 || layout.depth !== 1) {
    throw new SlideError('FORMAT_NOT_SUPPORTED', `The image has ${layout.samplesPerPixel} bands, not one`);
  }
  const packing = packings[layout.compression];
  if (packing === undefined) {
    throw new SlideError('FORMAT_NOT_SUPPORTED', `Values with ${nameOfCompression(layout.compression)}`);
  }
  const { bitsPerSample, sampleFormat, photometric } = layout;
  const isGrey = bitsPerSample[0] === 8 && sampleFormat !== 2 && sampleFormat !== 3 && photometric !== 3;
  if (packing === 'jpeg' && !isGrey) {
    const found = `${bitsPerSample[0]} bits, sample format ${sampleFormat}, photometric ${photometric}`;
    throw new SlideError('FORMAT_NOT_SUPPORTED', `JPEG values of ${found}`);
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
  const [offsets, lengths] = tiles
    ? ([tag.TileOffsets, tag.TileByteCounts] as const)
    : ([tag.StripOffsets, tag.StripByteCounts] as const);
  if (directory.count(offsets) < count || directory.count(lengths) < count) {
    throw new SlideError('FILE_CORRUPT', `The image has ${directory.count(offsets)} of ${count} blocks`);
  }
  return {
    width: tiles?.width ?? width,
    height,
    columns,
    offsets: await directory.table(offsets, count),
    lengths: await directory.table(lengths, count),
  };
}

/** Splits the strip of an image that is stored as one, so that it need not be in memory as a whole. */
function splitStrips(blocks: Blocks, imageHeight: number, rowBytes: number): Blocks {
  const height = Math.max(1, Math.floor(2 ** 22 / rowBytes));
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

interface StoredRows {
  readonly rows: number;
  readonly width: number;
  readonly rowBytes: number;
  readonly isLittleEndian: boolean;
}

interface Sample {
  readonly type: ValueType;
  decode(bytes: Uint8Array, rows: StoredRows): ArrayLike<number>;
}

/** @throws SlideError FORMAT_NOT_SUPPORTED */
function sampleOf(bits: number, format: number): Sample {
  const view = (make: (buffer: ArrayBuffer) => ArrayLike<number>, type: ValueType): Sample => ({
    type,
    decode(bytes, { isLittleEndian }) {
      if (isLittleEndian !== isHostLittleEndian) {
        if (bits === 16) Buffer.from(bytes.buffer).swap16();
        else if (bits === 32) Buffer.from(bytes.buffer).swap32();
        else if (bits === 64) Buffer.from(bytes.buffer).swap64();
      }
      return make(bytes.buffer as ArrayBuffer);
    },
  });
  if (format === 3 && bits === 32) return view((buffer) => new Float32Array(buffer), 'float32');
  if (format === 3 && bits === 64) return view((buffer) => new Float64Array(buffer), 'float64');
  if (format === 3 && bits === 16) return view((buffer) => new Float16Array(buffer), 'float32');
  if (format === 2 && bits === 8) return view((buffer) => new Int8Array(buffer), 'float32');
  if (format === 2 && bits === 16) return view((buffer) => new Int16Array(buffer), 'float32');
  if (format === 2 && bits === 32) return view((buffer) => new Int32Array(buffer), 'float64');
  if (format !== 3 && bits === 8) return view((buffer) => new Uint8Array(buffer), 'uint8');
  if (format !== 3 && bits === 16) return view((buffer) => new Uint16Array(buffer), 'uint16');
  if (format !== 3 && bits === 32) return view((buffer) => new Uint32Array(buffer), 'float64');
  if (format !== 3 && [1, 2, 4].includes(bits)) return { type: 'uint8', decode: decodeBits(bits) };
  throw new SlideError('FORMAT_NOT_SUPPORTED', `Values of ${bits} bits (sample format ${format})`);
}

function decodeBits(bits: number): Sample['decode'] {
  const perByte = 8 / bits;
  const mask = 2 ** bits - 1;
  return (bytes, { rows, width, rowBytes }) => {
    const values = new Uint8Array(rows * width);
    for (let row = 0, to = 0; row < rows; row++) {
      for (let x = 0; x < width; x++) {
        const byte = bytes[row * rowBytes + Math.floor(x / perByte)] as number;
        values[to++] = (byte >> (8 - bits * ((x % perByte) + 1))) & mask;
      }
    }
    return values;
  };
}

interface Predicted {
  readonly layout: SampleLayout;
  readonly bits: number;
  readonly rows: number;
  readonly rowBytes: number;
  readonly directory: TiffDirectory;
}

/** Undoes differencing in place. @returns whether the samples are little-endian now */
function undoPredictor(bytes: Uint8Array, { layout, bits, rows, rowBytes, directory }: Predicted): boolean {
  const { littleEndian } = directory;
  const size = bits / 8;
  if (layout.compression === 1 || layout.compression === 7 || layout.predictor === 1 || size < 1)
    return littleEndian;
  if (layout.predictor === 3) return undoFloatPredictor(bytes, rows, rowBytes, size);
  if (layout.predictor !== 2) {
    throw new SlideError('FORMAT_NOT_SUPPORTED', `Predictor ${layout.predictor}`);
  }
  // A sample is a number of `size` bytes, added with carry from its low byte on.
  for (let row = 0; row < rows; row++) {
    for (let at = row * rowBytes + size; at < (row + 1) * rowBytes; at += size) {
      let carry = 0;
      for (let n = 0; n < size; n++) {
        const i = littleEndian ? at + n : at + size - 1 - n;
        const sum = (bytes[i] as number) + (bytes[i - size] as number) + carry;
        bytes[i] = sum;
        carry = sum >> 8;
      }
    }
  }
  return littleEndian;
}

/** Differences of bytes, which stand in planes from the high byte to the low one. */
function undoFloatPredictor(bytes: Uint8Array, rows: number, rowBytes: number, size: number): false {
  const width = rowBytes / size;
  const line = new Uint8Array(rowBytes);
  for (let row = 0; row < rows; row++) {
    const start = row * rowBytes;
    for (let i = start + 1; i < start + rowBytes; i++)
      bytes[i] = (bytes[i] as number) + (bytes[i - 1] as number);
    line.set(bytes.subarray(start, start + rowBytes));
    for (let x = 0; x < width; x++)
      for (let n = 0; n < size; n++) bytes[start + x * size + n] = line[n * width + x] as number;
  }
  return false;
}

async function paletteOf(directory: TiffDirectory): Promise<ValueImage['palette']> {
  const numbers = (await directory.numbers(tag.ColorMap)) ?? [];
  const count = Math.floor(numbers.length / 3);
  const channel = (n: number) => (numbers[n] ?? 0) >> 8;
  return Array.from({ length: Math.min(count, 256) }, (_, i) => [
    channel(i),
    channel(count + i),
    channel(2 * count + i),
  ]);
}
