import type { TokenForPixels } from '../sessions/api-token-service.ts';
import type { StoredApiToken } from '../store/api-tokens.ts';

/** An API token as the database had it. */
export interface RecentToken extends TokenForPixels {
  readonly found: StoredApiToken;
  /** When the token or its owner's account ends, in milliseconds since 1970. */
  readonly endsAt: number;
}

/**
 * API tokens of requests for pixels, read at most once in half a second. A revocation in another process takes effect within
 * that time, as for image sessions; one in this process at once. Requests are rejected while the query fails.
 */
export interface RecentTokens {
  /** Returns a promise only when the token is being read. @throws what reading throws */
  get(hash: string): RecentToken | Promise<RecentToken>;
  /** Forgets all tokens, after one was revoked. */
  clear(): void;
}

/** Half of the promised second, so that a slow query stays within it. */
const maxAgeMs = 500;
const maxRemembered = 10_000;

interface Entry {
  /** Time before the query, by the monotonic clock. */
  readonly readAt: number;
  readonly changes: number;
  /** A promise while it is being read. */
  token: RecentToken | Promise<RecentToken>;
}

/** @param countChanges number of revocations and changes of rights in this process */
export function createRecentTokens(
  read: (hash: string) => Promise<RecentToken>,
  countChanges: () => number,
): RecentTokens {
  const entries = new Map<string, Entry>();
  return {
    get(hash) {
      const at = performance.now();
      const known = entries.get(hash);
      const isRecent =
        known !== undefined && at - known.readAt < maxAgeMs && known.changes === countChanges();
      if (isRecent) return known.token;
      if (entries.size >= maxRemembered) entries.clear();
      const reading = read(hash);
      const entry: Entry = { readAt: at, changes: countChanges(), token: reading };
      entries.set(hash, entry);
      reading.then(
        (token) => {
          entry.token = token;
        },
        () => {
          if (entries.get(hash) === entry) entries.delete(hash);
        },
      );
      return reading;
    },

    clear() {
      entries.clear();
    },
  };
}
