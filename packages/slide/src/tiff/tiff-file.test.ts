import { describe, expect, it } from 'vitest';
import { memorySource } from '../source/memory-source.ts';
import {
  ascii,
  type BuiltTiff,
  buildTiff,
  byte,
  type DirectoryPlan,
  long,
  long8,
  rational,
  short,
  type TagValue,
} from '../testing/build-tiff.ts';
import { sparseSource } from '../testing/sparse-source.ts';
import type { TiffDirectory } from './directory.ts';
import { tag } from './tags.ts';
import { openTiff } from './tiff-file.ts';

const layouts = [
  { name: 'classic TIFF, little-endian', isLittleEndian: true, isBig: false },
  { name: 'classic TIFF, big-endian', isLittleEndian: false, isBig: false },
  { name: 'BigTIFF, little-endian', isLittleEndian: true, isBig: true },
  { name: 'BigTIFF, big-endian', isLittleEndian: false, isBig: true },
];

const directories = [
  {
    tags: {
      [tag.ImageWidth]: short(300),
      [tag.ImageLength]: long(70_000),
      [tag.BitsPerSample]: short(8, 8, 8),
      [tag.ImageDescription]: ascii('Aperio|MPP = 0,5'),
      [tag.XResolution]: rational(20_000, 3),
    },
    tiles: Array.from({ length: 500 }, (_, i) => new Uint8Array(i)),
    subDirectories: [{ tags: { [tag.ImageWidth]: short(150) } }, { tags: { [tag.ImageWidth]: short(75) } }],
  },
  { tags: { [tag.ImageWidth]: byte(7) } },
];

describe.each(layouts)('openTiff (reads the directories of a TIFF file) on a file ($name)', (layout) => {
  const open = () => openTiff(memorySource(buildTiff({ directories, ...layout }).bytes));

  it('returns the directories in the order of the file', async () => {
    const file = await open();
    const chain = await file.directories();
    expect(await Promise.all(chain.map((directory) => directory.number(tag.ImageWidth)))).toEqual([300, 7]);
    expect(chain[0]).toBe(file.first);
  });

  it('returns the SubIFDs (nested directories) of a directory', async () => {
    const file = await open();
    const found = await file.subDirectories(file.first);
    expect(await Promise.all(found.map((directory) => directory.number(tag.ImageWidth)))).toEqual([150, 75]);
    expect(found.map((directory) => directory.depth)).toEqual([1, 1]);
    expect(await file.subDirectories(found[0] as TiffDirectory)).toEqual([]);
  });

  it('returns only the SubIFDs that the tag lists, although each SubIFD also has the offset of a next directory', async () => {
    const file = await openTiff(memorySource(buildTiff({ directories, ...layout, isChained: true }).bytes));
    const found = await file.subDirectories(file.first);
    expect(await Promise.all(found.map((directory) => directory.number(tag.ImageWidth)))).toEqual([150, 75]);
    expect(await file.directories()).toHaveLength(2);
  });

  it('returns no SubIFDs for a tag SubIFDs without values', async () => {
    const withoutValues = [{ tags: { [tag.ImageWidth]: short(150), [tag.SubIFDs]: long() } }];
    const file = await openTiff(memorySource(buildTiff({ directories: withoutValues, ...layout }).bytes));
    expect(await file.subDirectories(file.first)).toEqual([]);
  });

  it('reads numbers, text and fractions from the tags of a directory', async () => {
    const { first } = await open();
    expect(await first.number(tag.ImageLength)).toBe(70_000);
    expect(await first.numbers(tag.BitsPerSample)).toEqual([8, 8, 8]);
    expect(await first.text(tag.ImageDescription, 1000)).toBe('Aperio|MPP = 0,5');
    expect(await first.text(tag.ImageDescription, 6)).toBe('Aperio');
    expect(await first.real(tag.XResolution)).toBeCloseTo(6666.67);
  });

  it('returns the tile offsets and byte counts of 500 tiles as typed arrays', async () => {
    const { first } = await open();
    const byteCounts = await first.table(tag.TileByteCounts, 499);
    expect(byteCounts).toHaveLength(499);
    expect(byteCounts[498]).toBe(498);
    expect((await first.table(tag.TileOffsets, 500))[1]).toBe(layout.isBig ? 16 : 8);
  });

  it('returns null as the value of an absent tag, and 0 as the number of its values', async () => {
    const { first } = await open();
    expect(first.count(tag.TileWidth)).toBe(0);
    expect(await first.number(tag.TileWidth)).toBeNull();
    expect(await first.numbers(tag.TileWidth)).toBeNull();
    expect(await first.text(tag.JPEGTables, 10)).toBeNull();
    expect(await first.bytes(tag.JPEGTables)).toBeNull();
    expect(await first.real(tag.YResolution)).toBeNull();
  });
});

describe('TiffDirectory (the tags of one image in a TIFF)', () => {
  /** Returns the directory of a file whose tag ImageWidth has the value, of any field type. */
  const directoryWith = async (value: TagValue) => {
    const { bytes } = buildTiff({ directories: [{ tags: { [tag.ImageWidth]: value } }] });
    return (await openTiff(memorySource(bytes))).first;
  };

  it('returns text up to its first NUL', async () => {
    const directory = await directoryWith({ type: 2, numbers: [65, 66, 0, 67] });
    expect(await directory.text(tag.ImageWidth, 100)).toBe('AB');
  });

  it('decodes text as Latin-1 when it is not valid UTF-8', async () => {
    const directory = await directoryWith({ type: 2, numbers: [0xb5, 0x6d, 0] });
    expect(await directory.text(tag.ImageWidth, 100)).toBe('µm');
  });

  it('returns null for a fraction with denominator 0', async () => {
    const directory = await directoryWith({ type: 5, numbers: [1, 0] });
    expect(await directory.real(tag.ImageWidth)).toBeNull();
  });

  it('throws FILE_CORRUPT for a whole number whose field type is signed or unknown', async () => {
    for (const type of [6, 9, 0, 99]) {
      const directory = await directoryWith({ type, numbers: [1] });
      await expect(directory.number(tag.ImageWidth)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
    }
  });

  it('throws FILE_CORRUPT, with the name of the tag in the message, when a numeric tag has no value', async () => {
    const directory = await directoryWith({ type: 4, numbers: [] });
    await expect(directory.number(tag.ImageWidth)).rejects.toMatchObject({
      code: 'FILE_CORRUPT',
      message: 'ImageWidth (tag 256) has no values',
    });
  });

  it('returns Infinity for a number above 2^53, which JavaScript cannot represent exactly', async () => {
    const directory = await directoryWith({ type: 16, numbers: [2 ** 60] });
    expect(await directory.number(tag.ImageWidth)).toBe(Number.POSITIVE_INFINITY);
  });

  it('returns the value of the first entry when a tag has two entries', async () => {
    const built = buildTiff({ directories: [{ tags: { [tag.ImageWidth]: short(1), 257: short(2) } }] });
    const [{ at } = { at: 0 }] = built.directories;
    built.bytes[at + 2 + 12] = 0; // the tag of the second entry: 257 becomes 256
    const { first: directory } = await openTiff(memorySource(built.bytes));
    expect(await directory.number(tag.ImageWidth)).toBe(1);
  });
});

/** Damages a file that `twoDirectories` has built. */
type Damage = (built: BuiltTiff) => Uint8Array;

const twoDirectories = () =>
  buildTiff({
    directories: [
      { tags: { [tag.ImageWidth]: long(1), [tag.ImageDescription]: ascii('first') } },
      { tags: { [tag.ImageWidth]: long(2) } },
    ],
  });
/** Makes the pointer that follows directory `from` (−1: the pointer in the header) lead to another position. */
const point =
  (from: number, to: (built: BuiltTiff) => number): Damage =>
  (built) => {
    Buffer.from(built.bytes.buffer, built.bytes.byteOffset).writeUInt32LE(
      to(built),
      built.directories[from]?.nextAt ?? 4,
    );
    return built.bytes;
  };
/** Overwrites bytes at a position. */
const write =
  (at: (built: BuiltTiff) => number, ...bytes: number[]): Damage =>
  (built) => {
    built.bytes.set(bytes, at(built));
    return built.bytes;
  };
const directoryAt = (built: BuiltTiff, i: number) => built.directories[i]?.at ?? 0;

describe('the TIFF reader (openTiff and the reads of tags) rejects a file that', () => {
  it.each<[string, Damage, string]>([
    ['is empty', () => new Uint8Array(), 'FILE_CORRUPT'],
    ['has no TIFF signature', write(() => 0, 0x58), 'FILE_CORRUPT'],
    ['ends in its header', ({ bytes }) => bytes.subarray(0, 7), 'FILE_TRUNCATED'],
    ['has no directory', point(-1, () => 0), 'FILE_CORRUPT'],
    ['has the offset of its first directory inside the header', point(-1, () => 6), 'FILE_CORRUPT'],
    [
      'has its first directory at the end of the file',
      point(-1, ({ bytes }) => bytes.length),
      'FILE_TRUNCATED',
    ],
    ['has its first directory at 2^32 − 1', point(-1, () => 2 ** 32 - 1), 'FILE_TRUNCATED'],
    [
      'has its first directory in the last byte',
      point(-1, ({ bytes }) => bytes.length - 1),
      'FILE_TRUNCATED',
    ],
    [
      'ends inside its first directory',
      (built) => built.bytes.subarray(0, directoryAt(built, 0) + 10),
      'FILE_TRUNCATED',
    ],
    ['has a directory without entries', write((built) => directoryAt(built, 0), 0, 0), 'FILE_CORRUPT'],
    [
      'has a directory of 65,535 entries, above the limit of 4,096',
      write((built) => directoryAt(built, 0), 255, 255),
      'LIMIT_EXCEEDED',
    ],
    [
      'has a directory that claims more entries than the file can contain',
      write((built) => directoryAt(built, 0), 0, 15),
      'FILE_TRUNCATED',
    ],
    ['has a next directory past the end of the file', point(0, () => 1_000_000), 'FILE_TRUNCATED'],
    ['has the offset of its second directory inside the header', point(0, () => 4), 'FILE_CORRUPT'],
    ['has a directory that follows itself', point(0, (built) => directoryAt(built, 0)), 'FILE_CORRUPT'],
    [
      'has two directories that follow each other in a cycle',
      point(1, (built) => directoryAt(built, 0)),
      'FILE_CORRUPT',
    ],
  ])('%s, with $2', async (_, damage, code) => {
    const opening = openTiff(memorySource(damage(twoDirectories()))).then((file) => file.directories());
    await expect(opening).rejects.toMatchObject({ name: 'SlideError', code });
  });

  it.each([
    ['is a BigTIFF with offsets of 4 bytes', 4, 4],
    ['is a BigTIFF with a nonzero reserved field', 6, 1],
  ])('%s, with FILE_CORRUPT', async (_, at, value) => {
    const { bytes } = buildTiff({ directories: [{ tags: { [tag.ImageWidth]: long(1) } }], isBig: true });
    bytes[at] = value;
    await expect(openTiff(memorySource(bytes))).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
  });

  it('has 5,000 directories, above the limit of 4,096, with LIMIT_EXCEEDED', async () => {
    const directories = Array.from({ length: 5000 }, () => ({ tags: { [tag.ImageWidth]: byte(1) } }));
    const file = await openTiff(memorySource(buildTiff({ directories }).bytes));
    await expect(file.directories()).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });

  it.each([
    ['itself', 0],
    ['another directory of the main chain', 1],
  ])('has a directory that points to %s as a SubIFD, with FILE_CORRUPT', async (_, target) => {
    const build = (offset: number) =>
      buildTiff({
        directories: [
          { tags: { [tag.ImageWidth]: byte(1), [tag.SubIFDs]: long(offset) } },
          { tags: { [tag.ImageWidth]: byte(1) } },
        ],
      });
    const { bytes } = build(directoryAt(build(0), target));
    const file = await openTiff(memorySource(bytes));
    await file.directories();
    await expect(file.subDirectories(file.first)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
  });

  it('nests SubIFDs five deep, above the limit of four, with LIMIT_EXCEEDED', async () => {
    const nested = (depth: number): DirectoryPlan => ({
      tags: { [tag.ImageWidth]: byte(depth) },
      subDirectories: depth > 0 ? [nested(depth - 1)] : [],
    });
    const file = await openTiff(memorySource(buildTiff({ directories: [nested(5)] }).bytes));
    let directory = file.first;
    for (let depth = 0; depth < 4; depth++) {
      [directory = directory] = await file.subDirectories(directory);
    }
    expect(directory.depth).toBe(4);
    await expect(file.subDirectories(directory)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });

  it.each<[string, TagValue, number, string]>([
    ['past the end of the file', long(1_000_000), 3, 'FILE_TRUNCATED'],
    ['of 8 GiB, above the limit of four times the size of the file', long(8), 2 ** 31, 'LIMIT_EXCEEDED'],
  ])('has a tag value %s, with $3', async (_, pointer, count, code) => {
    const built = buildTiff({ directories: [{ tags: { [tag.TileOffsets]: pointer } }] });
    const view = new DataView(built.bytes.buffer, built.bytes.byteOffset);
    // The count of the first entry: after the number of entries (2 bytes), tag and type (4 bytes).
    view.setUint32(directoryAt(built, 0) + 2 + 4, count, true);
    const { first } = await openTiff(memorySource(built.bytes));
    await expect(first.table(tag.TileOffsets, count)).rejects.toMatchObject({ code });
  });

  it('has a tag value of 64 MiB and 1 byte, above the limit of 64 MiB for one value, with LIMIT_EXCEEDED', async () => {
    const first = await directoryWithProfile(64 * 2 ** 20 + 1);
    const readLength = first.bytes(tag.ICCProfile).then((value) => value?.length);
    await expect(readLength).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: 'ICCProfile (tag 34675) has 67108865 values',
    });
  });

  it('has 5,000 values in a tag, above the limit of 4,096, with LIMIT_EXCEEDED', async () => {
    const { bytes } = buildTiff({
      directories: [{ tags: { [tag.SubIFDs]: long(...new Array(5000).fill(8)) } }],
    });
    const { first } = await openTiff(memorySource(bytes));
    await expect(first.numbers(tag.SubIFDs)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });

  it('has nine directories that share a table of half the size of the file (limit for all tables: four times the file), with LIMIT_EXCEEDED', async () => {
    const directory: DirectoryPlan = { tags: { [tag.TileOffsets]: long(8) } };
    const built = buildTiff({ directories: new Array(9).fill(directory) });
    const count = Math.floor(built.bytes.length / 2 / 4); // LONG values of 4 bytes
    const view = new DataView(built.bytes.buffer, built.bytes.byteOffset);
    // The count of the only entry: after the number of entries (2 bytes), tag and type (4 bytes). Its value becomes the offset 8.
    for (let i = 0; i < 9; i++) view.setUint32(directoryAt(built, i) + 2 + 4, count, true);
    const file = await openTiff(memorySource(built.bytes));
    const [last, ...others] = (await file.directories()).toReversed();
    for (const other of others) await other.table(tag.TileOffsets, count);
    await expect(last?.table(tag.TileOffsets, count)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });

  it('has 52 bytes but claims 2^61 values of 8 bytes in a tag, with LIMIT_EXCEEDED', async () => {
    const built = buildTiff({ directories: [{ tags: { [tag.TileOffsets]: long8(1) } }], isBig: true });
    const view = new DataView(built.bytes.buffer, built.bytes.byteOffset);
    // The count of the first entry of a BigTIFF: after the number of entries (8 bytes), tag and type (4 bytes).
    view.setBigUint64(directoryAt(built, 0) + 8 + 4, 2n ** 61n, true);
    const { first } = await openTiff(memorySource(built.bytes));
    await expect(first.table(tag.TileOffsets, 2 ** 26)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });
});

/** Opens a file of 128 MiB whose tag ICCProfile has a value of this number of bytes. Returns its only directory. */
async function directoryWithProfile(valueBytes: number): Promise<TiffDirectory> {
  const profile: TagValue = { type: 7, numbers: [1, 2, 3, 4, 5] }; // longer than an entry, so that it is stored outside
  const built = buildTiff({ directories: [{ tags: { [tag.ICCProfile]: profile } }] });
  const view = new DataView(built.bytes.buffer, built.bytes.byteOffset);
  // The count of the only entry: after the number of entries (2 bytes), tag and type (4 bytes).
  view.setUint32(directoryAt(built, 0) + 2 + 4, valueBytes, true);
  return (await openTiff(sparseSource([{ at: 0, bytes: built.bytes }], 2 ** 27))).first;
}

describe('openTiff (reads the directories of a TIFF file)', () => {
  it('reads a tag value of 64 MiB, the limit of one value', async () => {
    const value = await (await directoryWithProfile(64 * 2 ** 20)).bytes(tag.ICCProfile);
    expect(value?.length).toBe(64 * 2 ** 20);
    expect(value?.subarray(0, 5)).toEqual(Uint8Array.of(1, 2, 3, 4, 5));
  });

  it('reads a table of tile offsets after nine failed reads, because failed reads do not count towards the limit of table bytes', async () => {
    const { bytes } = buildTiff({
      directories: [{ tags: { [tag.TileOffsets]: long(...new Array(500).fill(8)) } }],
    });
    const source = memorySource(bytes);
    let isOffline = false;
    const file = await openTiff({
      ...source,
      read: async (...range) => {
        if (isOffline) throw new Error('The object store does not respond.');
        return source.read(...range);
      },
    });
    isOffline = true;
    for (let i = 0; i < 9; i++) await expect(file.first.table(tag.TileOffsets, 500)).rejects.toThrow();
    isOffline = false;
    expect(await file.first.table(tag.TileOffsets, 500)).toHaveLength(500);
  });

  it('reads at most 1 KiB of the file for each directory', async () => {
    const source = memorySource(buildTiff({ directories }).bytes);
    let bytesRead = 0;
    const read: typeof source.read = (offset, length) => {
      bytesRead += length;
      return source.read(offset, length);
    };
    await (await openTiff({ ...source, read })).directories();
    expect(bytesRead).toBeLessThanOrEqual(16 + 2 * 1024); // the header and two directories
  });
});
