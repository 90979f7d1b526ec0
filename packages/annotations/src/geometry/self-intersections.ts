/**
 * Finds self-intersections: positions where rings of an area pass through themselves or each other, or run along each other.
 * Rings that only touch at a position are valid. The editor marks the positions, and the boolean operations use the result to
 * decide whether an area must be repaired first.
 */
import { type AreaGeometry, type Position, polygonsOf, type Ring } from '../model/geometry.ts';
import { gridSteps } from './clipping.ts';

export interface SelfIntersections {
  /** Positions of crossings in pixels, at most as many as the caller's limit. */
  readonly positions: readonly Position[];
  /** False when the search ended early, at one of its limits; the area may have further crossings. */
  readonly isComplete: boolean;
}

/**
 * One edge of a ring from `from` to `to`. The positions before and after it on the ring decide whether the ring crosses another
 * edge at an end of this one or only touches it.
 */
interface Edge {
  readonly before: Position;
  readonly from: Position;
  readonly to: Position;
  readonly after: Position;
  readonly minX: number;
  readonly maxX: number;
  readonly minY: number;
  readonly maxY: number;
}

/** One step of the grid of `clipping.ts` in pixels, plus 0.1 % for rounding errors of floating-point numbers. */
const gridStepPx = 1.001 / gridSteps;

/** The search ends after this number of comparisons of two edges: a shape made to attack the program would need billions. */
const maximumComparisons = 5_000_000;

/** Finds crossings of the rings of an area, with themselves and with each other; at most `limit` of them. */
export function findSelfIntersections(area: AreaGeometry, limit = 100): SelfIntersections {
  return findCrossings(polygonsOf(area).flat(), limit);
}

/**
 * Returns whether the search finds a crossing; then the area must be repaired (`repairArea`) before it is combined or measured.
 * False also when the search ended early without finding a crossing.
 */
export function isSelfIntersecting(area: AreaGeometry): boolean {
  return findSelfIntersections(area, 1).positions.length > 0;
}

/** Returns whether a ring crosses itself; also true when the search ended early. */
export function ringCrossesItself(ring: Ring): boolean {
  const { positions, isComplete } = findCrossings([ring], 1);
  return positions.length > 0 || !isComplete;
}

/** Finds crossings by a sweep along x: each edge is compared with the earlier edges whose range of x overlaps its own. */
function findCrossings(rings: readonly Ring[], limit: number): SelfIntersections {
  const edges = rings.flatMap(edgesOf).sort((a, b) => a.minX - b.minX);
  const positions: Position[] = [];
  /** The earlier edges that may overlap the current one in x. */
  const active: Edge[] = [];
  let comparisons = 0;
  for (const edge of edges) {
    let activeCount = 0;
    for (const other of active) {
      if (other.maxX < edge.minX) continue;
      active[activeCount++] = other; // removes, in place, the edges that end to the left of the current one
      if (other.minY > edge.maxY || other.maxY < edge.minY) continue;
      const crossing = crossingOf(edge, other);
      if (!crossing) continue;
      positions.push(crossing);
      if (positions.length >= limit) return { positions, isComplete: false };
    }
    comparisons += active.length;
    if (comparisons > maximumComparisons) return { positions, isComplete: false };
    active.length = activeCount;
    active.push(edge);
  }
  return { positions, isComplete: true };
}

/** Returns the edges of a ring without those of length 0. */
function edgesOf(ring: Ring): readonly Edge[] {
  const distinct = ring.filter((position, index) => index === 0 || !isSame(position, ring[index - 1]));
  const count = distinct.length - 1;
  const edges: Edge[] = [];
  for (let index = 0; index < count; index++) {
    const before = distinct[(index + count - 1) % count] as Position;
    const from = distinct[index] as Position;
    const to = distinct[index + 1] as Position;
    const after = distinct[(index + 2) % count] as Position;
    edges.push({
      before,
      from,
      to,
      after,
      minX: Math.min(from[0], to[0]),
      maxX: Math.max(from[0], to[0]),
      minY: Math.min(from[1], to[1]),
      maxY: Math.max(from[1], to[1]),
    });
  }
  return edges;
}

/** Returns where two edges cross or begin to run along each other; null when they are apart or touch. */
function crossingOf(a: Edge, b: Edge): Position | null {
  const bStartSide = sideOfLine(a.from, a.to, b.from);
  const bEndSide = sideOfLine(a.from, a.to, b.to);
  if (bStartSide === 0 && bEndSide === 0) return overlapOf(a, b);
  const aStartSide = sideOfLine(b.from, b.to, a.from);
  const aEndSide = sideOfLine(b.from, b.to, a.to);
  if (bStartSide * bEndSide < 0 && aStartSide * aEndSide < 0)
    return onlyTouches(a, b) || onlyTouches(b, a) ? null : intersectLines(a, b);
  // The ends of edges are not tested, because each of them is the start of the next edge.
  if (isSame(a.from, b.from)) return doPathsCross(a, b) ? a.from : null;
  // The start of one edge is on the other edge: its ring crosses there if the positions before and after the start are
  // on opposite sides of the other edge.
  if (bStartSide === 0 && aStartSide * aEndSide < 0)
    return sideOfLine(a.from, a.to, b.before) * bEndSide < 0 ? b.from : null;
  if (aStartSide === 0 && bStartSide * bEndSide < 0)
    return sideOfLine(b.from, b.to, a.before) * aEndSide < 0 ? a.from : null;
  return null;
}

/**
 * Returns whether an end of `edge` is less than a grid step beyond the other edge and its ring turns back there. This counts as
 * touching: boolean operations round positions to the grid, which can push thin parts that far through each other.
 */
function onlyTouches(edge: Edge, other: Edge): boolean {
  const { from, to } = other;
  const sideOf = (position: Position) => sideOfLine(from, to, position);
  return (
    (distanceToLine(from, to, edge.from) < gridStepPx && sideOf(edge.before) * sideOf(edge.to) >= 0) ||
    (distanceToLine(from, to, edge.to) < gridStepPx && sideOf(edge.after) * sideOf(edge.from) >= 0)
  );
}

/** Returns the start of the common part of two edges on one line; null when that part is at most one grid step long. */
function overlapOf(a: Edge, b: Edge): Position | null {
  /** Index of the coordinate in which the first edge is longer: 0 for x, 1 for y. */
  const axis = a.maxX - a.minX > a.maxY - a.minY ? 0 : 1;
  const start = Math.max(Math.min(a.from[axis], a.to[axis]), Math.min(b.from[axis], b.to[axis]));
  const end = Math.min(Math.max(a.from[axis], a.to[axis]), Math.max(b.from[axis], b.to[axis]));
  if (end - start <= gridStepPx) return null;
  return [a.from, a.to, b.from, b.to].find((position) => position[axis] === start) ?? a.from;
}

/**
 * Returns whether two paths that meet at the start of the edges a and b pass through each other there. They do when, around that
 * position, the directions to the previous and the next position of path a alternate with those of path b.
 */
function doPathsCross(a: Edge, b: Edge): boolean {
  const [x, y] = a.from;
  const angle = (position: Position) => Math.atan2(position[1] - y, position[0] - x);
  const aBefore = angle(a.before);
  /** Angle from the direction of `a.before`, from 0 to 2π. The difference is at least -2π, so 4π makes it positive. */
  const turn = (position: Position) => (angle(position) - aBefore + 4 * Math.PI) % (2 * Math.PI);
  const aTo = turn(a.to);
  const bBefore = turn(b.before);
  const bTo = turn(b.to);
  if (bBefore === aTo || bTo === aTo || bBefore === 0 || bTo === 0) return false;
  return bBefore < aTo !== bTo < aTo;
}

/** Returns the intersection of the lines through two edges that are not parallel. */
function intersectLines(a: Edge, b: Edge): Position {
  const dx = a.to[0] - a.from[0];
  const dy = a.to[1] - a.from[1];
  const ex = b.to[0] - b.from[0];
  const ey = b.to[1] - b.from[1];
  // The fraction of the first edge at which the lines meet: 0 at its start, 1 at its end.
  const fraction = ((b.from[0] - a.from[0]) * ey - (b.from[1] - a.from[1]) * ex) / (dx * ey - dy * ex);
  return [a.from[0] + fraction * dx, a.from[1] + fraction * dy];
}

/** Returns on which side of the line from a to b the position p is: 1 on the right as seen on a screen, -1 on the left, 0 on it. */
function sideOfLine(a: Position, b: Position, p: Position): number {
  return Math.sign(crossProduct(a, b, p));
}

function distanceToLine(a: Position, b: Position, p: Position): number {
  return Math.abs(crossProduct(a, b, p)) / Math.hypot(b[0] - a[0], b[1] - a[1]);
}

/** Returns the cross product of the vectors from a to b and from a to p. */
function crossProduct(a: Position, b: Position, p: Position): number {
  return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
}

function isSame(a: Position, b: Position | undefined): boolean {
  return b !== undefined && a[0] === b[0] && a[1] === b[1];
}
