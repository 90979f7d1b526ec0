/** Every way a DICOM file can be broken, or be something else, and what is said of it. */
import { describe, expect, it } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import { tag } from '../dicom/tags.ts';
import { openSlideFrom } from '../open-slide.ts';
import type { Slide, SlideErrorCode } from '../slide.ts';
import {
  buildDicom,
  type DicomElement,
  type DicomFile,
  type DicomFragments,
  type DicomItem,
  type DicomPlan,
  itemHeader,
  littleEndian,
  planDicom,
  sequence,
  sl,
  text,
  ul,
  us,
  writeDicom,
} from '../testing/build-dicom.ts';
import { countedFiles } from '../testing/counted-files.ts';
import { memoryFiles } from '../testing/memory-files.ts';

type Fault = readonly [name: string, build: () => Promise<Uint8Array>, code: SlideErrorCode];

const UNDEFINED_LENGTH = 0xffff_ffff;

/** A built file after one change of its data set. */
const changed =
  (change: (file: DicomFile) => DicomFile, plan: DicomPlan = {}) =>
  async () =>
    writeDicom(change(await planDicom(plan)));
/** A built file with these elements instead of those with the same tags. */
const having =
  (plan: DicomPlan, ...more: readonly DicomElement[]) =>
  async () =>
    buildDicom({ ...plan, more });
const has = (...more: readonly DicomElement[]) => having({}, ...more);
const without = (missing: number, plan: DicomPlan = {}) =>
  changed(
    (file) => ({ ...file, elements: file.elements.filter((element) => element.tag !== missing) }),
    plan,
  );
/** A built file with other bytes. */
const bytes =
  (change: (file: Buffer) => Uint8Array, plan: DicomPlan = {}) =>
  async () =>
    change(Buffer.from(await buildDicom(plan)));
const cutBefore = (back: number, plan: DicomPlan = {}) => bytes((file) => file.subarray(0, -back), plan);
const meta = (...elements: readonly DicomElement[]) =>
  changed((file) => ({
    ...file,
    meta: [
      ...file.meta.filter(({ tag: number }) => !elements.some((element) => element.tag === number)),
      ...elements,
    ],
  }));
const syntax = (uid: string) => meta(text(tag.TransferSyntaxUID, 'UI', uid));
const sopClass = (uid: string) => meta(text(tag.MediaStorageSOPClassUID, 'UI', uid));
/** A data set that begins with these bytes. */
const beginning = (part: Uint8Array) =>
  bytes((file) => {
    const at = file.indexOf(Buffer.from([0x08, 0x00, 0x08, 0x00]), 132);
    return Buffer.concat([file.subarray(0, at), part, file.subarray(at)]);
  });

const rle = { codec: 'rle' } as const;
const jpeg = { codec: 'jpeg', photometric: 'YBR_FULL_422' } as const;
const sparse = { organization: 'TILED_SPARSE' } as const;

/** A built file with other encapsulated pixels. */
const pixels = (plan: DicomPlan, change: (pixels: DicomFragments) => DicomFragments) =>
  changed(
    (file) => ({
      ...file,
      elements: file.elements.map((element) =>
        element.tag === tag.PixelData
          ? { ...element, value: change(element.value as DicomFragments) }
          : element,
      ),
    }),
    plan,
  );
const offsets = (change: (offsets: number[]) => number[]) =>
  pixels(rle, (all) => {
    const table = Array.from({ length: all.offsetTable.length / 4 }, (_, i) =>
      Buffer.from(all.offsetTable).readUInt32LE(i * 4),
    );
    return { ...all, offsetTable: littleEndian(4, change(table)) };
  });
/** A built file with other values in its extended offset table, or in its lengths. */
const extended = (which: number, change: (values: bigint[]) => bigint[]) =>
  changed(
    (file) => ({
      ...file,
      elements: file.elements.map((element) => {
        if (element.tag !== which) return element;
        const old = Buffer.from(element.value as Uint8Array);
        const values = change(Array.from({ length: old.length / 8 }, (_, i) => old.readBigUInt64LE(i * 8)));
        const value = Buffer.alloc(values.length * 8);
        values.forEach((number, i) => {
          value.writeBigUInt64LE(number, i * 8);
        });
        return { ...element, value };
      }),
    }),
    { ...rle, offsetTable: 'extended' },
  );
const fragments = (
  change: (fragments: readonly Uint8Array[]) => readonly Uint8Array[],
  plan: DicomPlan = rle,
) => pixels({ ...plan, offsetTable: 'empty' }, (all) => ({ ...all, fragments: change(all.fragments) }));
const frames = (change: (frame: Buffer) => Uint8Array, plan: DicomPlan = jpeg) =>
  fragments((all) => all.map((frame) => change(Buffer.from(frame))), plan);
/** Places of frames, each a column and a row of pixels from 1. */
const positions = (...places: readonly (readonly [number, number])[]) =>
  having(
    sparse,
    sequence(
      tag.PerFrameFunctionalGroupsSequence,
      places.map(([column, row]) => [
        sequence(tag.PlanePositionSlideSequence, [
          [
            sl(tag.ColumnPositionInTotalImagePixelMatrix, column),
            sl(tag.RowPositionInTotalImagePixelMatrix, row),
          ],
        ]),
      ]),
    ),
  );
const grid = [
  [1, 1],
  [33, 1],
  [65, 1],
  [1, 33],
  [33, 33],
] as const;

const nested = (depth: number): DicomElement => {
  let items: readonly DicomItem[] = [];
  for (let i = 0; i < depth; i++) items = [[{ ...sequence(0x0040_0555, items), length: UNDEFINED_LENGTH }]];
  return { ...sequence(0x0040_0555, items), length: UNDEFINED_LENGTH };
};
/** So deep that writing it by recursion would not do: a sequence, an item, a sequence, an item, … */
const abyss = Buffer.concat(
  Array.from({ length: 20_000 }, () =>
    Buffer.concat([
      Buffer.from([0x08, 0x00, 0x06, 0x00, 0x53, 0x51, 0, 0, 0xff, 0xff, 0xff, 0xff]),
      itemHeader(tag.Item, UNDEFINED_LENGTH),
    ]),
  ),
);
/** Half a million elements that say nothing, twice. */
const million = Buffer.alloc(8 * 1_000_001);
for (let at = 0; at < million.length; at += 8) million.set([0x08, 0x00, 0x01, 0x00, 0x4c, 0x4f], at);

/** Told when the slide is opened. */
const whenOpened: readonly Fault[] = [
  // The file.
  ['nothing', async () => new Uint8Array(), 'FORMAT_NOT_RECOGNISED'],
  ['a file that ends before its signature', bytes((file) => file.subarray(0, 131)), 'FORMAT_NOT_RECOGNISED'],
  ['another signature', bytes((file) => Buffer.from(file).fill('DICX', 128, 132)), 'FORMAT_NOT_RECOGNISED'],
  ['a signature and nothing else', bytes((file) => file.subarray(0, 132)), 'FILE_CORRUPT'],
  ['a header that is cut', bytes((file) => file.subarray(0, 137)), 'FILE_TRUNCATED'],
  ['a value of the header that is cut', bytes((file) => file.subarray(0, 142)), 'FILE_TRUNCATED'],
  ['no transfer syntax', meta(text(tag.TransferSyntaxUID, 'UI', '')), 'FILE_CORRUPT'],
  ['a transfer syntax in words', syntax('explicit'), 'FILE_CORRUPT'],
  ['no data set', changed((file) => ({ ...file, elements: [] })), 'NOT_A_SLIDE'],
  ['a data set that is cut', bytes((file) => file.subarray(0, 420)), 'FILE_TRUNCATED'],

  // What it is.
  ['a CT image', sopClass('1.2.840.10008.5.1.4.1.1.2'), 'NOT_A_SLIDE'],
  ['a segmentation', sopClass('1.2.840.10008.5.1.4.1.1.66.4'), 'NOT_A_SLIDE'],
  ['annotations', sopClass('1.2.840.10008.5.1.4.1.1.91.1'), 'NOT_A_SLIDE'],
  ['a structured report', sopClass('1.2.840.10008.5.1.4.1.1.88.33'), 'NOT_A_SLIDE'],
  ['a photograph of a slide', sopClass('1.2.840.10008.5.1.4.1.1.77.1.2'), 'NOT_A_SLIDE'],
  ['an object nobody knows', sopClass('1.2.3.4'), 'NOT_A_SLIDE'],
  [
    'a CT image that calls itself a slide first',
    has(text(tag.SOPClassUID, 'UI', '1.2.840.10008.5.1.4.1.1.2')),
    'NOT_A_SLIDE',
  ],
  ['no word of what it is', without(tag.SOPClassUID), 'NOT_A_SLIDE'],
  ['a label', having({ kind: 'LABEL' }), 'NOT_A_SLIDE'],
  ['an overview', having({ kind: 'OVERVIEW' }), 'NOT_A_SLIDE'],
  ['a thumbnail', having({ kind: 'THUMBNAIL' }), 'NOT_A_SLIDE'],
  ['a kind of picture nobody knows', having({ kind: 'MYSTERY' }), 'FILE_CORRUPT'],
  ['no kind of picture', has(text(tag.ImageType, 'CS', 'ORIGINAL', 'PRIMARY')), 'FILE_CORRUPT'],
  ['no series', without(tag.SeriesInstanceUID), 'FILE_CORRUPT'],
  ['a series that is no UID', has(text(tag.SeriesInstanceUID, 'UI', '../../etc')), 'FILE_CORRUPT'],
  ['no identity', without(tag.SOPInstanceUID), 'FILE_CORRUPT'],
  ['a part of something, without its number', has(text(tag.ConcatenationUID, 'UI', '1.2')), 'FILE_CORRUPT'],

  // How it is written.
  ['a deflated data set', syntax('1.2.840.10008.1.2.1.99'), 'FORMAT_NOT_SUPPORTED'],
  ['big-endian byte order', syntax('1.2.840.10008.1.2.2'), 'FORMAT_NOT_SUPPORTED'],
  ['lossless JPEG', syntax('1.2.840.10008.1.2.4.70'), 'FORMAT_NOT_SUPPORTED'],
  ['high-throughput JPEG 2000', syntax('1.2.840.10008.1.2.4.201'), 'FORMAT_NOT_SUPPORTED'],
  ['JPEG XL', syntax('1.2.840.10008.1.2.4.110'), 'FORMAT_NOT_SUPPORTED'],
  ['video', syntax('1.2.840.10008.1.2.4.102'), 'FORMAT_NOT_SUPPORTED'],
  ['a transfer syntax nobody knows', syntax('1.2.3.4'), 'FORMAT_NOT_SUPPORTED'],
  [
    'implicit elements that are called explicit',
    having({ codec: 'implicit' }, text(tag.ImageType, 'CS', 'A')),
    'FILE_CORRUPT',
  ],

  // The elements.
  [
    'a value representation nobody knows',
    has({ tag: tag.Rows, vr: 'XX', value: littleEndian(2, [32]) }),
    'FILE_CORRUPT',
  ],
  ['a number as text', has({ tag: tag.Rows, vr: 'LO', value: Buffer.from('32') }), 'FILE_CORRUPT'],
  ['a number of three bytes', has({ tag: tag.Rows, vr: 'US', value: Buffer.alloc(3) }), 'FILE_CORRUPT'],
  ['a number of four bytes that is too large', has(ul(tag.Rows, 4_294_967_295)), 'LIMIT_EXCEEDED'],
  [
    'a number twice',
    changed((file) => ({
      ...file,
      elements: file.elements.flatMap((element) => (element.tag === tag.Rows ? [element, element] : element)),
    })),
    'FILE_CORRUPT',
  ],
  ['a value larger than any', has(text(tag.Manufacturer, 'UT', 'x'.repeat(70_000))), 'LIMIT_EXCEEDED'],
  [
    'a value that is longer than the file',
    has({ ...text(0x0010_0010, 'UT', 'Doe'), length: 0x7fff_fff0 }),
    'FILE_TRUNCATED',
  ],
  [
    'a text without a length',
    has({ ...text(0x0010_0010, 'UT', 'Doe'), length: UNDEFINED_LENGTH }),
    'FILE_CORRUPT',
  ],
  [
    'a sequence that is bytes',
    has({ tag: tag.OpticalPathSequence, vr: 'OB', value: Buffer.alloc(8) }),
    'FILE_CORRUPT',
  ],
  [
    'a sequence of something else than items',
    has({ tag: tag.OpticalPathSequence, vr: 'SQ', value: Buffer.alloc(16) }),
    'FILE_CORRUPT',
  ],
  [
    'an item that is longer than its sequence',
    has({ tag: tag.OpticalPathSequence, vr: 'SQ', value: itemHeader(tag.Item, 40) }),
    'FILE_CORRUPT',
  ],
  [
    'an item that is shorter than what is in it',
    has({
      tag: tag.OpticalPathSequence,
      vr: 'SQ',
      value: Buffer.concat([itemHeader(tag.Item, 4), Buffer.alloc(4)]),
    }),
    'FILE_CORRUPT',
  ],
  [
    'a sequence cut in an item',
    has({ tag: tag.OpticalPathSequence, vr: 'SQ', value: Buffer.alloc(4) }),
    'FILE_CORRUPT',
  ],
  [
    'a sequence without an end',
    has({ tag: tag.OpticalPathSequence, vr: 'SQ', value: new Uint8Array(), length: UNDEFINED_LENGTH }),
    'FILE_CORRUPT',
  ],
  ['an end among elements', beginning(itemHeader(tag.SequenceDelimitationItem, 0)), 'FILE_CORRUPT'],
  ['an item among elements', beginning(itemHeader(tag.Item, 0)), 'FILE_CORRUPT'],
  ['sequences that are nested too deeply', has(nested(20)), 'LIMIT_EXCEEDED'],
  ['sequences without a ground', beginning(abyss), 'LIMIT_EXCEEDED'],
  ['a million elements', beginning(million), 'LIMIT_EXCEEDED'],
  [
    'more items than are kept',
    has(
      sequence(
        tag.OpticalPathSequence,
        Array.from({ length: 5000 }, () => []),
      ),
    ),
    'LIMIT_EXCEEDED',
  ],

  // The size of the picture and of its frames.
  ['no height of frames', without(tag.Rows), 'FILE_CORRUPT'],
  ['no width of frames', without(tag.Columns), 'FILE_CORRUPT'],
  ['frames without a height', has(us(tag.Rows, 0)), 'FILE_CORRUPT'],
  ['frames that are too high', has(us(tag.Rows, 65_535)), 'LIMIT_EXCEEDED'],
  ['frames that are too wide', has(us(tag.Columns, 8193)), 'LIMIT_EXCEEDED'],
  ['no width of the picture', without(tag.TotalPixelMatrixColumns), 'FILE_CORRUPT'],
  ['a picture without a width', has(ul(tag.TotalPixelMatrixColumns, 0)), 'FILE_CORRUPT'],
  ['a picture that is too wide', has(ul(tag.TotalPixelMatrixColumns, 4_294_967_295)), 'LIMIT_EXCEEDED'],
  ['a negative width of the picture', has(sl(tag.TotalPixelMatrixColumns, -96)), 'FILE_CORRUPT'],
  [
    'more tiles than any slide has',
    has(ul(tag.TotalPixelMatrixColumns, 2 ** 30), ul(tag.TotalPixelMatrixRows, 2 ** 30)),
    'LIMIT_EXCEEDED',
  ],
  ['a picture larger than its frames', has(ul(tag.TotalPixelMatrixColumns, 97)), 'FILE_CORRUPT'],
  ['no frames', has(text(tag.NumberOfFrames, 'IS', '0')), 'FILE_CORRUPT'],
  ['a negative number of frames', has(text(tag.NumberOfFrames, 'IS', '-6')), 'FILE_CORRUPT'],
  ['a number of frames in words', has(text(tag.NumberOfFrames, 'IS', '1A')), 'FILE_CORRUPT'],
  ['more frames than any slide has', has(text(tag.NumberOfFrames, 'IS', '2147483648')), 'LIMIT_EXCEEDED'],
  ['more frames than the file has room for', has(text(tag.NumberOfFrames, 'IS', '67108864')), 'FILE_CORRUPT'],
  ['one frame too few', has(text(tag.NumberOfFrames, 'IS', '5')), 'FILE_CORRUPT'],
  ['one frame too many', has(text(tag.NumberOfFrames, 'IS', '7')), 'FILE_CORRUPT'],

  // The samples.
  ['no pixels', without(tag.PixelData), 'FILE_CORRUPT'],
  [
    'too few pixels',
    has({ tag: tag.PixelData, vr: 'OW', value: Buffer.alloc(6 * 3072 - 2) }),
    'FILE_CORRUPT',
  ],
  ['pixels that are cut', cutBefore(1), 'FILE_TRUNCATED'],
  [
    'pixels without a length',
    has({ tag: tag.PixelData, vr: 'OW', value: Buffer.alloc(6 * 3072), length: UNDEFINED_LENGTH }),
    'FILE_CORRUPT',
  ],
  ['four samples a pixel', has(us(tag.SamplesPerPixel, 4)), 'FILE_CORRUPT'],
  ['no samples', has(us(tag.SamplesPerPixel, 0)), 'FILE_CORRUPT'],
  [
    'a palette',
    has(text(tag.PhotometricInterpretation, 'CS', 'PALETTE COLOR'), us(tag.SamplesPerPixel, 1)),
    'FORMAT_NOT_SUPPORTED',
  ],
  [
    'colours nobody knows',
    has(text(tag.PhotometricInterpretation, 'CS', '<script>')),
    'FORMAT_NOT_SUPPORTED',
  ],
  ['no colours', without(tag.PhotometricInterpretation), 'FORMAT_NOT_SUPPORTED'],
  [
    'half the colours, not compressed',
    has(text(tag.PhotometricInterpretation, 'CS', 'YBR_FULL_422')),
    'FORMAT_NOT_SUPPORTED',
  ],
  [
    'colours of JPEG 2000, not compressed',
    has(text(tag.PhotometricInterpretation, 'CS', 'YBR_RCT')),
    'FILE_CORRUPT',
  ],
  [
    'colours of JPEG 2000 in JPEG',
    having(jpeg, text(tag.PhotometricInterpretation, 'CS', 'YBR_ICT')),
    'FILE_CORRUPT',
  ],
  [
    'colours of 16 bits',
    has(us(tag.BitsAllocated, 16), us(tag.BitsStored, 16), us(tag.HighBit, 15)),
    'FORMAT_NOT_SUPPORTED',
  ],
  ['colours of 7 bits', has(us(tag.BitsStored, 7), us(tag.HighBit, 6)), 'FORMAT_NOT_SUPPORTED'],
  ['samples of 12 bits', has(us(tag.BitsAllocated, 12)), 'FORMAT_NOT_SUPPORTED'],
  ['samples of no bits', without(tag.BitsAllocated), 'FORMAT_NOT_SUPPORTED'],
  ['more bits than there are', has(us(tag.BitsStored, 9)), 'FILE_CORRUPT'],
  ['samples in the upper bits', has(us(tag.HighBit, 15)), 'FORMAT_NOT_SUPPORTED'],
  ['signed samples', has(us(tag.PixelRepresentation, 1)), 'FORMAT_NOT_SUPPORTED'],
  [
    'grey JPEG with white as 0',
    having({ codec: 'jpeg', photometric: 'MONOCHROME1' }),
    'FORMAT_NOT_SUPPORTED',
  ],
  [
    'compressed pixels that stand in no items',
    having(rle, { tag: tag.PixelData, vr: 'OB', value: Buffer.alloc(5000) }),
    'FILE_CORRUPT',
  ],
  [
    'more compressed frames than the file has room for',
    having({ ...rle, organization: 'TILED_FULL' }, text(tag.NumberOfFrames, 'IS', '6000')),
    'FILE_CORRUPT',
  ],

  ['no frames at all', fragments(() => []), 'FILE_CORRUPT'],

  // Where the frames are.
  [
    'frames that are organised otherwise',
    has(text(tag.DimensionOrganizationType, 'CS', '3D')),
    'FORMAT_NOT_SUPPORTED',
  ],
  ['no word of where frames are', without(tag.PerFrameFunctionalGroupsSequence, sparse), 'FILE_CORRUPT'],
  ['no word of how frames are organised', without(tag.DimensionOrganizationType), 'FILE_CORRUPT'],
  ['places of too few frames', positions(...grid), 'FILE_CORRUPT'],
  ['places of too many frames', positions(...grid, [65, 33], [65, 33]), 'FILE_CORRUPT'],
  [
    'a frame without a place',
    having(
      sparse,
      sequence(
        tag.PerFrameFunctionalGroupsSequence,
        Array.from({ length: 6 }, () => []),
      ),
    ),
    'FILE_CORRUPT',
  ],
  ['a frame at a negative place', positions(...grid, [-31, 33]), 'FILE_CORRUPT'],
  ['a frame outside the picture', positions(...grid, [97, 33]), 'FILE_CORRUPT'],
  ['a frame beside the grid', positions(...grid, [64, 33]), 'FORMAT_NOT_SUPPORTED'],
  ['two frames at one place', positions(...grid, [33, 33]), 'FILE_CORRUPT'],
  [
    'more placed frames than the file has room for',
    having(sparse, text(tag.NumberOfFrames, 'IS', '5000')),
    'FILE_CORRUPT',
  ],
  [
    'no frame of the first optical path',
    having(sparse, sequence(tag.OpticalPathSequence, [[text(tag.OpticalPathIdentifier, 'SH', 'other')]])),
    'FILE_CORRUPT',
  ],
];

/** Told when a tile is read or decoded. */
const whenRead: readonly Fault[] = [
  // Offset tables.
  ['an offset table that is too short', offsets((all) => all.slice(1)), 'FILE_CORRUPT'],
  ['an offset table that is too long', offsets((all) => [...all, 5000]), 'FILE_CORRUPT'],
  ['an offset table that does not begin with 0', offsets((all) => [2, ...all.slice(1)]), 'FILE_CORRUPT'],
  ['an offset table that goes back', offsets((all) => all.toReversed()), 'FILE_CORRUPT'],
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
    'an extended offset table that goes back',
    extended(tag.ExtendedOffsetTable, (all) => all.toReversed()),
    'FILE_CORRUPT',
  ],
  [
    'an extended offset table that points past the end',
    extended(tag.ExtendedOffsetTable, (all) => [...all.slice(0, -1), 2n ** 40n]),
    'FILE_TRUNCATED',
  ],
  [
    'an extended offset larger than any number',
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
    'pixels without an end',
    pixels({ ...rle, offsetTable: 'empty' }, (all) => ({ ...all, isDelimited: false })),
    'FILE_TRUNCATED',
  ],
  [
    'frames in too many pieces',
    fragments(() => Array.from({ length: 5000 }, () => Uint8Array.of(1, 2))),
    'LIMIT_EXCEEDED',
  ],
  [
    'something else among the frames',
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
    'one frame larger than any',
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

  // What the frames hold.
  ['JPEG frames that are none', frames(() => Buffer.from('no picture at all.')), 'FILE_CORRUPT'],
  ['JPEG frames that are cut', frames((frame) => frame.subarray(0, -40)), 'FILE_CORRUPT'],
  ['JPEG frames of another size', frames((frame) => spoilFrame(frame, 5, 0, 40)), 'FILE_CORRUPT'],
  ['JPEG frames of 12 bits', frames((frame) => spoilFrame(frame, 4, 12)), 'FORMAT_NOT_SUPPORTED'],
  ['lossless JPEG frames', frames((frame) => spoilFrame(frame, 1, 0xc3)), 'FORMAT_NOT_SUPPORTED'],
  [
    'grey JPEG frames that are called coloured',
    having(
      { codec: 'jpeg', photometric: 'MONOCHROME2' },
      text(tag.PhotometricInterpretation, 'CS', 'RGB'),
      us(tag.SamplesPerPixel, 3),
    ),
    'FILE_CORRUPT',
  ],
  ['run-length coded frames that are cut', frames((frame) => frame.subarray(0, 200), rle), 'FILE_CORRUPT'],
  [
    'run-length coded frames with a header that lies',
    frames((frame) => Buffer.concat([littleEndian(4, [9]), frame.subarray(4)]), rle),
    'FILE_CORRUPT',
  ],
  [
    'JPEG-LS frames that are cut',
    frames((frame) => frame.subarray(0, 100), { codec: 'jpegls' }),
    'FILE_CORRUPT',
  ],
  [
    'JPEG 2000 frames that are cut',
    frames((frame) => frame.subarray(0, 300), { codec: 'jpeg2000' }),
    'FILE_CORRUPT',
  ],
  [
    'uncompressed frames that are too short',
    frames((frame) => frame.subarray(0, 100), { codec: 'encapsulated' }),
    'FILE_CORRUPT',
  ],
  [
    'JPEG frames that are called JPEG 2000',
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

/** What is wrong and does no harm. */
const harmless: readonly (readonly [string, () => Promise<Uint8Array>])[] = [
  ['a length of the file header that is wrong', meta(ul(0x0002_0000, 4_000_000))],
  [
    'a preamble of another format',
    changed((file) => ({ ...file, preamble: Buffer.concat([Buffer.from('II*\0'), Buffer.alloc(124, 255)]) })),
  ],
  ['values of odd length', has({ tag: 0x0010_0010, vr: 'PN', value: Buffer.from('Doe') })],
  ['bytes after the pixels', bytes((file) => Buffer.concat([file, Buffer.alloc(64, 255)]), rle)],
  [
    'a sequence of unknown representation',
    has({ tag: 0x0009_0010, vr: 'UN', value: [[text(0x0009_0011, 'LO', 'x')]], length: UNDEFINED_LENGTH }),
  ],
  [
    'a window that is no number',
    has(
      sequence(tag.SharedFunctionalGroupsSequence, [
        [sequence(tag.FrameVOILUTSequence, [[text(tag.WindowCenter, 'DS', 'x')]])],
      ]),
    ),
  ],
  ['a place in the series in words', has(text(tag.InstanceNumber, 'IS', 'first'))],
];

/** What came of opening a file, and what was read for it. */
async function openBytes(file: Uint8Array) {
  const { files, count } = countedFiles(memoryFiles({ a: file }));
  const outcome = await openSlideFrom(files).catch((error: unknown) => error);
  expect(count.bytes).toBeLessThan(4 * file.length + 2 ** 16);
  expect(count.open).toBe(outcome instanceof Error ? 0 : 1);
  return { outcome, slide: outcome as Slide, count };
}

describe('a DICOM file is refused when it is opened for', () => {
  it.each(whenOpened)('%s', async (_, build, code) => {
    const { outcome } = await openBytes(await build());
    expect(outcome).toMatchObject({ name: 'SlideError', code });
  });
});

describe('a tile of a DICOM file is refused for', () => {
  it.each(whenRead)('%s', async (_, build, code) => {
    const file = await build();
    const { slide, count } = await openBytes(file);
    const [{ columns, rows }] = slide.levels;
    const reading = (async () => {
      for (let i = 0; i < columns * rows; i++) {
        const tile = await slide.readTile({ level: 0, column: i % columns, row: Math.floor(i / columns) });
        if (tile) await decodeImage(tile);
      }
    })();
    await expect(reading).rejects.toMatchObject({ name: 'SlideError', code });
    expect(count.bytes).toBeLessThan(8 * file.length + 2 ** 17);
    await slide.close();
    expect(count.open).toBe(0);
  });
});

describe('a DICOM file is read all the same with', () => {
  it.each(harmless)('%s', async (_, build) => {
    const { slide } = await openBytes(await build());
    const tile = await slide.readTile({ level: 0, column: 2, row: 1 });
    expect(tile && (await decodeImage(tile))).toMatchObject({ width: 32, height: 32 });
  });
});

describe('a slide of several DICOM files is refused', () => {
  it('when more files lie beside it than can be looked at', async () => {
    const file = await buildDicom();
    const strangers = Array.from({ length: 10_001 }, (_, i) => [`stranger-${i}`, new Uint8Array()] as const);
    const files = memoryFiles(Object.fromEntries([['a', file], ...strangers]));
    await expect(openSlideFrom(files)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });

  it('when one of its pictures is broken', async () => {
    const small = await buildDicom({ instance: '2', downsample: 2, more: [us(tag.Rows, 0)] });
    const files = memoryFiles({ a: await buildDicom(), b: small });
    await expect(openSlideFrom(files)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
  });
});

/** Place of an item of the pixels: 0 is the offset table. */
function itemAt(file: Buffer, item: number): number {
  let at = file.indexOf(Buffer.from([0xe0, 0x7f, 0x10, 0x00, 0x4f, 0x42])) + 12;
  for (let i = 0; i < item; i++) at += 8 + file.readUInt32LE(at + 4);
  return at;
}

function spoilItem(file: Buffer, item: number, number: number): Buffer {
  const at = itemAt(file, item);
  file.set(itemHeader(number, file.readUInt32LE(at + 4)), at);
  return file;
}

function spoilLength(file: Buffer, item: number, length: number): Buffer {
  file.writeUInt32LE(length, itemAt(file, item) + 4);
  return file;
}

/** Writes over a JPEG's frame segment, from a place that counts from its marker. */
function spoilFrame(frame: Buffer, at: number, ...values: readonly number[]): Buffer {
  const start = frame.indexOf(Buffer.from([0xff, 0xc0]));
  frame.set(values, start + at);
  return frame;
}
