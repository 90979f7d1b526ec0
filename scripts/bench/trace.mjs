/**
 * What people ask a tile server for: lists of tiles, the same at every run.
 *
 * A slide is `{ width, height, tileSize }` in pixels; a tile is named `level/column_row` as in a Deep Zoom address,
 * where level 0 is one pixel.
 */
import { randomFrom, shuffled } from './random.mjs';

/** A desktop's window of slide, in pixels. */
const desktop = { width: 1600, height: 900 };
/** One step of the wheel. */
const wheel = 1.2;
/** A browser asks for so many tiles at once. */
const atOnce = 6;

export function maxLevelOf({ width, height }) {
  return Math.ceil(Math.log2(Math.max(width, height)));
}

/** Columns and rows of tiles that a level has. */
export function gridOf(slide, level) {
  const along = (pixels) => Math.ceil(Math.ceil(pixels / 2 ** (maxLevelOf(slide) - level)) / slide.tileSize);
  return { columns: along(slide.width), rows: along(slide.height) };
}

export function tilesOfLevel(slide, level) {
  const { columns, rows } = gridOf(slide, level);
  return Array.from(
    { length: columns * rows },
    (_, i) => `${level}/${i % columns}_${Math.floor(i / columns)}`,
  );
}

/** Every tile of full resolution once, in no order. */
export function nativeTrace(slide, seed = 1) {
  return shuffled(tilesOfLevel(slide, maxLevelOf(slide)), randomFrom(seed));
}

/** Several people who look about the slide at the same time, each in the bursts of a browser. */
export function viewingTrace(slide, people, seed = 1) {
  const lists = Array.from({ length: people }, (_, person) =>
    [...fieldsOfPerson(slide, randomFrom(seed * 1000 + person))].flat(),
  );
  const longest = Math.max(...lists.map(({ length }) => length));
  const bursts = Math.ceil(longest / atOnce);
  return Array.from({ length: bursts }, (_, burst) =>
    lists.flatMap((list) => list.slice(burst * atOnce, (burst + 1) * atOnce)),
  ).flat();
}

/**
 * One person's way over a slide: the whole of it, in with the wheel to a place that looks worth it, about that place,
 * out again, and on to the next.
 *
 * @param tours how many places; endless when left out
 * @yields the tiles that a view needs and the views before it have not brought; often none
 */
export function* fieldsOfPerson(slide, random, { tours = 3, window = desktop } = {}) {
  const whole = Math.min(window.width / slide.width, window.height / slide.height);
  const known = new Set();
  const view = { zoom: whole, x: slide.width / 2, y: slide.height / 2 };
  const look = () => {
    const wanted = tilesInView(slide, view, window, (tile) => known.has(tile));
    for (const tile of wanted) known.add(tile);
    return wanted;
  };
  const between = (least, most) => least + (most - least) * random();

  yield look();
  for (let tour = 0; tour < tours; tour += 1) {
    const target = { x: between(0.1, 0.9) * slide.width, y: between(0.1, 0.9) * slide.height };
    const near = random() < 0.6 ? 1 : between(0.25, 0.75);
    while (view.zoom < near) {
      view.zoom = Math.min(near, view.zoom * wheel);
      view.x += (target.x - view.x) / 3;
      view.y += (target.y - view.y) / 3;
      yield look();
    }
    for (let pans = Math.floor(between(6, 16)); pans > 0; pans -= 1) {
      const direction = between(0, 2 * Math.PI);
      const step = (between(0.2, 0.8) * window.width) / view.zoom / 3;
      for (let part = 0; part < 3; part += 1) {
        view.x = clamp(view.x + Math.cos(direction) * step, slide.width);
        view.y = clamp(view.y + Math.sin(direction) * step, slide.height);
        yield look();
      }
    }
    const far = whole * between(2, 8);
    while (view.zoom > far) {
      view.zoom = Math.max(far, view.zoom / wheel);
      yield look();
    }
  }
}

/**
 * The tiles OpenSeadragon would ask for: of the coarsest level that has a pixel for every two of the screen, nearest
 * to the centre first; where most of them are missing, those of the level below as well.
 */
function tilesInView(slide, view, window, isKnown) {
  const top = maxLevelOf(slide);
  const least = Math.floor(Math.log2(slide.tileSize));
  const level = Math.max(least, Math.min(top, top + Math.floor(Math.log2(2 * view.zoom))));
  const seen = tilesAround(slide, view, window, level);
  const missing = seen.filter((tile) => !isKnown(tile));
  if (missing.length * 2 <= seen.length || level === least) return missing;
  return [...missing, ...tilesAround(slide, view, window, level - 1).filter((tile) => !isKnown(tile))];
}

function tilesAround(slide, view, window, level) {
  const side = slide.tileSize * 2 ** (maxLevelOf(slide) - level);
  const { columns, rows } = gridOf(slide, level);
  const span = (centre, extent, count) => {
    const half = extent / view.zoom / 2;
    const first = Math.max(0, Math.floor((centre - half) / side));
    const last = Math.min(count - 1, Math.floor((centre + half) / side));
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
  };
  const away = ({ column, row }) =>
    ((column + 0.5) * side - view.x) ** 2 + ((row + 0.5) * side - view.y) ** 2;
  return span(view.y, window.height, rows)
    .flatMap((row) => span(view.x, window.width, columns).map((column) => ({ column, row })))
    .sort((one, other) => away(one) - away(other))
    .map(({ column, row }) => `${level}/${column}_${row}`);
}

function clamp(value, most) {
  return Math.min(Math.max(value, 0), most);
}
