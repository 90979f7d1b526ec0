import { SlideError } from '../slide.ts';

const CLEAR = 256;
const END = 257;
const FIRST_FREE = 258;
const LEAST_WIDTH = 9;
const MOST_WIDTH = 12;
const MOST_CODES = 2 ** MOST_WIDTH;

/**
 * Unpack the LZW of TIFF into `target`, and stop when it is full or the stream ends.
 *
 * A string of the table is always one that was written before, with the byte that followed it there: it is copied
 * from the target itself, and the table holds places and lengths alone.
 *
 * Source: TIFF 6.0, section 13. Writers before 1991 put the bits of a code in from the right and made codes longer
 * one code later; libtiff (tif_lzw.c, "old-style") tells them by how their first code, Clear, looks.
 *
 * @returns how many bytes were written
 * @throws SlideError FILE_CORRUPT for a code that stands for nothing
 */
export function unpackLzw(packed: Uint8Array, target: Uint8Array): number {
  const isOldStyle = packed[0] === 0 && ((packed[1] ?? 0) & 1) === 1;
  /** How many codes before its end a width is given up. */
  const early = isOldStyle ? 0 : 1;
  const places = new Uint32Array(MOST_CODES);
  const lengths = new Uint32Array(MOST_CODES);
  let free = FIRST_FREE;
  let width = LEAST_WIDTH;
  let bits = 0;
  let bitCount = 0;
  let from = 0;
  /** Where the string of the code before was written; its length is 0 after Clear. */
  let lastPlace = 0;
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
      width = LEAST_WIDTH;
      lastLength = 0;
      continue;
    }
    if (lastLength > 0 && free < MOST_CODES) {
      places[free] = lastPlace;
      lengths[free] = lastLength + 1;
      free++;
    }
    if (code >= free) throw new SlideError('FILE_CORRUPT', `An LZW stream has the code ${code} of ${free}`);
    lastPlace = to;
    if (code < CLEAR) {
      target[to++] = code;
      lastLength = 1;
    } else {
      lastLength = lengths[code] as number;
      const end = Math.min(to + lastLength, target.length);
      // Byte by byte, for the string may reach into what is being written.
      for (let i = places[code] as number; to < end; i++) target[to++] = target[i] as number;
    }
    if (free >= (1 << width) - early && width < MOST_WIDTH) width++;
  }
  return to;
}
