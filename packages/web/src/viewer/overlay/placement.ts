/**
 * The placement of the slide on the screen: an affine transformation from image pixels at full resolution (from the top
 * left of the slide) to CSS pixels of the viewer. Code that draws tiles or result layers uses the same type with device
 * pixels. Shapes over a slide are stored in image pixels; the placement keeps them on their tissue at every zoom,
 * rotation and mirroring.
 */
import type { AreaGeometry, Bounds, Position } from '@lamina/annotations';

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

interface ViewerSize {
  readonly width: number;
  readonly height: number;
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
export function visibleBounds(placement: Placement, viewerSize: ViewerSize, margin = 0): Bounds {
  const corners = visibleCorners(placement, viewerSize, margin);
  const xs = corners.map(([x]) => x);
  const ys = corners.map(([, y]) => y);
  return { minX: Math.min(...xs), minY: Math.min(...ys), maxX: Math.max(...xs), maxY: Math.max(...ys) };
}

/** A slide that is rotated by less than this many radians from the sides of the viewer counts as parallel to them. */
const minTilt = 1e-6;

/**
 * Returns exactly the part of the image that the viewer shows, in image pixels. The result is a rectangle (bounds) when the image is
 * parallel to the sides of the viewer, and otherwise the polygon between the viewer's corners.
 *
 * @param viewerSize in pixels of the screen (CSS or device pixels, as the placement defines)
 */
export function visiblePart(placement: Placement, viewerSize: ViewerSize): Bounds | AreaGeometry {
  const { a, b } = placement;
  if (Math.min(Math.abs(a), Math.abs(b)) <= minTilt * Math.hypot(a, b))
    return visibleBounds(placement, viewerSize);
  const [topLeft, topRight, bottomRight, bottomLeft] = visibleCorners(placement, viewerSize, 0);
  return { type: 'Polygon', coordinates: [[topLeft, topRight, bottomRight, bottomLeft, topLeft]] };
}

/** Returns the image pixels at the corners of the viewer: top left, top right, bottom right, bottom left. */
function visibleCorners(
  placement: Placement,
  { width, height }: ViewerSize,
  margin: number,
): readonly [Position, Position, Position, Position] {
  const imagePosition = (screenX: number, screenY: number): Position => {
    const { x, y } = toImage(placement, { x: screenX, y: screenY });
    return [x, y];
  };
  return [
    imagePosition(-margin, -margin),
    imagePosition(width + margin, -margin),
    imagePosition(width + margin, height + margin),
    imagePosition(-margin, height + margin),
  ];
}
