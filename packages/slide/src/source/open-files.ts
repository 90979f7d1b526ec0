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
  open(path: string, minBytes: number): Promise<ByteSource>;
  /** Closes the file if it is open. */
  closeFile(path: string): Promise<void>;
  closeAll(): Promise<void>;
}

/** Creates an empty cache. @param maxFiles limit of open files, above which the least recently used one is closed */
export function createOpenFiles(maxFiles: number): OpenFiles {
  const sources = new Map<string, Promise<ByteSource>>();

  /** Removes a source from the Map at once, so that `open` no longer returns it, and then closes it. */
  async function close(path: string, source: Promise<ByteSource>): Promise<void> {
    if (sources.get(path) === source) sources.delete(path);
    try {
      await (await source).close();
    } catch {
      // Either the file could not be opened, or closing it failed. No data can be lost, because the file was only read.
    }
  }

  return {
    async open(path, minBytes) {
      for (let cached = sources.get(path); cached !== undefined; cached = sources.get(path)) {
        const source = await cached;
        if (sources.get(path) !== cached) continue; // The file was closed in the meantime.
        if (source.size < minBytes) {
          void close(path, cached); // The file has grown since it was opened, so it is opened again below.
          break;
        }
        if (sources.size > maxFiles / 2) {
          // Moves the file to the end of the Map, so that iteration starts with the least recently used one. Below half of the
          // limit nothing is evicted soon, so the order does not matter.
          sources.delete(path);
          sources.set(path, cached);
        }
        return source;
      }
      const opening = openFileSource(path, { mayGrow: true });
      sources.set(path, opening);
      opening.catch(() => close(path, opening));
      for (const [oldest, source] of sources) {
        if (sources.size <= maxFiles) break;
        void close(oldest, source);
      }
      return opening;
    },

    async closeFile(path) {
      const cached = sources.get(path);
      if (cached !== undefined) await close(path, cached);
    },

    async closeAll() {
      await Promise.all([...sources].map(([path, source]) => close(path, source)));
    },
  };
}
