import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { FetchPixels } from './pixels.ts';
import { createDescriptorSupply } from './preload.ts';

const xml = `<Image xmlns="http://schemas.microsoft.com/deepzoom/2008" TileSize="240" Overlap="0" Format="jpeg">
  <Size Width="4000" Height="3000"/></Image>`;
const url = '/image.dzi';

/** Creates a supply whose requests are handled by these functions in turn; later requests get a valid descriptor. */
function supplyWith(...handlers: FetchPixels[]) {
  const fetchPixels = vi.fn<FetchPixels>(async (...args) => {
    const handle = handlers.shift() ?? (async () => new Response(xml));
    return handle(...args);
  });
  const abortController = new AbortController();
  const request = { signal: abortController.signal, onRenewing: vi.fn<() => void>() };
  return { supply: createDescriptorSupply(fetchPixels), fetchPixels, request, abortController };
}

beforeEach(() => {
  vi.useFakeTimers();
});

describe('createDescriptorSupply (preloads the Deep Zoom descriptor of a slide)', () => {
  it('requests the descriptor once, although it is preloaded twice and then used to open the slide', async () => {
    const { supply, fetchPixels, request } = supplyWith();
    supply.preload(url);
    supply.preload(url);
    expect(fetchPixels).toHaveBeenCalledOnce();
    expect(await supply.load(url, request)).toMatchObject({ width: 4000, tileSize: 240 });
    expect(fetchPixels).toHaveBeenCalledOnce();
  });

  it('uses a preloaded descriptor for one opening of the slide and requests it again for the next opening', async () => {
    const { supply, fetchPixels, request } = supplyWith();
    supply.preload(url);
    await supply.load(url, request);
    await supply.load(url, request);
    expect(fetchPixels).toHaveBeenCalledTimes(2);
  });

  it('rejects the opening of the slide with the error of the preload, and requests the descriptor again on a retry', async () => {
    const { supply, request } = supplyWith(async () => Response.json({ message: 'busy' }, { status: 503 }));
    supply.preload(url);
    await expect(supply.load(url, request)).rejects.toMatchObject({
      failure: { kind: 'status', status: 503, message: 'busy' },
    });
    expect(await supply.load(url, request)).toMatchObject({ width: 4000 });
  });

  it('calls onRenewing when the slide is opened while its preload waits for a new image session (credential for tiles)', async () => {
    const { supply, request } = supplyWith(async (_, { onRenewing }) => {
      onRenewing();
      return new Response(xml);
    });
    supply.preload(url);
    await supply.load(url, request);
    expect(request.onRenewing).toHaveBeenCalledOnce();
  });

  it('drops a preloaded descriptor when the slide is not opened within 5 s', async () => {
    const { supply, fetchPixels, request } = supplyWith();
    supply.preload(url);
    await vi.advanceTimersByTimeAsync(5000);
    await supply.load(url, request);
    expect(fetchPixels).toHaveBeenCalledTimes(2);
  });

  it('keeps a preloaded descriptor for its slide when another slide is opened first', async () => {
    const { supply, fetchPixels, request } = supplyWith();
    supply.preload('/other.dzi');
    await supply.load(url, request);
    await supply.load('/other.dzi', request);
    expect(fetchPixels.mock.calls.map(([requestedUrl]) => requestedUrl)).toEqual(['/other.dzi', url]);
  });

  it('aborts the preload when the opening of the slide is aborted', () => {
    const { supply, fetchPixels, request, abortController } = supplyWith(() => new Promise(() => {}));
    supply.preload(url);
    void supply.load(url, request);
    abortController.abort();
    expect(fetchPixels.mock.calls[0]?.[1].signal.aborted).toBe(true);
  });
});
