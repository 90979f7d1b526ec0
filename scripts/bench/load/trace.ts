/**
 * Request traces: lists of the tiles that simulated viewers request, in order. They use seeded random numbers, so every run of a benchmark
 * sends the same requests.
 *
 * A tile is named `level/column_row` as in a Deep Zoom URL, where level 0 is one pixel.
 */
import { type Random, randomFrom, shuffled } from './random.ts';

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Size of a slide at full resolution and side of a tile, in pixels. */
export interface TiledSlide extends Size {
  readonly tileSize: number;
}

/** A field of view: its centre in pixels of full resolution, and screen pixels per pixel of full resolution. */
interface View {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/** Size of the viewer in a desktop browser, in pixels. */
const desktop: Size = { width: 1600, height: 900 };
/** Zoom factor of one step of the mouse wheel. */
const wheelFactor = 1.2;
/** Number of tiles that a browser requests at the same time. */
const parallelRequests = 6;

/** Returns the Deep Zoom level of full resolution. */
export function maxLevelOf({ width, height }: Size): number {
  return Math.ceil(Math.log2(Math.max(width, height)));
}

/** Returns the number of tile columns and rows of a level. */
export function gridOf(slide: TiledSlide, level: number): { columns: number; rows: number } {
  const countTiles = (pixels: number) =>
    Math.ceil(Math.ceil(pixels / 2 ** (maxLevelOf(slide) - level)) / slide.tileSize);
  return { columns: countTiles(slide.width), rows: countTiles(slide.height) };
}

/** Returns the names of all tiles of a level, row by row. */
export function tilesOfLevel(slide: TiledSlide, level: number): string[] {
  const { columns, rows } = gridOf(slide, level);
  return Array.from(
    { length: columns * rows },
    (_, i) => `${level}/${i % columns}_${Math.floor(i / columns)}`,
  );
}

/** Returns every tile of full resolution once, in random order. */
export function nativeTrace(slide: TiledSlide, seed = 1): string[] {
  return shuffled(tilesOfLevel(slide, maxLevelOf(slide)), randomFrom(seed));
}

/**
 * Returns the requests of several concurrent viewers, who take turns with six requests each (as many as a browser sends
 * in parallel).
 */
export function viewingTrace(slide: TiledSlide, viewers: number, seed = 1): string[] {
  const lists = Array.from({ length: viewers }, (_, viewer) =>
    [...fieldsOfViewer(slide, randomFrom(seed * 1000 + viewer))].flat(),
  );
  const longestLength = Math.max(...lists.map(({ length }) => length));
  const bursts = Math.ceil(longestLength / parallelRequests);
  return Array.from({ length: bursts }, (_, burst) =>
    lists.flatMap((list) => list.slice(burst * parallelRequests, (burst + 1) * parallelRequests)),
  ).flat();
}

/**
 * Simulates one viewer, who first sees the whole slide. In each tour the viewer zooms in at a random place, pans around it, and zooms
 * out again.
 *
 * @param options `tours` is the number of places; it may be infinite. `window` is the size of the viewer in pixels
 * @yields for each field of view the tiles that earlier fields have not loaded; often none
 */
export function* fieldsOfViewer(
  slide: TiledSlide,
  random: Random,
  { tours = 3, window = desktop }: { readonly tours?: number; readonly window?: Size } = {},
): Generator<string[]> {
  const wholeSlideZoom = Math.min(window.width / slide.width, window.height / slide.height);
  const loaded = new Set<string>();
  const view = { zoom: wholeSlideZoom, x: slide.width / 2, y: slide.height / 2 };
  const loadField = () => {
    const missing = tilesToRequest(slide, view, window, (tile) => loaded.has(tile));
    for (const tile of missing) loaded.add(tile);
    return missing;
  };
  const randomBetween = (min: number, max: number) => min + (max - min) * random();

  yield loadField();
  for (let tour = 0; tour < tours; tour += 1) {
    const target = { x: randomBetween(0.1, 0.9) * slide.width, y: randomBetween(0.1, 0.9) * slide.height };
    const highestZoom = random() < 0.6 ? 1 : randomBetween(0.25, 0.75); // full resolution in six of ten tours
    while (view.zoom < highestZoom) {
      view.zoom = Math.min(highestZoom, view.zoom * wheelFactor);
      view.x += (target.x - view.x) / 3; // a third of the remaining distance in each step
      view.y += (target.y - view.y) / 3;
      yield loadField();
    }
    for (let pans = Math.floor(randomBetween(6, 16)); pans > 0; pans -= 1) {
      const direction = randomBetween(0, 2 * Math.PI);
      const step = (randomBetween(0.2, 0.8) * window.width) / view.zoom / 3; // pixels of full resolution
      // The tiles are loaded three times during a pan.
      for (let third = 0; third < 3; third += 1) {
        view.x = clamp(view.x + Math.cos(direction) * step, slide.width);
        view.y = clamp(view.y + Math.sin(direction) * step, slide.height);
        yield loadField();
      }
    }
    const lowestZoom = wholeSlideZoom * randomBetween(2, 8);
    while (view.zoom > lowestZoom) {
      view.zoom = Math.max(lowestZoom, view.zoom / wheelFactor);
      yield loadField();
    }
  }
}

/**
 * Returns the tiles that OpenSeadragon requests: the visible tiles of the smallest level with more than one pixel per screen pixel, nearest
 * to the centre first. When more than half of the visible tiles are not loaded, the tiles of the next smaller level follow.
 */
function tilesToRequest(
  slide: TiledSlide,
  view: View,
  window: Size,
  isLoaded: (tile: string) => boolean,
): string[] {
  const maxLevel = maxLevelOf(slide);
  const minLevel = Math.floor(Math.log2(slide.tileSize)); // the largest level that is a single tile
  const idealLevel = maxLevel + Math.floor(Math.log2(2 * view.zoom));
  const level = Math.max(minLevel, Math.min(maxLevel, idealLevel));
  const visible = tilesInView(slide, view, window, level);
  const missing = visible.filter((tile) => !isLoaded(tile));
  if (missing.length * 2 <= visible.length || level === minLevel) return missing;
  return [...missing, ...tilesInView(slide, view, window, level - 1).filter((tile) => !isLoaded(tile))];
}

/** Returns the tiles of a level in the field of view, nearest to its centre first. */
function tilesInView(slide: TiledSlide, view: View, window: Size, level: number): string[] {
  const tileSideAtFullResolution = slide.tileSize * 2 ** (maxLevelOf(slide) - level);
  const { columns, rows } = gridOf(slide, level);
  /**
   * Returns the visible columns (or rows).
   *
   * @param screenPixels width (or height) of the window
   * @param count number of all columns (or rows)
   */
  const visibleNumbers = (centre: number, screenPixels: number, count: number) => {
    const half = screenPixels / view.zoom / 2;
    const first = Math.max(0, Math.floor((centre - half) / tileSideAtFullResolution));
    const last = Math.min(count - 1, Math.floor((centre + half) / tileSideAtFullResolution));
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
  };
  const squaredDistance = ({ column, row }: { column: number; row: number }) =>
    ((column + 0.5) * tileSideAtFullResolution - view.x) ** 2 +
    ((row + 0.5) * tileSideAtFullResolution - view.y) ** 2;
  const visibleColumns = visibleNumbers(view.x, window.width, columns);
  return visibleNumbers(view.y, window.height, rows)
    .flatMap((row) => visibleColumns.map((column) => ({ column, row })))
    .sort((a, b) => squaredDistance(a) - squaredDistance(b))
    .map(({ column, row }) => `${level}/${column}_${row}`);
}

/** Limits a number to the range from 0 to a maximum. */
function clamp(value: number, maximum: number): number {
  return Math.min(Math.max(value, 0), maximum);
}
