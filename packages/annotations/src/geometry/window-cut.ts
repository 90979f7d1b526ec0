/** Cuts rings where they cross a rectangular window on the grid, and closes the pieces inside along the window. */
import type { Position, Ring } from '../model/geometry.ts';
import { type GridPoint, type GridRing, toGrid } from './clipping.ts';
import type { Bounds } from './ring.ts';

/** A piece of a ring between two crossings with the window, in the direction of the ring. */
export interface Piece {
  readonly from: GridPoint;
  readonly to: GridPoint;
  /** On the grid for pieces inside; positions of the ring, unchanged, for pieces outside. */
  readonly points: readonly GridPoint[];
  readonly positions: readonly Position[];
}

export interface CutRing {
  readonly inside: readonly Piece[];
  readonly outside: readonly Piece[];
}

/**
 * @param ring a closed ring in pixels
 * @returns 'inside' when the whole ring is inside, 'vertex-on-window' when the window should be moved, null when a crossing
 *   is at a corner of the window
 */
export function cutRing(ring: Ring, window: Bounds): CutRing | 'inside' | 'vertex-on-window' | null {
  const count = ring.length - 1;
  // Most vertices are outside: numbers in arrays, because an object for each would cost most of the time.
  const xs = new Float64Array(count + 1);
  const ys = new Float64Array(count + 1);
  let start = -1;
  for (let index = 0; index <= count; index++) {
    const [x, y] = ring[index] as Position;
    xs[index] = toGrid(x);
    ys[index] = toGrid(y);
    const place = placeOf(xs[index] ?? 0, ys[index] ?? 0, window);
    if (place === 'on') return 'vertex-on-window';
    if (place === 'outside' && start === -1 && index < count) start = index;
  }
  if (start === -1) return 'inside';
  const pointAt = (index: number): GridPoint => ({ x: xs[index] ?? 0, y: ys[index] ?? 0 });
  const inside: Piece[] = [];
  const outside: Piece[] = [];
  let from: GridPoint | null = null;
  let gridPoints: GridPoint[] = [];
  let positions: Position[] = [];
  /** The part before the first crossing, which belongs to the end of the last piece. */
  let head: readonly Position[] = [];
  for (let step = 0; step < count; step++) {
    const index = (start + step) % count;
    if (isInside(xs[index] ?? 0, ys[index] ?? 0, window)) gridPoints.push(pointAt(index));
    else positions.push(ring[index] as Position);
    if (isBeside(xs, index, window.minX, window.maxX) || isBeside(ys, index, window.minY, window.maxY))
      continue;
    const crossings = crossWindow(pointAt(index), pointAt(index + 1), window);
    if (crossings === null) return null;
    for (const { at, enters } of crossings) {
      if (from) (enters ? outside : inside).push({ from, to: at, points: gridPoints, positions });
      else head = positions;
      from = at;
      gridPoints = [];
      positions = [];
    }
  }
  const [first] = inside;
  if (from && first) outside.push({ from, to: first.from, points: [], positions: [...positions, ...head] });
  return { inside, outside };
}

interface Crossing {
  readonly at: GridPoint;
  readonly enters: boolean;
}

/** Returns the crossings of an edge in its direction: none, one or two; null when one is at a corner. */
function crossWindow(a: GridPoint, b: GridPoint, window: Bounds): readonly Crossing[] | null {
  const { minX, minY, maxX, maxY } = window;
  const fromInside = isInside(a.x, a.y, window);
  const toInside = isInside(b.x, b.y, window);
  if (fromInside && toInside) return [];
  const found: { at: GridPoint; t: number }[] = [];
  for (const x of [minX, maxX]) {
    if (a.x < x === b.x < x) continue;
    const t = (x - a.x) / (b.x - a.x);
    const y = Math.round(a.y + t * (b.y - a.y));
    if (y === minY || y === maxY) return null;
    if (y > minY && y < maxY) found.push({ at: { x, y }, t });
  }
  for (const y of [minY, maxY]) {
    if (a.y < y === b.y < y) continue;
    const t = (y - a.y) / (b.y - a.y);
    const x = Math.round(a.x + t * (b.x - a.x));
    if (x === minX || x === maxX) return null;
    if (x > minX && x < maxX) found.push({ at: { x, y }, t });
  }
  const expected = fromInside !== toInside ? 1 : found.length === 0 ? 0 : 2;
  if (found.length !== expected) return null;
  found.sort((one, other) => one.t - other.t);
  return found.map(({ at }, index) => ({ at, enters: fromInside ? index % 2 === 1 : index % 2 === 0 }));
}

/** Whether both ends of an edge are beyond the same side of the window. */
function isBeside(values: Float64Array, index: number, minimum: number, maximum: number): boolean {
  const from = values[index] ?? 0;
  const to = values[index + 1] ?? 0;
  return (from < minimum && to < minimum) || (from > maximum && to > maximum);
}

function isInside(x: number, y: number, { minX, minY, maxX, maxY }: Bounds): boolean {
  return x > minX && x < maxX && y > minY && y < maxY;
}

function placeOf(x: number, y: number, window: Bounds): 'inside' | 'on' | 'outside' {
  const { minX, minY, maxX, maxY } = window;
  if (x < minX || x > maxX || y < minY || y > maxY) return 'outside';
  return isInside(x, y, window) ? 'inside' : 'on';
}

/** Distance of a point of the window from its first corner along the window, in the direction of positive area. */
function alongWindow({ x, y }: GridPoint, { minX, minY, maxX, maxY }: Bounds): number {
  const width = maxX - minX;
  const height = maxY - minY;
  if (y === minY) return x - minX;
  if (x === maxX) return width + (y - minY);
  if (y === maxY) return width + height + (maxX - x);
  return 2 * width + height + (maxY - y);
}

/**
 * Joins pieces inside to rings: from the end of a piece along the window to the start of the next one.
 *
 * @returns null when starts and ends do not alternate along the window, so the rings overlap
 */
export function closeAlongWindow(pieces: readonly Piece[], window: Bounds): readonly GridRing[] | null {
  const stops = pieces
    .flatMap((piece) => [
      { at: alongWindow(piece.from, window), piece, isStart: true },
      { at: alongWindow(piece.to, window), piece, isStart: false },
    ])
    .sort((a, b) => a.at - b.at);
  for (const [index, stop] of stops.entries()) {
    const next = stops[(index + 1) % stops.length];
    if (!next || next.isStart === stop.isStart || (next.at === stop.at && stops.length > 1)) return null;
  }
  const following = new Map(
    stops.map(
      (stop, index) => [stop.isStart ? null : stop.piece, stops[(index + 1) % stops.length]] as const,
    ),
  );
  const endAt = new Map(stops.filter(({ isStart }) => !isStart).map(({ at, piece }) => [piece, at] as const));
  const left = new Set(pieces);
  const rings: GridRing[] = [];
  for (const start of pieces) {
    if (!left.has(start)) continue;
    const ring: GridPoint[] = [];
    let piece = start;
    while (left.delete(piece)) {
      ring.push(piece.from, ...piece.points, piece.to);
      const next = following.get(piece);
      if (!next) return null;
      ring.push(...cornersBetween(endAt.get(piece) ?? 0, next.at, window));
      piece = next.piece;
    }
    if (piece !== start) return null;
    rings.push(ring);
  }
  return rings;
}

function cornersBetween(from: number, to: number, window: Bounds): readonly GridPoint[] {
  const { minX, minY, maxX, maxY } = window;
  const width = maxX - minX;
  const height = maxY - minY;
  const corners = [
    { at: width, x: maxX, y: minY },
    { at: width + height, x: maxX, y: maxY },
    { at: 2 * width + height, x: minX, y: maxY },
    { at: 2 * (width + height), x: minX, y: minY },
  ];
  const turn = 2 * (width + height);
  const end = to > from ? to : to + turn;
  return [...corners, ...corners.map((corner) => ({ ...corner, at: corner.at + turn }))]
    .filter(({ at }) => at > from && at < end)
    .map(({ x, y }) => ({ x, y }));
}
