/**
 * Makes the browser compile the code of brush strokes before the user draws the first stroke. Otherwise, the first
 * stroke on an outline of 50,000 vertices would take ten times as long as later strokes.
 */
import { type AreaGeometry, createStroke, type Position, unionAreas } from '@lamina/annotations';

/** Number of strokes after which browsers have compiled the code. */
const strokeCount = 20;
/** Number of vertices of the round outline on which the strokes are drawn. */
const vertexCount = 4000;
/** Radius of the round outline in image pixels. */
const outlineRadius = 1600;
/** Radius of the brush in image pixels. */
const brushRadius = 100;
// Each stroke crosses the outline from inside to outside. Its positions lie on a line from the centre; distances are in image pixels.
const positionsPerStroke = 11;
const strokeStepLength = 24;
/** Distance of the first position from the centre. */
const strokeStart = outlineRadius - 80;

let hasStarted = false;

/** Applies strokes to an outline that is not shown, one in each idle moment of the browser. Does nothing after the first call. */
export function precompileBrush(): void {
  // Safari has no `requestIdleCallback`: the first stroke stays slow there.
  if (hasStarted || window.requestIdleCallback === undefined) return;
  hasStarted = true;
  let area: AreaGeometry = {
    type: 'Polygon',
    coordinates: [
      Array.from({ length: vertexCount + 1 }, (_, index) => onCircle(index / vertexCount, outlineRadius)),
    ],
  };
  let doneStrokes = 0;
  const applyNextStroke = () => {
    const turn = doneStrokes++ / strokeCount;
    const path = Array.from({ length: positionsPerStroke }, (_, step) =>
      onCircle(turn, strokeStart + strokeStepLength * step),
    );
    const stroke = createStroke(path, brushRadius);
    area = (stroke && unionAreas([area, stroke])) ?? area;
    if (doneStrokes < strokeCount) requestIdleCallback(applyNextStroke);
  };
  requestIdleCallback(applyNextStroke);
}

/** Returns a position at a distance from the origin. @param turn the direction as a fraction of a full turn */
function onCircle(turn: number, distance: number): Position {
  // The remainder makes the ring end exactly where it begins: for a full turn, 2π would give another rounding error than 0.
  const angle = 2 * Math.PI * (turn % 1);
  return [distance * Math.cos(angle), distance * Math.sin(angle)];
}
