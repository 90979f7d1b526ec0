import type { RasterDescriptor } from '@lamina/contract';
import { describe, expect, it, vi } from 'vitest';
import { visibleBounds, zoomOf } from '../overlay/placement.ts';
import { BoundedCache } from './bounded-cache.ts';
import { colourAt, paletteNames } from './palettes.ts';
import { colourTableOf, rasterStyleAtFirst } from './raster-style.ts';
import { combine, transformOf } from './transform.ts';
import { BlockIndex, readBlock } from './vector-block.ts';

const heatmap: RasterDescriptor = {
  kind: 'raster',
  id: 'l',
  image_id: 'i',
  name: 'Heatmap',
  width: 100,
  height: 80,
  tile_size: 256,
  levels: [{ z: 0, width: 100, height: 80, scale: 1 }],
  value_type: 'float32',
  value_range: { min: 0, max: 1 },
  usual_range: null,
  encoding: { scale: 1 / 254, offset: 0, no_data: 255 },
  categories: null,
  registration: [10, 0, 0, 10, 0, 0],
};
const rgba = (table: Uint8ClampedArray, byte: number) => [...table.subarray(byte * 4, byte * 4 + 4)];

describe('the colours of a heatmap', () => {
  it('follow the palette from the lowest to the highest value', () => {
    const table = colourTableOf(heatmap, { ...rasterStyleAtFirst(heatmap), from: 0 });
    expect(rgba(table, 0)).toEqual([...colourAt('viridis', 0), 255]);
    expect(rgba(table, 127)).toEqual([...colourAt('viridis', 0.5), 255]);
    expect(rgba(table, 254)).toEqual([...colourAt('viridis', 1), 255]);
  });

  it('are transparent outside the threshold and where there is no data', () => {
    const table = colourTableOf(heatmap, { ...rasterStyleAtFirst(heatmap), from: 0.5, to: 0.75 });
    const alpha = (value: number) => rgba(table, Math.round(value * 254))[3];
    expect([0, 0.49, 0.5, 0.75, 0.76].map(alpha)).toEqual([0, 0, 255, 255, 0]);
    expect(rgba(table, 255)).toEqual([0, 0, 0, 0]);
  });

  it('are spread over the usual range of values; higher values have the last colour', () => {
    const skewed: RasterDescriptor = { ...heatmap, usual_range: { min: 0.05, max: 0.25 } };
    const style = rasterStyleAtFirst(skewed);
    expect(style).toMatchObject({ from: expect.closeTo(0.07), to: 1 });
    const table = colourTableOf(skewed, style);
    const last = [...colourAt('viridis', 1), 255];
    expect([0.25, 0.5, 1].map((value) => rgba(table, Math.ceil(value * 254)))).toEqual([last, last, last]);
    expect(rgba(table, 10)[3]).toBe(0);
    expect(rgba(table, 38)).toEqual([...colourAt('viridis', (38 / 254 - 0.05) / 0.2), 255]);
  });

  it('differ between the palettes', () => {
    expect(new Set(paletteNames.map((name) => colourAt(name, 0.5).join())).size).toBe(paletteNames.length);
  });
});

describe('the colours of a mask of categories', () => {
  it('are those of the descriptor; the background and hidden categories are transparent', () => {
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
    const table = colourTableOf(mask, { ...rasterStyleAtFirst(mask), hidden: new Set([2]) });
    expect([0, 1, 2].map((byte) => rgba(table, byte))).toEqual([
      [0, 0, 0, 0],
      [200, 0, 0, 255],
      [0, 0, 0, 0],
    ]);
  });
});

describe('transforms of result layers', () => {
  it('are combined from the content to the slide to the screen', () => {
    const registration = transformOf([10, 0, 0, 10, 5, 7]);
    const placement = { a: 0, b: 0.5, c: -0.5, d: 0, e: 100, f: 0 }; // a quarter turn at half size
    const { a, b, c, d, e, f } = combine(placement, registration);
    // (1, 2) → (15, 27) → (100 - 13.5, 7.5)
    expect([a + 2 * c + e, b + 2 * d + f]).toEqual([86.5, 7.5]);
    expect(zoomOf(combine(placement, registration))).toBe(5);
  });

  it('give the part of the content that the screen shows', () => {
    const box = visibleBounds({ a: 0.5, b: 0, c: 0, d: 0.5, e: -50, f: 10 }, { width: 200, height: 100 });
    expect(box).toEqual({ minX: 100, minY: -20, maxX: 500, maxY: 180 });
  });
});

describe('a block of a vector layer', () => {
  it('is rejected when its magic number is wrong', () => {
    expect(() => readBlock(new ArrayBuffer(64))).toThrow('not a block');
  });

  it('has its bounds, in quarters of a pixel, and its objects in the index', () => {
    const index = new BlockIndex(indexOf([{ box: [-4, 8, 40, 80], first: 7, objects: 3 }]));
    expect(index.span(0)).toEqual({ first: 7, objects: 3 });
    expect(index.inView({ minX: 10, minY: 20, maxX: 11, maxY: 21 }, 100)).toEqual([0]); // touches the corner
    expect(index.inView({ minX: 10.25, minY: 2, maxX: 11, maxY: 20 }, 100)).toEqual([]);
    expect(index.spans(null)).toEqual([{ first: 7, objects: 3 }]);
  });

  it('counts by the fraction of its area in view; the index returns null for more objects than may be drawn', () => {
    const left = { box: [0, 0, 400, 400], first: 0, objects: 100 } as const; // 100 × 100 pixels
    const right = { box: [400, 0, 800, 400], first: 100, objects: 50 } as const;
    const index = new BlockIndex(indexOf([left, right]));
    const halfOfLeft = { minX: 0, minY: 0, maxX: 50, maxY: 100 };
    expect([index.inView(halfOfLeft, 50), index.inView(halfOfLeft, 49)]).toEqual([[0], null]);
    const both = { minX: 0, minY: 0, maxX: 200, maxY: 100 };
    expect([index.inView(both, 150), index.inView(both, 149)]).toEqual([[0, 1], null]);
    expect(index.spans(halfOfLeft)).toEqual([{ first: 0, objects: 100 }]);
  });
});

/** The index of a layer as the server sends it; boxes are in quarters of a pixel. */
function indexOf(
  blocks: readonly {
    readonly box: readonly number[];
    readonly first: number;
    readonly objects: number;
  }[],
): ArrayBuffer {
  const buffer = new ArrayBuffer(28 * blocks.length);
  const view = new DataView(buffer);
  for (const [number, { box, first, objects }] of blocks.entries()) {
    const at = 28 * number;
    for (const [side, bound] of box.entries()) view.setInt32(at + side * 4, bound, true);
    view.setUint32(at + 16, first, true);
    view.setUint32(at + 20, objects, true);
  }
  return buffer;
}

describe('the cache of tiles and blocks', () => {
  it('loads each entry once, notifies when it has arrived, and evicts the least recently used entry', async () => {
    const load = vi.fn<(key: number) => Promise<string>>(async (key) => `tile ${key}`);
    const onLoad = vi.fn<() => void>();
    const cache = new BoundedCache(2, load, onLoad);
    expect([cache.get(1), cache.get(1), cache.get(2)]).toEqual([null, null, null]);
    await vi.waitFor(() => expect(onLoad).toHaveBeenCalledTimes(2));
    expect(cache.get(1)).toBe('tile 1');
    cache.get(3);
    await vi.waitFor(() => expect(onLoad).toHaveBeenCalledTimes(3));
    expect([cache.peek(1), cache.peek(2), cache.peek(3)]).toEqual(['tile 1', null, 'tile 3']);
    expect(load).toHaveBeenCalledTimes(3);
  });
});
