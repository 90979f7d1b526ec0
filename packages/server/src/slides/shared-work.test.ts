import { describe, expect, it } from 'vitest';
import { createSharedWork } from './shared-work.ts';

const staying = () => new AbortController().signal;

describe('work that several want at once', () => {
  it('is done once for all of them, and anew for whoever comes later', async () => {
    const shared = createSharedWork<number>();
    let started = 0;
    const work = async () => ++started;
    expect(await Promise.all([1, 2, 3].map(() => shared.join('a', staying(), work)))).toEqual([1, 1, 1]);
    expect(await shared.join('a', staying(), work)).toBe(2);
  });

  it('is kept apart by its key', async () => {
    const shared = createSharedWork<string>();
    const of = (key: string) => shared.join(key, staying(), async () => key);
    expect(await Promise.all([of('a'), of('b')])).toEqual(['a', 'b']);
  });

  it('goes on when one of several leaves, and ends when the last one does', async () => {
    const shared = createSharedWork<string>();
    const gate = Promise.withResolvers<string>();
    let workSignal: AbortSignal | undefined;
    const start = (signal: AbortSignal) => {
      workSignal = signal;
      return gate.promise;
    };
    const [first, second] = [new AbortController(), new AbortController()];
    const waiting = [shared.join('a', first.signal, start), shared.join('a', second.signal, start)];
    first.abort();
    await expect(waiting[0]).rejects.toMatchObject({ name: 'AbortError' });
    expect(workSignal?.aborted).toBe(false);
    second.abort();
    await expect(waiting[1]).rejects.toMatchObject({ name: 'AbortError' });
    expect(workSignal?.aborted).toBe(true);
  });

  it('tells all of them of a failure, and is tried again afterwards', async () => {
    const shared = createSharedWork<string>();
    const failing = () => Promise.reject(new Error('broken'));
    const waiting = [shared.join('a', staying(), failing), shared.join('a', staying(), failing)];
    for (const one of waiting) await expect(one).rejects.toThrow('broken');
    expect(await shared.join('a', staying(), async () => 'whole')).toBe('whole');
  });

  it('is not started for someone who has already left', async () => {
    const shared = createSharedWork<string>();
    let started = false;
    const gone = AbortSignal.abort();
    await expect(
      shared.join('a', gone, async () => {
        started = true;
        return '';
      }),
    ).rejects.toMatchObject({ name: 'AbortError' });
    expect(started).toBe(false);
  });
});
