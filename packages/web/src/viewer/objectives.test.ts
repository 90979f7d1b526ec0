import { describe, expect, it } from 'vitest';
import { isDigitalZoom, isSameZoom, objectivesOf } from './objectives.ts';
import { calibrationOf } from './scale.ts';

/** Returns each objective as `power: zoom`, followed by `digital` where it goes beyond the scan. */
function describeObjectives(mpp: number | null, objectivePower: number | null): string[] {
  const calibration = calibrationOf({ mpp, objectivePower, derived: null });
  if (calibration === null) throw new Error('not calibrated');
  return objectivesOf(calibration).map(
    ({ power, zoom, isDigital }) => `${power}: ${zoom}${isDigital ? ' digital' : ''}`,
  );
}

describe('objectivesOf (zoom buttons named after objectives)', () => {
  it('returns each objective with a zoom of its power divided by the magnification of the scan', () => {
    expect(describeObjectives(0.25, 40)).toEqual([
      '1.25: 0.03125',
      '2.5: 0.0625',
      '5: 0.125',
      '10: 0.25',
      '20: 0.5',
      '40: 1',
    ]);
  });

  it('marks objectives stronger than the magnification of the scan as digital', () => {
    expect(describeObjectives(0.5, 20).slice(-2)).toEqual(['20: 1', '40: 2 digital']);
    expect(describeObjectives(2, 5).slice(-4)).toEqual([
      '5: 1',
      '10: 2 digital',
      '20: 4 digital',
      '40: 8 digital',
    ]);
  });

  it('adds an objective with the magnification of the scan when the scan has more than 40×', () => {
    expect(describeObjectives(0.1667, 60).at(-1)).toBe('60: 1');
    expect(describeObjectives(0.1, 100).at(-1)).toBe('100: 1');
    expect(describeObjectives(0.25, 40)).toHaveLength(6);
  });

  it('derives the magnification from the pixel size when the magnification is unknown', () => {
    expect(describeObjectives(0.5, null)).toEqual(describeObjectives(0.5, 20));
  });

  it('derives the magnification from the pixel size when the stated magnification contradicts the pixel size', () => {
    expect(describeObjectives(0.5, 40)).toEqual(describeObjectives(0.5, 20));
  });
});

describe('isDigitalZoom (whether a zoom exceeds 1, the resolution of the scan, by more than 2 %)', () => {
  it.each([
    [0.5, false],
    [1, false],
    [1.01, false],
    [1.05, true],
    [2, true],
  ])('for a zoom of %d, returns %s', (zoom, isDigital) => {
    expect(isDigitalZoom(zoom)).toBe(isDigital);
  });
});

it('isSameZoom returns true for zooms that differ by less than 2 %', () => {
  expect(isSameZoom(0.5, 0.505)).toBe(true);
  expect(isSameZoom(0.5, 0.52)).toBe(false);
});
