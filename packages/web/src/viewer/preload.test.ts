import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { FetchPixels } from './pixels.ts';
import { createDescriptorSupply } from './preload.ts';

const xml = `<Image xmlns="http://schemas.microsoft.com/deepzoom/2008" TileSize="240" Overlap="0" Format="jpeg">
  <Size Width="4000" Height="3000"/></Image>`;
const url = '/image.dzi';

/** A preloader with a server that gives these responses in turn, and then valid ones. */
function supplyFrom(...answers: FetchPixels[]) {
  const fetchPixels = vi.fn<FetchPixels>(async (...args) => {
    const answer = answers.shift() ?? (async () => new Response(xml));
    return answer(...args);
  });
  const end = new AbortController();
  const request = { signal: end.signal, onRenewing: vi.fn<() => void>() };
  return { supply: createDescriptorSupply(fetchPixels), fetchPixels, request, end };
}

beforeEach(() => {
  vi.useFakeTimers();
});

describe('preloaded descriptor', () => {
  it('is requested once, before the slide is opened', async () => {
    const { supply, fetchPixels, request } = supplyFrom();
    supply.preload(url);
    supply.preload(url);
    expect(fetchPixels).toHaveBeenCalledOnce();
    expect(await supply.load(url, request)).toMatchObject({ width: 4000, tileSize: 240 });
    expect(fetchPixels).toHaveBeenCalledOnce();
  });

  it('is used for one opening of the slide; the next opening requests the descriptor again', async () => {
    const { supply, fetchPixels, request } = supplyFrom();
    supply.preload(url);
    await supply.load(url, request);
    await supply.load(url, request);
    expect(fetchPixels).toHaveBeenCalledTimes(2);
  });

  it('rejects the opening of the slide with the error of the preload; a retry requests the descriptor again', async () => {
    const { supply, request } = supplyFrom(async () => Response.json({ message: 'busy' }, { status: 503 }));
    supply.preload(url);
    await expect(supply.load(url, request)).rejects.toMatchObject({
      failure: { kind: 'status', status: 503, message: 'busy' },
    });
    expect(await supply.load(url, request)).toMatchObject({ width: 4000 });
  });

  it('tells the opening of the slide that the session is being renewed, even if the renewal began before the opening', async () => {
    const { supply, request } = supplyFrom(async (_, { onRenewing }) => {
      onRenewing();
      return new Response(xml);
    });
    supply.preload(url);
    await supply.load(url, request);
    expect(request.onRenewing).toHaveBeenCalledOnce();
  });

  it('is dropped when the slide is not opened within 5 s', async () => {
    const { supply, fetchPixels, request } = supplyFrom();
    supply.preload(url);
    await vi.advanceTimersByTimeAsync(5000);
    await supply.load(url, request);
    expect(fetchPixels).toHaveBeenCalledTimes(2);
  });

  it('stays available for its slide when another slide is opened first', async () => {
    const { supply, fetchPixels, request } = supplyFrom();
    supply.preload('/other.dzi');
    await supply.load(url, request);
    await supply.load('/other.dzi', request);
    expect(fetchPixels.mock.calls.map(([args]) => args)).toEqual(['/other.dzi', url]);
  });

  it('is aborted when the opening of the slide is aborted', () => {
    const { supply, fetchPixels, request, end } = supplyFrom(() => new Promise(() => {}));
    supply.preload(url);
    void supply.load(url, request);
    end.abort();
    expect(fetchPixels.mock.calls[0]?.[1].signal.aborted).toBe(true);
  });
});
