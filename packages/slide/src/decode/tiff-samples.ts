import { endianness } from 'node:os';
import { type EncodedImage, SlideError, type TiffCoding } from '../model/slide.ts';
import { decodeJpegSamples } from './jpeg-samples.ts';
import { unpack } from './unpack.ts';

/** Byte order of this machine. */
const IS_LITTLE_ENDIAN = endianness() === 'LE';
/** Maximum bytes of the unpacked samples of one image. */
const MAX_BYTES = 256 * 2 ** 20;

/**
 * Reads the samples of a TIFF tile, or of some adjacent strips: unpacks the bytes, undoes differencing (predictor 2)
 * and interleaves planes.
 *
 * Source: TIFF 6.0, sections 3 (strips), 7 (FillOrder, PlanarConfiguration), 14 (differencing) and 15 (tiles).
 *
 * @returns width × height × samplesPerPixel samples of one byte each: the high byte of 16-bit samples; smaller samples
 *   are not scaled
 * @throws SlideError FILE_CORRUPT, LIMIT_EXCEEDED
 */
export async function readTiffSamples(image: EncodedImage, coding: TiffCoding): Promise<Uint8Array> {
  const { width, height } = image;
  const { samplesPerPixel, isPlanar } = coding;
  /** The samples of the whole image; null until a block is copied into it. */
  let imageSamples: Uint8Array | null = null;
  for await (const { block, size, top, plane, isOnly } of readBlocks(image, coding)) {
    const { rows, rowBytes, blockSamplesPerPixel } = size;
    const samples = expandToBytes(block, width * blockSamplesPerPixel, rows, rowBytes, coding);
    // Most tiles have a single block, which is then the result itself.
    if (isOnly) return samples;
    imageSamples ??= new Uint8Array(width * height * samplesPerPixel);
    const blockStart = top * width * samplesPerPixel;
    if (!isPlanar) {
      imageSamples.set(samples, blockStart);
      continue;
    }
    for (let i = 0; i < samples.length; i++) {
      imageSamples[blockStart + plane + i * samplesPerPixel] = samples[i] as number;
    }
  }
  return imageSamples ?? new Uint8Array();
}

/**
 * Reads all 16 bits of the samples of a TIFF tile, or of some adjacent strips, with one 16-bit sample per pixel.
 *
 * @throws SlideError FILE_CORRUPT, LIMIT_EXCEEDED
 */
export async function readTiffWords(image: EncodedImage, coding: TiffCoding): Promise<Uint16Array> {
  const words = new Uint16Array(image.width * image.height);
  for await (const { block, size, top } of readBlocks(image, coding)) {
    // Copied, because a 16-bit view needs an even address in memory.
    const stored = Uint8Array.from(block.subarray(0, size.rows * image.width * 2));
    if (coding.isLittleEndian !== IS_LITTLE_ENDIAN) Buffer.from(stored.buffer).swap16();
    words.set(new Uint16Array(stored.buffer), top * image.width);
  }
  return words;
}

/** A block (a separately compressed tile, strip, or plane of one) after decompression. */
interface UnpackedBlock {
  /** At least rows × rowBytes bytes. */
  readonly block: Uint8Array;
  readonly size: BlockSize;
  /** Row of the image at which the block starts. */
  readonly top: number;
  /** In planar images: which sample of each pixel the block contains, from 0. Otherwise 0. */
  readonly plane: number;
  /** Whether the image has no other block. */
  readonly isOnly: boolean;
}

/** Unpacks the blocks of an image one after the other. */
async function* readBlocks(image: EncodedImage, coding: TiffCoding): AsyncGenerator<UnpackedBlock> {
  const { width, height } = image;
  const { samplesPerPixel, bits, isPlanar, blockRows, blockBytes } = coding;
  const blockSamplesPerPixel = isPlanar ? 1 : samplesPerPixel;
  const planes = isPlanar ? samplesPerPixel : 1;
  const rowBytes = Math.ceil((width * blockSamplesPerPixel * bits) / 8);
  const maxBytes = rowBytes * Math.max(height, blockRows) * planes; // the last block may be padded to `blockRows`
  if (maxBytes > MAX_BYTES) {
    throw new SlideError(
      'LIMIT_EXCEEDED',
      `The samples of a tile have ${maxBytes} bytes, more than ${MAX_BYTES}`,
    );
  }
  const blocksPerPlane = Math.ceil(height / blockRows);
  if (blockBytes.length !== blocksPerPlane * planes) {
    throw new SlideError(
      'FILE_CORRUPT',
      `A tile has ${blockBytes.length} blocks of rows, not ${blocksPerPlane * planes}`,
    );
  }
  let at = 0;
  for (const [i, length] of blockBytes.entries()) {
    const top = (i % blocksPerPlane) * blockRows;
    const rows = Math.min(blockRows, height - top);
    const stored = image.bytes.subarray(at, at + length);
    at += length;
    const size = { width, rows, rowBytes, blockSamplesPerPixel };
    const block = await readBlock(stored, size, coding);
    yield { block, size, top, plane: Math.floor(i / blocksPerPlane), isOnly: blockBytes.length === 1 };
  }
}

interface BlockSize {
  readonly width: number;
  readonly rows: number;
  /** Bytes of a row; every row starts at a byte boundary. */
  readonly rowBytes: number;
  /** 1 in planar images, in which a block contains one sample of each pixel. */
  readonly blockSamplesPerPixel: number;
}

/** Unpacks a block. @returns at least rows × rowBytes bytes */
async function readBlock(stored: Uint8Array, size: BlockSize, coding: TiffCoding): Promise<Uint8Array> {
  const { packing, blockRows } = coding;
  if (packing === 'jpeg') return decodeJpegSamples(stored, size.width, size.rows, size.blockSamplesPerPixel);
  const packed = coding.isBitReversed ? reverseBits(stored) : stored;
  const bytes = unpack(packed, packing, size.rows * size.rowBytes, blockRows * size.rowBytes);
  // Uncompressed bytes are the caller's memory and must not be changed; TIFF never stores them as differences.
  if (coding.isDifferenced && packing !== 'none') undoDifferencing(bytes, size, coding);
  return bytes;
}

/**
 * Undoes differencing of 8-bit or 16-bit samples, in place: each sample is stored as its difference from the sample of
 * the pixel to the left, modulo 2^bits.
 */
function undoDifferencing(
  bytes: Uint8Array,
  { rows, rowBytes, blockSamplesPerPixel: samplesPerPixel }: BlockSize,
  coding: TiffCoding,
): void {
  /** Positions of the low and the high byte within a 16-bit sample. */
  const [low, high] = coding.isLittleEndian ? [0, 1] : [1, 0];
  for (let row = 0; row < rows; row++) {
    const start = row * rowBytes;
    const end = start + rowBytes;
    if (coding.bits === 8) {
      for (let i = start + samplesPerPixel; i < end; i++)
        bytes[i] = (bytes[i] as number) + (bytes[i - samplesPerPixel] as number);
      continue;
    }
    /** Distance in bytes to the same sample of the pixel to the left. */
    const back = samplesPerPixel * 2;
    for (let i = start + back; i < end; i += 2) {
      const sum = (bytes[i + low] as number) + (bytes[i - back + low] as number);
      bytes[i + low] = sum;
      // `sum >> 8` is the carry of the low bytes.
      bytes[i + high] = (bytes[i + high] as number) + (bytes[i - back + high] as number) + (sum >> 8);
    }
  }
}

/** Returns one byte for each sample: the high byte of 16-bit samples, the value of samples below 8 bits. */
function expandToBytes(
  bytes: Uint8Array,
  samplesPerRow: number,
  rows: number,
  rowBytes: number,
  { bits, isLittleEndian }: TiffCoding,
): Uint8Array {
  if (bits === 8) return bytes.subarray(0, samplesPerRow * rows);
  const samples = new Uint8Array(samplesPerRow * rows);
  if (bits === 16) {
    for (let to = 0, from = isLittleEndian ? 1 : 0; to < samples.length; to++, from += 2)
      samples[to] = bytes[from] as number;
    return samples;
  }
  const samplesPerByte = 8 / bits;
  const mask = 2 ** bits - 1;
  for (let row = 0, to = 0; row < rows; row++) {
    for (let i = 0; i < samplesPerRow; i++) {
      const byte = bytes[row * rowBytes + Math.floor(i / samplesPerByte)] as number;
      // The first sample of a byte has its highest bits.
      samples[to++] = (byte >> (8 - bits * ((i % samplesPerByte) + 1))) & mask;
    }
  }
  return samples;
}

/** Each byte with the order of its bits reversed. */
const reversedBytes = Uint8Array.from({ length: 256 }, (_, byte) => {
  let bits = 0;
  for (let i = 0; i < 8; i++) bits |= ((byte >> i) & 1) << (7 - i);
  return bits;
});

/** Returns a copy of bytes in which the order of the bits of each byte is reversed. */
export function reverseBits(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte) => reversedBytes[byte] as number);
}
