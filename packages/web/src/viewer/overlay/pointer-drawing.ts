/** How a mouse, a finger or a pen draws: clicks put single points, dragging draws at once. */
import type { PointerTool } from '../slide-view.ts';
import type { Drawing, DrawingStep } from './drawing.ts';
import { type Placement, type Point, toImage, toScreen } from './placement.ts';

/** CSS pixels. Nearer than this, two places are one: hands tremble. */
const sameSpot = 5;
/** Between the points of a line drawn by hand. */
const handStep = 8;

interface Ground {
  readonly drawingNow: () => Drawing;
  readonly placementNow: () => Placement | null;
  readonly take: (step: DrawingStep) => void;
}

export function createPointerDrawing({ drawingNow, placementNow, take }: Ground): PointerTool {
  /** Where it was pressed, until it is released. */
  let pressedAt: Point | null = null;
  let isDragging = false;
  /** The last point of a line drawn by hand. */
  let lastAt: Point | null = null;

  /** Nothing is drawn on a slide that is being put away. */
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

  /** Another click on the first or the last point of an area closes it; a double click is one. */
  function closesArea(at: Point): boolean {
    const { tool, fixed } = drawingNow();
    if (tool !== 'area' || fixed.length < 3) return false;
    return isNear(fixed[0], at) || isNear(fixed.at(-1), at);
  }

  return {
    onPress(at) {
      pressedAt = at;
      isDragging = false;
    },

    onMove(at) {
      const { tool } = drawingNow();
      if (pressedAt !== null && !isDragging && tool !== 'circle' && distance(pressedAt, at) >= sameSpot) {
        isDragging = true;
        if (drawingNow().fixed.length === 0) put(pressedAt);
      }
      step('hover', at);
      const isByHand = isDragging && tool === 'area';
      if (isByHand && (lastAt === null || distance(lastAt, at) >= handStep)) put(at);
    },

    onRelease(at) {
      if (pressedAt === null) return;
      pressedAt = null;
      if (!isDragging) {
        if (closesArea(at)) take({ type: 'finish' });
        // The second of two clicks at one place puts no second point there.
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
  };
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
