import { describe, expect, it } from 'vitest';
import { createStalenessLimit } from './staleness-limit.ts';

/** Creates a limit with a simulated clock, which `advance` moves, and queries that succeed or fail. The clock starts at 0. */
function setUp() {
  let nowMs = 0;
  const staleness = createStalenessLimit(() => nowMs);
  return {
    staleness,
    isFresh: (readAt: number) => staleness.isFresh(readAt, nowMs),
    advance: (ms: number) => {
      nowMs += ms;
    },
    succeed: () => staleness.track(async () => 'an answer'),
    fail: () => staleness.track(() => Promise.reject(new Error('down'))).catch(() => 'failed'),
  };
}

describe('StalenessLimit (maximum age of cached authorisation state: 1 s, or 30 s while the database is down)', () => {
  it('treats a cached value as fresh for one second while no database query has failed', () => {
    const { isFresh, advance } = setUp();
    advance(999);
    expect(isFresh(0)).toBe(true);
    advance(1);
    expect(isFresh(0)).toBe(false);
  });

  it('treats a cached value as fresh for 30 s while the database is down', async () => {
    const { isFresh, advance, fail } = setUp();
    advance(29_999);
    await fail();
    expect(isFresh(0)).toBe(true);
    advance(1);
    expect(isFresh(0)).toBe(false);
  });

  it('lowers the limit from 30 s to 1 s when a query succeeds after a database failure', async () => {
    const { isFresh, advance, fail, succeed } = setUp();
    advance(20_000);
    await fail();
    await succeed();
    expect(isFresh(0)).toBe(false);
  });

  it('lowers the limit from 30 s to 1 s one second after a failed query when no other query follows', async () => {
    const { isFresh, advance, fail } = setUp();
    await fail();
    advance(1000);
    expect(isFresh(0)).toBe(false);
  });

  it('keeps the limit of 30 s, even 10 s after a failed query, while the next query is still running', async () => {
    const { staleness, isFresh, advance, fail } = setUp();
    await fail();
    const slow = Promise.withResolvers<string>();
    const running = staleness.track(() => slow.promise);
    advance(10_000);
    expect(isFresh(0)).toBe(true);
    slow.resolve('back');
    await running;
    expect(isFresh(0)).toBe(false);
  });

  it('treats a cached value as stale when the clock is set back', () => {
    const { isFresh, advance } = setUp();
    advance(-5000);
    expect(isFresh(0)).toBe(false);
  });
});
