/**
 * Draws the objects of a vector layer (such as detected cells) over the slide: at low magnification as a grid of counts, at medium
 * magnification as dots, at high magnification as outlines. This choice does not affect the counts in the panel, which the server
 * computes.
 */
import type { VectorDescriptor } from '@lamina/contract';
import { loadBlock, loadBlockIndex, loadDensity } from '../../api/results.ts';
import { type Placement, visibleBounds, zoomOf } from '../overlay/placement.ts';
import { BoundedCache } from './bounded-cache.ts';
import { measurementOf, mostLoadedObjects } from './layer-objects.ts';
import type { LayerStyle } from './object-filter.ts';
import { colourAt } from './palettes.ts';
import { combine } from './transform.ts';
import { BlockIndex, type BlockPaths, readBlock } from './vector-block.ts';
import { colourOfGroup, filteredGrid, groupOf } from './vector-paths.ts';

/** When more objects are visible, a grid of counts is drawn instead. */
const maxDrawnObjects = 60_000;
/** Outlines are drawn from this zoom on, in device pixels per slide pixel; below it each object is a dot. */
const minOutlineZoom = 0.25;
const maxBlocks = 512;
const unitsPerPixel = 4;
/** Smallest width on the screen of a cell of the grid of counts, in device pixels. */
const minCellPixels = 4;

interface LoadedBlock {
  readonly buffer: ArrayBuffer;
  /** Paths of all objects by class. */
  readonly paths: BlockPaths;
  /** Paths of the objects that a style with a measurement shows; null before it is drawn. */
  measured: { readonly style: LayerStyle; readonly paths: BlockPaths } | null;
}

export class VectorLayer {
  readonly #descriptor: VectorDescriptor;
  readonly #blocks: BoundedCache<number, LoadedBlock>;
  readonly #densities: BoundedCache<string, Uint32Array>;
  /** One measurement by block; null while it is loading. */
  readonly #values = new Map<number, Float32Array | null>();
  readonly #onLoad: () => void;
  readonly #end = new AbortController();
  #index: BlockIndex | null = null;
  #style: LayerStyle;
  #column: number | null;
  /** The grid of counts that was drawn last, as a picture with one pixel per cell. */
  #picture: { readonly level: number; readonly style: LayerStyle; readonly canvas: OffscreenCanvas } | null =
    null;

  /** The filter whose counts are loading or drawn. */
  #filtering: { readonly level: number; readonly style: LayerStyle } | null = null;

  /** @param onLoad called when something has arrived that can be drawn */
  constructor(descriptor: VectorDescriptor, style: LayerStyle, onLoad: () => void) {
    this.#descriptor = descriptor;
    this.#style = style;
    this.#column = style.column;
    this.#onLoad = onLoad;
    const { id } = descriptor;
    this.#blocks = new BoundedCache(
      maxBlocks,
      async (block, signal) => {
        const buffer = await loadBlock(id, block, signal);
        return { buffer, paths: readBlock(buffer), measured: null };
      },
      onLoad,
    );
    this.#densities = new BoundedCache(
      4 * (descriptor.classes.length + 1),
      async (key, signal) => {
        const [level = 0, index = 0] = key.split('/').map(Number);
        return new Uint32Array(await loadDensity(id, { level, class: index }, signal));
      },
      onLoad,
    );
    loadBlockIndex(id, this.#end.signal).then(
      (buffer) => {
        this.#index = new BlockIndex(buffer);
        onLoad();
      },
      () => undefined, // the panel says that the layer cannot be loaded
    );
  }

  setStyle(style: LayerStyle): void {
    this.#style = style;
    if (this.#column === style.column) return;
    this.#column = style.column;
    this.#values.clear();
  }

  close(): void {
    this.#end.abort();
    this.#blocks.close();
    this.#densities.close();
  }

  /** Draws the visible objects. @param placement from pixels of the slide to device pixels */
  draw(context: CanvasRenderingContext2D, placement: Placement): void {
    if (this.#index === null) return;
    const box = visibleBounds(placement, context.canvas);
    // Blocks with too many objects are not loaded, even while the counts to draw instead are still being loaded.
    const mostObjects = this.#descriptor.density.length > 0 ? maxDrawnObjects : Number.POSITIVE_INFINITY;
    const visible = this.#index.inView(box, mostObjects);
    if (visible === null) {
      this.#drawDensity(context, placement);
      return;
    }
    for (const number of visible) {
      const loaded = this.#blocks.get(number);
      const paths = loaded === null ? null : this.#pathsOf(number, loaded);
      if (paths !== null) this.#drawBlock(context, placement, paths);
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
  }

  /** Returns the paths of the objects of a block that the style shows; null while the measurement is being loaded. */
  #pathsOf(number: number, loaded: LoadedBlock): BlockPaths | null {
    const style = this.#style;
    if (style.column === null) return loaded.paths;
    if (loaded.measured?.style === style) return loaded.measured.paths;
    const values = this.#valuesOf(number, style.column);
    if (values === null) return null;
    const paths = readBlock(loaded.buffer, (object, index) =>
      groupOf(this.#descriptor, style, index, values[object] ?? Number.NaN),
    );
    loaded.measured = { style, paths };
    return paths;
  }

  #valuesOf(number: number, column: number): Float32Array | null {
    const known = this.#values.get(number);
    if (known !== undefined || this.#index === null) return known ?? null;
    this.#values.set(number, null);
    measurementOf(this.#descriptor, column, this.#index.span(number)).then(
      (values) => {
        if (this.#end.signal.aborted || this.#column !== column) return;
        this.#values.set(number, values);
        this.#onLoad();
      },
      () => this.#values.delete(number), // loaded again with the next frame
    );
    return null;
  }

  #drawBlock(context: CanvasRenderingContext2D, placement: Placement, { x, y, classes }: BlockPaths): void {
    const unit = 1 / unitsPerPixel;
    const { a, b, c, d, e, f } = combine(placement, { a: unit, b: 0, c: 0, d: unit, e: x, f: y });
    const factor = zoomOf(placement);
    context.setTransform(a, b, c, d, e, f);
    const pixel = unitsPerPixel / factor; // one device pixel in units of the block
    for (const { index, outlines, centres, points } of classes) {
      if (this.#style.column === null && this.#style.hidden.has(index)) continue;
      const colour = colourOfGroup(this.#descriptor, this.#style, index);
      context.fillStyle = colour;
      if (factor >= minOutlineZoom) {
        context.strokeStyle = colour;
        context.lineWidth = 1.5 * pixel;
        context.stroke(outlines);
        for (const place of points) dot(context, centres, place, 4 * pixel);
      } else {
        for (let place = 0; place < centres.length; place += 2) dot(context, centres, place, 2 * pixel);
      }
    }
  }

  #drawDensity(context: CanvasRenderingContext2D, placement: Placement): void {
    const { density, classes, object_count } = this.#descriptor;
    const factor = zoomOf(placement);
    const grid = density.find(({ cell }) => cell * factor >= minCellPixels) ?? density.at(-1);
    if (grid === undefined) return;
    if (this.#style.column !== null && object_count <= mostLoadedObjects) {
      this.#filterDensity(grid);
    } else if (this.#picture?.level !== grid.level || this.#picture.style !== this.#style) {
      const counts: Uint32Array[] = [];
      for (const [index] of classes.entries()) {
        if (this.#style.hidden.has(index)) continue;
        const classCounts = this.#densities.get(`${grid.level}/${index}`);
        if (classCounts === null) {
          this.#paint(context, placement);
          return;
        }
        counts.push(classCounts);
      }
      const canvas = pictureOf(counts, grid);
      this.#picture = { level: grid.level, style: this.#style, canvas };
    }
    this.#paint(context, placement);
  }

  /** Counts the objects that match the filter; the previous picture is drawn until then. */
  #filterDensity(grid: VectorDescriptor['density'][number]): void {
    const style = this.#style;
    if (this.#filtering?.level === grid.level && this.#filtering.style === style) return;
    const filtering = { level: grid.level, style };
    this.#filtering = filtering;
    filteredGrid(this.#descriptor, style, grid).then(
      (counts) => {
        if (this.#filtering !== filtering || this.#end.signal.aborted || counts === null) return;
        this.#picture = { ...filtering, canvas: pictureOf([counts], grid) };
        this.#onLoad();
      },
      () => {
        if (this.#filtering === filtering) this.#filtering = null;
      },
    );
  }

  /** Draws the last picture of the counts, if there is one. */
  #paint(context: CanvasRenderingContext2D, placement: Placement): void {
    const grid = this.#descriptor.density.find(({ level }) => level === this.#picture?.level);
    if (grid === undefined || this.#picture === null) return;
    const { a, b, c, d, e, f } = combine(placement, {
      a: grid.cell,
      b: 0,
      c: 0,
      d: grid.cell,
      e: grid.x,
      f: grid.y,
    });
    context.setTransform(a, b, c, d, e, f);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.#picture.canvas, 0, 0);
    context.setTransform(1, 0, 0, 1, 0, 0);
  }
}

function dot(context: CanvasRenderingContext2D, centres: Float32Array, place: number, size: number): void {
  const [x = 0, y = 0] = centres.subarray(place, place + 2);
  context.fillRect(x - size / 2, y - size / 2, size, size);
}

/** Cells with more objects are brighter, by the square root of their number; empty cells are transparent. */
function pictureOf(
  counts: readonly Uint32Array[],
  { width, height }: VectorDescriptor['density'][number],
): OffscreenCanvas {
  const sums = new Uint32Array(width * height);
  for (const each of counts)
    for (let cell = 0; cell < sums.length; cell++) sums[cell] = (sums[cell] ?? 0) + (each[cell] ?? 0);
  const most = sums.reduce((highest, sum) => Math.max(highest, sum), 1);
  const picture = new ImageData(width, height);
  for (const [cell, sum] of sums.entries()) {
    if (sum > 0)
      picture.data.set([...colourAt('inferno', 0.25 + 0.75 * Math.sqrt(sum / most)), 215], cell * 4);
  }
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext('2d')?.putImageData(picture, 0, 0);
  return canvas;
}
