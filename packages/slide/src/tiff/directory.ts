/**
 * Parser of image file directories (IFDs), the lists of tags that describe the images of a TIFF file. `directoryOf` is long
 * because its functions share the entries of the directory.
 */
import { SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { decodeUtf8OrLatin1 } from '../source/decode-text.ts';
import { type ByteReader, byteReader } from './byte-reader.ts';
import { limits } from './limits.ts';
import { nameOfTag, type Tag } from './tags.ts';

/** Byte order and number sizes of a file. */
export interface TiffLayout {
  readonly isLittleEndian: boolean;
  /** Whether the file is BigTIFF, whose counts and offsets have 8 bytes. */
  readonly isBig: boolean;
  /**
   * Whether the file is an NDPI file of more than 4 GiB. Its entries have the form of classic TIFF, but pointers to directories
   * have 8 bytes. A list after the directory contains the high 4 bytes of every entry's value or offset. Text is never
   * stored in the entry.
   */
  readonly isWideNdpi: boolean;
}

/**
 * One image file directory: a list of tags. Its entries are in memory; their values are read on demand.
 *
 * Every function that reads a value throws SlideError: FILE_TRUNCATED when the value is beyond the end of the file,
 * LIMIT_EXCEEDED when it exceeds limits.ts, FILE_CORRUPT when its type or number of values is invalid for the tag.
 * Instead of FILE_CORRUPT for an invalid type, `real` and `reals` return null.
 */
export interface TiffDirectory {
  /** Position in the file; unique per directory. */
  readonly offset: number;
  /** 0 for a directory of the main chain, 1 for a SubIFD (to which a tag of such a directory points), and so on. */
  readonly depth: number;
  /** Byte order of all numbers of the file, including 16-bit samples. */
  readonly isLittleEndian: boolean;
  /** Returns the number of values of the tag; 0 when the directory does not have it. */
  count(tag: Tag): number;
  /** Returns the first value as a non-negative integer; null when absent. */
  number(tag: Tag): Promise<number | null>;
  /** Returns all values of a tag with few values as non-negative integers; null when absent. */
  numbers(tag: Tag): Promise<readonly number[] | null>;
  /**
   * Returns the first `length` values of a long table; the directory must have at least as many. Also throws LIMIT_EXCEEDED when
   * all tables that were read have more bytes than `limits.tableBytesPerFileByte` allows.
   */
  table(tag: Tag, length: number): Promise<NumberTable>;
  /** Returns the first value of a RATIONAL, FLOAT, DOUBLE or SLONG; null when absent, of another type or not finite. */
  real(tag: Tag): Promise<number | null>;
  /** Returns all values (finite or not) of a tag with few values; null when absent or of a type that `real` does not read. */
  reals(tag: Tag): Promise<readonly number[] | null>;
  /**
   * Returns the text up to the first NUL, at most `maxBytes`, decoded as UTF-8 or, if it is not valid UTF-8, as Latin-1.
   * Returns null when absent.
   */
  text(tag: Tag, maxBytes: number): Promise<string | null>;
  /** Returns the whole value; null when absent. */
  bytes(tag: Tag): Promise<Uint8Array | null>;
}

/** Offsets or byte counts of all tiles of a level; a typed array, because a level may have millions. */
export type NumberTable = Uint32Array | Float64Array;

interface Entry {
  readonly type: number;
  readonly count: number;
  /** Position of the value in the file; inside the entry itself if it fits there. */
  readonly valueOffset: number;
  /** In an NDPI file of more than 4 GiB, the multiple of 2^32 to add to a single LONG or IFD value; otherwise 0. */
  readonly highPart: number;
}

type ReadNumber = (reader: ByteReader, position: number) => number;

/** Bytes of one value, by field type. Source: TIFF 6.0, section 2; Technical Note 1 (type 13); BigTIFF (16 to 18). */
const bytesPerValue: Readonly<Record<number, number>> = {
  1: 1, // BYTE
  2: 1, // ASCII
  3: 2, // SHORT
  4: 4, // LONG
  5: 8, // RATIONAL
  6: 1, // SBYTE
  7: 1, // UNDEFINED
  8: 2, // SSHORT
  9: 4, // SLONG
  10: 8, // SRATIONAL
  11: 4, // FLOAT
  12: 8, // DOUBLE
  13: 4, // IFD
  16: 8, // LONG8
  17: 8, // SLONG8
  18: 8, // IFD8
};

/** Readers of non-negative integers, by field type. */
const integerReaders: Readonly<Record<number, ReadNumber>> = {
  1: (reader, position) => reader.u8(position),
  3: (reader, position) => reader.u16(position),
  4: (reader, position) => reader.u32(position),
  13: (reader, position) => reader.u32(position),
  16: (reader, position) => reader.u64(position),
  18: (reader, position) => reader.u64(position),
};

/** Readers of real and signed numbers, by field type; `| 0` makes 32 bits signed. */
const realReaders: Readonly<Record<number, ReadNumber>> = {
  5: (reader, position) => reader.u32(position) / reader.u32(position + 4),
  9: (reader, position) => reader.u32(position) | 0,
  11: (reader, position) => reader.f32(position),
  12: (reader, position) => reader.f64(position),
};

/** Field types of one byte per value: BYTE, ASCII, UNDEFINED. */
const byteTypes = new Set([1, 2, 7]);
/** Field types that NDPI treats specially: a single LONG or IFD may have 8 bytes, and ASCII is never in the entry. */
const [LONG, IFD, ASCII] = [4, 13, 2];
/**
 * Bytes of the first read at a directory: usually all its entries, and often the small values after them. At the end of the
 * file the read is shorter, but includes the number of entries: if the file ends inside that number, it throws FILE_TRUNCATED.
 */
const WINDOW_BYTES = 1024;

/** The file that contains a directory. */
interface TiffSource {
  readonly source: ByteSource;
  readonly layout: TiffLayout;
  /**
   * Adds to the total of bytes of all tables. Called before a table is read, and with the negative number when the read fails.
   *
   * @throws SlideError LIMIT_EXCEEDED when all tables of the file have too many bytes
   */
  readonly addTableBytes: (bytes: number) => void;
}

/**
 * Reads the directory at an offset.
 *
 * Source: TIFF 6.0, section 2; the BigTIFF design; OpenSlide's notes on the Hamamatsu format (NDPI of more than 4 GiB).
 *
 * @returns the directory, and the offset of the next directory in its chain (0 at the end)
 */
export async function readDirectory(
  { source, layout, addTableBytes }: TiffSource,
  offset: number,
  depth: number,
): Promise<{ directory: TiffDirectory; next: number }> {
  // Bytes of the number of entries, of one entry, and of a pointer.
  const [countBytes, entryBytes, pointerBytes] = layout.isBig ? [8, 20, 8] : [2, 12, 4];
  const read = async (fileOffset: number, length: number) =>
    byteReader(await source.read(fileOffset, length), layout.isLittleEndian);

  let window = await read(offset, Math.min(WINDOW_BYTES, Math.max(countBytes, source.size - offset)));
  const entryCount = layout.isBig ? window.u64(0) : window.u16(0);
  if (entryCount === 0) throw new SlideError('FILE_CORRUPT', `The directory at ${offset} is empty`);
  if (entryCount > limits.entriesPerDirectory) {
    throw new SlideError('LIMIT_EXCEEDED', `The directory at ${offset} has ${entryCount} entries`);
  }
  const nextAt = countBytes + entryCount * entryBytes;
  const highBytesAt = nextAt + (layout.isWideNdpi ? 8 : pointerBytes);
  const end = highBytesAt + (layout.isWideNdpi ? 4 * entryCount : 0);
  if (end > window.length) window = await read(offset, end);

  const readPointerSized = (position: number) => (layout.isBig ? window.u64(position) : window.u32(position));
  // An entry: tag (2 bytes), type (2), count, and the value or its offset (`pointerBytes` each). Positions are in `window`.
  const entries = new Map<number, Entry>();
  for (let position = countBytes; position < nextAt; position += entryBytes) {
    const tagNumber = window.u16(position);
    const type = window.u16(position + 2);
    const count = readPointerSized(position + 4);
    const valueAt = position + 4 + pointerBytes;
    const index = (position - countBytes) / entryBytes;
    const highPart = layout.isWideNdpi ? window.u32(highBytesAt + index * 4) * 2 ** 32 : 0;
    // A value that fits into the field of the offset is stored there instead. The size 1 assumed for unknown types has
    // no effect, because no function reads their values.
    const fitsInEntry = (bytesPerValue[type] ?? 1) * count <= pointerBytes;
    const isInEntry = fitsInEntry && !(layout.isWideNdpi && type === ASCII);
    const isOneNumber = count === 1 && (type === LONG || type === IFD);
    const entry = {
      type,
      count,
      valueOffset: isInEntry ? offset + valueAt : readPointerSized(valueAt) + highPart,
      highPart: isInEntry && isOneNumber ? highPart : 0,
    };
    // If a tag has two entries, the first one is used, as libtiff does.
    if (!entries.has(tagNumber)) entries.set(tagNumber, entry);
  }

  const readValues: ReadValues = async (tag, entry, count) => {
    const length = (bytesPerValue[entry.type] ?? 0) * count;
    if (length > limits.valueBytes) {
      throw new SlideError('LIMIT_EXCEEDED', `${nameOfTag(tag)} has ${entry.count} values`);
    }
    const start = entry.valueOffset - offset;
    if (start >= 0 && start + length <= window.length) return window.slice(start, length);
    return read(entry.valueOffset, length);
  };
  return {
    directory: directoryOf(entries, readValues, addTableBytes, offset, depth, layout.isLittleEndian),
    next: layout.isWideNdpi ? window.u64(nextAt) : readPointerSized(nextAt),
  };
}

/** Reads the bytes of the first `count` values of an entry. */
type ReadValues = (tag: Tag, entry: Entry, count: number) => Promise<ByteReader>;

function directoryOf(
  entries: ReadonlyMap<number, Entry>,
  readValues: ReadValues,
  addTableBytes: TiffSource['addTableBytes'],
  offset: number,
  depth: number,
  isLittleEndian: boolean,
): TiffDirectory {
  const wrongTypeError = (tag: Tag, { type }: Entry) =>
    new SlideError('FILE_CORRUPT', `${nameOfTag(tag)} has the field type ${type}`);

  /** Calls `onNumber` with each of the first `count` values and its index. */
  async function forEachNumber(
    tag: Tag,
    entry: Entry,
    count: number,
    onNumber: (n: number, i: number) => void,
  ) {
    const numberAt = integerReaders[entry.type];
    const size = bytesPerValue[entry.type];
    if (!numberAt || !size) throw wrongTypeError(tag, entry);
    if (entry.count === 0) throw new SlideError('FILE_CORRUPT', `${nameOfTag(tag)} has no values`);
    const reader = await readValues(tag, entry, count);
    for (let i = 0; i < count; i++) onNumber(numberAt(reader, i * size) + entry.highPart, i);
  }

  async function bytes(tag: Tag, maxBytes: number): Promise<Uint8Array | null> {
    const entry = entries.get(tag);
    if (!entry) return null;
    if (!byteTypes.has(entry.type)) throw wrongTypeError(tag, entry);
    return (await readValues(tag, entry, Math.min(entry.count, maxBytes))).bytes;
  }

  /** Returns the entry of a tag that may have only a few values. */
  function shortEntry(tag: Tag): Entry | undefined {
    const entry = entries.get(tag);
    if (entry && entry.count > limits.numbersPerTag) {
      throw new SlideError('LIMIT_EXCEEDED', `${nameOfTag(tag)} has ${entry.count} values`);
    }
    return entry;
  }

  return {
    offset,
    depth,
    isLittleEndian,
    count: (tag) => entries.get(tag)?.count ?? 0,
    async number(tag) {
      const entry = entries.get(tag);
      if (!entry) return null;
      let first = 0;
      await forEachNumber(tag, entry, 1, (number) => {
        first = number;
      });
      return first;
    },
    async numbers(tag) {
      const entry = shortEntry(tag);
      if (!entry) return null;
      const all: number[] = [];
      await forEachNumber(tag, entry, entry.count, (number) => all.push(number));
      return all;
    },
    async table(tag, length) {
      const entry = entries.get(tag);
      if (!entry || entry.count < length) {
        throw new SlideError(
          'FILE_CORRUPT',
          `${nameOfTag(tag)} has fewer than the ${length} values it needs`,
        );
      }
      const bytesInFile = (bytesPerValue[entry.type] ?? 0) * length;
      addTableBytes(bytesInFile);
      const mayExceed32Bits = bytesPerValue[entry.type] === 8 || entry.highPart > 0;
      const table = mayExceed32Bits ? new Float64Array(length) : new Uint32Array(length);
      try {
        await forEachNumber(tag, entry, length, (number, i) => {
          table[i] = number;
        });
      } catch (error) {
        addTableBytes(-bytesInFile); // the caller may retry, e.g. after an error of the object storage
        throw error;
      }
      return table;
    },
    async real(tag) {
      const entry = entries.get(tag);
      const realAt = entry && realReaders[entry.type];
      if (!realAt || entry.count === 0) return null;
      const real = realAt(await readValues(tag, entry, 1), 0);
      return Number.isFinite(real) ? real : null;
    },
    async reals(tag) {
      const entry = shortEntry(tag);
      const realAt = entry && realReaders[entry.type];
      if (!realAt) return null;
      const size = bytesPerValue[entry.type] ?? 8; // all types of `realReaders` have a size
      const reader = await readValues(tag, entry, entry.count);
      return Array.from({ length: entry.count }, (_, i) => realAt(reader, i * size));
    },
    async text(tag, maxBytes) {
      const textBytes = await bytes(tag, maxBytes);
      if (!textBytes) return null;
      const end = textBytes.indexOf(0);
      // TIFF 6.0 requires ASCII, but scanners write UTF-8 or the encoding of their operating system.
      return decodeUtf8OrLatin1(end < 0 ? textBytes : textBytes.subarray(0, end));
    },
    bytes: (tag) => bytes(tag, Number.POSITIVE_INFINITY),
  };
}
