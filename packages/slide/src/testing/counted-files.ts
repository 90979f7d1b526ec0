import type { ByteSource } from '../source/byte-source.ts';
import type { SlideFiles } from '../source/slide-files.ts';

/** Counts of the reads of a slide's files, by which a test checks how much work a slide reader does. */
export interface ReadCount {
  /** Number of reads. */
  reads: number;
  /** Bytes requested by all reads. */
  bytes: number;
  /** Number of files that are open now. */
  open: number;
}

/** Wraps files so that every read is counted, and reads after `close` throw. */
export function countedFiles(files: SlideFiles): { readonly files: SlideFiles; readonly count: ReadCount } {
  const count: ReadCount = { reads: 0, bytes: 0, open: 0 };
  const countedSource = (source: ByteSource): ByteSource => {
    let isOpen = true;
    count.open++;
    const countRead = (offset: number, length: number) => {
      if (!isOpen) throw new Error('A source was read after it was closed');
      // Reads outside the file, including NaN, do not count, because the source rejects them.
      if (!(offset >= 0 && length >= 0 && offset + length <= source.size)) return;
      count.reads++;
      count.bytes += length;
    };
    return {
      ...source,
      async read(offset, length, signal) {
        countRead(offset, length);
        return source.read(offset, length, signal);
      },
      async readInto(target, at, offset, length, signal) {
        countRead(offset, length);
        return source.readInto(target, at, offset, length, signal);
      },
      async close() {
        if (isOpen) count.open--;
        isOpen = false;
        await source.close();
      },
    };
  };
  const opened: ByteSource[] = [];
  const trackOpened = (source: ByteSource) => {
    opened.push(source);
    return source;
  };
  const main = trackOpened(countedSource(files.main));
  return {
    count,
    files: {
      ...files,
      main,
      open: async (name) => trackOpened(countedSource(await files.open(name))),
      async close() {
        await Promise.all(opened.map((source) => source.close()));
        await files.close();
      },
    },
  };
}
