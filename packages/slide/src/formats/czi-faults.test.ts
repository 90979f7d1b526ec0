/** Tests damaged CZI files: each row of the tables is a defect and the expected error code. */
import { describe, expect, it } from 'vitest';
import { openSlideFrom } from '../open-slide.ts';
import { memorySource } from '../source/memory-source.ts';
import { buildCzi, type CziPlan } from '../testing/build-czi.ts';
import {
  AFTER_ATTACHMENT_HEADER,
  BODY_OFFSET,
  buildDamaged,
  completePlan,
  type Damage,
  dimensionField,
  entryField,
  fileField,
  plainSubblock,
  positionInDimension,
  positionInEntry,
  USED_SIZE_OFFSET,
} from '../testing/damage-czi.ts';
import { memoryFiles } from '../testing/memory-files.ts';
import { openBytes } from '../testing/open-bytes.ts';

describe('openSlideFrom (opens a slide)', () => {
  it.each<[string, Damage, string]>([
    ['of version 2', (file) => file.writeInt32LE(2, fileField.version), 'FORMAT_NOT_SUPPORTED'],
    [
      'that is one part of a multi-file slide',
      (file) => file.writeInt32LE(1, fileField.part),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'without a subblock directory, because writing was not finished',
      (file) => file.writeBigInt64LE(0n, fileField.directory),
      'FILE_CORRUPT',
    ],
    [
      'whose file segment (the first one) is too short',
      (file) => file.writeBigInt64LE(16n, USED_SIZE_OFFSET),
      'FILE_CORRUPT',
    ],
    [
      'whose file segment is longer than the file',
      (file) => file.writeBigInt64LE(2n ** 40n, USED_SIZE_OFFSET),
      'FILE_TRUNCATED',
    ],
    [
      'whose file segment has a negative length',
      (file) => file.writeBigInt64LE(-1n, USED_SIZE_OFFSET),
      'FILE_CORRUPT',
    ],
    [
      'whose file segment states a length of 2^62 bytes, above the largest valid number (2^53 − 1)',
      (file) => file.writeBigInt64LE(2n ** 62n, USED_SIZE_OFFSET),
      'FILE_CORRUPT',
    ],

    [
      'with its subblock directory past the end of the file',
      (file) => file.writeBigInt64LE(2n ** 40n, fileField.directory),
      'FILE_TRUNCATED',
    ],
    [
      'with its subblock directory at the last byte of the file',
      (file) => file.writeBigInt64LE(BigInt(file.length - 1), fileField.directory),
      'FILE_TRUNCATED',
    ],
    [
      'with a negative offset of its subblock directory',
      (file) => file.writeBigInt64LE(-32n, fileField.directory),
      'FILE_CORRUPT',
    ],
    [
      'whose offset of the subblock directory is 2^63 − 1, above the largest valid number (2^53 − 1)',
      (file) => file.writeBigInt64LE(2n ** 63n - 1n, fileField.directory),
      'FILE_CORRUPT',
    ],
    [
      'whose offset of the subblock directory points into the file header',
      (file) => file.writeBigInt64LE(4n, fileField.directory),
      'FILE_CORRUPT',
    ],
    [
      'whose offset of the subblock directory points to a subblock',
      (file, { subblocks }) => file.writeBigInt64LE(BigInt(subblocks[0] ?? 0), fileField.directory),
      'FILE_CORRUPT',
    ],
    [
      'whose subblock directory lists 0 subblocks',
      (file, { directory }) => file.writeInt32LE(0, directory + BODY_OFFSET),
      'FILE_CORRUPT',
    ],
    [
      'whose subblock directory lists −1 subblocks',
      (file, { directory }) => file.writeInt32LE(-1, directory + BODY_OFFSET),
      'FILE_CORRUPT',
    ],
    [
      'whose subblock directory lists more subblocks than fit into it',
      (file, { directory }) => file.writeInt32LE(3, directory + BODY_OFFSET),
      'FILE_CORRUPT',
    ],
    [
      'whose subblock directory lists 2^31 − 1 subblocks',
      (file, { directory }) => file.writeInt32LE(2 ** 31 - 1, directory + BODY_OFFSET),
      'LIMIT_EXCEEDED',
    ],
    [
      'whose subblock directory is shorter than its list of subblocks',
      (file, { directory }) => file.writeBigInt64LE(300n, directory + USED_SIZE_OFFSET),
      'FILE_CORRUPT',
    ],
    [
      'whose subblock directory has length 0',
      (file, { directory }) => file.fill(0, directory + 16, directory + 32),
      'FILE_CORRUPT',
    ],

    [
      'with a directory entry of an unknown type',
      (file, places) => file.write('DE', positionInEntry(places, 0, 0)),
      'FILE_CORRUPT',
    ],
    [
      'with a directory entry of −1 dimensions',
      (file, places) => file.writeInt32LE(-1, positionInEntry(places, 0, entryField.dimensionCount)),
      'FILE_CORRUPT',
    ],
    [
      'with a directory entry of 2^31 − 1 dimensions',
      (file, places) => file.writeInt32LE(2 ** 31 - 1, positionInEntry(places, 0, entryField.dimensionCount)),
      'LIMIT_EXCEEDED',
    ],
    [
      'with a directory entry that claims 30 dimensions, more than fit into the directory',
      (file, places) => file.writeInt32LE(30, positionInEntry(places, 1, entryField.dimensionCount)),
      'FILE_CORRUPT',
    ],
    [
      'with a directory entry without the dimensions X and Y',
      (file, places) => file.writeInt32LE(0, positionInEntry(places, 1, entryField.dimensionCount)),
      'FILE_CORRUPT',
    ],
    [
      'with a directory entry that has the dimension X twice',
      (file, places) => file.write('X\0', positionInDimension(places, 0, 1, 0)),
      'FILE_CORRUPT',
    ],
    [
      'with a directory entry without the dimension Y',
      (file, places) => file.write('Q\0', positionInDimension(places, 0, 1, 0)),
      'FILE_CORRUPT',
    ],
    [
      'with a subblock past the end of the file',
      (file, places) => file.writeBigInt64LE(2n ** 40n, positionInEntry(places, 0, entryField.position)),
      'FILE_TRUNCATED',
    ],
    [
      'with a negative subblock offset',
      (file, places) => file.writeBigInt64LE(-1n, positionInEntry(places, 0, entryField.position)),
      'FILE_CORRUPT',
    ],
    [
      'with a subblock that is stored in another file',
      (file, places) => file.writeInt32LE(1, positionInEntry(places, 0, entryField.part)),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'with a subblock of width 0',
      (file, places) => file.writeInt32LE(0, positionInDimension(places, 0, 0, dimensionField.size)),
      'FILE_CORRUPT',
    ],
    [
      'with a subblock of negative width',
      (file, places) => file.writeInt32LE(-32, positionInDimension(places, 0, 0, dimensionField.size)),
      'FILE_CORRUPT',
    ],
    [
      'with a subblock that stores more pixels than it covers',
      (file, places) => file.writeInt32LE(64, positionInDimension(places, 0, 0, dimensionField.storedSize)),
      'FILE_CORRUPT',
    ],
    [
      'with a subblock of negative stored height',
      (file, places) => file.writeInt32LE(-1, positionInDimension(places, 0, 1, dimensionField.storedSize)),
      'FILE_CORRUPT',
    ],
    [
      'with a subblock reduced by 4 horizontally and by 1 vertically',
      (file, places) => file.writeInt32LE(8, positionInDimension(places, 0, 0, dimensionField.storedSize)),
      'FILE_CORRUPT',
    ],
    [
      'with subblocks that span a width of 2^32 pixels (limit 2^31 − 1)',
      (file, places) => {
        file.writeInt32LE(-(2 ** 31), positionInDimension(places, 0, 0, dimensionField.start));
        file.writeInt32LE(2 ** 31 - 1, positionInDimension(places, 1, 0, dimensionField.start));
      },
      'LIMIT_EXCEEDED',
    ],
    [
      'with subblocks that span 2^25 × 2^25 pixels (limit 2^38 pixels)',
      (file, places) => {
        file.writeInt32LE(2 ** 25, positionInDimension(places, 1, 0, dimensionField.start));
        file.writeInt32LE(2 ** 25, positionInDimension(places, 1, 1, dimensionField.start));
      },
      'LIMIT_EXCEEDED',
    ],

    [
      'with floating-point pixels',
      (file, places) => file.writeInt32LE(2, positionInEntry(places, 0, entryField.pixelType)),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'with complex-number pixels',
      (file, places) => file.writeInt32LE(10, positionInEntry(places, 0, entryField.pixelType)),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'with pixels of an unknown type',
      (file, places) => file.writeInt32LE(99, positionInEntry(places, 0, entryField.pixelType)),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'with two pixel types in one channel',
      (file, places) => file.writeInt32LE(9, positionInEntry(places, 0, entryField.pixelType)),
      'FILE_CORRUPT',
    ],
    [
      'with JPEG XR compression',
      (file, places) => file.writeInt32LE(4, positionInEntry(places, 0, entryField.compression)),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'with LZW compression',
      (file, places) => file.writeInt32LE(2, positionInEntry(places, 1, entryField.compression)),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'with raw camera data',
      (file, places) => file.writeInt32LE(100, positionInEntry(places, 0, entryField.compression)),
      'FORMAT_NOT_SUPPORTED',
    ],

    [
      'with its metadata past the end of the file',
      (file) => file.writeBigInt64LE(2n ** 40n, fileField.metadata),
      'FILE_TRUNCATED',
    ],
    [
      'whose offset of the metadata points to the subblock directory',
      (file, { directory }) => file.writeBigInt64LE(BigInt(directory), fileField.metadata),
      'FILE_CORRUPT',
    ],
    [
      'whose metadata have −1 bytes',
      (file, { metadata }) => file.writeInt32LE(-1, metadata + BODY_OFFSET),
      'FILE_CORRUPT',
    ],
    [
      'whose metadata have 2^31 − 1 bytes',
      (file, { metadata }) => file.writeInt32LE(2 ** 31 - 1, metadata + BODY_OFFSET),
      'FILE_CORRUPT',
    ],
    [
      'whose metadata are truncated',
      (file, { metadata }) => file.writeInt32LE(40, metadata + BODY_OFFSET),
      'FILE_CORRUPT',
    ],
    [
      'whose metadata are not XML',
      (file, { metadata }) => file.write('}', metadata + BODY_OFFSET + 256),
      'FILE_CORRUPT',
    ],

    [
      'with its list of attachments past the end of the file',
      (file) => file.writeBigInt64LE(2n ** 40n, fileField.attachments),
      'FILE_TRUNCATED',
    ],
    [
      'whose offset of the list of attachments points into the file segment (the first one)',
      (file) => file.writeBigInt64LE(32n, fileField.attachments),
      'FILE_CORRUPT',
    ],
    [
      'with −1 attachments',
      (file, { attachmentDirectory }) => file.writeInt32LE(-1, attachmentDirectory + BODY_OFFSET),
      'FILE_CORRUPT',
    ],
    [
      'with a list of more attachments than fit into it',
      (file, { attachmentDirectory }) => file.writeInt32LE(2, attachmentDirectory + BODY_OFFSET),
      'FILE_CORRUPT',
    ],
    [
      'with an attachment entry of an unknown type',
      (file, { attachmentDirectory }) => file.write('B2', attachmentDirectory + AFTER_ATTACHMENT_HEADER),
      'FILE_CORRUPT',
    ],
    [
      'with a negative attachment offset',
      (file, { attachmentDirectory }) =>
        file.writeBigInt64LE(-9n, attachmentDirectory + AFTER_ATTACHMENT_HEADER + 12),
      'FILE_CORRUPT',
    ],
  ])('throws $2 for a CZI file %s', async (_, damage, code) => {
    await expect(openBytes(buildDamaged(damage))).rejects.toMatchObject({ name: 'SlideError', code });
  });

  it.each<[string, Partial<CziPlan>, string]>([
    [
      'whose metadata have a document type',
      { xml: '<!DOCTYPE a [<!ENTITY b "c">]><ImageDocument>&b;</ImageDocument>' },
      'FILE_CORRUPT',
    ],
    ['whose metadata are nested 10^5 deep', { xml: '<a>'.repeat(1e5) }, 'LIMIT_EXCEEDED'],
    [
      'without a subblock of full resolution',
      { subblocks: [{ ...plainSubblock, storedWidth: 16, storedHeight: 12 }] },
      'FILE_CORRUPT',
    ],
    [
      'with 17 channels (limit 16)',
      {
        subblocks: Array.from({ length: 17 }, (_, C) => ({
          ...plainSubblock,
          pixelType: 0,
          dimensions: { C },
        })),
      },
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'with a compressed subblock that has 2^31 pixels',
      { subblocks: [{ ...plainSubblock, width: 2 ** 16, height: 2 ** 15, compression: 5 }] },
      'LIMIT_EXCEEDED',
    ],
    [
      'with 200 resolutions, above the limit',
      {
        subblocks: [
          { ...plainSubblock, width: 6400, height: 4800 },
          ...Array.from({ length: 200 }, (_, i) => ({
            ...plainSubblock,
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
      'with 4,096 subblocks of 10^6 rows, for which the index of the level would be too large',
      {
        subblocks: Array.from({ length: 4096 }, () => ({
          ...plainSubblock,
          width: 8,
          height: 1e6,
          data: new Uint8Array(),
        })),
      },
      'LIMIT_EXCEEDED',
    ],
  ])('throws $2 for a CZI file %s', async (_, plan, code) => {
    const opening = openBytes(buildCzi({ ...completePlan, ...plan }).bytes);
    await expect(opening).rejects.toMatchObject({ name: 'SlideError', code });
  });

  it('rejects a CZI file in JPEG XR with the advice to save it again in ZEN or to convert it to OME-TIFF', async () => {
    const bytes = buildDamaged((file, places) =>
      file.writeInt32LE(4, positionInEntry(places, 0, entryField.compression)),
    );
    await expect(openBytes(bytes)).rejects.toThrow(/JPEG XR.+(ZEN|OME-TIFF)/);
  });
});

describe('openSlideFrom (opens a slide) and readTile with a truncated CZI file', () => {
  it.each([
    ['start', true],
    ['end', false],
  ] as const)(
    'throw FILE_TRUNCATED or FORMAT_NOT_RECOGNISED or return the correct tile, whatever the length, with the subblock directory at the %s',
    async (_, isDirectoryFirst) => {
      const { bytes } = buildCzi({ ...completePlan, attachments: [], isDirectoryFirst });
      const readTileOfTruncated = async (length: number) => {
        const slide = await openSlideFrom(memoryFiles({ slide: bytes.subarray(0, length) }));
        return slide.readTile({ level: 0, column: 0, row: 0 });
      };
      const expected = Buffer.from((await readTileOfTruncated(bytes.length))?.bytes ?? []);
      const outcomes = new Set<string>();
      for (let length = 0; length < bytes.length; length++) {
        const outcome = await readTileOfTruncated(length).then(
          (tile) => (tile && expected.equals(tile.bytes) ? 'expected tile' : 'wrong tile'),
          (error: { name: string; code: string }) => `${error.name} ${error.code}`,
        );
        outcomes.add(outcome);
      }
      const allowed = ['SlideError FILE_TRUNCATED', 'SlideError FORMAT_NOT_RECOGNISED', 'expected tile'];
      expect([...outcomes].filter((outcome) => !allowed.includes(outcome))).toEqual([]);
      expect(outcomes).toContain('SlideError FILE_TRUNCATED');
    },
  );
});

it('openSlideFrom (opens a slide) reads less than 4 KiB, and no pixels, for a CZI file', async () => {
  const { bytes } = buildCzi(completePlan);
  const source = memorySource(bytes);
  let bytesRead = 0;
  const countingSource = {
    ...source,
    read: (offset: number, length: number) => {
      bytesRead += length;
      return source.read(offset, length);
    },
  };
  const slide = await openSlideFrom({ ...memoryFiles({ slide: bytes }), main: countingSource });
  expect(slide.format).toBe('czi');
  expect(bytesRead).toBeLessThan(4096);
});
