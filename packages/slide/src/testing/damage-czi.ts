/** A valid CZI file, and functions and offsets to damage it. */
import { buildCzi, type CziPlaces, type CziPlan, encodeCziPixels, type SubblockPlan } from './build-czi.ts';
import { paintTissue } from './paint-tissue.ts';

const picture = paintTissue(32, 24);
export const data = await encodeCziPixels(picture, 'bgr24', 'none');
export const zstd0 = await encodeCziPixels(picture, 'bgr24', 'zstd0');
export const zstd1 = await encodeCziPixels(picture, 'bgr24', 'zstd1');
export const jpeg = await encodeCziPixels(picture, 'bgr24', 'jpeg');
export const greyJpeg = await encodeCziPixels(picture, 'gray8', 'jpeg');

export const plain: SubblockPlan = {
  x: 0,
  y: 0,
  width: 32,
  height: 24,
  dimensions: { C: 0, S: 0, M: 0 },
  pixelType: 3,
  compression: 0,
  data,
};
const second: SubblockPlan = { ...plain, x: 32, dimensions: { C: 0, S: 0, M: 1 } };
const xml =
  '<ImageDocument><Metadata><Scaling><Items><Distance Id="X"><Value>4E-07</Value></Distance></Items></Scaling></Metadata></ImageDocument>';
const attachments = [{ name: 'Thumbnail', fileType: 'JPG', data: jpeg }];
export const whole: CziPlan = { subblocks: [plain, second], xml, attachments };

/** Damages a built file in place. */
export type Damage = (file: Buffer, places: CziPlaces) => void;

/** Builds a file and damages it. */
export function damaged(damage: Damage, plan: CziPlan = whole): Buffer {
  const { bytes, places } = buildCzi(plan);
  damage(bytes, places);
  return bytes;
}

/** Offset of the body of a segment, after its header. */
export const BODY = 32;
/** Offsets in a directory entry. */
export const entry = {
  pixelType: 2,
  position: 6,
  part: 14,
  compression: 18,
  dimensionCount: 28,
  dimensions: 32,
};
/** Offsets in a dimension of an entry. */
export const dimension = { bytes: 20, start: 4, size: 8, storedSize: 16 };
// The following functions return positions in the file: in entry `i`, in one of its dimensions, in the first subblock.
export const inEntry = (places: CziPlaces, i: number, at: number) => (places.entries[i] ?? 0) + at;
export const inDimension = (places: CziPlaces, i: number, number: number, at: number) =>
  inEntry(places, i, entry.dimensions + number * dimension.bytes + at);
export const inSubblock = (places: CziPlaces, at: number) => (places.subblocks[0] ?? 0) + at;
