/** Keeps Lamina's own cache files open between reads, because opening a file costs more than reading a tile. */
import type { ByteSource } from './byte-source.ts';
import { openFileSource } from './file-source.ts';

export interface OpenFiles {
  /**
   * Opens a file, or returns its source if it is already open. The caller must start its reads at once: opening other
   * files may close this source, and later reads then fail.
   *
   * @param minBytes minimum size the caller needs; a file that was shorter when it was opened is opened again
   * @throws SlideError FILE_MISSING
   */
  open(file: string, minBytes: number): Promise<ByteSource>;
  /** Closes the file if it is open. */
  drop(file: string): Promise<void>;
  close(): Promise<void>;
}

/** Creates an empty cache. @param maxFiles limit of open files, above which the least recently used one is closed */
export function createOpenFiles(maxFiles: number): OpenFiles {
  const sources = new Map<string, Promise<ByteSource>>();

  async function close(file: string, source: Promise<ByteSource>): Promise<void> {
    if (sources.get(file) === source) sources.delete(file);
    try {
      await (await source).close();
    } catch {
      // Either the file could not be opened, or closing it failed. No data can be lost, because the file was only read.
    }
  }

  return {
    async open(file, minBytes) {
      for (let cached = sources.get(file); cached !== undefined; cached = sources.get(file)) {
        const source = await cached;
        if (sources.get(file) !== cached) continue; // The file was closed in the meantime.
        if (source.size < minBytes) {
          void close(file, cached); // The file has grown since it was opened.
          break;
        }
        if (sources.size > maxFiles / 2) {
          // Moves the file to the end of the Map, so that iteration starts with the least recently used one. Below half of the
          // limit nothing is evicted soon, so the order does not matter.
          sources.delete(file);
          sources.set(file, cached);
        }
        return source;
      }
      const opening = openFileSource(file, { mayGrow: true });
      sources.set(file, opening);
      opening.catch(() => close(file, opening));
      for (const [oldest, source] of sources) {
        if (sources.size <= maxFiles) break;
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
