import { describe, expect, it, vi } from 'vitest';
import { SlideError } from '../slide.ts';
import { createStoreGuard, StoreFault, type StoreLimits, storeLimits } from './store-guard.ts';

const passing = () => new StoreFault('STORE_UNAVAILABLE', 'The object store answered 500', true);
const refusal = () => new SlideError('FILE_MISSING', 'The object is not there');
/** Each failure is one attempt, unless a test is about attempts. */
const guard = (limits: Partial<StoreLimits> = {}) =>
  createStoreGuard({ ...storeLimits, retries: 0, backoffMs: 1, ...limits });
const failing = (error: Error) => async () => {
  throw error;
};

describe('a request to the store', () => {
  it('is tried again after a passing fault, and after one that nobody expected', async () => {
    const attempt = vi
      .fn<() => Promise<string>>()
      .mockRejectedValueOnce(passing())
      .mockRejectedValueOnce(new TypeError('fetch failed'))
      .mockResolvedValue('bytes');
    expect(await guard({ retries: 2 }).ask(attempt)).toBe('bytes');
  });

  it('is not tried again after a refusal', async () => {
    const attempt = vi.fn<() => Promise<never>>(failing(refusal()));
    await expect(guard({ retries: 2 }).ask(attempt)).rejects.toMatchObject({ code: 'FILE_MISSING' });
    expect(attempt).toHaveBeenCalledOnce();
  });

  it('is not tried again when the pause before would take all the time that is left', async () => {
    const attempt = vi.fn<() => Promise<never>>(failing(passing()));
    await expect(guard({ retries: 2, backoffMs: 60_000 }).ask(attempt)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
    expect(attempt).toHaveBeenCalledOnce();
  });

  it('is interrupted when it takes too long', async () => {
    const attempt = vi.fn<(signal: AbortSignal) => Promise<never>>(
      (signal) =>
        new Promise<never>((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('interrupted')));
        }),
    );
    await expect(guard({ attemptMs: 1 }).ask(attempt)).rejects.toMatchObject({ code: 'STORE_TIMEOUT' });
  });
});

describe('the circuit', () => {
  async function opened(limits: Partial<StoreLimits> = {}) {
    const opening = guard(limits);
    for (let i = 0; i < 5; i++) await expect(opening.ask(failing(passing()))).rejects.toThrow('500');
    return opening;
  }

  it('opens after five failures in a row: then everything fails at once, and nothing is asked', async () => {
    const open = await opened();
    const attempt = vi.fn<() => Promise<string>>(async () => 'bytes');
    await expect(open.ask(attempt)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: 'The object store has not answered lately and is left alone',
    });
    expect(attempt).not.toHaveBeenCalled();
  });

  it.each([
    ['an answer', async () => 'bytes'],
    ['a refusal', failing(refusal())],
  ])('does not open as long as there is %s in between', async (_, between) => {
    const closed = guard();
    for (let i = 0; i < 4; i++) await closed.ask(failing(passing())).catch(() => {});
    await closed.ask(between).catch(() => {});
    for (let i = 0; i < 4; i++) await closed.ask(failing(passing())).catch(() => {});
    expect(await closed.ask(async () => 'bytes')).toBe('bytes');
  });

  it('lets one probe through after its time, and closes when that has an answer', async () => {
    const open = await opened({ probeMs: 0 });
    const gate = Promise.withResolvers<string>();
    const probe = open.ask(() => gate.promise);
    await expect(open.ask(async () => 'another')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    gate.resolve('bytes');
    expect(await probe).toBe('bytes');
    expect(await open.ask(async () => 'another')).toBe('another');
  });

  it('tries a probe once, and stays open when it fails', async () => {
    const open = await opened({ probeMs: 0, retries: 2 });
    const attempt = vi.fn<() => Promise<never>>(failing(passing()));
    await expect(open.ask(attempt)).rejects.toThrow('500');
    expect(attempt).toHaveBeenCalledOnce();
  });

  it('learns nothing from a probe of somebody who has gone', async () => {
    const open = await opened({ probeMs: 0, retries: 2 });
    const leaving = new AbortController();
    const probe = open.ask(() => {
      leaving.abort(new Error('gone'));
      return Promise.reject(new Error('interrupted'));
    }, leaving.signal);
    await expect(probe).rejects.toThrow('gone');
    // It is still open: whoever comes next is the probe, and tries once.
    const attempt = vi.fn<() => Promise<never>>(failing(passing()));
    await expect(open.ask(attempt)).rejects.toThrow('500');
    expect(attempt).toHaveBeenCalledOnce();
    expect(await open.ask(async () => 'bytes')).toBe('bytes');
  });
});

describe('requests at the same time', () => {
  it('are so many, the others wait in the order they came, and one too many is refused', async () => {
    const narrow = guard({ atOnce: 1, waiting: 2 });
    const order: string[] = [];
    const gate = Promise.withResolvers<void>();
    const first = narrow.ask(() => gate.promise);
    const others = ['a', 'b'].map((name) => narrow.ask(async () => order.push(name)));
    await expect(narrow.ask(async () => order.push('c'))).rejects.toMatchObject({ code: 'BUSY' });
    expect(order).toEqual([]);
    gate.resolve();
    await Promise.all([first, ...others]);
    expect(order).toEqual(['a', 'b']);
  });

  it('leave their place when nobody waits for them any more', async () => {
    const narrow = guard({ atOnce: 1, waiting: 1 });
    const gate = Promise.withResolvers<void>();
    const leaving = new AbortController();
    const first = narrow.ask(() => gate.promise);
    const gone = narrow.ask(async () => 'gone', leaving.signal);
    leaving.abort(new Error('gone'));
    const next = narrow.ask(async () => 'next');
    gate.resolve();
    await expect(gone).rejects.toThrow('gone');
    await first;
    expect(await next).toBe('next');
  });

  it('do not wait for their turn longer than for an answer', async () => {
    const narrow = guard({ atOnce: 1, totalMs: 20 });
    const gate = Promise.withResolvers<void>();
    const first = narrow.ask(() => gate.promise, undefined, { totalMs: 60_000, attemptMs: 60_000 });
    await expect(narrow.ask(async () => 'late')).rejects.toMatchObject({ code: 'STORE_TIMEOUT' });
    gate.resolve();
    await first;
  });
});
