/** Reads the tiles and values of a raster, such as a heatmap, that an import (raster-import.ts) has written to a file. */
import { promisify } from 'node:util';
import { crc32, deflate, inflateRaw } from 'node:zlib';
import { overlayTileSize as tileSide } from '@lamina/contract';
import type { ValueArray } from '@lamina/slide/result-files';
import type { Container } from './container.ts';
import { type RasterDescription, type RasterLevel, tileEntryBytes, valuesOf } from './raster-import.ts';

const unpack = promisify(inflateRaw);
const pack = promisify(deflate);

export interface RasterReader {
  readonly description: RasterDescription;
  /** How bytes of a tile represent values: value = byte × scale + offset; the byte `no_data` means that a pixel has no value. */
  readonly encoding: { readonly scale: number; readonly offset: number; readonly no_data: number | null };
  /** Returns a tile as greyscale PNG; null when there is no such tile. @param z level; 0 is the smallest */
  tile(z: number, column: number, row: number): Promise<Uint8Array | null>;
  /** Returns the value at a position in pixels of level 0 of the slide (full resolution); null where the raster has no data. */
  value(x: number, y: number): Promise<number | null>;
}

export function openRaster(container: Container): RasterReader {
  const description = container.description as RasterDescription;
  const { levels, registration, index: indexOffset } = description;
  const encoding = encodingOf(description);

  /** Returns the values of a tile; null when there is no such tile. */
  async function readTile(level: RasterLevel, column: number, row: number): Promise<ValueArray | null> {
    const columns = Math.ceil(level.width / tileSide);
    const isInside = column >= 0 && row >= 0 && column < columns && row * tileSide < level.height;
    if (!isInside) return null;
    const tileNumber = level.firstTile + row * columns + column;
    const indexEntry = await container.read(indexOffset + tileEntryBytes * tileNumber, tileEntryBytes);
    const [offset, length] = [indexEntry.readDoubleLE(0), indexEntry.readUInt32LE(8)];
    const packed = await container.read(offset, length);
    const { width, height } = tileSizeOf(level, column, row);
    return valuesOf(description.type, await unpack(packed), width * height);
  }

  return {
    description,
    encoding,
    async tile(z, column, row) {
      const level = levels[levels.length - 1 - z]; // `levels` begins with the largest
      const tile = level && (await readTile(level, column, row));
      if (!level || !tile) return null;
      const { width, height } = tileSizeOf(level, column, row);
      return encodePng(width, height, encode(tile, encoding));
    },
    async value(x, y) {
      const [level] = levels; // the full resolution of the raster
      const position = positionInRaster(registration, x, y);
      if (!level || position === null) return null;
      const [column, row] = [Math.floor(position.x), Math.floor(position.y)];
      if (column < 0 || row < 0 || column >= level.width || row >= level.height) return null;
      const [tileColumn, tileRow] = [Math.floor(column / tileSide), Math.floor(row / tileSide)];
      const tile = await readTile(level, tileColumn, tileRow);
      const { width } = tileSizeOf(level, tileColumn, tileRow);
      const value = tile?.[(row % tileSide) * width + (column % tileSide)];
      return value === undefined || Number.isNaN(value) ? null : value;
    },
  };
}

/** Returns the size of a tile, which is smaller at the right and bottom edge. */
function tileSizeOf(level: RasterLevel, column: number, row: number): { width: number; height: number } {
  return {
    width: Math.min(tileSide, level.width - column * tileSide),
    height: Math.min(tileSide, level.height - row * tileSide),
  };
}

/**
 * Returns how the bytes of tiles represent the values. 8-bit values, and masks without gaps (pixels without data), are sent as they
 * are. The range of other values is divided into equal steps; byte 0 stands for gaps.
 */
function encodingOf({ type, range, hasGaps, categories }: RasterDescription): RasterReader['encoding'] {
  if (range === null) return { scale: 1, offset: 0, no_data: 0 }; // no pixel has data
  if (type === 'uint8' || (categories !== null && !hasGaps)) return { scale: 1, offset: 0, no_data: null };
  const minByte = hasGaps ? 1 : 0;
  const scale = (range.max - range.min) / (255 - minByte) || 1; // 1 for a raster with a single value
  return { scale, offset: range.min - minByte * scale, no_data: hasGaps ? 0 : null };
}

/** Converts values to the bytes of a tile. */
function encode(values: ValueArray, { scale, offset, no_data }: RasterReader['encoding']): Uint8Array {
  if (values instanceof Uint8Array) return values; // their scale is 1, and their offset is 0
  const bytes = new Uint8Array(values.length);
  const minByte = no_data === null ? 0 : 1;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    bytes[i] = Number.isNaN(value)
      ? (no_data ?? 0)
      : Math.max(minByte, Math.min(255, Math.round((value - offset) / scale)));
  }
  return bytes;
}

/** Returns the position in the raster for a position x, y on the slide; null when the matrix (the registration) has no inverse. */
function positionInRaster(matrix: readonly number[], x: number, y: number): { x: number; y: number } | null {
  // The matrix transforms a position (u, v) in the raster to (a·u + c·v + e, b·u + d·v + f) on the slide.
  const [a, b, c, d, e, f] = matrix as readonly [number, number, number, number, number, number];
  const determinant = a * d - b * c;
  if (determinant === 0) return null;
  return {
    x: (d * (x - e) - c * (y - f)) / determinant,
    y: (a * (y - f) - b * (x - e)) / determinant,
  };
}

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Encodes bytes as a greyscale PNG with 8 bits per pixel and no filter. */
async function encodePng(width: number, height: number, pixels: Uint8Array): Promise<Uint8Array> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8; // bits per sample; the other fields are 0: greyscale, not interlaced
  const rows = Buffer.alloc((width + 1) * height); // each row begins with the number of its filter, which is 0
  for (let y = 0; y < height; y++) {
    rows.set(pixels.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  }
  const packed = await pack(rows, { level: 3 });
  return Buffer.concat([
    pngSignature,
    pngChunk('IHDR', header),
    pngChunk('IDAT', packed),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Returns a PNG chunk: the length of its data, its type, the data, and the CRC-32 of type and data. */
function pngChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(data.length + 12);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, 'latin1');
  data.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, data.length + 8)), data.length + 8);
  return chunk;
}
