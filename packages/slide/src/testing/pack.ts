import zlib from 'node:zlib';
import type { Packing } from '../model/slide.ts';

/**
 * Packs bytes as TIFF writers do. `old-lzw` is the LZW of writers before 1991. They fill bytes from the lowest bit, and
 * their codes become one bit longer one code later than in TIFF 6.0.
 */
export function pack(bytes: Uint8Array, packing: Packing | 'old-lzw'): Uint8Array {
  switch (packing) {
    case 'none':
      return bytes;
    case 'lzw':
      return packLzw(bytes, { isOldStyle: false });
    case 'old-lzw':
      return packLzw(bytes, { isOldStyle: true });
    case 'packbits':
      return packBits(bytes);
    case 'deflate':
      return zlib.deflateSync(bytes);
    case 'zstd':
      return zlib.zstdCompressSync(bytes);
  }
}

// Codes of LZW: CLEAR empties the table, END ends the stream, the others are strings in the table.
const CLEAR = 256;
const END = 257;
const FIRST_FREE = 258;
const LAST_FREE = 4094; // after it the table is cleared, because codes have at most 12 bits

/** Packs bytes with LZW. Source: TIFF 6.0, section 13; the old style as libtiff reads it (tif_lzw.c). */
function packLzw(bytes: Uint8Array, { isOldStyle }: { readonly isOldStyle: boolean }): Uint8Array {
  const codes: { code: number; width: number }[] = [{ code: CLEAR, width: 9 }];
  /** Codes of strings. The key of a string is: code of the string without its last byte × 256 + last byte. */
  let table = new Map<number, number>();
  let nextCode = FIRST_FREE;
  let width = 9;
  let stringCode = bytes[0] ?? END;
  for (let i = 1; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    const longerCode = table.get(stringCode * 256 + byte);
    if (longerCode !== undefined) {
      stringCode = longerCode;
      continue;
    }
    codes.push({ code: stringCode, width });
    table.set(stringCode * 256 + byte, nextCode);
    if (nextCode === 2 ** width - (isOldStyle ? 0 : 1)) width++;
    if (nextCode === LAST_FREE) {
      codes.push({ code: CLEAR, width });
      table = new Map();
      nextCode = FIRST_FREE;
      width = 9;
    } else nextCode++;
    stringCode = byte;
  }
  codes.push({ code: stringCode, width });
  // A decoder adds a table entry for the last string, too, so END may already need one more bit.
  if (nextCode === 2 ** width - (isOldStyle ? 0 : 1)) width++;
  codes.push({ code: END, width });
  return isOldStyle ? joinFromLowestBit(codes) : joinFromHighestBit(codes);
}

/** Codes and the number of bits of each. */
type Codes = readonly { readonly code: number; readonly width: number }[];

/** Joins codes; each fills the free bits of a byte from the highest bit. */
function joinFromHighestBit(codes: Codes): Uint8Array {
  const packed: number[] = [];
  let bits = 0;
  let count = 0;
  for (const { code, width } of codes) {
    bits = ((bits & 0xff) << width) | code;
    for (count += width; count >= 8; count -= 8) packed.push((bits >> (count - 8)) & 0xff);
  }
  if (count > 0) packed.push((bits << (8 - count)) & 0xff);
  return Uint8Array.from(packed);
}

/** Joins codes; each fills the free bits of a byte from the lowest bit. */
function joinFromLowestBit(codes: Codes): Uint8Array {
  const packed: number[] = [];
  let bits = 0;
  let count = 0;
  for (const { code, width } of codes) {
    bits |= code << count;
    for (count += width; count >= 8; count -= 8) {
      packed.push(bits & 0xff);
      bits >>= 8;
    }
  }
  if (count > 0) packed.push(bits & 0xff);
  return Uint8Array.from(packed);
}

/** Packs bytes with PackBits. Source: TIFF 6.0, section 9. */
export function packBits(bytes: Uint8Array): Uint8Array {
  const packed: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    let run = 1;
    while (run < 128 && at + run < bytes.length && bytes[at + run] === bytes[at]) run++;
    if (run > 2) {
      packed.push(257 - run, bytes[at] as number); // "repeat the next byte `run` times"
      at += run;
      continue;
    }
    // Without a run: "copy the next bytes", up to 128 or up to the next run of three equal bytes.
    const start = at;
    while (at < bytes.length && at - start < 128) {
      if (at + 2 < bytes.length && bytes[at] === bytes[at + 1] && bytes[at] === bytes[at + 2]) break;
      at++;
    }
    packed.push(at - start - 1, ...bytes.subarray(start, at));
  }
  return Uint8Array.from(packed);
}
