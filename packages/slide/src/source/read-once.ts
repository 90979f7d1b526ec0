/** Reads at the first call and keeps the answer; a failed read is tried again at the next call. */
export function readOnce<T>(read: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | null = null;
  return () => {
    answer ??= read().catch((error: unknown) => {
      answer = null;
      throw error;
    });
    return answer;
  };
}
