/** A raster over the slide: tiles of values, coloured on the computer that shows them. */
import type { RasterDescriptor } from '@lamina/contract';
import { loadValueTile } from '../../api/results.ts';
import { type Placement, visibleBounds, zoomOf } from '../overlay/placement.ts';
import { BoundedCache } from './bounded-cache.ts';
import { colourTableOf, type RasterStyle } from './raster-style.ts';
import { combine, transformOf } from './transform.ts';

/** 256 tiles of 65,536 values, with their colours, are some 80 MB. */
const maxTiles = 256;

interface ValueTile {
  readonly width: number;
  readonly height: number;
  readonly values: Uint8Array;
  readonly canvas: OffscreenCanvas;
  /** The colours that the canvas has. */
  table: Uint8ClampedArray | null;
}

export class RasterLayer {
  readonly #descriptor: RasterDescriptor;
  /** By 'level/column/row'. */
  readonly #tiles: BoundedCache<string, ValueTile>;
  #table: Uint8ClampedArray;

  /** @param onLoad called when a tile has arrived */
  constructor(descriptor: RasterDescriptor, style: RasterStyle, onLoad: () => void) {
    this.#descriptor = descriptor;
    this.#table = colourTableOf(descriptor, style);
    this.#tiles = new BoundedCache(maxTiles, (key, signal) => loadTile(descriptor.id, key, signal), onLoad);
  }

  setStyle(style: RasterStyle): void {
    this.#table = colourTableOf(this.#descriptor, style);
  }

  close(): void {
    this.#tiles.close();
  }

  /**
   * Draws the visible part: tiles of a coarser level until those of the right one have arrived.
   *
   * @param placement from pixels of the slide to device pixels
   */
  draw(context: OffscreenCanvasRenderingContext2D | CanvasRenderingContext2D, placement: Placement): void {
    const { levels, registration, categories } = this.#descriptor;
    const toScreen = combine(placement, transformOf(registration));
    const factor = zoomOf(toScreen);
    // The smallest level that has a pixel for each pixel of the screen; the largest one when there is none.
    const sharp = levels.find(({ scale }) => scale * factor <= 1.5) ?? levels.at(-1);
    if (sharp === undefined) return;
    // Values must not be mixed: a mixture of two categories is a third one.
    context.imageSmoothingEnabled = categories === null && sharp.scale * factor < 1;
    const coarse = levels[Math.max(0, levels.indexOf(sharp) - 3)];
    const isComplete = this.#drawLevel(context, toScreen, sharp, true);
    if (isComplete || coarse === undefined || coarse === sharp) return;
    context.clearRect(0, 0, context.canvas.width, context.canvas.height);
    this.#drawLevel(context, toScreen, coarse, true);
    this.#drawLevel(context, toScreen, sharp, false);
  }

  #drawLevel(
    context: OffscreenCanvasRenderingContext2D | CanvasRenderingContext2D,
    toScreen: Placement,
    { z, width, height, scale }: RasterDescriptor['levels'][number],
    mayLoad: boolean,
  ): boolean {
    const size = this.#descriptor.tile_size;
    const placement = combine(toScreen, { a: scale, b: 0, c: 0, d: scale, e: 0, f: 0 });
    const box = visibleBounds(placement, context.canvas);
    const { a, b, c, d, e, f } = placement;
    context.setTransform(a, b, c, d, e, f);
    let isComplete = true;
    const lastColumn = Math.min(Math.ceil(width / size) - 1, Math.floor(box.maxX / size));
    const lastRow = Math.min(Math.ceil(height / size) - 1, Math.floor(box.maxY / size));
    for (let row = Math.max(0, Math.floor(box.minY / size)); row <= lastRow; row++) {
      for (let column = Math.max(0, Math.floor(box.minX / size)); column <= lastColumn; column++) {
        const key = `${z}/${column}/${row}`;
        const tile = mayLoad ? this.#tiles.get(key) : this.#tiles.peek(key);
        if (tile === null) isComplete = false;
        else context.drawImage(this.#coloured(tile), column * size, row * size);
      }
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    return isComplete;
  }

  #coloured(tile: ValueTile): OffscreenCanvas {
    if (tile.table === this.#table) return tile.canvas;
    tile.table = this.#table;
    const pixels = new Uint32Array(tile.values.length);
    const colours = new Uint32Array(this.#table.buffer);
    for (let index = 0; index < pixels.length; index++) pixels[index] = colours[tile.values[index] ?? 0] ?? 0;
    const picture = new ImageData(new Uint8ClampedArray(pixels.buffer), tile.width, tile.height);
    tile.canvas.getContext('2d')?.putImageData(picture, 0, 0);
    return tile.canvas;
  }
}

async function loadTile(layerId: string, key: string, signal: AbortSignal): Promise<ValueTile> {
  const [z = 0, x = 0, y = 0] = key.split('/').map(Number);
  const blob = await loadValueTile(layerId, { z, x, y }, signal);
  // Neither colour correction nor premultiplied alpha: the bytes are values.
  const bitmap = await createImageBitmap(blob, {
    colorSpaceConversion: 'none',
    premultiplyAlpha: 'none',
  });
  const { width, height } = bitmap;
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('The browser has no 2D canvas.');
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  const { data } = context.getImageData(0, 0, width, height);
  const values = new Uint8Array(width * height);
  for (let index = 0; index < values.length; index++) values[index] = data[index * 4] ?? 0;
  return { width, height, values, canvas, table: null };
}
