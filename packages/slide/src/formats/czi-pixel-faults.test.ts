/** Tests CZI files with damaged pixels: each row of the tables is a defect and the expected error code. */
import zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { limits } from '../czi/limits.ts';
import {
  buildCzi,
  cziCompressions as codec,
  cziPixelTypes,
  type SubblockPlan,
} from '../testing/build-czi.ts';
import {
  AFTER_ATTACHMENT_HEADER,
  BODY_OFFSET,
  buildDamaged,
  completePlan,
  type Damage,
  dimensionField,
  entryField,
  greyJpegData,
  jpegData,
  plainSubblock,
  positionInDimension,
  positionInEntry,
  positionInSubblock,
  USED_SIZE_OFFSET,
  uncompressedData,
  zstd0Data,
  zstd1Data,
} from '../testing/damage-czi.ts';
import { openBytes } from '../testing/open-bytes.ts';

/** Offsets of the fields with the length of the metadata and of the pixels, from the position of a subblock. */
const METADATA_SIZE_OFFSET = BODY_OFFSET;
const PIXEL_SIZE_OFFSET = BODY_OFFSET + 8;
/** Offset of the file type of the first attachment from the position of the attachment directory. */
const FILE_TYPE_OFFSET = AFTER_ATTACHMENT_HEADER + 40;

describe('readTile (reads and decodes a tile) of a CZI slide', () => {
  const readFirstTile = async (bytes: Uint8Array) =>
    (await openBytes(bytes)).readTile({ level: 0, column: 0, row: 0 });

  it.each<[string, Damage, string]>([
    [
      'when its subblock offset points to the subblock directory',
      (file, places) =>
        file.writeBigInt64LE(BigInt(places.directory), positionInEntry(places, 0, entryField.position)),
      'FILE_CORRUPT',
    ],
    [
      'when its subblock offset points to the file segment',
      (file, places) => file.writeBigInt64LE(0n, positionInEntry(places, 0, entryField.position)),
      'FILE_CORRUPT',
    ],
    [
      'when its subblock is longer than the file',
      (file, places) => file.writeBigInt64LE(2n ** 40n, positionInSubblock(places, USED_SIZE_OFFSET)),
      'FILE_TRUNCATED',
    ],
    [
      'when its subblock has −1 bytes of metadata',
      (file, places) => file.writeInt32LE(-1, positionInSubblock(places, METADATA_SIZE_OFFSET)),
      'FILE_CORRUPT',
    ],
    [
      'when its subblock has 2^31 − 1 bytes of metadata',
      (file, places) => file.writeInt32LE(2 ** 31 - 1, positionInSubblock(places, METADATA_SIZE_OFFSET)),
      'FILE_CORRUPT',
    ],
    [
      'when its subblock has −1 bytes of pixels',
      (file, places) => file.writeBigInt64LE(-1n, positionInSubblock(places, PIXEL_SIZE_OFFSET)),
      'FILE_CORRUPT',
    ],
    [
      'when its subblock has 2^40 bytes of pixels',
      (file, places) => file.writeBigInt64LE(2n ** 40n, positionInSubblock(places, PIXEL_SIZE_OFFSET)),
      'FILE_CORRUPT',
    ],
    [
      'when its subblock has too few bytes of pixels',
      (file, places) => file.writeBigInt64LE(100n, positionInSubblock(places, PIXEL_SIZE_OFFSET)),
      'FILE_CORRUPT',
    ],
    [
      'when its subblock states 33 columns of pixels but has 32',
      (file, places) => file.writeInt32LE(33, positionInDimension(places, 0, 0, dimensionField.size)),
      'FILE_CORRUPT',
    ],
    [
      'when its subblock states 2^25 columns of pixels but has 32',
      (file, places) => file.writeInt32LE(2 ** 25, positionInDimension(places, 0, 0, dimensionField.size)),
      'FILE_CORRUPT',
    ],
    [
      'when its pixels are uncompressed but declared as zstd0 (Zstandard)',
      (file, places) => {
        for (const i of [0, 1])
          file.writeInt32LE(codec.zstd0, positionInEntry(places, i, entryField.compression));
      },
      'FILE_CORRUPT',
    ],
    [
      'when its pixels are uncompressed but declared as zstd1 (Zstandard with a header)',
      (file, places) => {
        for (const i of [0, 1])
          file.writeInt32LE(codec.zstd1, positionInEntry(places, i, entryField.compression));
      },
      'FILE_CORRUPT',
    ],
    [
      'when its pixels are uncompressed but declared as JPEG',
      (file, places) => {
        for (const i of [0, 1])
          file.writeInt32LE(codec.jpeg, positionInEntry(places, i, entryField.compression));
      },
      'FILE_CORRUPT',
    ],
  ])('throws $2 for a tile %s', async (_, damage, code) => {
    await expect(readFirstTile(buildDamaged(damage))).rejects.toMatchObject({ name: 'SlideError', code });
  });

  /** 16 MiB of zeros, compressed. */
  const bomb = zlib.zstdCompressSync(new Uint8Array(2 ** 24));
  it.each<[string, Partial<SubblockPlan>, string]>([
    [
      'when its Zstandard data are truncated',
      { compression: codec.zstd0, data: zstd0Data.subarray(0, -20) },
      'FILE_CORRUPT',
    ],
    [
      'when its Zstandard data decompress to too few bytes',
      { compression: codec.zstd0, data: zlib.zstdCompressSync(uncompressedData.subarray(3)) },
      'FILE_CORRUPT',
    ],
    [
      'when its Zstandard data decompress to 7,000 times the expected size',
      { compression: codec.zstd0, data: bomb },
      'FILE_CORRUPT',
    ],
    [
      'when its zstd1 data (Zstandard with a header) are empty',
      { compression: codec.zstd1, data: new Uint8Array() },
      'FILE_CORRUPT',
    ],
    [
      'when its zstd1 data (Zstandard with a header) state a header of 2 bytes instead of 1 or 3',
      { compression: codec.zstd1, data: Buffer.concat([Uint8Array.of(2, 1), zstd1Data.subarray(1)]) },
      'FILE_CORRUPT',
    ],
    [
      'when its zstd1 data (Zstandard with a header) have an unknown chunk type in the header',
      {
        compression: codec.zstd1,
        data: Buffer.concat([Uint8Array.of(3, 7, 1), zstd1Data.subarray(1)]),
      },
      'FILE_CORRUPT',
    ],
    [
      'when its zstd1 data (Zstandard with a header) end inside the header',
      { compression: codec.zstd1, data: Uint8Array.of(3, 1) },
      'FILE_CORRUPT',
    ],
    [
      'when its JPEG is truncated',
      { compression: codec.jpeg, data: jpegData.subarray(0, jpegData.length / 2) },
      'FILE_CORRUPT',
    ],
    [
      'when its JPEG has another size than its subblock states',
      { compression: codec.jpeg, data: jpegData, width: 40 },
      'FILE_CORRUPT',
    ],
    [
      'when its JPEG is grey and its pixel type is colour',
      { compression: codec.jpeg, data: greyJpegData },
      'FILE_CORRUPT',
    ],
    [
      'when its JPEG is colour and its pixel type is grey',
      { compression: codec.jpeg, data: jpegData, pixelType: cziPixelTypes.gray8 },
      'FILE_CORRUPT',
    ],
    [
      'when its JPEG has a 16-bit pixel type',
      { compression: codec.jpeg, data: jpegData, pixelType: cziPixelTypes.bgr48 },
      'FORMAT_NOT_SUPPORTED',
    ],
  ])('throws $2 for a tile %s', async (_, plan, code) => {
    const bytes = buildCzi({ subblocks: [{ ...plainSubblock, ...plan }] }).bytes;
    await expect(readFirstTile(bytes)).rejects.toMatchObject({ name: 'SlideError', code });
  });

  it('throws LIMIT_EXCEEDED when more than 256 subblocks overlap the tile', async () => {
    const subblocks = Array.from({ length: limits.subblocksPerTile + 1 }, (_, M) => ({
      ...plainSubblock,
      dimensions: { M },
    }));
    await expect(readFirstTile(buildCzi({ subblocks }).bytes)).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    });
  });

  it('throws FILE_CORRUPT for the tile of a damaged subblock until the file is repaired', async () => {
    const distantSubblock = { ...plainSubblock, x: 600 };
    const { bytes, places } = buildCzi({ subblocks: [plainSubblock, distantSubblock] });
    const intactValue = bytes.readInt32LE(positionInSubblock(places, METADATA_SIZE_OFFSET));
    bytes.writeInt32LE(-1, positionInSubblock(places, METADATA_SIZE_OFFSET));
    const slide = await openBytes(bytes);
    const damagedTile = { level: 0, column: 0, row: 0 };
    await expect(slide.readTile(damagedTile)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
    expect(await slide.readTile({ level: 0, column: 1, row: 0 })).not.toBeNull();
    bytes.writeInt32LE(intactValue, positionInSubblock(places, METADATA_SIZE_OFFSET));
    expect(await slide.readTile(damagedTile)).not.toBeNull();
  });
});

describe('readAssociatedImage (reads label, macro or thumbnail) of a CZI slide', () => {
  it.each<[string, Damage, string]>([
    [
      'when its attachment is marked as deleted',
      (file, { attachments: [position = 0] }) => file.write('DELETED\0', position),
      'FILE_CORRUPT',
    ],
    [
      'when its attachment is longer than the file',
      (file, { attachments: [position = 0] }) => file.writeBigInt64LE(2n ** 40n, position + USED_SIZE_OFFSET),
      'FILE_TRUNCATED',
    ],
    [
      'when its attachment has −1 bytes',
      (file, { attachments: [position = 0] }) => file.writeInt32LE(-1, position + BODY_OFFSET),
      'FILE_CORRUPT',
    ],
    [
      'when its attachment states more bytes than its segment has',
      (file, { attachments: [position = 0] }) => file.writeInt32LE(2 ** 31 - 1, position + BODY_OFFSET),
      'FILE_CORRUPT',
    ],
    [
      'when it is declared as JPEG but is not JPEG',
      (file, { attachments: [position = 0] }) =>
        file.fill(0, position + AFTER_ATTACHMENT_HEADER, position + AFTER_ATTACHMENT_HEADER + 14),
      'FILE_CORRUPT',
    ],
    [
      'when it is declared as CZI but is not CZI',
      (file, { attachmentDirectory }) => file.write('CZI\0', attachmentDirectory + FILE_TYPE_OFFSET),
      'FILE_CORRUPT',
    ],
    [
      'when it is declared as neither JPEG nor CZI',
      (file, { attachmentDirectory }) => file.write('ZIP\0', attachmentDirectory + FILE_TYPE_OFFSET),
      'FORMAT_NOT_SUPPORTED',
    ],
  ])('throws $2 for the thumbnail %s', async (_, damage, code) => {
    const slide = await openBytes(buildDamaged(damage));
    await expect(slide.readAssociatedImage('thumbnail')).rejects.toMatchObject({
      name: 'SlideError',
      code,
    });
    expect(await slide.readTile({ level: 0, column: 0, row: 0 })).not.toBeNull();
  });

  it('throws LIMIT_EXCEEDED when the label is an embedded CZI of more than 2^24 pixels', async () => {
    const embeddedCzi = buildCzi({
      subblocks: [plainSubblock, { ...plainSubblock, x: 100_000, y: 100_000 }],
    }).bytes;
    const slide = await openBytes(
      buildCzi({ ...completePlan, attachments: [{ name: 'Label', fileType: 'CZI', data: embeddedCzi }] })
        .bytes,
    );
    await expect(slide.readAssociatedImage('label')).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });
});
