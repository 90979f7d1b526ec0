/**
 * Reads a PNG file as one band of numbers, row by row, so that a mask of 10^9 pixels needs no more memory than a small one.
 * The value of a palette pixel is its index; a colour becomes its brightness; fully transparent pixels become NaN, which means
 * no data. Source: PNG specification, third edition (W3C), sections 5, 7, 9 and 11.
 */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { createInflate } from 'node:zlib';
import { SlideError, type ValueArray, type ValueImage } from '@lamina/slide/result-files';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Maximum width and height in pixels. */
const maxSide = 2 ** 24;
/** Maximum size in bytes of a chunk that contains no pixels. Chunks with pixels (IDAT) may have any size. */
const maxChunkBytes = 2 ** 20;
/** Maximum number of bytes that are read from the file, or yielded from a chunk, in one step. */
const maxPartBytes = 2 ** 18;
/** Samples per pixel by colour type: 0 grey, 2 RGB, 3 palette, 4 grey with alpha, 6 RGB with alpha. */
const channelsOf: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Numbers of the row filters (PNG specification, section 9.2). */
const filterType = { none: 0, sub: 1, up: 2, average: 3, paeth: 4 } as const;

interface Header {
  readonly width: number;
  readonly height: number;
  /** Bits per sample. */
  readonly bits: number;
  readonly colourType: number; // see channelsOf
}

/** Returns whether a file is a PNG. @param start first bytes of the file */
export function isPng(start: Uint8Array): boolean {
  return signature.equals(start.subarray(0, signature.length));
}

/**
 * Opens a PNG file. Its rows must be read in order.
 *
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, FORMAT_NOT_SUPPORTED, LIMIT_EXCEEDED
 */
export async function openPngValues(path: string): Promise<ValueImage & { close(): void }> {
  const file = createReadStream(path, { highWaterMark: maxPartBytes });
  const chunks = readChunks(file);
  const firstChunk = await chunks.next();
  if (firstChunk.done || firstChunk.value.type !== 'IHDR') throw badPng('no header');
  const header = parseHeader(firstChunk.value.bytes);
  let palette: [number, number, number][] | null = null;
  let firstPixels: Uint8Array | null = null;
  for (;;) {
    const next = await chunks.next();
    if (next.done) throw badPng('no pixels');
    const { type, bytes } = next.value;
    if (type === 'PLTE' && header.colourType === 3) palette = parsePalette(bytes);
    if (type === 'IDAT') {
      firstPixels = bytes;
      break;
    }
  }
  const inflate = createInflate();
  inflate.on('error', () => undefined); // reading a row throws this error; without a listener it would end the process
  const pixelsStart = firstPixels; // a constant, so that its type excludes null in the function below
  let readRow: (() => Promise<Uint8Array>) | null = null;
  /** Called when the first row is read, so that nothing is unpacked if the caller rejects the file because of its size. */
  function startUnpacking(): () => Promise<Uint8Array> {
    const packed = Readable.from(pixelChunks(pixelsStart, chunks));
    packed.on('error', (error) => inflate.destroy(error));
    packed.pipe(inflate);
    return createRowReader(inflate[Symbol.asyncIterator](), header);
  }
  const decodeRow = createRowDecoder(header);
  let nextRow = 0;
  return {
    width: header.width,
    height: header.height,
    type: valueTypeOf(header),
    palette,
    async readRows(top, count, target) {
      if (top !== nextRow) throw new Error('The rows of a PNG file must be read in order.');
      readRow ??= startUnpacking();
      for (let n = 0; n < count; n++) decodeRow(await readRow(), target, n * header.width);
      nextRow += count;
    },
    close() {
      inflate.destroy();
      file.destroy();
    },
  };
}

function valueTypeOf({ bits, colourType }: Header): ValueImage['type'] {
  const hasAlpha = colourType >= 4;
  if (hasAlpha) return 'float32'; // only floating point can represent "no data" as NaN
  return bits === 16 ? 'uint16' : 'uint8';
}

function badPng(damage: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The PNG file is damaged: ${damage}`);
}

/** Parses the 13 bytes of the chunk IHDR (section 11.2); the last byte is the interlace method. */
function parseHeader(bytes: Uint8Array): Header {
  if (bytes.length !== 13) throw badPng('the header has a wrong length');
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const header = {
    width: view.getUint32(0),
    height: view.getUint32(4),
    bits: view.getUint8(8),
    colourType: view.getUint8(9),
  };
  if (header.width === 0 || header.height === 0) throw badPng('it has no pixels');
  if (header.width > maxSide || header.height > maxSide) {
    throw new SlideError('LIMIT_EXCEEDED', `The image has ${header.width} × ${header.height} pixels`);
  }
  if (channelsOf[header.colourType] === undefined || ![1, 2, 4, 8, 16].includes(header.bits)) {
    throw badPng('unknown colours');
  }
  if (header.bits < 8 && header.colourType !== 0 && header.colourType !== 3) throw badPng('unknown colours');
  if (header.bits === 16 && header.colourType === 3) throw badPng('a palette of 16 bits per pixel');
  if (view.getUint8(12) !== 0) throw new SlideError('FORMAT_NOT_SUPPORTED', 'The PNG file is interlaced');
  return header;
}

function parsePalette(bytes: Uint8Array): [number, number, number][] {
  return Array.from({ length: Math.min(256, Math.floor(bytes.length / 3)) }, (_, i) => [
    bytes[3 * i] as number,
    bytes[3 * i + 1] as number,
    bytes[3 * i + 2] as number,
  ]);
}

interface Chunk {
  readonly type: string;
  /** Content of the chunk. A long chunk is returned in several parts with the same type. */
  readonly bytes: Uint8Array;
}

/** Reads the chunks of a file up to IEND. Skips long chunks of types that a reader may ignore (PNG specification, 5.4). */
async function* readChunks(file: AsyncIterable<Buffer>): AsyncGenerator<Chunk> {
  const parts = file[Symbol.asyncIterator]();
  let buffered: Buffer = Buffer.alloc(0);
  async function readBytes(length: number): Promise<Buffer> {
    while (buffered.length < length) {
      const next: IteratorResult<Buffer, unknown> = await parts.next();
      if (next.done) throw new SlideError('FILE_TRUNCATED', 'The PNG file ends early');
      buffered = buffered.length === 0 ? next.value : Buffer.concat([buffered, next.value]);
    }
    const bytes = buffered.subarray(0, length);
    buffered = buffered.subarray(length);
    return bytes;
  }
  if (!isPng(await readBytes(8))) throw badPng('no signature');
  for (;;) {
    const chunkHeader = await readBytes(8); // length and type of the chunk
    const type = chunkHeader.toString('latin1', 4);
    let remaining = chunkHeader.readUInt32BE(0);
    if (type === 'IEND') return;
    const isCritical = /^[A-Z]/.test(type); // a reader may ignore chunks whose type begins with a lower-case letter
    const isTooLong = type !== 'IDAT' && remaining > maxChunkBytes;
    if (isTooLong && isCritical) {
      throw new SlideError('LIMIT_EXCEEDED', `A chunk ${type} has ${remaining} bytes`);
    }
    // The loop also yields an empty chunk.
    do {
      const bytes = await readBytes(Math.min(remaining, maxPartBytes));
      remaining -= bytes.length;
      if (!isTooLong) yield { type, bytes };
    } while (remaining > 0);
    await readBytes(4); // the checksum of the chunk is not verified; zlib verifies the checksum of the pixels
  }
}

/** Returns the compressed pixels: the part that has been read already, and the following IDAT chunks. */
async function* pixelChunks(start: Uint8Array, chunks: AsyncIterable<Chunk>): AsyncGenerator<Uint8Array> {
  yield start;
  for await (const { type, bytes } of chunks) if (type === 'IDAT') yield bytes;
}

/** Returns a function that reads the next row and undoes its filter. The row is valid until the function is called again. */
function createRowReader(
  unpacked: AsyncIterator<Buffer>,
  { width, bits, colourType }: Header,
): () => Promise<Uint8Array> {
  const bitsPerPixel = bits * (channelsOf[colourType] as number);
  const bytesPerPixel = Math.max(1, bitsPerPixel >> 3); // at least 1, because filters process whole bytes
  const rowBytes = Math.ceil((width * bitsPerPixel) / 8);
  let row = new Uint8Array(rowBytes);
  let above = new Uint8Array(rowBytes);
  let part: Buffer = Buffer.alloc(0);
  let partOffset = 0;

  async function readNextPart(): Promise<void> {
    let next: IteratorResult<Buffer>;
    try {
      next = await unpacked.next();
    } catch (cause) {
      if (cause instanceof SlideError) throw cause;
      throw new SlideError('FILE_CORRUPT', 'The pixels of the PNG file cannot be unpacked', { cause });
    }
    if (next.done) throw new SlideError('FILE_TRUNCATED', 'The PNG file has fewer rows than its header says');
    part = next.value;
    partOffset = 0;
  }

  return async () => {
    if (partOffset === part.length) await readNextPart();
    const filter = part[partOffset++] as number;
    [row, above] = [above, row];
    let filled = 0;
    while (filled < rowBytes) {
      if (partOffset === part.length) await readNextPart();
      const copied = Math.min(part.length - partOffset, rowBytes - filled);
      row.set(part.subarray(partOffset, partOffset + copied), filled);
      filled += copied;
      partOffset += copied;
    }
    undoFilter(filter, row, above, bytesPerPixel);
    return row;
  };
}

/**
 * Adds to each byte the value that the filter predicts from the pixels to the left and above (PNG specification,
 * section 9). The Uint8Array keeps the lowest 8 bits of each sum, as the specification requires.
 */
function undoFilter(filter: number, row: Uint8Array, above: Uint8Array, bytesPerPixel: number): void {
  const { length } = row;
  if (filter === filterType.none) return;
  if (filter > filterType.paeth) throw badPng('unknown filter');
  if (filter === filterType.sub) {
    for (let i = bytesPerPixel; i < length; i++) {
      row[i] = (row[i] as number) + (row[i - bytesPerPixel] as number);
    }
    return;
  }
  if (filter === filterType.up) {
    for (let i = 0; i < length; i++) row[i] = (row[i] as number) + (above[i] as number);
    return;
  }
  for (let i = 0; i < length; i++) {
    const left = i >= bytesPerPixel ? (row[i - bytesPerPixel] as number) : 0;
    const up = above[i] as number;
    const upLeft = i >= bytesPerPixel ? (above[i - bytesPerPixel] as number) : 0;
    const average = (left + up) >> 1;
    const predicted = filter === filterType.paeth ? paethPredictor(left, up, upLeft) : average;
    row[i] = (row[i] as number) + predicted;
  }
}

/** Returns the neighbour that is nearest to left + up - upLeft (PNG specification, section 9.4). */
function paethPredictor(left: number, up: number, upLeft: number): number {
  const leftDistance = Math.abs(up - upLeft);
  const upDistance = Math.abs(left - upLeft);
  const upLeftDistance = Math.abs(left + up - 2 * upLeft);
  if (leftDistance <= upDistance && leftDistance <= upLeftDistance) return left;
  return upDistance <= upLeftDistance ? up : upLeft;
}

/** Returns a function that converts the bytes of a row to values and writes them to `target`, starting at an index. */
function createRowDecoder({ width, bits, colourType }: Header) {
  const channels = channelsOf[colourType] as number;
  const isColour = channels >= 3;
  const hasAlpha = channels === 2 || channels === 4;
  const is16Bit = bits === 16;
  const sample = (row: Uint8Array, i: number): number =>
    is16Bit ? (row[2 * i] as number) * 256 + (row[2 * i + 1] as number) : (row[i] as number);
  return (row: Uint8Array, target: ValueArray, start: number): void => {
    if (bits < 8) {
      const samplesPerByte = 8 / bits;
      const mask = 2 ** bits - 1;
      for (let x = 0; x < width; x++) {
        const byte = row[Math.floor(x / samplesPerByte)] as number; // its first sample is in the highest bits
        target[start + x] = (byte >> (8 - bits * ((x % samplesPerByte) + 1))) & mask;
      }
      return;
    }
    if (channels === 1 && !is16Bit) {
      target.set(row, start);
      return;
    }
    for (let x = 0; x < width; x++) {
      const i = x * channels;
      // Brightness of a colour: luma of ITU-R BT.601.
      const value = isColour
        ? Math.round(0.299 * sample(row, i) + 0.587 * sample(row, i + 1) + 0.114 * sample(row, i + 2))
        : sample(row, i);
      const isTransparent = hasAlpha && sample(row, i + channels - 1) === 0; // alpha is the last sample of a pixel
      target[start + x] = isTransparent ? Number.NaN : value;
    }
  };
}
