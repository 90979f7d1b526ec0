/** The list without a limit, as JSON in parts: memory and other requests do not have to bear 100,000 entries at once. */
import type { Image } from '@lamina/contract';
import { createYielder } from '../platform/yield-to-event-loop.ts';
import type { ListedImage } from '../store/listed-image.ts';
import type { ImagePage } from '../store/listed-images.ts';

/** Entries of one query. */
const batchSize = 1000;

export const noImages = 'No images found.';

type ReadBatch = (page: Pick<ImagePage, 'after' | 'limit'>) => Promise<readonly ListedImage[]>;

/**
 * Yields the response of the contract, without a limit. Every entry comes once, even if its place changes meanwhile.
 *
 * @param after the place behind which the list begins; null: with the first entry
 * @param shown returns an entry as its reader sees it, with the fields of the contract only
 */
export async function* streamList(
  readBatch: ReadBatch,
  after: ImagePage['after'],
  shown: (row: ListedImage) => Image,
): AsyncGenerator<string, void> {
  const sent = new Set<string>();
  const yieldToEventLoop = createYielder();
  for (let place = after; ; ) {
    const rows = await readBatch({ after: place, limit: batchSize });
    const unsent = rows.filter(({ id }) => !sent.has(id));
    if (unsent.length > 0) {
      yield `${sent.size === 0 ? '{"images":[' : ','}${JSON.stringify(unsent.map(shown)).slice(1, -1)}`;
    }
    for (const { id } of unsent) sent.add(id);
    const last = rows.at(-1);
    if (last === undefined || rows.length < batchSize) break;
    place = { sortKey: last.sort_key, id: last.id };
    await yieldToEventLoop();
  }
  yield sent.size === 0
    ? JSON.stringify({ images: [], next_cursor: null, message: noImages })
    : '],"next_cursor":null}';
}
