import { describe, expect, it } from 'vitest';
import { scaleOf } from './scale.ts';

describe('the scale of a slide', () => {
  it('has the pixel size and the magnification of the file when the file states both', () => {
    const stated = { mpp: { x: 0.499, y: 0.499 }, objectivePower: 40 };
    expect(scaleOf(stated)).toEqual({ ...stated, derived: null });
  });

  it('is null when the file states neither pixel size nor magnification', () => {
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
    'has a derived pixel size of 10 µm divided by the magnification when the file states only a magnification, of %d×',
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
    'has, when the file states only %d µm per pixel, the derived magnification %d×',
    (side, objectivePower) => {
      const mpp = { x: side, y: side };
      expect(scaleOf({ mpp, objectivePower: null })).toEqual({
        mpp,
        objectivePower,
        derived: 'objectivePower',
      });
    },
  );

  it.each([0.02, 0.7, 12])(
    'has no derived magnification when the file states only %d µm per pixel, because no usual objective has a similar pixel size',
    (side) => {
      const mpp = { x: side, y: side };
      expect(scaleOf({ mpp, objectivePower: null })).toEqual({ mpp, objectivePower: null, derived: null });
    },
  );
});
