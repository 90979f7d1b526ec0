/**
 * Tests damaged NDPI files: each row of the table is a defect, a function that builds a file with it, and the expected outcome,
 * which is `displayed` or an error code.
 */
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import { readJpegHeader } from '../jpeg/header.ts';
import { SlideError } from '../model/slide.ts';
import { openSlideFrom } from '../open-slide.ts';
import {
  type BuiltNdpi,
  float,
  layOutNdpi,
  type NdpiDirectoryPlan,
  ndpiBytes,
  ndpiDirectories,
  signedLong,
} from '../testing/build-ndpi.ts';
import { long, short, type TagValue } from '../testing/build-tiff.ts';
import { countedFiles } from '../testing/counted-files.ts';
import { memoryFiles } from '../testing/memory-files.ts';
import { sparseSource } from '../testing/sparse-source.ts';
import { tag } from '../tiff/tags.ts';

vi.setConfig({ testTimeout: 60_000 });

/** The directories of the intact slide: two levels, the macro and the map of tissue areas. */
let intact: readonly NdpiDirectoryPlan[];
beforeAll(async () => {
  intact = await ndpiDirectories({ width: 384, height: 72, downsamples: [1, 2] });
});

type Directories = readonly NdpiDirectoryPlan[];
type Fault = readonly [name: string, build: (intact: Directories) => BuiltNdpi, outcome: string];

/** The outcome of a file that can be opened and decoded completely; other outcomes are error codes. */
const DISPLAYED = 'displayed';
/** Returns the directory of full resolution. */
const first = ([full]: Directories) => full as NdpiDirectoryPlan;

/** Builds the slide with its first directory changed. */
const changedFirst =
  (change: (full: NdpiDirectoryPlan) => NdpiDirectoryPlan) =>
  (directories: Directories): BuiltNdpi =>
    layOutNdpi([change(first(directories)), ...directories.slice(1)]);
/** Builds the slide with these tags in its first directory. */
const withTags = (tags: Readonly<Record<number, TagValue>>) =>
  changedFirst(({ jpeg, tags: all }) => ({ jpeg, tags: { ...all, ...tags } }));
/** Builds the slide without these tags in its first directory. */
const without = (...names: number[]) =>
  changedFirst(({ jpeg, tags }) => ({
    jpeg,
    tags: Object.fromEntries(Object.entries(tags).filter(([name]) => !names.includes(Number(name)))),
  }));
/** Builds the slide with its JPEG of full resolution changed; the result may be longer or shorter. */
const changedJpeg = (change: (jpeg: Buffer) => Uint8Array) =>
  changedFirst(({ jpeg: bytes, tags }) => ({ tags, jpeg: change(Buffer.from(bytes)) }));
/** Changes bytes of the JPEG frame header, counted from its marker. */
const changedFrameHeader = (offset: number, ...numbers: number[]) =>
  changedJpeg((bytes) => {
    bytes.set(numbers, readJpegHeader(bytes).frameAt + offset);
    return bytes;
  });
/** Changes the first bytes of a segment's body. */
const changedSegment = (marker: number, ...body: number[]) =>
  changedJpeg((bytes) => {
    bytes.set(body, bytes.indexOf(Uint8Array.of(0xff, marker)) + 4);
    return bytes;
  });
/** Removes a segment. */
const removedSegment = (marker: number) =>
  changedJpeg((bytes) => {
    const start = bytes.indexOf(Uint8Array.of(0xff, marker));
    const end = start + 2 + bytes.readUInt16BE(start + 2);
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
  });
/** Changes the scan data. */
const changedScan = (change: (data: Buffer) => unknown) =>
  changedJpeg((bytes) => {
    change(bytes.subarray(readJpegHeader(bytes).dataAt));
    return bytes;
  });
/** Changes bytes at an offset taken from the directories. */
const changedBytes =
  (patch: (bytes: Buffer, built: BuiltNdpi) => void) =>
  (directories: Directories): BuiltNdpi => {
    const built = layOutNdpi(directories);
    const bytes = Buffer.from(ndpiBytes(built));
    patch(bytes, built);
    return { ...built, pieces: [{ at: 0, bytes }] };
  };
/** Returns the offset of a directory. */
const directoryAt = ({ directories }: BuiltNdpi, index: number) => directories[index] as number;
/** Returns the position of a directory's pointer to the next one. */
const nextPointerOf = (bytes: Buffer, directoryOffset: number) =>
  directoryOffset + 2 + 12 * bytes.readUInt16LE(directoryOffset);
/** Changes the upper 32 bits of a tag's value; NDPI stores them, for files above 4 GiB, after the directory. */
const withUpperBits =
  (name: number, value: number) =>
  (directories: Directories): BuiltNdpi => {
    const built = layOutNdpi(directories, 5 * 2 ** 30);
    const directoryOffset = directoryAt(built, 0);
    const names = Object.keys({
      ...first(directories).tags,
      [tag.StripOffsets]: 0,
      [tag.StripByteCounts]: 0,
    });
    const index = names
      .map(Number)
      .sort((a, b) => a - b)
      .indexOf(name);
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    const upperBitsOffset = directoryOffset + 2 + 12 * names.length + 8 + 4 * index;
    return { ...built, pieces: [...built.pieces, { at: upperBitsOffset, bytes }] };
  };

const faults: readonly Fault[] = [
  ['no fault', (intactDirectories) => layOutNdpi(intactDirectories), DISPLAYED],

  [
    'the offset 0 for its first directory',
    changedBytes((bytes) => bytes.writeUInt32LE(0, 4)),
    'FILE_CORRUPT',
  ],
  [
    'a first directory that begins inside the file header',
    changedBytes((bytes) => bytes.writeUInt32LE(4, 4)),
    'FILE_CORRUPT',
  ],
  [
    'a first directory past the end of the file',
    changedBytes((bytes) => bytes.writeUInt32LE(2 ** 30, 4)),
    'FILE_TRUNCATED',
  ],
  [
    'a first directory at the last byte',
    changedBytes((bytes) => bytes.writeUInt32LE(bytes.length - 1, 4)),
    'FILE_TRUNCATED',
  ],
  [
    'an empty directory',
    changedBytes((bytes, built) => bytes.writeUInt16LE(0, directoryAt(built, 0))),
    'FILE_CORRUPT',
  ],
  [
    'a directory of 65,535 entries (limit 4,096)',
    changedBytes((bytes, built) => bytes.writeUInt16LE(65_535, directoryAt(built, 1))),
    'LIMIT_EXCEEDED',
  ],
  [
    'a directory that follows itself',
    changedBytes((bytes, built) =>
      bytes.writeUInt32LE(directoryAt(built, 1), nextPointerOf(bytes, directoryAt(built, 1))),
    ),
    'FILE_CORRUPT',
  ],
  [
    'a directory followed by an earlier one (a cycle)',
    changedBytes((bytes, built) =>
      bytes.writeUInt32LE(directoryAt(built, 0), nextPointerOf(bytes, directoryAt(built, 2))),
    ),
    'FILE_CORRUPT',
  ],
  [
    'a next directory past the end of the file',
    changedBytes((bytes, built) => bytes.writeUInt32LE(2 ** 31, nextPointerOf(bytes, directoryAt(built, 0)))),
    'FILE_TRUNCATED',
  ],
  [
    'an offset of its second directory that points into a JPEG (read as a directory of too many entries)',
    changedBytes((bytes, built) => bytes.writeUInt32LE(16, nextPointerOf(bytes, directoryAt(built, 0)))),
    'LIMIT_EXCEEDED',
  ],

  ['no magnification at full resolution', without(tag.SourceLens), DISPLAYED],
  [
    'no magnification at any level',
    (intactDirectories) =>
      layOutNdpi(
        intactDirectories.map((plan) => ({ ...plan, tags: { ...plan.tags, [tag.SourceLens]: float(-2) } })),
      ),
    'FORMAT_NOT_SUPPORTED',
  ],
  [
    'a magnification that is not a number',
    (intactDirectories) =>
      layOutNdpi([
        {
          ...first(intactDirectories),
          tags: { ...first(intactDirectories).tags, [tag.SourceLens]: float(Number.NaN) },
        },
      ]),
    'FORMAT_NOT_SUPPORTED',
  ],
  [
    'a magnification written as text',
    (intactDirectories) =>
      layOutNdpi([
        {
          ...first(intactDirectories),
          tags: { ...first(intactDirectories).tags, [tag.SourceLens]: { type: 2, numbers: [52, 48, 0] } },
        },
      ]),
    'FORMAT_NOT_SUPPORTED',
  ],
  [
    'a different focal plane for each of its images',
    (intactDirectories) =>
      layOutNdpi(
        intactDirectories.map((plan, i) => ({
          ...plan,
          tags: { ...plan.tags, [tag.FocalPlane]: signedLong(i * 1000 - 500) },
        })),
      ),
    DISPLAYED,
  ],
  [
    '40 levels (limit 32)',
    (intactDirectories) =>
      layOutNdpi(
        Array.from({ length: 40 }, (_, i) => ({
          ...first(intactDirectories),
          tags: {
            ...first(intactDirectories).tags,
            [tag.ImageWidth]: long(384 - i),
            [tag.ImageLength]: long(Math.round((72 * (384 - i)) / 384)),
          },
        })),
      ),
    'LIMIT_EXCEEDED',
  ],

  ['a width of 0', withTags({ [tag.ImageWidth]: long(0) }), 'FILE_CORRUPT'],
  ['no width', without(tag.ImageWidth), 'FILE_CORRUPT'],
  [
    'a height of 2^31 pixels (above the limit)',
    withTags({ [tag.ImageLength]: long(2 ** 31) }),
    'LIMIT_EXCEEDED',
  ],
  [
    'a width of 768 pixels in the TIFF directory and 384 in the JPEG',
    withTags({ [tag.ImageWidth]: long(768) }),
    'FILE_CORRUPT',
  ],
  [
    'a height of 80 pixels in the TIFF directory and 72 in the JPEG',
    withTags({ [tag.ImageLength]: long(80) }),
    'FILE_CORRUPT',
  ],
  [
    'a size of 128,000 × 100,000 pixels in the TIFF directory and 384 × 72 in the JPEG',
    withTags({ [tag.ImageWidth]: long(128 * 1000), [tag.ImageLength]: long(100_000) }),
    'FILE_CORRUPT',
  ],
  ['a width stored as a floating-point number', withTags({ [tag.ImageWidth]: float(384) }), 'FILE_CORRUPT'],

  ['uncompressed pixels', withTags({ [tag.Compression]: short(1) }), 'FORMAT_NOT_SUPPORTED'],
  ['JPEG XR compression', withTags({ [tag.Compression]: short(22_610) }), 'FORMAT_NOT_SUPPORTED'],
  ['16 bits per sample', withTags({ [tag.BitsPerSample]: short(16, 16, 16) }), 'FORMAT_NOT_SUPPORTED'],
  ['one sample per pixel', withTags({ [tag.SamplesPerPixel]: short(1) }), 'FORMAT_NOT_SUPPORTED'],
  ['pixels in CIE L*a*b*', withTags({ [tag.PhotometricInterpretation]: short(8) }), 'FORMAT_NOT_SUPPORTED'],

  ['no strip offset', withTags({ [tag.StripOffsets]: long() }), 'FORMAT_NOT_SUPPORTED'],
  [
    'a JPEG in two strips',
    withTags({ [tag.StripOffsets]: long(12, 100), [tag.StripByteCounts]: long(88, 1000) }),
    'FORMAT_NOT_SUPPORTED',
  ],
  ['a JPEG offset inside the file header', withTags({ [tag.StripOffsets]: long(0) }), 'FILE_CORRUPT'],
  [
    'a JPEG offset past the end of the file',
    withTags({ [tag.StripOffsets]: long(2 ** 31) }),
    'FILE_TRUNCATED',
  ],
  [
    'a JPEG that ends past the end of the file',
    withTags({ [tag.StripByteCounts]: long(2 ** 30) }),
    'FILE_TRUNCATED',
  ],
  ['a JPEG of 0 bytes', withTags({ [tag.StripByteCounts]: long(0) }), 'FILE_CORRUPT'],
  ['a JPEG of only 100 bytes', withTags({ [tag.StripByteCounts]: long(100) }), 'FILE_CORRUPT'],
  [
    'a TIFF directory in place of the first 200 bytes of its JPEG',
    changedBytes((bytes, built) => bytes.copy(bytes, 12, directoryAt(built, 0), directoryAt(built, 0) + 200)),
    'FILE_CORRUPT',
  ],

  ['no start-of-image marker (SOI)', changedJpeg((bytes) => bytes.fill(0, 0, 2)), 'FILE_CORRUPT'],
  [
    'an end-of-image marker (EOI) directly after the start-of-image marker (SOI)',
    changedJpeg((bytes) => bytes.fill(0xd9, 3, 4)),
    'FILE_CORRUPT',
  ],
  ['a progressive JPEG', changedFrameHeader(1, 0xc2), 'FORMAT_NOT_SUPPORTED'],
  ['a lossless JPEG', changedFrameHeader(1, 0xc3), 'FORMAT_NOT_SUPPORTED'],
  ['an arithmetic-coded JPEG', changedFrameHeader(1, 0xc9), 'FORMAT_NOT_SUPPORTED'],
  ['a JPEG of 12 bits per sample', changedFrameHeader(4, 12), 'FORMAT_NOT_SUPPORTED'],
  ['a JPEG of height 0', changedFrameHeader(5, 0, 0), 'FILE_CORRUPT'],
  ['a JPEG of 65,535 × 65,535 pixels', changedFrameHeader(5, 0xff, 0xff, 0xff, 0xff), 'FILE_CORRUPT'],
  ['a JPEG of 2 components', changedFrameHeader(9, 2), 'FILE_CORRUPT'],
  ['a JPEG of 200 components', changedFrameHeader(9, 200), 'FILE_CORRUPT'],
  ['a JPEG component with the sampling factors 0 × 0', changedFrameHeader(11, 0), 'FILE_CORRUPT'],
  ['a JPEG component with the sampling factors 4 × 4', changedFrameHeader(11, 0x44), 'FILE_CORRUPT'],
  ['two JPEG components of the same number', changedFrameHeader(13, 1), 'FILE_CORRUPT'],
  ['a JPEG without a frame header', removedSegment(0xc0), 'FILE_CORRUPT'],
  [
    'a JPEG with two frame headers',
    changedJpeg((bytes) => {
      const { frameAt } = readJpegHeader(bytes);
      return Buffer.concat([bytes.subarray(0, frameAt + 19), bytes.subarray(frameAt)]);
    }),
    'FILE_CORRUPT',
  ],
  ['a JPEG scan of one component instead of three', changedSegment(0xda, 1), 'FORMAT_NOT_SUPPORTED'],
  ['no quantisation table', removedSegment(0xdb), 'FILE_CORRUPT'],
  ['the invalid quantisation table number 15', changedSegment(0xdb, 0x0f), 'FILE_CORRUPT'],
  ['a JPEG without Huffman tables (the standard ones apply)', removedSegment(0xc4), DISPLAYED],
  ['more Huffman codes than possible', changedSegment(0xc4, 0, 255, 255, 255), 'FILE_CORRUPT'],
  ['empty Huffman tables', changedSegment(0xc4, 0, ...new Array<number>(16).fill(0)), 'FILE_CORRUPT'],

  [
    'restart markers although its JPEG declares no restart interval',
    changedSegment(0xdd, 0, 0),
    'FILE_CORRUPT',
  ],
  [
    'a wrong restart interval of 1 MCU (minimum coded unit) in the JPEG header',
    changedSegment(0xdd, 0, 1),
    'FILE_CORRUPT',
  ],
  [
    'a wrong restart interval of 17 MCUs (minimum coded units) in the JPEG header',
    changedSegment(0xdd, 0, 17),
    'FILE_CORRUPT',
  ],
  ['a wrong restart interval of a whole row in the JPEG header', changedSegment(0xdd, 0, 48), 'FILE_CORRUPT'],
  [
    'a wrong restart interval of 65,535 MCUs (minimum coded units) in the JPEG header',
    changedSegment(0xdd, 0xff, 0xff),
    'FILE_CORRUPT',
  ],
  ['no list of restart interval offsets', without(tag.McuStarts), DISPLAYED],
  [
    'a list of 3 restart interval offsets instead of 27',
    withTags({ [tag.McuStarts]: long(1, 2, 3) }),
    DISPLAYED,
  ],
  [
    'a list of restart interval offsets that are all 0',
    withTags({ [tag.McuStarts]: long(...new Array<number>(27).fill(0)) }),
    DISPLAYED,
  ],
  [
    'a list of restart interval offsets that are one byte too large',
    changedFirst(({ jpeg, tags }) => ({
      jpeg,
      tags: {
        ...tags,
        [tag.McuStarts]: long(...(tags[tag.McuStarts]?.numbers ?? []).map((start) => start + 1)),
      },
    })),
    DISPLAYED,
  ],
  [
    'a list of restart interval offsets stored as text',
    withTags({ [tag.McuStarts]: { type: 2, numbers: new Array<number>(27).fill(65) } }),
    'FILE_CORRUPT',
  ],
  [
    'restart interval offsets whose upper 32 bits are implausible',
    withTags({ [tag.McuStartsHigh]: long(...new Array<number>(27).fill(9)) }),
    DISPLAYED,
  ],

  [
    'a missing restart marker',
    changedScan((bytes) => {
      bytes[bytes.indexOf(Uint8Array.of(0xff, 0xd3)) + 1] = 0;
    }),
    'FILE_CORRUPT',
  ],
  [
    'a restart marker with a wrong number',
    changedScan((bytes) => {
      bytes[bytes.indexOf(Uint8Array.of(0xff, 0xd3)) + 1] = 0xd5;
    }),
    'FILE_CORRUPT',
  ],
  [
    'an end-of-image marker (EOI) in the middle of its scan',
    changedScan((bytes) => {
      bytes[bytes.indexOf(Uint8Array.of(0xff, 0xd3)) + 1] = 0xd9;
    }),
    'FILE_CORRUPT',
  ],
  [
    'a restart interval filled with zeros',
    changedScan((bytes) => bytes.fill(0, 20, bytes.indexOf(Uint8Array.of(0xff, 0xd0)))),
    'FILE_CORRUPT',
  ],
  [
    'a restart interval filled with 0xFE bytes',
    changedScan((bytes) => bytes.fill(0xfe, 20, bytes.indexOf(Uint8Array.of(0xff, 0xd0)))),
    'FILE_CORRUPT',
  ],
  [
    'a restart interval filled with 0xFF bytes (which begin markers)',
    changedScan((bytes) => bytes.fill(0xff, 20, bytes.indexOf(Uint8Array.of(0xff, 0xd0)))),
    'FILE_CORRUPT',
  ],

  [
    'a JPEG offset past the end of a file of 5 GiB',
    withUpperBits(tag.StripOffsets, 2 ** 31),
    'FILE_TRUNCATED',
  ],
  [
    'a JPEG offset in a part of a 5 GiB file that contains only zeros',
    withUpperBits(tag.StripOffsets, 0),
    'FILE_CORRUPT',
  ],
  ['a JPEG of 2^63 bytes', withUpperBits(tag.StripByteCounts, 2 ** 31), 'FILE_TRUNCATED'],
  ['a width above 2^32', withUpperBits(tag.ImageWidth, 1), 'LIMIT_EXCEEDED'],
  [
    'a list of restart interval offsets that lies past the end of a file of 5 GiB',
    withUpperBits(tag.McuStarts, 2),
    'FILE_TRUNCATED',
  ],
  [
    'a list of restart interval offsets in a part of a 5 GiB file that contains only zeros',
    withUpperBits(tag.McuStarts, 0),
    DISPLAYED,
  ],
];

/** Opens the file and decodes all tiles; returns the outcome, and counts of reads and open files. */
async function openAndDecode({ pieces, size }: BuiltNdpi) {
  const main = sparseSource(pieces, size);
  const { files, count } = countedFiles({ ...memoryFiles({ slide: new Uint8Array() }), main });
  const outcome = await decodeAll(() => openSlideFrom(files)).catch((error: unknown) => {
    if (error instanceof SlideError) return error.code;
    throw error;
  });
  return { outcome, count };
}

async function decodeAll(open: () => ReturnType<typeof openSlideFrom>): Promise<string> {
  const slide = await open();
  try {
    for (const [level, { columns, rows }] of slide.levels.entries()) {
      for (let row = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++) {
          const tile = await slide.readTile({ level, column, row });
          if (tile) await decodeImage(tile);
        }
      }
    }
    return DISPLAYED;
  } finally {
    await slide.close();
  }
}

describe('an NDPI file (opened, then all its tiles decoded)', () => {
  it.each(faults)('with %s has the outcome "$2"', async (_, build, expected) => {
    const built = build(intact);
    const { outcome, count } = await openAndDecode(built);
    expect(outcome).toBe(expected);
    const fileBytes = built.pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
    expect(count.bytes).toBeLessThan(8 * fileBytes + 65_536);
    expect(count.reads).toBeLessThan(500);
    expect(count.open).toBe(0);
  });

  it('that is truncated at any length is rejected with FILE_TRUNCATED or FORMAT_NOT_RECOGNISED', async () => {
    const built = layOutNdpi(intact);
    const bytes = ndpiBytes(built);
    const outcomes = new Set<string>();
    // The last directory is at the end, and the bytes after it are not needed.
    for (let size = 0; size < (built.directories.at(-1) ?? 0); size += 61) {
      const { outcome } = await openAndDecode({ pieces: [{ at: 0, bytes }], size, directories: [] });
      outcomes.add(outcome);
    }
    expect([...outcomes].sort()).toEqual(['FILE_TRUNCATED', 'FORMAT_NOT_RECOGNISED']);
  });

  it('with up to 16 flipped bits is decoded or rejected with a SlideError, and all its files are closed', async () => {
    const intactBytes = ndpiBytes(layOutNdpi(intact));
    let seed = 4711;
    /** Returns a pseudo-random number below the limit, the same in every run. */
    const nextNumber = (limit: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
      return Math.floor((seed / 2 ** 31) * limit);
    };
    for (let i = 0; i < 300; i++) {
      const bytes = Uint8Array.from(intactBytes);
      for (let flips = 1 + nextNumber(16); flips > 0; flips--) {
        const position = nextNumber(bytes.length);
        bytes[position] = (bytes[position] as number) ^ (1 << nextNumber(8));
      }
      const { count } = await openAndDecode({
        pieces: [{ at: 0, bytes }],
        size: bytes.length,
        directories: [],
      });
      expect(count.bytes).toBeLessThan(20 * intactBytes.length);
      expect(count.open).toBe(0);
    }
  });
});
