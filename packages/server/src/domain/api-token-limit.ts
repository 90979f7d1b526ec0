/**
 * Limits the requests that all API tokens of one account send together, with the token-bucket algorithm. Requests from the
 * account's browsers do not count.
 */

/** Sustained requests per second, and the number of requests that an account may send in a burst after a pause. */
export const apiTokenRate = { perSecond: 200, burst: 1000 } as const;

interface Bucket {
  requestsLeft: number; // may be fractional
  /** Time up to which the bucket is refilled, in milliseconds since the epoch. */
  filledAt: number;
}

/** When this number is reached, all buckets are deleted, so every account may send a full burst again. */
const maxBuckets = 10_000;

interface ApiTokenLimit {
  /**
   * Counts a request of the account.
   *
   * @param at milliseconds since the epoch
   * @returns whole seconds to wait; 0: the request is allowed
   */
  countRequest(uid: string, at: number): number;
}

/** Returns a limit that counts in the memory of this process. */
export function createApiTokenLimit(
  rate: { readonly perSecond: number; readonly burst: number } = apiTokenRate,
): ApiTokenLimit {
  const buckets = new Map<string, Bucket>();
  return {
    countRequest(uid, at) {
      const existingBucket = buckets.get(uid);
      const bucket = existingBucket ?? { requestsLeft: rate.burst, filledAt: at };
      if (existingBucket === undefined) {
        if (buckets.size >= maxBuckets) buckets.clear();
        buckets.set(uid, bucket);
      }

      const elapsedSeconds = Math.max(0, at - bucket.filledAt) / 1000;
      bucket.requestsLeft = Math.min(rate.burst, bucket.requestsLeft + elapsedSeconds * rate.perSecond);
      bucket.filledAt = at;

      // Whole seconds, as in the header Retry-After, and at least 1, because 0 means "allowed".
      if (bucket.requestsLeft < 1) return Math.max(1, Math.ceil((1 - bucket.requestsLeft) / rate.perSecond));
      bucket.requestsLeft -= 1;
      return 0;
    },
  };
}
