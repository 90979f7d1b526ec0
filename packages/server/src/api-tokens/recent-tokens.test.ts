import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRecentTokens, type RecentToken } from './recent-tokens.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => vi.useRealTimers());

/** Tokens that are read from a list, which counts the reads. */
function world() {
  let changes = 0;
  let isDown = false;
  const reads: string[] = [];
  const read = async (hash: string) => {
    reads.push(hash);
    if (isDown) throw new Error('the database does not answer');
    return { found: { hash } } as unknown as RecentToken;
  };
  const recent = createRecentTokens(read, () => changes);
  return {
    recent,
    reads,
    change: () => changes++,
    setDown: (down: boolean) => {
      isDown = down;
    },
  };
}

describe('recent tokens', () => {
  it('are read once in half a second, concurrent requests together', async () => {
    const { recent, reads } = world();
    await Promise.all([recent.get('a'), recent.get('a'), recent.get('b')]);
    vi.advanceTimersByTime(499);
    await recent.get('a');
    expect(reads).toEqual(['a', 'b']);
    vi.advanceTimersByTime(1);
    await recent.get('a');
    expect(reads).toEqual(['a', 'b', 'a']);
  });

  it('are read again after a revocation or a change of rights in this process', async () => {
    const { recent, reads, change } = world();
    await recent.get('a');
    change();
    await recent.get('a');
    recent.clear();
    await recent.get('a');
    expect(reads).toHaveLength(3);
  });

  it('are not accepted when the database fails, and are read again at the next request', async () => {
    const { recent, reads, setDown } = world();
    await recent.get('a');
    vi.advanceTimersByTime(500);
    setDown(true);
    await expect(recent.get('a')).rejects.toThrow('does not answer');
    await expect(recent.get('a')).rejects.toThrow('does not answer');
    setDown(false);
    await recent.get('a');
    expect(reads).toHaveLength(4);
  });
});
