import type { ByteSource } from '../source/byte-source.ts';
import type { SlideFiles } from '../source/slide-files.ts';

/** What was asked of files: the measure of a reader that must not go astray. */
export interface ReadCount {
  reads: number;
  bytes: number;
  /** Sources that are open. */
  open: number;
}

/** The same files; every read is counted, and none may leave the file. */
export function countedFiles(files: SlideFiles): { readonly files: SlideFiles; readonly count: ReadCount } {
  const count: ReadCount = { reads: 0, bytes: 0, open: 0 };
  const counted = (source: ByteSource): ByteSource => {
    let isOpen = true;
    count.open++;
    const add = (offset: number, length: number) => {
      if (!isOpen) throw new Error('A source was read after it was closed');
      if (!(offset >= 0 && length >= 0 && offset + length <= source.size)) return;
      count.reads++;
      count.bytes += length;
    };
    return {
      ...source,
      async read(offset, length, signal) {
        add(offset, length);
        return source.read(offset, length, signal);
      },
      async readInto(target, at, offset, length, signal) {
        add(offset, length);
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
  const keep = (source: ByteSource) => {
    opened.push(source);
    return source;
  };
  const leading = keep(counted(files.leading));
  return {
    count,
    files: {
      ...files,
      leading,
      open: async (name) => keep(counted(await files.open(name))),
      async close() {
        await Promise.all(opened.map((source) => source.close()));
        await files.close();
      },
    },
  };
}
