import { describe, expect, it } from 'vitest';
import { type Drawing, type DrawingStep, drawingReducer, emptyDrawing } from './drawing.ts';

const at = (x: number, y = 0) => ({ x, y });
/** Returns the drawing after these steps. */
const after = (...steps: DrawingStep[]): Drawing => steps.reduce(drawingReducer, emptyDrawing);
/** Returns steps that place points with these x and y = 0. */
const points = (...xs: number[]): DrawingStep[] => xs.map((x) => ({ type: 'point', point: at(x) }));

describe('drawingReducer (state of the measuring tools)', () => {
  it('ignores points while no tool is chosen', () => {
    expect(after(...points(1, 2))).toEqual(emptyDrawing);
  });

  it('completes a ruler with its second point and starts the next ruler with the third one', () => {
    const drawing = after({ type: 'choose-tool', tool: 'ruler' }, ...points(1, 2, 7));
    expect(drawing.shapes).toEqual([{ kind: 'ruler', points: [at(1), at(2)] }]);
    expect(drawing.placedPoints).toEqual([at(7)]);
    expect(drawing.tool).toBe('ruler');
  });

  it('stores the position of the pointer as a preview of the next point', () => {
    const drawing = after({ type: 'choose-tool', tool: 'ruler' }, ...points(1), {
      type: 'hover',
      point: at(5),
    });
    expect(drawing.pointerPoint).toEqual(at(5));
  });

  it('completes an area at the step "finish" only when it has at least three points', () => {
    const unfinished = after({ type: 'choose-tool', tool: 'area' }, ...points(1, 2), { type: 'finish' });
    expect(unfinished.shapes).toEqual([]);
    const drawing = [...points(3), { type: 'finish' } as const].reduce(drawingReducer, unfinished);
    expect(drawing.shapes).toEqual([{ kind: 'area', points: [at(1), at(2), at(3)] }]);
    expect(drawing.placedPoints).toEqual([]);
  });

  it('completes a counting circle with one point', () => {
    const drawing = after({ type: 'choose-tool', tool: 'circle' }, ...points(4));
    expect(drawing.shapes).toEqual([{ kind: 'circle', centre: at(4) }]);
  });

  it('adds a mark for each point of the counting tool', () => {
    const drawing = after({ type: 'choose-tool', tool: 'mark' }, ...points(4, 5));
    expect(drawing.shapes).toEqual([
      { kind: 'mark', centre: at(4) },
      { kind: 'mark', centre: at(5) },
    ]);
  });

  it('moves an end of a ruler, a corner of an area or the centre of a circle at the step "move"', () => {
    const ruler = after({ type: 'choose-tool', tool: 'ruler' }, ...points(1, 2));
    const moved = drawingReducer(ruler, { type: 'move', shape: 0, handle: 1, point: at(9, 9) });
    expect(moved.shapes).toEqual([{ kind: 'ruler', points: [at(1), at(9, 9)] }]);
    const area = after({ type: 'choose-tool', tool: 'area' }, ...points(1, 2, 3), { type: 'finish' });
    expect(drawingReducer(area, { type: 'move', shape: 0, handle: 0, point: at(0, 5) }).shapes).toEqual([
      { kind: 'area', points: [at(0, 5), at(2), at(3)] },
    ]);
    const circle = after({ type: 'choose-tool', tool: 'circle' }, ...points(4));
    expect(drawingReducer(circle, { type: 'move', shape: 0, handle: 0, point: at(7) }).shapes).toEqual([
      { kind: 'circle', centre: at(7) },
    ]);
  });

  it('returns the drawing unchanged when a step "move" names a shape that does not exist', () => {
    const drawing = after({ type: 'choose-tool', tool: 'circle' }, ...points(4));
    expect(drawingReducer(drawing, { type: 'move', shape: 3, handle: 0, point: at(7) })).toBe(drawing);
  });

  it('discards the unfinished shape at the first step "cancel", and deselects the tool at the second one', () => {
    const unfinished = after({ type: 'choose-tool', tool: 'area' }, ...points(1, 2), { type: 'cancel' });
    expect(unfinished).toMatchObject({ tool: 'area', placedPoints: [] });
    expect(drawingReducer(unfinished, { type: 'cancel' }).tool).toBeNull();
  });

  it('deselects a tool that is chosen twice and discards its unfinished shape', () => {
    const drawing = after({ type: 'choose-tool', tool: 'area' }, ...points(1), {
      type: 'choose-tool',
      tool: 'area',
    });
    expect(drawing).toMatchObject({ tool: null, placedPoints: [] });
  });

  it('removes, at a step "undo", the last point of the unfinished shape, or the last shape when none is unfinished', () => {
    const drawing = after({ type: 'choose-tool', tool: 'ruler' }, ...points(1, 2, 3), { type: 'undo' });
    expect(drawing).toMatchObject({ placedPoints: [], shapes: [{ kind: 'ruler' }] });
    expect(drawingReducer(drawing, { type: 'undo' }).shapes).toEqual([]);
  });

  it('removes only the shapes that a step "remove" names, and keeps the unfinished shape', () => {
    const drawing = after({ type: 'choose-tool', tool: 'ruler' }, ...points(1, 2, 3, 4, 5));
    const [first, second] = drawing.shapes;
    const removed = first === undefined ? [] : [first];
    const { shapes, ...others } = drawingReducer(drawing, { type: 'remove', removed });
    expect(shapes).toEqual([second]);
    expect(others).toMatchObject({ tool: 'ruler', placedPoints: drawing.placedPoints });
    expect(drawing.placedPoints).toHaveLength(1);
  });

  it('removes all shapes at the step "clear" and keeps the tool', () => {
    const drawing = after({ type: 'choose-tool', tool: 'circle' }, ...points(1, 2), { type: 'clear' });
    expect(drawing).toMatchObject({ tool: 'circle', shapes: [] });
  });
});
