/** Rings: closed lists of positions, the last equal to the first. */
import type { Position, Ring } from '../model/geometry.ts';

export interface Bounds {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
}

/** The area and the bounds of each ring that was asked for: a brush asks several times for those of the same 50,000 positions. */
const areaByRing = new WeakMap<readonly Position[], number>();
const boundsByLine = new WeakMap<readonly Position[], Bounds>();

/**
 * Returns the area of a ring that does not change afterwards, by the shoelace formula: positive when x turns towards y along
 * the ring, which is clockwise on a screen. Outer rings of results are positive, holes negative.
 */
export function signedArea(ring: readonly Position[]): number {
  const known = areaByRing.get(ring);
  if (known !== undefined) return known;
  const area = computeSignedArea(ring);
  areaByRing.set(ring, area);
  return area;
}

function computeSignedArea(ring: readonly Position[]): number {
  const origin = ring[0];
  if (!origin) return 0;
  // Relative to the first position: at coordinates of 10^6 pixels the products would lose digits.
  const [originX, originY] = origin;
  let twice = 0;
  let previous = ring[ring.length - 1] ?? origin;
  for (const position of ring) {
    twice +=
      (previous[0] - originX) * (position[1] - originY) - (position[0] - originX) * (previous[1] - originY);
    previous = position;
  }
  return twice / 2;
}

/** Returns the ring with a positive or a negative area. */
export function orientRing(ring: Ring, sign: 1 | -1): Ring {
  return signedArea(ring) * sign < 0 ? ring.toReversed() : ring;
}

/** Returns the bounds of at least one position. */
export function boundsOfPositions(positions: Iterable<Position>): Bounds {
  let minX = Number.POSITIVE_INFINITY;
  let minY = Number.POSITIVE_INFINITY;
  let maxX = Number.NEGATIVE_INFINITY;
  let maxY = Number.NEGATIVE_INFINITY;
  for (const position of positions) {
    const x = position[0];
    const y = position[1];
    if (x < minX) minX = x;
    if (x > maxX) maxX = x;
    if (y < minY) minY = y;
    if (y > maxY) maxY = y;
  }
  return { minX, minY, maxX, maxY };
}

/** Returns the bounds of lines or rings that hold at least one position together, and do not change afterwards. */
export function boundsOfLines(lines: readonly (readonly Position[])[]): Bounds {
  return boundsOfPositions(
    lines.map(boundsOfLine).flatMap(({ minX, minY, maxX, maxY }): Position[] => [
      [minX, minY],
      [maxX, maxY],
    ]),
  );
}

function boundsOfLine(line: readonly Position[]): Bounds {
  const known = boundsByLine.get(line);
  if (known !== undefined) return known;
  const bounds = boundsOfPositions(line);
  boundsByLine.set(line, bounds);
  return bounds;
}

/** Whether the rectangles have at least a point in common. */
export function boundsTouch(a: Bounds, b: Bounds): boolean {
  return a.minX <= b.maxX && b.minX <= a.maxX && a.minY <= b.maxY && b.minY <= a.maxY;
}

/** Whether a position is inside a ring, by the even-odd rule; on the ring itself either answer is possible. */
export function ringContains(ring: readonly Position[], [x, y]: Position): boolean {
  let isInside = false;
  let previous = ring[ring.length - 1];
  if (!previous) return false;
  for (const position of ring) {
    const [x1, y1] = position;
    const [x0, y0] = previous;
    if (y1 > y !== y0 > y && x < ((x0 - x1) * (y - y1)) / (y0 - y1) + x1) isInside = !isInside;
    previous = position;
  }
  return isInside;
}
