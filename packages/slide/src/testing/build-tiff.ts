/** Serialises TIFF files for tests from tags and streams, without checking them. */
import { tag } from '../tiff/tags.ts';

export interface TagValue {
  /** Number of the field type. Source: TIFF 6.0, section 2. */
  readonly type: number;
  /** The values as numbers; a RATIONAL is a pair. */
  readonly numbers: readonly number[];
}

/** The tags of one directory, and the streams it refers to. */
export interface DirectoryPlan {
  /** Values by tag number, which replace generated tags of the same number. Tags are written in ascending order. */
  readonly tags: Readonly<Record<number, TagValue>>;
  /** Tiles or strips in image order; null is an empty tile. Their offsets and byte counts are generated. */
  readonly tiles?: readonly (Uint8Array | null)[];
  readonly strips?: readonly (Uint8Array | null)[];
  readonly subDirectories?: readonly DirectoryPlan[];
}

export interface TiffPlan {
  readonly directories: readonly DirectoryPlan[];
  /** Byte order of the file; by default little-endian. */
  readonly isLittleEndian?: boolean;
  /** Whether to write BigTIFF, whose offsets have 64 bits; by default false. */
  readonly isBig?: boolean;
  /** Whether each SubIFD refers to the next one, and the last one to the next directory, as in files of Bio-Formats; by default false. */
  readonly isChained?: boolean;
}

/** The position of a directory, and the position of the field that states the next directory's offset. */
interface PlacedDirectory {
  readonly at: number;
  readonly nextAt: number;
  readonly subDirectories: readonly PlacedDirectory[];
}

/** A file, and the positions at which tests damage it. */
export interface BuiltTiff {
  readonly bytes: Uint8Array;
  /** The directories except SubIFDs. */
  readonly directories: readonly PlacedDirectory[];
}

// The following functions create values of the TIFF field types with these names.
export const byte = (...numbers: number[]): TagValue => ({ type: 1, numbers });
export const ascii = (text: string): TagValue => ({ type: 2, numbers: [...Buffer.from(`${text}\0`)] });
export const short = (...numbers: number[]): TagValue => ({ type: 3, numbers });
export const long = (...numbers: number[]): TagValue => ({ type: 4, numbers });
export const rational = (numerator: number, denominator: number): TagValue => ({
  type: 5,
  numbers: [numerator, denominator],
});
export const undefinedBytes = (bytes: Uint8Array): TagValue => ({ type: 7, numbers: [...bytes] });
export const long8 = (...numbers: number[]): TagValue => ({ type: 16, numbers });

/** Bytes per number, and numbers per value (a RATIONAL has two), by field type. Other types are written as bytes. */
const types: Readonly<Record<number, readonly [bytes: number, numbersPerValue: number]>> = {
  1: [1, 1],
  2: [1, 1],
  3: [2, 1],
  4: [4, 1],
  5: [4, 2],
  7: [1, 1],
  13: [4, 1],
  16: [8, 1],
  18: [8, 1],
};
/** Field types of the offsets of SubIFDs, in TIFF and BigTIFF. */
const [IFD, IFD8] = [13, 18];

/** Serialises a TIFF without checking it. Source: TIFF 6.0, section 2; the BigTIFF design. */
export function buildTiff({
  directories,
  isLittleEndian = true,
  isBig = false,
  isChained = false,
}: TiffPlan): BuiltTiff {
  const pieces: Buffer[] = [];
  let end = 0;
  /** Appends bytes and returns their position, which is even: TIFF requires it for directories and values. */
  const append = (bytes: Uint8Array): number => {
    const at = end;
    const padded = Buffer.alloc(bytes.length + (bytes.length % 2));
    padded.set(bytes);
    pieces.push(padded);
    end += padded.length;
    return at;
  };
  const encodeNumber = (value: number, bytes: number): Buffer => {
    const buffer = Buffer.alloc(bytes);
    if (bytes === 8) {
      if (isLittleEndian) buffer.writeBigUInt64LE(BigInt(value));
      else buffer.writeBigUInt64BE(BigInt(value));
    } else if (isLittleEndian) buffer.writeUIntLE(value, 0, bytes);
    else buffer.writeUIntBE(value, 0, bytes);
    return buffer;
  };
  /** Sizes in bytes: of the number of entries of a directory; of an offset or a number of values. */
  const [entryCountBytes, pointerBytes] = isBig ? [8, 8] : [2, 4];

  const writeStreams = (
    streams: readonly (Uint8Array | null)[],
  ): [offsets: TagValue, byteCounts: TagValue] => {
    const offsets = streams.map((stream) => (stream ? append(stream) : 0));
    return [
      isBig ? long8(...offsets) : long(...offsets),
      long(...streams.map((stream) => stream?.length ?? 0)),
    ];
  };

  const writeDirectory = (plan: DirectoryPlan): PlacedDirectory => {
    const tags: Record<number, TagValue> = {};
    if (plan.tiles) [tags[tag.TileOffsets], tags[tag.TileByteCounts]] = writeStreams(plan.tiles);
    if (plan.strips) [tags[tag.StripOffsets], tags[tag.StripByteCounts]] = writeStreams(plan.strips);
    const subDirectories = plan.subDirectories?.map(writeDirectory) ?? [];
    if (plan.subDirectories) {
      tags[tag.SubIFDs] = { type: isBig ? IFD8 : IFD, numbers: subDirectories.map(({ at }) => at) };
    }
    Object.assign(tags, plan.tags); // so that a test can state wrong offsets

    const entries = Object.entries(tags).sort(([a], [b]) => Number(a) - Number(b));
    const encodedEntries = entries.flatMap(([tagNumber, { type, numbers }]) => {
      const [bytesPerNumber, numbersPerValue] = types[type] ?? [1, 1];
      const value =
        bytesPerNumber === 1
          ? Buffer.from(numbers)
          : Buffer.concat(numbers.map((element) => encodeNumber(element, bytesPerNumber)));
      const valueOrOffset = Buffer.alloc(pointerBytes);
      if (value.length <= pointerBytes) valueOrOffset.set(value);
      else valueOrOffset.set(encodeNumber(append(value), pointerBytes));
      return [
        encodeNumber(Number(tagNumber), 2),
        encodeNumber(type, 2),
        encodeNumber(numbers.length / numbersPerValue, pointerBytes),
        valueOrOffset,
      ];
    });
    const noNextDirectory = encodeNumber(0, pointerBytes);
    const bytes = Buffer.concat([
      encodeNumber(entries.length, entryCountBytes),
      ...encodedEntries,
      noNextDirectory,
    ]);
    const at = append(bytes);
    return { at, nextAt: at + bytes.length - pointerBytes, subDirectories };
  };

  /** Position in the header at which the offset of the first directory is stated. */
  const firstAt = isBig ? 8 : 4;
  // After its version, BigTIFF states the size of an offset in bytes (8) and a reserved 0.
  const versionFields = isBig ? [43, 8, 0] : [42];
  append(
    Buffer.concat([
      Buffer.from(isLittleEndian ? 'II' : 'MM'),
      ...versionFields.map((value) => encodeNumber(value, 2)),
      encodeNumber(0, pointerBytes), // replaced below
    ]),
  );
  const placedDirectories = directories.map(writeDirectory);
  const bytes = Buffer.concat(pieces);
  // Links each directory from the one before it, and the first from the header.
  placedDirectories.forEach(({ at }, i) => {
    bytes.set(encodeNumber(at, pointerBytes), placedDirectories[i - 1]?.nextAt ?? firstAt);
  });
  for (const [i, { subDirectories }] of isChained ? placedDirectories.entries() : []) {
    subDirectories.forEach(({ nextAt }, k) => {
      const next = subDirectories[k + 1] ?? placedDirectories[i + 1];
      bytes.set(encodeNumber(next?.at ?? 0, pointerBytes), nextAt);
    });
  }
  return { bytes, directories: placedDirectories };
}
