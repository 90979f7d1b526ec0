/**
 * Computes the keys under which answers to the items of a collection are stored. The key of an item stays the same when the items
 * are reordered, unless the collection contains the same item several times.
 */

interface KeyedItem {
  readonly type: string;
  readonly id: string;
}

/** Returns a key for each item: its type, its id, and the number of its occurrence, for example `slide:1f…:2`. */
export function itemKeys(items: readonly KeyedItem[]): string[] {
  const counts = new Map<string, number>();
  return items.map(({ type, id }) => {
    const typeAndId = `${type}:${id}`;
    const occurrence = (counts.get(typeAndId) ?? 0) + 1;
    counts.set(typeAndId, occurrence);
    return `${typeAndId}:${occurrence}`;
  });
}

/**
 * Returns the position of an item in its collection, from 0; -1 if there is no such item.
 *
 * @param item the position (not negative), or the id of a slide, case or saved view. If several items have this id, the first one with
 *   a question is preferred.
 */
export function positionOf(
  items: readonly { readonly id: string; readonly question?: unknown }[],
  item: number | string,
): number {
  if (typeof item === 'number') return item < items.length ? item : -1;
  const positionWithQuestion = items.findIndex(({ id, question }) => id === item && question);
  return positionWithQuestion === -1 ? items.findIndex(({ id }) => id === item) : positionWithQuestion;
}
