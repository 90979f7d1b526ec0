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

/** A prefetch whose requests never end unless `answer` is given. */
function prefetching(answer?: () => Response) {
  const signals: AbortSignal[] = [];
  const fetchPixels = vi.fn<FetchPixels>((_, { signal }) => {
    signals.push(signal);
    return answer ? Promise.resolve(answer()) : new Promise(() => {});
  });
  const end = new AbortController();
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
    signal: end.signal,
  });
  return { prefetch, fetchPixels, signals, end };
}

describe('createIdlePrefetch', () => {
  it('loads a few tiles at a time when the view has rested, with low priority', () => {
    const { prefetch, fetchPixels } = prefetching();
    prefetch.onSharp();
    expect(fetchPixels).not.toHaveBeenCalled();
    vi.advanceTimersByTime(200);
    expect(fetchPixels).toHaveBeenCalledTimes(4);
    expect(fetchPixels.mock.calls[0]?.[1].priority).toBe('low');
  });

  it('aborts its requests when visible tiles are missing, as after a movement', () => {
    const { prefetch, signals } = prefetching();
    prefetch.onSharp();
    vi.advanceTimersByTime(200);
    prefetch.onTilesMissing();
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });

  it('requests nothing while the view is moving', () => {
    const { prefetch, fetchPixels } = prefetching();
    prefetch.onSharp();
    for (let step = 0; step < 20; step += 1) {
      vi.advanceTimersByTime(100);
      prefetch.onMove();
    }
    expect(fetchPixels).not.toHaveBeenCalled();
    vi.advanceTimersByTime(200);
    expect(fetchPixels).toHaveBeenCalled();
  });

  it('requests nothing after a movement until all visible tiles are drawn', () => {
    const { prefetch, fetchPixels } = prefetching();
    prefetch.onTilesMissing();
    prefetch.onMove();
    vi.advanceTimersByTime(1000);
    expect(fetchPixels).not.toHaveBeenCalled();
  });

  it('stops for 30 s when the server responds that it is busy', async () => {
    const { prefetch, fetchPixels } = prefetching(() => new Response(null, { status: 503 }));
    prefetch.onSharp();
    await vi.advanceTimersByTimeAsync(200);
    const before = fetchPixels.mock.calls.length;
    expect(before).toBeLessThanOrEqual(4);
    prefetch.onTilesMissing();
    prefetch.onSharp();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(fetchPixels).toHaveBeenCalledTimes(before);
    prefetch.onTilesMissing();
    await vi.advanceTimersByTimeAsync(11_000);
    prefetch.onSharp();
    await vi.advanceTimersByTimeAsync(200);
    expect(fetchPixels.mock.calls.length).toBeGreaterThan(before);
  });

  it.each([{ saveData: true }, { effectiveType: '3g' }, { effectiveType: 'slow-2g' }])(
    'loads nothing when the browser reports the connection %o',
    (connection) => {
      vi.stubGlobal('navigator', { connection });
      const { prefetch, fetchPixels } = prefetching();
      prefetch.onSharp();
      vi.advanceTimersByTime(1000);
      expect(fetchPixels).not.toHaveBeenCalled();
    },
  );

  it('requests nothing after the slide is closed', () => {
    const { prefetch, fetchPixels, end } = prefetching();
    prefetch.onSharp();
    end.abort();
    vi.advanceTimersByTime(1000);
    expect(fetchPixels).not.toHaveBeenCalled();
  });
});
