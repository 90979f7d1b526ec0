import { describe, expect, it } from 'vitest';
import { type Drawing, type DrawingStep, draw, nothingDrawn } from './drawing.ts';

const at = (x: number, y = 0) => ({ x, y });
const after = (...steps: DrawingStep[]): Drawing => steps.reduce(draw, nothingDrawn);
const points = (...places: number[]): DrawingStep[] => places.map((x) => ({ type: 'point', at: at(x) }));

describe('drawing over a slide', () => {
  it('does nothing without a tool', () => {
    expect(after(...points(1, 2))).toEqual(nothingDrawn);
  });

  it('puts a ruler between two points, and is ready for the next one', () => {
    const drawing = after({ type: 'take', tool: 'ruler' }, ...points(1, 2, 7));
    expect(drawing.shapes).toEqual([{ kind: 'ruler', points: [at(1), at(2)] }]);
    expect(drawing.fixed).toEqual([at(7)]);
    expect(drawing.tool).toBe('ruler');
  });

  it('shows where the next point would be', () => {
    const drawing = after({ type: 'take', tool: 'ruler' }, ...points(1), { type: 'hover', at: at(5) });
    expect(drawing.floating).toEqual(at(5));
  });

  it('ends an area when it is said to be complete, not before it has three points', () => {
    const begun = after({ type: 'take', tool: 'area' }, ...points(1, 2), { type: 'finish' });
    expect(begun.shapes).toEqual([]);
    const drawing = [...points(3), { type: 'finish' } as const].reduce(draw, begun);
    expect(drawing.shapes).toEqual([{ kind: 'area', points: [at(1), at(2), at(3)] }]);
    expect(drawing.fixed).toEqual([]);
  });

  it('puts a counting circle with one point', () => {
    const drawing = after({ type: 'take', tool: 'circle' }, ...points(4));
    expect(drawing.shapes).toEqual([{ kind: 'circle', centre: at(4) }]);
  });

  it('drops first the shape in hand, then the tool', () => {
    const begun = after({ type: 'take', tool: 'area' }, ...points(1, 2), { type: 'cancel' });
    expect(begun).toMatchObject({ tool: 'area', fixed: [] });
    expect(draw(begun, { type: 'cancel' }).tool).toBeNull();
  });

  it('puts a tool down that is taken up twice, with what was begun', () => {
    const drawing = after({ type: 'take', tool: 'area' }, ...points(1), { type: 'take', tool: 'area' });
    expect(drawing).toMatchObject({ tool: null, fixed: [] });
  });

  it('takes back point by point, then shape by shape', () => {
    const drawing = after({ type: 'take', tool: 'ruler' }, ...points(1, 2, 3), { type: 'undo' });
    expect(drawing).toMatchObject({ fixed: [], shapes: [{ kind: 'ruler' }] });
    expect(draw(drawing, { type: 'undo' }).shapes).toEqual([]);
  });

  it('removes everything at once, and keeps the tool', () => {
    const drawing = after({ type: 'take', tool: 'circle' }, ...points(1, 2), { type: 'clear' });
    expect(drawing).toMatchObject({ tool: 'circle', shapes: [] });
  });
});
