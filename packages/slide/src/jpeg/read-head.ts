import { SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { corruptError, marker } from './header.ts';

/** Bytes of the first read. Tables have a few hundred bytes; metadata of cameras and image editors may have megabytes. */
const FIRST_BYTES = 4096;
/** Maximum bytes before the data of the first scan. */
const MAX_BYTES = 16 * 2 ** 20;

/**
 * Reads the head of a JPEG: all bytes before the data of its first scan, which `readJpegHeader` needs.
 *
 * @param offset position of the JPEG in the source
 * @param byteCount length of the whole JPEG, or an upper bound
 * @throws SlideError FILE_CORRUPT when the bytes are not a JPEG or have no scan; FILE_TRUNCATED; LIMIT_EXCEEDED when
 *   there are more than 16 MiB before the image
 */
export async function readJpegHead(
  source: ByteSource,
  offset: number,
  byteCount: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  // Each attempt reads the start of the JPEG again, eight times as much as the previous attempt.
  for (let length = Math.min(FIRST_BYTES, byteCount); ; length = Math.min(8 * length, byteCount)) {
    if (length > MAX_BYTES) {
      throw new SlideError('LIMIT_EXCEEDED', `A JPEG has more than ${MAX_BYTES} bytes before its image`);
    }
    const bytes = await source.read(offset, length, signal);
    const end = endOfHead(bytes);
    if (end !== null) return bytes.subarray(0, end);
    if (length === byteCount) throw corruptError('it ends before its scan');
  }
}

/** Returns the position after the header of the first scan; null when these bytes do not contain all of it. */
function endOfHead(bytes: Uint8Array): number | null {
  if (bytes[0] !== 0xff || bytes[1] !== marker.SOI) throw corruptError('it does not begin with SOI');
  for (let at = 2; at + 4 <= bytes.length; ) {
    if (bytes[at] !== 0xff) throw corruptError(`it has no marker at byte ${at}`);
    const code = bytes[at + 1];
    if (code === 0xff) {
      at++; // skips a fill byte, which may precede a marker
      continue;
    }
    if (code === marker.EOI) throw corruptError('it has no scan');
    const length = ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
    if (length < 2) throw corruptError(`the segment at byte ${at} is truncated`);
    at += 2 + length;
    if (code === marker.SOS) return at <= bytes.length ? at : null;
  }
  return null;
}
