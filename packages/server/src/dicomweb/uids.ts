/**
 * UIDs of slides: `2.25.` and the decimal value of a UUID (PS3.5 annex B.2). That of the study is the UUID of the image, so
 * that an address leads to its image; the others are derived from it. All are stable.
 */
import { createHash } from 'node:crypto';

/** What a UID names; a number is the index of a level. */
type UidRole = 'study' | 'series' | 'frame-of-reference' | 'pyramid' | 'specimen' | 'dimensions' | number;

/** UIDs of recent calls: each frame needs several, and the hash of each costs as much as reading the tile. */
const recentUids = new Map<string, string>();
const maxRecent = 10_000;

export function uidOf(imageId: string, role: UidRole): string {
  const key = `${imageId} ${role}`;
  const known = recentUids.get(key);
  if (known !== undefined) return known;
  const hex = role === 'study' ? imageId.replaceAll('-', '') : derivedHex(key);
  const uid = `2.25.${BigInt(`0x${hex}`)}`;
  if (recentUids.size >= maxRecent) recentUids.clear();
  recentUids.set(key, uid);
  return uid;
}

/** Images of recent studies: the conversion of the number costs as much as half of a frame. */
const recentImages = new Map<string, string>();

/** Returns the image of a study; null for a UID of another form. */
export function imageIdOf(studyUid: string): string | null {
  const known = recentImages.get(studyUid);
  if (known !== undefined) return known;
  const imageId = convertedImageId(studyUid);
  if (imageId === null) return null;
  if (recentImages.size >= maxRecent) recentImages.clear();
  recentImages.set(studyUid, imageId);
  return imageId;
}

function convertedImageId(studyUid: string): string | null {
  const decimal = /^2\.25\.(0|[1-9]\d{0,38})$/.exec(studyUid)?.[1];
  const hex = decimal === undefined ? '' : BigInt(decimal).toString(16).padStart(32, '0');
  if (hex.length !== 32) return null;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** A UUID of version 8 (RFC 9562 section 5.8) from a hash. */
function derivedHex(key: string): string {
  const bytes = createHash('sha256').update(key).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex');
}
