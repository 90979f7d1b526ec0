/** The whole list as text, a part at a time: neither memory nor other requests bear a hundred thousand entries at once. */
import type { Image } from '@lamina/contract';
import type { ImageFilter, ListedImage } from '../store/images.ts';
import { createGiveWay } from './give-way.ts';

/** Entries of one look into the database. */
const imagesAtOnce = 1000;

export const noImages = 'No images found.';

type Page = (place: Pick<ImageFilter, 'after' | 'limit'>) => Promise<readonly ListedImage[]>;

/**
 * In the order of the list, parts of at least one entry. Every entry comes once, even if it changes its place meanwhile.
 *
 * @param after where to begin; null is the beginning
 */
export async function* partsOfList(
  pageOf: Page,
  after: ImageFilter['after'],
): AsyncGenerator<readonly ListedImage[], void> {
  const sent = new Set<string>();
  const giveWay = createGiveWay();
  for (let place = after; ; ) {
    const rows = await pageOf({ after: place, limit: imagesAtOnce });
    const fresh = rows.filter(({ id }) => !sent.has(id));
    for (const { id } of fresh) sent.add(id);
    if (fresh.length > 0) yield fresh;
    const last = rows.at(-1);
    if (last === undefined || rows.length < imagesAtOnce) return;
    place = { sortKey: last.sort_key, id: last.id };
    await giveWay();
  }
}

/** The answer of the contract, without a limit. @param shown an entry as its reader sees it: nothing but what the contract names */
export async function* listAsJson(
  parts: AsyncIterable<readonly ListedImage[]>,
  shown: (row: ListedImage) => Image,
): AsyncGenerator<string, void> {
  let isEmpty = true;
  for await (const rows of parts) {
    yield `${isEmpty ? '{"images":[' : ','}${JSON.stringify(rows.map(shown)).slice(1, -1)}`;
    isEmpty = false;
  }
  yield isEmpty
    ? JSON.stringify({ images: [], next_cursor: null, message: noImages })
    : '],"next_cursor":null}';
}
