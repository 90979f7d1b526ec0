import { describe, expect, it } from 'vitest';
import { createCurve, locateOnCurve, pointOnCurve } from './curve.ts';

describe('locateOnCurve (depth of a position below a curve, the boundary of a tissue)', () => {
  it('returns the perpendicular distance as depth when the curve is a slanting line', () => {
    const slanting = createCurve(0, 4000, 20, (x) => x * 0.75);
    const curvePosition = locateOnCurve(slanting, 2000 - 300, 1500 + 400, { depth: 0, along: 0 });
    expect(curvePosition.depth).toBeCloseTo(500, 0);
    expect(curvePosition.along).toBeCloseTo(2500, 0);
  });

  it('returns a negative depth for a position above the curve', () => {
    const level = createCurve(0, 1000, 20, () => 400);
    expect(locateOnCurve(level, 510, 100, { depth: 0, along: 0 })).toEqual({
      depth: -300,
      along: expect.closeTo(510, 0),
    });
  });
});

describe('pointOnCurve (point of a curve, the boundary of a tissue)', () => {
  it('returns for x = 2000 the y of a slanting line and its unit normal that points downwards', () => {
    const { y, downX, downY } = pointOnCurve(
      createCurve(0, 4000, 20, (x) => x * 0.75),
      2000,
    );
    expect([y, downX, downY]).toEqual([expect.closeTo(1500), expect.closeTo(-0.6), expect.closeTo(0.8)]);
  });
});
