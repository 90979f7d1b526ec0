import { createHash } from 'node:crypto';
import { type ByteSource, checkRange } from './byte-source.ts';

/** Returns a source that reads from bytes in memory. */
export function memorySource(bytes: Uint8Array): ByteSource {
  const readInto: ByteSource['readInto'] = async (target, targetStart, offset, length, signal) => {
    signal?.throwIfAborted();
    checkRange(offset, length, bytes.length);
    target.set(bytes.subarray(offset, offset + length), targetStart);
  };
  return {
    size: bytes.length,
    fingerprint: createHash('sha256').update(bytes).digest('base64url').slice(0, 22), // 132 bits
    async read(offset, length, signal) {
      checkRange(offset, length, bytes.length);
      const target = new Uint8Array(length);
      await readInto(target, 0, offset, length, signal);
      return target;
    },
    readInto,
    close: async () => {},
  };
}
