/** Serialises TIFF files for tests from tags and streams, without checking them. */

/** The value of a tag. */
export interface TagValue {
  /** Number of the field type. Source: TIFF 6.0, section 2. */
  readonly type: number;
  /** The values as numbers; a RATIONAL is a pair. */
  readonly numbers: readonly number[];
}

/** The tags of one directory, and the streams it refers to. */
export interface DirectoryPlan {
  /** Values by tag number; serialised in ascending order. */
  readonly tags: Readonly<Record<number, TagValue>>;
  /** Tiles or strips in picture order; null is an empty tile. Their offsets and byte counts are generated. */
  readonly tiles?: readonly (Uint8Array | null)[];
  readonly strips?: readonly (Uint8Array | null)[];
  readonly subDirectories?: readonly DirectoryPlan[];
}

export interface TiffPlan {
  readonly directories: readonly DirectoryPlan[];
  readonly littleEndian?: boolean;
  /** Whether to write BigTIFF, whose offsets have 64 bits; false. */
  readonly isBig?: boolean;
}

/** A file, and the positions at which tests damage it. */
export interface BuiltTiff {
  readonly bytes: Uint8Array;
  /** For each directory except SubIFDs: its position, and the position of the offset of the next directory. */
  readonly directories: readonly { readonly at: number; readonly nextAt: number }[];
}

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

/** Bytes per number, and numbers per value, by field type. */
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

/** Serialises a TIFF without checking it. Source: TIFF 6.0, section 2; the BigTIFF design. */
export function buildTiff({ directories, littleEndian = true, isBig = false }: TiffPlan): BuiltTiff {
  const pieces: Buffer[] = [];
  let end = 0;
  const append = (bytes: Uint8Array): number => {
    const at = end;
    const padded = Buffer.alloc(bytes.length + (bytes.length % 2));
    padded.set(bytes);
    pieces.push(padded);
    end += padded.length;
    return at;
  };
  const number = (value: number, bytes: number): Buffer => {
    const buffer = Buffer.alloc(bytes);
    if (bytes === 8) {
      if (littleEndian) buffer.writeBigUInt64LE(BigInt(value));
      else buffer.writeBigUInt64BE(BigInt(value));
    } else if (littleEndian) buffer.writeUIntLE(value, 0, bytes);
    else buffer.writeUIntBE(value, 0, bytes);
    return buffer;
  };
  const [countBytes, pointerBytes] = isBig ? [8, 8] : [2, 4];

  const writeStreams = (
    streams: readonly (Uint8Array | null)[],
  ): [offsets: TagValue, byteCounts: TagValue] => {
    const offsets = streams.map((stream) => (stream ? append(stream) : 0));
    return [
      isBig ? long8(...offsets) : long(...offsets),
      long(...streams.map((stream) => stream?.length ?? 0)),
    ];
  };

  const writeDirectory = (plan: DirectoryPlan): { at: number; nextAt: number } => {
    const tags: Record<number, TagValue> = {};
    if (plan.tiles) [tags[324], tags[325]] = writeStreams(plan.tiles);
    if (plan.strips) [tags[273], tags[279]] = writeStreams(plan.strips);
    if (plan.subDirectories) {
      const offsets = plan.subDirectories.map((subDirectory) => writeDirectory(subDirectory).at);
      tags[330] = { type: isBig ? 18 : 13, numbers: offsets };
    }
    Object.assign(tags, plan.tags);

    const entries = Object.entries(tags).sort(([a], [b]) => Number(a) - Number(b));
    const block = entries.flatMap(([tag, { type, numbers }]) => {
      const [bytes, perValue] = types[type] ?? [1, 1];
      const value =
        bytes === 1 ? Buffer.from(numbers) : Buffer.concat(numbers.map((element) => number(element, bytes)));
      const valueOrOffset = Buffer.alloc(pointerBytes);
      if (value.length <= pointerBytes) valueOrOffset.set(value);
      else valueOrOffset.set(number(append(value), pointerBytes));
      return [
        number(Number(tag), 2),
        number(type, 2),
        number(numbers.length / perValue, pointerBytes),
        valueOrOffset,
      ];
    });
    const bytes = Buffer.concat([number(entries.length, countBytes), ...block, number(0, pointerBytes)]);
    const at = append(bytes);
    return { at, nextAt: at + bytes.length - pointerBytes };
  };

  const firstAt = isBig ? 8 : 4;
  append(
    Buffer.concat([
      Buffer.from(littleEndian ? 'II' : 'MM'),
      ...(isBig ? [number(43, 2), number(8, 2), number(0, 2)] : [number(42, 2)]),
      number(0, pointerBytes),
    ]),
  );
  const written = directories.map(writeDirectory);
  const bytes = Buffer.concat(pieces);
  written.forEach(({ at }, i) => {
    bytes.set(number(at, pointerBytes), written[i - 1]?.nextAt ?? firstAt);
  });
  return { bytes, directories: written };
}
