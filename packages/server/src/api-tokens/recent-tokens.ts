/**
 * Caches API tokens for requests for pixels, so that each token is read from the database at most once in half a second. A
 * revocation in another process takes effect within that time, as for image sessions; a revocation in this process takes
 * effect immediately. While the database cannot be read, requests are rejected as soon as the cached token is that old.
 */
import type { TokenForPixels } from '../sessions/api-token-service.ts';
import type { StoredApiToken } from '../store/api-tokens.ts';

/** An API token as read from the database, its caller (`resolved`), and its image session, by which it may load pixels. */
export interface RecentToken extends TokenForPixels {
  readonly storedToken: StoredApiToken;
  /** When the token or its owner's account expires, in milliseconds since 1970. */
  readonly endsAt: number;
}

export interface RecentTokens {
  /** Returns a token; a promise only while it is being read. @throws the errors that `read` throws */
  get(hash: string): RecentToken | Promise<RecentToken>;
  /** Removes all tokens from the cache. Called after a token was revoked. */
  clear(): void;
}

/** A revocation must take effect within a second. The rest of the second is left for a slow query. */
const maxAgeMs = 500;
const maxCachedTokens = 10_000;

interface CacheEntry {
  /** Time before the query, in milliseconds of the monotonic clock. */
  readonly readAt: number;
  /** Result of `countChanges` before the query. */
  readonly changeCount: number;
  /** A promise while the token is being read. */
  token: RecentToken | Promise<RecentToken>;
}

/**
 * Creates an empty cache.
 *
 * @param read reads a valid token by its hash
 * @param countChanges returns how many revocations and changes of rights this process has made; an increase invalidates
 *   the cache
 */
export function createRecentTokens(
  read: (hash: string) => Promise<RecentToken>,
  countChanges: () => number,
): RecentTokens {
  const entries = new Map<string, CacheEntry>();
  return {
    get(hash) {
      const now = performance.now();
      const cached = entries.get(hash);
      const isRecent =
        cached !== undefined && now - cached.readAt < maxAgeMs && cached.changeCount === countChanges();
      if (isRecent) return cached.token;
      if (entries.size >= maxCachedTokens) entries.clear();
      const reading = read(hash);
      const entry: CacheEntry = { readAt: now, changeCount: countChanges(), token: reading };
      entries.set(hash, entry);
      reading.then(
        (token) => {
          entry.token = token;
        },
        () => {
          if (entries.get(hash) === entry) entries.delete(hash); // a failure is not cached
        },
      );
      return reading;
    },

    clear() {
      entries.clear();
    },
  };
}
