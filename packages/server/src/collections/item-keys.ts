/** Keys of items, under which answers are stored: they stay the same when the items change their order. */
interface KeyedItem {
  readonly type: string;
  readonly id: string;
}

/** Returns a key for each item: what it names, and for repeated ones the how-manieth it is. */
export function itemKeys(items: readonly KeyedItem[]): string[] {
  const counts = new Map<string, number>();
  return items.map(({ type, id }) => {
    const name = `${type}:${id}`;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return `${name}:${count}`;
  });
}

/** Returns the position of an item that a caller names by its position or by the id that it names; -1 for none. */
export function positionOf(
  items: readonly { readonly id: string; readonly question?: unknown }[],
  item: number | string,
): number {
  if (typeof item === 'number') return item < items.length ? item : -1;
  const asked = items.findIndex(({ id, question }) => id === item && question);
  return asked === -1 ? items.findIndex(({ id }) => id === item) : asked;
}
