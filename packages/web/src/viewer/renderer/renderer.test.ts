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

describe('Renderer', () => {
  it('loads a tile once while its pixels are in memory', async () => {
    const load = vi.fn<() => Promise<Blob>>(async () => new Blob());
    const first = await renderer.open('/9/0_0', place, load);
    expect(await renderer.open('/9/0_0', place, load)).toBe(first);
    expect(load).toHaveBeenCalledTimes(1);
    renderer.pictures.clear();
    await renderer.open('/9/0_0', place, load);
    expect(load).toHaveBeenCalledTimes(2);
  });

  it('loads and decodes a tile once for concurrent calls', async () => {
    const decode = vi.fn<() => Promise<object>>(async () => ({ width: 240, height: 240, close: () => {} }));
    vi.stubGlobal('createImageBitmap', decode);
    const load = vi.fn<() => Promise<Blob>>(async () => new Blob());
    const [slide, navigator] = await Promise.all([
      renderer.open('/9/0_0', place, load),
      renderer.open('/9/0_0', place, load),
    ]);
    expect(navigator).toBe(slide);
    expect([load.mock.calls.length, decode.mock.calls.length]).toEqual([1, 1]);
  });

  it('loads a tile itself when the concurrent call whose load it shares is aborted', async () => {
    const aborted = new DOMException('aborted', 'AbortError');
    const load = vi.fn<() => Promise<Blob>>(async () => new Blob());
    const [prefetch, slide] = await Promise.allSettled([
      renderer.open('/9/0_0', place, () => Promise.reject(aborted)),
      renderer.open('/9/0_0', place, load),
    ]);
    expect([prefetch.status, slide.status, load.mock.calls.length]).toEqual(['rejected', 'fulfilled', 1]);
  });

  it('returns a tile only after the drawer has prepared it', async () => {
    const prepared = Promise.withResolvers<void>();
    renderer.connect({ prepare: () => prepared.promise, redraw: () => {} });
    const opened = vi.fn<() => void>();
    void renderer.open('/9/0_0', place, async () => new Blob()).then(opened);
    await new Promise((done) => setTimeout(done));
    expect(opened).not.toHaveBeenCalled();
    prepared.resolve();
    await vi.waitFor(() => expect(opened).toHaveBeenCalled());
  });

  it('rejects with the error of a failed request or of a failed decoding', async () => {
    const lost = new Error('lost');
    await expect(renderer.open('/a', place, () => Promise.reject(lost))).rejects.toBe(lost);
    const broken = new DOMException('broken', 'InvalidStateError');
    vi.stubGlobal('createImageBitmap', () => Promise.reject(broken));
    await expect(renderer.open('/b', place, async () => new Blob())).rejects.toBe(broken);
  });

  it('requests a new frame after each change of colours or layers', () => {
    const redraw = vi.fn<() => void>();
    const onColours = vi.fn<() => void>();
    renderer.connect({ redraw, onColours });
    const colours = { adjustment: { ...asScanned, gamma: 2 }, table: null };
    renderer.setColours(colours);
    expect(onColours).toHaveBeenCalledExactlyOnceWith(colours);
    const remove = renderer.addLayer({});
    expect(renderer.layers.size).toBe(1);
    remove();
    expect([renderer.layers.size, redraw.mock.calls.length]).toEqual([0, 3]);
  });
});
