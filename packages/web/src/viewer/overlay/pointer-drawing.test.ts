import { describe, expect, it } from 'vitest';
import { type Drawing, drawingReducer, emptyDrawing } from './drawing.ts';
import { createPointerDrawing } from './pointer-drawing.ts';
import type { ShapeKind } from './shapes.ts';

/** A placement at half of full resolution: (10, 10) on the screen is pixel (20, 20) of the slide. */
const placement = { a: 0.5, b: 0, c: 0, d: 0.5, e: 0, f: 0 };
const at = (x: number, y: number) => ({ x, y });

/** Creates a drawing with this tool, and functions that click and drag on it. Positions are in CSS pixels of the viewer. */
function startSession(tool: ShapeKind) {
  let drawing: Drawing = drawingReducer(emptyDrawing, { type: 'choose-tool', tool });
  const pointer = createPointerDrawing({
    getDrawing: () => drawing,
    getPlacement: () => placement,
    dispatch: (step) => {
      drawing = drawingReducer(drawing, step);
    },
  });
  return {
    pointer,
    drawing: () => drawing,
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

describe('createPointerDrawing (measuring with the pointer)', () => {
  it('completes a ruler in image pixels when the user drags from one end to the other', () => {
    const session = startSession('ruler');
    session.drag([10, 10], [60, 10], [110, 10]);
    expect(session.drawing().shapes).toEqual([{ kind: 'ruler', points: [at(20, 20), at(220, 20)] }]);
  });

  it('completes a ruler in image pixels when the user clicks both ends', () => {
    const session = startSession('ruler');
    session.click(10, 10);
    session.click(110, 10);
    expect(session.drawing().shapes).toEqual([{ kind: 'ruler', points: [at(20, 20), at(220, 20)] }]);
  });

  it('completes an area when the user clicks its first point or double-clicks its last one', () => {
    for (const end of [at(11, 11), at(50, 99)]) {
      const session = startSession('area');
      for (const [x, y] of [
        [10, 10],
        [90, 10],
        [50, 98],
      ] as const)
        session.click(x, y);
      session.click(end.x, end.y);
      expect(session.drawing().shapes).toMatchObject([{ kind: 'area', points: { length: 3 } }]);
    }
  });

  it('completes an area drawn freehand when the user releases the pointer', () => {
    const session = startSession('area');
    session.drag([10, 10], [90, 10], [90, 90], [10, 90], [10, 20]);
    expect(session.drawing().shapes).toMatchObject([{ kind: 'area' }]);
    expect(session.drawing().placedPoints).toEqual([]);
  });

  it('places one point when the pointer moves by less than 5 pixels between press and release', () => {
    const session = startSession('ruler');
    session.drag([10, 10], [12, 11]);
    expect(session.drawing()).toMatchObject({ shapes: [], placedPoints: { length: 1 } });
  });

  it('discards the ruler that a press has begun when the press becomes a gesture with two fingers', () => {
    const session = startSession('ruler');
    session.pointer.onPress(at(10, 10));
    session.pointer.onCancel();
    session.pointer.onMove(at(100, 100));
    session.pointer.onRelease(at(100, 100));
    expect(session.drawing()).toMatchObject({ shapes: [], placedPoints: [] });
  });

  it.each<[ShapeKind, string, [number, number][], [number, number][]]>([
    ['ruler', 'the point of an earlier click', [[10, 10]], [[20, 20]]],
    [
      'area',
      'the points of two earlier clicks',
      [
        [10, 10],
        [90, 10],
      ],
      [
        [20, 20],
        [180, 20],
      ],
    ],
    ['ruler', 'no point, because there was no earlier click', [], []],
    ['area', 'no point, because there was no earlier click', [], []],
  ])(
    'drops the points of a press that becomes a gesture with two fingers: an unfinished %s keeps %s',
    (tool, _, clicks, keptPoints) => {
      const session = startSession(tool);
      for (const [x, y] of clicks) session.click(x, y);
      session.pointer.onPress(at(50, 50));
      session.pointer.onMove(at(70, 50)); // the first finger moves before the second touches the screen
      session.pointer.onCancel();
      session.pointer.onCancel(); // reported again for each movement of the two fingers
      session.pointer.onRelease(at(300, 300));
      expect(session.drawing()).toMatchObject({
        tool,
        shapes: [],
        placedPoints: keptPoints.map(([x, y]) => at(x, y)),
      });
    },
  );
});
