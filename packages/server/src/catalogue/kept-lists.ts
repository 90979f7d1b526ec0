/**
 * Long lists that several people ask for: made once as long as nothing changes, compressed, and sent while they are
 * still being made.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createBrotliCompress } from 'node:zlib';

/** Megabytes each; of one catalogue there are as many as kinds of readers that look at it at the same time. */
const mostKept = 4;
/** More takes longer and saves little. */
const quality = 4;

export interface KeptLists {
  /**
   * @param key of a list that never changes
   * @param make called when nobody has asked for it lately
   * @returns what `make` says, in Brotli
   */
  get(key: string, make: () => AsyncIterable<string>): AsyncIterable<Uint8Array>;
}

interface Kept {
  readonly chunks: Uint8Array[];
  /** Until the next chunk is there, or none is to come; null: none is. */
  more: Promise<void> | null;
}

export function createKeptLists(): KeptLists {
  const kept = new Map<string, Kept>();

  function begin(key: string, parts: AsyncIterable<string>): Kept {
    const params = { [constants.BROTLI_PARAM_QUALITY]: quality };
    const compress = createBrotliCompress({ params });
    // Whoever reads is told of a failure by the pipe's end.
    pipeline(Readable.from(parts), compress).catch(() => {});
    const chunks: AsyncIterator<Uint8Array, undefined> = compress[Symbol.asyncIterator]();
    const list: Kept = { chunks: [], more: null };
    const next = async (): Promise<void> => {
      const { value, done } = await chunks.next();
      if (done) {
        list.more = null;
        return;
      }
      list.chunks.push(value);
      list.more = next();
      list.more.catch(() => kept.delete(key)); // whoever reads it is told; the next one has it made anew
    };
    list.more = next();
    list.more.catch(() => kept.delete(key));
    return list;
  }

  return {
    get(key, make) {
      const list = kept.get(key) ?? begin(key, make());
      kept.delete(key);
      kept.set(key, list);
      for (const [oldest] of kept) if (kept.size > mostKept) kept.delete(oldest);
      return chunksOf(list);
    },
  };
}

async function* chunksOf(list: Kept): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; ; at++) {
    while (at >= list.chunks.length) {
      if (list.more === null) return;
      await list.more;
    }
    const chunk = list.chunks[at];
    if (chunk !== undefined) yield chunk;
  }
}
