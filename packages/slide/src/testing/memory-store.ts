/**
 * An object store in memory, for tests of code that reads slides from object storage. The S3 client is not tested with
 * it, but with a real S3 server.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { SlideError } from '../model/slide.ts';
import type { ObjectMetadata, ObjectStore } from '../object-storage/object-store.ts';

export interface MemoryStore extends ObjectStore {
  /** Stores an object, or replaces it. */
  set(key: string, bytes: Uint8Array): void;
  /** Makes every request except `delete` throw `fault`; null makes requests succeed again. */
  failWith(fault: SlideError | null): void;
  /** Number of requests by kind. */
  readonly requests: { head: number; read: number; list: number };
}

export function memoryStore(objects: Readonly<Record<string, Uint8Array>> = {}): MemoryStore {
  const objectsByKey = new Map(Object.entries(objects));
  const requests = { head: 0, read: 0, list: 0 };
  let fault: SlideError | null = null;

  /** @throws the current fault, or SlideError FILE_MISSING */
  function requireObject(key: string): ObjectMetadata & { bytes: Uint8Array } {
    if (fault) throw fault;
    const bytes = objectsByKey.get(key);
    if (!bytes) throw new SlideError('FILE_MISSING', 'The object does not exist');
    return { bytes, size: bytes.length, etag: createHash('md5').update(bytes).digest('hex') };
  }

  return {
    requests,
    set(key, bytes) {
      objectsByKey.set(key, bytes);
    },
    failWith(next) {
      fault = next;
    },
    async head(key) {
      requests.head++;
      const { size, etag } = requireObject(key);
      return { size, etag };
    },
    async read({ key, etag }, offset, length) {
      requests.read++;
      const { bytes, etag: current } = requireObject(key);
      if (current !== etag) throw new SlideError('FILE_CHANGED', 'The object was replaced');
      return bytes.slice(offset, offset + length);
    },
    async *list(prefix) {
      requests.list++;
      for (const key of [...objectsByKey.keys()].sort()) {
        // Throws a fault that `failWith` sets during the listing.
        const { size, etag } = requireObject(key);
        if (key.startsWith(prefix)) yield { key, size, etag, lastModified: '2026-01-01T00:00:00.000Z' };
      }
      if (fault) throw fault; // for a store without objects
    },
    async put(key, file) {
      objectsByKey.set(key, await readFile(file));
      const { size, etag } = requireObject(key);
      return { size, etag };
    },
    async delete(key) {
      objectsByKey.delete(key);
    },
  };
}
