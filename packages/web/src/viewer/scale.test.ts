import { describe, expect, it } from 'vitest';
import { type Calibration, calibrationOf, magnificationLabel, type SlideScale, scaleBarOf } from './scale.ts';

describe('calibrationOf (completes the pixel size and the magnification of a slide)', () => {
  it.each([
    [
      'the pixel size and the magnification that the file states',
      { mpp: 0.499, objectivePower: 20, derived: null },
      { mpp: 0.499, objectivePower: 20, derived: null },
    ],
    [
      'a magnification derived from the pixel size when the magnification is unknown',
      { mpp: 0.25, objectivePower: null, derived: null },
      { mpp: 0.25, objectivePower: 40, derived: 'objectivePower' },
    ],
    [
      'a pixel size derived from the magnification when the pixel size is unknown',
      { mpp: null, objectivePower: 20, derived: null },
      { mpp: 0.5, objectivePower: 20, derived: 'mpp' },
    ],
    [
      'a pixel size derived from the magnification when the pixel size is 0',
      { mpp: 0, objectivePower: 40, derived: null },
      { mpp: 0.25, objectivePower: 40, derived: 'mpp' },
    ],
    [
      'a magnification derived from the pixel size when the stated magnification contradicts the pixel size',
      { mpp: 0.5, objectivePower: 40, derived: null },
      { mpp: 0.5, objectivePower: 20, derived: 'objectivePower' },
    ],
    [
      'both values unchanged when their product is within 10 % of the usual product 10 (0.5 µm at 20×)',
      { mpp: 0.2265, objectivePower: 40, derived: null },
      { mpp: 0.2265, objectivePower: 40, derived: null },
    ],
    [
      'a pixel size still marked as derived when the server has derived it from the magnification',
      { mpp: 0.5, objectivePower: 20, derived: 'mpp' },
      { mpp: 0.5, objectivePower: 20, derived: 'mpp' },
    ],
    [
      'a magnification still marked as derived when the server has derived it from the pixel size',
      { mpp: 0.499, objectivePower: 20, derived: 'objectivePower' },
      { mpp: 0.499, objectivePower: 20, derived: 'objectivePower' },
    ],
    ['null when both values are unknown', { mpp: null, objectivePower: null, derived: null }, null],
    ['null when both values are invalid', { mpp: Number.NaN, objectivePower: -1, derived: null }, null],
  ] satisfies [string, SlideScale, Calibration | null][])('returns %s', (_, scale, calibration) => {
    expect(calibrationOf(scale)).toEqual(calibration);
  });
});

/** A slide scanned at 20×, with both values stated by the file. */
const calibration20x: Calibration = { mpp: 0.5, objectivePower: 20, derived: null };

describe('magnificationLabel (magnification that the viewer shows)', () => {
  it.each([
    [1, '20×'],
    [0.5, '10×'],
    [0.493, '9.9×'],
    [0.498, '10×'],
    [0.125, '2.5×'],
    [0.05, '1×'],
    [0.0313, '0.63×'],
    [2, '40×'],
  ])('for a 20× scan at a zoom of %d, returns %s', (zoom, label) => {
    expect(magnificationLabel(calibration20x, zoom)).toBe(label);
  });

  it('returns a label that starts with ≈ when the magnification of the scan was derived from the pixel size', () => {
    expect(magnificationLabel({ ...calibration20x, derived: 'objectivePower' }, 1)).toBe('≈ 20×');
  });
});

describe('scaleBarOf (longest scale bar of a round length within a maximum width)', () => {
  it.each([
    // zoom, label, width in CSS pixels; the pixel size is 0.5 µm, and a bar has at most 120 CSS pixels
    [1, '50 µm', 100],
    [2, '20 µm', 80],
    [0.1, '500 µm', 100],
    [0.05, '1 mm', 100],
    [0.005, '10 mm', 100],
    [50, '1 µm', 100],
    [200, '0.2 µm', 80],
  ])(
    'for pixels of 0.5 µm at a zoom of %d and a maximum width of 120 CSS pixels, returns a bar of %s',
    (zoom, label, width) => {
      const bar = scaleBarOf(calibration20x, { zoom, rotation: 0 }, 120);
      expect(bar.label).toBe(label);
      expect(bar.width).toBeCloseTo(width, 6);
    },
  );

  it('returns a bar of exactly the maximum width when this width stands for a round length', () => {
    const upright = { zoom: 1, rotation: 0 };
    expect(scaleBarOf(calibration20x, upright, 100)).toEqual({ label: '50 µm', width: 100 });
  });

  it.each([
    // degrees, label, width in CSS pixels; at most 160 CSS pixels
    [0, '20 µm', 80],
    [45, '50 µm', 50 / Math.hypot(0.25 * Math.SQRT1_2, 0.5 * Math.SQRT1_2)],
    [90, '50 µm', 100],
    [180, '20 µm', 80],
    [270, '50 µm', 100],
  ])(
    'for pixels of 0.25 µm × 0.5 µm on a slide rotated by %d° and a maximum width of 160 CSS pixels, returns a bar of %s',
    (rotation, label, width) => {
      const calibration = { ...calibration20x, mpp: 0.25, mppY: 0.5 };
      const bar = scaleBarOf(calibration, { zoom: 1, rotation }, 160);
      expect(bar.label).toBe(label);
      expect(bar.width).toBeCloseTo(width, 6);
    },
  );

  it('returns a label that starts with ≈ when the pixel size was derived from the magnification', () => {
    const upright = { zoom: 1, rotation: 0 };
    expect(scaleBarOf({ ...calibration20x, derived: 'mpp' }, upright, 120).label).toBe('≈ 50 µm');
  });
});
