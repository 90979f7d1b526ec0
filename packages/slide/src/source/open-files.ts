/**
 * Keeps Lamina's own cache files open between reads, because opening a file costs more than reading a tile.
 */
import type { ByteSource } from './byte-source.ts';
import { openFileSource } from './file-source.ts';

export interface OpenFiles {
  /**
   * Opens a file or returns the open one. The caller must read at once: the file may be closed as soon as
   * others are taken, and reads then fail.
   *
   * @param atLeastBytes bytes that the file has now
   * @throws SlideError FILE_MISSING
   */
  take(file: string, atLeastBytes: number): Promise<ByteSource>;
  /** Closes the file if it is open. */
  drop(file: string): Promise<void>;
  close(): Promise<void>;
}

/** @param most number of open files, above which the least recently used one is closed */
export function cacheOpenFiles(most: number): OpenFiles {
  const sources = new Map<string, Promise<ByteSource>>();

  async function close(file: string, source: Promise<ByteSource>): Promise<void> {
    if (sources.get(file) === source) sources.delete(file);
    try {
      await (await source).close();
    } catch {
      // The file was never open, or closing a file that was only read failed; neither matters.
    }
  }

  return {
    async take(file, atLeastBytes) {
      for (let cached = sources.get(file); cached !== undefined; cached = sources.get(file)) {
        const source = await cached;
        if (sources.get(file) !== cached) continue; // closed meanwhile
        if (source.size < atLeastBytes) {
          void close(file, cached); // the file has grown since it was opened
          break;
        }
        if (sources.size > most / 2) {
          sources.delete(file); // a Map iterates in insertion order, which here is the order of use; it matters only near the limit
          sources.set(file, cached);
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
      const cached = sources.get(file);
      if (cached !== undefined) await close(file, cached);
    },

    async close() {
      await Promise.all([...sources].map(([file, source]) => close(file, source)));
    },
  };
}
