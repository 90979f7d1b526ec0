/**
 * Builds damaged DICOM files for tests. Most functions return a function that builds the file: tests declare a list of
 * faults, and each test case builds only its own file.
 */
import { tag } from '../dicom/tags.ts';
import type { SlideErrorCode } from '../model/slide.ts';
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
  writeDicom,
} from './build-dicom.ts';

/** A fault: its name, a function that builds the damaged file, and the code of the error that the reader must throw. */
export type Fault = readonly [name: string, build: () => Promise<Uint8Array>, code: SlideErrorCode];

export const UNDEFINED_LENGTH = 0xffff_ffff;

/** Builds a file and changes its data elements. */
export const changedFile =
  (change: (file: DicomFile) => DicomFile, plan: DicomPlan = {}) =>
  async () =>
    writeDicom(change(await planDicom(plan)));
/** Builds a file of a plan with these elements, which replace elements with the same tags. */
export const fileWith =
  (plan: DicomPlan, ...more: readonly DicomElement[]) =>
  async () =>
    buildDicom({ ...plan, more });
/** Builds a file of the default plan with these elements, which replace elements with the same tags. */
export const withElements = (...more: readonly DicomElement[]) => fileWith({}, ...more);
/** Builds a file without an element. @param missing tag of the element */
export const withoutElement = (missing: number, plan: DicomPlan = {}) =>
  changedFile(
    (file) => ({ ...file, elements: file.elements.filter((element) => element.tag !== missing) }),
    plan,
  );
/** Builds a file and changes its bytes. */
export const changedBytes =
  (change: (file: Buffer) => Uint8Array, plan: DicomPlan = {}) =>
  async () =>
    change(Buffer.from(await buildDicom(plan)));
/** Builds a file and removes this number of bytes at its end. */
export const withoutLastBytes = (lastBytes: number, plan: DicomPlan = {}) =>
  changedBytes((file) => file.subarray(0, -lastBytes), plan);
/** Builds a file with these elements in its file meta information, which replace elements with the same tags. */
export const withMeta = (...elements: readonly DicomElement[]) =>
  changedFile((file) => ({
    ...file,
    meta: [
      ...file.meta.filter(({ tag: metaTag }) => !elements.some((element) => element.tag === metaTag)),
      ...elements,
    ],
  }));
export const withSyntax = (uid: string) => withMeta(text(tag.TransferSyntaxUID, 'UI', uid));
export const withSopClass = (uid: string) => withMeta(text(tag.MediaStorageSOPClassUID, 'UI', uid));
/** Builds a file in which these bytes are inserted before the first element of the data set, the ImageType. */
export const startingWith = (part: Uint8Array) =>
  changedBytes((file) => {
    const imageType = Buffer.from([0x08, 0x00, 0x08, 0x00]);
    const metaAt = 132; // after the preamble (128 bytes) and the prefix "DICM"
    const at = file.indexOf(imageType, metaAt);
    return Buffer.concat([file.subarray(0, at), part, file.subarray(at)]);
  });

// Parts of plans.
export const rlePlan = { codec: 'rle' } as const;
export const jpegPlan = { codec: 'jpeg', photometric: 'YBR_FULL_422' } as const;
export const sparsePlan = { organization: 'TILED_SPARSE' } as const;

/** Builds a file and changes its encapsulated pixel data. */
export const changedPixelData = (plan: DicomPlan, change: (pixels: DicomFragments) => DicomFragments) =>
  changedFile(
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
/** Builds a file and changes the frame positions in its basic offset table. */
export const changedOffsets = (change: (offsets: number[]) => number[]) =>
  changedPixelData(rlePlan, (pixels) => {
    const table = Array.from({ length: pixels.offsetTable.length / 4 }, (_, i) =>
      Buffer.from(pixels.offsetTable).readUInt32LE(i * 4),
    );
    return { ...pixels, offsetTable: littleEndian(4, change(table)) };
  });
/**
 * Builds a file and changes its Extended Offset Table (positions of the frames) or the table of the frames' lengths.
 *
 * @param tableTag tag of the changed table
 */
export const changedExtendedTable = (tableTag: number, change: (values: bigint[]) => bigint[]) =>
  changedFile(
    (file) => ({
      ...file,
      elements: file.elements.map((element) => {
        if (element.tag !== tableTag) return element;
        const old = Buffer.from(element.value as Uint8Array);
        const values = change(Array.from({ length: old.length / 8 }, (_, i) => old.readBigUInt64LE(i * 8)));
        const value = Buffer.alloc(values.length * 8);
        values.forEach((number, i) => {
          value.writeBigUInt64LE(number, i * 8);
        });
        return { ...element, value };
      }),
    }),
    { ...rlePlan, offsetTable: 'extended' },
  );
/** Builds a file with an empty offset table and changes its fragments. */
export const changedFragments = (
  change: (fragments: readonly Uint8Array[]) => readonly Uint8Array[],
  plan: DicomPlan = rlePlan,
) =>
  changedPixelData({ ...plan, offsetTable: 'empty' }, (pixels) => ({
    ...pixels,
    fragments: change(pixels.fragments),
  }));
/** Builds a file and changes the bytes of each frame, which is one fragment. */
export const changedFrames = (change: (frame: Buffer) => Uint8Array, plan: DicomPlan = jpegPlan) =>
  changedFragments((frames) => frames.map((frame) => change(Buffer.from(frame))), plan);
/** Builds a sparsely tiled file that states these positions of its frames: column and row in pixels, from 1. */
export const withFramePositions = (...places: readonly (readonly [number, number])[]) =>
  fileWith(
    sparsePlan,
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
/** Positions of the first five of the six tiles of the default image, as `withFramePositions` takes them. */
export const firstFivePositions = [
  [1, 1],
  [33, 1],
  [65, 1],
  [1, 33],
  [33, 33],
] as const;

/** Returns a sequence of undefined length that contains `depth` more sequences, each nested in the one before. */
export const nestedSequences = (depth: number): DicomElement => {
  const sequenceOf = (items: readonly DicomItem[]) => ({
    ...sequence(0x0040_0555, items), // AcquisitionContextSequence, which the reader does not use
    length: UNDEFINED_LENGTH,
  });
  let items: readonly DicomItem[] = [];
  for (let i = 0; i < depth; i++) items = [[sequenceOf(items)]];
  return sequenceOf(items);
};
/**
 * Headers of 20,000 nested sequences (0008,0006), each with one item; all ends are omitted. `writeDicom` cannot build
 * them, because it would recurse too deep.
 */
export const deeplyNestedSequences = Buffer.concat(
  Array.from({ length: 20_000 }, () =>
    Buffer.concat([
      Buffer.from([0x08, 0x00, 0x06, 0x00, 0x53, 0x51, 0, 0, 0xff, 0xff, 0xff, 0xff]), // VR "SQ", undefined length
      itemHeader(tag.Item, UNDEFINED_LENGTH),
    ]),
  ),
);
/** A million and one empty elements: (0008,0001), VR "LO", length 0. */
export const millionElements = Buffer.alloc(8 * 1_000_001);
for (let at = 0; at < millionElements.length; at += 8)
  millionElements.set([0x08, 0x00, 0x01, 0x00, 0x4c, 0x4f], at);

/** Returns the position of an item of the pixel data; item 0 is the offset table. */
function itemAt(file: Buffer, item: number): number {
  const pixelData = Buffer.from([0xe0, 0x7f, 0x10, 0x00, 0x4f, 0x42]); // tag and VR "OB"
  const [elementHeaderBytes, itemHeaderBytes] = [12, 8];
  let at = file.indexOf(pixelData) + elementHeaderBytes;
  for (let i = 0; i < item; i++) at += itemHeaderBytes + file.readUInt32LE(at + 4);
  return at;
}

/** Replaces the tag of an item of the pixel data; item 0 is the offset table. */
export function spoilItem(file: Buffer, item: number, newTag: number): Buffer {
  const at = itemAt(file, item);
  file.set(itemHeader(newTag, file.readUInt32LE(at + 4)), at);
  return file;
}

/** Replaces the length that an item of the pixel data declares; item 0 is the offset table. */
export function spoilLength(file: Buffer, item: number, length: number): Buffer {
  file.writeUInt32LE(length, itemAt(file, item) + 4);
  return file;
}

/** Overwrites bytes of the frame header (SOF0 segment) of a JPEG. @param offset from the marker of the segment */
export function spoilFrameHeader(jpegFrame: Buffer, offset: number, ...values: readonly number[]): Buffer {
  const startOfFrame = jpegFrame.indexOf(Buffer.from([0xff, 0xc0]));
  jpegFrame.set(values, startOfFrame + offset);
  return jpegFrame;
}
