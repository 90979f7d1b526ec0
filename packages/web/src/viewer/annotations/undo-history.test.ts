import type { AnnotationFeature, Position } from '@lamina/annotations';
import { describe, expect, it } from 'vitest';
import { UndoHistory } from './undo-history.ts';

/** A step that draws a line. */
const drawing = (coordinates: readonly Position[]) => {
  const after: AnnotationFeature = {
    type: 'Feature',
    id: '6423a977-ffff-48db-affc-cd11632010f0',
    geometry: { type: 'LineString', coordinates },
    properties: { objectType: 'annotation' },
  };
  return [{ id: after.id, layerId: 'layer', before: null, after }];
};

/** Adds the step several times. @returns how many steps can be undone afterwards */
function countUndoable(step: ReturnType<typeof drawing>, times: number): number {
  const history = new UndoHistory();
  for (let index = 0; index < times; index++) history.add(step);
  let count = 0;
  while (history.undo().length > 0) count++;
  return count;
}

describe('UndoHistory (steps of the drawing mode that can be undone)', () => {
  it('undoes 1,000 steps of a session', () => {
    const line: readonly Position[] = [
      [0, 0],
      [1, 1],
    ];
    expect(countUndoable(drawing(line), 1000)).toBe(1000);
  });

  it('drops the oldest steps when all steps together have more than 10 million positions', () => {
    const line = Array.from({ length: 1_000_000 }, (): Position => [0, 0]);
    expect(countUndoable(drawing(line), 12)).toBe(10);
  });
});
