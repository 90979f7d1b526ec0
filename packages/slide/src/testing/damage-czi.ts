/** A valid CZI file of two subblocks, and functions and offsets to damage it. */
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
// The picture in all encodings; `data` is uncompressed.
export const data = await encodeCziPixels(picture, 'bgr24', 'none');
export const zstd0 = await encodeCziPixels(picture, 'bgr24', 'zstd0');
export const zstd1 = await encodeCziPixels(picture, 'bgr24', 'zstd1');
export const jpeg = await encodeCziPixels(picture, 'bgr24', 'jpeg');
export const greyJpeg = await encodeCziPixels(picture, 'gray8', 'jpeg');

/** An uncompressed subblock. */
export const plain: SubblockPlan = {
  x: 0,
  y: 0,
  width: 32,
  height: 24,
  dimensions: { C: 0, S: 0, M: 0 },
  pixelType: cziPixelTypes.bgr24,
  compression: cziCompressions.none,
  data,
};
/** A subblock to the right of the first one. */
const second: SubblockPlan = { ...plain, x: 32, dimensions: { C: 0, S: 0, M: 1 } };
const xml =
  '<ImageDocument><Metadata><Scaling><Items><Distance Id="X"><Value>4E-07</Value></Distance></Items></Scaling></Metadata></ImageDocument>';
const attachments = [{ name: 'Thumbnail', fileType: 'JPG', data: jpeg }];
export const whole: CziPlan = { subblocks: [plain, second], xml, attachments };

/** Damages a built file in place. @param places positions of its parts */
export type Damage = (file: Buffer, places: CziPlaces) => void;

/** Builds a file and damages it. */
export function damaged(damage: Damage, plan: CziPlan = whole): Buffer {
  const { bytes, places } = buildCzi(plan);
  damage(bytes, places);
  return bytes;
}

/** Offset of a segment's body from the segment's position; the header is before it. */
export const BODY = 32;
/** Offset of the first entry in an attachment directory, and of the data in an attachment. */
export const AFTER_ATTACHMENT_HEADER = BODY + 256;
/** Offset of a segment's used size, in its header. */
export const USED_BYTES = 24;
/** Positions in the file of the fields of the file segment, the first segment; `part` is the file part. */
export const inFile = {
  version: BODY,
  part: BODY + 48,
  directory: BODY + 52,
  metadata: BODY + 60,
  attachments: BODY + 72,
};
/** Offsets of the fields of a directory entry; `position` is that of the subblock in the file, `part` the file part. */
export const entry = {
  pixelType: 2,
  position: 6,
  part: 14,
  compression: 18,
  dimensionCount: 28,
  dimensions: 32,
};
/** Length of a dimension of an entry, and the offsets of its fields. */
export const dimension = { bytes: 20, start: 4, size: 8, storedSize: 16 };
// The following functions return the position in the file of an offset in directory entry `i`, in a dimension of that
// entry (0 is X, 1 is Y), or in the segment of the first subblock.
export const inEntry = (places: CziPlaces, i: number, offset: number) => (places.entries[i] ?? 0) + offset;
export const inDimension = (places: CziPlaces, i: number, index: number, offset: number) =>
  inEntry(places, i, entry.dimensions + index * dimension.bytes + offset);
export const inSubblock = (places: CziPlaces, offset: number) => (places.subblocks[0] ?? 0) + offset;
