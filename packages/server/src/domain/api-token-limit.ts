/** How many requests the API tokens of one account may send: a token bucket, counted apart from the account's browsers. */

/** Requests per second in the long run, and how many may come at once before that. */
export const apiTokenRate = { perSecond: 200, burst: 1000 } as const;

interface Bucket {
  left: number;
  /** Milliseconds since the epoch. */
  filledAt: number;
}

const maxBuckets = 10_000;

interface ApiTokenLimit {
  /** Counts a request of the account. @returns seconds to wait; 0: the request is allowed */
  take(uid: string, at: number): number;
}

export function createApiTokenLimit(
  rate: { readonly perSecond: number; readonly burst: number } = apiTokenRate,
): ApiTokenLimit {
  const buckets = new Map<string, Bucket>();
  return {
    take(uid, at) {
      const known = buckets.get(uid);
      const bucket = known ?? { left: rate.burst, filledAt: at };
      if (known === undefined) {
        if (buckets.size >= maxBuckets) buckets.clear();
        buckets.set(uid, bucket);
      }
      const seconds = Math.max(0, at - bucket.filledAt) / 1000;
      bucket.left = Math.min(rate.burst, bucket.left + seconds * rate.perSecond);
      bucket.filledAt = at;
      if (bucket.left < 1) return Math.max(1, Math.ceil((1 - bucket.left) / rate.perSecond));
      bucket.left -= 1;
      return 0;
    },
  };
}
