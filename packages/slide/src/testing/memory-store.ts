/** An object store in memory, for what stands on one: the store itself is tested against a real server. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { SlideError } from '../slide.ts';
import type { ObjectFacts, ObjectStore } from '../source/object-store.ts';

export interface MemoryStore extends ObjectStore {
  set(key: string, bytes: Uint8Array): void;
  /** What is thrown whatever is asked; null: the store is up. */
  failWith(fault: SlideError | null): void;
  /** Requests so far, by what was asked. */
  readonly requests: { head: number; read: number; list: number };
}

export function memoryStore(objects: Readonly<Record<string, Uint8Array>> = {}): MemoryStore {
  const kept = new Map(Object.entries(objects));
  const requests = { head: 0, read: 0, list: 0 };
  let fault: SlideError | null = null;

  function factsOf(key: string): ObjectFacts & { bytes: Uint8Array } {
    if (fault) throw fault;
    const bytes = kept.get(key);
    if (!bytes) throw new SlideError('FILE_MISSING', 'The object is not there');
    return { bytes, size: bytes.length, etag: createHash('md5').update(bytes).digest('hex') };
  }

  return {
    requests,
    set(key, bytes) {
      kept.set(key, bytes);
    },
    failWith(next) {
      fault = next;
    },
    async head(key) {
      requests.head++;
      const { size, etag } = factsOf(key);
      return { size, etag };
    },
    async read({ key, etag }, offset, length) {
      requests.read++;
      const { bytes, etag: current } = factsOf(key);
      if (current !== etag) throw new SlideError('FILE_CHANGED', 'The object is another one by now');
      return bytes.slice(offset, offset + length);
    },
    async *list(prefix) {
      requests.list++;
      for (const key of [...kept.keys()].sort()) {
        const { size, etag } = factsOf(key);
        if (key.startsWith(prefix)) yield { key, size, etag, lastModified: '2026-01-01T00:00:00.000Z' };
      }
      if (fault) throw fault;
    },
    async put(key, file) {
      kept.set(key, await readFile(file));
      const { size, etag } = factsOf(key);
      return { size, etag };
    },
    async delete(key) {
      kept.delete(key);
    },
  };
}
