/** A line across the slide from left to right, such as the surface of a mucosa. */

export interface Curve {
  /** Pixels; y of the line at `startX + index · step`. */
  readonly startX: number;
  readonly step: number;
  readonly heights: Float64Array;
  /** Length of the line up to each point, pixels. */
  readonly lengths: Float64Array;
}

export interface CurvePlace {
  /** Pixels below the line (larger y), negative above it; measured perpendicular to the line. */
  depth: number;
  /** Pixels along the line. */
  along: number;
}

export function curveOf(startX: number, endX: number, step: number, heightAt: (x: number) => number): Curve {
  const count = Math.ceil((endX - startX) / step) + 1;
  const heights = Float64Array.from({ length: count }, (_, index) => heightAt(startX + index * step));
  const lengths = new Float64Array(count);
  for (let i = 1; i < count; i++) {
    const rise = (heights[i] as number) - (heights[i - 1] as number);
    lengths[i] = (lengths[i - 1] as number) + Math.hypot(step, rise);
  }
  return { startX, step, heights, lengths };
}

/** Returns the position of a point relative to the curve. */
export function placeOn(curve: Curve, x: number, y: number, out: CurvePlace): CurvePlace {
  const { startX, step, heights, lengths } = curve;
  const last = heights.length - 1;
  const here = Math.min(last, Math.max(0, Math.round((x - startX) / step)));
  const straight = y - (heights[here] as number);
  // The nearest node is at most as many pixels away along x as the point is above or below the line.
  const reach = Math.ceil(Math.abs(straight) / step);
  const first = Math.max(0, here - reach);
  const end = Math.min(last, here + reach);
  let best = Number.POSITIVE_INFINITY;
  let bestIndex = here;
  const stride = Math.max(1, Math.floor(reach / 24));
  const squareTo = (index: number) => {
    const dx = startX + index * step - x;
    const dy = (heights[index] as number) - y;
    return dx * dx + dy * dy;
  };
  for (let i = first; i <= end; i += stride) {
    const square = squareTo(i);
    if (square < best) {
      best = square;
      bestIndex = i;
    }
  }
  const around = bestIndex;
  for (let i = Math.max(0, around - stride); i <= Math.min(last, around + stride); i++) {
    const square = squareTo(i);
    if (square < best) {
      best = square;
      bestIndex = i;
    }
  }
  // The line is straight between its nodes: projecting onto it makes the depth smooth.
  const before = Math.max(0, bestIndex - 1);
  const after = Math.min(last, bestIndex + 1);
  const tangentX = (after - before) * step;
  const tangentY = (heights[after] as number) - (heights[before] as number);
  const length = Math.hypot(tangentX, tangentY);
  const fromX = x - (startX + bestIndex * step);
  const fromY = y - (heights[bestIndex] as number);
  out.depth = (fromY * tangentX - fromX * tangentY) / length;
  out.along = (lengths[bestIndex] as number) + (fromX * tangentX + fromY * tangentY) / length;
  return out;
}

/** Returns the y of the curve at `x`, and the unit normal that points downwards. */
export function pointOn(curve: Curve, x: number): { y: number; downX: number; downY: number } {
  const { startX, step, heights } = curve;
  const index = Math.min(heights.length - 2, Math.max(1, Math.round((x - startX) / step)));
  const rise = (heights[index + 1] as number) - (heights[index - 1] as number);
  const length = Math.hypot(2 * step, rise);
  return { y: heights[index] as number, downX: -rise / length, downY: (2 * step) / length };
}
