/** Aligns a slide at native magnification (one image pixel on one device pixel) with the device pixels. */
import type { Placement } from '../overlay/placement.ts';

/**
 * Largest difference from native magnification (1) and from no rotation (0) that is corrected: over a screen of 8000 pixels it adds
 * up to less than half a pixel.
 */
const nativeTolerance = 5e-5;

/**
 * Returns the placement with whole numbers, moved by less than a pixel, so that image pixels lie exactly on device pixels. Returns
 * null unless the placement is at native magnification and rotated by a multiple of 90°.
 *
 * @param placement from image pixels to device pixels
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
  const whole = { a: Math.round(a), b: Math.round(b), c: Math.round(c), d: Math.round(d) };
  // The image pixel in the middle of the canvas stays in the middle.
  const determinant = a * d - b * c;
  // Its position is found with the inverse of the placement.
  const [x, y] = [canvas.width / 2 - placement.e, canvas.height / 2 - placement.f];
  const middle = { x: (d * x - c * y) / determinant, y: (a * y - b * x) / determinant };
  return {
    ...whole,
    e: Math.round(canvas.width / 2 - whole.a * middle.x - whole.c * middle.y),
    f: Math.round(canvas.height / 2 - whole.b * middle.x - whole.d * middle.y),
  };
}
