/**
 * Drawing over a slide, step by step: a tool is taken up, its points are put by mouse, finger, pen or key, and the
 * shape is kept until it is removed. Nothing of it is saved.
 */
import type { Point } from './placement.ts';
import type { Shape, ShapeKind } from './shapes.ts';

export interface Drawing {
  /** What the next point belongs to; null: the hand that moves the slide. */
  readonly tool: ShapeKind | null;
  readonly shapes: readonly Shape[];
  /** Points of the shape in hand that are fixed. */
  readonly fixed: readonly Point[];
  /** Where its next point would be now; null before the pointer has been seen. */
  readonly floating: Point | null;
}

export const nothingDrawn: Drawing = { tool: null, shapes: [], fixed: [], floating: null };

export type DrawingStep =
  /** The tool in hand is put down when it is taken up again. */
  | { readonly type: 'take'; readonly tool: ShapeKind }
  | { readonly type: 'point'; readonly at: Point }
  /** The pointer is there now. */
  | { readonly type: 'hover'; readonly at: Point }
  /** The shape in hand is complete. */
  | { readonly type: 'finish' }
  /** Drops the shape in hand, else the tool. */
  | { readonly type: 'cancel' }
  /** Removes the point, or else the shape, that was put last. */
  | { readonly type: 'undo' }
  | { readonly type: 'clear' };

export function draw(drawing: Drawing, step: DrawingStep): Drawing {
  const { tool, shapes, fixed } = drawing;
  switch (step.type) {
    case 'take':
      return { ...drawing, tool: step.tool === tool ? null : step.tool, fixed: [], floating: null };
    case 'hover':
      return tool === null ? drawing : { ...drawing, floating: step.at };
    case 'point':
      return tool === null ? drawing : withPoint(drawing, tool, step.at);
    case 'finish':
      if (tool !== 'area' || fixed.length < 3) return drawing;
      return { ...drawing, shapes: [...shapes, { kind: 'area', points: fixed }], fixed: [], floating: null };
    case 'cancel':
      return fixed.length > 0 ? { ...drawing, fixed: [], floating: null } : { ...drawing, tool: null };
    case 'undo':
      if (fixed.length > 0) return { ...drawing, fixed: fixed.slice(0, -1) };
      return { ...drawing, shapes: shapes.slice(0, -1) };
    case 'clear':
      return { ...drawing, shapes: [], fixed: [], floating: null };
  }
}

function withPoint(drawing: Drawing, tool: ShapeKind, at: Point): Drawing {
  const { shapes, fixed } = drawing;
  const [start] = fixed;
  switch (tool) {
    case 'circle':
      return { ...drawing, shapes: [...shapes, { kind: 'circle', centre: at }] };
    case 'ruler':
      if (start === undefined) return { ...drawing, fixed: [at], floating: at };
      return {
        ...drawing,
        shapes: [...shapes, { kind: 'ruler', points: [start, at] }],
        fixed: [],
        floating: null,
      };
    case 'area':
      return { ...drawing, fixed: [...fixed, at], floating: at };
  }
}
