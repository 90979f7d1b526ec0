import type { RegistrationMatrix } from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { type Point, type PointPair, registrationOf, residualOf, transformPoint } from './registration.ts';

/** Returns the matrix of a rotation with a scale, and a shift by (1234, -567). */
const rotation = (degrees: number, scale: number): RegistrationMatrix => {
  const [sin, cos] = [Math.sin((degrees * Math.PI) / 180), Math.cos((degrees * Math.PI) / 180)];
  return [scale * cos, scale * sin, -scale * sin, scale * cos, 1234, -567];
};

const pairsOf = (matrix: RegistrationMatrix, points: readonly Point[]): PointPair[] =>
  points.map((from) => ({ from, to: transformPoint(matrix, from) }));

describe('registrationOf (alignment of two slides by pairs of points)', () => {
  it('returns, for two pairs, a transform that maps a third point of a rotated, scaled slide with an error below 0.001 µm', () => {
    const matrix = rotation(37, 1.02);
    const [first, second, third] = pairsOf(matrix, [
      [10_000, 12_000],
      [70_000, 45_000],
      [31_000, 80_000],
    ]) as [PointPair, PointPair, PointPair];
    const computedMatrix = registrationOf([first, second]);
    expect(computedMatrix).not.toBeNull();
    if (computedMatrix === null) return;
    expect(residualOf(computedMatrix, [third], { x: 0.25, y: 0.25 })).toBeLessThan(0.001);
    expect(computedMatrix[0]).toBe(computedMatrix[3]);
    expect(computedMatrix[1]).toBe(-computedMatrix[2]);
  });

  it('returns, for four pairs on mirrored slides, the affine transform between the slides', () => {
    const matrix: RegistrationMatrix = [-1.1, 0.2, 0.3, 0.9, 80_000, 40];
    const computedMatrix = registrationOf(
      pairsOf(matrix, [
        [0, 0],
        [90_000, 100],
        [500, 60_000],
        [30_000, 30_000],
      ]),
    );
    expect(computedMatrix?.map((value) => Math.round(value * 1e6) / 1e6)).toEqual(matrix);
  });

  it.each<[string, RegistrationMatrix, Point, Point]>([
    ['a quarter turn', [0, 1, -1, 0, 7, 9], [7, 9], [7, 19]],
    ['a half turn', [-1, 0, 0, -1, 7, 9], [7, 9], [-3, 9]],
    ['a shift', [1, 0, 0, 1, 7, 9], [7, 9], [17, 9]],
  ])('returns, for two pairs, exactly %s', (_, matrix, origin, right) => {
    const computedMatrix = registrationOf([
      { from: [0, 0], to: origin },
      { from: [10, 0], to: right },
    ]);
    expect(computedMatrix?.map((value) => value + 0)).toEqual(matrix); // `+ 0` turns -0 into 0
  });

  it('residualOf scales the distances along x and y by the width and the height of a pixel', () => {
    const identity: RegistrationMatrix = [1, 0, 0, 1, 0, 0];
    const pairs: PointPair[] = [{ from: [10, 20], to: [6, 26] }];
    expect(residualOf(identity, pairs, { x: 0.75, y: 2 / 3 })).toBeCloseTo(5, 9); // 3 µm along x, 4 µm along y
  });

  it('returns a transform whose residual (residualOf) is the root mean square distance between mapped and marked points', () => {
    const pairs: PointPair[] = [
      { from: [0, 0], to: [0, 0] },
      { from: [100, 0], to: [100, 4] },
      { from: [0, 100], to: [0, 100] },
      { from: [100, 100], to: [100, 100] },
    ];
    const computedMatrix = registrationOf(pairs);
    // The fit spreads the 4 pixels of the second point: each corner deviates by 1 pixel, which is 0.5 µm.
    expect(computedMatrix && residualOf(computedMatrix, pairs, { x: 0.5, y: 0.5 })).toBeCloseTo(0.5, 6);
  });

  it.each<[string, PointPair[]]>([
    [
      'two pairs with the same point of the first slide',
      [
        { from: [5, 5], to: [1, 1] },
        { from: [5, 5], to: [9, 9] },
      ],
    ],
    [
      'two pairs with the same point of the second slide',
      [
        { from: [5, 5], to: [1, 1] },
        { from: [8, 5], to: [1, 1] },
      ],
    ],
    [
      'three pairs whose points of the first slide are on one line',
      [
        { from: [0, 0], to: [0, 0] },
        { from: [1, 1], to: [2, 0] },
        { from: [2, 2], to: [0, 3] },
      ],
    ],
    [
      'three pairs whose points of the first slide are almost on one line',
      [
        { from: [0, 0], to: [0, 0] },
        { from: [50_000, 0], to: [50_000, 0] },
        { from: [100_000, 1e-6], to: [0, 50_000] },
      ],
    ],
    [
      'three pairs whose points of the second slide are on one line',
      [
        { from: [0, 0], to: [0, 0] },
        { from: [10, 0], to: [20, 30] },
        { from: [0, 10], to: [40, 60] },
      ],
    ],
    [
      'two pairs whose transform would have an infinite shift',
      [
        { from: [1e10, 0], to: [0, 0] },
        { from: [1e10 + 1, 0], to: [1e300, 0] },
      ],
    ],
  ])('returns null for %s', (_, pairs) => {
    expect(registrationOf(pairs)).toBeNull();
  });
});
