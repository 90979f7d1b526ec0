/** CZI files whose pixels lie: every way is one line, with the error it must give. */

import zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { limits } from '../czi/limits.ts';
import { buildCzi, type SubblockPlan } from '../testing/build-czi.ts';
import {
  BODY,
  type Damage,
  damaged,
  data,
  dimension,
  entry,
  greyJpeg,
  inDimension,
  inEntry,
  inSubblock,
  jpeg,
  plain,
  whole,
  zstd0,
  zstd1,
} from '../testing/damage-czi.ts';
import { openBytes } from '../testing/open-bytes.ts';

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
