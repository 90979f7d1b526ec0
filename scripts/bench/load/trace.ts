/**
 * Request traces: the tiles that viewers request, in order, the same at every run.
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

export function maxLevelOf({ width, height }: Size): number {
  return Math.ceil(Math.log2(Math.max(width, height)));
}

/** Returns the number of tile columns and rows of a level. */
export function gridOf(slide: TiledSlide, level: number): { columns: number; rows: number } {
  const along = (pixels: number) =>
    Math.ceil(Math.ceil(pixels / 2 ** (maxLevelOf(slide) - level)) / slide.tileSize);
  return { columns: along(slide.width), rows: along(slide.height) };
}

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

/** Returns the requests of several concurrent viewers, interleaved in bursts of as many as a browser sends at once. */
export function viewingTrace(slide: TiledSlide, viewers: number, seed = 1): string[] {
  const lists = Array.from({ length: viewers }, (_, viewer) =>
    [...fieldsOfViewer(slide, randomFrom(seed * 1000 + viewer))].flat(),
  );
  const longest = Math.max(...lists.map(({ length }) => length));
  const bursts = Math.ceil(longest / parallelRequests);
  return Array.from({ length: bursts }, (_, burst) =>
    lists.flatMap((list) => list.slice(burst * parallelRequests, (burst + 1) * parallelRequests)),
  ).flat();
}

/**
 * Simulates one viewer: the whole slide first, then for each tour zooming in at a random place, panning about it, and
 * zooming out again.
 *
 * @param options `tours` is the number of places; may be infinite
 * @yields the tiles that a field of view needs and earlier fields have not loaded; often none
 */
export function* fieldsOfViewer(
  slide: TiledSlide,
  random: Random,
  { tours = 3, window = desktop }: { readonly tours?: number; readonly window?: Size } = {},
): Generator<string[]> {
  const wholeSlide = Math.min(window.width / slide.width, window.height / slide.height);
  const loaded = new Set<string>();
  const view = { zoom: wholeSlide, x: slide.width / 2, y: slide.height / 2 };
  const loadField = () => {
    const missing = tilesInView(slide, view, window, (tile) => loaded.has(tile));
    for (const tile of missing) loaded.add(tile);
    return missing;
  };
  const between = (least: number, most: number) => least + (most - least) * random();

  yield loadField();
  for (let tour = 0; tour < tours; tour += 1) {
    const target = { x: between(0.1, 0.9) * slide.width, y: between(0.1, 0.9) * slide.height };
    const near = random() < 0.6 ? 1 : between(0.25, 0.75);
    while (view.zoom < near) {
      view.zoom = Math.min(near, view.zoom * wheelFactor);
      view.x += (target.x - view.x) / 3;
      view.y += (target.y - view.y) / 3;
      yield loadField();
    }
    for (let pans = Math.floor(between(6, 16)); pans > 0; pans -= 1) {
      const direction = between(0, 2 * Math.PI);
      const step = (between(0.2, 0.8) * window.width) / view.zoom / 3;
      for (let part = 0; part < 3; part += 1) {
        view.x = clamp(view.x + Math.cos(direction) * step, slide.width);
        view.y = clamp(view.y + Math.sin(direction) * step, slide.height);
        yield loadField();
      }
    }
    const far = wholeSlide * between(2, 8);
    while (view.zoom > far) {
      view.zoom = Math.max(far, view.zoom / wheelFactor);
      yield loadField();
    }
  }
}

/**
 * Returns the tiles that OpenSeadragon requests: those of the coarsest level that has a pixel for every two of the screen,
 * nearest to the centre first; where more than half of them are missing, those of the level below as well.
 */
function tilesInView(
  slide: TiledSlide,
  view: View,
  window: Size,
  isLoaded: (tile: string) => boolean,
): string[] {
  const top = maxLevelOf(slide);
  const least = Math.floor(Math.log2(slide.tileSize));
  const level = Math.max(least, Math.min(top, top + Math.floor(Math.log2(2 * view.zoom))));
  const visible = tilesAround(slide, view, window, level);
  const missing = visible.filter((tile) => !isLoaded(tile));
  if (missing.length * 2 <= visible.length || level === least) return missing;
  return [...missing, ...tilesAround(slide, view, window, level - 1).filter((tile) => !isLoaded(tile))];
}

function tilesAround(slide: TiledSlide, view: View, window: Size, level: number): string[] {
  const side = slide.tileSize * 2 ** (maxLevelOf(slide) - level);
  const { columns, rows } = gridOf(slide, level);
  const span = (centre: number, extent: number, count: number) => {
    const half = extent / view.zoom / 2;
    const first = Math.max(0, Math.floor((centre - half) / side));
    const last = Math.min(count - 1, Math.floor((centre + half) / side));
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
  };
  const distance = ({ column, row }: { column: number; row: number }) =>
    ((column + 0.5) * side - view.x) ** 2 + ((row + 0.5) * side - view.y) ** 2;
  return span(view.y, window.height, rows)
    .flatMap((row) => span(view.x, window.width, columns).map((column) => ({ column, row })))
    .sort((one, other) => distance(one) - distance(other))
    .map(({ column, row }) => `${level}/${column}_${row}`);
}

function clamp(value: number, maximum: number): number {
  return Math.min(Math.max(value, 0), maximum);
}
