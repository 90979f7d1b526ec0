/** What reading slides needs of an object store: the objects as they are now, and their bytes, through what is kept. */
import { SlideError } from '../slide.ts';
import { type BlockCache, createBlockCache } from './block-cache.ts';
import type { BlockShelf } from './block-shelf.ts';
import type { ObjectFacts, ObjectStore, StoredObject } from './object-store.ts';

export interface ObjectReader extends BlockCache {
  /** As it is now, or was at most half a second ago. @throws SlideError as `ObjectStore.head` */
  head(key: string): Promise<ObjectFacts>;
  /**
   * All objects whose keys begin so, sorted by key; a slide of several files has no more of them than it may.
   *
   * @throws SlideError as `ObjectStore.list`; LIMIT_EXCEEDED
   */
  list(prefix: string): Promise<readonly StoredObject[]>;
}

interface Plan {
  readonly store: ObjectStore;
  readonly maxMemoryBytes: number;
  readonly shelf: BlockShelf | null;
}

/** Everybody who looks at a slide looks whether it is still the same: so often the store is asked. */
const BELIEVED_FOR_MS = 500;
const MOST_BELIEVED = 10_000;
/** Objects beside a leading one. */
const MOST_LISTED = 20_000;

export function createObjectReader({ store, maxMemoryBytes, shelf }: Plan): ObjectReader {
  const blocks = createBlockCache({ store, maxMemoryBytes, shelf });
  const heads = createShortMemory((key) => store.head(key));
  const lists = createShortMemory(listAll);

  async function listAll(prefix: string): Promise<readonly StoredObject[]> {
    const found: StoredObject[] = [];
    for await (const { key, size, etag } of store.list(prefix)) {
      if (found.length === MOST_LISTED) {
        throw new SlideError('LIMIT_EXCEEDED', `More than ${MOST_LISTED} objects may belong to this slide`);
      }
      found.push({ key, size, etag });
    }
    return found;
  }

  return {
    head: (key) => heads.ask(key),
    list: (prefix) => lists.ask(prefix),

    async readInto(object, target, at, offset, length, signal) {
      try {
        await blocks.readInto(object, target, at, offset, length, signal);
      } catch (error) {
        heads.forget(object.key); // another object by now, perhaps
        throw error;
      }
    },
  };
}

/** Asks once for everybody, and believes the answer for a short while. A failure is not remembered. */
function createShortMemory<T>(ask: (name: string) => Promise<T>) {
  const asked = new Map<string, { readonly answer: Promise<T>; readonly at: number }>();
  return {
    ask(name: string): Promise<T> {
      const known = asked.get(name);
      if (known && performance.now() - known.at < BELIEVED_FOR_MS) return known.answer;
      const answer = ask(name);
      const now = { answer, at: performance.now() };
      if (asked.size >= MOST_BELIEVED) asked.clear();
      asked.set(name, now);
      answer.catch(() => {
        if (asked.get(name) === now) asked.delete(name);
      });
      return answer;
    },
    forget(name: string): void {
      asked.delete(name);
    },
  };
}
