import { describe, expect, it } from 'vitest';
import { type Placement, toImage } from '../overlay/placement.ts';
import { exactPlacement } from './exact-placement.ts';

const canvas = { width: 1281, height: 800 };
/** An upright slide at native magnification: one image pixel is as large as one device pixel. */
const upright: Placement = { a: 1, b: 0, c: 0, d: 1, e: -100.3, f: -2000.7 };

describe('exactPlacement (sharp pixels at native magnification)', () => {
  it('moves a slide at native magnification so that its pixels lie on whole device pixels', () => {
    expect(exactPlacement(upright, canvas)).toEqual({ a: 1, b: 0, c: 0, d: 1, e: -100, f: -2001 });
  });

  it('moves the slide by less than one device pixel when it is mirrored or rotated by a multiple of 90°', () => {
    for (const [a, b, c, d] of [
      [0, 1, -1, 0],
      [-1, 0, 0, -1],
      [0, -1, 1, 0],
      [-1, 0, 0, 1],
    ] as const) {
      const placement = { a: a * 1.00001, b, c, d, e: 640.4, f: 400.9 };
      const exact = exactPlacement(placement, canvas);
      if (exact === null) throw new Error('not exact');
      const middle = { x: canvas.width / 2, y: canvas.height / 2 };
      const [before, after] = [toImage(placement, middle), toImage(exact, middle)];
      expect(Math.hypot(before.x - after.x, before.y - after.y)).toBeLessThan(1);
      expect(Number.isInteger(exact.e) && Number.isInteger(exact.f)).toBe(true);
    }
  });

  it('keeps the same image pixel in the middle of the view at a nearly native magnification of 1.00002', () => {
    const nearlyNative = 1 + 2e-5;
    const placement = {
      a: nearlyNative,
      b: 0,
      c: 0,
      d: nearlyNative,
      e: 640.5 - 90_000 * nearlyNative, // image pixel (90000, 70000) is in the middle of the canvas
      f: 400 - 70_000 * nearlyNative,
    };
    const exact = exactPlacement(placement, canvas);
    if (exact === null) throw new Error('not exact');
    const middle = toImage(exact, { x: 640.5, y: 400 });
    expect(Math.abs(middle.x - 90_000)).toBeLessThanOrEqual(0.501);
    expect(Math.abs(middle.y - 70_000)).toBeLessThanOrEqual(0.501);
  });

  it('returns null when the magnification is not native or the rotation is not a multiple of 90°', () => {
    expect(exactPlacement({ ...upright, a: 1.01, d: 1.01 }, canvas)).toBeNull();
    expect(exactPlacement({ ...upright, a: 2, d: 2 }, canvas)).toBeNull();
    expect(exactPlacement({ ...upright, a: 0.996, b: 0.087, c: -0.087, d: 0.996 }, canvas)).toBeNull();
  });
});
