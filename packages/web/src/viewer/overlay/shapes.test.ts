import { describe, expect, it } from 'vitest';
import { type Calibration, calibrationOf } from '../scale.ts';
import {
  areaOf,
  areaText,
  countingCircleRadii,
  countMarksInside,
  handlesOf,
  lengthOf,
  lengthText,
  perimeterOf,
  type Shape,
} from './shapes.ts';

/** A slide scanned at 40×, with square pixels of 0.25 µm. */
const calibration40x: Calibration = { mpp: 0.25, objectivePower: 40, derived: null };
/** A square of 400 × 400 pixels: at 0.25 µm per pixel, 100 × 100 µm. */
const square = [
  { x: 100, y: 100 },
  { x: 500, y: 100 },
  { x: 500, y: 500 },
  { x: 100, y: 500 },
];

describe('lengthOf and lengthText (measured lengths):', () => {
  it('lengthOf returns the distance of two points in micrometres', () => {
    // 500 pixels of 0.25 µm
    expect(lengthOf({ x: 0, y: 0 }, { x: 300, y: 400 }, calibration40x)).toBe(125);
  });

  it('lengthOf returns twice the length for a vertical line as for a horizontal one when pixels are twice as high as wide', () => {
    const flat: Calibration = { ...calibration40x, mppY: 0.5 };
    expect(lengthOf({ x: 0, y: 0 }, { x: 0, y: 400 }, flat)).toBe(200);
    expect(lengthOf({ x: 0, y: 0 }, { x: 400, y: 0 }, flat)).toBe(100);
  });

  it.each([
    [0.4, '0.4 µm'],
    [12.345, '12.35 µm'],
    [999.94, '999.9 µm'],
    [1234.5, '1.234 mm'],
    [25_000, '25 mm'],
  ])('lengthText formats a length of %s µm as %s', (length, text) => {
    expect(lengthText(length, calibration40x)).toBe(text);
  });

  it('lengthText and areaText put ≈ before estimated values and * after values with an entered scale', () => {
    const estimated = calibrationOf({ mpp: null, objectivePower: 20, derived: null });
    expect(lengthText(10, estimated)).toBe('≈ 10 µm');
    const entered = calibrationOf({ mpp: 0.5, objectivePower: 20, derived: null, isEntered: true });
    expect(lengthText(10, entered)).toBe('10 µm*');
    expect(areaText(10, entered)).toBe('10 µm²*');
  });

  it('lengthOf and lengthText use pixels for a slide without a scale', () => {
    expect(lengthOf({ x: 0, y: 0 }, { x: 30, y: 40 }, null)).toBe(50);
    expect(lengthText(50.4, null)).toBe('50 px');
  });
});

describe('areaOf, perimeterOf and areaText (measured areas):', () => {
  it('areaOf and perimeterOf measure a polygon in micrometres, for clockwise and counterclockwise corners', () => {
    expect(areaOf(square, calibration40x)).toBe(10_000);
    expect(areaOf(square.toReversed(), calibration40x)).toBe(10_000);
    expect(perimeterOf(square, calibration40x)).toBe(400);
  });

  it('areaOf returns 0 for fewer than three points', () => {
    expect(areaOf(square.slice(0, 2), calibration40x)).toBe(0);
  });

  it.each([
    [250, '250 µm²'],
    [9999, '9999 µm²'],
    [12_345, '0.01235 mm²'],
    [2_500_000, '2.5 mm²'],
  ])('areaText formats an area of %s µm² as %s', (area, text) => {
    expect(areaText(area, calibration40x)).toBe(text);
  });

  it('areaOf and areaText return the area in the unit px² for a slide without a scale', () => {
    expect(areaText(areaOf(square, null), null)).toBe('160000 px²');
  });
});

describe('countingCircleRadii (radii of the circle in which cells are counted)', () => {
  it('returns the x and y radii, in pixels, of a circle with an area of one square millimetre', () => {
    const { rx, ry } = countingCircleRadii(calibration40x);
    expect(Math.PI * rx * 0.25 * ry * 0.25).toBeCloseTo(1_000_000, 3);
  });

  it('returns different x and y radii when the pixels of the slide are not square', () => {
    const { rx, ry } = countingCircleRadii({ ...calibration40x, mppY: 0.5 });
    expect(rx).toBeCloseTo(2 * ry, 6);
  });
});

it('countMarksInside counts only the marks (counted cells) inside the counting circle', () => {
  const { rx } = countingCircleRadii(calibration40x);
  const shapes: Shape[] = [
    { kind: 'mark', centre: { x: 0, y: 0 } },
    { kind: 'mark', centre: { x: rx - 1, y: 0 } },
    { kind: 'mark', centre: { x: rx + 1, y: 0 } },
    {
      kind: 'ruler',
      points: [
        { x: 0, y: 0 },
        { x: 1, y: 1 },
      ],
    },
  ];
  expect(countMarksInside({ x: 0, y: 0 }, shapes, calibration40x)).toBe(2);
});

it('handlesOf (handles with which a measurement is dragged) returns none for an area of more than 24 points, such as one drawn freehand', () => {
  const points = Array.from({ length: 100 }, (_, i) => ({ x: i, y: i }));
  expect(handlesOf({ kind: 'area', points })).toEqual([]);
  expect(handlesOf({ kind: 'area', points: square })).toEqual(square);
});
