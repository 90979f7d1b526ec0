/**
 * The placement of the slide on the screen: an affine transformation from image pixels at full resolution (from the top
 * left of the slide) to CSS pixels of the viewer. Code that draws tiles or result layers uses the same type with device
 * pixels. Shapes over a slide are stored in image pixels; the placement keeps them on their tissue at every zoom,
 * rotation and mirroring.
 */
import type { Bounds } from '@lamina/annotations';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * The coefficients of the transformation: screen x = `a·x + c·y + e`, screen y = `b·x + d·y + f`. On the screen, one image pixel
 * to the right is (a, b), one image pixel down is (c, d), and the top left of the image is at (e, f).
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
 * Returns the placement that has three corners of the image at these points of the screen.
 *
 * @param size size of the image in pixels at full resolution
 */
export function placementOf(
  size: { readonly width: number; readonly height: number },
  topLeft: Point,
  topRight: Point,
  bottomLeft: Point,
): Placement {
  return {
    a: (topRight.x - topLeft.x) / size.width,
    b: (topRight.y - topLeft.y) / size.width,
    c: (bottomLeft.x - topLeft.x) / size.height,
    d: (bottomLeft.y - topLeft.y) / size.height,
    e: topLeft.x,
    f: topLeft.y,
  };
}

/** Converts image pixels to pixels of the screen: CSS or device pixels, as the placement defines. */
export function toScreen({ a, b, c, d, e, f }: Placement, { x, y }: Point): Point {
  return { x: a * x + c * y + e, y: b * x + d * y + f };
}

/** Converts pixels of the screen (CSS or device pixels, as the placement defines) to image pixels. */
export function toImage({ a, b, c, d, e, f }: Placement, { x, y }: Point): Point {
  const determinant = a * d - b * c;
  return {
    x: (d * (x - e) - c * (y - f)) / determinant,
    y: (a * (y - f) - b * (x - e)) / determinant,
  };
}

/** Returns the zoom in pixels of the screen (CSS or device pixels, as the placement defines) per image pixel. */
export function zoomOf({ a, b, c, d }: Placement): number {
  return Math.sqrt(Math.abs(a * d - b * c));
}

/**
 * Returns the bounds, in image pixels, of the part of the image that the viewer shows. For a rotated slide, they also contain
 * some parts that are not visible.
 *
 * @param viewerSize in pixels of the screen (CSS or device pixels, as the placement defines)
 * @param margin pixels of the screen that are added to the viewer on each side
 */
export function visibleBounds(
  placement: Placement,
  viewerSize: { readonly width: number; readonly height: number },
  margin = 0,
): Bounds {
  const { width, height } = viewerSize;
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
