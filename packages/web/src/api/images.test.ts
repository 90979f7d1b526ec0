import { describe, expect, it, vi } from 'vitest';
import {
  type CatalogueImage,
  descriptorAddress,
  fetchPixels,
  keepUnchanged,
  thumbnailAddress,
  tileAddress,
} from './images.ts';

describe('addresses of pixels', () => {
  it('are those of the API', () => {
    expect(thumbnailAddress('7', 's/1')).toBe('/api/v1/image-catalog/proxy/7/thumbnail.jpg?session=s%2F1');
    expect(descriptorAddress('7')).toBe('/api/v1/image-catalog/proxy/7/image.dzi');
    expect(tileAddress('7', { level: 12, column: 3, row: 4, format: 'jpeg' })).toBe(
      '/api/v1/image-catalog/proxy/7/image_files/12/3_4.jpeg',
    );
  });

  it.each([
    ['a thumbnail', () => thumbnailAddress('', 's')],
    ['a descriptor', () => descriptorAddress('')],
    ['a tile', () => tileAddress('', { level: 0, column: 0, row: 0, format: 'jpeg' })],
  ])('need an image id: %s', (_, address) => {
    expect(address).toThrow('Image ID is required');
  });
});

describe('loading pixels', () => {
  const signal = new AbortController().signal;

  /** The server answers these statuses in turn, with the session each request carried. */
  function serverAnswering(...statuses: number[]) {
    const asked: string[] = [];
    vi.stubGlobal('fetch', async (address: string) => {
      asked.push(address);
      return new Response('pixels', { status: statuses.shift() ?? 200 });
    });
    return asked;
  }

  it('sends the session of the moment', async () => {
    const asked = serverAnswering(200);
    const sessions = { get: async () => 'one', renew: async () => 'two' };
    const answer = await fetchPixels('/tile', { signal, onRenewing: vi.fn<() => void>() }, sessions);
    expect(answer).toMatchObject({ status: 200 });
    expect(asked).toEqual(['/tile?session=one']);
  });

  it('renews a refused session, says so, and tries once more after 1 s', async () => {
    vi.useFakeTimers();
    const asked = serverAnswering(401, 401, 200);
    const onRenewing = vi.fn<() => void>();
    const renew = vi.fn<(refused: string) => Promise<string>>(async () => 'two');
    const answer = fetchPixels('/tile', { signal, onRenewing }, { get: async () => 'one', renew });
    await vi.advanceTimersByTimeAsync(999);
    expect(asked).toEqual(['/tile?session=one']);
    expect(onRenewing).toHaveBeenCalledOnce();
    expect(renew).toHaveBeenCalledWith('one');
    await vi.advanceTimersByTimeAsync(1);
    expect(await answer).toMatchObject({ status: 401 });
    expect(asked).toEqual(['/tile?session=one', '/tile?session=two']);
  });

  it.each([
    [
      'no session can be made at all',
      { get: () => Promise.reject(new Error('500')), renew: async () => 'two' },
    ],
    [
      'none can be made in place of a refused one',
      { get: async () => 'one', renew: () => Promise.reject(new Error('500')) },
    ],
  ])('says that the session is lost when %s', async (_, sessions) => {
    serverAnswering(401);
    expect(await fetchPixels('/tile', { signal, onRenewing: vi.fn<() => void>() }, sessions)).toBe(
      'session-lost',
    );
  });

  it('stops waiting when it is aborted', async () => {
    const asked = serverAnswering(401);
    const end = new AbortController();
    const sessions = { get: async () => 'one', renew: async () => 'two' };
    const answer = fetchPixels('/tile', { signal: end.signal, onRenewing: () => end.abort() }, sessions);
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
    expect(asked).toHaveLength(1);
  });
});

describe('a list that is asked for again', () => {
  const image = (id: string, organ_type: string) => ({ id, organ_type }) as CatalogueImage;

  it('keeps the images that have not changed, wherever they stand now', () => {
    const a = image('a', 'Liver');
    const b = image('b', 'Liver');
    const now = keepUnchanged([a, b], [image('new', 'Liver'), image('a', 'Liver'), image('b', 'Colon')]);
    expect(now.map(({ id, organ_type }) => `${id} ${organ_type}`)).toEqual([
      'new Liver',
      'a Liver',
      'b Colon',
    ]);
    expect(now[1]).toBe(a);
    expect(now[2]).not.toBe(b);
  });
});
