import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createIdlePrefetch } from './idle-prefetch.ts';
import type { FetchPixels } from './pixels.ts';

const descriptor = {
  width: 40_000,
  height: 30_000,
  tileSize: 240,
  overlap: 0,
  format: 'jpeg',
  profile: null,
};
const field = { x: 20_000, y: 15_000, zoom: 1, rotation: 0, isMirrored: false };

beforeEach(() => {
  vi.useFakeTimers();
  vi.unstubAllGlobals();
});

/**
 * Creates a prefetch for the middle of a slide at full resolution.
 *
 * @param respond returns the response to each request; without it, requests never end
 */
function prefetchWith(respond?: () => Response) {
  const signals: AbortSignal[] = [];
  const fetchPixels = vi.fn<FetchPixels>((_, { signal }) => {
    signals.push(signal);
    return respond ? Promise.resolve(respond()) : new Promise(() => {});
  });
  /** Aborted when the slide is closed. */
  const slideClosing = new AbortController();
  const prefetch = createIdlePrefetch({
    view: {
      destination: () => field,
      size: () => ({ width: 1280, height: 800 }),
      pointer: () => null,
      prefetch: async (_, __, load) => void (await load()),
    },
    descriptor,
    urlOf: ({ level, column, row }) => `/${level}/${column}_${row}`,
    fetchPixels,
    signal: slideClosing.signal,
  });
  return { prefetch, fetchPixels, signals, slideClosing };
}

describe('createIdlePrefetch (loads tiles around a view at rest)', () => {
  it('loads 4 tiles at a time, with low priority, when the view has not moved for 150 ms', () => {
    const { prefetch, fetchPixels } = prefetchWith();
    prefetch.onSharp();
    vi.advanceTimersByTime(149);
    expect(fetchPixels).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(fetchPixels.mock.calls.map(([, { priority }]) => priority)).toEqual(['low', 'low', 'low', 'low']);
  });

  it('aborts its requests when visible tiles are missing', () => {
    const { prefetch, signals } = prefetchWith();
    prefetch.onSharp();
    vi.advanceTimersByTime(200);
    prefetch.onTilesMissing();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true, true]);
  });

  it('requests nothing while the view is moving', () => {
    const { prefetch, fetchPixels } = prefetchWith();
    prefetch.onSharp();
    for (let step = 0; step < 20; step += 1) {
      vi.advanceTimersByTime(100);
      prefetch.onMove();
    }
    expect(fetchPixels).not.toHaveBeenCalled();
    vi.advanceTimersByTime(200);
    expect(fetchPixels).toHaveBeenCalled();
  });

  it('requests nothing after a movement of the view until all visible tiles are drawn', () => {
    const { prefetch, fetchPixels } = prefetchWith();
    prefetch.onTilesMissing();
    prefetch.onMove();
    vi.advanceTimersByTime(1000);
    expect(fetchPixels).not.toHaveBeenCalled();
  });

  it('requests nothing for 30 s after the server has responded that it is busy', async () => {
    const { prefetch, fetchPixels } = prefetchWith(() => new Response(null, { status: 503 }));
    prefetch.onSharp();
    await vi.advanceTimersByTimeAsync(200);
    const callsBeforePause = fetchPixels.mock.calls.length;
    expect(callsBeforePause).toBeLessThanOrEqual(4);
    prefetch.onTilesMissing();
    prefetch.onSharp();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(fetchPixels).toHaveBeenCalledTimes(callsBeforePause);
    prefetch.onTilesMissing();
    await vi.advanceTimersByTimeAsync(11_000);
    prefetch.onSharp();
    await vi.advanceTimersByTimeAsync(200);
    expect(fetchPixels.mock.calls.length).toBeGreaterThan(callsBeforePause);
  });

  it.each([
    ['the user has asked the browser to use less data', { saveData: true }],
    ['the browser reports a 3g connection', { effectiveType: '3g' }],
    ['the browser reports a slow 2g connection', { effectiveType: 'slow-2g' }],
  ])('requests nothing when %s', (_, connection) => {
    vi.stubGlobal('navigator', { connection });
    const { prefetch, fetchPixels } = prefetchWith();
    prefetch.onSharp();
    vi.advanceTimersByTime(1000);
    expect(fetchPixels).not.toHaveBeenCalled();
  });

  it('requests nothing after the slide is closed', () => {
    const { prefetch, fetchPixels, slideClosing } = prefetchWith();
    prefetch.onSharp();
    slideClosing.abort();
    vi.advanceTimersByTime(1000);
    expect(fetchPixels).not.toHaveBeenCalled();
  });
});
