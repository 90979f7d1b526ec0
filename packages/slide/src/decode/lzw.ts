import { SlideError } from '../model/slide.ts';

const CLEAR = 256;
const END = 257;
const FIRST_FREE = 258;
const MIN_WIDTH = 9;
const MAX_WIDTH = 12;
const MAX_CODES = 2 ** MAX_WIDTH;

/**
 * Unpacks the LZW of TIFF into `target`; stops when it is full or the stream ends.
 *
 * Every string of the table was written before and is followed by one more byte there. It is copied from the
 * target itself, so the table contains only positions and lengths.
 *
 * Source: TIFF 6.0, section 13. Writers before 1991 stored the bits of a code from the right and increased
 * the code width one code later; libtiff (tif_lzw.c, "old-style") detects them by the first code, Clear.
 *
 * @returns the number of bytes written
 * @throws SlideError FILE_CORRUPT for an undefined code
 */
export function unpackLzw(packed: Uint8Array, target: Uint8Array): number {
  const isOldStyle = packed[0] === 0 && ((packed[1] ?? 0) & 1) === 1;
  /** How many codes before the end of a width the next width starts. */
  const early = isOldStyle ? 0 : 1;
  const positions = new Uint32Array(MAX_CODES);
  const lengths = new Uint32Array(MAX_CODES);
  let free = FIRST_FREE;
  let width = MIN_WIDTH;
  let bits = 0;
  let bitCount = 0;
  let from = 0;
  /** Position of the previous code's string in the target; its length is 0 after Clear. */
  let lastPosition = 0;
  let lastLength = 0;
  let to = 0;

  while (to < target.length) {
    while (bitCount < width && from < packed.length) {
      const byte = packed[from++] as number;
      bits = isOldStyle ? bits | (byte << bitCount) : ((bits << 8) | byte) & 0xff_ffff;
      bitCount += 8;
    }
    if (bitCount < width) break;
    bitCount -= width;
    const code = (isOldStyle ? bits : bits >> bitCount) & ((1 << width) - 1);
    if (isOldStyle) bits >>= width;

    if (code === END) break;
    if (code === CLEAR) {
      free = FIRST_FREE;
      width = MIN_WIDTH;
      lastLength = 0;
      continue;
    }
    if (lastLength > 0 && free < MAX_CODES) {
      positions[free] = lastPosition;
      lengths[free] = lastLength + 1;
      free++;
    }
    if (code >= free) throw new SlideError('FILE_CORRUPT', `An LZW stream has the code ${code} of ${free}`);
    lastPosition = to;
    if (code < CLEAR) {
      target[to++] = code;
      lastLength = 1;
    } else {
      lastLength = lengths[code] as number;
      const end = Math.min(to + lastLength, target.length);
      // Byte by byte, because the string may overlap the bytes being written.
      for (let i = positions[code] as number; to < end; i++) target[to++] = target[i] as number;
    }
    if (free >= (1 << width) - early && width < MAX_WIDTH) width++;
  }
  return to;
}
