import type { RasterDescriptor } from '@lamina/contract';
import { describe, expect, it, vi } from 'vitest';
import { visibleBounds, zoomOf } from '../overlay/placement.ts';
import { BoundedCache } from './bounded-cache.ts';
import { colourAt, paletteNames } from './palettes.ts';
import { colourTableOf, rasterStyleAtFirst } from './raster-style.ts';
import { combine, transformOf } from './transform.ts';
import { readBlock, readIndex } from './vector-block.ts';

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
  it('are those of the palette from the lowest to the highest value', () => {
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

  it('are spread over the usual values, and higher ones have the last colour', () => {
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

describe('the colours of categories', () => {
  it('are those of the descriptor, without the background and hidden categories', () => {
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

describe('transforms', () => {
  it('are combined from the content to the slide to the screen', () => {
    const registration = transformOf([10, 0, 0, 10, 5, 7]);
    const placement = { a: 0, b: 0.5, c: -0.5, d: 0, e: 100, f: 0 }; // a quarter turn at half size
    const { a, b, c, d, e, f } = combine(placement, registration);
    // (1, 2) → (15, 27) → (100 - 13.5, 7.5)
    expect([a + 2 * c + e, b + 2 * d + f]).toEqual([86.5, 7.5]);
    expect(zoomOf(combine(placement, registration))).toBe(5);
  });

  it('tell which part of the content the screen shows', () => {
    const box = visibleBounds({ a: 0.5, b: 0, c: 0, d: 0.5, e: -50, f: 10 }, { width: 200, height: 100 });
    expect(box).toEqual({ minX: 100, minY: -20, maxX: 500, maxY: 180 });
  });
});

describe('a block of objects', () => {
  it('is rejected when it has another magic number', () => {
    expect(() => readBlock(new ArrayBuffer(64))).toThrow('not a block');
  });

  it('has its bounds and objects in the index, in pixels of the slide', () => {
    const buffer = new ArrayBuffer(28);
    const view = new DataView(buffer);
    for (const [place, bound] of [-4, 8, 40, 80].entries()) view.setInt32(place * 4, bound, true);
    view.setUint32(16, 7, true);
    view.setUint32(20, 3, true);
    expect(readIndex(buffer)).toEqual([{ minX: -1, minY: 2, maxX: 10, maxY: 20, first: 7, objects: 3 }]);
  });
});

describe('the cache of tiles and blocks', () => {
  it('loads each entry once, says when it has arrived, and evicts the least recently used one', async () => {
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
