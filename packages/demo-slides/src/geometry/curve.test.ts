import { describe, expect, it } from 'vitest';
import { curveOf, placeOn, pointOn } from './curve.ts';

describe('placeOn', () => {
  it('returns the perpendicular distance to a slanting line as depth', () => {
    const slanting = curveOf(0, 4000, 20, (x) => x * 0.75);
    const place = placeOn(slanting, 2000 - 300, 1500 + 400, { depth: 0, along: 0 });
    expect(place.depth).toBeCloseTo(500, 0);
    expect(place.along).toBeCloseTo(2500, 0);
  });

  it('returns a negative depth above the line', () => {
    const level = curveOf(0, 1000, 20, () => 400);
    expect(placeOn(level, 510, 100, { depth: 0, along: 0 })).toEqual({
      depth: -300,
      along: expect.closeTo(510, 0),
    });
  });

  it('pointOn returns the normal that points downwards', () => {
    const { y, downX, downY } = pointOn(
      curveOf(0, 4000, 20, (x) => x * 0.75),
      2000,
    );
    expect([y, downX, downY]).toEqual([expect.closeTo(1500), expect.closeTo(-0.6), expect.closeTo(0.8)]);
  });
});
