/** Tests damaged frames of DICOM files: each row of the table is a defect and the expected error code. */
import { describe, expect, it } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import { tag } from '../dicom/tags.ts';
import type { Slide } from '../model/slide.ts';
import { openSlideFrom } from '../open-slide.ts';
import { itemHeader, littleEndian, text, us } from '../testing/build-dicom.ts';
import { countedFiles } from '../testing/counted-files.ts';
import { memoryFiles } from '../testing/memory-files.ts';
import {
  bytes,
  changed,
  extended,
  type Fault,
  fragments,
  frames,
  having,
  offsets,
  pixels,
  rle,
  spoilFrameHeader,
  spoilItem,
  spoilLength,
  UNDEFINED_LENGTH,
  without,
} from '../testing/spoil-dicom.ts';

/** Defects that are detected when a tile is read or decoded. */
const defectsOnRead: readonly Fault[] = [
  // Offset tables.
  ['an offset table that is too short', offsets((all) => all.slice(1)), 'FILE_CORRUPT'],
  ['an offset table that is too long', offsets((all) => [...all, 5000]), 'FILE_CORRUPT'],
  ['an offset table that does not begin with 0', offsets((all) => [2, ...all.slice(1)]), 'FILE_CORRUPT'],
  ['an offset table that is not ascending', offsets((all) => all.toReversed()), 'FILE_CORRUPT'],
  [
    'an offset table with one frame twice',
    offsets(([first = 0, ...all]) => [first, first, ...all.slice(1)]),
    'FILE_CORRUPT',
  ],
  [
    'an offset table that points into a frame',
    offsets(([first = 0, second = 0, ...all]) => [first, second + 2, ...all]),
    'FILE_CORRUPT',
  ],
  [
    'an offset table that points past the end',
    offsets((all) => [...all.slice(0, -1), 4_000_000_000]),
    'FILE_TRUNCATED',
  ],
  [
    'an extended offset table that is too short',
    extended(tag.ExtendedOffsetTable, (all) => all.slice(1)),
    'FILE_CORRUPT',
  ],
  [
    'too few extended lengths',
    extended(tag.ExtendedOffsetTableLengths, (all) => all.slice(1)),
    'FILE_CORRUPT',
  ],
  [
    'no extended lengths',
    without(tag.ExtendedOffsetTableLengths, { ...rle, offsetTable: 'extended' }),
    'FILE_CORRUPT',
  ],
  [
    'an extended offset table that is not ascending',
    extended(tag.ExtendedOffsetTable, (all) => all.toReversed()),
    'FILE_CORRUPT',
  ],
  [
    'an extended offset table that points past the end',
    extended(tag.ExtendedOffsetTable, (all) => [...all.slice(0, -1), 2n ** 40n]),
    'FILE_TRUNCATED',
  ],
  [
    'an extended offset of 2^64 − 1',
    extended(tag.ExtendedOffsetTable, (all) => [...all.slice(0, -1), 2n ** 64n - 1n]),
    'FILE_TRUNCATED',
  ],
  [
    'an extended offset inside a frame',
    extended(tag.ExtendedOffsetTable, ([first = 0n, ...all]) => [first + 2n, ...all]),
    'FILE_CORRUPT',
  ],
  [
    'an extended length past the end',
    extended(tag.ExtendedOffsetTableLengths, (all) => [...all.slice(0, -1), 2n ** 40n]),
    'FILE_TRUNCATED',
  ],
  [
    'an extended length that is too short',
    extended(tag.ExtendedOffsetTableLengths, ([first = 0n, ...all]) => [first - 20n, ...all]),
    'FILE_CORRUPT',
  ],
  [
    'an extended length over two frames',
    extended(tag.ExtendedOffsetTableLengths, ([first = 0n, ...all]) => [first * 2n, ...all]),
    'FILE_CORRUPT',
  ],

  // Frames without a table.
  ['a frame that is missing', fragments((all) => all.slice(1)), 'FILE_CORRUPT'],
  ['a frame too many', fragments((all) => [...all, all[0] as Uint8Array]), 'FILE_CORRUPT'],
  ['an empty frame', fragments(([, ...all]) => [new Uint8Array(), ...all]), 'FILE_CORRUPT'],
  [
    'pixels without a delimiter',
    pixels({ ...rle, offsetTable: 'empty' }, (all) => ({ ...all, isDelimited: false })),
    'FILE_TRUNCATED',
  ],
  [
    'frames in too many fragments',
    fragments(() => Array.from({ length: 5000 }, () => Uint8Array.of(1, 2))),
    'LIMIT_EXCEEDED',
  ],
  [
    'an element that is not an item among the frames',
    bytes((file) => spoilItem(file, 1, 0x1234_5678), { ...rle, offsetTable: 'empty' }),
    'FILE_CORRUPT',
  ],
  [
    'a frame of undefined length',
    bytes((file) => spoilLength(file, 1, UNDEFINED_LENGTH), { ...rle, offsetTable: 'empty' }),
    'FILE_CORRUPT',
  ],
  [
    'a frame that is longer than the file',
    bytes((file) => spoilLength(file, 1, 0x7fff_fff0), { ...rle, offsetTable: 'empty' }),
    'FILE_TRUNCATED',
  ],
  [
    'an offset table of undefined length',
    bytes((file) => spoilLength(file, 0, UNDEFINED_LENGTH), rle),
    'FILE_CORRUPT',
  ],
  [
    'an offset table that is longer than the file',
    bytes((file) => spoilLength(file, 0, 0x7fff_fff0), rle),
    'FILE_TRUNCATED',
  ],
  ['no offset table', bytes((file) => spoilItem(file, 0, tag.SequenceDelimitationItem), rle), 'FILE_CORRUPT'],
  [
    'an empty frame in its table',
    pixels({ ...rle, tileWidth: 96, tileHeight: 64 }, () => ({
      offsetTable: Buffer.alloc(4),
      fragments: [new Uint8Array()],
    })),
    'FILE_CORRUPT',
  ],
  [
    'one frame above the size limit',
    bytes(
      (file) =>
        Buffer.concat([
          spoilLength(file, 1, 65 * 2 ** 20),
          Buffer.alloc(66 * 2 ** 20),
          itemHeader(tag.SequenceDelimitationItem, 0),
        ]),
      { ...rle, tileWidth: 96, tileHeight: 64 },
    ),
    'FILE_CORRUPT',
  ],

  // Contents of the frames.
  ['JPEG frames that are not JPEG', frames(() => Buffer.from('no picture at all.')), 'FILE_CORRUPT'],
  ['truncated JPEG frames', frames((frame) => frame.subarray(0, -40)), 'FILE_CORRUPT'],
  ['JPEG frames of another size', frames((frame) => spoilFrameHeader(frame, 5, 0, 40)), 'FILE_CORRUPT'],
  ['JPEG frames of 12 bits', frames((frame) => spoilFrameHeader(frame, 4, 12)), 'FORMAT_NOT_SUPPORTED'],
  ['lossless JPEG frames', frames((frame) => spoilFrameHeader(frame, 1, 0xc3)), 'FORMAT_NOT_SUPPORTED'],
  [
    'grey JPEG frames declared as colour',
    having(
      { codec: 'jpeg', photometric: 'MONOCHROME2' },
      text(tag.PhotometricInterpretation, 'CS', 'RGB'),
      us(tag.SamplesPerPixel, 3),
    ),
    'FILE_CORRUPT',
  ],
  ['truncated run-length coded frames', frames((frame) => frame.subarray(0, 200), rle), 'FILE_CORRUPT'],
  [
    'run-length coded frames with a false header',
    frames((frame) => Buffer.concat([littleEndian(4, [9]), frame.subarray(4)]), rle),
    'FILE_CORRUPT',
  ],
  [
    'truncated JPEG-LS frames',
    frames((frame) => frame.subarray(0, 100), { codec: 'jpegls' }),
    'FILE_CORRUPT',
  ],
  [
    'truncated JPEG 2000 frames',
    frames((frame) => frame.subarray(0, 300), { codec: 'jpeg2000' }),
    'FILE_CORRUPT',
  ],
  [
    'uncompressed frames that are too short',
    frames((frame) => frame.subarray(0, 100), { codec: 'encapsulated' }),
    'FILE_CORRUPT',
  ],
  [
    'JPEG frames declared as JPEG 2000',
    changed(
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
async function openBytes(file: Uint8Array) {
  const { files, count } = countedFiles(memoryFiles({ a: file }));
  const outcome = await openSlideFrom(files).catch((error: unknown) => error);
  expect(count.bytes).toBeLessThan(4 * file.length + 2 ** 16);
  expect(count.open).toBe(outcome instanceof Error ? 0 : 1);
  return { outcome, slide: outcome as Slide, count };
}

describe('readTile of a DICOM slide', () => {
  it.each(defectsOnRead)(
    'throws the error that the table of defects states if the file has %s',
    async (_, build, code) => {
      const file = await build();
      const { slide, count } = await openBytes(file);
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
    },
  );
});
