/**
 * Draws a raster layer (heatmap or mask) over the slide. Its tiles contain values, which this class converts to colours, so that
 * a change of the style needs no request.
 */
import type { RasterDescriptor } from '@lamina/contract';
import { loadValueTile } from '../../api/results.ts';
import { type Placement, visibleBounds, zoomOf } from '../overlay/placement.ts';
import { BoundedCache } from './bounded-cache.ts';
import { colourTableOf, type RasterStyle } from './raster-style.ts';
import { combine, transformOf } from './transform.ts';

/**
 * Number of tiles in the cache, unless a frame needs more (up to 405 on a screen of 5120 × 2880 pixels). 256 tiles of 256 × 256 pixels
 * need about 80 MB, because each pixel has one byte of value and four bytes of colour.
 */
const maxTiles = 256;

/** A layer is drawn from its suitable level: the coarsest whose pixels are at most this many device pixels wide, or else the finest. */
const maxPixelScale = 1.5;
/** Until all visible tiles of the suitable level are loaded, a level that is coarser by this many levels is drawn first. */
const levelsToPlaceholder = 3;

/** A loaded tile: its stored bytes, and a canvas in the colours of the style. */
interface ValueTile {
  readonly width: number;
  readonly height: number;
  /** The stored byte of each pixel, row by row; the colour table converts these bytes to colours. */
  readonly values: Uint8Array;
  readonly canvas: OffscreenCanvas;
  /** The colour table with which the canvas was drawn; null before it was drawn. */
  table: Uint8ClampedArray | null;
}

/** The painter of one raster layer. */
export class RasterLayer {
  readonly #descriptor: RasterDescriptor;
  /** The key is `level/column/row`. */
  readonly #tiles: BoundedCache<string, ValueTile>;
  #table: Uint8ClampedArray;

  /** @param onChange called when a tile was loaded or could not be loaded, so that the layer has to be drawn again */
  constructor(descriptor: RasterDescriptor, style: RasterStyle, onChange: () => void) {
    this.#descriptor = descriptor;
    this.#table = colourTableOf(descriptor, style);
    this.#tiles = new BoundedCache(maxTiles, (key, signal) => loadTile(descriptor.id, key, signal), onChange);
  }

  setStyle(style: RasterStyle): void {
    this.#table = colourTableOf(this.#descriptor, style);
  }

  /** Whether a tile that the last drawing needed could not be loaded. It is loaded again after some seconds. */
  get hasFailures(): boolean {
    return this.#tiles.hasFailures;
  }

  /** Cancels running requests and frees the tiles. */
  close(): void {
    this.#tiles.close();
  }

  /**
   * Draws the visible part of the layer. Until all tiles of the suitable level are loaded, a coarser level fills the gaps.
   *
   * @param placement converts pixels of the slide to device pixels
   */
  draw(context: OffscreenCanvasRenderingContext2D | CanvasRenderingContext2D, placement: Placement): void {
    this.#tiles.startFrame();
    const { levels, registration, categories } = this.#descriptor;
    // Converts pixels of the layer at its full resolution to pixels of the slide (`registration`), and these to device pixels.
    const toScreen = combine(placement, transformOf(registration));
    const zoom = zoomOf(toScreen);
    // Levels are sorted from coarse to fine. `scale` is the number of full-resolution pixels per pixel of the level.
    const level = levels.find(({ scale }) => scale * zoom <= maxPixelScale) ?? levels.at(-1);
    if (level === undefined) return;
    // Smooths only heatmaps that are drawn smaller than their pixels. Colours of categories must not be mixed, because the mixture
    // could be the colour of a third category.
    context.imageSmoothingEnabled = categories === null && level.scale * zoom < 1;
    const placeholderLevel = levels[Math.max(0, levels.indexOf(level) - levelsToPlaceholder)];
    const isComplete = this.#drawLevel(context, toScreen, level, 'load-missing');
    if (isComplete || placeholderLevel === undefined || placeholderLevel === level) return;
    context.clearRect(0, 0, context.canvas.width, context.canvas.height); // to draw again, the coarser level first
    this.#drawLevel(context, toScreen, placeholderLevel, 'load-missing');
    this.#drawLevel(context, toScreen, level, 'only-loaded');
  }

  /**
   * Draws the visible tiles of a level.
   *
   * @param toScreen transformation from pixels of the layer at its full resolution to device pixels
   * @param tilesToDraw `load-missing` starts to load missing tiles, `only-loaded` ignores them
   * @returns whether all visible tiles are loaded
   */
  #drawLevel(
    context: OffscreenCanvasRenderingContext2D | CanvasRenderingContext2D,
    toScreen: Placement,
    { z: level, width, height, scale }: RasterDescriptor['levels'][number],
    tilesToDraw: 'load-missing' | 'only-loaded',
  ): boolean {
    const tileSize = this.#descriptor.tile_size;
    const levelToScreen = combine(toScreen, { a: scale, b: 0, c: 0, d: scale, e: 0, f: 0 });
    const bounds = visibleBounds(levelToScreen, context.canvas);
    const { a, b, c, d, e, f } = levelToScreen;
    context.setTransform(a, b, c, d, e, f);
    let isComplete = true;
    const lastColumn = Math.min(Math.ceil(width / tileSize) - 1, Math.floor(bounds.maxX / tileSize));
    const lastRow = Math.min(Math.ceil(height / tileSize) - 1, Math.floor(bounds.maxY / tileSize));
    const firstColumn = Math.max(0, Math.floor(bounds.minX / tileSize));
    const firstRow = Math.max(0, Math.floor(bounds.minY / tileSize));
    for (let row = firstRow; row <= lastRow; row++) {
      for (let column = firstColumn; column <= lastColumn; column++) {
        const key = `${level}/${column}/${row}`;
        const tile = tilesToDraw === 'load-missing' ? this.#tiles.get(key) : this.#tiles.peek(key);
        if (tile === null) isComplete = false;
        else context.drawImage(this.#colouredCanvasOf(tile), column * tileSize, row * tileSize);
      }
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    return isComplete;
  }

  /** Returns the canvas of a tile in the colours of the current style; draws it again if the style has changed. */
  #colouredCanvasOf(tile: ValueTile): OffscreenCanvas {
    if (tile.table === this.#table) return tile.canvas;
    tile.table = this.#table;
    // With arrays of 32-bit integers, the four bytes of a colour are copied in one step.
    const pixels = new Uint32Array(tile.values.length);
    const colours = new Uint32Array(this.#table.buffer);
    for (let index = 0; index < pixels.length; index++) pixels[index] = colours[tile.values[index] ?? 0] ?? 0;
    const imageData = new ImageData(new Uint8ClampedArray(pixels.buffer), tile.width, tile.height);
    tile.canvas.getContext('2d')?.putImageData(imageData, 0, 0);
    return tile.canvas;
  }
}

/** Loads a tile and reads its values. @param key `level/column/row` */
async function loadTile(layerId: string, key: string, signal: AbortSignal): Promise<ValueTile> {
  const [level = 0, column = 0, row = 0] = key.split('/').map(Number);
  const blob = await loadValueTile(layerId, { z: level, x: column, y: row }, signal);
  // The bytes of the image are values, so the browser must change them neither by colour management nor by premultiplied alpha.
  const bitmap = await createImageBitmap(blob, {
    colorSpaceConversion: 'none',
    premultiplyAlpha: 'none',
  });
  const { width, height } = bitmap;
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('This browser does not support 2D canvas.');
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  const { data } = context.getImageData(0, 0, width, height);
  // The tile is a grey image: red, green and blue are equal, and each is the value.
  const values = new Uint8Array(width * height);
  for (let index = 0; index < values.length; index++) values[index] = data[index * 4] ?? 0;
  return { width, height, values, canvas, table: null };
}
