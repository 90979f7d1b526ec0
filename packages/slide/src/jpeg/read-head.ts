import { SlideError } from '../slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { corrupt, marker } from './header.ts';

/** Tables are some hundred bytes; what cameras and editors put before them may be megabytes. */
const FIRST_BYTES = 4096;
const MOST_BYTES = 16 * 2 ** 20;

/**
 * Everything of a JPEG that stands before its first scan's data, for `readJpegHeader`, without the picture itself.
 *
 * @param byteCount of the whole JPEG, as far as it is known
 * @throws SlideError FILE_CORRUPT when this is no JPEG or has no scan, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export async function readJpegHead(
  source: ByteSource,
  offset: number,
  byteCount: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  for (let length = Math.min(FIRST_BYTES, byteCount); ; length = Math.min(8 * length, byteCount)) {
    if (length > MOST_BYTES) {
      throw new SlideError('LIMIT_EXCEEDED', `A JPEG has more than ${MOST_BYTES} bytes before its picture`);
    }
    const bytes = await source.read(offset, length, signal);
    const end = endOfHead(bytes);
    if (end !== null) return bytes.subarray(0, end);
    if (length === byteCount) throw corrupt('it ends before its scan');
  }
}

/** @returns the place after the header of the first scan; null when it lies beyond these bytes */
function endOfHead(bytes: Uint8Array): number | null {
  if (bytes[0] !== 0xff || bytes[1] !== marker.SOI) throw corrupt('it does not begin with SOI');
  for (let at = 2; at + 4 <= bytes.length; ) {
    if (bytes[at] !== 0xff) throw corrupt(`no marker at byte ${at}`);
    const found = bytes[at + 1];
    if (found === 0xff) {
      at++;
      continue;
    }
    if (found === marker.EOI) throw corrupt('it has no scan');
    const length = ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
    if (length < 2) throw corrupt(`the segment at byte ${at} is cut`);
    at += 2 + length;
    if (found === marker.SOS) return at <= bytes.length ? at : null;
  }
  return null;
}
