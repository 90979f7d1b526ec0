import { describe, expect, it } from 'vitest';
import { type Calibration, calibrationOf, magnificationLabel, type SlideScale, scaleBarOf } from './scale.ts';

describe('calibrationOf', () => {
  it.each([
    [
      { mpp: 0.499, objectivePower: 20, derived: null },
      { mpp: 0.499, objectivePower: 20, derived: null },
    ],
    [
      { mpp: 0.25, objectivePower: null, derived: null },
      { mpp: 0.25, objectivePower: 40, derived: 'objectivePower' },
    ],
    [
      { mpp: null, objectivePower: 20, derived: null },
      { mpp: 0.5, objectivePower: 20, derived: 'mpp' },
    ],
    [
      { mpp: 0, objectivePower: 40, derived: null },
      { mpp: 0.25, objectivePower: 40, derived: 'mpp' },
    ],
    [
      { mpp: 0.5, objectivePower: 40, derived: null }, // the pixel size takes precedence
      { mpp: 0.5, objectivePower: 20, derived: 'objectivePower' },
    ],
    [
      { mpp: 0.2265, objectivePower: 40, derived: null },
      { mpp: 0.2265, objectivePower: 40, derived: null },
    ],
    [
      { mpp: 0.5, objectivePower: 20, derived: 'mpp' }, // an estimate stays an estimate
      { mpp: 0.5, objectivePower: 20, derived: 'mpp' },
    ],
    [
      { mpp: 0.499, objectivePower: 20, derived: 'objectivePower' },
      { mpp: 0.499, objectivePower: 20, derived: 'objectivePower' },
    ],
    [{ mpp: null, objectivePower: null, derived: null }, null],
    [{ mpp: Number.NaN, objectivePower: -1, derived: null }, null],
  ] satisfies [SlideScale, Calibration | null][])(
    'returns the calibration of the scale %o',
    (scale, calibration) => {
      expect(calibrationOf(scale)).toEqual(calibration);
    },
  );
});

const scanned: Calibration = { mpp: 0.5, objectivePower: 20, derived: null };

describe('the magnification label', () => {
  it.each([
    [1, '20×'],
    [0.5, '10×'],
    [0.493, '9.9×'],
    [0.498, '10×'],
    [0.125, '2.5×'],
    [0.05, '1×'],
    [0.0313, '0.63×'],
    [2, '40×'],
  ])('at a zoom of %d is %s', (zoom, label) => {
    expect(magnificationLabel(scanned, zoom)).toBe(label);
  });

  it('is marked as an estimate when it was derived from the pixel size', () => {
    expect(magnificationLabel({ ...scanned, derived: 'objectivePower' }, 1)).toBe('≈ 20×');
  });
});

describe('the scale bar', () => {
  it.each([
    // zoom, length, width on the screen
    [1, '50 µm', 100],
    [2, '20 µm', 80],
    [0.1, '500 µm', 100],
    [0.05, '1 mm', 100],
    [0.005, '10 mm', 100],
    [50, '1 µm', 100],
    [200, '0.2 µm', 80],
  ])('at a zoom of %d is %s', (zoom, label, width) => {
    const bar = scaleBarOf(scanned, zoom, 120);
    expect(bar.label).toBe(label);
    expect(bar.width).toBeCloseTo(width, 6);
  });

  it('is as wide as allowed when a bar of a round length fits exactly', () => {
    expect(scaleBarOf(scanned, 1, 100)).toEqual({ label: '50 µm', width: 100 });
  });

  it('is marked as an estimate when the pixel size was derived', () => {
    expect(scaleBarOf({ ...scanned, derived: 'mpp' }, 1, 120).label).toBe('≈ 50 µm');
  });
});
