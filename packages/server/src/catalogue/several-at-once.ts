/**
 * Does something with each of many, so many at a time: quick where each means waiting, without asking for all at once.
 *
 * @returns what came of each, in the order of the items
 */
export async function severalAtOnce<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  const rest = items.entries();
  const workOff = async () => {
    for (const [place, item] of rest) results[place] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, workOff));
  return results;
}
