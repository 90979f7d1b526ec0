/**
 * The directories of a TIFF file with all their entries, for de-identification. This parser is separate from tiff/, which
 * reads only known tags, because de-identification must examine every tag.
 *
 * Source: TIFF 6.0, section 2; the BigTIFF design; OpenSlide's notes on the Hamamatsu format.
 */
import type { ByteSource } from '../source/byte-source.ts';
import { type ByteReader, byteReader } from '../tiff/byte-reader.ts';
import { tag as readerTags } from '../tiff/tags.ts';
import { NotDeidentifiable } from './patches.ts';

/** An entry of a directory: a tag with its values. */
export interface Entry {
  readonly tag: number;
  /** Number of the field type. */
  readonly type: number;
  /** Number of values. */
  readonly count: number;
  /** Position and length in bytes of the values. */
  readonly valueOffset: number;
  readonly length: number;
  /** The upper 32 bits of a single number stored in the entry, as a multiple of 2^32; 0 except in large NDPI files. */
  readonly high: number;
}

/** A directory: the tags of one image of the file. */
export interface Directory {
  readonly offset: number;
  /** Length of the directory itself. */
  readonly length: number;
  /** Position of the number that refers to the next directory. */
  readonly nextAt: number;
  /** Position of the next directory; 0 for the last one. */
  readonly next: number;
  readonly entries: readonly Entry[];
}

/** The variant of TIFF. */
interface Layout {
  readonly isLittleEndian: boolean;
  /** BigTIFF, whose positions have 64 bits. */
  readonly isBig: boolean;
  readonly isNdpi: boolean;
  /** Position of the number that refers to the first directory. */
  readonly firstAt: number;
}

/** The header of a file. */
interface Header {
  readonly length: number;
  /** Position of the first directory. */
  readonly firstDirectory: number;
}

// Field types.
const BYTE = 1;
export const ASCII = 2;
const SHORT = 3;
const LONG = 4;
const SBYTE = 6;
const UNDEFINED = 7;
const FLOAT = 11;
const DOUBLE = 12;
const IFD = 13;
const LONG8 = 16;
const IFD8 = 18;
/** Bytes of one value, by field type. */
const sizes: Readonly<Record<number, number>> = {
  [BYTE]: 1,
  [ASCII]: 1,
  [SHORT]: 2,
  [LONG]: 4,
  5: 8, // RATIONAL
  [SBYTE]: 1,
  [UNDEFINED]: 1,
  8: 2, // SSHORT
  9: 4, // SLONG
  10: 8, // SRATIONAL
  [FLOAT]: 4,
  [DOUBLE]: 8,
  [IFD]: 4,
  [LONG8]: 8,
  17: 8, // SLONG8
  [IFD8]: 8,
};
/** Field types of one byte per value. */
export const byteTypes: ReadonlySet<number> = new Set([BYTE, ASCII, SBYTE, UNDEFINED]);
// A file that exceeds one of these limits is not de-identified.
const maxDirectories = 1000;
const maxEntries = 1000;
/** Values of one tag, except tables of positions and lengths. */
const maxNumbers = 4096;
/** Tiles and strips of one directory. */
const maxTableLength = 2 ** 22;
const maxTextBytes = 16 * 2 ** 20;
/** Bytes of all texts together, because directories may share a text. */
const maxTotalTextBytes = 128 * 2 ** 20;

/** Reads the directories of a file. All methods throw NotDeidentifiable, and SlideError errors of reading the file. */
export class TiffStructure {
  readonly #source: ByteSource;
  /** Positions of the directories that have been read. */
  readonly #visited = new Set<number>();
  #layout: Layout = { isLittleEndian: true, isBig: false, isNdpi: false, firstAt: 4 };
  #textBytes = 0;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  get layout(): Layout {
    return this.#layout;
  }

  async #read(offset: number, length: number): Promise<ByteReader> {
    if (offset + length > this.#source.size)
      throw new NotDeidentifiable('a value is beyond the end of the file');
    return byteReader(await this.#source.read(offset, length), this.#layout.isLittleEndian);
  }

  /** Reads the file header and detects the variant of TIFF. */
  async readHeader(): Promise<Header> {
    const start = await this.#source.read(0, Math.min(16, this.#source.size));
    const isLittleEndian = start[0] === 'I'.charCodeAt(0);
    const reader = byteReader(start, isLittleEndian);
    const isBig = reader.u16(2) === 43; // the version number of BigTIFF; classic TIFF has 42
    const headerBytes = isBig ? 16 : 8;
    if (start.length < headerBytes) throw new NotDeidentifiable('the file ends inside its header');
    const firstAt = isBig ? 8 : 4;
    this.#layout = { isLittleEndian, isBig, isNdpi: false, firstAt };
    const firstOffset = isBig ? reader.u64(8) : reader.u32(4);
    if (!isBig && isLittleEndian) {
      // NDPI files have the header of a classic TIFF, but the offset in it may have 8 bytes. Both lengths are tried.
      for (const offset of new Set([reader.u64(4), firstOffset])) {
        if (offset + 2 > this.#source.size) continue;
        this.#layout = { isLittleEndian, isBig, isNdpi: true, firstAt };
        const directory = await this.#readDirectory(offset).catch(() => null);
        if (directory?.entries.some(({ tag }) => tag === readerTags.NdpiVersion)) {
          // The header has 8 bytes with a 4-byte offset, and 12 with an 8-byte offset. If bytes 8 to 11 are 0, they may be the
          // upper half of the offset, so they count as a part of the header, which the copy keeps.
          const hasShortOffset = offset === firstOffset && reader.u32(8) !== 0;
          return { length: hasShortOffset ? 8 : 12, firstDirectory: offset };
        }
      }
      this.#layout = { isLittleEndian, isBig, isNdpi: false, firstAt };
    }
    return { length: headerBytes, firstDirectory: firstOffset };
  }

  /** Reads a directory and those that follow it. */
  async readChain(first: number): Promise<Directory[]> {
    const chain: Directory[] = [];
    for (let offset = first; offset !== 0; ) {
      const directory = await this.readDirectory(offset);
      chain.push(directory);
      offset = directory.next;
    }
    return chain;
  }

  /** Reads a directory. @throws NotDeidentifiable if the directory has been read before */
  async readDirectory(offset: number): Promise<Directory> {
    if (this.#visited.has(offset) || this.#visited.size === maxDirectories)
      throw new NotDeidentifiable(`its directories form a cycle, or are more than ${maxDirectories}`);
    this.#visited.add(offset);
    return this.#readDirectory(offset);
  }

  async #readDirectory(offset: number): Promise<Directory> {
    const { isBig, isNdpi } = this.#layout;
    const [countBytes, entryBytes, pointerBytes] = isBig ? [8, 20, 8] : [2, 12, 4];
    const counter = await this.#read(offset, countBytes);
    const count = isBig ? counter.u64(0) : counter.u16(0);
    if (count === 0 || count > maxEntries)
      throw new NotDeidentifiable(`a directory has ${count} entries (1 to ${maxEntries} are supported)`);
    const nextBytes = isNdpi ? 8 : pointerBytes;
    const nextInBlock = countBytes + count * entryBytes;
    // An NDPI directory is followed by the upper 32 bits of the numbers in its entries.
    const hasUpperBits = isNdpi && offset + nextInBlock + nextBytes + 4 * count <= this.#source.size;
    const needsUpperBits = hasUpperBits && this.#source.size > 2 ** 32;
    const length = nextInBlock + nextBytes + (hasUpperBits ? 4 * count : 0);
    const block = await this.#read(offset, length);
    const pointer = (position: number) => (isBig ? block.u64(position) : block.u32(position));
    const entries: Entry[] = [];
    for (let i = 0; i < count; i++) {
      const entryAt = countBytes + i * entryBytes;
      const type = block.u16(entryAt + 2);
      const valueCount = pointer(entryAt + 4);
      const valueAt = entryAt + 4 + pointerBytes;
      const bytesPerValue = sizes[type];
      if (bytesPerValue === undefined) throw new NotDeidentifiable(`a value has the unknown type ${type}`);
      const valueBytes = bytesPerValue * valueCount;
      const high = needsUpperBits ? block.u32(nextInBlock + nextBytes + 4 * i) * 2 ** 32 : 0;
      const isInEntry = valueBytes <= pointerBytes && !(needsUpperBits && type === ASCII); // a large NDPI never stores ASCII there
      entries.push({
        tag: block.u16(entryAt),
        type,
        count: valueCount,
        valueOffset: isInEntry ? offset + valueAt : pointer(valueAt) + high,
        length: valueBytes,
        high: isInEntry && valueCount === 1 && (type === LONG || type === IFD) ? high : 0,
      });
    }
    const next = isNdpi ? block.u64(nextInBlock) : pointer(nextInBlock);
    return { offset, length, nextAt: offset + nextInBlock, next, entries };
  }

  /** Returns the first number of a tag; null when the directory does not have it. */
  async number(directory: Directory, tag: number): Promise<number | null> {
    return (await this.numbers(directory, tag))[0] ?? null;
  }

  /** Returns the numbers of a tag with few values; none when the directory does not have it. */
  async numbers(directory: Directory, tag: number): Promise<readonly number[]> {
    const entry = entryOf(directory, tag);
    if (entry === null) return [];
    if (entry.count > maxNumbers)
      throw new NotDeidentifiable(`a tag has ${entry.count} values, more than ${maxNumbers}`);
    return [...(await this.#numbersOf(entry))];
  }

  /** Returns the numbers of a tag with a value for every tile or strip; none when the directory does not have it. */
  async table(directory: Directory, tag: number): Promise<Float64Array> {
    const entry = entryOf(directory, tag);
    if (entry === null) return new Float64Array();
    if (entry.count > maxTableLength)
      throw new NotDeidentifiable(`an image has ${entry.count} tiles or strips, more than ${maxTableLength}`);
    return this.#numbersOf(entry);
  }

  async #numbersOf(entry: Entry): Promise<Float64Array> {
    const reader = await this.#read(entry.valueOffset, entry.length);
    const size = sizes[entry.type] ?? 1;
    const numbers = new Float64Array(entry.count);
    for (let i = 0; i < entry.count; i++) numbers[i] = numberAt(reader, entry, i * size);
    return numbers;
  }

  /** Returns the text of a tag, one character per byte; empty when the directory does not have it or its values are not bytes. */
  async text(directory: Directory, tag: number): Promise<string> {
    const entry = entryOf(directory, tag);
    return entry === null || !byteTypes.has(entry.type) ? '' : this.textOf(entry);
  }

  /** Returns the text of an entry whose values are bytes, one character per byte. */
  async textOf(entry: Entry): Promise<string> {
    return Buffer.from(await this.bytesOf(entry)).toString('latin1');
  }

  /** Returns the bytes of the values of an entry. */
  async bytesOf({ valueOffset, length }: Entry): Promise<Uint8Array> {
    this.#textBytes += length;
    if (length > maxTextBytes || this.#textBytes > maxTotalTextBytes)
      throw new NotDeidentifiable('the texts are too long');
    return (await this.#read(valueOffset, length)).bytes;
  }
}

/** Returns the entry of a tag; null when the directory has none. Of two entries with the tag, returns the first, as readers do. */
export function entryOf({ entries }: Directory, tag: number): Entry | null {
  return entries.find((entry) => entry.tag === tag) ?? null;
}

/** Returns a value of an entry; NaN for types that no tag of interest has. */
function numberAt(reader: ByteReader, { type, high }: Entry, position: number): number {
  if (type === SHORT) return reader.u16(position);
  if (type === LONG8 || type === IFD8) return reader.u64(position);
  if (type === LONG || type === IFD) return reader.u32(position) + high;
  if (type === FLOAT) return reader.f32(position);
  if (type === DOUBLE) return reader.f64(position);
  return sizes[type] === 1 ? reader.u8(position) : Number.NaN;
}
