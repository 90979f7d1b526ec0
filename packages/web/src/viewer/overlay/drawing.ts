/**
 * The state of drawing over a slide: the person chooses a tool and places points with mouse, finger, pen or keyboard;
 * shapes stay until they are removed. Nothing is saved.
 */
import type { Point } from './placement.ts';
import { type Shape, type ShapeKind, withHandleAt } from './shapes.ts';

export interface Drawing {
  /** The chosen tool; null: the pointer moves the slide. */
  readonly tool: ShapeKind | null;
  readonly shapes: readonly Shape[];
  /** Points of the unfinished shape. */
  readonly fixed: readonly Point[];
  /** Position of its next point; null before the pointer has moved. */
  readonly floating: Point | null;
}

export const emptyDrawing: Drawing = { tool: null, shapes: [], fixed: [], floating: null };

export type DrawingStep =
  /** Chooses a tool; choosing the current tool puts it away. */
  | { readonly type: 'take'; readonly tool: ShapeKind }
  | { readonly type: 'point'; readonly at: Point }
  /** The pointer has moved. */
  | { readonly type: 'hover'; readonly at: Point }
  /** A handle of a finished shape is dragged. */
  | { readonly type: 'move'; readonly shape: number; readonly handle: number; readonly at: Point }
  /** Completes the unfinished shape. */
  | { readonly type: 'finish' }
  /** Cancels the unfinished shape, else the tool. */
  | { readonly type: 'cancel' }
  /** Removes the last point, or else the last shape. */
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
    case 'move': {
      const moved = shapes[step.shape];
      if (moved === undefined) return drawing;
      return { ...drawing, shapes: shapes.with(step.shape, withHandleAt(moved, step.handle, step.at)) };
    }
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
    case 'mark':
      return { ...drawing, shapes: [...shapes, { kind: tool, centre: at }], floating: null };
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
