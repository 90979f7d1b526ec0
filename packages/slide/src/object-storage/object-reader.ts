/** Reads objects of object storage through caches: metadata are cached for half a second, bytes in the block cache. */
import { SlideError } from '../model/slide.ts';
import { type BlockCache, createBlockCache } from './block-cache.ts';
import type { BlockDiskCache } from './block-disk-cache.ts';
import type { ObjectMetadata, ObjectStore, StoredObject } from './object-store.ts';

/** Reads metadata of objects, and their bytes with the inherited `readInto`. */
export interface ObjectReader extends BlockCache {
  /** Returns size and ETag, at most half a second old. @throws SlideError errors of `ObjectStore.head` */
  head(key: string): Promise<ObjectMetadata>;
  /**
   * Lists the objects with a key prefix, sorted by key.
   *
   * @throws SlideError LIMIT_EXCEEDED for more objects than a slide may have; errors of `ObjectStore.list`
   */
  list(prefix: string): Promise<readonly StoredObject[]>;
}

interface ObjectReaderOptions {
  readonly store: ObjectStore;
  /** Maximum bytes of blocks that are cached in memory. */
  readonly maxMemoryBytes: number;
  readonly diskCache: BlockDiskCache | null;
}

/** Maximum age of cached metadata. Every use of a slide needs metadata, to check whether its objects are unchanged. */
const MAX_AGE_MS = 500;
/** Maximum entries of each of the two metadata caches. A full cache is emptied. */
const MAX_CACHED = 10_000;
/** Maximum number of objects in the folder of a slide. */
const MAX_LISTED = 20_000;

export function createObjectReader({ store, maxMemoryBytes, diskCache }: ObjectReaderOptions): ObjectReader {
  const blockCache = createBlockCache({ store, maxMemoryBytes, diskCache });
  const metadataCache = createShortCache((key) => store.head(key));
  const listCache = createShortCache(listAll);

  async function listAll(prefix: string): Promise<readonly StoredObject[]> {
    const objects: StoredObject[] = [];
    for await (const { key, size, etag } of store.list(prefix)) {
      if (objects.length === MAX_LISTED) {
        throw new SlideError(
          'LIMIT_EXCEEDED',
          `The folder of this slide has more than ${MAX_LISTED} objects`,
        );
      }
      objects.push({ key, size, etag });
    }
    return objects;
  }

  return {
    head: (key) => metadataCache.get(key),
    list: (prefix) => listCache.get(prefix),

    async readInto(object, target, targetStart, offset, length, signal) {
      try {
        await blockCache.readInto(object, target, targetStart, offset, length, signal);
      } catch (error) {
        metadataCache.invalidate(object.key); // The object may have been replaced.
        throw error;
      }
    },
  };
}

/** Caches results of `load` by name for `MAX_AGE_MS`. Concurrent callers share one call. Errors are not cached. */
function createShortCache<T>(load: (name: string) => Promise<T>) {
  const cache = new Map<string, { readonly result: Promise<T>; readonly startedAt: number }>();
  return {
    get(name: string): Promise<T> {
      const cached = cache.get(name);
      if (cached && performance.now() - cached.startedAt < MAX_AGE_MS) return cached.result;
      const result = load(name);
      const entry = { result, startedAt: performance.now() };
      if (cache.size >= MAX_CACHED) cache.clear();
      cache.set(name, entry);
      result.catch(() => {
        if (cache.get(name) === entry) cache.delete(name);
      });
      return result;
    },
    invalidate(name: string): void {
      cache.delete(name);
    },
  };
}
