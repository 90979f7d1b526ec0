/** Cuts rings where they cross a rectangular window on the grid, and closes the pieces inside along the window. */
import type { Position, Ring } from '../model/geometry.ts';
import { fromGrid, type GridPoint, type GridRing, toGrid } from './clipping.ts';
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
  const pointAt = (index: number): GridPoint => {
    const [x, y] = ring[index] as Position;
    return { x: toGrid(x), y: toGrid(y) };
  };
  const start = ring.findIndex((_, index) => placeOf(pointAt(index), window) === 'outside');
  if (start === -1) {
    const isOn = ring.some((_, index) => placeOf(pointAt(index), window) === 'on');
    return isOn ? 'vertex-on-window' : 'inside';
  }
  const inside: Piece[] = [];
  const outside: Piece[] = [];
  let from: GridPoint | null = null;
  let gridPoints: GridPoint[] = [];
  /** First step of the positions outside that have not been taken. */
  let taken = 0;
  /** The part before the first crossing, which belongs to the end of the last piece. */
  let head: readonly Position[] = [];
  const isFarBeside = farBeside(ring, window);
  for (let step = 0; step < count; step++) {
    const index = (start + step) % count;
    // Almost every edge of a large outline is far from the window.
    if (isFarBeside(index)) continue;
    const point = pointAt(index);
    const next = pointAt(index + 1);
    const place = placeOf(point, window);
    if (place === 'on') return 'vertex-on-window';
    const isPointInside = place === 'inside';
    if (isPointInside) gridPoints.push(point);
    const crossings = crossWindow(point, next, window);
    if (crossings === null) return placeOf(next, window) === 'on' ? 'vertex-on-window' : null;
    for (const { at, enters } of crossings) {
      const positions = enters ? sliceAround(ring, start + taken, start + step + 1) : [];
      if (from) (enters ? outside : inside).push({ from, to: at, points: gridPoints, positions });
      else head = positions;
      from = at;
      gridPoints = [];
      taken = step + 1;
    }
  }
  const [first] = inside;
  if (from && first) {
    const positions = sliceAround(ring, start + taken, start + count).concat(head);
    outside.push({ from, to: first.from, points: [], positions });
  }
  return { inside, outside };
}

/** Returns whether both ends of the edge from a vertex are beyond the same side of the window, by more than what rounding moves. */
function farBeside(ring: Ring, window: Bounds): (index: number) => boolean {
  const minX = fromGrid(window.minX - 1);
  const minY = fromGrid(window.minY - 1);
  const maxX = fromGrid(window.maxX + 1);
  const maxY = fromGrid(window.maxY + 1);
  return (index) => {
    const [x0, y0] = ring[index] as Position;
    const [x1, y1] = ring[index + 1] as Position;
    return (
      (x0 < minX && x1 < minX) ||
      (x0 > maxX && x1 > maxX) ||
      (y0 < minY && y1 < minY) ||
      (y0 > maxY && y1 > maxY)
    );
  };
}

/** Returns the positions of a closed ring from one index to before another, once around at most. */
function sliceAround(ring: Ring, from: number, to: number): readonly Position[] {
  const count = ring.length - 1;
  if (to <= count) return ring.slice(from, to);
  if (from >= count) return ring.slice(from - count, to - count);
  return ring.slice(from, count).concat(ring.slice(0, to - count));
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

function isInside(x: number, y: number, { minX, minY, maxX, maxY }: Bounds): boolean {
  return x > minX && x < maxX && y > minY && y < maxY;
}

function placeOf({ x, y }: GridPoint, window: Bounds): 'inside' | 'on' | 'outside' {
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
