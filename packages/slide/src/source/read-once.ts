/** Reads at the first call and caches the result. A failed read is retried at the next call. */
export function readOnce<T>(read: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | null = null;
  return () => {
    result ??= read().catch((error: unknown) => {
      result = null;
      throw error;
    });
    return result;
  };
}
