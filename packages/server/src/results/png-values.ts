/**
 * Reads a PNG file as one band of numbers, row by row, so that masks of 10^9 pixels need no more memory than small ones.
 * Colours become their brightness; pixels that are fully transparent have no data.
 * Source: PNG specification, third edition (W3C), sections 5, 7, 9 and 11.
 */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { createInflate } from 'node:zlib';
import { SlideError, type ValueArray, type ValueImage } from '@lamina/slide';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const maxSide = 2 ** 24;
const maxChunkBytes = 2 ** 20;
/** Samples per pixel by colour type. */
const channelsOf: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

interface Header {
  readonly width: number;
  readonly height: number;
  readonly bits: number;
  readonly colourType: number;
}

export function isPng(start: Uint8Array): boolean {
  return signature.equals(start.subarray(0, signature.length));
}

/** @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, FORMAT_NOT_SUPPORTED, LIMIT_EXCEEDED */
export async function openPngValues(path: string): Promise<ValueImage & { close(): void }> {
  const file = createReadStream(path, { highWaterMark: 2 ** 18 });
  const chunks = chunksOf(file);
  const first = await chunks.next();
  if (first.done || first.value.type !== 'IHDR') throw corrupt('no header');
  const header = headerOf(first.value.bytes);
  let palette: [number, number, number][] | null = null;
  let start: Uint8Array | null = null;
  for (;;) {
    const next = await chunks.next();
    if (next.done) throw corrupt('no pixels');
    const { type, bytes } = next.value;
    if (type === 'PLTE' && header.colourType === 3) palette = paletteOf(bytes);
    if (type === 'IDAT') {
      start = bytes;
      break;
    }
  }
  const inflate = createInflate();
  inflate.on('error', () => undefined); // the reader of its rows throws it
  const pixels = start;
  let readLine: (() => Promise<Uint8Array>) | null = null;
  /** Starts to unpack with the first row, so that a refused header costs nothing. */
  function openLines(): () => Promise<Uint8Array> {
    const packed = Readable.from(pixelChunks(pixels, chunks));
    packed.on('error', (error) => inflate.destroy(error));
    packed.pipe(inflate);
    return lineReader(inflate[Symbol.asyncIterator](), header);
  }
  const decode = decoderOf(header);
  let nextRow = 0;
  return {
    width: header.width,
    height: header.height,
    type: header.bits === 16 ? 'uint16' : header.colourType >= 4 ? 'float32' : 'uint8',
    palette,
    async readRows(top, count, target) {
      if (top !== nextRow) throw new Error('Rows of a PNG file are read in their order.');
      readLine ??= openLines();
      for (let row = 0; row < count; row++) decode(await readLine(), target, row * header.width);
      nextRow += count;
    },
    close() {
      inflate.destroy();
      file.destroy();
    },
  };
}

function corrupt(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The PNG file is damaged: ${reason}`);
}

function headerOf(bytes: Uint8Array): Header {
  if (bytes.length !== 13) throw corrupt('the header has a wrong length');
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const header = {
    width: view.getUint32(0),
    height: view.getUint32(4),
    bits: view.getUint8(8),
    colourType: view.getUint8(9),
  };
  if (header.width === 0 || header.height === 0) throw corrupt('it has no pixels');
  if (header.width > maxSide || header.height > maxSide) {
    throw new SlideError('LIMIT_EXCEEDED', `The image has ${header.width} × ${header.height} pixels`);
  }
  if (channelsOf[header.colourType] === undefined || ![1, 2, 4, 8, 16].includes(header.bits)) {
    throw corrupt('unknown colours');
  }
  if (header.bits < 8 && header.colourType !== 0 && header.colourType !== 3) throw corrupt('unknown colours');
  if (view.getUint8(12) !== 0) throw new SlideError('FORMAT_NOT_SUPPORTED', 'The PNG file is interlaced');
  return header;
}

function paletteOf(bytes: Uint8Array): [number, number, number][] {
  return Array.from({ length: Math.min(256, Math.floor(bytes.length / 3)) }, (_, i) => [
    bytes[3 * i] as number,
    bytes[3 * i + 1] as number,
    bytes[3 * i + 2] as number,
  ]);
}

interface Chunk {
  readonly type: string;
  /** A long chunk of pixels comes in parts. */
  readonly bytes: Uint8Array;
}

async function* chunksOf(file: AsyncIterable<Buffer>): AsyncGenerator<Chunk> {
  const parts = file[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  async function take(length: number): Promise<Buffer> {
    while (rest.length < length) {
      const next: IteratorResult<Buffer, unknown> = await parts.next();
      if (next.done) throw new SlideError('FILE_TRUNCATED', 'The PNG file ends early');
      rest = rest.length === 0 ? next.value : Buffer.concat([rest, next.value]);
    }
    const bytes = rest.subarray(0, length);
    rest = rest.subarray(length);
    return bytes;
  }
  if (!isPng(await take(8))) throw corrupt('no signature');
  for (;;) {
    const head = await take(8);
    const type = head.toString('latin1', 4);
    let left = head.readUInt32BE(0);
    if (type === 'IEND') return;
    if (type !== 'IDAT' && left > maxChunkBytes && /^[A-Z]/.test(type)) {
      throw new SlideError('LIMIT_EXCEEDED', `A chunk ${type} has ${left} bytes`);
    }
    const isSkipped = left > maxChunkBytes && type !== 'IDAT';
    do {
      const bytes = await take(Math.min(left, 2 ** 18));
      left -= bytes.length;
      if (!isSkipped) yield { type, bytes };
    } while (left > 0);
    await take(4); // checksum; zlib has one of its own
  }
}

async function* pixelChunks(start: Uint8Array, chunks: AsyncIterable<Chunk>): AsyncGenerator<Uint8Array> {
  yield start;
  for await (const { type, bytes } of chunks) if (type === 'IDAT') yield bytes;
}

/** Returns a function that reads the next row, with its filter undone; the result is valid until the next call. */
function lineReader(
  unpacked: AsyncIterator<Buffer>,
  { width, bits, colourType }: Header,
): () => Promise<Uint8Array> {
  const bitsPerPixel = bits * (channelsOf[colourType] as number);
  const back = Math.max(1, bitsPerPixel >> 3);
  const length = Math.ceil((width * bitsPerPixel) / 8);
  let line = new Uint8Array(length);
  let above = new Uint8Array(length);
  let part: Buffer = Buffer.alloc(0);
  let at = 0;

  async function fill(): Promise<void> {
    let next: IteratorResult<Buffer>;
    try {
      next = await unpacked.next();
    } catch (cause) {
      if (cause instanceof SlideError) throw cause;
      throw new SlideError('FILE_CORRUPT', 'The pixels of the PNG file cannot be unpacked', { cause });
    }
    if (next.done) throw new SlideError('FILE_TRUNCATED', 'The PNG file has fewer rows than its header says');
    part = next.value;
    at = 0;
  }

  return async () => {
    if (at === part.length) await fill();
    const filter = part[at++] as number;
    [line, above] = [above, line];
    for (let n = 0; n < length; ) {
      if (at === part.length) await fill();
      const copied = Math.min(part.length - at, length - n);
      line.set(part.subarray(at, at + copied), n);
      n += copied;
      at += copied;
    }
    undoFilter(filter, line, above, back);
    return line;
  };
}

function undoFilter(filter: number, line: Uint8Array, above: Uint8Array, back: number): void {
  const { length } = line;
  if (filter === 0) return;
  if (filter > 4) throw corrupt('unknown filter');
  if (filter === 1) {
    for (let i = back; i < length; i++) line[i] = (line[i] as number) + (line[i - back] as number);
    return;
  }
  if (filter === 2) {
    for (let i = 0; i < length; i++) line[i] = (line[i] as number) + (above[i] as number);
    return;
  }
  for (let i = 0; i < length; i++) {
    const a = i >= back ? (line[i - back] as number) : 0;
    const b = above[i] as number;
    let predicted = (a + b) >> 1;
    if (filter === 4) {
      const c = i >= back ? (above[i - back] as number) : 0;
      const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
      predicted = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
    }
    line[i] = (line[i] as number) + predicted;
  }
}

function decoderOf({ width, bits, colourType }: Header) {
  const channels = channelsOf[colourType] as number;
  const size = bits === 16 ? 2 : 1;
  const sample = (line: Uint8Array, i: number): number =>
    size === 2 ? (line[2 * i] as number) * 256 + (line[2 * i + 1] as number) : (line[i] as number);
  return (line: Uint8Array, target: ValueArray, at: number): void => {
    if (bits < 8) {
      const perByte = 8 / bits;
      const mask = 2 ** bits - 1;
      for (let x = 0; x < width; x++) {
        const byte = line[Math.floor(x / perByte)] as number;
        target[at + x] = (byte >> (8 - bits * ((x % perByte) + 1))) & mask;
      }
      return;
    }
    if (channels === 1 && size === 1) {
      target.set(line, at);
      return;
    }
    for (let x = 0; x < width; x++) {
      const i = x * channels;
      const isColour = channels >= 3;
      const value = isColour
        ? Math.round(0.299 * sample(line, i) + 0.587 * sample(line, i + 1) + 0.114 * sample(line, i + 2))
        : sample(line, i);
      const hasAlpha = channels === 2 || channels === 4;
      const isClear = hasAlpha && sample(line, i + channels - 1) === 0;
      target[at + x] = isClear ? Number.NaN : value;
    }
  };
}
