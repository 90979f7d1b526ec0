import { describe, expect, it } from 'vitest';
import { type Drawing, draw, emptyDrawing } from './drawing.ts';
import { createPointerDrawing } from './pointer-drawing.ts';
import type { ShapeKind } from './shapes.ts';

/** The screen shows every second pixel of the slide. */
const placement = { a: 0.5, b: 0, c: 0, d: 0.5, e: 0, f: 0 };
const at = (x: number, y: number) => ({ x, y });

function drawingWith(tool: ShapeKind) {
  let drawing: Drawing = draw(emptyDrawing, { type: 'choose-tool', tool });
  const pointer = createPointerDrawing({
    getDrawing: () => drawing,
    getPlacement: () => placement,
    dispatch: (step) => {
      drawing = draw(drawing, step);
    },
  });
  return {
    pointer,
    now: () => drawing,
    click(x: number, y: number) {
      pointer.onPress(at(x, y));
      pointer.onRelease(at(x, y));
    },
    /** Presses at the first position, moves over the others, and releases at the last one. */
    drag(...positions: [number, number][]) {
      const [first = [0, 0], ...others] = positions;
      pointer.onPress(at(...first));
      for (const position of others) pointer.onMove(at(...position));
      pointer.onRelease(at(...(positions.at(-1) ?? first)));
    },
  };
}

describe('createPointerDrawing', () => {
  it('draws a ruler by dragging, in image pixels', () => {
    const pointerTest = drawingWith('ruler');
    pointerTest.drag([10, 10], [60, 10], [110, 10]);
    expect(pointerTest.now().shapes).toEqual([{ kind: 'ruler', points: [at(20, 20), at(220, 20)] }]);
  });

  it('draws a ruler by two clicks', () => {
    const pointerTest = drawingWith('ruler');
    pointerTest.click(10, 10);
    pointerTest.click(110, 10);
    expect(pointerTest.now().shapes).toEqual([{ kind: 'ruler', points: [at(20, 20), at(220, 20)] }]);
  });

  it('completes an area by a click on its first point or a double click', () => {
    for (const end of [at(11, 11), at(50, 99)]) {
      const pointerTest = drawingWith('area');
      for (const [x, y] of [
        [10, 10],
        [90, 10],
        [50, 98],
      ] as const)
        pointerTest.click(x, y);
      pointerTest.click(end.x, end.y);
      expect(pointerTest.now().shapes).toMatchObject([{ kind: 'area', points: { length: 3 } }]);
    }
  });

  it('draws an area freehand while the pointer is dragged', () => {
    const pointerTest = drawingWith('area');
    pointerTest.drag([10, 10], [90, 10], [90, 90], [10, 90], [10, 20]);
    expect(pointerTest.now().shapes).toMatchObject([{ kind: 'area' }]);
    expect(pointerTest.now().placedPoints).toEqual([]);
  });

  it('places one point for a click with a small movement', () => {
    const pointerTest = drawingWith('ruler');
    pointerTest.drag([10, 10], [12, 11]);
    expect(pointerTest.now()).toMatchObject({ shapes: [], placedPoints: { length: 1 } });
  });

  it('cancels the shape when the press becomes a gesture with two fingers', () => {
    const pointerTest = drawingWith('ruler');
    pointerTest.pointer.onPress(at(10, 10));
    pointerTest.pointer.onPinch();
    pointerTest.pointer.onMove(at(100, 100));
    pointerTest.pointer.onRelease(at(100, 100));
    expect(pointerTest.now()).toMatchObject({ shapes: [], placedPoints: [] });
  });
});
