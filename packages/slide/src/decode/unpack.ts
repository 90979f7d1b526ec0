import zlib from 'node:zlib';
import { type Packing, SlideError } from '../slide.ts';
import { unpackLzw } from './lzw.ts';
import { unpackBits } from './pack-bits.ts';

/**
 * Unpack a stream whose size is known: whatever it claims, never more than that comes of it.
 *
 * @param expected how many bytes there must be
 * @param most how many there may be, for some writers fill the last strip up; those beyond are dropped
 * @returns `expected` bytes or more, at most `most`
 * @throws SlideError FILE_CORRUPT when the stream is damaged, too short or too long
 */
export function unpack(packed: Uint8Array, packing: Packing, expected: number, most: number): Uint8Array {
  const bytes = unpackUpTo(packed, packing, most);
  if (bytes.length < expected) {
    throw new SlideError('FILE_CORRUPT', `A tile unpacks to ${bytes.length} bytes, not ${expected}`);
  }
  return bytes;
}

function unpackUpTo(packed: Uint8Array, packing: Packing, most: number): Uint8Array {
  switch (packing) {
    case 'none':
      return packed.subarray(0, most);
    case 'lzw':
      return fill(packed, unpackLzw, most);
    case 'packbits':
      return fill(packed, unpackBits, most);
    case 'deflate':
      return inflate(() => zlib.inflateSync(packed, bounds(most)));
    case 'zstd':
      return inflate(() => zlib.zstdDecompressSync(packed, bounds(most)));
  }
}

function fill(
  packed: Uint8Array,
  unpackInto: (packed: Uint8Array, target: Uint8Array) => number,
  most: number,
): Uint8Array {
  const target = new Uint8Array(most);
  return target.subarray(0, unpackInto(packed, target));
}

/** One piece that holds it all, with room to see that nothing follows. */
const bounds = (most: number) => ({ maxOutputLength: most, chunkSize: most + 64 });

function inflate(decompress: () => Uint8Array): Uint8Array {
  try {
    return decompress();
  } catch (cause) {
    throw new SlideError('FILE_CORRUPT', 'A tile cannot be unpacked', { cause });
  }
}
