/**
 * Calls an asynchronous function for each item, with at most `limit` calls at the same time.
 *
 * @returns the results in the order of the items
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  const remaining = items.entries(); // one iterator for all workers, so that each item is taken once
  const runWorker = async () => {
    for (const [index, item] of remaining) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, runWorker));
  return results;
}
