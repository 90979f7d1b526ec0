import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRecentTokens, type RecentToken } from './recent-tokens.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => vi.useRealTimers());

/** Returns a cache of tokens whose `read` succeeds except after `setDatabaseDown(true)`, and the hashes that were read. */
function createTestCache() {
  let changeCount = 0;
  let isDatabaseDown = false;
  const reads: string[] = [];
  const read = async (hash: string) => {
    reads.push(hash);
    if (isDatabaseDown) throw new Error('the database does not answer');
    return { storedToken: { hash } } as unknown as RecentToken;
  };
  const recent = createRecentTokens(read, () => changeCount);
  return {
    recent,
    reads,
    recordChange: () => changeCount++,
    setDatabaseDown: (isDown: boolean) => {
      isDatabaseDown = isDown;
    },
  };
}

describe('createRecentTokens (cache of recently used API tokens)', () => {
  it('reads a token from the database at most once in 0.5 s, also for concurrent requests', async () => {
    const { recent, reads } = createTestCache();
    await Promise.all([recent.get('a'), recent.get('a'), recent.get('b')]);
    vi.advanceTimersByTime(499);
    await recent.get('a');
    expect(reads).toEqual(['a', 'b']);
    vi.advanceTimersByTime(1);
    await recent.get('a');
    expect(reads).toEqual(['a', 'b', 'a']);
  });

  it('reads a token again after this process revoked it or changed the rights of its owner', async () => {
    const { recent, reads, recordChange } = createTestCache();
    await recent.get('a');
    recordChange();
    await recent.get('a');
    recent.clear();
    await recent.get('a');
    expect(reads).toHaveLength(3);
  });

  it('throws the database error at each request while the database is down and the cached token has expired (after 0.5 s)', async () => {
    const { recent, reads, setDatabaseDown } = createTestCache();
    await recent.get('a');
    vi.advanceTimersByTime(500);
    setDatabaseDown(true);
    await expect(recent.get('a')).rejects.toThrow('does not answer');
    await expect(recent.get('a')).rejects.toThrow('does not answer');
    setDatabaseDown(false);
    await recent.get('a');
    expect(reads).toHaveLength(4);
  });
});
