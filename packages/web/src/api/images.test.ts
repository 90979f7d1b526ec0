import { describe, expect, it, vi } from 'vitest';
import { abortCallsAtSignOut } from './client.ts';
import { descriptorUrl, fetchPixels, thumbnailUrl, tileUrl } from './images.ts';

describe('thumbnailUrl, descriptorUrl and tileUrl (URLs of the pixels of a slide)', () => {
  it('return paths of the API below /api/v1/image-catalog/proxy', () => {
    expect(thumbnailUrl('7', 's/1')).toBe('/api/v1/image-catalog/proxy/7/thumbnail.jpg?session=s%2F1');
    expect(descriptorUrl('7')).toBe('/api/v1/image-catalog/proxy/7/image.dzi');
    expect(tileUrl('7', { level: 12, column: 3, row: 4, format: 'jpeg' })).toBe(
      '/api/v1/image-catalog/proxy/7/image_files/12/3_4.jpeg',
    );
  });

  it.each([
    ['thumbnailUrl', () => thumbnailUrl('', 's')],
    ['descriptorUrl', () => descriptorUrl('')],
    ['tileUrl', () => tileUrl('', { level: 0, column: 0, row: 0, format: 'jpeg' })],
  ])('throw an error for an empty image id: %s', (_, createUrl) => {
    expect(createUrl).toThrow('Image ID is required');
  });
});

describe('fetchPixels (requests with an image session, the credential for tiles)', () => {
  const signal = new AbortController().signal;

  /** Stubs a server that responds with these statuses in this order. @returns the requested URLs */
  function stubResponses(...statuses: number[]) {
    const urls: string[] = [];
    vi.stubGlobal('fetch', async (url: string) => {
      urls.push(url);
      return new Response('pixels', { status: statuses.shift() ?? 200 });
    });
    return urls;
  }

  it('adds the id of the current image session to the URL', async () => {
    const urls = stubResponses(200);
    const sessions = { get: async () => 'one', replaceRejected: async () => 'two' };
    const response = await fetchPixels('/tile', { signal, onRenewing: vi.fn<() => void>() }, sessions);
    expect(response).toMatchObject({ status: 200 });
    expect(urls).toEqual(['/tile?session=one']);
  });

  it('sends no request during sign-out: its promise stays pending until the caller aborts it', async () => {
    const requests: { address: string; signal: AbortSignal }[] = [];
    vi.stubGlobal('fetch', (address: string, { signal: requestSignal }: { signal: AbortSignal }) => {
      requests.push({ address, signal: requestSignal });
      return new Promise((_, reject) =>
        requestSignal.addEventListener('abort', () => reject(requestSignal.reason)),
      );
    });
    const replaceRejected = vi.fn<(rejectedId: string) => Promise<string>>(async () => 'two');
    const sessions = { get: async () => 'one', replaceRejected };
    const caller = new AbortController();
    const request = { signal: caller.signal, onRenewing: () => {} };
    const settled = vi.fn<() => void>();
    const load = (address: string) => fetchPixels(address, request, sessions).finally(settled);
    const before = load('/before');
    await vi.waitFor(() => expect(requests).toHaveLength(1));
    const allowReadingCalls = abortCallsAtSignOut();
    const meanwhile = load('/meanwhile');
    allowReadingCalls();
    expect(requests).toMatchObject([{ address: '/before?session=one', signal: { aborted: true } }]);
    await new Promise((resolve) => setTimeout(resolve)); // all promises that can settle have settled
    expect(settled).not.toHaveBeenCalled();
    caller.abort();
    await expect(before).rejects.toMatchObject({ name: 'AbortError' });
    await expect(meanwhile).rejects.toMatchObject({ name: 'AbortError' });
    expect(requests).toHaveLength(1);
    expect(replaceRejected).not.toHaveBeenCalled();
  });

  it('replaces the image session and retries once after 1 s when the server rejects the session with 401', async () => {
    vi.useFakeTimers();
    const urls = stubResponses(401, 401, 200);
    const onRenewing = vi.fn<() => void>();
    const replaceRejected = vi.fn<(rejectedId: string) => Promise<string>>(async () => 'two');
    const response = fetchPixels(
      '/tile',
      { signal, onRenewing },
      { get: async () => 'one', replaceRejected },
    );
    await vi.advanceTimersByTimeAsync(999);
    expect(urls).toEqual(['/tile?session=one']);
    expect(onRenewing).toHaveBeenCalledOnce();
    expect(replaceRejected).toHaveBeenCalledWith('one');
    await vi.advanceTimersByTimeAsync(1);
    expect(await response).toMatchObject({ status: 401 });
    expect(urls).toEqual(['/tile?session=one', '/tile?session=two']);
  });

  it.each([
    [
      'no session can be created',
      { get: () => Promise.reject(new Error('500')), replaceRejected: async () => 'two' },
    ],
    [
      'a rejected session cannot be replaced',
      { get: async () => 'one', replaceRejected: () => Promise.reject(new Error('500')) },
    ],
  ])('returns "session-lost" when %s', async (_, sessions) => {
    stubResponses(401);
    expect(await fetchPixels('/tile', { signal, onRenewing: vi.fn<() => void>() }, sessions)).toBe(
      'session-lost',
    );
  });

  it('rejects with an AbortError when the caller aborts it between a 401 response and the retry', async () => {
    const urls = stubResponses(401);
    const caller = new AbortController();
    const sessions = { get: async () => 'one', replaceRejected: async () => 'two' };
    const response = fetchPixels(
      '/tile',
      { signal: caller.signal, onRenewing: () => caller.abort() },
      sessions,
    );
    await expect(response).rejects.toMatchObject({ name: 'AbortError' });
    expect(urls).toHaveLength(1);
  });
});
