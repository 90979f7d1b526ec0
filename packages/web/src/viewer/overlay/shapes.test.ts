import { describe, expect, it } from 'vitest';
import { type Calibration, calibrationOf } from '../scale.ts';
import {
  areaOf,
  areaText,
  countInside,
  countingCircle,
  handlesOf,
  lengthOf,
  lengthText,
  perimeterOf,
  type Shape,
} from './shapes.ts';

const quarter: Calibration = { mpp: 0.25, objectivePower: 40, derived: null };
const square = [
  { x: 100, y: 100 },
  { x: 500, y: 100 },
  { x: 500, y: 500 },
  { x: 100, y: 500 },
];

describe('a ruler', () => {
  it('has a length in micrometres', () => {
    expect(lengthOf({ x: 0, y: 0 }, { x: 300, y: 400 }, quarter)).toBe(125);
  });

  it('has a length from both pixel sizes when pixels are not square', () => {
    const flat: Calibration = { ...quarter, mppY: 0.5 };
    expect(lengthOf({ x: 0, y: 0 }, { x: 0, y: 400 }, flat)).toBe(200);
    expect(lengthOf({ x: 0, y: 0 }, { x: 400, y: 0 }, flat)).toBe(100);
  });

  it.each([
    [0.4, '0.4 µm'],
    [12.345, '12.35 µm'],
    [999.94, '999.9 µm'],
    [1234.5, '1.234 mm'],
    [25_000, '25 mm'],
  ])('of %s µm is formatted as %s', (length, text) => {
    expect(lengthText(length, quarter)).toBe(text);
  });

  it('is marked for estimated and entered scales, and measured in pixels without a scale', () => {
    const estimated = calibrationOf({ mpp: null, objectivePower: 20, derived: null });
    expect(lengthText(10, estimated)).toBe('≈ 10 µm');
    const entered = calibrationOf({ mpp: 0.5, objectivePower: 20, derived: null, isEntered: true });
    expect(lengthText(10, entered)).toBe('10 µm*');
    expect(areaText(10, entered)).toBe('10 µm²*');
    expect(lengthOf({ x: 0, y: 0 }, { x: 30, y: 40 }, null)).toBe(50);
    expect(lengthText(50.4, null)).toBe('50 px');
  });
});

describe('an area', () => {
  it('is measured as the area of its polygon, in both orientations', () => {
    expect(areaOf(square, quarter)).toBe(10_000);
    expect(areaOf(square.toReversed(), quarter)).toBe(10_000);
    expect(perimeterOf(square, quarter)).toBe(400);
  });

  it('measures 0 with fewer than three points', () => {
    expect(areaOf(square.slice(0, 2), quarter)).toBe(0);
  });

  it.each([
    [250, '250 µm²'],
    [9999, '9999 µm²'],
    [12_345, '0.01235 mm²'],
    [2_500_000, '2.5 mm²'],
  ])('of %s µm² is formatted as %s', (area, text) => {
    expect(areaText(area, quarter)).toBe(text);
  });

  it('is measured in square pixels without a scale', () => {
    expect(areaText(areaOf(square, null), null)).toBe('160000 px²');
  });
});

describe('the counting circle', () => {
  it('has an area of one square millimetre', () => {
    const { rx, ry } = countingCircle(quarter);
    expect(Math.PI * rx * 0.25 * ry * 0.25).toBeCloseTo(1_000_000, 3);
  });

  it('is an ellipse when pixels are not square', () => {
    const { rx, ry } = countingCircle({ ...quarter, mppY: 0.5 });
    expect(rx).toBeCloseTo(2 * ry, 6);
  });
});

it('countInside counts only the marks inside the counting circle', () => {
  const { rx } = countingCircle(quarter);
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
  expect(countInside({ x: 0, y: 0 }, shapes, quarter)).toBe(2);
});

it('handlesOf returns no handles for an area of many points, such as one drawn freehand', () => {
  const points = Array.from({ length: 100 }, (_, i) => ({ x: i, y: i }));
  expect(handlesOf({ kind: 'area', points })).toEqual([]);
  expect(handlesOf({ kind: 'area', points: square })).toEqual(square);
});
