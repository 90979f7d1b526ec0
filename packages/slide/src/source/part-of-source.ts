import { type ByteSource, checkRange } from './byte-source.ts';

/**
 * Returns a source that reads a range of `source`, for example an embedded file. Closing it does not close `source`.
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
