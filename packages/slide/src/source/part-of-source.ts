import { type ByteSource, checkRange } from './byte-source.ts';

/**
 * A range of a source as a source of its own, for example a file inside another. Closing it has no effect.
 */
export function partOfSource(source: ByteSource, at: number, length: number): ByteSource {
  return {
    size: length,
    fingerprint: source.fingerprint,
    async read(offset, count, signal) {
      checkRange(offset, count, length);
      return source.read(at + offset, count, signal);
    },
    async readInto(target, targetAt, offset, count, signal) {
      checkRange(offset, count, length);
      await source.readInto(target, targetAt, at + offset, count, signal);
    },
    close: async () => {},
  };
}
