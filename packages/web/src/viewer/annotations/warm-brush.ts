/**
 * Runs the work of a brush stroke before the first one: the browser compiles code that runs often, and the first stroke
 * on an outline of 50,000 vertices took ten times as long as later ones.
 */
import { type AreaGeometry, createStroke, type Position, unionAreas } from '@lamina/annotations';

const strokes = 20;
const vertices = 4000;
/** Pixels, as the positions below. */
const radius = 1600;
const brushRadius = 100;

let isWarm = false;

/** Strokes along the edge of an outline that is not shown, one in each idle moment; once. */
export function warmBrush(): void {
  // Safari has no idle moments; there the first stroke stays as it is.
  if (isWarm || window.requestIdleCallback === undefined) return;
  isWarm = true;
  let area: AreaGeometry = {
    type: 'Polygon',
    coordinates: [Array.from({ length: vertices + 1 }, (_, index) => onCircle(index / vertices, radius))],
  };
  let done = 0;
  const next = () => {
    const part = done++ / strokes;
    const path = Array.from({ length: 11 }, (_, step) => onCircle(part, radius - 80 + 24 * step));
    const stroke = createStroke(path, brushRadius);
    area = (stroke && unionAreas([area, stroke])) ?? area;
    if (done < strokes) requestIdleCallback(next);
  };
  requestIdleCallback(next);
}

/** @param part of the turn; any number */
function onCircle(part: number, distance: number): Position {
  // The ring ends exactly where it begins.
  const angle = 2 * Math.PI * (part % 1);
  return [distance * Math.cos(angle), distance * Math.sin(angle)];
}
