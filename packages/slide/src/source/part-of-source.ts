import { type ByteSource, checkRange } from './byte-source.ts';

/**
 * Returns a source that reads a range of another one, for example a file that is embedded in it. Closing it has no effect.
 *
 * @param start start of the range in `source`
 */
export function partOfSource(source: ByteSource, start: number, length: number): ByteSource {
  return {
    size: length,
    fingerprint: source.fingerprint,
    async read(offset, count, signal) {
      checkRange(offset, count, length);
      return source.read(start + offset, count, signal);
    },
    async readInto(target, targetStart, offset, count, signal) {
      checkRange(offset, count, length);
      await source.readInto(target, targetStart, start + offset, count, signal);
    },
    close: async () => {},
  };
}
