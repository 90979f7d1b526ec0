/** Native magnification: one image pixel on one device pixel. */
import type { Placement } from '../overlay/placement.ts';

/** At this relative difference from the native magnification, a screen of 8000 pixels is off by less than half a pixel. */
const nativeTolerance = 5e-5;

/** Returns null unless the placement is at native magnification, rotated by nothing but quarter turns. */
export function exactPlacement(
  placement: Placement,
  canvas: { readonly width: number; readonly height: number },
): Placement | null {
  const { a, b, c, d } = placement;
  const near = (value: number, whole: number) => Math.abs(value - whole) < nativeTolerance;
  const isUnit = (value: number) => near(Math.abs(value), 1);
  const isUpright = isUnit(a) && isUnit(d) && near(b, 0) && near(c, 0);
  const isOnItsSide = isUnit(b) && isUnit(c) && near(a, 0) && near(d, 0);
  if (!isUpright && !isOnItsSide) return null;
  const whole = { a: Math.round(a), b: Math.round(b), c: Math.round(c), d: Math.round(d) };
  // The image pixel in the middle of the canvas stays there.
  const determinant = a * d - b * c;
  const [x, y] = [canvas.width / 2 - placement.e, canvas.height / 2 - placement.f];
  const middle = { x: (d * x - c * y) / determinant, y: (a * y - b * x) / determinant };
  return {
    ...whole,
    e: Math.round(canvas.width / 2 - whole.a * middle.x - whole.c * middle.y),
    f: Math.round(canvas.height / 2 - whole.b * middle.x - whole.d * middle.y),
  };
}
