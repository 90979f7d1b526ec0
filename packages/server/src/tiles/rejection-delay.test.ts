import { SlideError } from '@lamina/slide';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { delayRejection, maxRejectionDelayMs, minRejectionDelayMs } from './rejection-delay.ts';

const refusedJob = () => Promise.reject(new SlideError('BUSY', 'The render queue is full'));

/** Passes the work to delayRejection. @returns its outcome so far: whether it has succeeded or failed (`isSettled`), and the error */
function observeDelayed(
  work: Promise<unknown>,
  signal = new AbortController().signal,
  closing = new AbortController().signal,
) {
  const state = { error: null as unknown, isSettled: false };
  delayRejection(work, { signal }, closing).then(
    () => {
      state.isSettled = true;
    },
    (error: unknown) => Object.assign(state, { error, isSettled: true }),
  );
  return state;
}

describe('delayRejection (delays the response to a tile request that the render queue rejects)', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('rejects with BUSY only after 1 to 3 s when the render queue is full', async () => {
    const outcome = observeDelayed(refusedJob());
    await vi.advanceTimersByTimeAsync(minRejectionDelayMs - 1);
    expect(outcome.isSettled).toBe(false);
    await vi.advanceTimersByTimeAsync(maxRejectionDelayMs - minRejectionDelayMs + 1);
    expect(outcome.error).toMatchObject({ code: 'BUSY' });
  });

  it('ends the delay of a request rejected with BUSY as soon as its client disconnects, and leaves no timer', async () => {
    const client = new AbortController();
    const outcome = observeDelayed(refusedJob(), client.signal);
    await vi.advanceTimersByTimeAsync(0);
    client.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(outcome.isSettled).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends the delay of a request rejected with BUSY as soon as the server stops', async () => {
    const closing = new AbortController();
    const outcome = observeDelayed(refusedJob(), undefined, closing.signal);
    await vi.advanceTimersByTimeAsync(0);
    closing.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(outcome.isSettled).toBe(true);
  });

  it('rejects immediately with errors other than BUSY', async () => {
    const outcome = observeDelayed(Promise.reject(new SlideError('DECODE_FAILED', 'Damaged')));
    await vi.advanceTimersByTimeAsync(0);
    expect(outcome.error).toMatchObject({ code: 'DECODE_FAILED' });
  });

  it('resolves immediately when the tile is rendered', async () => {
    const outcome = observeDelayed(Promise.resolve('tile'));
    await vi.advanceTimersByTimeAsync(0);
    expect(outcome).toEqual({ error: null, isSettled: true });
  });
});
