/**
 * TIFF files and their chains of directories. `openTiff` is long because its functions share the set of visited directories and the
 * total size of the tables.
 */
import { SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { byteReader } from './byte-reader.ts';
import { readDirectory, type TiffDirectory, type TiffLayout } from './directory.ts';
import { limits } from './limits.ts';
import { tag } from './tags.ts';

/**
 * A TIFF file: its directories in the order of the file, read on demand.
 *
 * The functions reject a file in which two pointers lead to the same directory, so that no cycle is followed forever.
 */
export interface TiffFile {
  readonly first: TiffDirectory;
  /** Returns the main chain of directories, including `first`. @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED */
  directories(): Promise<readonly TiffDirectory[]>;
  /** Returns the SubIFDs of a directory; empty when there are none. */
  subDirectories(directory: TiffDirectory): Promise<readonly TiffDirectory[]>;
}

/** Whether a file that starts with these bytes has the signature of classic TIFF or BigTIFF. */
export function isTiff(start: Uint8Array): boolean {
  const signature = String.fromCharCode(...start.subarray(0, 4)); // '*' is 42, the version of classic TIFF; '+' is 43, BigTIFF
  return ['II*\0', 'MM\0*', 'II+\0', 'MM\0+'].includes(signature);
}

/** Bytes of the header of classic TIFF and of BigTIFF. */
const headerBytesOf = (isBig: boolean) => (isBig ? 16 : 8);

/**
 * Opens a TIFF file and reads its first directory.
 *
 * Source: TIFF 6.0, section 2 (header, directories); the BigTIFF design (version 43, offset size 8).
 *
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export async function openTiff(source: ByteSource): Promise<TiffFile> {
  const { layout, firstOffset } = await readHeader(source);
  const visitedOffsets = new Set<number>();
  let tableBytes = 0;

  function addTableBytes(bytes: number): void {
    tableBytes += bytes;
    if (tableBytes > limits.tableBytesPerFileByte * source.size) {
      throw new SlideError(
        'LIMIT_EXCEEDED',
        `The tables of tile positions have ${tableBytes} bytes, and the file has ${source.size}`,
      );
    }
  }

  /** Reads a directory; rejects a second read. @param depth nesting depth as a SubIFD; 0 in the main chain */
  async function readDirectoryOnce(offset: number, depth: number) {
    if (offset < headerBytesOf(layout.isBig)) {
      throw new SlideError('FILE_CORRUPT', 'The offset of a directory is in the header of the file');
    }
    if (offset >= source.size) {
      throw new SlideError(
        'FILE_TRUNCATED',
        `The file ends at ${source.size}, before its directory at ${offset}`,
      );
    }
    if (visitedOffsets.has(offset)) {
      throw new SlideError('FILE_CORRUPT', `Two pointers lead to the directory at ${offset}`);
    }
    if (visitedOffsets.size === limits.directories) {
      throw new SlideError('LIMIT_EXCEEDED', `The file has more than ${limits.directories} directories`);
    }
    visitedOffsets.add(offset);
    return readDirectory({ source, layout, addTableBytes }, offset, depth);
  }

  /** Reads the directory at an offset and all directories that follow it in the chain. */
  async function readChain(offset: number, depth: number): Promise<TiffDirectory[]> {
    const chain: TiffDirectory[] = [];
    for (let nextOffset = offset; nextOffset !== 0; ) {
      const { directory, next } = await readDirectoryOnce(nextOffset, depth);
      chain.push(directory);
      nextOffset = next;
    }
    return chain;
  }

  const { directory: first, next } = await readDirectoryOnce(firstOffset, 0);
  // The results of both functions are kept, because `readDirectoryOnce` rejects a second read of a directory.
  let mainChain: Promise<readonly TiffDirectory[]> | null = null;
  const subDirectoriesOf = new Map<TiffDirectory, Promise<readonly TiffDirectory[]>>();

  async function readSubDirectories(directory: TiffDirectory): Promise<readonly TiffDirectory[]> {
    // Bio-Formats writes the tag without a value for an image without smaller levels.
    const offsets = directory.count(tag.SubIFDs) > 0 ? await directory.numbers(tag.SubIFDs) : null;
    if (!offsets) return [];
    if (directory.depth === limits.subDirectoryDepth) {
      throw new SlideError(
        'LIMIT_EXCEEDED',
        `SubIFDs are nested more than ${limits.subDirectoryDepth} levels deep`,
      );
    }
    const subDirectories: TiffDirectory[] = [];
    for (const offset of offsets) {
      // The pointer of a SubIFD to a next directory is ignored, as by libtiff and Bio-Formats. Files of Bio-Formats have such pointers
      // between the SubIFDs that the tag lists, and from the last one to the next image, such as the label.
      const subDirectory = await readDirectoryOnce(offset, directory.depth + 1);
      subDirectories.push(subDirectory.directory);
    }
    return subDirectories;
  }

  return {
    first,
    directories() {
      mainChain ??= readChain(next, 0).then((others) => [first, ...others]);
      return mainChain;
    },
    subDirectories(directory) {
      const subDirectories = subDirectoriesOf.get(directory) ?? readSubDirectories(directory);
      subDirectoriesOf.set(directory, subDirectories);
      return subDirectories;
    },
  };
}

async function readHeader(source: ByteSource): Promise<{ layout: TiffLayout; firstOffset: number }> {
  const start = await source.read(0, Math.min(headerBytesOf(true), source.size)); // BigTIFF has the longer header
  if (!isTiff(start)) throw new SlideError('FILE_CORRUPT', 'The file has no TIFF signature');
  const isLittleEndian = start[0] === 'I'.charCodeAt(0);
  const reader = byteReader(start, isLittleEndian);
  const isBig = reader.u16(2) === 43; // the version of BigTIFF
  if (start.length < headerBytesOf(isBig))
    throw new SlideError('FILE_TRUNCATED', 'The file ends in its header');
  if (isBig && (reader.u16(4) !== 8 || reader.u16(6) !== 0)) {
    throw new SlideError('FILE_CORRUPT', 'The BigTIFF header does not declare offsets of 8 bytes');
  }
  // Classic TIFF has offsets of 4 bytes, which end at 4 GiB; larger NDPI files extend them to 8 bytes.
  const mayBeWideNdpi = source.size > 2 ** 32 && isLittleEndian && !isBig;
  const isWideNdpi = mayBeWideNdpi && (await isNdpiDirectory(source, reader.u64(4)));
  const layout = { isLittleEndian, isBig, isWideNdpi };
  if (isBig) return { layout, firstOffset: reader.u64(8) };
  return { layout, firstOffset: isWideNdpi ? reader.u64(4) : reader.u32(4) };
}

/** A directory of classic TIFF: bytes of the field that states its number of entries, and bytes of one entry. */
const COUNT_BYTES = 2;
const ENTRY_BYTES = 12;

/** Whether the offset leads to a little-endian directory with the tag NdpiVersion; false when it lies outside the file. */
async function isNdpiDirectory(source: ByteSource, offset: number): Promise<boolean> {
  const entriesAt = offset + COUNT_BYTES;
  if (entriesAt > source.size) return false;
  const count = byteReader(await source.read(offset, COUNT_BYTES), true).u16(0);
  if (entriesAt + ENTRY_BYTES * count > source.size) return false;
  const entries = byteReader(await source.read(entriesAt, ENTRY_BYTES * count), true);
  return Array.from({ length: count }, (_, i) => entries.u16(ENTRY_BYTES * i)).includes(tag.NdpiVersion);
}
