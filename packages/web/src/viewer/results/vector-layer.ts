/**
 * Draws the objects of a vector layer (such as detected cells) over the slide: as outlines at high magnification, as dots at lower
 * magnification, and as a density grid when too many objects are visible. The colour of a grid cell shows its number of objects.
 * The counts in the panel do not depend on how the objects are drawn.
 */
import type { VectorDescriptor } from '@lamina/contract';
import { loadBlock, loadBlockIndex, loadDensity } from '../../api/results.ts';
import { type Placement, visibleBounds, zoomOf } from '../overlay/placement.ts';
import { BoundedCache } from './bounded-cache.ts';
import { loadMeasurementOf, maxLoadedObjects } from './layer-objects.ts';
import type { LayerStyle } from './layer-style.ts';
import { colourAt } from './palettes.ts';
import { combine } from './transform.ts';
import { BlockIndex, type BlockPaths, readBlock } from './vector-block.ts';
import { colourOfGroup, countInGrid, groupOf } from './vector-paths.ts';

/** When more objects than this are visible, the density grid is drawn instead. */
const maxDrawnObjects = 60_000;
/** Smallest zoom at which outlines are drawn, in device pixels per slide pixel; below it, each object is a dot. */
const minOutlineZoom = 0.25;
/** Time after which objects are counted again for the density grid when they could not be loaded. */
const retryAfterMs = 5000;
/** Number of blocks (spatial groups of objects) in the cache, unless a frame needs more. */
const maxBlocks = 512;
/** Coordinates in blocks are quarters of a pixel. */
const unitsPerPixel = 4;
/** Smallest width of a cell of the density grid on the screen, in device pixels. */
const minCellPixels = 4;
// Sizes on the screen in device pixels.
const outlineWidth = 1.5;
const dotSizeAmongOutlines = 4; // for objects without an outline
const dotSize = 2; // for all objects at a lower zoom
/** Alpha of the cells of the density grid, 0 to 255: the tissue below stays visible. */
const densityAlpha = 215;

interface LoadedBlock {
  readonly buffer: ArrayBuffer;
  /** Paths of all objects, grouped by class. */
  readonly paths: BlockPaths;
  /** The paths of the objects that pass the filter of a style, and this style; null until they are needed. */
  filtered: { readonly style: LayerStyle; readonly paths: BlockPaths } | null;
}

/** A grid of object counts; `x`, `y` (upper left corner) and `cell` (side of a cell) are in pixels of the slide. */
type DensityGrid = VectorDescriptor['density'][number];

/** The painter of one vector layer. */
export class VectorLayer {
  readonly #descriptor: VectorDescriptor;
  /** The index of the blocks. It is the only entry of a cache, because `BoundedCache` loads an entry again after a failure. */
  readonly #indexes: BoundedCache<'index', BlockIndex>;
  readonly #blocks: BoundedCache<number, LoadedBlock>;
  /** Counts of one class in the cells of a density grid; the key is `level/class`. */
  readonly #densities: BoundedCache<string, Uint32Array>;
  /** Values of a measurement for the objects of a block; the key is `measurement index/block`. */
  readonly #values: BoundedCache<string, Float32Array>;
  readonly #onChange: () => void;
  readonly #abortController = new AbortController(); // aborted by `close`
  #style: LayerStyle;
  /** The density grid that was drawn last, as an image with one pixel per cell; null before the first grid. */
  #densityImage: {
    readonly level: number;
    readonly style: LayerStyle;
    readonly canvas: OffscreenCanvas;
  } | null = null;

  /** The density grid and the style for which objects are being counted, or were counted last; null before the first count. */
  #filterCount: { readonly level: number; readonly style: LayerStyle } | null = null;
  /** Whether the last count of objects has failed. */
  #hasCountFailed = false;
  /** Whether the last drawing needed a count of objects. */
  #isCountNeeded = false;

  /** @param onChange called when data was loaded or could not be loaded, so that the layer has to be drawn again */
  constructor(descriptor: VectorDescriptor, style: LayerStyle, onChange: () => void) {
    this.#descriptor = descriptor;
    this.#style = style;
    this.#onChange = onChange;
    const { id } = descriptor;
    this.#indexes = new BoundedCache(
      1, // the layer has one index
      async (_, signal) => new BlockIndex(await loadBlockIndex(id, signal)),
      onChange,
    );
    this.#blocks = new BoundedCache(
      maxBlocks,
      async (block, signal) => {
        const buffer = await loadBlock(id, block, signal);
        return { buffer, paths: readBlock(buffer), filtered: null };
      },
      onChange,
    );
    this.#values = new BoundedCache(
      maxBlocks,
      async (key) => {
        const [measurementIndex = 0, block = 0] = key.split('/').map(Number);
        const index = this.#indexes.peek('index');
        if (index === null)
          throw new Error('the values of a block were requested before the index of the blocks was loaded');
        return loadMeasurementOf(descriptor, measurementIndex, index.objectSpanOf(block));
      },
      onChange,
    );
    this.#densities = new BoundedCache(
      // Enough for all classes in four density grids; never 0, even without classes.
      4 * (descriptor.classes.length + 1),
      async (key, signal) => {
        const [level = 0, classIndex = 0] = key.split('/').map(Number);
        return new Uint32Array(await loadDensity(id, { level, class: classIndex }, signal));
      },
      onChange,
    );
  }

  setStyle(style: LayerStyle): void {
    this.#style = style;
  }

  get #caches() {
    return [this.#indexes, this.#blocks, this.#values, this.#densities] as const;
  }

  /** Whether data that the last drawing needed (see `#caches`), or a count of objects, could not be loaded. A retry follows after some seconds. */
  get hasFailures(): boolean {
    return (
      (this.#isCountNeeded && this.#hasCountFailed) || this.#caches.some(({ hasFailures }) => hasFailures)
    );
  }

  /** Cancels running requests and frees the loaded data. */
  close(): void {
    this.#abortController.abort();
    for (const cache of this.#caches) cache.close();
  }

  /** Draws the visible objects. @param placement converts pixels of the slide to device pixels */
  draw(context: CanvasRenderingContext2D, placement: Placement): void {
    for (const cache of this.#caches) cache.startFrame();
    this.#isCountNeeded = false;
    const index = this.#indexes.get('index');
    if (index === null) return;
    const bounds = visibleBounds(placement, context.canvas);
    // Without a density grid to draw instead, all visible objects are drawn.
    const maxObjects = this.#descriptor.density.length > 0 ? maxDrawnObjects : Number.POSITIVE_INFINITY;
    const visibleBlocks = index.blocksIn(bounds, maxObjects);
    if (visibleBlocks === null) {
      // Too many objects are visible.
      this.#drawDensity(context, placement);
      return;
    }
    for (const block of visibleBlocks) {
      const loaded = this.#blocks.get(block);
      const paths = loaded === null ? null : this.#pathsOf(block, loaded);
      if (paths !== null) this.#drawBlock(context, placement, paths);
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
  }

  /**
   * Returns the paths of the objects of a block that the style shows; null while the measurement of its filter is being loaded.
   */
  #pathsOf(block: number, loaded: LoadedBlock): BlockPaths | null {
    const style = this.#style;
    if (style.measurementIndex === null) return loaded.paths;
    if (loaded.filtered?.style === style) return loaded.filtered.paths;
    const values = this.#values.get(`${style.measurementIndex}/${block}`);
    if (values === null) return null;
    const paths = readBlock(loaded.buffer, (object, classIndex) =>
      groupOf(this.#descriptor, style, classIndex, values[object] ?? Number.NaN),
    );
    loaded.filtered = { style, paths };
    return paths;
  }

  /** Draws the objects of a block as outlines or, at a lower zoom, as dots. */
  #drawBlock(context: CanvasRenderingContext2D, placement: Placement, { x, y, groups }: BlockPaths): void {
    const unit = 1 / unitsPerPixel;
    const blockToSlide = { a: unit, b: 0, c: 0, d: unit, e: x, f: y };
    const { a, b, c, d, e, f } = combine(placement, blockToSlide);
    const zoom = zoomOf(placement);
    context.setTransform(a, b, c, d, e, f);
    const devicePixel = unitsPerPixel / zoom; // size of a device pixel in quarters of a slide pixel
    for (const { group, outlines, centres, pointIndexes } of groups) {
      // Without a filter, the groups are classes, and hidden classes are omitted here. With a filter, `readBlock` has omitted
      // them already.
      if (this.#style.measurementIndex === null && this.#style.hidden.has(group)) continue;
      const colour = colourOfGroup(this.#descriptor, this.#style, group);
      context.fillStyle = colour;
      if (zoom >= minOutlineZoom) {
        context.strokeStyle = colour;
        context.lineWidth = outlineWidth * devicePixel;
        context.stroke(outlines);
        for (const index of pointIndexes)
          drawDot(context, centres, index, dotSizeAmongOutlines * devicePixel);
      } else {
        for (let index = 0; index < centres.length; index += 2)
          drawDot(context, centres, index, dotSize * devicePixel);
      }
    }
  }

  /**
   * Draws the finest density grid whose cells are large enough on the screen. Until the counts of this grid are loaded,
   * draws the previous image. If the layer has too many objects to load, the grid ignores the filter by a measurement.
   */
  #drawDensity(context: CanvasRenderingContext2D, placement: Placement): void {
    const { density, classes, object_count } = this.#descriptor;
    const zoom = zoomOf(placement);
    // The grids are sorted from fine to coarse.
    const grid = density.find(({ cell }) => cell * zoom >= minCellPixels) ?? density.at(-1);
    if (grid === undefined) return;
    if (this.#style.measurementIndex !== null && object_count <= maxLoadedObjects) {
      this.#countFiltered(grid);
    } else if (this.#densityImage?.level !== grid.level || this.#densityImage.style !== this.#style) {
      const countsOfClasses: Uint32Array[] = [];
      for (const [classIndex] of classes.entries()) {
        if (this.#style.hidden.has(classIndex)) continue;
        const counts = this.#densities.get(`${grid.level}/${classIndex}`);
        if (counts === null) {
          this.#drawDensityImage(context, placement);
          return;
        }
        countsOfClasses.push(counts);
      }
      const canvas = densityCanvasOf(countsOfClasses, grid);
      this.#densityImage = { level: grid.level, style: this.#style, canvas };
    }
    this.#drawDensityImage(context, placement);
  }

  /**
   * Counts the objects that pass the filter in the cells of a grid, and creates the density image. Does so once per grid and
   * style.
   */
  #countFiltered(grid: DensityGrid): void {
    const style = this.#style;
    this.#isCountNeeded = true;
    if (this.#filterCount?.level === grid.level && this.#filterCount.style === style) return;
    const filterCount = { level: grid.level, style };
    this.#filterCount = filterCount;
    const isOutdated = () => this.#filterCount !== filterCount || this.#abortController.signal.aborted;
    countInGrid(this.#descriptor, style, grid).then(
      (counts) => {
        if (isOutdated()) return;
        this.#hasCountFailed = false;
        if (counts === null) return; // too many objects to load
        this.#densityImage = { ...filterCount, canvas: densityCanvasOf([counts], grid) };
        this.#onChange();
      },
      () => {
        if (isOutdated()) return;
        this.#hasCountFailed = true;
        this.#onChange();
        // The next drawing then counts again.
        setTimeout(() => {
          if (isOutdated()) return;
          this.#filterCount = null;
          this.#onChange();
        }, retryAfterMs);
      },
    );
  }

  /** Draws the latest density image; does nothing before the first density image. */
  #drawDensityImage(context: CanvasRenderingContext2D, placement: Placement): void {
    const grid = this.#descriptor.density.find(({ level }) => level === this.#densityImage?.level);
    if (grid === undefined || this.#densityImage === null) return;
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
    context.drawImage(this.#densityImage.canvas, 0, 0);
    context.setTransform(1, 0, 0, 1, 0, 0);
  }
}

/** Draws a square around a centre. @param index position of the centre's x in `centres` */
function drawDot(
  context: CanvasRenderingContext2D,
  centres: Float32Array,
  index: number,
  size: number,
): void {
  const [x = 0, y = 0] = centres.subarray(index, index + 2);
  context.fillRect(x - size / 2, y - size / 2, size, size);
}

/**
 * Returns an image of a density grid with one pixel per cell. The brightness of a cell grows with the square root of its number
 * of objects, so that cells with few objects stay visible; empty cells are transparent.
 *
 * @param countsOfClasses number of objects of each shown class in each cell, row by row
 */
function densityCanvasOf(
  countsOfClasses: readonly Uint32Array[],
  { width, height }: DensityGrid,
): OffscreenCanvas {
  const sums = new Uint32Array(width * height);
  for (const counts of countsOfClasses)
    for (let cell = 0; cell < sums.length; cell++) sums[cell] = (sums[cell] ?? 0) + (counts[cell] ?? 0);
  const maxSum = sums.reduce((max, sum) => Math.max(max, sum), 1);
  const imageData = new ImageData(width, height);
  for (const [cell, sum] of sums.entries()) {
    if (sum === 0) continue;
    // The darkest quarter of the palette would be hard to see on tissue.
    const [red, green, blue] = colourAt('inferno', 0.25 + 0.75 * Math.sqrt(sum / maxSum));
    imageData.data.set([red, green, blue, densityAlpha], cell * 4);
  }
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext('2d')?.putImageData(imageData, 0, 0);
  return canvas;
}
