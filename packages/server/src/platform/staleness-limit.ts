/**
 * Limits the age of cached authorisation state to one second, so that a revocation in one process takes effect in all
 * processes within a second. While the database is down, the limit is 30 s, because nothing can be revoked then.
 */
const limitMs = 1000;
const outageLimitMs = 30_000;

export interface StalenessLimit {
  /** Runs a query and records whether the database answered. */
  track<T>(query: () => Promise<T>): Promise<T>;
  /** Returns whether a value read at `readAt` may still be used at `now`; both in milliseconds of the same clock. */
  isFresh(readAt: number, now: number): boolean;
}

/** Creates the limit. @param clock returns milliseconds. After it was set back by more than the limit, earlier values are stale. */
export function createStalenessLimit(clock: () => number): StalenessLimit {
  let failedAt: number | null = null;
  let runningQueries = 0;

  /** After a failed query, the database counts as down for one second, and as long as any query is running, until one succeeds. */
  function isDown(now: number): boolean {
    return failedAt !== null && (runningQueries > 0 || Math.abs(now - failedAt) < limitMs);
  }

  return {
    async track(query) {
      runningQueries++;
      try {
        const result = await query();
        failedAt = null;
        return result;
      } catch (error) {
        failedAt = clock();
        throw error;
      } finally {
        runningQueries--;
      }
    },
    isFresh: (readAt, now) => Math.abs(now - readAt) < (isDown(now) ? outageLimitMs : limitMs),
  };
}
