/**
 * The placement of the slide on the screen. Shapes over a slide have image pixels at full resolution, from the top left;
 * this conversion keeps them on their tissue at every zoom, rotation and mirror.
 */
import type { Bounds } from '@lamina/annotations';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * Converts image pixels to CSS pixels of the viewer, from its top left: screen x = `a·x + c·y + e`, screen y =
 * `b·x + d·y + f`.
 */
export interface Placement {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
  readonly e: number;
  readonly f: number;
}

/**
 * @param origin position of the image's top left corner on the screen
 * @param right and below: positions of the points `width` to the right and `height` below it
 */
export function placementOf(
  size: { readonly width: number; readonly height: number },
  origin: Point,
  right: Point,
  below: Point,
): Placement {
  return {
    a: (right.x - origin.x) / size.width,
    b: (right.y - origin.y) / size.width,
    c: (below.x - origin.x) / size.height,
    d: (below.y - origin.y) / size.height,
    e: origin.x,
    f: origin.y,
  };
}

export function toScreen({ a, b, c, d, e, f }: Placement, { x, y }: Point): Point {
  return { x: a * x + c * y + e, y: b * x + d * y + f };
}

export function toImage({ a, b, c, d, e, f }: Placement, { x, y }: Point): Point {
  const determinant = a * d - b * c;
  return {
    x: (d * (x - e) - c * (y - f)) / determinant,
    y: (a * (y - f) - b * (x - e)) / determinant,
  };
}

/** Returns screen pixels per image pixel. */
export function zoomOf({ a, b, c, d }: Placement): number {
  return Math.sqrt(Math.abs(a * d - b * c));
}

/**
 * Returns the part of the image that the screen shows.
 *
 * @param margin around the screen, in its pixels
 */
export function visibleBounds(
  placement: Placement,
  { width, height }: { readonly width: number; readonly height: number },
  margin = 0,
): Bounds {
  const corners = [
    { x: -margin, y: -margin },
    { x: width + margin, y: -margin },
    { x: -margin, y: height + margin },
    { x: width + margin, y: height + margin },
  ].map((corner) => toImage(placement, corner));
  const xs = corners.map(({ x }) => x);
  const ys = corners.map(({ y }) => y);
  return { minX: Math.min(...xs), minY: Math.min(...ys), maxX: Math.max(...xs), maxY: Math.max(...ys) };
}
