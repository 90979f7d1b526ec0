/** Tests the colour difference ΔE2000 with published values. */
import { describe, expect, it } from 'vitest';
import { deltaE2000, type Lab, labOf } from './delta-e.ts';

describe('deltaE2000 (colour difference CIEDE2000)', () => {
  // Pairs 1, 7, 9, 13, 17, 19, 25 and 34 of the test data of G. Sharma and others (source: see delta-e.ts).
  it.each<[Lab, Lab, number]>([
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
    [[50, 0, 0], [50, -1, 2], 2.3669],
    [[50, 2.49, -0.001], [50, -2.49, 0.0009], 7.1792],
    [[50, -0.001, 2.49], [50, 0.0009, -2.49], 4.8045],
    [[50, 2.5, 0], [73, 25, -18], 27.1492],
    [[50, 2.5, 0], [56, -27, -3], 31.903],
    [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
    [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
  ])(
    'returns for the L*a*b* colours %j and %j, in either order, the published difference %d',
    (first, second, expected) => {
      expect(deltaE2000(first, second)).toBeCloseTo(expected, 4);
      expect(deltaE2000(second, first)).toBeCloseTo(expected, 4);
    },
  );
});

describe('labOf (colour conversion of the renderer benchmark)', () => {
  it.each<[number[], Lab]>([
    [
      [255, 255, 255],
      [100, 0, 0],
    ],
    [
      [0, 0, 0],
      [0, 0, 0],
    ],
    [
      [255, 0, 0],
      [53.24, 80.09, 67.2],
    ],
  ])('converts sRGB %j to L*a*b* %j', (rgb, expected) => {
    for (const [index, value] of labOf(rgb).entries()) expect(value).toBeCloseTo(expected[index] ?? 0, 1);
  });
});
