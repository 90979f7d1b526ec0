/**
 * Tests damaged and unsupported DICOM files: each row of a table is a defect, a function that builds a file with it, and the
 * expected error code. The functions from spoil-dicom.ts build the default file with one change.
 */
import { describe, expect, it } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import { cropRaster } from '../decode/raster.ts';
import { tag } from '../dicom/tags.ts';
import type { Slide } from '../model/slide.ts';
import { openSlideFrom } from '../open-slide.ts';
import {
  buildDicom,
  itemHeader,
  littleEndian,
  pictureOf,
  sequence,
  sl,
  text,
  ul,
  us,
} from '../testing/build-dicom.ts';
import { difference } from '../testing/compare-pixels.ts';
import { countedFiles } from '../testing/counted-files.ts';
import { memoryFiles } from '../testing/memory-files.ts';
import {
  changedBytes,
  changedFile,
  changedFragments,
  deeplyNestedSequences,
  type Fault,
  fileWith,
  firstFivePositions,
  jpegPlan,
  millionElements,
  nestedSequences,
  rlePlan,
  sparsePlan,
  startingWith,
  UNDEFINED_LENGTH,
  withElements,
  withFramePositions,
  withMeta,
  withoutElement,
  withoutLastBytes,
  withSopClass,
  withSyntax,
} from '../testing/spoil-dicom.ts';

/** Bytes of the pixels of the default file, which has 6 frames of 32 × 32 RGB pixels. */
const PIXEL_BYTES = 6 * 32 * 32 * 3;

/** Defects that are detected when the slide is opened. */
const defectsOnOpen: readonly Fault[] = [
  // The beginning of the file.
  ['no bytes', async () => new Uint8Array(), 'FORMAT_NOT_RECOGNISED'],
  ['an incomplete signature "DICM"', changedBytes((file) => file.subarray(0, 131)), 'FORMAT_NOT_RECOGNISED'],
  [
    'the signature "DICX" instead of "DICM"',
    changedBytes((file) => Buffer.from(file).fill('DICX', 128, 132)),
    'FORMAT_NOT_RECOGNISED',
  ],
  [
    'the signature "DICM" and nothing after it',
    changedBytes((file) => file.subarray(0, 132)),
    'FILE_CORRUPT',
  ],
  [
    'a file header that is truncated inside an element',
    changedBytes((file) => file.subarray(0, 137)),
    'FILE_TRUNCATED',
  ],
  [
    'a file header that is truncated inside a value',
    changedBytes((file) => file.subarray(0, 142)),
    'FILE_TRUNCATED',
  ],
  ['no transfer syntax', withMeta(text(tag.TransferSyntaxUID, 'UI', '')), 'FILE_CORRUPT'],
  ['a transfer syntax that is not a UID', withSyntax('explicit'), 'FILE_CORRUPT'],
  ['no data set', changedFile((file) => ({ ...file, elements: [] })), 'NOT_A_SLIDE'],
  ['a truncated data set', changedBytes((file) => file.subarray(0, 420)), 'FILE_TRUNCATED'],

  // The SOP class and the kind of image.
  ['a CT image', withSopClass('1.2.840.10008.5.1.4.1.1.2'), 'NOT_A_SLIDE'],
  ['a segmentation', withSopClass('1.2.840.10008.5.1.4.1.1.66.4'), 'NOT_A_SLIDE'],
  ['bulk annotations', withSopClass('1.2.840.10008.5.1.4.1.1.91.1'), 'NOT_A_SLIDE'],
  ['a structured report', withSopClass('1.2.840.10008.5.1.4.1.1.88.33'), 'NOT_A_SLIDE'],
  ['a photograph of a slide', withSopClass('1.2.840.10008.5.1.4.1.1.77.1.2'), 'NOT_A_SLIDE'],
  ['an unknown SOP class', withSopClass('1.2.3.4'), 'NOT_A_SLIDE'],
  [
    'a CT image in a file whose header states a slide',
    withElements(text(tag.SOPClassUID, 'UI', '1.2.840.10008.5.1.4.1.1.2')),
    'NOT_A_SLIDE',
  ],
  ['no SOP class', withoutElement(tag.SOPClassUID), 'NOT_A_SLIDE'],
  ['only the label of a slide', fileWith({ kind: 'LABEL' }), 'NOT_A_SLIDE'],
  ['only the overview of a slide', fileWith({ kind: 'OVERVIEW' }), 'NOT_A_SLIDE'],
  ['only the thumbnail of a slide', fileWith({ kind: 'THUMBNAIL' }), 'NOT_A_SLIDE'],
  ['an unknown kind of image in ImageType', fileWith({ kind: 'MYSTERY' }), 'FILE_CORRUPT'],
  [
    'no kind of image in ImageType',
    withElements(text(tag.ImageType, 'CS', 'ORIGINAL', 'PRIMARY')),
    'FILE_CORRUPT',
  ],
  ['no SeriesInstanceUID', withoutElement(tag.SeriesInstanceUID), 'FILE_CORRUPT'],
  [
    'a SeriesInstanceUID that is not a UID',
    withElements(text(tag.SeriesInstanceUID, 'UI', '../../etc')),
    'FILE_CORRUPT',
  ],
  ['no SOP instance UID', withoutElement(tag.SOPInstanceUID), 'FILE_CORRUPT'],
  [
    'a concatenation (image in several files) without a part number',
    withElements(text(tag.ConcatenationUID, 'UI', '1.2')),
    'FILE_CORRUPT',
  ],

  // The transfer syntax.
  ['a deflated data set', withSyntax('1.2.840.10008.1.2.1.99'), 'FORMAT_NOT_SUPPORTED'],
  ['big-endian byte order', withSyntax('1.2.840.10008.1.2.2'), 'FORMAT_NOT_SUPPORTED'],
  ['lossless JPEG', withSyntax('1.2.840.10008.1.2.4.70'), 'FORMAT_NOT_SUPPORTED'],
  ['high-throughput JPEG 2000', withSyntax('1.2.840.10008.1.2.4.201'), 'FORMAT_NOT_SUPPORTED'],
  ['JPEG XL', withSyntax('1.2.840.10008.1.2.4.110'), 'FORMAT_NOT_SUPPORTED'],
  ['video', withSyntax('1.2.840.10008.1.2.4.102'), 'FORMAT_NOT_SUPPORTED'],
  ['an unknown transfer syntax', withSyntax('1.2.3.4'), 'FORMAT_NOT_SUPPORTED'],
  [
    'elements in implicit VR declared as explicit VR',
    fileWith({ codec: 'implicit' }, text(tag.ImageType, 'CS', 'A')),
    'FILE_CORRUPT',
  ],

  // Data elements.
  [
    'an unknown value representation',
    withElements({ tag: tag.Rows, vr: 'XX', value: littleEndian(2, [32]) }),
    'FILE_CORRUPT',
  ],
  [
    'a number (Rows) stored as text',
    withElements({ tag: tag.Rows, vr: 'LO', value: Buffer.from('32') }),
    'FILE_CORRUPT',
  ],
  [
    'a 16-bit number (Rows) of three bytes',
    withElements({ tag: tag.Rows, vr: 'US', value: Buffer.alloc(3) }),
    'FILE_CORRUPT',
  ],
  ['the frame height (Rows) 4,294,967,295', withElements(ul(tag.Rows, 4_294_967_295)), 'LIMIT_EXCEEDED'],
  [
    'two elements of the same tag (Rows)',
    changedFile((file) => ({
      ...file,
      elements: file.elements.flatMap((element) => (element.tag === tag.Rows ? [element, element] : element)),
    })),
    'FILE_CORRUPT',
  ],
  [
    'a text value of 70,000 bytes, above the size limit',
    withElements(text(tag.Manufacturer, 'UT', 'x'.repeat(70_000))),
    'LIMIT_EXCEEDED',
  ],
  [
    'a value that is longer than the file',
    withElements({ ...text(0x0010_0010, 'UT', 'Doe'), length: 0x7fff_fff0 }),
    'FILE_TRUNCATED',
  ],
  [
    'a text value of undefined length',
    withElements({ ...text(0x0010_0010, 'UT', 'Doe'), length: UNDEFINED_LENGTH }),
    'FILE_CORRUPT',
  ],
  [
    'a sequence with the value representation OB (bytes)',
    withElements({ tag: tag.OpticalPathSequence, vr: 'OB', value: Buffer.alloc(8) }),
    'FILE_CORRUPT',
  ],
  [
    'a sequence that does not contain items',
    withElements({ tag: tag.OpticalPathSequence, vr: 'SQ', value: Buffer.alloc(16) }),
    'FILE_CORRUPT',
  ],
  [
    'an item that is longer than its sequence',
    withElements({ tag: tag.OpticalPathSequence, vr: 'SQ', value: itemHeader(tag.Item, 40) }),
    'FILE_CORRUPT',
  ],
  [
    'an item that is shorter than its contents',
    withElements({
      tag: tag.OpticalPathSequence,
      vr: 'SQ',
      value: Buffer.concat([itemHeader(tag.Item, 4), Buffer.alloc(4)]),
    }),
    'FILE_CORRUPT',
  ],
  [
    'a sequence that ends inside an item',
    withElements({ tag: tag.OpticalPathSequence, vr: 'SQ', value: Buffer.alloc(4) }),
    'FILE_CORRUPT',
  ],
  [
    'a sequence without a delimiter',
    withElements({
      tag: tag.OpticalPathSequence,
      vr: 'SQ',
      value: new Uint8Array(),
      length: UNDEFINED_LENGTH,
    }),
    'FILE_CORRUPT',
  ],
  [
    'a sequence delimiter outside a sequence',
    startingWith(itemHeader(tag.SequenceDelimitationItem, 0)),
    'FILE_CORRUPT',
  ],
  ['an item outside a sequence', startingWith(itemHeader(tag.Item, 0)), 'FILE_CORRUPT'],
  [
    'sequences that are nested 20 levels deep (limit 16)',
    withElements(nestedSequences(20)),
    'LIMIT_EXCEEDED',
  ],
  ['endlessly nested sequences', startingWith(deeplyNestedSequences), 'LIMIT_EXCEEDED'],
  ['a million elements', startingWith(millionElements), 'LIMIT_EXCEEDED'],
  [
    'a sequence of 5,000 items, above the limit',
    withElements(
      sequence(
        tag.OpticalPathSequence,
        Array.from({ length: 5000 }, () => []),
      ),
    ),
    'LIMIT_EXCEEDED',
  ],

  // Sizes of the image and of its frames.
  ['no frame height (Rows)', withoutElement(tag.Rows), 'FILE_CORRUPT'],
  ['no frame width (Columns)', withoutElement(tag.Columns), 'FILE_CORRUPT'],
  ['frames of height 0', withElements(us(tag.Rows, 0)), 'FILE_CORRUPT'],
  ['frames of height 65,535, above the limit', withElements(us(tag.Rows, 65_535)), 'LIMIT_EXCEEDED'],
  ['frames of width 8,193, above the limit', withElements(us(tag.Columns, 8193)), 'LIMIT_EXCEEDED'],
  ['no image width', withoutElement(tag.TotalPixelMatrixColumns), 'FILE_CORRUPT'],
  ['an image of width 0', withElements(ul(tag.TotalPixelMatrixColumns, 0)), 'FILE_CORRUPT'],
  [
    'an image of width 4,294,967,295, above the limit',
    withElements(ul(tag.TotalPixelMatrixColumns, 4_294_967_295)),
    'LIMIT_EXCEEDED',
  ],
  ['a negative image width', withElements(sl(tag.TotalPixelMatrixColumns, -96)), 'FILE_CORRUPT'],
  [
    'an image of 2^30 × 2^30 pixels, with more tiles than the limit',
    withElements(ul(tag.TotalPixelMatrixColumns, 2 ** 30), ul(tag.TotalPixelMatrixRows, 2 ** 30)),
    'LIMIT_EXCEEDED',
  ],
  [
    'an image that is larger than all its frames together',
    withElements(ul(tag.TotalPixelMatrixColumns, 97)),
    'FILE_CORRUPT',
  ],
  ['0 frames', withElements(text(tag.NumberOfFrames, 'IS', '0')), 'FILE_CORRUPT'],
  ['a negative number of frames', withElements(text(tag.NumberOfFrames, 'IS', '-6')), 'FILE_CORRUPT'],
  [
    'a number of frames that is not a number',
    withElements(text(tag.NumberOfFrames, 'IS', '1A')),
    'FILE_CORRUPT',
  ],
  [
    '2,147,483,648 frames, above the limit',
    withElements(text(tag.NumberOfFrames, 'IS', '2147483648')),
    'LIMIT_EXCEEDED',
  ],
  [
    'more frames than fit into the file',
    withElements(text(tag.NumberOfFrames, 'IS', '67108864')),
    'FILE_CORRUPT',
  ],
  ['one frame fewer than its image needs', withElements(text(tag.NumberOfFrames, 'IS', '5')), 'FILE_CORRUPT'],
  ['one frame more than its image needs', withElements(text(tag.NumberOfFrames, 'IS', '7')), 'FILE_CORRUPT'],

  // The samples.
  ['no pixels', withoutElement(tag.PixelData), 'FILE_CORRUPT'],
  [
    'pixel data that are two bytes too short',
    withElements({ tag: tag.PixelData, vr: 'OW', value: Buffer.alloc(PIXEL_BYTES - 2) }),
    'FILE_CORRUPT',
  ],
  ['pixels without their last byte', withoutLastBytes(1), 'FILE_TRUNCATED'],
  [
    'uncompressed pixels of undefined length',
    withElements({
      tag: tag.PixelData,
      vr: 'OW',
      value: Buffer.alloc(PIXEL_BYTES),
      length: UNDEFINED_LENGTH,
    }),
    'FILE_CORRUPT',
  ],
  ['four samples a pixel', withElements(us(tag.SamplesPerPixel, 4)), 'FILE_CORRUPT'],
  ['0 samples a pixel', withElements(us(tag.SamplesPerPixel, 0)), 'FILE_CORRUPT'],
  [
    'a palette',
    withElements(text(tag.PhotometricInterpretation, 'CS', 'PALETTE COLOR'), us(tag.SamplesPerPixel, 1)),
    'FORMAT_NOT_SUPPORTED',
  ],
  [
    'an unknown photometric interpretation',
    withElements(text(tag.PhotometricInterpretation, 'CS', '<script>')),
    'FORMAT_NOT_SUPPORTED',
  ],
  ['no photometric interpretation', withoutElement(tag.PhotometricInterpretation), 'FORMAT_NOT_SUPPORTED'],
  [
    'uncompressed YBR_FULL_422',
    withElements(text(tag.PhotometricInterpretation, 'CS', 'YBR_FULL_422')),
    'FORMAT_NOT_SUPPORTED',
  ],
  [
    'uncompressed pixels in YBR_RCT, a colour model of JPEG 2000',
    withElements(text(tag.PhotometricInterpretation, 'CS', 'YBR_RCT')),
    'FILE_CORRUPT',
  ],
  [
    'JPEG pixels in YBR_ICT, a colour model of JPEG 2000',
    fileWith(jpegPlan, text(tag.PhotometricInterpretation, 'CS', 'YBR_ICT')),
    'FILE_CORRUPT',
  ],
  [
    'colour samples of 16 bits',
    withElements(us(tag.BitsAllocated, 16), us(tag.BitsStored, 16), us(tag.HighBit, 15)),
    'FORMAT_NOT_SUPPORTED',
  ],
  [
    'colour samples of 7 bits',
    withElements(us(tag.BitsStored, 7), us(tag.HighBit, 6)),
    'FORMAT_NOT_SUPPORTED',
  ],
  ['12 bits allocated per sample', withElements(us(tag.BitsAllocated, 12)), 'FORMAT_NOT_SUPPORTED'],
  [
    'no statement of the bits allocated per sample (BitsAllocated)',
    withoutElement(tag.BitsAllocated),
    'FORMAT_NOT_SUPPORTED',
  ],
  ['more bits stored than allocated', withElements(us(tag.BitsStored, 9)), 'FILE_CORRUPT'],
  [
    'the highest bit 15 (HighBit) in samples of 8 bits',
    withElements(us(tag.HighBit, 15)),
    'FORMAT_NOT_SUPPORTED',
  ],
  ['signed samples', withElements(us(tag.PixelRepresentation, 1)), 'FORMAT_NOT_SUPPORTED'],
  [
    'grey JPEG pixels in which 0 means white',
    fileWith({ codec: 'jpeg', photometric: 'MONOCHROME1' }),
    'FORMAT_NOT_SUPPORTED',
  ],
  [
    'compressed pixels without items',
    fileWith(rlePlan, { tag: tag.PixelData, vr: 'OB', value: Buffer.alloc(5000) }),
    'FILE_CORRUPT',
  ],
  [
    'more compressed frames than fit into the file',
    fileWith({ ...rlePlan, organization: 'TILED_FULL' }, text(tag.NumberOfFrames, 'IS', '6000')),
    'FILE_CORRUPT',
  ],

  ['no frame among its pixel data', changedFragments(() => []), 'FILE_CORRUPT'],

  // Frame positions.
  [
    'the DimensionOrganizationType 3D',
    withElements(text(tag.DimensionOrganizationType, 'CS', '3D')),
    'FORMAT_NOT_SUPPORTED',
  ],
  ['no frame positions', withoutElement(tag.PerFrameFunctionalGroupsSequence, sparsePlan), 'FILE_CORRUPT'],
  [
    'neither a DimensionOrganizationType nor frame positions',
    withoutElement(tag.DimensionOrganizationType),
    'FILE_CORRUPT',
  ],
  ['positions for too few frames', withFramePositions(...firstFivePositions), 'FILE_CORRUPT'],
  [
    'positions for too many frames',
    withFramePositions(...firstFivePositions, [65, 33], [65, 33]),
    'FILE_CORRUPT',
  ],
  [
    'a frame without a position',
    fileWith(
      sparsePlan,
      sequence(
        tag.PerFrameFunctionalGroupsSequence,
        Array.from({ length: 6 }, () => []),
      ),
    ),
    'FILE_CORRUPT',
  ],
  ['a frame at a negative position', withFramePositions(...firstFivePositions, [-31, 33]), 'FILE_CORRUPT'],
  ['a frame outside the image', withFramePositions(...firstFivePositions, [97, 33]), 'FILE_CORRUPT'],
  [
    'a frame that is not aligned to the grid of tiles',
    withFramePositions(...firstFivePositions, [64, 33]),
    'FORMAT_NOT_SUPPORTED',
  ],
  ['two frames at one position', withFramePositions(...firstFivePositions, [33, 33]), 'FILE_CORRUPT'],
  [
    'more frame positions than fit into the file',
    fileWith(sparsePlan, text(tag.NumberOfFrames, 'IS', '5000')),
    'FILE_CORRUPT',
  ],
  [
    'no frame of the first optical path in its OpticalPathSequence',
    fileWith(
      sparsePlan,
      sequence(tag.OpticalPathSequence, [[text(tag.OpticalPathIdentifier, 'SH', 'other')]]),
    ),
    'FILE_CORRUPT',
  ],
];

/** Defects that do not prevent reading. */
const harmlessDefects: readonly (readonly [string, () => Promise<Uint8Array>])[] = [
  ['a wrong group length of the file header', withMeta(ul(0x0002_0000, 4_000_000))],
  [
    'a preamble that is the header of a TIFF file',
    changedFile((file) => ({
      ...file,
      preamble: Buffer.concat([Buffer.from('II*\0'), Buffer.alloc(124, 255)]),
    })),
  ],
  ['values of odd length', withElements({ tag: 0x0010_0010, vr: 'PN', value: Buffer.from('Doe') })],
  ['bytes after the pixels', changedBytes((file) => Buffer.concat([file, Buffer.alloc(64, 255)]), rlePlan)],
  [
    'a sequence of unknown value representation',
    withElements({
      tag: 0x0009_0010,
      vr: 'UN',
      value: [[text(0x0009_0011, 'LO', 'x')]],
      length: UNDEFINED_LENGTH,
    }),
  ],
  [
    'a display window that is not a number',
    withElements(
      sequence(tag.SharedFunctionalGroupsSequence, [
        [sequence(tag.FrameVOILUTSequence, [[text(tag.WindowCenter, 'DS', 'x')]])],
      ]),
    ),
  ],
  ['an instance number that is not a number', withElements(text(tag.InstanceNumber, 'IS', 'first'))],
];

/** Opens a file, and checks that few bytes were read and that no file stays open after an error. */
async function openAndCheck(file: Uint8Array) {
  const { files, count } = countedFiles(memoryFiles({ a: file }));
  const outcome = await openSlideFrom(files).catch((error: unknown) => error);
  expect(count.bytes).toBeLessThan(4 * file.length + 2 ** 16);
  expect(count.open).toBe(outcome instanceof Error ? 0 : 1);
  return { outcome, slide: outcome as Slide, count };
}

describe('openSlideFrom (opens a slide)', () => {
  it.each(defectsOnOpen)('throws $2 for a DICOM file with %s', async (_, build, code) => {
    const { outcome } = await openAndCheck(await build());
    expect(outcome).toMatchObject({ name: 'SlideError', code });
  });
});

describe('openSlideFrom (opens a slide) with a DICOM file that deviates from the standard', () => {
  it.each(harmlessDefects)(
    'opens a file with %s, and returns the original pixels of its last tile',
    async (_, build) => {
      const { slide } = await openAndCheck(await build());
      const tile = await slide.readTile({ level: 0, column: 2, row: 1 });
      if (!tile) throw new Error('There is no tile');
      expect(difference(await decodeImage(tile), cropRaster(pictureOf({}), 64, 32, 32, 32)).max).toBe(0);
    },
  );
});

describe('openSlideFrom (opens a slide) with a slide of several DICOM files', () => {
  it('throws LIMIT_EXCEEDED if the folder has more than 10,000 files', async () => {
    const file = await buildDicom();
    const otherFiles = Array.from({ length: 10_001 }, (_, i) => [`other-${i}`, new Uint8Array()] as const);
    const files = memoryFiles(Object.fromEntries([['a', file], ...otherFiles]));
    await expect(openSlideFrom(files)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });

  it('throws FILE_CORRUPT if the file of level 1 is damaged, although that of level 0 is intact', async () => {
    const small = await buildDicom({ instance: '2', downsample: 2, more: [us(tag.Rows, 0)] });
    const files = memoryFiles({ a: await buildDicom(), b: small });
    await expect(openSlideFrom(files)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
  });
});
