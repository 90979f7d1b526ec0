/** The tables of tile and strip positions of a TIFF image. */
import { SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import type { TiffDirectory } from './directory.ts';
import { limits } from './limits.ts';
import { tag } from './tags.ts';

/** Position of a tile or strip in the file. */
export interface StoredBlock {
  readonly offset: number;
  readonly byteCount: number;
}

/**
 * Returns the position of a block by its index.
 *
 * @returns null for an empty block, whose byte count is 0
 * @throws SlideError LIMIT_EXCEEDED, FILE_CORRUPT, FILE_TRUNCATED when the entry of the table is invalid
 */
export type FindBlock = (index: number) => StoredBlock | null;

/** The tags of the two tables of an image: the offsets and the byte counts of its blocks. */
export type BlockTags = (typeof blockTags)[keyof typeof blockTags];

export const blockTags = {
  tiles: [tag.TileOffsets, tag.TileByteCounts],
  strips: [tag.StripOffsets, tag.StripByteCounts],
} as const;

/** Checks, without reading the tables, that each has at least `count` entries. @throws SlideError FILE_CORRUPT */
export function checkBlockTable(
  directory: TiffDirectory,
  [offsetsTag, byteCountsTag]: BlockTags,
  count: number,
): void {
  const entries = Math.min(directory.count(offsetsTag), directory.count(byteCountsTag));
  if (entries < count) {
    throw new SlideError('FILE_CORRUPT', `An image needs ${count} tiles or strips and lists ${entries}`);
  }
}

/** Reads the first `count` entries of both tables. @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED */
export async function readBlockTable(
  source: ByteSource,
  directory: TiffDirectory,
  [offsetsTag, byteCountsTag]: BlockTags,
  count: number,
): Promise<FindBlock> {
  const offsets = await directory.table(offsetsTag, count);
  const byteCounts = await directory.table(byteCountsTag, count);
  return (index) => {
    const offset = offsets[index] ?? 0;
    const byteCount = byteCounts[index] ?? 0;
    if (byteCount === 0) return null;
    if (byteCount > limits.tileBytes) throw new SlideError('LIMIT_EXCEEDED', `A tile has ${byteCount} bytes`);
    checkByteRange(source, offset, byteCount);
    return { offset, byteCount };
  };
}

/** Bytes of the header of a classic TIFF file; no block can begin inside it. */
const HEADER_BYTES = 8;

/** Checks that a block lies after the header and inside the file. @throws SlideError FILE_CORRUPT, FILE_TRUNCATED */
export function checkByteRange(source: ByteSource, offset: number, byteCount: number): void {
  if (offset < HEADER_BYTES)
    throw new SlideError('FILE_CORRUPT', 'The offset of a tile is in the header of the file');
  if (offset + byteCount > source.size) {
    throw new SlideError('FILE_TRUNCATED', `The file ends at ${source.size}, before the end of a tile`);
  }
}
