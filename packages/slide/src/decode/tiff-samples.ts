import { endianness } from 'node:os';
import { type EncodedImage, SlideError, type TiffCoding } from '../model/slide.ts';
import { decodeJpegSamples } from './jpeg-samples.ts';
import { unpack } from './unpack.ts';

/** Byte order of numbers in memory. */
const IS_LITTLE_ENDIAN = endianness() === 'LE';
/** Maximum bytes of a picture's samples. */
const MAX_BYTES = 256 * 2 ** 20;

/**
 * Reads the samples of a TIFF tile or of some strips: unpacks them, undoes differencing and interleaves
 * planes.
 *
 * Source: TIFF 6.0, sections 3 (strips), 7 (FillOrder, PlanarConfiguration), 14 (differencing) and 15
 * (tiles).
 *
 * @returns width × height × samplesPerPixel; samples of fewer than 8 bits unchanged, of 16 bits their high
 *   byte
 * @throws SlideError FILE_CORRUPT, LIMIT_EXCEEDED
 */
export async function readTiffSamples(image: EncodedImage, coding: TiffCoding): Promise<Uint8Array> {
  const { width, height } = image;
  const { samplesPerPixel, isPlanar } = coding;
  let whole: Uint8Array | null = null;
  for await (const { block, size, top, plane, isOnly } of readBlocks(image, coding)) {
    const { rows, rowBytes, perPixel } = size;
    const samples = expandToBytes(block, width * perPixel, rows, rowBytes, coding);
    // Most tiles are one interleaved block, which is the result itself.
    if (isOnly) return samples;
    whole ??= new Uint8Array(width * height * samplesPerPixel);
    if (!isPlanar) whole.set(samples, top * width * samplesPerPixel);
    else
      for (
        let n = 0, to = top * width * samplesPerPixel + plane;
        n < samples.length;
        n++, to += samplesPerPixel
      )
        whole[to] = samples[n] as number;
  }
  return whole ?? new Uint8Array();
}

/**
 * Reads the samples of a TIFF tile or of some strips with one 16-bit sample per pixel, at full depth.
 *
 * @throws SlideError FILE_CORRUPT, LIMIT_EXCEEDED
 */
export async function readTiffWords(image: EncodedImage, coding: TiffCoding): Promise<Uint16Array> {
  const words = new Uint16Array(image.width * image.height);
  for await (const { block, size, top } of readBlocks(image, coding)) {
    // A copy, because a 16-bit view needs an even address.
    const stored = Uint8Array.from(block.subarray(0, size.rows * image.width * 2));
    if (coding.isLittleEndian !== IS_LITTLE_ENDIAN) Buffer.from(stored.buffer).swap16();
    words.set(new Uint16Array(stored.buffer), top * image.width);
  }
  return words;
}

interface UnpackedBlock {
  /** At least rows × rowBytes bytes. */
  readonly block: Uint8Array;
  readonly size: BlockSize;
  /** Row of the picture at which the block starts. */
  readonly top: number;
  readonly plane: number;
  readonly isOnly: boolean;
}

/** Unpacks the blocks of a picture one after the other. */
async function* readBlocks(image: EncodedImage, coding: TiffCoding): AsyncGenerator<UnpackedBlock> {
  const { width, height } = image;
  const { samplesPerPixel, bits, isPlanar, blockRows, blockBytes } = coding;
  const perPixel = isPlanar ? 1 : samplesPerPixel;
  const planes = isPlanar ? samplesPerPixel : 1;
  const rowBytes = Math.ceil((width * perPixel * bits) / 8);
  if (rowBytes * Math.max(height, blockRows) * planes > MAX_BYTES) {
    throw new SlideError('LIMIT_EXCEEDED', `A tile has ${rowBytes * height * planes} bytes of samples`);
  }
  const blocksPerPlane = Math.ceil(height / blockRows);
  if (blockBytes.length !== blocksPerPlane * planes) {
    throw new SlideError(
      'FILE_CORRUPT',
      `A picture of ${blocksPerPlane * planes} blocks has ${blockBytes.length}`,
    );
  }
  let at = 0;
  for (const [i, length] of blockBytes.entries()) {
    const top = (i % blocksPerPlane) * blockRows;
    const rows = Math.min(blockRows, height - top);
    const stored = image.bytes.subarray(at, at + length);
    at += length;
    const size = { width, rows, rowBytes, perPixel };
    const block = await readBlock(stored, size, coding);
    yield { block, size, top, plane: Math.floor(i / blocksPerPlane), isOnly: blockBytes.length === 1 };
  }
}

/** The size of a block, which contains all samples or one plane. */
interface BlockSize {
  readonly width: number;
  readonly rows: number;
  /** Bytes of a row; every row starts at a byte boundary. */
  readonly rowBytes: number;
  /** Samples per pixel in the block. */
  readonly perPixel: number;
}

/** @returns at least rows × rowBytes bytes */
async function readBlock(stored: Uint8Array, size: BlockSize, coding: TiffCoding): Promise<Uint8Array> {
  const { packing, blockRows } = coding;
  if (packing === 'jpeg') return decodeJpegSamples(stored, size.width, size.rows, size.perPixel);
  const packed = coding.isBitReversed ? reverseBits(stored) : stored;
  const bytes = unpack(packed, packing, size.rows * size.rowBytes, blockRows * size.rowBytes);
  // Uncompressed bytes belong to the caller and are never differenced.
  if (coding.isDifferenced && packing !== 'none') undoDifferencing(bytes, size, coding);
  return bytes;
}

/**
 * Undoes differencing: each sample is stored as the difference to its left neighbour, modulo the sample
 * range.
 */
function undoDifferencing(
  bytes: Uint8Array,
  { rows, rowBytes, perPixel }: BlockSize,
  coding: TiffCoding,
): void {
  const [low, high] = coding.isLittleEndian ? [0, 1] : [1, 0];
  for (let row = 0; row < rows; row++) {
    const start = row * rowBytes;
    const end = start + rowBytes;
    if (coding.bits === 8) {
      for (let i = start + perPixel; i < end; i++)
        bytes[i] = (bytes[i] as number) + (bytes[i - perPixel] as number);
      continue;
    }
    const back = perPixel * 2;
    for (let i = start + back; i < end; i += 2) {
      const sum = (bytes[i + low] as number) + (bytes[i - back + low] as number);
      bytes[i + low] = sum;
      bytes[i + high] = (bytes[i + high] as number) + (bytes[i - back + high] as number) + (sum >> 8);
    }
  }
}

/** Expands samples to one byte each. @param count samples of a row */
function expandToBytes(
  bytes: Uint8Array,
  count: number,
  rows: number,
  rowBytes: number,
  { bits, isLittleEndian }: TiffCoding,
): Uint8Array {
  if (bits === 8) return bytes.subarray(0, count * rows);
  const samples = new Uint8Array(count * rows);
  if (bits === 16) {
    for (let to = 0, from = isLittleEndian ? 1 : 0; to < samples.length; to++, from += 2)
      samples[to] = bytes[from] as number;
    return samples;
  }
  const perByte = 8 / bits;
  const mask = 2 ** bits - 1;
  for (let row = 0, to = 0; row < rows; row++) {
    for (let i = 0; i < count; i++) {
      const byte = bytes[row * rowBytes + Math.floor(i / perByte)] as number;
      samples[to++] = (byte >> (8 - bits * ((i % perByte) + 1))) & mask;
    }
  }
  return samples;
}

const reversed = Uint8Array.from({ length: 256 }, (_, byte) => {
  let bits = 0;
  for (let i = 0; i < 8; i++) bits |= ((byte >> i) & 1) << (7 - i);
  return bits;
});

function reverseBits(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte) => reversed[byte] as number);
}
