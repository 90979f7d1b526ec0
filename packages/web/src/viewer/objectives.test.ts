import { describe, expect, it } from 'vitest';
import { isDigitalZoom, isSameZoom, objectivesOf } from './objectives.ts';
import { calibrationOf } from './scale.ts';

/** Each as `power: zoom`, with `digital` where it goes beyond the scan. */
function told(mpp: number | null, objectivePower: number | null): string[] {
  const calibration = calibrationOf({ mpp, objectivePower, derived: null });
  if (calibration === null) throw new Error('not calibrated');
  return objectivesOf(calibration).map(
    ({ power, zoom, isDigital }) => `${power}: ${zoom}${isDigital ? ' digital' : ''}`,
  );
}

describe('objectives', () => {
  it('are zooms of the magnification the scan was made with', () => {
    expect(told(0.25, 40)).toEqual([
      '1.25: 0.03125',
      '2.5: 0.0625',
      '5: 0.125',
      '10: 0.25',
      '20: 0.5',
      '40: 1',
    ]);
  });

  it('beyond the scan are digital', () => {
    expect(told(0.5, 20).slice(-2)).toEqual(['20: 1', '40: 2 digital']);
    expect(told(2, 5).slice(-4)).toEqual(['5: 1', '10: 2 digital', '20: 4 digital', '40: 8 digital']);
  });

  it('come from the size of a pixel where the scan does not say its magnification', () => {
    expect(told(0.5, null)).toEqual(told(0.5, 20));
  });

  it('come from the size of a pixel where the magnification contradicts it', () => {
    expect(told(0.5, 40)).toEqual(told(0.5, 20));
  });
});

describe('digital zoom', () => {
  it.each([
    [0.5, false],
    [1, false],
    [1.01, false],
    [1.05, true],
    [2, true],
  ])('of %d: %s', (zoom, isDigital) => {
    expect(isDigitalZoom(zoom)).toBe(isDigital);
  });
});

it('two zooms are the same within two per cent', () => {
  expect(isSameZoom(0.5, 0.505)).toBe(true);
  expect(isSameZoom(0.5, 0.52)).toBe(false);
});
