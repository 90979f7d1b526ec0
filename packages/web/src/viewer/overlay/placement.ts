/**
 * Where the slide is on the screen at a moment. Everything drawn over a slide is kept in image pixels at full
 * resolution, from the top left, and goes through here: so it stays on its tissue whatever zoom, rotation or mirror.
 */

export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * Image pixels to CSS pixels of the viewer's place, from its top left: the screen's x is `a·x + c·y + e`, its y is
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
 * @param origin where the image's top left corner is on the screen
 * @param right and below: where the points `width` to the right of it and `height` below it are
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
