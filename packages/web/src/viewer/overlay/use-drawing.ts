import { useEffect, useEffectEvent, useReducer } from 'react';
import type { Calibration } from '../scale.ts';
import type { SlideView } from '../slide-view.ts';
import { type Drawing, type DrawingStep, draw, nothingDrawn } from './drawing.ts';
import { toImage } from './placement.ts';
import { createPointerDrawing } from './pointer-drawing.ts';
import { measureOf } from './shapes.ts';

interface DrawingHere {
  readonly drawing: Drawing;
  readonly take: (step: DrawingStep) => void;
  /** For those who draw by keys: they move the slide under the cross in the middle. */
  readonly putAtCentre: () => void;
}

/**
 * What is drawn over the slide in this view; the pointer draws while a tool is in hand.
 *
 * @param tell hears the measure of each shape that was completed
 */
export function useDrawing(
  view: SlideView,
  calibration: Calibration | null,
  tell: (news: string) => void,
): DrawingHere {
  const [drawing, take] = useReducer(draw, nothingDrawn);
  const drawingNow = useEffectEvent(() => drawing);
  const isInHand = drawing.tool !== null;

  useEffect(() => {
    if (!isInHand) return;
    view.lendPointer(createPointerDrawing({ drawingNow, placementNow: view.placement, take }));
    return () => view.lendPointer(null);
  }, [view, isInHand]);

  const tellMeasure = useEffectEvent(() => {
    const last = drawing.shapes.at(-1);
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
      // Twice at the same place is the end of an area.
      const isSame = last !== undefined && Math.hypot(last.x - at.x, last.y - at.y) < 1;
      if (isSame && drawing.tool === 'area') take({ type: 'finish' });
      else take({ type: 'point', at });
    },
  };
}
