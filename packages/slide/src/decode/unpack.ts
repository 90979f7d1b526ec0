import zlib from 'node:zlib';
import { type Packing, SlideError } from '../model/slide.ts';
import { unpackLzw } from './lzw.ts';
import { unpackBits } from './pack-bits.ts';

/**
 * Unpacks a stream of known size. The output never exceeds `most`, whatever the stream declares.
 *
 * @param expected required bytes
 * @param most maximum bytes; some writers pad the last strip, and bytes beyond are dropped
 * @returns between `expected` and `most` bytes
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

/** One output chunk for all bytes, with space to detect excess bytes. */
const bounds = (most: number) => ({ maxOutputLength: most, chunkSize: most + 64 });

function inflate(decompress: () => Uint8Array): Uint8Array {
  try {
    return decompress();
  } catch (cause) {
    throw new SlideError('FILE_CORRUPT', 'A tile cannot be unpacked', { cause });
  }
}
