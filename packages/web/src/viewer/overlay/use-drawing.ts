import { useEffect, useEffectEvent, useReducer } from 'react';
import type { Calibration } from '../scale.ts';
import type { SlideView } from '../slide-view.ts';
import { texts } from '../texts.ts';
import { type Drawing, type DrawingStep, draw, emptyDrawing } from './drawing.ts';
import { toImage } from './placement.ts';
import { createPointerDrawing } from './pointer-drawing.ts';
import { marksIn, measureOf } from './shapes.ts';

interface DrawingHere {
  readonly drawing: Drawing;
  readonly take: (step: DrawingStep) => void;
  /** Places a point by keyboard, at the cross in the middle of the view. */
  readonly putAtCentre: () => void;
}

/**
 * Drawing over the slide in this view; the pointer draws while a tool is chosen.
 *
 * @param tell receives the measure of each completed shape
 */
export function useDrawing(
  view: SlideView,
  calibration: Calibration | null,
  tell: (news: string) => void,
): DrawingHere {
  const [drawing, take] = useReducer(draw, emptyDrawing);
  const drawingNow = useEffectEvent(() => drawing);
  const isInHand = drawing.tool !== null;

  useEffect(() => {
    if (!isInHand) return;
    view.lendPointer(createPointerDrawing({ drawingNow, placementNow: view.placement, take }));
    return () => view.lendPointer(null);
  }, [view, isInHand]);

  const tellMeasure = useEffectEvent(() => {
    const last = drawing.shapes.at(-1);
    if (last?.kind === 'mark') return tell(texts.counted(marksIn(drawing.shapes)));
    const measure = last === undefined ? null : measureOf(last, calibration);
    if (measure !== null) tell(measure);
  });
  useEffect(() => {
    if (drawing.shapes.length > 0) tellMeasure();
  }, [drawing.shapes]);

  return {
    drawing,
    take,
    putAtCentre() {
      const placement = view.placement();
      if (placement === null) return;
      const at = toImage(placement, view.centre());
      const last = drawing.fixed.at(-1);
      // A second point at the same place completes an area.
      const isSame = last !== undefined && Math.hypot(last.x - at.x, last.y - at.y) < 1;
      if (isSame && drawing.tool === 'area') take({ type: 'finish' });
      else take({ type: 'point', at });
    },
  };
}
