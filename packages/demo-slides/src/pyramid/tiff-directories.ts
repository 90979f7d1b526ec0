/**
 * Encodes the TIFF directories of a pyramid. A directory is a list of entries (tag, type, count, value) that describes one level;
 * values of more than four bytes are stored after the directory.
 *
 * Sources: TIFF 6.0 (Adobe, 1992); TIFF Technical Note #2 (T. Lane, 1995) for JPEG; the wording of the description as in
 * the Aperio files of the OpenSlide test data.
 */
import { QUALITY } from './jpeg-tile.ts';
import { type LevelPlan, type PyramidPlan, TILE_SIZE } from './pyramid-plan.ts';

// Field types of TIFF 6.0, section 2. Typed arrays are little-endian, like the file, on all processors that the server supports.
const SHORT = 3;
const LONG = 4;
const RATIONAL = 5;
const ASCII = 2;
const UNDEFINED = 7;

interface Entry {
  readonly tag: number;
  readonly type: number;
  readonly count: number;
  readonly value: Buffer;
}

function shortEntry(tag: number, ...values: readonly number[]): Entry {
  return { tag, type: SHORT, count: values.length, value: Buffer.from(Uint16Array.from(values).buffer) };
}

function longEntry(tag: number, values: Uint32Array): Entry {
  // `slice` makes a copy whose buffer contains only these values.
  return { tag, type: LONG, count: values.length, value: Buffer.from(values.slice().buffer) };
}

function rationalEntry(tag: number, numerator: number, denominator: number): Entry {
  return { ...longEntry(tag, Uint32Array.of(numerator, denominator)), type: RATIONAL, count: 1 };
}

function asciiEntry(tag: number, text: string): Entry {
  const value = Buffer.from(`${text}\0`, 'latin1');
  return { tag, type: ASCII, count: value.length, value };
}

/**
 * Encodes one directory per level, each followed by its values.
 *
 * @param tables the JPEG tables that all tiles share
 * @param start the file offset at which the bytes will be written
 * @returns the bytes, and the file offset of the first directory, which is even, as TIFF requires
 */
export function encodeDirectories(
  plan: PyramidPlan,
  levels: readonly LevelPlan[],
  tables: Buffer,
  start: number,
): { bytes: Buffer; firstDirectory: number } {
  const firstDirectory = start + (start % 2);
  const chunks: Buffer[] = [Buffer.alloc(firstDirectory - start)];
  let directoryOffset = firstDirectory;
  levels.forEach((_, levelIndex) => {
    const entries = entriesOf(plan, levels, levelIndex, tables);
    const directory = Buffer.alloc(2 + entries.length * 12 + 4); // number of entries, entries, offset of the next directory
    const values: Buffer[] = [];
    let valueOffset = directoryOffset + directory.length;
    directory.writeUInt16LE(entries.length, 0);
    entries.forEach(({ tag, type, count, value }, index) => {
      const entryOffset = 2 + index * 12;
      directory.writeUInt16LE(tag, entryOffset);
      directory.writeUInt16LE(type, entryOffset + 2);
      directory.writeUInt32LE(count, entryOffset + 4);
      if (value.length <= 4) value.copy(directory, entryOffset + 8);
      else {
        directory.writeUInt32LE(valueOffset, entryOffset + 8);
        // Values start at even offsets.
        const padded = Buffer.concat([value, Buffer.alloc(value.length % 2)]);
        values.push(padded);
        valueOffset += padded.length;
      }
    });
    const isLast = levelIndex === levels.length - 1;
    const nextDirectory = isLast ? 0 : valueOffset; // offset, after the values; 0 in the last directory
    directory.writeUInt32LE(nextDirectory, directory.length - 4);
    chunks.push(directory, ...values);
    directoryOffset = valueOffset;
  });
  return { bytes: Buffer.concat(chunks), firstDirectory };
}

/** Returns the entries of a level in the order of their tags, as TIFF requires; the comments name the tags. */
function entriesOf(
  plan: PyramidPlan,
  levels: readonly LevelPlan[],
  levelIndex: number,
  tables: Buffer,
): Entry[] {
  const level = levels[levelIndex] as LevelPlan;
  const pixelsPerCentimetre = Math.round(10_000 / plan.micronsPerPixel / 2 ** levelIndex); // 10,000 µm are 1 cm
  return [
    longEntry(254, Uint32Array.of(levelIndex === 0 ? 0 : 1)), // NewSubfileType: 1 is a reduced version of another image
    longEntry(256, Uint32Array.of(level.width)), // ImageWidth
    longEntry(257, Uint32Array.of(level.height)), // ImageLength
    shortEntry(258, 8, 8, 8), // BitsPerSample
    shortEntry(259, 7), // Compression: JPEG
    shortEntry(262, 6), // PhotometricInterpretation: YCbCr
    asciiEntry(270, descriptionOf(plan, level, levelIndex)), // ImageDescription
    shortEntry(277, 3), // SamplesPerPixel
    rationalEntry(282, pixelsPerCentimetre, 1), // XResolution
    rationalEntry(283, pixelsPerCentimetre, 1), // YResolution
    shortEntry(284, 1), // PlanarConfiguration: the samples of a pixel are adjacent
    shortEntry(296, 3), // ResolutionUnit: centimetre
    shortEntry(322, TILE_SIZE), // TileWidth
    shortEntry(323, TILE_SIZE), // TileLength
    longEntry(324, level.offsets), // TileOffsets
    longEntry(325, level.lengths), // TileByteCounts
    { tag: 347, type: UNDEFINED, count: tables.length, value: tables }, // JPEGTables
    shortEntry(530, 2, 2), // YCbCrSubSampling
  ];
}

function descriptionOf(plan: PyramidPlan, level: LevelPlan, levelIndex: number): string {
  const { width, height } = plan;
  const reduced = levelIndex === 0 ? '' : ` -> ${level.width}x${level.height}`;
  const geometry = `${width}x${height} [0,0 ${width}x${height}] (${TILE_SIZE}x${TILE_SIZE})${reduced} JPEG/YCC Q=${QUALITY}`;
  return [
    `Aperio Image Library layout\r\n${geometry}`,
    `AppMag = ${plan.objectivePower}`,
    `MPP = ${plan.micronsPerPixel.toFixed(4)}`,
    'Origin = drawn by a program for demonstration, of no patient',
  ].join('|');
}
