import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { FetchPixels } from './pixels.ts';
import { createTileLoading, type LoadingState } from './tile-loading.ts';

type Answer = Response | 'session-lost' | Error;

/** Loads one tile from a server that gives these responses in turn. */
function loadingFrom(...answers: Answer[]) {
  const states: LoadingState[] = [];
  const end = new AbortController();
  const fetchPixels = vi.fn<FetchPixels>(async () => {
    const answer = answers.shift() ?? new Response('tile');
    if (answer instanceof Error) throw answer;
    return answer;
  });
  const tiles = createTileLoading({
    fetchPixels,
    signal: end.signal,
    onChange: (state) => states.push(state),
  });
  return { tiles, states, fetchPixels, end };
}

/** A response that the test resolves. */
function later() {
  const { promise, resolve: give } = Promise.withResolvers<Response>();
  return { answer: () => promise, give };
}

const refused = (status: number) => new Response(null, { status });

beforeEach(() => {
  vi.useFakeTimers();
});

describe('tile loading', () => {
  it('counts requested and loaded tiles', async () => {
    const { tiles, states } = loadingFrom();
    await Promise.all([tiles.load('/a'), tiles.load('/b')]);
    expect(states.at(1)).toEqual({ phase: 'tiles', loaded: 0, requested: 2 });
    expect(states.at(-1)).toEqual({ phase: 'tiles', loaded: 2, requested: 2 });
    expect(tiles.hasLoaded()).toBe(true);
  });

  it('sends one request for a tile that is requested twice at the same time', async () => {
    const { tiles, fetchPixels } = loadingFrom();
    const [slide, overview] = await Promise.all([tiles.load('/a'), tiles.load('/a')]);
    expect(slide).toBe(overview);
    expect(fetchPixels).toHaveBeenCalledOnce();
  });

  it('does not request a preloaded tile a second time', async () => {
    const { tiles, fetchPixels } = loadingFrom();
    const [one, same] = tiles.preload(['/a', '/a']);
    await vi.advanceTimersByTimeAsync(500);
    const loaded = await tiles.load('/a');
    expect(await loaded.text()).toBe('tile');
    expect([await one, await same]).toEqual([loaded, loaded]);
    expect(fetchPixels).toHaveBeenCalledOnce();
  });

  it('requests other tiles only after the tiles of the first view have arrived', async () => {
    const { tiles, fetchPixels } = loadingFrom();
    const first = later();
    fetchPixels.mockImplementationOnce(first.answer);
    void tiles.preload(['/a']);
    const coarser = tiles.load('/b');
    await vi.advanceTimersByTimeAsync(500);
    expect(fetchPixels).toHaveBeenCalledOnce();
    first.give(new Response('tile'));
    await coarser;
    expect(fetchPixels).toHaveBeenCalledTimes(2);
  });

  it('delays other tiles by at most a second when the tiles of the first view do not arrive', async () => {
    const { tiles, fetchPixels } = loadingFrom();
    fetchPixels.mockImplementationOnce(later().answer);
    void tiles.preload(['/a']);
    const coarser = tiles.load('/b');
    await vi.advanceTimersByTimeAsync(1000);
    expect(await (await coarser).text()).toBe('tile');
  });

  it('rejects the request for a tile whose preload failed', async () => {
    const { tiles } = loadingFrom(refused(404), refused(404), refused(404), refused(404));
    void tiles.preload(['/a']);
    await vi.advanceTimersByTimeAsync(8000);
    await expect(tiles.load('/a')).rejects.toMatchObject({ failure: { status: 404 } });
  });

  it.each([
    ['a temporary server error', [refused(503), refused(500)]],
    [
      'a network that is gone for a while',
      [new TypeError('Failed to fetch'), new TypeError('Failed to fetch')],
    ],
  ])('retries after %s and reports the retry', async (_, answers) => {
    const { tiles, states, fetchPixels } = loadingFrom(...answers);
    const tile = tiles.load('/a');
    await vi.advanceTimersByTimeAsync(1000);
    expect(fetchPixels).toHaveBeenCalledTimes(2);
    expect(states.at(-1)).toEqual({ phase: 'retrying' });
    await vi.advanceTimersByTimeAsync(2000);
    expect(await (await tile).text()).toBe('tile');
    expect(states.at(-1)).toEqual({ phase: 'tiles', loaded: 1, requested: 1 });
  });

  it('rejects the request for a tile after four failed attempts', async () => {
    const { tiles, fetchPixels } = loadingFrom(refused(502), refused(502), refused(502), refused(502));
    const tile = tiles.load('/a').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(7000);
    expect(await tile).toMatchObject({ failure: { kind: 'status', status: 502 } });
    expect(fetchPixels).toHaveBeenCalledTimes(4);
    expect(tiles.hasLoaded()).toBe(false);
  });

  it.each([
    ['a session that is rejected after its renewal', refused(401), { kind: 'status', status: 401 }],
    ['a session that cannot be created', 'session-lost' as const, { kind: 'session-lost' }],
  ])('does not retry after %s', async (_, answer, failure) => {
    const { tiles, fetchPixels } = loadingFrom(answer);
    await expect(tiles.load('/a')).rejects.toMatchObject({ failure });
    expect(fetchPixels).toHaveBeenCalledOnce();
  });

  it('reports the renewal of the session instead of a retry when both are running', async () => {
    const { tiles, states, fetchPixels } = loadingFrom(refused(503));
    const retriedTile = tiles.load('/a');
    await vi.advanceTimersByTimeAsync(0);
    let renew: (answer: Response) => void = () => {};
    fetchPixels.mockImplementationOnce((_, { onRenewing }) => {
      onRenewing();
      return new Promise((resolve) => {
        renew = resolve;
      });
    });
    const renewing = tiles.load('/b');
    expect(states.at(-1)).toEqual({ phase: 'renewing-session' });
    renew(new Response('tile'));
    await renewing;
    expect(states.at(-1)).toEqual({ phase: 'retrying' });
    await vi.advanceTimersByTimeAsync(1000);
    await retriedTile;
  });

  it('aborts all requests when the slide is closed', async () => {
    const { tiles, end, fetchPixels } = loadingFrom(refused(503));
    const tile = tiles.load('/a').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(500);
    end.abort();
    expect(await tile).toMatchObject({ name: 'AbortError' });
    expect(fetchPixels).toHaveBeenCalledOnce();
  });
});
