/** Rings: closed lists of positions, the last equal to the first. */
import type { Position, Ring } from '../model/geometry.ts';

/** An axis-parallel rectangle in pixels; in `local-boolean.ts` and `window-*.ts` also in steps of the grid of `clipping.ts`. */
export interface Bounds {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
}

/** Caches: every move of a brush needs the area and the bounds of the same outline of up to 50,000 positions several times. */
const areaByRing = new WeakMap<readonly Position[], number>();
const boundsByLine = new WeakMap<readonly Position[], Bounds>();

/**
 * Returns the area of a ring by the shoelace formula: positive for a ring that is clockwise on a screen, where y points down.
 * The result is cached, so the ring must not change afterwards. In results of this package, outer rings have a positive area and
 * holes a negative one.
 */
export function signedArea(ring: readonly Position[]): number {
  const cached = areaByRing.get(ring);
  if (cached !== undefined) return cached;
  const area = computeSignedArea(ring);
  areaByRing.set(ring, area);
  return area;
}

function computeSignedArea(ring: readonly Position[]): number {
  const origin = ring[0];
  if (!origin) return 0;
  // Coordinates are relative to the first position: products of coordinates of 10^6 pixels would lose digits.
  const [originX, originY] = origin;
  let doubleArea = 0;
  let previous = ring[ring.length - 1] ?? origin;
  for (const position of ring) {
    doubleArea +=
      (previous[0] - originX) * (position[1] - originY) - (position[0] - originX) * (previous[1] - originY);
    previous = position;
  }
  return doubleArea / 2;
}

/** Returns the ring, reversed when its signed area does not have the given sign. */
export function orientRing(ring: Ring, sign: 1 | -1): Ring {
  return signedArea(ring) * sign < 0 ? ring.toReversed() : ring;
}

/** Returns the bounds of positions; there must be at least one. */
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

/** Returns the bounds of at least one non-empty line or ring; they are cached, so the lines must not change afterwards. */
export function boundsOfLines(lines: readonly (readonly Position[])[]): Bounds {
  return boundsOfPositions(
    lines.map(boundsOfLine).flatMap(({ minX, minY, maxX, maxY }): Position[] => [
      [minX, minY],
      [maxX, maxY],
    ]),
  );
}

function boundsOfLine(line: readonly Position[]): Bounds {
  const cached = boundsByLine.get(line);
  if (cached !== undefined) return cached;
  const bounds = boundsOfPositions(line);
  boundsByLine.set(line, bounds);
  return bounds;
}

/** Returns whether the rectangles have at least one point in common. */
export function boundsTouch(a: Bounds, b: Bounds): boolean {
  return a.minX <= b.maxX && b.minX <= a.maxX && a.minY <= b.maxY && b.minY <= a.maxY;
}

/** Returns whether a position is inside a ring, by the even-odd rule; for a position on the ring it may return either. */
export function ringContains(ring: readonly Position[], [x, y]: Position): boolean {
  let isInside = false;
  const last = ring[ring.length - 1];
  if (!last) return false;
  let [x0, y0] = last;
  for (const position of ring) {
    // By index, because destructuring takes several times as long.
    const x1 = position[0];
    const y1 = position[1];
    // Whether the edge crosses the horizontal line through the position, to the right of the position.
    if (y1 > y !== y0 > y && x < ((x0 - x1) * (y - y1)) / (y0 - y1) + x1) isInside = !isInside;
    x0 = x1;
    y0 = y1;
  }
  return isInside;
}
