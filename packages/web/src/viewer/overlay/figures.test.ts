import { describe, expect, it } from 'vitest';
import type { Calibration } from '../scale.ts';
import { emptyDrawing } from './drawing.ts';
import { figuresOf } from './figures.ts';
import { placementOf } from './placement.ts';

const calibration: Calibration = { mpp: 0.5, objectivePower: 20, derived: null };
/** A placement in which image pixels are screen pixels. */
const placement = placementOf(
  { width: 100, height: 100 },
  { x: 0, y: 0 },
  { x: 100, y: 0 },
  { x: 0, y: 100 },
);

describe('figuresOf (lines and labels of measurements)', () => {
  it('places the label with the length of a ruler 8 CSS pixels above the middle of the ruler', () => {
    const shapes = [
      {
        kind: 'ruler',
        points: [
          { x: 0, y: 50 },
          { x: 100, y: 50 },
        ],
      },
    ] as const;
    const [figure] = figuresOf({ ...emptyDrawing, shapes }, placement, calibration);
    expect(figure).toMatchObject({ label: '50 µm', labelPosition: { x: 50, y: 42 } });
  });

  it('returns a preview of the counting circle at the pointer before the user places the circle', () => {
    const drawing = { ...emptyDrawing, tool: 'circle', pointerPoint: { x: 5, y: 5 } } as const;
    expect(figuresOf(drawing, placement, calibration)).toMatchObject([{ kind: 'circle', label: '1 mm²' }]);
  });

  it('adds the number of marks (counted cells) inside a counting circle to its label', () => {
    const shapes = [
      { kind: 'circle', centre: { x: 0, y: 0 } },
      { kind: 'mark', centre: { x: 10, y: 0 } },
      { kind: 'mark', centre: { x: 9000, y: 0 } },
    ] as const;
    const [circle, mark] = figuresOf({ ...emptyDrawing, shapes }, placement, calibration);
    expect(circle?.label).toBe('1 mm²: 1');
    expect(mark).toMatchObject({ kind: 'mark', label: null });
    expect(mark?.outline).toHaveLength(5); // a diamond whose first point is repeated at the end
  });
});
