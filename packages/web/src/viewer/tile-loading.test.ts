import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { FetchPixels } from './pixels.ts';
import { createTileLoading, type LoadingState } from './tile-loading.ts';

/** What `fetchPixels` returns or, for an Error, throws. */
type FetchResult = Response | 'session-lost' | Error;

/** Creates the tile loading of a slide whose requests have these results in turn; later requests get a tile. */
function tileLoadingWith(...results: FetchResult[]) {
  const states: LoadingState[] = [];
  /** Aborted when the slide is closed. */
  const slideClosing = new AbortController();
  const fetchPixels = vi.fn<FetchPixels>(async () => {
    const result = results.shift() ?? new Response('tile');
    if (result instanceof Error) throw result;
    return result;
  });
  const tiles = createTileLoading({
    fetchPixels,
    signal: slideClosing.signal,
    onChange: (state) => states.push(state),
  });
  return { tiles, states, fetchPixels, slideClosing };
}

/** Returns a `fetchPixels` whose response the test gives later by calling `respond`. */
function delayedResponse() {
  const { promise, resolve: respond } = Promise.withResolvers<Response>();
  return { fetch: () => promise, respond };
}

const errorResponse = (status: number) => new Response(null, { status });

beforeEach(() => {
  vi.useFakeTimers();
});

describe('createTileLoading (loads the tiles of a slide with an image session, the credential for tiles)', () => {
  it('reports the numbers of requested and loaded tiles', async () => {
    const { tiles, states } = tileLoadingWith();
    await Promise.all([tiles.load('/a'), tiles.load('/b')]);
    expect(states.at(1)).toEqual({ phase: 'tiles', loaded: 0, requested: 2 });
    expect(states.at(-1)).toEqual({ phase: 'tiles', loaded: 2, requested: 2 });
    expect(tiles.hasLoaded()).toBe(true);
  });

  it('sends one request when the slide and the navigator load the same tile at the same time', async () => {
    const { tiles, fetchPixels } = tileLoadingWith();
    const [slideTile, navigatorTile] = await Promise.all([tiles.load('/a'), tiles.load('/a')]);
    expect(slideTile).toBe(navigatorTile);
    expect(fetchPixels).toHaveBeenCalledOnce();
  });

  it('requests a preloaded tile only once', async () => {
    const { tiles, fetchPixels } = tileLoadingWith();
    const [preloaded, preloadedAgain] = tiles.preload(['/a', '/a']);
    await vi.advanceTimersByTimeAsync(500);
    const loaded = await tiles.load('/a');
    expect(await loaded.text()).toBe('tile');
    expect([await preloaded, await preloadedAgain]).toEqual([loaded, loaded]);
    expect(fetchPixels).toHaveBeenCalledOnce();
  });

  it('requests tiles outside the first view only after the tiles of the first view have arrived', async () => {
    const { tiles, fetchPixels } = tileLoadingWith();
    const firstViewResponse = delayedResponse();
    fetchPixels.mockImplementationOnce(firstViewResponse.fetch);
    void tiles.preload(['/a']);
    const coarser = tiles.load('/b');
    await vi.advanceTimersByTimeAsync(500);
    expect(fetchPixels).toHaveBeenCalledOnce();
    firstViewResponse.respond(new Response('tile'));
    await coarser;
    expect(fetchPixels).toHaveBeenCalledTimes(2);
  });

  it('delays tiles outside the first view by at most 1 s when the tiles of the first view do not arrive', async () => {
    const { tiles, fetchPixels } = tileLoadingWith();
    fetchPixels.mockImplementationOnce(delayedResponse().fetch);
    void tiles.preload(['/a']);
    const coarser = tiles.load('/b');
    await vi.advanceTimersByTimeAsync(1000);
    expect(await (await coarser).text()).toBe('tile');
  });

  it('rejects the request for a tile whose preload failed', async () => {
    const { tiles } = tileLoadingWith(
      errorResponse(404),
      errorResponse(404),
      errorResponse(404),
      errorResponse(404),
    );
    void tiles.preload(['/a']);
    await vi.advanceTimersByTimeAsync(8000);
    await expect(tiles.load('/a')).rejects.toMatchObject({ failure: { status: 404 } });
  });

  it.each([
    ['a temporary server error', [errorResponse(503), errorResponse(500)]],
    ['a temporary network error', [new TypeError('Failed to fetch'), new TypeError('Failed to fetch')]],
  ])('retries after %s and reports the retry', async (_, results) => {
    const { tiles, states, fetchPixels } = tileLoadingWith(...results);
    const tile = tiles.load('/a');
    await vi.advanceTimersByTimeAsync(1000);
    expect(fetchPixels).toHaveBeenCalledTimes(2);
    expect(states.at(-1)).toEqual({ phase: 'retrying' });
    await vi.advanceTimersByTimeAsync(2000);
    expect(await (await tile).text()).toBe('tile');
    expect(states.at(-1)).toEqual({ phase: 'tiles', loaded: 1, requested: 1 });
  });

  it('rejects the request for a tile after four failed attempts', async () => {
    const { tiles, fetchPixels } = tileLoadingWith(
      errorResponse(502),
      errorResponse(502),
      errorResponse(502),
      errorResponse(502),
    );
    const tile = tiles.load('/a').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(7000);
    expect(await tile).toMatchObject({ failure: { kind: 'status', status: 502 } });
    expect(fetchPixels).toHaveBeenCalledTimes(4);
    expect(tiles.hasLoaded()).toBe(false);
  });

  it.each([
    ['the rejection of a renewed image session', errorResponse(401), { kind: 'status', status: 401 }],
    ['a failed renewal of the image session', 'session-lost' as const, { kind: 'session-lost' }],
  ])('rejects the request for a tile without a retry after %s', async (_, result, failure) => {
    const { tiles, fetchPixels } = tileLoadingWith(result);
    await expect(tiles.load('/a')).rejects.toMatchObject({ failure });
    expect(fetchPixels).toHaveBeenCalledOnce();
  });

  it('reports the renewal of the image session rather than the retry of a tile when both happen at the same time', async () => {
    const { tiles, states, fetchPixels } = tileLoadingWith(errorResponse(503));
    const retriedTile = tiles.load('/a');
    await vi.advanceTimersByTimeAsync(0);
    let respondAfterRenewal: (response: Response) => void = () => {};
    fetchPixels.mockImplementationOnce((_, { onRenewing }) => {
      onRenewing();
      return new Promise((resolve) => {
        respondAfterRenewal = resolve;
      });
    });
    const renewingTile = tiles.load('/b');
    expect(states.at(-1)).toEqual({ phase: 'renewing-session' });
    respondAfterRenewal(new Response('tile'));
    await renewingTile;
    expect(states.at(-1)).toEqual({ phase: 'retrying' });
    await vi.advanceTimersByTimeAsync(1000);
    await retriedTile;
  });

  it('aborts all requests when the slide is closed', async () => {
    const { tiles, slideClosing, fetchPixels } = tileLoadingWith(errorResponse(503));
    const tile = tiles.load('/a').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(500);
    slideClosing.abort();
    expect(await tile).toMatchObject({ name: 'AbortError' });
    expect(fetchPixels).toHaveBeenCalledOnce();
  });
});
