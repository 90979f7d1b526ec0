import { type ByteSource, checkRange } from '../source/byte-source.ts';

/** Bytes at a position of a file. */
export interface Piece {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** A file of any size that consists of these pieces and zeros. */
export function sparseSource(pieces: readonly Piece[], size: number): ByteSource {
  const readInto: ByteSource['readInto'] = async (target, at, offset, length, signal) => {
    signal?.throwIfAborted();
    checkRange(offset, length, size);
    target.fill(0, at, at + length);
    for (const piece of pieces) {
      const from = Math.max(offset, piece.at);
      const to = Math.min(offset + length, piece.at + piece.bytes.length);
      if (from < to) target.set(piece.bytes.subarray(from - piece.at, to - piece.at), at + from - offset);
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
