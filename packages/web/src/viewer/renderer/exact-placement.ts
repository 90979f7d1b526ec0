/**
 * Aligns a slide at native magnification (one image pixel per device pixel) with the device pixels, so that it is drawn
 * unchanged.
 */
import type { Placement } from '../overlay/placement.ts';

/**
 * Coefficients of a placement that differ from −1, 0 or 1 by less than this are rounded: over a screen of 8000 pixels, the
 * difference adds up to less than half a pixel.
 */
const nativeTolerance = 5e-5;

/**
 * Returns the placement with rounded coefficients, moved by less than a pixel, so that image pixels lie exactly on device pixels.
 * Returns null unless the placement has native magnification and a rotation by a multiple of 90°.
 *
 * @param placement transformation from image pixels to device pixels
 * @param canvas size in device pixels
 */
export function exactPlacement(
  placement: Placement,
  canvas: { readonly width: number; readonly height: number },
): Placement | null {
  const { a, b, c, d } = placement;
  const isNear = (value: number, integer: number) => Math.abs(value - integer) < nativeTolerance;
  const isUnit = (value: number) => isNear(Math.abs(value), 1);
  const isUpright = isUnit(a) && isUnit(d) && isNear(b, 0) && isNear(c, 0);
  const isQuarterTurned = isUnit(b) && isUnit(c) && isNear(a, 0) && isNear(d, 0);
  if (!isUpright && !isQuarterTurned) return null;
  const rounded = { a: Math.round(a), b: Math.round(b), c: Math.round(c), d: Math.round(d) };
  // The image pixel in the middle of the canvas, which the inverse of the placement finds, stays in the middle.
  const determinant = a * d - b * c;
  const [x, y] = [canvas.width / 2 - placement.e, canvas.height / 2 - placement.f];
  const middle = { x: (d * x - c * y) / determinant, y: (a * y - b * x) / determinant };
  return {
    ...rounded,
    e: Math.round(canvas.width / 2 - rounded.a * middle.x - rounded.c * middle.y),
    f: Math.round(canvas.height / 2 - rounded.b * middle.x - rounded.d * middle.y),
  };
}
