import { SlideError } from '../model/slide.ts';

/** Code that empties the table. Codes below it stand for one byte. */
const CLEAR = 256;
/** Code that ends the stream. */
const END = 257;
/** First code of the table. This code and all larger ones stand for strings that occurred before. */
const FIRST_FREE = 258;
/** Bits of a code: the number grows from 9 to 12 as the table fills. */
const MIN_WIDTH = 9;
const MAX_WIDTH = 12;
const MAX_CODES = 2 ** MAX_WIDTH;

/**
 * Unpacks the LZW variant of TIFF into `target`; stops when the target is full or the stream ends.
 *
 * Each code adds a string to the table: the previous code's string and the byte after it in the target. Because
 * the target already contains every such string, the table stores only positions and lengths.
 *
 * Source: TIFF 6.0, section 13. Writers before 1991 stored a code from the lowest bit of a byte upwards and increased
 * the code width one code later. Like libtiff (tif_lzw.c, "old-style"), this function detects these streams by
 * their first code, Clear (256): in that bit order, the stream begins with a zero byte and a byte whose lowest bit is 1.
 *
 * @returns the number of bytes written
 * @throws SlideError FILE_CORRUPT for an undefined code
 */
export function unpackLzw(packed: Uint8Array, target: Uint8Array): number {
  const isOldStyle = packed[0] === 0 && ((packed[1] ?? 0) & 1) === 1;
  /** The code width increases when only this many codes of the current width are still unused. */
  const widthChangeMargin = isOldStyle ? 0 : 1;
  const positions = new Uint32Array(MAX_CODES);
  const lengths = new Uint32Array(MAX_CODES);
  let nextCode = FIRST_FREE;
  let width = MIN_WIDTH;
  let bitBuffer = 0;
  let bitCount = 0;
  let readPosition = 0;
  /** Position and length of the previous code's string in the target; the length is 0 after Clear. */
  let lastPosition = 0;
  let lastLength = 0;
  let writePosition = 0;

  while (writePosition < target.length) {
    while (bitCount < width && readPosition < packed.length) {
      const byte = packed[readPosition++] as number;
      // The mask drops bits that were already read; the buffer holds at most 11 unread bits and the new byte.
      bitBuffer = isOldStyle ? bitBuffer | (byte << bitCount) : ((bitBuffer << 8) | byte) & 0xff_ffff;
      bitCount += 8;
    }
    if (bitCount < width) break;
    bitCount -= width;
    const code = (isOldStyle ? bitBuffer : bitBuffer >> bitCount) & ((1 << width) - 1);
    if (isOldStyle) bitBuffer >>= width;

    if (code === END) break;
    if (code === CLEAR) {
      nextCode = FIRST_FREE;
      width = MIN_WIDTH;
      lastLength = 0;
      continue;
    }
    if (lastLength > 0 && nextCode < MAX_CODES) {
      positions[nextCode] = lastPosition;
      lengths[nextCode] = lastLength + 1;
      nextCode++;
    }
    if (code >= nextCode)
      throw new SlideError(
        'FILE_CORRUPT',
        `An LZW stream contains the undefined code ${code}; ${nextCode} codes are defined`,
      );
    lastPosition = writePosition;
    if (code < CLEAR) {
      target[writePosition++] = code;
      lastLength = 1;
    } else {
      lastLength = lengths[code] as number;
      const end = Math.min(writePosition + lastLength, target.length);
      // Byte by byte, because the string may overlap the bytes being written.
      for (let i = positions[code] as number; writePosition < end; i++)
        target[writePosition++] = target[i] as number;
    }
    if (nextCode >= (1 << width) - widthChangeMargin && width < MAX_WIDTH) width++;
  }
  return writePosition;
}
