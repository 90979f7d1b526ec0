/**
 * Derives DICOM UIDs from the ids of images. A UID is `2.25.` and the decimal value of a UUID (PS3.5 annex B.2). The UUID of a study is
 * the id of its image, so the UID can be converted back; the other UIDs are hashes of the id. The same id must always give the same UIDs.
 */
import { createHash } from 'node:crypto';

/** The entity that a UID identifies. A number stands for the instance of the level with this index. */
type UidRole = 'study' | 'series' | 'frame-of-reference' | 'pyramid' | 'specimen' | 'dimensions' | number;

/** Recent results of `uidOf`. They save time: each frame needs several UIDs, and hashing one takes as long as reading a tile. */
const recentUids = new Map<string, string>();
const maxCachedEntries = 10_000;

/** Returns the UID of the study of an image, or of another entity that belongs to this study. */
export function uidOf(imageId: string, role: UidRole): string {
  const key = `${imageId} ${role}`;
  const cachedUid = recentUids.get(key);
  if (cachedUid !== undefined) return cachedUid;
  const hex = role === 'study' ? imageId.replaceAll('-', '') : derivedHex(key);
  const uid = `2.25.${BigInt(`0x${hex}`)}`;
  if (recentUids.size >= maxCachedEntries) recentUids.clear();
  recentUids.set(key, uid);
  return uid;
}

/** Recent results of `imageIdOf`, by study UID. They save time, because a conversion takes half as long as sending a frame. */
const recentImageIds = new Map<string, string>();

/** Returns the image id that belongs to a study UID, whether or not there is such an image; null for a UID that `uidOf` cannot have returned. */
export function imageIdOf(studyUid: string): string | null {
  const cachedId = recentImageIds.get(studyUid);
  if (cachedId !== undefined) return cachedId;
  const imageId = convertToImageId(studyUid);
  if (imageId === null) return null;
  if (recentImageIds.size >= maxCachedEntries) recentImageIds.clear();
  recentImageIds.set(studyUid, imageId);
  return imageId;
}

function convertToImageId(studyUid: string): string | null {
  const decimal = /^2\.25\.(0|[1-9]\d{0,38})$/.exec(studyUid)?.[1];
  const hex = decimal === undefined ? '' : BigInt(decimal).toString(16).padStart(32, '0');
  if (hex.length !== 32) return null; // not of the form 2.25.n, or n has more than 128 bits
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Returns, in hexadecimal, a UUID of version 8 (RFC 9562 section 5.8) that is a hash of the key. */
function derivedHex(key: string): string {
  const bytes = createHash('sha256').update(key).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80; // version 8
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80; // variant of RFC 9562
  return bytes.toString('hex');
}
