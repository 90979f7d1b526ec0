import { queryObjects } from 'node:v8';
import pino from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openTestDatabase } from '../store/testing/test-database.ts';
import { createPresentations } from './presentations.ts';

it('createPresentations (live slide presentations): at most 50 additional promises stay in memory while a follower waits 200 s for a change by the presenter', async () => {
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
    follower: 'reader',
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
  expect(countPromises() - before).toBeLessThanOrEqual(50);
  presentations.close();
  await end;
});

it('createPresentations (live slide presentations): the 21st event stream of a follower (limit: 20) ends the oldest stream of this follower', async () => {
  const { db, close } = await openTestDatabase('SQLite');
  onTestFinished(close);
  const presentations = createPresentations({
    db,
    now: () => new Date(),
    log: pino({ level: 'silent' }),
    collections: { findOwn: () => Promise.reject(new Error('no presenter')) },
  });
  onTestFinished(() => presentations.close());
  const open = async (follower: string) => {
    const events = presentations.follow('collection', {
      follower,
      signal: new AbortController().signal,
      waitMs: Number.POSITIVE_INFINITY,
      mayFollow: async () => true,
    });
    await events.next(); // the retry interval; opens the stream
    return events;
  };
  const streams = [];
  for (let n = 0; n < 20; n++) streams.push(await open('reader'));
  await open('other reader');
  let hasEnded = false;
  const next = streams[0]?.next().then(({ done }) => {
    hasEnded = done === true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(hasEnded).toBe(false);
  await open('reader');
  await next;
  expect(hasEnded).toBe(true);
});

it('createPresentations (live slide presentations): only one line is logged when all reads of the database fail for a second (about 16 reads)', async () => {
  const { db, close } = await openTestDatabase('SQLite');
  await close(); // each read fails
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const presentations = createPresentations({
    db,
    now: () => new Date(),
    log: pino({}, { write: (line) => lines.push(line) }),
    collections: { findOwn: () => Promise.reject(new Error('no presenter')) },
  });
  onTestFinished(() => presentations.close());
  const events = presentations.follow('collection', {
    follower: 'reader',
    signal: new AbortController().signal,
    waitMs: Number.POSITIVE_INFINITY,
    mayFollow: async () => true,
  });
  await events.next(); // the retry interval; opens the stream
  await vi.advanceTimersByTimeAsync(1000); // the database is read about 16 times
  expect(lines).toEqual([expect.stringContaining('live presentations could not be read')]);
});
