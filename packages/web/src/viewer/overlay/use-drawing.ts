/** Connects the measuring tools with the view: pointer, keyboard and screen readers. */
import { useEffect, useEffectEvent, useReducer } from 'react';
import type { Calibration } from '../scale.ts';
import type { SlideView } from '../slide-view.ts';
import { texts } from '../texts.ts';
import { type Drawing, type DrawingStep, drawingReducer, emptyDrawing } from './drawing.ts';
import { toImage } from './placement.ts';
import { createPointerDrawing } from './pointer-drawing.ts';
import { markCountOf, measureOf } from './shapes.ts';

interface DrawingControls {
  readonly drawing: Drawing;
  readonly dispatch: (step: DrawingStep) => void;
  /** Places a point in the middle of the view, for the keyboard. */
  readonly placePointAtCentre: () => void;
}

/**
 * Returns the measurements on a slide and the functions that change them. While a measuring tool is chosen, the pointer draws
 * with it instead of moving the slide.
 *
 * @param announce called after a change of the shapes with a message for screen readers: the measure of the last shape
 *   or the number of marks
 */
export function useDrawing(
  view: SlideView,
  calibration: Calibration | null, // null for a slide without a scale
  announce: (text: string) => void,
): DrawingControls {
  const [drawing, dispatch] = useReducer(drawingReducer, emptyDrawing);
  const getDrawing = useEffectEvent(() => drawing);
  const isToolChosen = drawing.tool !== null;

  useEffect(() => {
    if (!isToolChosen) return;
    view.setPointerTool(createPointerDrawing({ getDrawing, getPlacement: view.placement, dispatch }));
    return () => view.setPointerTool(null);
  }, [view, isToolChosen]);

  const announceMeasure = useEffectEvent(() => {
    const lastShape = drawing.shapes.at(-1);
    if (lastShape?.kind === 'mark') return announce(texts.counted(markCountOf(drawing.shapes)));
    const measure = lastShape === undefined ? null : measureOf(lastShape, calibration);
    if (measure !== null) announce(measure);
  });
  useEffect(() => {
    if (drawing.shapes.length > 0) announceMeasure();
  }, [drawing.shapes]);

  return {
    drawing,
    dispatch,
    placePointAtCentre() {
      const placement = view.placement();
      if (placement === null) return;
      const point = toImage(placement, view.centre());
      const lastPoint = drawing.placedPoints.at(-1);
      // Placing the same point twice (less than one image pixel apart) completes an area.
      const isSamePoint =
        lastPoint !== undefined && Math.hypot(lastPoint.x - point.x, lastPoint.y - point.y) < 1;
      if (isSamePoint && drawing.tool === 'area') dispatch({ type: 'finish' });
      else dispatch({ type: 'point', point });
    },
  };
}
