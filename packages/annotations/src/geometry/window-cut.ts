/**
 * Cuts rings where they cross a rectangular window, and closes the pieces inside along the edge of the window, so that
 * `local-boolean.ts` can clip only the part of a large area that is near a small one. The window and its crossings have integer
 * coordinates: steps of the grid of `clipping.ts`, 100 per pixel.
 */
import type { Position, Ring } from '../model/geometry.ts';
import { fromGrid, type GridPoint, type GridRing, toGrid } from './clipping.ts';
import type { Bounds } from './ring.ts';

/** The part of a ring between two successive crossings with the edge of the window, in the direction of the ring. */
export interface Piece {
  /** The crossing at which the piece begins. */
  readonly start: GridPoint;
  /** The crossing at which the piece ends. */
  readonly end: GridPoint;
  /** Vertices between the crossings, on the grid; empty for a piece outside the window. */
  readonly points: readonly GridPoint[];
  /** Vertices between the crossings, in pixels and not rounded; empty for a piece inside the window. */
  readonly positions: readonly Position[];
}

export interface CutRing {
  readonly inside: readonly Piece[];
  readonly outside: readonly Piece[];
}

/**
 * Cuts one ring into its pieces inside and outside the window.
 *
 * @param ring a closed ring in pixels
 * @returns 'inside' when the whole ring is inside the window; 'vertex-on-window' when a vertex is on the edge of the window, so
 *   that the caller should try a larger window; null when a crossing is at a corner of the window or rounding makes the
 *   crossings inconsistent. Both lists of the result are empty when the ring does not enter the window.
 */
export function cutRing(ring: Ring, window: Bounds): CutRing | 'inside' | 'vertex-on-window' | null {
  /** Number of vertices. */
  const count = ring.length - 1;
  const pointAt = (index: number): GridPoint => {
    const [x, y] = ring[index] as Position;
    return { x: toGrid(x), y: toGrid(y) };
  };
  // The walk along the ring begins outside, so its first crossing enters the window.
  const firstOutside = ring.findIndex((_, index) => locate(pointAt(index), window) === 'outside');
  if (firstOutside === -1) {
    const hasVertexOnWindow = ring.some((_, index) => locate(pointAt(index), window) === 'on');
    return hasVertexOnWindow ? 'vertex-on-window' : 'inside';
  }
  const inside: Piece[] = [];
  const outside: Piece[] = [];
  let lastCrossing: GridPoint | null = null;
  let pointsInside: GridPoint[] = [];
  /** Steps from `firstOutside` to the first position that no piece contains yet. */
  let nextStep = 0;
  /** The positions before the first crossing; they are the end of the last piece outside. */
  let beforeFirstCrossing: readonly Position[] = [];
  const isFarFromWindow = createFarTest(ring, window);
  for (let step = 0; step < count; step++) {
    const index = (firstOutside + step) % count;
    // Skips almost every edge of a large outline without rounding it.
    if (isFarFromWindow(index)) continue;
    const point = pointAt(index);
    const next = pointAt(index + 1);
    const location = locate(point, window);
    if (location === 'on') return 'vertex-on-window';
    if (location === 'inside') pointsInside.push(point);
    const crossings = crossWindow(point, next, window);
    if (crossings === null) return locate(next, window) === 'on' ? 'vertex-on-window' : null;
    for (const { point: crossing, enters } of crossings) {
      const positions = enters ? sliceAround(ring, firstOutside + nextStep, firstOutside + step + 1) : [];
      if (lastCrossing) {
        const pieces = enters ? outside : inside; // the piece that ends at this crossing
        // `points` is empty for a piece outside, `positions` for a piece inside.
        pieces.push({ start: lastCrossing, end: crossing, points: pointsInside, positions });
      } else {
        beforeFirstCrossing = positions;
      }
      lastCrossing = crossing;
      pointsInside = [];
      nextStep = step + 1;
    }
  }
  const [firstInside] = inside;
  if (lastCrossing && firstInside) {
    const positions = sliceAround(ring, firstOutside + nextStep, firstOutside + count).concat(
      beforeFirstCrossing,
    );
    outside.push({ start: lastCrossing, end: firstInside.start, points: [], positions });
  }
  return { inside, outside };
}

/**
 * Returns a test of the edge that begins at the vertex with the given index: true when both ends are more than one grid step
 * beyond the same side of the window, so that the edge does not cross it, even after rounding.
 */
function createFarTest(ring: Ring, window: Bounds): (index: number) => boolean {
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

/**
 * Returns the positions of a closed ring from index `start` to before index `end`. Indexes from the number of vertices up
 * continue at the beginning of the ring; the range is at most once around it.
 */
function sliceAround(ring: Ring, start: number, end: number): readonly Position[] {
  const count = ring.length - 1;
  if (end <= count) return ring.slice(start, end);
  if (start >= count) return ring.slice(start - count, end - count);
  return ring.slice(start, count).concat(ring.slice(0, end - count));
}

interface Crossing {
  readonly point: GridPoint;
  /** True when the edge goes into the window, false when it leaves the window. */
  readonly enters: boolean;
}

/**
 * Returns the crossings of an edge with the window, none, one or two, in the order from a to b. Returns null when a
 * crossing is at a corner, or when rounding makes the number of crossings impossible for these ends.
 */
function crossWindow(a: GridPoint, b: GridPoint, window: Bounds): readonly Crossing[] | null {
  const { minX, minY, maxX, maxY } = window;
  const isStartInside = isInside(a.x, a.y, window);
  const isEndInside = isInside(b.x, b.y, window);
  if (isStartInside && isEndInside) return [];
  /** `fraction` is the position along the edge, from 0 at a to 1 at b. */
  const found: { point: GridPoint; fraction: number }[] = [];
  for (const x of [minX, maxX]) {
    if (a.x < x === b.x < x) continue; // both ends are on the same side
    const fraction = (x - a.x) / (b.x - a.x);
    const y = Math.round(a.y + fraction * (b.y - a.y));
    if (y === minY || y === maxY) return null;
    if (y > minY && y < maxY) found.push({ point: { x, y }, fraction });
  }
  for (const y of [minY, maxY]) {
    if (a.y < y === b.y < y) continue; // both ends are on the same side
    const fraction = (y - a.y) / (b.y - a.y);
    const x = Math.round(a.x + fraction * (b.x - a.x));
    if (x === minX || x === maxX) return null;
    if (x > minX && x < maxX) found.push({ point: { x, y }, fraction });
  }
  const isCountPossible =
    isStartInside === isEndInside ? found.length === 0 || found.length === 2 : found.length === 1;
  if (!isCountPossible) return null;
  found.sort((first, second) => first.fraction - second.fraction);
  // An edge that starts outside enters at its first crossing; every other crossing leaves the window.
  return found.map(({ point }, index) => ({ point, enters: !isStartInside && index === 0 }));
}

function isInside(x: number, y: number, { minX, minY, maxX, maxY }: Bounds): boolean {
  return x > minX && x < maxX && y > minY && y < maxY;
}

function locate({ x, y }: GridPoint, window: Bounds): 'inside' | 'on' | 'outside' {
  const { minX, minY, maxX, maxY } = window;
  if (x < minX || x > maxX || y < minY || y > maxY) return 'outside';
  return isInside(x, y, window) ? 'inside' : 'on';
}

/**
 * Returns the distance, along the edge of the window, from its corner (minX, minY) to a point on the edge. The direction is that
 * of a ring with positive area: through (maxX, minY).
 */
function distanceAlongWindow({ x, y }: GridPoint, { minX, minY, maxX, maxY }: Bounds): number {
  const width = maxX - minX;
  const height = maxY - minY;
  if (y === minY) return x - minX;
  if (x === maxX) return width + (y - minY);
  if (y === maxY) return width + height + (maxX - x);
  return 2 * width + height + (maxY - y);
}

/**
 * Joins the pieces inside to rings: each ring continues from the end of a piece along the edge of the window to the start of the
 * next piece.
 *
 * @returns null when starts and ends of pieces do not alternate along the window, because the rings overlap
 */
export function closeAlongWindow(pieces: readonly Piece[], window: Bounds): readonly GridRing[] | null {
  /** The starts and ends of the pieces, in their order along the edge of the window. */
  const stops = pieces
    .flatMap((piece) => [
      { distance: distanceAlongWindow(piece.start, window), piece, isStart: true },
      { distance: distanceAlongWindow(piece.end, window), piece, isStart: false },
    ])
    .sort((a, b) => a.distance - b.distance);
  for (const [index, stop] of stops.entries()) {
    const next = stops[(index + 1) % stops.length];
    const isSamePoint = next?.distance === stop.distance && stops.length > 1;
    if (!next || next.isStart === stop.isStart || isSamePoint) return null;
  }
  // For each piece, the start of the piece with which its ring continues. The stops after starts are not needed; their key is null.
  const nextStops = new Map(
    stops.map(
      (stop, index) => [stop.isStart ? null : stop.piece, stops[(index + 1) % stops.length]] as const,
    ),
  );
  const unused = new Set(pieces);
  const rings: GridRing[] = [];
  for (const first of pieces) {
    if (!unused.has(first)) continue;
    const ring: GridPoint[] = [];
    let piece = first;
    // The loop ends at a piece that is already used; it is `first` when the ring is closed.
    while (unused.delete(piece)) {
      ring.push(piece.start, ...piece.points, piece.end);
      const next = nextStops.get(piece);
      if (!next) return null;
      ring.push(...cornersBetween(distanceAlongWindow(piece.end, window), next.distance, window));
      piece = next.piece;
    }
    if (piece !== first) return null;
    rings.push(ring);
  }
  return rings;
}

/** Returns the corners between two points on the edge of the window, both given by their distances along it. */
function cornersBetween(start: number, end: number, window: Bounds): readonly GridPoint[] {
  const { minX, minY, maxX, maxY } = window;
  const width = maxX - minX;
  const height = maxY - minY;
  const perimeter = 2 * (width + height);
  const corners = [
    { distance: width, x: maxX, y: minY },
    { distance: width + height, x: maxX, y: maxY },
    { distance: 2 * width + height, x: minX, y: maxY },
    { distance: perimeter, x: minX, y: minY },
  ];
  // Distances begin again at 0 at the corner (minX, minY); beyond this corner they are counted in a second round.
  const unwrappedEnd = end > start ? end : end + perimeter;
  const secondRound = corners.map((corner) => ({ ...corner, distance: corner.distance + perimeter }));
  return [...corners, ...secondRound]
    .filter(({ distance }) => distance > start && distance < unwrappedEnd)
    .map(({ x, y }) => ({ x, y }));
}
