import zlib from 'node:zlib';
import { type Packing, SlideError } from '../model/slide.ts';
import { unpackLzw } from './lzw.ts';
import { unpackPackBits } from './pack-bits.ts';

/**
 * Unpacks a stream whose unpacked size is known. The output never exceeds `maxBytes`, whatever the stream declares.
 *
 * @param maxBytes more than `minBytes` for the last strip of an image, which some writers pad to full height
 * @returns between `minBytes` and `maxBytes` bytes
 * @throws SlideError FILE_CORRUPT when the stream is damaged or too short, and when a deflate or zstd stream is too long
 */
export function unpack(packed: Uint8Array, packing: Packing, minBytes: number, maxBytes: number): Uint8Array {
  const bytes = unpackUpTo(packed, packing, maxBytes);
  if (bytes.length < minBytes) {
    throw new SlideError('FILE_CORRUPT', `A tile unpacks to ${bytes.length} bytes, not ${minBytes}`);
  }
  return bytes;
}

/** Unpacks at most `maxBytes` bytes; a deflate or zstd stream that is longer is an error. @throws SlideError FILE_CORRUPT */
function unpackUpTo(packed: Uint8Array, packing: Packing, maxBytes: number): Uint8Array {
  switch (packing) {
    case 'none':
      return packed.subarray(0, maxBytes);
    case 'lzw':
      return unpackIntoBuffer(packed, unpackLzw, maxBytes);
    case 'packbits':
      return unpackIntoBuffer(packed, unpackPackBits, maxBytes);
    case 'deflate':
      return decompressOrReject(() => zlib.inflateSync(packed, outputLimits(maxBytes)));
    case 'zstd':
      return decompressOrReject(() => zlib.zstdDecompressSync(packed, outputLimits(maxBytes)));
  }
}

function unpackIntoBuffer(
  packed: Uint8Array,
  unpackInto: (packed: Uint8Array, target: Uint8Array) => number,
  maxBytes: number,
): Uint8Array {
  const target = new Uint8Array(maxBytes);
  return target.subarray(0, unpackInto(packed, target));
}

/** Options of zlib for a single output buffer. Its 64 extra bytes let zlib detect a stream that is too long. */
const outputLimits = (maxBytes: number) => ({ maxOutputLength: maxBytes, chunkSize: maxBytes + 64 });

/** Returns the result of a zlib function. @throws SlideError FILE_CORRUPT instead of the error of zlib */
function decompressOrReject(decompress: () => Uint8Array): Uint8Array {
  try {
    return decompress();
  } catch (cause) {
    throw new SlideError(
      'FILE_CORRUPT',
      'A tile cannot be decompressed: its data are damaged or longer than declared',
      { cause },
    );
  }
}
