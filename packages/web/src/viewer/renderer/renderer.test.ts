import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { asScanned } from '../colours/adjustment.ts';
import { Renderer } from './renderer.ts';

const place = { level: 9, column: 0, row: 0 };
let renderer: Renderer;

beforeEach(() => {
  vi.stubGlobal('createImageBitmap', async () => ({ width: 240, height: 240, close: () => {} }));
  renderer = new Renderer(null, false);
});

afterEach(() => renderer.destroy());

describe('Renderer (decoded tiles and colours of a view):', () => {
  it('loadTile does not load a tile again while its pixels are in memory', async () => {
    const load = vi.fn<() => Promise<Blob>>(async () => new Blob());
    const first = await renderer.loadTile('/9/0_0', place, load);
    expect(await renderer.loadTile('/9/0_0', place, load)).toBe(first);
    expect(load).toHaveBeenCalledTimes(1);
    renderer.pictures.clear();
    await renderer.loadTile('/9/0_0', place, load);
    expect(load).toHaveBeenCalledTimes(2);
  });

  it('loadTile loads and decodes a tile once for concurrent calls', async () => {
    const decode = vi.fn<() => Promise<object>>(async () => ({ width: 240, height: 240, close: () => {} }));
    vi.stubGlobal('createImageBitmap', decode);
    const load = vi.fn<() => Promise<Blob>>(async () => new Blob());
    const [slidePicture, navigatorPicture] = await Promise.all([
      renderer.loadTile('/9/0_0', place, load),
      renderer.loadTile('/9/0_0', place, load),
    ]);
    expect(navigatorPicture).toBe(slidePicture);
    expect([load.mock.calls.length, decode.mock.calls.length]).toEqual([1, 1]);
  });

  it('loadTile loads a tile again when the concurrent call that was loading the tile is aborted', async () => {
    const abortError = new DOMException('aborted', 'AbortError');
    const load = vi.fn<() => Promise<Blob>>(async () => new Blob());
    const [prefetchCall, slideCall] = await Promise.allSettled([
      renderer.loadTile('/9/0_0', place, () => Promise.reject(abortError)),
      renderer.loadTile('/9/0_0', place, load),
    ]);
    expect([prefetchCall.status, slideCall.status]).toEqual(['rejected', 'fulfilled']);
    expect(load).toHaveBeenCalledTimes(1);
  });

  it('loadTile resolves only after the drawer of OpenSeadragon has prepared the tile', async () => {
    const preparation = Promise.withResolvers<void>();
    renderer.connect({ prepare: () => preparation.promise, redraw: () => {} });
    const onLoaded = vi.fn<() => void>();
    void renderer.loadTile('/9/0_0', place, async () => new Blob()).then(onLoaded);
    await new Promise((resolve) => setTimeout(resolve));
    expect(onLoaded).not.toHaveBeenCalled();
    preparation.resolve();
    await vi.waitFor(() => expect(onLoaded).toHaveBeenCalled());
  });

  it('loadTile rejects with the error of a failed request or of a failed decoding', async () => {
    const networkError = new Error('lost');
    await expect(renderer.loadTile('/a', place, () => Promise.reject(networkError))).rejects.toBe(
      networkError,
    );
    const decodingError = new DOMException('broken', 'InvalidStateError');
    vi.stubGlobal('createImageBitmap', () => Promise.reject(decodingError));
    await expect(renderer.loadTile('/b', place, async () => new Blob())).rejects.toBe(decodingError);
  });

  it('setColours requests a new frame after each change of colours', () => {
    const redraw = vi.fn<() => void>();
    const onColours = vi.fn<() => void>();
    renderer.connect({ redraw, onColours });
    const colours = { adjustment: { ...asScanned, gamma: 2 }, table: null };
    renderer.setColours(colours);
    expect(onColours).toHaveBeenCalledExactlyOnceWith(colours);
    expect(redraw).toHaveBeenCalledTimes(1);
  });
});
