/** A valid CZI file of two subblocks (rectangles of stored pixels), and functions and offsets to damage it. */
import {
  buildCzi,
  type CziPlaces,
  type CziPlan,
  cziCompressions,
  cziPixelTypes,
  encodeCziPixels,
  type SubblockPlan,
} from './build-czi.ts';
import { paintTissue } from './paint-tissue.ts';

const picture = paintTissue(32, 24);
// The pixels of `picture` in each encoding.
export const uncompressedData = await encodeCziPixels(picture, 'bgr24', 'none');
export const zstd0Data = await encodeCziPixels(picture, 'bgr24', 'zstd0');
export const zstd1Data = await encodeCziPixels(picture, 'bgr24', 'zstd1');
export const jpegData = await encodeCziPixels(picture, 'bgr24', 'jpeg');
export const greyJpegData = await encodeCziPixels(picture, 'gray8', 'jpeg');

/** An uncompressed subblock. */
export const plainSubblock: SubblockPlan = {
  x: 0,
  y: 0,
  width: 32,
  height: 24,
  dimensions: { C: 0, S: 0, M: 0 }, // channel, scene, mosaic index
  pixelType: cziPixelTypes.bgr24,
  compression: cziCompressions.none,
  data: uncompressedData,
};
/** A subblock to the right of the first one. */
const secondSubblock: SubblockPlan = { ...plainSubblock, x: 32, dimensions: { C: 0, S: 0, M: 1 } };
const xml =
  '<ImageDocument><Metadata><Scaling><Items><Distance Id="X"><Value>4E-07</Value></Distance></Items></Scaling></Metadata></ImageDocument>';
const attachments = [{ name: 'Thumbnail', fileType: 'JPG', data: jpegData }];
export const completePlan: CziPlan = { subblocks: [plainSubblock, secondSubblock], xml, attachments };

/** Damages a built file in place. @param places positions of its parts */
export type Damage = (file: Buffer, places: CziPlaces) => void;

/** Builds a file and damages it. */
export function buildDamaged(damage: Damage, plan: CziPlan = completePlan): Buffer {
  const { bytes, places } = buildCzi(plan);
  damage(bytes, places);
  return bytes;
}

/** Offset of a segment's body from the segment's position; the header is before it. */
export const BODY_OFFSET = 32;
/** Offset from the segment's position: of the first entry in an attachment directory, or of the data in an attachment. */
export const AFTER_ATTACHMENT_HEADER = BODY_OFFSET + 256;
/** Offset of a segment's used size, in its header. */
export const USED_SIZE_OFFSET = 24;
/** Positions in the file of the fields of the file segment, the first segment; `part` is the file part. */
export const fileField = {
  version: BODY_OFFSET,
  part: BODY_OFFSET + 48,
  directory: BODY_OFFSET + 52,
  metadata: BODY_OFFSET + 60,
  attachments: BODY_OFFSET + 72,
};
/** Offsets of the fields of a directory entry; `position` is that of the subblock in the file, `part` the file part. */
export const entryField = {
  pixelType: 2,
  position: 6,
  part: 14,
  compression: 18,
  dimensionCount: 28,
  dimensions: 32,
};
/** Bytes that describe one dimension in a directory entry, and the offsets of the fields among them. */
export const dimensionField = { bytes: 20, start: 4, size: 8, storedSize: 16 };
// The following functions convert an offset to a position in the file. The offset counts from the start of directory
// entry `i`, of a dimension in that entry (0 is X, 1 is Y), or of the segment of the first subblock.
export const positionInEntry = (places: CziPlaces, i: number, offset: number) =>
  (places.entries[i] ?? 0) + offset;
export const positionInDimension = (places: CziPlaces, i: number, dimension: number, offset: number) =>
  positionInEntry(places, i, entryField.dimensions + dimension * dimensionField.bytes + offset);
export const positionInSubblock = (places: CziPlaces, offset: number) => (places.subblocks[0] ?? 0) + offset;
