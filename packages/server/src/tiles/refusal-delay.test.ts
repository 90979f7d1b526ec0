import { SlideError } from '@lamina/slide';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { delayRefusal, maxRefusalDelayMs, minRefusalDelayMs } from './refusal-delay.ts';

const busy = () => Promise.reject(new SlideError('BUSY', 'The render queue is full'));

/** Runs the work with delayRefusal. @returns its state: whether it has succeeded or failed (`isSettled`), and the error */
function observe(work: Promise<unknown>, signal = new AbortController().signal) {
  const state = { error: null as unknown, isSettled: false };
  delayRefusal(work, () => signal).then(
    () => {
      state.isSettled = true;
    },
    (error: unknown) => Object.assign(state, { error, isSettled: true }),
  );
  return state;
}

describe('delayed refusal when the render queue is full', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('rejects with BUSY after 1 to 3 s', async () => {
    const refused = observe(busy());
    await vi.advanceTimersByTimeAsync(minRefusalDelayMs - 1);
    expect(refused.isSettled).toBe(false);
    await vi.advanceTimersByTimeAsync(maxRefusalDelayMs - minRefusalDelayMs + 1);
    expect(refused.error).toMatchObject({ code: 'BUSY' });
  });

  it('rejects as soon as the client disconnects, and leaves no timer', async () => {
    const client = new AbortController();
    const refused = observe(busy(), client.signal);
    await vi.advanceTimersByTimeAsync(0);
    client.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(refused.isSettled).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('rejects other errors immediately', async () => {
    const failed = observe(Promise.reject(new SlideError('DECODE_FAILED', 'Damaged')));
    await vi.advanceTimersByTimeAsync(0);
    expect(failed.error).toMatchObject({ code: 'DECODE_FAILED' });
  });

  it('returns a result immediately', async () => {
    const done = observe(Promise.resolve('tile'));
    await vi.advanceTimersByTimeAsync(0);
    expect(done).toEqual({ error: null, isSettled: true });
  });
});
