/**
 * The state of the measuring tools, as a reducer. The user chooses a tool and places points with mouse, finger, pen or
 * keyboard. Shapes stay until the user removes them or closes the slide; they are not saved, unlike annotations.
 */
import type { Point } from './placement.ts';
import { type Shape, type ShapeKind, withHandleAt } from './shapes.ts';

/** The shapes on a slide, the chosen tool and the unfinished shape. */
export interface Drawing {
  /** The chosen tool; null: the pointer moves the slide. */
  readonly tool: ShapeKind | null;
  /** The finished shapes. */
  readonly shapes: readonly Shape[];
  /** Points of the unfinished shape that are already placed, in image pixels. */
  readonly placedPoints: readonly Point[];
  /** Position of the pointer in image pixels: the next point of the unfinished shape; null until the pointer moves. */
  readonly pointerPoint: Point | null;
}

export const emptyDrawing: Drawing = { tool: null, shapes: [], placedPoints: [], pointerPoint: null };

/** An action of the reducer. Points are in image pixels. */
export type DrawingStep =
  /** Chooses a tool, or deselects it when it is chosen already. Discards the unfinished shape. */
  | { readonly type: 'choose-tool'; readonly tool: ShapeKind }
  /** Places a point of the unfinished shape; does nothing when no tool is chosen. */
  | { readonly type: 'point'; readonly point: Point }
  /** Stores the position of the pointer. */
  | { readonly type: 'hover'; readonly point: Point }
  /** Moves a handle of a finished shape: `shape` is the index of the shape in `shapes`, `handle` the index in `handlesOf`. */
  | { readonly type: 'move'; readonly shape: number; readonly handle: number; readonly point: Point }
  /** Completes an unfinished area of at least three points. */
  | { readonly type: 'finish' }
  /** Discards the unfinished shape. Without an unfinished shape, deselects the tool. */
  | { readonly type: 'cancel' }
  /** Removes the last point of the unfinished shape. Without an unfinished shape, removes the last finished shape. */
  | { readonly type: 'undo' }
  /** Removes all shapes. */
  | { readonly type: 'clear' }
  /** Removes these shapes, for example because they have become annotations. */
  | { readonly type: 'remove'; readonly removed: readonly Shape[] };

/** Returns the drawing after a step. */
export function drawingReducer(drawing: Drawing, step: DrawingStep): Drawing {
  const { tool, shapes, placedPoints } = drawing;
  switch (step.type) {
    case 'choose-tool':
      return {
        ...drawing,
        tool: step.tool === tool ? null : step.tool,
        placedPoints: [],
        pointerPoint: null,
      };
    case 'hover':
      return tool === null ? drawing : { ...drawing, pointerPoint: step.point };
    case 'point':
      return tool === null ? drawing : withPoint(drawing, tool, step.point);
    case 'move': {
      const shape = shapes[step.shape];
      if (shape === undefined) return drawing;
      return { ...drawing, shapes: shapes.with(step.shape, withHandleAt(shape, step.handle, step.point)) };
    }
    case 'finish':
      if (tool !== 'area' || placedPoints.length < 3) return drawing;
      return {
        ...drawing,
        shapes: [...shapes, { kind: 'area', points: placedPoints }],
        placedPoints: [],
        pointerPoint: null,
      };
    case 'cancel':
      return placedPoints.length > 0
        ? { ...drawing, placedPoints: [], pointerPoint: null }
        : { ...drawing, tool: null };
    case 'undo':
      if (placedPoints.length > 0) return { ...drawing, placedPoints: placedPoints.slice(0, -1) };
      return { ...drawing, shapes: shapes.slice(0, -1) };
    case 'clear':
      return { ...drawing, shapes: [], placedPoints: [], pointerPoint: null };
    case 'remove':
      return { ...drawing, shapes: shapes.filter((shape) => !step.removed.includes(shape)) };
  }
}

/** Adds a point. The first point completes a circle or mark, the second a ruler. Only `finish` completes an area. */
function withPoint(drawing: Drawing, tool: ShapeKind, point: Point): Drawing {
  const { shapes, placedPoints } = drawing;
  const [start] = placedPoints;
  switch (tool) {
    case 'circle':
    case 'mark':
      return { ...drawing, shapes: [...shapes, { kind: tool, centre: point }], pointerPoint: null };
    case 'ruler':
      if (start === undefined) return { ...drawing, placedPoints: [point], pointerPoint: point };
      return {
        ...drawing,
        shapes: [...shapes, { kind: 'ruler', points: [start, point] }],
        placedPoints: [],
        pointerPoint: null,
      };
    case 'area':
      return { ...drawing, placedPoints: [...placedPoints, point], pointerPoint: point };
  }
}
