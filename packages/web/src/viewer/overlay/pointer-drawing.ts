/** Turns pointer events into drawing: a click places a point, dragging draws freehand. */
import type { PointerTool } from '../slide-view.ts';
import type { Drawing, DrawingStep } from './drawing.ts';
import { type Placement, type Point, toImage, toScreen } from './placement.ts';

/** CSS pixels. Movements below this count as no movement. */
const sameSpot = 5;
/** Distance between points of a freehand line. */
const handStep = 8;

interface PointerDrawingDependencies {
  readonly drawingNow: () => Drawing;
  readonly placementNow: () => Placement | null;
  readonly take: (step: DrawingStep) => void;
}

export function createPointerDrawing({ drawingNow, placementNow, take }: PointerDrawingDependencies) {
  /** Where the pointer was pressed, until its release. */
  let pressedAt: Point | null = null;
  let isDragging = false;
  /** The last point of a freehand line. */
  let lastAt: Point | null = null;

  /** While the slide is being closed, nothing is drawn. */
  const step = (type: 'point' | 'hover', at: Point) => {
    const placement = placementNow();
    if (placement !== null) take({ type, at: toImage(placement, at) });
  };
  const put = (at: Point) => {
    step('point', at);
    lastAt = at;
  };
  const isNear = (point: Point | undefined, at: Point) => {
    const placement = placementNow();
    return point !== undefined && placement !== null && distance(toScreen(placement, point), at) < sameSpot;
  };

  /** A click on the first or the last point completes an area, and so does a double click. */
  function closesArea(at: Point): boolean {
    const { tool, fixed } = drawingNow();
    if (tool !== 'area' || fixed.length < 3) return false;
    return isNear(fixed[0], at) || isNear(fixed.at(-1), at);
  }

  return {
    onPress(at: Point) {
      pressedAt = at;
      isDragging = false;
    },

    onMove(at: Point) {
      const { tool } = drawingNow();
      const isSinglePoint = tool === 'circle' || tool === 'mark';
      if (pressedAt !== null && !isDragging && !isSinglePoint && distance(pressedAt, at) >= sameSpot) {
        isDragging = true;
        if (drawingNow().fixed.length === 0) put(pressedAt);
      }
      step('hover', at);
      const isByHand = isDragging && tool === 'area';
      if (isByHand && (lastAt === null || distance(lastAt, at) >= handStep)) put(at);
    },

    onRelease(at: Point) {
      if (pressedAt === null) return;
      pressedAt = null;
      if (!isDragging) {
        if (closesArea(at)) take({ type: 'finish' });
        // The second click of a double click places no second point.
        else if (!isNear(drawingNow().fixed.at(-1), at)) put(at);
        return;
      }
      isDragging = false;
      if (drawingNow().tool === 'area') take({ type: 'finish' });
      else put(at);
    },

    onPinch() {
      pressedAt = null;
      if (isDragging) take({ type: 'cancel' });
      isDragging = false;
    },
  } satisfies PointerTool;
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
