/**
 * Translates pointer events over the slide into steps of the measuring tools. A click places a point. Dragging draws a ruler, or
 * an area freehand; with the circle and the mark, dragging counts as a click. In this file, a `screenPoint` is in CSS pixels of the
 * viewer, and points of shapes are in image pixels.
 */
import type { PointerTool } from '../tool-pointer.ts';
import type { Drawing, DrawingStep } from './drawing.ts';
import { type Placement, type Point, toImage, toScreen } from './placement.ts';

// Distances in CSS pixels.
/** A press that moves less than this is a click. Points nearer to each other than this count as the same point. */
const clickTolerance = 5;
/** Minimum distance between successive points of a freehand line. */
const freehandStep = 8;

interface PointerDrawingDependencies {
  readonly getDrawing: () => Drawing;
  /** Returns where the slide is on the screen; null while it is being closed. */
  readonly getPlacement: () => Placement | null;
  readonly dispatch: (step: DrawingStep) => void;
}

/** Creates the pointer tool that draws with the chosen measuring tool. */
export function createPointerDrawing({ getDrawing, getPlacement, dispatch }: PointerDrawingDependencies) {
  /** The screen point at which the pointer was pressed; null while it is not pressed. */
  let pressPoint: Point | null = null;
  let isDragging = false;
  /** Number of points that the current press has placed. */
  let pressPointCount = 0;
  /** The screen point of the last placed point, which may belong to a finished shape; null before the first placed point. */
  let lastPoint: Point | null = null;

  /** Dispatches a step at a screen point; does nothing while the slide is being closed. */
  const dispatchAt = (type: 'point' | 'hover', screenPoint: Point) => {
    const placement = getPlacement();
    if (placement !== null) dispatch({ type, point: toImage(placement, screenPoint) });
  };
  const placePoint = (screenPoint: Point) => {
    dispatchAt('point', screenPoint);
    lastPoint = screenPoint;
    pressPointCount++;
  };
  /** Returns whether a point of a shape is nearer than `clickTolerance` to a screen point. */
  const isNear = (point: Point | undefined, screenPoint: Point) => {
    const placement = getPlacement();
    return (
      point !== undefined &&
      placement !== null &&
      distance(toScreen(placement, point), screenPoint) < clickTolerance
    );
  };

  /**
   * Returns whether a click completes the unfinished area, because it hits the first point or the last one. The second click of a
   * double click hits the last point.
   */
  function closesArea(screenPoint: Point): boolean {
    const { tool, placedPoints } = getDrawing();
    if (tool !== 'area' || placedPoints.length < 3) return false;
    return isNear(placedPoints[0], screenPoint) || isNear(placedPoints.at(-1), screenPoint);
  }

  return {
    onPress(screenPoint: Point) {
      pressPoint = screenPoint;
      isDragging = false;
      pressPointCount = 0;
    },

    onMove(screenPoint: Point) {
      const { tool } = getDrawing();
      const isOnePointTool = tool === 'circle' || tool === 'mark';
      if (
        pressPoint !== null &&
        !isDragging &&
        !isOnePointTool &&
        distance(pressPoint, screenPoint) >= clickTolerance
      ) {
        isDragging = true;
        // An unfinished ruler or area continues from its last point, so only a new shape gets a point at the press.
        if (getDrawing().placedPoints.length === 0) placePoint(pressPoint);
      }
      dispatchAt('hover', screenPoint);
      const isFreehand = isDragging && tool === 'area';
      if (isFreehand && (lastPoint === null || distance(lastPoint, screenPoint) >= freehandStep))
        placePoint(screenPoint);
    },

    onRelease(screenPoint: Point) {
      if (pressPoint === null) return;
      pressPoint = null;
      if (!isDragging) {
        if (closesArea(screenPoint)) dispatch({ type: 'finish' });
        // The second click of a double click places no second point.
        else if (!isNear(getDrawing().placedPoints.at(-1), screenPoint)) placePoint(screenPoint);
        return;
      }
      isDragging = false;
      if (getDrawing().tool === 'area') dispatch({ type: 'finish' });
      else placePoint(screenPoint);
    },

    onCancel() {
      if (pressPoint === null) return; // during a pinch, `onCancel` is called again for each movement
      // The press draws nothing, for example because it has become a pinch, which zooms the slide. Earlier points stay.
      pressPoint = null;
      isDragging = false;
      for (; pressPointCount > 0; pressPointCount--) dispatch({ type: 'undo' });
    },
  } satisfies PointerTool;
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
