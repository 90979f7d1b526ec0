/** Tests damaged and unsupported DICOM files: each row of the tables is a defect and the expected error code. */
import { describe, expect, it } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import { tag } from '../dicom/tags.ts';
import type { Slide } from '../model/slide.ts';
import { openSlideFrom } from '../open-slide.ts';
import { buildDicom, itemHeader, littleEndian, sequence, sl, text, ul, us } from '../testing/build-dicom.ts';
import { countedFiles } from '../testing/counted-files.ts';
import { memoryFiles } from '../testing/memory-files.ts';
import {
  beginning,
  bytes,
  changed,
  deepNesting,
  type Fault,
  firstFivePositions,
  fragments,
  has,
  having,
  jpeg,
  meta,
  million,
  nested,
  positions,
  rle,
  sopClass,
  sparse,
  syntax,
  UNDEFINED_LENGTH,
  without,
  withoutLast,
} from '../testing/spoil-dicom.ts';

/** The default plan has 6 frames of 32 × 32 RGB pixels. */
const PIXEL_BYTES = 6 * 32 * 32 * 3;

/** Defects that are detected when the slide is opened. */
const defectsOnOpen: readonly Fault[] = [
  // The file.
  ['no bytes', async () => new Uint8Array(), 'FORMAT_NOT_RECOGNISED'],
  ['a file that ends before its signature', bytes((file) => file.subarray(0, 131)), 'FORMAT_NOT_RECOGNISED'],
  ['another signature', bytes((file) => Buffer.from(file).fill('DICX', 128, 132)), 'FORMAT_NOT_RECOGNISED'],
  ['a signature and nothing else', bytes((file) => file.subarray(0, 132)), 'FILE_CORRUPT'],
  ['a truncated header', bytes((file) => file.subarray(0, 137)), 'FILE_TRUNCATED'],
  ['a truncated value in the header', bytes((file) => file.subarray(0, 142)), 'FILE_TRUNCATED'],
  ['no transfer syntax', meta(text(tag.TransferSyntaxUID, 'UI', '')), 'FILE_CORRUPT'],
  ['a transfer syntax that is not a UID', syntax('explicit'), 'FILE_CORRUPT'],
  ['no data set', changed((file) => ({ ...file, elements: [] })), 'NOT_A_SLIDE'],
  ['a truncated data set', bytes((file) => file.subarray(0, 420)), 'FILE_TRUNCATED'],

  // The SOP class and the kind of image.
  ['a CT image', sopClass('1.2.840.10008.5.1.4.1.1.2'), 'NOT_A_SLIDE'],
  ['a segmentation', sopClass('1.2.840.10008.5.1.4.1.1.66.4'), 'NOT_A_SLIDE'],
  ['annotations', sopClass('1.2.840.10008.5.1.4.1.1.91.1'), 'NOT_A_SLIDE'],
  ['a structured report', sopClass('1.2.840.10008.5.1.4.1.1.88.33'), 'NOT_A_SLIDE'],
  ['a photograph of a slide', sopClass('1.2.840.10008.5.1.4.1.1.77.1.2'), 'NOT_A_SLIDE'],
  ['an unknown SOP class', sopClass('1.2.3.4'), 'NOT_A_SLIDE'],
  [
    'a CT image whose file header says slide',
    has(text(tag.SOPClassUID, 'UI', '1.2.840.10008.5.1.4.1.1.2')),
    'NOT_A_SLIDE',
  ],
  ['no SOP class', without(tag.SOPClassUID), 'NOT_A_SLIDE'],
  ['a label', having({ kind: 'LABEL' }), 'NOT_A_SLIDE'],
  ['an overview', having({ kind: 'OVERVIEW' }), 'NOT_A_SLIDE'],
  ['a thumbnail', having({ kind: 'THUMBNAIL' }), 'NOT_A_SLIDE'],
  ['an unknown kind of image', having({ kind: 'MYSTERY' }), 'FILE_CORRUPT'],
  ['no kind of image', has(text(tag.ImageType, 'CS', 'ORIGINAL', 'PRIMARY')), 'FILE_CORRUPT'],
  ['no series', without(tag.SeriesInstanceUID), 'FILE_CORRUPT'],
  ['a series that is not a UID', has(text(tag.SeriesInstanceUID, 'UI', '../../etc')), 'FILE_CORRUPT'],
  ['no SOP instance UID', without(tag.SOPInstanceUID), 'FILE_CORRUPT'],
  ['a concatenation without a part number', has(text(tag.ConcatenationUID, 'UI', '1.2')), 'FILE_CORRUPT'],

  // The transfer syntax.
  ['a deflated data set', syntax('1.2.840.10008.1.2.1.99'), 'FORMAT_NOT_SUPPORTED'],
  ['big-endian byte order', syntax('1.2.840.10008.1.2.2'), 'FORMAT_NOT_SUPPORTED'],
  ['lossless JPEG', syntax('1.2.840.10008.1.2.4.70'), 'FORMAT_NOT_SUPPORTED'],
  ['high-throughput JPEG 2000', syntax('1.2.840.10008.1.2.4.201'), 'FORMAT_NOT_SUPPORTED'],
  ['JPEG XL', syntax('1.2.840.10008.1.2.4.110'), 'FORMAT_NOT_SUPPORTED'],
  ['video', syntax('1.2.840.10008.1.2.4.102'), 'FORMAT_NOT_SUPPORTED'],
  ['an unknown transfer syntax', syntax('1.2.3.4'), 'FORMAT_NOT_SUPPORTED'],
  [
    'implicit elements declared as explicit',
    having({ codec: 'implicit' }, text(tag.ImageType, 'CS', 'A')),
    'FILE_CORRUPT',
  ],

  // Data elements.
  [
    'an unknown value representation',
    has({ tag: tag.Rows, vr: 'XX', value: littleEndian(2, [32]) }),
    'FILE_CORRUPT',
  ],
  ['a number as text', has({ tag: tag.Rows, vr: 'LO', value: Buffer.from('32') }), 'FILE_CORRUPT'],
  ['a number of three bytes', has({ tag: tag.Rows, vr: 'US', value: Buffer.alloc(3) }), 'FILE_CORRUPT'],
  ['a 32-bit number above the limit', has(ul(tag.Rows, 4_294_967_295)), 'LIMIT_EXCEEDED'],
  [
    'a duplicate element',
    changed((file) => ({
      ...file,
      elements: file.elements.flatMap((element) => (element.tag === tag.Rows ? [element, element] : element)),
    })),
    'FILE_CORRUPT',
  ],
  ['a value above the size limit', has(text(tag.Manufacturer, 'UT', 'x'.repeat(70_000))), 'LIMIT_EXCEEDED'],
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
    'a sequence with the value representation of bytes',
    has({ tag: tag.OpticalPathSequence, vr: 'OB', value: Buffer.alloc(8) }),
    'FILE_CORRUPT',
  ],
  [
    'a sequence that does not contain items',
    has({ tag: tag.OpticalPathSequence, vr: 'SQ', value: Buffer.alloc(16) }),
    'FILE_CORRUPT',
  ],
  [
    'an item that is longer than its sequence',
    has({ tag: tag.OpticalPathSequence, vr: 'SQ', value: itemHeader(tag.Item, 40) }),
    'FILE_CORRUPT',
  ],
  [
    'an item that is shorter than its contents',
    has({
      tag: tag.OpticalPathSequence,
      vr: 'SQ',
      value: Buffer.concat([itemHeader(tag.Item, 4), Buffer.alloc(4)]),
    }),
    'FILE_CORRUPT',
  ],
  [
    'a sequence that ends inside an item',
    has({ tag: tag.OpticalPathSequence, vr: 'SQ', value: Buffer.alloc(4) }),
    'FILE_CORRUPT',
  ],
  [
    'a sequence without a delimiter',
    has({ tag: tag.OpticalPathSequence, vr: 'SQ', value: new Uint8Array(), length: UNDEFINED_LENGTH }),
    'FILE_CORRUPT',
  ],
  [
    'a sequence delimiter among elements',
    beginning(itemHeader(tag.SequenceDelimitationItem, 0)),
    'FILE_CORRUPT',
  ],
  ['an item among elements', beginning(itemHeader(tag.Item, 0)), 'FILE_CORRUPT'],
  ['sequences that are nested too deeply', has(nested(20)), 'LIMIT_EXCEEDED'],
  ['endlessly nested sequences', beginning(deepNesting), 'LIMIT_EXCEEDED'],
  ['a million elements', beginning(million), 'LIMIT_EXCEEDED'],
  [
    'more items than the limit',
    has(
      sequence(
        tag.OpticalPathSequence,
        Array.from({ length: 5000 }, () => []),
      ),
    ),
    'LIMIT_EXCEEDED',
  ],

  // Sizes of the image and of its frames.
  ['no height of frames', without(tag.Rows), 'FILE_CORRUPT'],
  ['no width of frames', without(tag.Columns), 'FILE_CORRUPT'],
  ['frames without a height', has(us(tag.Rows, 0)), 'FILE_CORRUPT'],
  ['frames that are too high', has(us(tag.Rows, 65_535)), 'LIMIT_EXCEEDED'],
  ['frames that are too wide', has(us(tag.Columns, 8193)), 'LIMIT_EXCEEDED'],
  ['no width of the image', without(tag.TotalPixelMatrixColumns), 'FILE_CORRUPT'],
  ['an image of width 0', has(ul(tag.TotalPixelMatrixColumns, 0)), 'FILE_CORRUPT'],
  ['an image above the width limit', has(ul(tag.TotalPixelMatrixColumns, 4_294_967_295)), 'LIMIT_EXCEEDED'],
  ['a negative image width', has(sl(tag.TotalPixelMatrixColumns, -96)), 'FILE_CORRUPT'],
  [
    'more tiles than the limit',
    has(ul(tag.TotalPixelMatrixColumns, 2 ** 30), ul(tag.TotalPixelMatrixRows, 2 ** 30)),
    'LIMIT_EXCEEDED',
  ],
  ['an image larger than its frames together', has(ul(tag.TotalPixelMatrixColumns, 97)), 'FILE_CORRUPT'],
  ['no frames', has(text(tag.NumberOfFrames, 'IS', '0')), 'FILE_CORRUPT'],
  ['a negative number of frames', has(text(tag.NumberOfFrames, 'IS', '-6')), 'FILE_CORRUPT'],
  ['a number of frames that is not a number', has(text(tag.NumberOfFrames, 'IS', '1A')), 'FILE_CORRUPT'],
  ['more frames than the limit', has(text(tag.NumberOfFrames, 'IS', '2147483648')), 'LIMIT_EXCEEDED'],
  ['more frames than fit into the file', has(text(tag.NumberOfFrames, 'IS', '67108864')), 'FILE_CORRUPT'],
  ['one frame too few', has(text(tag.NumberOfFrames, 'IS', '5')), 'FILE_CORRUPT'],
  ['one frame too many', has(text(tag.NumberOfFrames, 'IS', '7')), 'FILE_CORRUPT'],

  // The samples.
  ['no pixels', without(tag.PixelData), 'FILE_CORRUPT'],
  [
    'too few pixels',
    has({ tag: tag.PixelData, vr: 'OW', value: Buffer.alloc(PIXEL_BYTES - 2) }),
    'FILE_CORRUPT',
  ],
  ['truncated pixels', withoutLast(1), 'FILE_TRUNCATED'],
  [
    'pixels without a length',
    has({ tag: tag.PixelData, vr: 'OW', value: Buffer.alloc(PIXEL_BYTES), length: UNDEFINED_LENGTH }),
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
    'an unknown photometric interpretation',
    has(text(tag.PhotometricInterpretation, 'CS', '<script>')),
    'FORMAT_NOT_SUPPORTED',
  ],
  ['no photometric interpretation', without(tag.PhotometricInterpretation), 'FORMAT_NOT_SUPPORTED'],
  [
    'uncompressed YBR_FULL_422',
    has(text(tag.PhotometricInterpretation, 'CS', 'YBR_FULL_422')),
    'FORMAT_NOT_SUPPORTED',
  ],
  [
    'colours of JPEG 2000 in uncompressed pixels',
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
  ['no bits allocated', without(tag.BitsAllocated), 'FORMAT_NOT_SUPPORTED'],
  ['more bits stored than allocated', has(us(tag.BitsStored, 9)), 'FILE_CORRUPT'],
  ['samples in the upper bits', has(us(tag.HighBit, 15)), 'FORMAT_NOT_SUPPORTED'],
  ['signed samples', has(us(tag.PixelRepresentation, 1)), 'FORMAT_NOT_SUPPORTED'],
  [
    'grey JPEG with white as 0',
    having({ codec: 'jpeg', photometric: 'MONOCHROME1' }),
    'FORMAT_NOT_SUPPORTED',
  ],
  [
    'compressed pixels without items',
    having(rle, { tag: tag.PixelData, vr: 'OB', value: Buffer.alloc(5000) }),
    'FILE_CORRUPT',
  ],
  [
    'more compressed frames than fit into the file',
    having({ ...rle, organization: 'TILED_FULL' }, text(tag.NumberOfFrames, 'IS', '6000')),
    'FILE_CORRUPT',
  ],

  ['no frames at all', fragments(() => []), 'FILE_CORRUPT'],

  // Frame positions.
  [
    'an unsupported dimension organization',
    has(text(tag.DimensionOrganizationType, 'CS', '3D')),
    'FORMAT_NOT_SUPPORTED',
  ],
  ['no frame positions', without(tag.PerFrameFunctionalGroupsSequence, sparse), 'FILE_CORRUPT'],
  ['no dimension organization', without(tag.DimensionOrganizationType), 'FILE_CORRUPT'],
  ['positions for too few frames', positions(...firstFivePositions), 'FILE_CORRUPT'],
  ['positions for too many frames', positions(...firstFivePositions, [65, 33], [65, 33]), 'FILE_CORRUPT'],
  [
    'a frame without a position',
    having(
      sparse,
      sequence(
        tag.PerFrameFunctionalGroupsSequence,
        Array.from({ length: 6 }, () => []),
      ),
    ),
    'FILE_CORRUPT',
  ],
  ['a frame at a negative position', positions(...firstFivePositions, [-31, 33]), 'FILE_CORRUPT'],
  ['a frame outside the image', positions(...firstFivePositions, [97, 33]), 'FILE_CORRUPT'],
  [
    'a frame that is not aligned to the grid of tiles',
    positions(...firstFivePositions, [64, 33]),
    'FORMAT_NOT_SUPPORTED',
  ],
  ['two frames at one position', positions(...firstFivePositions, [33, 33]), 'FILE_CORRUPT'],
  [
    'more frame positions than fit into the file',
    having(sparse, text(tag.NumberOfFrames, 'IS', '5000')),
    'FILE_CORRUPT',
  ],
  [
    'no frame of the first optical path',
    having(sparse, sequence(tag.OpticalPathSequence, [[text(tag.OpticalPathIdentifier, 'SH', 'other')]])),
    'FILE_CORRUPT',
  ],
];

/** Defects that do not prevent reading. */
const harmlessDefects: readonly (readonly [string, () => Promise<Uint8Array>])[] = [
  ['a wrong group length of the file header', meta(ul(0x0002_0000, 4_000_000))],
  [
    'a preamble of another format',
    changed((file) => ({ ...file, preamble: Buffer.concat([Buffer.from('II*\0'), Buffer.alloc(124, 255)]) })),
  ],
  ['values of odd length', has({ tag: 0x0010_0010, vr: 'PN', value: Buffer.from('Doe') })],
  ['bytes after the pixels', bytes((file) => Buffer.concat([file, Buffer.alloc(64, 255)]), rle)],
  [
    'a sequence of unknown value representation',
    has({ tag: 0x0009_0010, vr: 'UN', value: [[text(0x0009_0011, 'LO', 'x')]], length: UNDEFINED_LENGTH }),
  ],
  [
    'a window that is not a number',
    has(
      sequence(tag.SharedFunctionalGroupsSequence, [
        [sequence(tag.FrameVOILUTSequence, [[text(tag.WindowCenter, 'DS', 'x')]])],
      ]),
    ),
  ],
  ['an instance number that is not a number', has(text(tag.InstanceNumber, 'IS', 'first'))],
];

/** Opens a file, and checks that few bytes were read and that no file stays open after an error. */
async function openBytes(file: Uint8Array) {
  const { files, count } = countedFiles(memoryFiles({ a: file }));
  const outcome = await openSlideFrom(files).catch((error: unknown) => error);
  expect(count.bytes).toBeLessThan(4 * file.length + 2 ** 16);
  expect(count.open).toBe(outcome instanceof Error ? 0 : 1);
  return { outcome, slide: outcome as Slide, count };
}

describe('openSlideFrom', () => {
  it.each(defectsOnOpen)('rejects a DICOM file with this defect: %s', async (_, build, code) => {
    const { outcome } = await openBytes(await build());
    expect(outcome).toMatchObject({ name: 'SlideError', code });
  });
});

describe('openSlideFrom with a DICOM file that deviates from the standard', () => {
  it.each(harmlessDefects)('opens a file with %s', async (_, build) => {
    const { slide } = await openBytes(await build());
    const tile = await slide.readTile({ level: 0, column: 2, row: 1 });
    expect(tile && (await decodeImage(tile))).toMatchObject({ width: 32, height: 32 });
  });
});

describe('openSlideFrom with a slide of several DICOM files', () => {
  it('throws LIMIT_EXCEEDED if the folder has more than 10,000 files', async () => {
    const file = await buildDicom();
    const otherFiles = Array.from({ length: 10_001 }, (_, i) => [`other-${i}`, new Uint8Array()] as const);
    const files = memoryFiles(Object.fromEntries([['a', file], ...otherFiles]));
    await expect(openSlideFrom(files)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });

  it('throws FILE_CORRUPT if the file of a smaller level is damaged', async () => {
    const small = await buildDicom({ instance: '2', downsample: 2, more: [us(tag.Rows, 0)] });
    const files = memoryFiles({ a: await buildDicom(), b: small });
    await expect(openSlideFrom(files)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
  });
});
