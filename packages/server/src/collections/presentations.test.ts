import { queryObjects } from 'node:v8';
import pino from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openTestDatabase } from '../store/testing/test-database.ts';
import { createPresentations } from './presentations.ts';

it('a follower of a presentation keeps a constant number of promises in memory while the presenter changes nothing', async () => {
  const { db, close } = await openTestDatabase('SQLite');
  onTestFinished(close);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const presentations = createPresentations({
    db,
    now: () => new Date(),
    log: pino({ level: 'silent' }),
    collections: { findOwn: () => Promise.reject(new Error('no presenter')) },
  });
  const { signal } = new AbortController();
  const events = presentations.follow('collection', {
    signal,
    waitMs: Number.POSITIVE_INFINITY,
    mayFollow: async () => true,
  });
  const end = (async () => {
    for await (const _ of events); // receives only the retry interval and comments
  })();
  const countPromises = () => queryObjects(Promise, { format: 'count' }); // collects garbage first
  await vi.advanceTimersByTimeAsync(5000);
  const before = countPromises();
  await vi.advanceTimersByTimeAsync(200_000); // the follower waits again every second
  expect(countPromises() - before).toBeLessThan(50);
  presentations.close();
  await end;
});
