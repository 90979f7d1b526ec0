/**
 * Tests damaged frames (tiles) of DICOM files: each row of the table is a defect, a function that builds a file with it, and the
 * expected error code. The functions from spoil-dicom.ts build a file with one change.
 */
import { describe, expect, it } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import { tag } from '../dicom/tags.ts';
import type { Slide } from '../model/slide.ts';
import { openSlideFrom } from '../open-slide.ts';
import { itemHeader, littleEndian, text, us } from '../testing/build-dicom.ts';
import { countedFiles } from '../testing/counted-files.ts';
import { memoryFiles } from '../testing/memory-files.ts';
import {
  changedBytes,
  changedExtendedTable,
  changedFile,
  changedFragments,
  changedFrames,
  changedOffsets,
  changedPixelData,
  type Fault,
  fileWith,
  rlePlan,
  spoilFrameHeader,
  spoilItem,
  spoilLength,
  UNDEFINED_LENGTH,
  withoutElement,
} from '../testing/spoil-dicom.ts';

/** Defects that are detected when a tile is read or decoded. */
const defectsOnRead: readonly Fault[] = [
  // Offset tables.
  ['an offset table with one entry too few', changedOffsets((all) => all.slice(1)), 'FILE_CORRUPT'],
  ['an offset table with one entry too many', changedOffsets((all) => [...all, 5000]), 'FILE_CORRUPT'],
  [
    'an offset table that does not begin with 0',
    changedOffsets((all) => [2, ...all.slice(1)]),
    'FILE_CORRUPT',
  ],
  ['an offset table that is not ascending', changedOffsets((all) => all.toReversed()), 'FILE_CORRUPT'],
  [
    'an offset table that lists one frame twice',
    changedOffsets(([first = 0, ...all]) => [first, first, ...all.slice(1)]),
    'FILE_CORRUPT',
  ],
  [
    'an offset table that points into a frame',
    changedOffsets(([first = 0, second = 0, ...all]) => [first, second + 2, ...all]),
    'FILE_CORRUPT',
  ],
  [
    'an offset table that points past the end of the file',
    changedOffsets((all) => [...all.slice(0, -1), 4_000_000_000]),
    'FILE_TRUNCATED',
  ],
  [
    'an extended offset table with one entry too few',
    changedExtendedTable(tag.ExtendedOffsetTable, (all) => all.slice(1)),
    'FILE_CORRUPT',
  ],
  [
    'an extended offset table that has more offsets than lengths',
    changedExtendedTable(tag.ExtendedOffsetTableLengths, (all) => all.slice(1)),
    'FILE_CORRUPT',
  ],
  [
    'an extended offset table without lengths',
    withoutElement(tag.ExtendedOffsetTableLengths, { ...rlePlan, offsetTable: 'extended' }),
    'FILE_CORRUPT',
  ],
  [
    'an extended offset table that is not ascending',
    changedExtendedTable(tag.ExtendedOffsetTable, (all) => all.toReversed()),
    'FILE_CORRUPT',
  ],
  [
    'an extended offset table that points past the end of the file',
    changedExtendedTable(tag.ExtendedOffsetTable, (all) => [...all.slice(0, -1), 2n ** 40n]),
    'FILE_TRUNCATED',
  ],
  [
    'an extended offset table with the offset 2^64 − 1',
    changedExtendedTable(tag.ExtendedOffsetTable, (all) => [...all.slice(0, -1), 2n ** 64n - 1n]),
    'FILE_TRUNCATED',
  ],
  [
    'an extended offset table that points into a frame',
    changedExtendedTable(tag.ExtendedOffsetTable, ([first = 0n, ...all]) => [first + 2n, ...all]),
    'FILE_CORRUPT',
  ],
  [
    'an extended offset table with a frame length of 2^40 bytes',
    changedExtendedTable(tag.ExtendedOffsetTableLengths, (all) => [...all.slice(0, -1), 2n ** 40n]),
    'FILE_TRUNCATED',
  ],
  [
    'an extended offset table with a frame length that is 20 bytes too short',
    changedExtendedTable(tag.ExtendedOffsetTableLengths, ([first = 0n, ...all]) => [first - 20n, ...all]),
    'FILE_CORRUPT',
  ],
  [
    'an extended offset table with a frame length that spans two frames',
    changedExtendedTable(tag.ExtendedOffsetTableLengths, ([first = 0n, ...all]) => [first * 2n, ...all]),
    'FILE_CORRUPT',
  ],

  // Frames without a table.
  [
    'one frame fewer in its pixel data than NumberOfFrames states',
    changedFragments((all) => all.slice(1)),
    'FILE_CORRUPT',
  ],
  [
    'one frame more in its pixel data than NumberOfFrames states',
    changedFragments((all) => [...all, all[0] as Uint8Array]),
    'FILE_CORRUPT',
  ],
  ['an empty frame', changedFragments(([, ...all]) => [new Uint8Array(), ...all]), 'FILE_CORRUPT'],
  [
    'pixel data without a delimiter at the end',
    changedPixelData({ ...rlePlan, offsetTable: 'empty' }, (all) => ({ ...all, isDelimited: false })),
    'FILE_TRUNCATED',
  ],
  [
    'frames in 5,000 fragments, above the limit',
    changedFragments(() => Array.from({ length: 5000 }, () => Uint8Array.of(1, 2))),
    'LIMIT_EXCEEDED',
  ],
  [
    'an element that is not an item among the frames',
    changedBytes((file) => spoilItem(file, 1, 0x1234_5678), { ...rlePlan, offsetTable: 'empty' }),
    'FILE_CORRUPT',
  ],
  [
    'a frame whose item has undefined length',
    changedBytes((file) => spoilLength(file, 1, UNDEFINED_LENGTH), { ...rlePlan, offsetTable: 'empty' }),
    'FILE_CORRUPT',
  ],
  [
    'a frame that is longer than the file',
    changedBytes((file) => spoilLength(file, 1, 0x7fff_fff0), { ...rlePlan, offsetTable: 'empty' }),
    'FILE_TRUNCATED',
  ],
  [
    'an offset table of undefined length',
    changedBytes((file) => spoilLength(file, 0, UNDEFINED_LENGTH), rlePlan),
    'FILE_CORRUPT',
  ],
  [
    'an offset table that is longer than the file',
    changedBytes((file) => spoilLength(file, 0, 0x7fff_fff0), rlePlan),
    'FILE_TRUNCATED',
  ],
  [
    'no item for the offset table',
    changedBytes((file) => spoilItem(file, 0, tag.SequenceDelimitationItem), rlePlan),
    'FILE_CORRUPT',
  ],
  [
    'an empty frame that its offset table lists',
    changedPixelData({ ...rlePlan, tileWidth: 96, tileHeight: 64 }, () => ({
      offsetTable: Buffer.alloc(4),
      fragments: [new Uint8Array()],
    })),
    'FILE_CORRUPT',
  ],
  [
    'a frame of 65 MiB that neither an item nor a delimiter follows',
    changedBytes(
      (file) =>
        Buffer.concat([
          spoilLength(file, 1, 65 * 2 ** 20),
          Buffer.alloc(66 * 2 ** 20),
          itemHeader(tag.SequenceDelimitationItem, 0),
        ]),
      { ...rlePlan, tileWidth: 96, tileHeight: 64 },
    ),
    'FILE_CORRUPT',
  ],

  // Contents of the frames.
  ['JPEG frames that are not JPEG', changedFrames(() => Buffer.from('no picture at all.')), 'FILE_CORRUPT'],
  ['truncated JPEG frames', changedFrames((frame) => frame.subarray(0, -40)), 'FILE_CORRUPT'],
  [
    'JPEG frames of height 40 instead of the 32 that Rows states',
    changedFrames((frame) => spoilFrameHeader(frame, 5, 0, 40)),
    'FILE_CORRUPT',
  ],
  [
    'JPEG frames of 12 bits',
    changedFrames((frame) => spoilFrameHeader(frame, 4, 12)),
    'FORMAT_NOT_SUPPORTED',
  ],
  [
    'lossless JPEG frames',
    changedFrames((frame) => spoilFrameHeader(frame, 1, 0xc3)),
    'FORMAT_NOT_SUPPORTED',
  ],
  [
    'grey JPEG frames declared as colour',
    fileWith(
      { codec: 'jpeg', photometric: 'MONOCHROME2' },
      text(tag.PhotometricInterpretation, 'CS', 'RGB'),
      us(tag.SamplesPerPixel, 3),
    ),
    'FILE_CORRUPT',
  ],
  [
    'truncated run-length coded frames',
    changedFrames((frame) => frame.subarray(0, 200), rlePlan),
    'FILE_CORRUPT',
  ],
  [
    'run-length coded frames with an invalid header',
    changedFrames((frame) => Buffer.concat([littleEndian(4, [9]), frame.subarray(4)]), rlePlan),
    'FILE_CORRUPT',
  ],
  [
    'truncated JPEG-LS frames',
    changedFrames((frame) => frame.subarray(0, 100), { codec: 'jpegls' }),
    'FILE_CORRUPT',
  ],
  [
    'truncated JPEG 2000 frames',
    changedFrames((frame) => frame.subarray(0, 300), { codec: 'jpeg2000' }),
    'FILE_CORRUPT',
  ],
  [
    'uncompressed frames of only 100 bytes',
    changedFrames((frame) => frame.subarray(0, 100), { codec: 'encapsulated' }),
    'FILE_CORRUPT',
  ],
  [
    'JPEG frames declared as JPEG 2000',
    changedFile(
      (file) => ({
        ...file,
        meta: file.meta.map((element) =>
          element.tag === tag.TransferSyntaxUID
            ? text(tag.TransferSyntaxUID, 'UI', '1.2.840.10008.1.2.4.90')
            : element,
        ),
      }),
      { codec: 'jpeg' },
    ),
    'FILE_CORRUPT',
  ],
];

/** Opens a file, and checks that few bytes were read and that no file stays open after an error. */
async function openAndCheck(file: Uint8Array) {
  const { files, count } = countedFiles(memoryFiles({ a: file }));
  const outcome = await openSlideFrom(files).catch((error: unknown) => error);
  expect(count.bytes).toBeLessThan(4 * file.length + 2 ** 16);
  expect(count.open).toBe(outcome instanceof Error ? 0 : 1);
  return { outcome, slide: outcome as Slide, count };
}

describe('readTile and decodeImage (read and decode a tile) of a DICOM slide', () => {
  it.each(defectsOnRead)('throws $2 if the file has %s', async (_, build, code) => {
    const file = await build();
    const { slide, count } = await openAndCheck(file);
    const [{ columns, rows }] = slide.levels;
    const readingAllTiles = (async () => {
      for (let i = 0; i < columns * rows; i++) {
        const tile = await slide.readTile({ level: 0, column: i % columns, row: Math.floor(i / columns) });
        if (tile) await decodeImage(tile);
      }
    })();
    await expect(readingAllTiles).rejects.toMatchObject({ name: 'SlideError', code });
    expect(count.bytes).toBeLessThan(8 * file.length + 2 ** 17);
    await slide.close();
    expect(count.open).toBe(0);
  });
});
