import type { RasterDescriptor, VectorDescriptor } from '@lamina/contract';
import { describe, expect, it, vi } from 'vitest';
import { loadBlockIndex, loadCachedIndex } from '../../api/results.ts';
import { visibleBounds, zoomOf } from '../overlay/placement.ts';
import { BoundedCache } from './bounded-cache.ts';
import { colourAt, paletteNames } from './palettes.ts';
import { colourTableOf, defaultRasterStyle } from './raster-style.ts';
import { heatmap } from './testing/heatmap.ts';
import { combine, transformOf } from './transform.ts';
import { BlockIndex, readBlock } from './vector-block.ts';
import { VectorLayer } from './vector-layer.ts';

vi.mock(import('../../api/results.ts'), async (original) => ({
  ...(await original()),
  loadBlockIndex: vi.fn<typeof loadBlockIndex>(),
  loadCachedIndex: vi.fn<typeof loadCachedIndex>(),
}));

/** Returns the colour that a table has for a byte. */
const rgba = (table: Uint8ClampedArray, byte: number) => [...table.subarray(byte * 4, byte * 4 + 4)];

describe('colourTableOf (colours of an analysis result on the slide) for a heatmap', () => {
  it('returns the colours of the palette from the lowest to the highest value', () => {
    const table = colourTableOf(heatmap, { ...defaultRasterStyle(heatmap), minValue: 0 });
    expect(rgba(table, 0)).toEqual([...colourAt('viridis', 0), 255]);
    expect(rgba(table, 127)).toEqual([...colourAt('viridis', 0.5), 255]);
    expect(rgba(table, 254)).toEqual([...colourAt('viridis', 1), 255]);
  });

  it('returns transparent colours for values outside the chosen range and for the byte that means no data', () => {
    const table = colourTableOf(heatmap, { ...defaultRasterStyle(heatmap), minValue: 0.5, maxValue: 0.75 });
    const alpha = (value: number) => rgba(table, Math.round(value * 254))[3];
    expect([0, 0.49, 0.5, 0.75, 0.76].map(alpha)).toEqual([0, 0, 255, 255, 0]);
    expect(rgba(table, 255)).toEqual([0, 0, 0, 0]);
  });

  it('returns the last colour of the palette for values above the usual range (1st to 99th percentile)', () => {
    const skewed: RasterDescriptor = { ...heatmap, usual_range: { min: 0.05, max: 0.25 } };
    const style = defaultRasterStyle(skewed);
    expect(style).toMatchObject({ minValue: expect.closeTo(0.07), maxValue: 1 });
    const table = colourTableOf(skewed, style);
    const lastColour = [...colourAt('viridis', 1), 255];
    const colours = [0.25, 0.5, 1].map((value) => rgba(table, Math.ceil(value * 254)));
    expect(colours).toEqual([lastColour, lastColour, lastColour]);
    expect(rgba(table, 10)[3]).toBe(0); // 10 / 254 is below the minimum of 0.07
    expect(rgba(table, 38)).toEqual([...colourAt('viridis', (38 / 254 - 0.05) / 0.2), 255]);
  });
});

describe('colourAt (palettes of heatmaps)', () => {
  it('returns a different colour for the same position in each palette', () => {
    expect(new Set(paletteNames.map((name) => colourAt(name, 0.5).join())).size).toBe(paletteNames.length);
  });
});

describe('colourTableOf (colours of an analysis result on the slide) for a mask of categories', () => {
  it('returns the colours that the descriptor of the layer states, and transparent colours for background and hidden categories', () => {
    const mask: RasterDescriptor = {
      ...heatmap,
      encoding: { scale: 1, offset: 0, no_data: null },
      value_range: { min: 0, max: 2 },
      categories: [
        { value: 0, name: 'Background', color: [9, 9, 9] },
        { value: 1, name: 'Tumor', color: [200, 0, 0] },
        { value: 2, name: 'Stroma', color: [0, 200, 0] },
      ],
    };
    const table = colourTableOf(mask, { ...defaultRasterStyle(mask), hidden: new Set([2]) });
    expect([0, 1, 2].map((byte) => rgba(table, byte))).toEqual([
      [0, 0, 0, 0],
      [200, 0, 0, 255],
      [0, 0, 0, 0],
    ]);
  });
});

describe('combine and visibleBounds (placement of result layers):', () => {
  it('combine joins the transform from result file to slide and the one from slide to screen into one from file to screen', () => {
    const registration = transformOf([10, 0, 0, 10, 5, 7]);
    const placement = { a: 0, b: 0.5, c: -0.5, d: 0, e: 100, f: 0 }; // a quarter turn at half size
    const { a, b, c, d, e, f } = combine(placement, registration);
    // (1, 2) → (15, 27) → (100 - 13.5, 7.5)
    expect([a + 2 * c + e, b + 2 * d + f]).toEqual([86.5, 7.5]);
    expect(zoomOf(combine(placement, registration))).toBe(5);
  });

  it('visibleBounds returns the part of the slide that a screen of 200 × 100 pixels shows', () => {
    const bounds = visibleBounds({ a: 0.5, b: 0, c: 0, d: 0.5, e: -50, f: 10 }, { width: 200, height: 100 });
    expect(bounds).toEqual({ minX: 100, minY: -20, maxX: 500, maxY: 180 });
  });
});

describe('readBlock (block of objects of a result layer)', () => {
  it('throws when the magic number of the block is wrong', () => {
    expect(() => readBlock(new ArrayBuffer(64))).toThrow('not a block');
  });
});

describe('BlockIndex (blocks of objects of a result layer)', () => {
  it('reads the bounds of each block, in quarters of a pixel, and its range of objects', () => {
    // In pixels: x from -1 to 10, y from 2 to 20.
    const index = new BlockIndex(buildIndex([{ box: [-4, 8, 40, 80], first: 7, objects: 3 }]));
    expect(index.objectSpanOf(0)).toEqual({ first: 7, count: 3 });
    expect(index.blocksIn({ minX: 10, minY: 20, maxX: 11, maxY: 21 }, 100)).toEqual([0]); // touches the corner
    expect(index.blocksIn({ minX: 10.25, minY: 2, maxX: 11, maxY: 20 }, 100)).toEqual([]);
    expect(index.objectSpansIn(null)).toEqual([{ first: 7, count: 3 }]);
  });

  it('returns null from blocksIn when the visible parts of the blocks contain more objects than allowed', () => {
    const left = { box: [0, 0, 400, 400], first: 0, objects: 100 } as const; // 100 × 100 pixels
    const right = { box: [400, 0, 800, 400], first: 100, objects: 50 } as const;
    const index = new BlockIndex(buildIndex([left, right]));
    const halfOfLeft = { minX: 0, minY: 0, maxX: 50, maxY: 100 };
    expect([index.blocksIn(halfOfLeft, 50), index.blocksIn(halfOfLeft, 49)]).toEqual([[0], null]);
    const both = { minX: 0, minY: 0, maxX: 200, maxY: 100 };
    expect([index.blocksIn(both, 150), index.blocksIn(both, 149)]).toEqual([[0, 1], null]);
    expect(index.objectSpansIn(halfOfLeft)).toEqual([{ first: 0, count: 100 }]);
  });
});

/** Returns the index of a layer as the server sends it. Boxes are minX, minY, maxX, maxY in quarters of a pixel. */
function buildIndex(
  blocks: readonly {
    readonly box: readonly number[];
    readonly first: number;
    readonly objects: number;
  }[],
): ArrayBuffer {
  const entryBytes = 28; // four bounds, first object, object count and stored bytes, of which the last stays 0
  const buffer = new ArrayBuffer(entryBytes * blocks.length);
  const view = new DataView(buffer);
  for (const [number, { box, first, objects }] of blocks.entries()) {
    const offset = entryBytes * number;
    for (const [position, bound] of box.entries()) view.setInt32(offset + position * 4, bound, true);
    view.setUint32(offset + 16, first, true);
    view.setUint32(offset + 20, objects, true);
  }
  return buffer;
}

describe('BoundedCache (cache of a result layer)', () => {
  it('loads each entry once, and evicts the least recently used entry when the cache is full', async () => {
    const load = vi.fn<(key: number) => Promise<string>>(async (key) => `tile ${key}`);
    const onChange = vi.fn<() => void>();
    const cache = new BoundedCache(2, load, onChange);
    expect([cache.get(1), cache.get(1), cache.get(2)]).toEqual([null, null, null]);
    await vi.waitFor(() => expect(onChange).toHaveBeenCalledTimes(2));
    cache.startFrame();
    expect(cache.get(1)).toBe('tile 1');
    cache.get(3);
    await vi.waitFor(() => expect(onChange).toHaveBeenCalledTimes(3));
    expect([cache.peek(1), cache.peek(2), cache.peek(3)]).toEqual(['tile 1', null, 'tile 3']);
    expect(load).toHaveBeenCalledTimes(3);
  });

  it('keeps all entries of a frame that needs more entries than the limit of the cache', async () => {
    const load = vi.fn<(key: number) => Promise<string>>(async (key) => `tile ${key}`);
    const cache = new BoundedCache(2, load, () => undefined);
    const drawFrame = (keys: readonly number[]) => {
      cache.startFrame();
      return keys.map((key) => cache.get(key));
    };
    expect(drawFrame([1, 2, 3, 4])).toEqual([null, null, null, null]);
    await vi.waitFor(() => expect(cache.peek(4)).toBe('tile 4'));
    expect(drawFrame([1, 2, 3, 4])).toEqual(['tile 1', 'tile 2', 'tile 3', 'tile 4']);
    expect(load).toHaveBeenCalledTimes(4);
    drawFrame([4, 5]); // a smaller frame: the cache has two entries again
    await vi.waitFor(() => expect(cache.peek(5)).toBe('tile 5'));
    expect([1, 2, 3, 4].map((key) => cache.peek(key))).toEqual([null, null, null, 'tile 4']);
  });

  it('loads a failed entry again after 2, 4, 8, 16 and 32 s while the entry is requested', async () => {
    vi.useFakeTimers();
    const loadTimes: number[] = [];
    const load = async (): Promise<string> => {
      loadTimes.push(Date.now());
      throw new TypeError('Failed to fetch');
    };
    const cache = new BoundedCache(2, load, () => undefined);
    const framesPerSecond = 2;
    for (let frame = 0; frame <= 70 * framesPerSecond; frame++) {
      cache.get(1);
      await vi.advanceTimersByTimeAsync(1000 / framesPerSecond);
    }
    const delays = loadTimes.slice(1).map((time, index) => (time - (loadTimes[index] ?? 0)) / 1000);
    expect(delays).toEqual([2, 4, 8, 16, 32]);
    expect(cache.hasFailures).toBe(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(loadTimes.length).toBe(6);
    expect(cache.hasFailures).toBe(false);
    cache.close();
    vi.useRealTimers();
  });
});

describe('VectorLayer (painter of the objects of a result layer)', () => {
  const emptyLayer: VectorDescriptor = {
    kind: 'vector',
    id: 'l',
    image_id: 'i',
    name: 'Nuclei',
    object_count: 0,
    vertex_count: 0,
    bounds: null,
    classes: [],
    measurements: [],
    blocks: { count: 0, objects: 0 },
    density: [],
  };
  const wholeSlide = { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 };

  it('loads the index of its blocks again 2 s after the request for the index has failed', async () => {
    vi.useFakeTimers();
    const load = vi
      .mocked(loadBlockIndex)
      .mockRejectedValueOnce(new TypeError('Failed to fetch'))
      .mockResolvedValueOnce(buildIndex([]));
    const onChange = vi.fn<() => void>();
    const style = { ...defaultRasterStyle(heatmap), measurementIndex: null, isColoured: false };
    const layer = new VectorLayer(emptyLayer, style, onChange);
    const unusedContext = {} as CanvasRenderingContext2D; // without its index, the layer draws nothing
    const drawFrame = async () => {
      layer.draw(unusedContext, wholeSlide);
      await vi.advanceTimersByTimeAsync(0); // delivers the response to a request of the frame
    };

    await drawFrame();
    expect([layer.hasFailures, onChange.mock.calls.length]).toEqual([true, 1]);
    await vi.advanceTimersByTimeAsync(1999);
    await drawFrame();
    expect([load.mock.calls.length, onChange.mock.calls.length]).toEqual([1, 1]);
    await vi.advanceTimersByTimeAsync(1);
    expect(onChange).toHaveBeenCalledTimes(2);
    await drawFrame();
    expect(load).toHaveBeenCalledTimes(2);
    expect([layer.hasFailures, onChange.mock.calls.length]).toEqual([false, 3]);
    layer.close();
    vi.useRealTimers();
  });

  it('has failures while the count of the objects that pass a filter has failed, and retries the count after 5 s', async () => {
    vi.useFakeTimers();
    const tooManyObjects = { box: [0, 0, 400, 400], first: 0, objects: 60_001 } as const; // for drawing each of them
    vi.mocked(loadBlockIndex).mockResolvedValueOnce(buildIndex([tooManyObjects]));
    const loadForCount = vi.mocked(loadCachedIndex).mockRejectedValue(new TypeError('Failed to fetch'));
    const onChange = vi.fn<() => void>();
    const filteredStyle = { ...defaultRasterStyle(heatmap), measurementIndex: 0, isColoured: false };
    const density = [{ level: 0, x: 0, y: 0, cell: 50, width: 2, height: 2 }];
    const layer = new VectorLayer({ ...emptyLayer, object_count: 60_001, density }, filteredStyle, onChange);
    const context = { canvas: { width: 100, height: 100 } } as CanvasRenderingContext2D; // without counts, nothing is drawn
    layer.draw(context, wholeSlide);
    await vi.advanceTimersByTimeAsync(0); // the index is loaded
    for (let second = 0; second < 5; second++) {
      layer.draw(context, wholeSlide);
      await vi.advanceTimersByTimeAsync(999);
    }
    // `onChange` was called for the index, and for the failure.
    expect([loadForCount.mock.calls.length, onChange.mock.calls.length]).toEqual([1, 2]);
    expect(layer.hasFailures).toBe(true);
    await vi.advanceTimersByTimeAsync(5);
    expect(onChange).toHaveBeenCalledTimes(3);
    loadForCount.mockResolvedValue(buildIndex([])); // no objects to count
    vi.stubGlobal(
      'ImageData',
      class {
        readonly data = new Uint8ClampedArray(16);
      },
    ); // jsdom has none
    vi.stubGlobal(
      'OffscreenCanvas',
      class {
        readonly getContext = () => null;
      },
    );
    const drawableContext = Object.assign(context, { setTransform: () => {}, drawImage: () => {} });
    layer.draw(drawableContext, wholeSlide);
    await vi.advanceTimersByTimeAsync(0); // the objects are counted
    expect(loadForCount).toHaveBeenCalledTimes(2);
    expect([layer.hasFailures, onChange.mock.calls.length]).toEqual([false, 4]);
    layer.close();
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });
});
