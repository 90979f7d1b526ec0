import { type ByteSource, checkRange } from '../source/byte-source.ts';

/** Bytes at a position of a file. */
export interface Piece {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** Returns a file of any size that has these pieces, and zeros at all other positions. */
export function sparseSource(pieces: readonly Piece[], size: number): ByteSource {
  const readInto: ByteSource['readInto'] = async (target, targetStart, offset, length, signal) => {
    signal?.throwIfAborted();
    checkRange(offset, length, size);
    target.fill(0, targetStart, targetStart + length);
    for (const piece of pieces) {
      const start = Math.max(offset, piece.at);
      const end = Math.min(offset + length, piece.at + piece.bytes.length);
      if (start >= end) continue;
      target.set(piece.bytes.subarray(start - piece.at, end - piece.at), targetStart + start - offset);
    }
  };
  return {
    size,
    fingerprint: 'sparse',
    async read(offset, length, signal) {
      checkRange(offset, length, size);
      const target = new Uint8Array(length);
      await readInto(target, 0, offset, length, signal);
      return target;
    },
    readInto,
    close: async () => {},
  };
}
