/**
 * Finds where rings cross. Rings that touch at a position are valid; rings that pass through each other, or that run along
 * each other, are not.
 */
import { type AreaGeometry, type Position, polygonsOf, type Ring } from '../model/geometry.ts';
import { gridSteps } from './clipping.ts';

export interface SelfIntersections {
  /** Positions, at most as many as asked for. */
  readonly positions: readonly Position[];
  /** False when the search ended early; the area may have further crossings. */
  readonly isComplete: boolean;
}

/** One edge, with the positions before and after it, which decide whether the ring crosses or touches at its ends. */
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

/** In pixels; a little more, because the numbers are binary. */
const gridStep = 1.001 / gridSteps;

/** Pairs of edges that are compared at most: hostile shapes have billions. */
const maximumPairs = 5_000_000;

/** Finds crossings of the rings of an area, with themselves and with each other. */
export function findSelfIntersections(area: AreaGeometry, limit = 100): SelfIntersections {
  return search(polygonsOf(area).flat(), limit);
}

/** Whether an area should be repaired before it is combined or measured. */
export function isSelfIntersecting(area: AreaGeometry): boolean {
  return findSelfIntersections(area, 1).positions.length > 0;
}

/** Whether a ring crosses itself; true, too, when that would take too long to find out. */
export function ringCrossesItself(ring: Ring): boolean {
  const { positions, isComplete } = search([ring], 1);
  return positions.length > 0 || !isComplete;
}

/** Sweeps along x: an edge is compared with the edges whose range of x it touches. */
function search(rings: readonly Ring[], limit: number): SelfIntersections {
  const edges = rings.flatMap(edgesOf).sort((a, b) => a.minX - b.minX);
  const positions: Position[] = [];
  const active: Edge[] = [];
  let pairs = 0;
  for (const edge of edges) {
    let kept = 0;
    for (const other of active) {
      if (other.maxX < edge.minX) continue;
      active[kept++] = other;
      if (other.minY > edge.maxY || other.maxY < edge.minY) continue;
      const crossing = crossingOf(edge, other);
      if (!crossing) continue;
      positions.push(crossing);
      if (positions.length >= limit) return { positions, isComplete: false };
    }
    pairs += active.length;
    if (pairs > maximumPairs) return { positions, isComplete: false };
    active.length = kept;
    active.push(edge);
  }
  return { positions, isComplete: true };
}

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
  const fromSide = side(a.from, a.to, b.from);
  const toSide = side(a.from, a.to, b.to);
  if (fromSide === 0 && toSide === 0) return overlapOf(a, b);
  const aFromSide = side(b.from, b.to, a.from);
  const aToSide = side(b.from, b.to, a.to);
  if (fromSide * toSide < 0 && aFromSide * aToSide < 0)
    return onlyTouches(a, b) || onlyTouches(b, a) ? null : meetingPoint(a, b);
  if (isSame(a.from, b.from)) return doPathsCross(a, b) ? a.from : null;
  // The start of one edge is inside the other edge: the ring crosses when it comes from the other side.
  if (fromSide === 0 && aFromSide * aToSide < 0)
    return side(a.from, a.to, b.before) * toSide < 0 ? b.from : null;
  if (aFromSide === 0 && fromSide * toSide < 0)
    return side(b.from, b.to, a.before) * aToSide < 0 ? a.from : null;
  return null;
}

/**
 * Whether an end of an edge is past the other edge by less than a step of the grid, and its ring turns back there. Operations
 * round positions to the grid (clipping.ts), which pushes thin parts that much through each other.
 */
function onlyTouches(edge: Edge, other: Edge): boolean {
  const { from, to } = other;
  const sideOf = (position: Position) => side(from, to, position);
  return (
    (distanceToLine(from, to, edge.from) < gridStep && sideOf(edge.before) * sideOf(edge.to) >= 0) ||
    (distanceToLine(from, to, edge.to) < gridStep && sideOf(edge.after) * sideOf(edge.from) >= 0)
  );
}

/** Returns a position of the common part of two edges on one line, when it is longer than a step of the grid. */
function overlapOf(a: Edge, b: Edge): Position | null {
  const axis = a.maxX - a.minX > a.maxY - a.minY ? 0 : 1;
  const start = Math.max(Math.min(a.from[axis], a.to[axis]), Math.min(b.from[axis], b.to[axis]));
  const end = Math.min(Math.max(a.from[axis], a.to[axis]), Math.max(b.from[axis], b.to[axis]));
  if (end - start <= gridStep) return null;
  return [a.from, a.to, b.from, b.to].find((position) => position[axis] === start) ?? a.from;
}

/** Whether two paths through the same position pass through each other: their ends alternate around it. */
function doPathsCross(a: Edge, b: Edge): boolean {
  const [x, y] = a.from;
  const angle = (position: Position) => Math.atan2(position[1] - y, position[0] - x);
  const start = angle(a.before);
  const turn = (position: Position) => (angle(position) - start + 4 * Math.PI) % (2 * Math.PI);
  const end = turn(a.to);
  const one = turn(b.before);
  const other = turn(b.to);
  if (one === end || other === end || one === 0 || other === 0) return false;
  return one < end !== other < end;
}

function meetingPoint(a: Edge, b: Edge): Position {
  const dx = a.to[0] - a.from[0];
  const dy = a.to[1] - a.from[1];
  const ex = b.to[0] - b.from[0];
  const ey = b.to[1] - b.from[1];
  const t = ((b.from[0] - a.from[0]) * ey - (b.from[1] - a.from[1]) * ex) / (dx * ey - dy * ex);
  return [a.from[0] + t * dx, a.from[1] + t * dy];
}

/** Returns the side of the line through a and b on which p is: 1, -1, or 0 on the line. */
function side(a: Position, b: Position, p: Position): number {
  return Math.sign(crossProduct(a, b, p));
}

function distanceToLine(a: Position, b: Position, p: Position): number {
  return Math.abs(crossProduct(a, b, p)) / Math.hypot(b[0] - a[0], b[1] - a[1]);
}

/** Of the edge from a to b and that from a to p. */
function crossProduct(a: Position, b: Position, p: Position): number {
  return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
}

function isSame(a: Position, b: Position | undefined): boolean {
  return b !== undefined && a[0] === b[0] && a[1] === b[1];
}
