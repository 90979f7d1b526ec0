/** CZI files that lie: every way is one line, with the error it must give. */
import zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { limits } from '../czi/limits.ts';
import { openSlideFrom } from '../open-slide.ts';
import { memorySource } from '../source/memory-source.ts';
import {
  buildCzi,
  type CziPlaces,
  type CziPlan,
  encodeCziPixels,
  type SubblockPlan,
} from '../testing/build-czi.ts';
import { memoryFiles } from '../testing/memory-files.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintTissue } from '../testing/paint-tissue.ts';

const picture = paintTissue(32, 24);
const data = await encodeCziPixels(picture, 'bgr24', 'none');
const zstd0 = await encodeCziPixels(picture, 'bgr24', 'zstd0');
const zstd1 = await encodeCziPixels(picture, 'bgr24', 'zstd1');
const jpeg = await encodeCziPixels(picture, 'bgr24', 'jpeg');
const greyJpeg = await encodeCziPixels(picture, 'gray8', 'jpeg');

const plain: SubblockPlan = {
  x: 0,
  y: 0,
  width: 32,
  height: 24,
  dimensions: { C: 0, S: 0, M: 0 },
  pixelType: 3,
  compression: 0,
  data,
};
const second: SubblockPlan = { ...plain, x: 32, dimensions: { C: 0, S: 0, M: 1 } };
const xml =
  '<ImageDocument><Metadata><Scaling><Items><Distance Id="X"><Value>4E-07</Value></Distance></Items></Scaling></Metadata></ImageDocument>';
const attachments = [{ name: 'Thumbnail', fileType: 'JPG', data: jpeg }];
const whole: CziPlan = { subblocks: [plain, second], xml, attachments };

type Damage = (file: Buffer, places: CziPlaces) => void;

function damaged(damage: Damage, plan: CziPlan = whole): Buffer {
  const { bytes, places } = buildCzi(plan);
  damage(bytes, places);
  return bytes;
}

const BODY = 32;
/** Places in an entry of the directory. */
const entry = { pixelType: 2, position: 6, part: 14, compression: 18, dimensionCount: 28, dimensions: 32 };
/** Places in a dimension of an entry. */
const dimension = { bytes: 20, start: 4, size: 8, storedSize: 16 };
const inEntry = (places: CziPlaces, i: number, at: number) => (places.entries[i] ?? 0) + at;
const inDimension = (places: CziPlaces, i: number, number: number, at: number) =>
  inEntry(places, i, entry.dimensions + number * dimension.bytes + at);
const inSubblock = (places: CziPlaces, at: number) => (places.subblocks[0] ?? 0) + at;

describe('a CZI file is refused when it is opened', () => {
  it.each<[string, Damage, string]>([
    ['of a version that there is not', (file) => file.writeInt32LE(2, BODY), 'FORMAT_NOT_SUPPORTED'],
    ['that is a part of another', (file) => file.writeInt32LE(1, BODY + 48), 'FORMAT_NOT_SUPPORTED'],
    ['whose writing was not finished', (file) => file.writeBigInt64LE(0n, BODY + 52), 'FILE_CORRUPT'],
    ['whose file segment is too short', (file) => file.writeBigInt64LE(16n, 24), 'FILE_CORRUPT'],
    ['whose file segment is longer than it', (file) => file.writeBigInt64LE(2n ** 40n, 24), 'FILE_TRUNCATED'],
    ['whose file segment has a negative length', (file) => file.writeBigInt64LE(-1n, 24), 'FILE_CORRUPT'],
    ['whose file segment has 2^62 bytes', (file) => file.writeBigInt64LE(2n ** 62n, 24), 'FILE_CORRUPT'],

    [
      'with its directory past the end',
      (file) => file.writeBigInt64LE(2n ** 40n, BODY + 52),
      'FILE_TRUNCATED',
    ],
    [
      'with its directory at its last byte',
      (file) => file.writeBigInt64LE(BigInt(file.length - 1), BODY + 52),
      'FILE_TRUNCATED',
    ],
    [
      'with its directory at a negative place',
      (file) => file.writeBigInt64LE(-32n, BODY + 52),
      'FILE_CORRUPT',
    ],
    [
      'with its directory at 2^63 − 1',
      (file) => file.writeBigInt64LE(2n ** 63n - 1n, BODY + 52),
      'FILE_CORRUPT',
    ],
    ['with its directory in its header', (file) => file.writeBigInt64LE(4n, BODY + 52), 'FILE_CORRUPT'],
    [
      'with its directory at a subblock',
      (file, { subblocks }) => file.writeBigInt64LE(BigInt(subblocks[0] ?? 0), BODY + 52),
      'FILE_CORRUPT',
    ],
    [
      'whose directory lists nothing',
      (file, { directory }) => file.writeInt32LE(0, directory + BODY),
      'FILE_CORRUPT',
    ],
    [
      'whose directory lists −1 subblocks',
      (file, { directory }) => file.writeInt32LE(-1, directory + BODY),
      'FILE_CORRUPT',
    ],
    [
      'whose directory lists more than it has room for',
      (file, { directory }) => file.writeInt32LE(3, directory + BODY),
      'FILE_CORRUPT',
    ],
    [
      'whose directory lists 2^31 − 1 subblocks',
      (file, { directory }) => file.writeInt32LE(2 ** 31 - 1, directory + BODY),
      'LIMIT_EXCEEDED',
    ],
    [
      'whose directory is shorter than its list',
      (file, { directory }) => file.writeBigInt64LE(300n, directory + 24),
      'FILE_CORRUPT',
    ],
    [
      'whose directory has no length',
      (file, { directory }) => file.fill(0, directory + 16, directory + 32),
      'FILE_CORRUPT',
    ],

    [
      'with an entry of an unknown kind',
      (file, places) => file.write('DE', inEntry(places, 0, 0)),
      'FILE_CORRUPT',
    ],
    [
      'with an entry of −1 dimensions',
      (file, places) => file.writeInt32LE(-1, inEntry(places, 0, entry.dimensionCount)),
      'FILE_CORRUPT',
    ],
    [
      'with an entry of 2^31 − 1 dimensions',
      (file, places) => file.writeInt32LE(2 ** 31 - 1, inEntry(places, 0, entry.dimensionCount)),
      'LIMIT_EXCEEDED',
    ],
    [
      'with an entry of more dimensions than it has',
      (file, places) => file.writeInt32LE(30, inEntry(places, 1, entry.dimensionCount)),
      'FILE_CORRUPT',
    ],
    [
      'with an entry without a place',
      (file, places) => file.writeInt32LE(0, inEntry(places, 1, entry.dimensionCount)),
      'FILE_CORRUPT',
    ],
    [
      'with an entry that has X twice',
      (file, places) => file.write('X\0', inDimension(places, 0, 1, 0)),
      'FILE_CORRUPT',
    ],
    [
      'with an entry that has no Y',
      (file, places) => file.write('Q\0', inDimension(places, 0, 1, 0)),
      'FILE_CORRUPT',
    ],
    [
      'with a subblock past its end',
      (file, places) => file.writeBigInt64LE(2n ** 40n, inEntry(places, 0, entry.position)),
      'FILE_TRUNCATED',
    ],
    [
      'with a subblock at a negative place',
      (file, places) => file.writeBigInt64LE(-1n, inEntry(places, 0, entry.position)),
      'FILE_CORRUPT',
    ],
    [
      'with a subblock in another file',
      (file, places) => file.writeInt32LE(1, inEntry(places, 0, entry.part)),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'with a subblock of width 0',
      (file, places) => file.writeInt32LE(0, inDimension(places, 0, 0, dimension.size)),
      'FILE_CORRUPT',
    ],
    [
      'with a subblock of negative width',
      (file, places) => file.writeInt32LE(-32, inDimension(places, 0, 0, dimension.size)),
      'FILE_CORRUPT',
    ],
    [
      'with a subblock stored larger than it is',
      (file, places) => file.writeInt32LE(64, inDimension(places, 0, 0, dimension.storedSize)),
      'FILE_CORRUPT',
    ],
    [
      'with a subblock of negative stored height',
      (file, places) => file.writeInt32LE(-1, inDimension(places, 0, 1, dimension.storedSize)),
      'FILE_CORRUPT',
    ],
    [
      'with a subblock reduced by 4 one way and by 1 the other',
      (file, places) => file.writeInt32LE(8, inDimension(places, 0, 0, dimension.storedSize)),
      'FILE_CORRUPT',
    ],
    [
      'with subblocks 2^32 pixels apart',
      (file, places) => {
        file.writeInt32LE(-(2 ** 31), inDimension(places, 0, 0, dimension.start));
        file.writeInt32LE(2 ** 31 - 1, inDimension(places, 1, 0, dimension.start));
      },
      'LIMIT_EXCEEDED',
    ],
    [
      'with subblocks that span 2^50 pixels',
      (file, places) => {
        file.writeInt32LE(2 ** 25, inDimension(places, 1, 0, dimension.start));
        file.writeInt32LE(2 ** 25, inDimension(places, 1, 1, dimension.start));
      },
      'LIMIT_EXCEEDED',
    ],

    [
      'of float pixels',
      (file, places) => file.writeInt32LE(2, inEntry(places, 0, entry.pixelType)),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'of complex pixels',
      (file, places) => file.writeInt32LE(10, inEntry(places, 0, entry.pixelType)),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'of pixels of an unknown type',
      (file, places) => file.writeInt32LE(99, inEntry(places, 0, entry.pixelType)),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'of two types of pixels',
      (file, places) => file.writeInt32LE(9, inEntry(places, 0, entry.pixelType)),
      'FILE_CORRUPT',
    ],
    [
      'with JPEG XR',
      (file, places) => file.writeInt32LE(4, inEntry(places, 0, entry.compression)),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'with LZW',
      (file, places) => file.writeInt32LE(2, inEntry(places, 1, entry.compression)),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'with the raw data of a camera',
      (file, places) => file.writeInt32LE(100, inEntry(places, 0, entry.compression)),
      'FORMAT_NOT_SUPPORTED',
    ],

    [
      'with its metadata past the end',
      (file) => file.writeBigInt64LE(2n ** 40n, BODY + 60),
      'FILE_TRUNCATED',
    ],
    [
      'with its metadata elsewhere',
      (file, { directory }) => file.writeBigInt64LE(BigInt(directory), BODY + 60),
      'FILE_CORRUPT',
    ],
    [
      'whose metadata have −1 bytes',
      (file, { metadata }) => file.writeInt32LE(-1, metadata + BODY),
      'FILE_CORRUPT',
    ],
    [
      'whose metadata have 2^31 − 1 bytes',
      (file, { metadata }) => file.writeInt32LE(2 ** 31 - 1, metadata + BODY),
      'FILE_CORRUPT',
    ],
    [
      'whose metadata are cut',
      (file, { metadata }) => file.writeInt32LE(40, metadata + BODY),
      'FILE_CORRUPT',
    ],
    [
      'whose metadata are no XML',
      (file, { metadata }) => file.write('}', metadata + BODY + 256),
      'FILE_CORRUPT',
    ],

    [
      'with its attachments past the end',
      (file) => file.writeBigInt64LE(2n ** 40n, BODY + 72),
      'FILE_TRUNCATED',
    ],
    ['with its attachments elsewhere', (file) => file.writeBigInt64LE(32n, BODY + 72), 'FILE_CORRUPT'],
    [
      'with −1 attachments',
      (file, { attachmentDirectory }) => file.writeInt32LE(-1, attachmentDirectory + BODY),
      'FILE_CORRUPT',
    ],
    [
      'with more attachments than it lists',
      (file, { attachmentDirectory }) => file.writeInt32LE(2, attachmentDirectory + BODY),
      'FILE_CORRUPT',
    ],
    [
      'with an attachment of an unknown kind',
      (file, { attachmentDirectory }) => file.write('B2', attachmentDirectory + BODY + 256),
      'FILE_CORRUPT',
    ],
    [
      'with an attachment at a negative place',
      (file, { attachmentDirectory }) => file.writeBigInt64LE(-9n, attachmentDirectory + BODY + 256 + 12),
      'FILE_CORRUPT',
    ],
  ])('%s', async (_, damage, code) => {
    await expect(openBytes(damaged(damage))).rejects.toMatchObject({ name: 'SlideError', code });
  });

  it.each<[string, Partial<CziPlan>, string]>([
    [
      'whose metadata have a document type',
      { xml: '<!DOCTYPE a [<!ENTITY b "c">]><ImageDocument>&b;</ImageDocument>' },
      'FILE_CORRUPT',
    ],
    ['whose metadata are nested 10^5 deep', { xml: '<a>'.repeat(1e5) }, 'LIMIT_EXCEEDED'],
    [
      'without full resolution',
      { subblocks: [{ ...plain, storedWidth: 16, storedHeight: 12 }] },
      'FILE_CORRUPT',
    ],
    [
      'with 17 channels',
      { subblocks: Array.from({ length: 17 }, (_, C) => ({ ...plain, pixelType: 0, dimensions: { C } })) },
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'with a compressed subblock that has 2^31 pixels',
      { subblocks: [{ ...plain, width: 2 ** 16, height: 2 ** 15, compression: 5 }] },
      'LIMIT_EXCEEDED',
    ],
    [
      'with 200 resolutions',
      {
        subblocks: [
          { ...plain, width: 6400, height: 4800 },
          ...Array.from({ length: 200 }, (_, i) => ({
            ...plain,
            width: 6400,
            height: 4800,
            storedWidth: Math.round(6400 / (i + 2)),
            storedHeight: Math.round(4800 / (i + 2)),
          })),
        ],
      },
      'LIMIT_EXCEEDED',
    ],
    [
      'with 4,096 subblocks of 10^6 rows',
      {
        subblocks: Array.from({ length: 4096 }, () => ({
          ...plain,
          width: 8,
          height: 1e6,
          data: new Uint8Array(),
        })),
      },
      'LIMIT_EXCEEDED',
    ],
  ])('%s', async (_, plan, code) => {
    const opening = openBytes(buildCzi({ ...whole, ...plan }).bytes);
    await expect(opening).rejects.toMatchObject({ name: 'SlideError', code });
  });

  it('naming JPEG XR, and what to do about it', async () => {
    const bytes = damaged((file, places) => file.writeInt32LE(4, inEntry(places, 0, entry.compression)));
    await expect(openBytes(bytes)).rejects.toThrow(/JPEG XR.+(ZEN|OME-TIFF)/);
  });
});

describe('a tile of a CZI file is refused', () => {
  const readFirst = async (bytes: Uint8Array) =>
    (await openBytes(bytes)).readTile({ level: 0, column: 0, row: 0 });

  it.each<[string, Damage, string]>([
    [
      'when its subblock is elsewhere',
      (file, places) => file.writeBigInt64LE(BigInt(places.directory), inEntry(places, 0, entry.position)),
      'FILE_CORRUPT',
    ],
    [
      'when its subblock is the file itself',
      (file, places) => file.writeBigInt64LE(0n, inEntry(places, 0, entry.position)),
      'FILE_CORRUPT',
    ],
    [
      'when its subblock is longer than the file',
      (file, places) => file.writeBigInt64LE(2n ** 40n, inSubblock(places, 24)),
      'FILE_TRUNCATED',
    ],
    [
      'when its subblock has −1 bytes of metadata',
      (file, places) => file.writeInt32LE(-1, inSubblock(places, BODY)),
      'FILE_CORRUPT',
    ],
    [
      'when its subblock has 2^31 − 1 bytes of metadata',
      (file, places) => file.writeInt32LE(2 ** 31 - 1, inSubblock(places, BODY)),
      'FILE_CORRUPT',
    ],
    [
      'when its subblock has −1 bytes of pixels',
      (file, places) => file.writeBigInt64LE(-1n, inSubblock(places, BODY + 8)),
      'FILE_CORRUPT',
    ],
    [
      'when its subblock has 2^40 bytes of pixels',
      (file, places) => file.writeBigInt64LE(2n ** 40n, inSubblock(places, BODY + 8)),
      'FILE_CORRUPT',
    ],
    [
      'when its subblock has too few bytes of pixels',
      (file, places) => file.writeBigInt64LE(100n, inSubblock(places, BODY + 8)),
      'FILE_CORRUPT',
    ],
    [
      'when its subblock is larger than its pixels',
      (file, places) => file.writeInt32LE(33, inDimension(places, 0, 0, dimension.size)),
      'FILE_CORRUPT',
    ],
    [
      'when its subblock has 2^30 pixels that are not there',
      (file, places) => file.writeInt32LE(2 ** 25, inDimension(places, 0, 0, dimension.size)),
      'FILE_CORRUPT',
    ],
    [
      'when its pixels are no Zstandard',
      (file, places) => {
        for (const i of [0, 1]) file.writeInt32LE(5, inEntry(places, i, entry.compression));
      },
      'FILE_CORRUPT',
    ],
    [
      'when its pixels are no zstd1',
      (file, places) => {
        for (const i of [0, 1]) file.writeInt32LE(6, inEntry(places, i, entry.compression));
      },
      'FILE_CORRUPT',
    ],
    [
      'when its pixels are no JPEG',
      (file, places) => {
        for (const i of [0, 1]) file.writeInt32LE(1, inEntry(places, i, entry.compression));
      },
      'FILE_CORRUPT',
    ],
  ])('%s', async (_, damage, code) => {
    await expect(readFirst(damaged(damage))).rejects.toMatchObject({ name: 'SlideError', code });
  });

  const bomb = zlib.zstdCompressSync(new Uint8Array(2 ** 24));
  it.each<[string, Partial<SubblockPlan>, string]>([
    ['when its Zstandard is cut', { compression: 5, data: zstd0.subarray(0, -20) }, 'FILE_CORRUPT'],
    [
      'when its Zstandard unpacks to less',
      { compression: 5, data: zlib.zstdCompressSync(data.subarray(3)) },
      'FILE_CORRUPT',
    ],
    ['when its Zstandard unpacks to 7,000 times as much', { compression: 5, data: bomb }, 'FILE_CORRUPT'],
    ['when its zstd1 is empty', { compression: 6, data: new Uint8Array() }, 'FILE_CORRUPT'],
    [
      'when its zstd1 has a header of 2 bytes',
      { compression: 6, data: Buffer.concat([Uint8Array.of(2, 1), zstd1.subarray(1)]) },
      'FILE_CORRUPT',
    ],
    [
      'when its zstd1 has a header of an unknown kind',
      { compression: 6, data: Buffer.concat([Uint8Array.of(3, 7, 1), zstd1.subarray(1)]) },
      'FILE_CORRUPT',
    ],
    ['when its zstd1 ends in its header', { compression: 6, data: Uint8Array.of(3, 1) }, 'FILE_CORRUPT'],
    ['when its JPEG is cut', { compression: 1, data: jpeg.subarray(0, jpeg.length / 2) }, 'FILE_CORRUPT'],
    ['when its JPEG has another size', { compression: 1, data: jpeg, width: 40 }, 'FILE_CORRUPT'],
    ['when its JPEG is grey and it is not', { compression: 1, data: greyJpeg }, 'FILE_CORRUPT'],
    [
      'when its JPEG is in colours and it is not',
      { compression: 1, data: jpeg, pixelType: 0 },
      'FILE_CORRUPT',
    ],
    ['when it has JPEG of 16 bits', { compression: 1, data: jpeg, pixelType: 4 }, 'FORMAT_NOT_SUPPORTED'],
  ])('%s', async (_, plan, code) => {
    const bytes = buildCzi({ subblocks: [{ ...plain, ...plan }] }).bytes;
    await expect(readFirst(bytes)).rejects.toMatchObject({ name: 'SlideError', code });
  });

  it('when more subblocks lie there than a tile may need', async () => {
    const subblocks = Array.from({ length: limits.subblocksPerTile + 1 }, (_, M) => ({
      ...plain,
      dimensions: { M },
    }));
    await expect(readFirst(buildCzi({ subblocks }).bytes)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });

  it('alone: the others are still read, and it is tried again', async () => {
    const far = { ...plain, x: 600 };
    const { bytes, places } = buildCzi({ subblocks: [plain, far] });
    const whatWasThere = bytes.readInt32LE(inSubblock(places, BODY));
    bytes.writeInt32LE(-1, inSubblock(places, BODY));
    const slide = await openBytes(bytes);
    const first = { level: 0, column: 0, row: 0 };
    await expect(slide.readTile(first)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
    expect(await slide.readTile({ level: 0, column: 1, row: 0 })).not.toBeNull();
    bytes.writeInt32LE(whatWasThere, inSubblock(places, BODY));
    expect(await slide.readTile(first)).not.toBeNull();
  });
});

describe('a picture beside a CZI file is refused', () => {
  it.each<[string, Damage, string]>([
    [
      'when it is elsewhere',
      (file, { attachments: [at = 0] }) => file.write('DELETED\0', at),
      'FILE_CORRUPT',
    ],
    [
      'when it is longer than the file',
      (file, { attachments: [at = 0] }) => file.writeBigInt64LE(2n ** 40n, at + 24),
      'FILE_TRUNCATED',
    ],
    [
      'when it has −1 bytes',
      (file, { attachments: [at = 0] }) => file.writeInt32LE(-1, at + BODY),
      'FILE_CORRUPT',
    ],
    [
      'when it has more bytes than it has',
      (file, { attachments: [at = 0] }) => file.writeInt32LE(2 ** 31 - 1, at + BODY),
      'FILE_CORRUPT',
    ],
    [
      'when it is no JPEG',
      (file, { attachments: [at = 0] }) => file.fill(0, at + BODY + 256, at + BODY + 270),
      'FILE_CORRUPT',
    ],
    [
      'when it is no CZI',
      (file, { attachmentDirectory }) => file.write('CZI\0', attachmentDirectory + BODY + 256 + 40),
      'FILE_CORRUPT',
    ],
    [
      'when it is neither',
      (file, { attachmentDirectory }) => file.write('ZIP\0', attachmentDirectory + BODY + 256 + 40),
      'FORMAT_NOT_SUPPORTED',
    ],
  ])('%s; the slide is still shown', async (_, damage, code) => {
    const slide = await openBytes(damaged(damage));
    await expect(slide.readAssociatedImage('thumbnail')).rejects.toMatchObject({ name: 'SlideError', code });
    expect(await slide.readTile({ level: 0, column: 0, row: 0 })).not.toBeNull();
  });

  it('when it is a CZI of more pixels than a picture has', async () => {
    const inside = buildCzi({ subblocks: [plain, { ...plain, x: 100_000, y: 100_000 }] }).bytes;
    const slide = await openBytes(
      buildCzi({ ...whole, attachments: [{ name: 'Label', fileType: 'CZI', data: inside }] }).bytes,
    );
    await expect(slide.readAssociatedImage('label')).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });
});

describe('a CZI file that is cut', () => {
  it.each([true, false])(
    'is refused wherever it ends, or shown whole: directory first %s',
    async (isDirectoryFirst) => {
      const { bytes } = buildCzi({ ...whole, attachments: [], isDirectoryFirst });
      const readAll = async (end: number) => {
        const slide = await openSlideFrom(memoryFiles({ slide: bytes.subarray(0, end) }));
        return slide.readTile({ level: 0, column: 0, row: 0 });
      };
      const right = Buffer.from((await readAll(bytes.length))?.bytes ?? []);
      const outcomes = new Set<string>();
      for (let end = 0; end < bytes.length; end++) {
        const outcome = await readAll(end).then(
          (tile) =>
            right.equals(tile?.bytes ?? right.subarray(1)) ? 'the right picture' : 'another picture',
          (error: { name: string; code: string }) => `${error.name} ${error.code}`,
        );
        outcomes.add(outcome);
      }
      const allowed = ['SlideError FILE_TRUNCATED', 'SlideError FORMAT_NOT_RECOGNISED', 'the right picture'];
      expect([...outcomes].filter((outcome) => !allowed.includes(outcome))).toEqual([]);
      expect(outcomes).toContain('SlideError FILE_TRUNCATED');
    },
  );
});

it('a CZI file is opened by reading what is needed of it, and little more', async () => {
  const { bytes } = buildCzi(whole);
  const source = memorySource(bytes);
  let read = 0;
  const counted = {
    ...source,
    read: (at: number, length: number) => {
      read += length;
      return source.read(at, length);
    },
  };
  const slide = await openSlideFrom({ ...memoryFiles({ slide: bytes }), leading: counted });
  expect(slide.format).toBe('czi');
  expect(read).toBeLessThan(4096);
});
