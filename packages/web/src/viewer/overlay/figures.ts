/** What is drawn over the slide as lines and words on the screen: for the page and for a screenshot of it. */
import type { Calibration } from '../scale.ts';
import type { Drawing } from './drawing.ts';
import { type Placement, type Point, toScreen } from './placement.ts';
import { countingCircle, measureOf, type Shape, type ShapeKind } from './shapes.ts';

export interface Figure {
  readonly kind: ShapeKind;
  /** CSS pixels of the viewer's place; the first point again at the end where the figure is closed. */
  readonly outline: readonly Point[];
  /** Such as `123.4 µm`; null where it cannot be said. */
  readonly measure: string | null;
  /** Where the middle of the measure's base line is. */
  readonly measureAt: Point;
}

/** Points of the counting circle's outline: enough that nobody sees corners. */
const circlePoints = 96;
/** From the highest point of an outline up to its measure, so that it stands on no line of its own. */
const measureAbove = 8;

export function figuresOf(
  drawing: Drawing,
  placement: Placement,
  calibration: Calibration | null,
): readonly Figure[] {
  const inHand = shapeInHand(drawing);
  const shapes = inHand === null ? drawing.shapes : [...drawing.shapes, inHand];
  return shapes.map((shape) => {
    const outline = outlineOf(shape, calibration).map((point) => toScreen(placement, point));
    return {
      kind: shape.kind,
      outline,
      measure: measureOf(shape, calibration),
      measureAt: above(outline),
    };
  });
}

/** What the shape in hand would be, if it ended where the pointer is. */
function shapeInHand({ tool, fixed, floating }: Drawing): Shape | null {
  const [start] = fixed;
  if (start === undefined || floating === null) return null;
  if (tool === 'ruler') return { kind: 'ruler', points: [start, floating] };
  return tool === 'area' ? { kind: 'area', points: [...fixed, floating] } : null;
}

/** In image pixels. */
function outlineOf(shape: Shape, calibration: Calibration | null): readonly Point[] {
  switch (shape.kind) {
    case 'ruler':
      return shape.points;
    case 'area':
      return [...shape.points, ...shape.points.slice(0, 1)];
    case 'circle': {
      if (calibration === null) return [];
      const { rx, ry } = countingCircle(calibration);
      return Array.from({ length: circlePoints + 1 }, (_, i) => {
        const angle = (i / circlePoints) * 2 * Math.PI;
        return { x: shape.centre.x + rx * Math.cos(angle), y: shape.centre.y + ry * Math.sin(angle) };
      });
    }
  }
}

function above(outline: readonly Point[]): Point {
  const [first = { x: 0, y: 0 }, ...others] = outline;
  const highest = others.reduce((best, point) => (point.y < best.y ? point : best), first);
  return { x: highest.x, y: highest.y - measureAbove };
}
