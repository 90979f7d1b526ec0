import { describe, expect, it } from 'vitest';
import { scaleOf } from './scale.ts';

describe('scaleOf (derives a missing pixel size or magnification: µm per pixel × magnification ≈ 10)', () => {
  it('returns pixel size and magnification unchanged when the file states both', () => {
    const stated = { mpp: { x: 0.499, y: 0.499 }, objectivePower: 40 };
    expect(scaleOf(stated)).toEqual({ ...stated, derived: null });
  });

  it('returns null for both values when the file states neither', () => {
    expect(scaleOf({ mpp: null, objectivePower: null })).toEqual({
      mpp: null,
      objectivePower: null,
      derived: null,
    });
  });

  it.each([
    [40, 0.25],
    [20, 0.5],
    [60, 10 / 60],
    [1.25, 8],
  ])(
    'derives from the magnification $0× the pixel size 10 / $0 µm when the file states no pixel size',
    (objectivePower, side) => {
      expect(scaleOf({ mpp: null, objectivePower })).toEqual({
        mpp: { x: side, y: side },
        objectivePower,
        derived: 'mpp',
      });
    },
  );

  it.each([
    [0.2325, 40],
    [0.2528, 40],
    [0.4415, 20],
    [0.499, 20],
    [0.5032, 20],
    [0.97, 10],
    [0.172, 60],
    [0.11, 100],
    [3.2, 2.5],
  ])(
    'derives from the pixel size %d µm the nearest usual magnification %d× when the file states no magnification',
    (side, power) => {
      const mpp = { x: side, y: side };
      const expected = { mpp, objectivePower: power, derived: 'objectivePower' };
      expect(scaleOf({ mpp, objectivePower: null })).toEqual(expected);
    },
  );

  it.each([0.02, 0.7, 12])(
    'derives no magnification from the pixel size %d µm, because no usual magnification is within a factor of 1.25',
    (side) => {
      const mpp = { x: side, y: side };
      expect(scaleOf({ mpp, objectivePower: null })).toEqual({ mpp, objectivePower: null, derived: null });
    },
  );
});
