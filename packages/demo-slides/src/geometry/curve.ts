/** Curves across the slide from left to right, such as the surface of a mucosa, stored as the y of nodes at equal steps of x. */

export interface Curve {
  /** x of the first node, pixels. */
  readonly startX: number;
  /** Pixels between the nodes along x. */
  readonly step: number;
  /** y of each node, pixels. */
  readonly heights: Float64Array;
  /** Length of the curve from its first node to each node, pixels. */
  readonly lengths: Float64Array;
}

export interface CurvePosition {
  /** Pixels below the curve (larger y), negative above it; measured perpendicular to the curve. */
  depth: number;
  /** Pixels along the curve from its first node. */
  along: number;
}

/** Creates a curve from a function that returns the y of the curve at an x. */
export function createCurve(startX: number, endX: number, step: number, yAt: (x: number) => number): Curve {
  const count = Math.ceil((endX - startX) / step) + 1;
  const heights = Float64Array.from({ length: count }, (_, index) => yAt(startX + index * step));
  const lengths = new Float64Array(count);
  for (let i = 1; i < count; i++) {
    const rise = (heights[i] as number) - (heights[i - 1] as number);
    lengths[i] = (lengths[i - 1] as number) + Math.hypot(step, rise);
  }
  return { startX, step, heights, lengths };
}

/** Computes the position of a point relative to the curve. Writes it into `out`, which saves memory, and returns `out`. */
export function locateOnCurve(curve: Curve, x: number, y: number, out: CurvePosition): CurvePosition {
  const { startX, step, heights, lengths } = curve;
  const lastIndex = heights.length - 1;
  const indexAtX = Math.min(lastIndex, Math.max(0, Math.round((x - startX) / step)));
  const verticalDistance = y - (heights[indexAtX] as number);
  // The node above or below the point is `|verticalDistance|` away, so the nearest node is at most that far away along x, too.
  const reach = Math.ceil(Math.abs(verticalDistance) / step);
  const firstNearIndex = Math.max(0, indexAtX - reach);
  const lastNearIndex = Math.min(lastIndex, indexAtX + reach);
  let bestSquaredDistance = Number.POSITIVE_INFINITY;
  let bestIndex = indexAtX;
  // First compares every `stride`-th node, fewer than 100 nodes; then compares every node around the nearest of these.
  const stride = Math.max(1, Math.floor(reach / 24));
  const squaredDistanceTo = (index: number) => {
    const dx = startX + index * step - x;
    const dy = (heights[index] as number) - y;
    return dx * dx + dy * dy;
  };
  for (let i = firstNearIndex; i <= lastNearIndex; i += stride) {
    const squaredDistance = squaredDistanceTo(i);
    if (squaredDistance < bestSquaredDistance) {
      bestSquaredDistance = squaredDistance;
      bestIndex = i;
    }
  }
  const coarseIndex = bestIndex;
  for (let i = Math.max(0, coarseIndex - stride); i <= Math.min(lastIndex, coarseIndex + stride); i++) {
    const squaredDistance = squaredDistanceTo(i);
    if (squaredDistance < bestSquaredDistance) {
      bestSquaredDistance = squaredDistance;
      bestIndex = i;
    }
  }
  // Measures the depth from the tangent at the nearest node, so that the depth changes smoothly between nodes.
  const before = Math.max(0, bestIndex - 1);
  const after = Math.min(lastIndex, bestIndex + 1);
  const tangentX = (after - before) * step;
  const tangentY = (heights[after] as number) - (heights[before] as number);
  const tangentLength = Math.hypot(tangentX, tangentY);
  const fromX = x - (startX + bestIndex * step);
  const fromY = y - (heights[bestIndex] as number);
  out.depth = (fromY * tangentX - fromX * tangentY) / tangentLength;
  out.along = (lengths[bestIndex] as number) + (fromX * tangentX + fromY * tangentY) / tangentLength;
  return out;
}

/** Returns the y of the curve at its node nearest to `x`, and the unit normal there, which points downwards (to larger y). */
export function pointOnCurve(curve: Curve, x: number): { y: number; downX: number; downY: number } {
  const { startX, step, heights } = curve;
  // The slope is computed from both neighbours, which the first and the last node do not have.
  const index = Math.min(heights.length - 2, Math.max(1, Math.round((x - startX) / step)));
  const rise = (heights[index + 1] as number) - (heights[index - 1] as number);
  const length = Math.hypot(2 * step, rise);
  return { y: heights[index] as number, downX: -rise / length, downY: (2 * step) / length };
}
