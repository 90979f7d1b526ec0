/**
 * Streams the whole list of images as parts of one JSON document, for requests without the parameter `limit`. Even a
 * catalogue of 100,000 entries is never in memory as a whole, and does not block other requests.
 */
import type { Image } from '@lamina/contract';
import { createYielder } from '../platform/yield-to-event-loop.ts';
import type { ListedImage } from '../store/listed-image.ts';
import type { ImagePage } from '../store/listed-images.ts';

/** Maximum number of entries that one query reads. */
const batchSize = 1000;

/** The message of a response without entries. */
export const noImages = 'No images found.';

type ReadBatch = (page: Pick<ImagePage, 'after' | 'limit'>) => Promise<readonly ListedImage[]>;

/**
 * Yields the JSON body of the response in parts, one for each query. No entry is sent twice, even if an edit moves it to
 * a later position while the list is being sent.
 *
 * @param after sort key and id of the entry before the first one to send; null starts with the first entry
 * @param toImage converts a row into the entry that the reader may see, with the fields of the contract only
 */
export async function* streamList(
  readBatch: ReadBatch,
  after: ImagePage['after'],
  toImage: (row: ListedImage) => Image,
): AsyncGenerator<string, void> {
  const sentIds = new Set<string>();
  const yieldToEventLoop = createYielder();
  let position = after;
  for (;;) {
    const rows = await readBatch({ after: position, limit: batchSize });
    const unsent = rows.filter(({ id }) => !sentIds.has(id));
    if (unsent.length > 0) {
      // slice() removes the brackets of this array, because all parts belong to one array.
      yield `${sentIds.size === 0 ? '{"images":[' : ','}${JSON.stringify(unsent.map(toImage)).slice(1, -1)}`;
    }
    for (const { id } of unsent) sentIds.add(id);
    const last = rows.at(-1);
    if (last === undefined || rows.length < batchSize) break;
    position = { sortKey: last.sort_key, id: last.id };
    await yieldToEventLoop();
  }
  yield sentIds.size === 0
    ? JSON.stringify({ images: [], next_cursor: null, message: noImages })
    : '],"next_cursor":null}';
}
