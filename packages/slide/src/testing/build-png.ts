/** Builds PNG files for tests. */
import { crc32, deflateSync } from 'node:zlib';

/** Options of `buildPng`. */
export interface PngPlan {
  /** Size in pixels; by default 40 × 30. */
  readonly width?: number;
  readonly height?: number;
  /** Colour type: 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha; by default 2. */
  readonly colourType?: number;
  /** Bits per sample; by default 8. */
  readonly bits?: number;
  /** Returns the sample `index` of a pixel; by default neighbouring pixels differ. */
  readonly sample?: (x: number, y: number, index: number) => number;
  /** Chunks between the header and the image data; by default none. */
  readonly before?: readonly PngChunk[];
}

export interface PngChunk {
  readonly type: string;
  readonly data: Uint8Array;
}

/** Samples per pixel, by colour type. */
const samplesPerPixel: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Builds the chunks of a PNG file: not interlaced, rows without a filter. Source: the PNG specification, third edition. */
export function pngChunks({
  width = 40,
  height = 30,
  colourType = 2,
  bits = 8,
  sample = (x, y, index) => (x * 5 + y * 3 + index * 40) % 2 ** bits,
  before = [],
}: PngPlan = {}): PngChunk[] {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([bits, colourType, 0, 0, 0], 8); // the zeros: standard compression and filters, no interlacing
  const perPixel = samplesPerPixel[colourType] ?? 1;
  const rowBytes = 1 + Math.ceil((width * perPixel * bits) / 8); // the first byte is the filter type, 0: none
  const rows = Buffer.alloc(height * rowBytes);
  for (let y = 0; y < height; y++) {
    for (let i = 0; i < width * perPixel; i++) {
      const value = sample(Math.floor(i / perPixel), y, i % perPixel);
      const at = y * rowBytes + 1 + Math.floor((i * bits) / 8);
      if (bits === 16) rows.writeUInt16BE(value, at);
      else rows[at] = (rows[at] ?? 0) | (value << (8 - bits - ((i * bits) % 8)));
    }
  }
  return [
    { type: 'IHDR', data: header },
    ...before,
    { type: 'IDAT', data: deflateSync(rows) },
    { type: 'IEND', data: new Uint8Array() },
  ];
}

/** Joins the chunks to the bytes of a PNG file. */
export function writePng(chunks: readonly PngChunk[]): Buffer {
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, ...chunks.flatMap(writeChunk)]);
}

function writeChunk({ type, data }: PngChunk): Buffer[] {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return [length, body, checksum];
}

export function buildPng(plan?: PngPlan): Buffer {
  return writePng(pngChunks(plan));
}

/** Returns a pHYs chunk, which states the pixels per unit. @param unit 1 is the metre, 0 an unknown unit */
export function pngDensity(x: number, y: number, unit = 1): PngChunk {
  const data = Buffer.alloc(9);
  data.writeUInt32BE(x, 0);
  data.writeUInt32BE(y, 4);
  data[8] = unit;
  return { type: 'pHYs', data };
}
