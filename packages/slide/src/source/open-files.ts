/** Files of ours that stay open while they are read again and again: to open one costs more than to read a tile. */
import type { ByteSource } from './byte-source.ts';
import { openFileSource } from './file-source.ts';

export interface OpenFiles {
  /**
   * To be read from at once: it may be closed as soon as others have been taken, and reads nothing any more then.
   *
   * @param atLeastBytes are there now
   * @throws SlideError FILE_MISSING
   */
  take(file: string, atLeastBytes: number): Promise<ByteSource>;
  /** Closes it, if it is open. */
  drop(file: string): Promise<void>;
  close(): Promise<void>;
}

/** Each opened once; of more than so many the one longest out of use is closed. */
export function keepFilesOpen(most: number): OpenFiles {
  const sources = new Map<string, Promise<ByteSource>>();

  async function close(file: string, source: Promise<ByteSource>): Promise<void> {
    if (sources.get(file) === source) sources.delete(file);
    try {
      await (await source).close();
    } catch {
      // It never was open; or the disk has a complaint about a file that is only read.
    }
  }

  return {
    async take(file, atLeastBytes) {
      for (let known = sources.get(file); known !== undefined; known = sources.get(file)) {
        const source = await known;
        if (sources.get(file) !== known) continue; // closed meanwhile
        if (source.size < atLeastBytes) {
          void close(file, known); // it has grown since
          break;
        }
        if (sources.size > most / 2) {
          sources.delete(file); // the order of a Map is the order of use, which matters where something has to go soon
          sources.set(file, known);
        }
        return source;
      }
      const opening = openFileSource(file, { mayGrow: true });
      sources.set(file, opening);
      opening.catch(() => close(file, opening));
      for (const [oldest, source] of sources) {
        if (sources.size <= most) break;
        void close(oldest, source);
      }
      return opening;
    },

    async drop(file) {
      const known = sources.get(file);
      if (known !== undefined) await close(file, known);
    },

    async close() {
      await Promise.all([...sources].map(([file, source]) => close(file, source)));
    },
  };
}
