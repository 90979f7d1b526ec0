/** Converts the shapes of the measuring tools into figures (lines and labels on the screen), for the page and for screenshots. */
import type { Calibration } from '../scale.ts';
import type { Drawing } from './drawing.ts';
import { type Placement, type Point, toScreen } from './placement.ts';
import { countingCircleRadii, countMarksInside, measureOf, type Shape, type ShapeKind } from './shapes.ts';

/** A shape as it is drawn on the screen. */
export interface Figure {
  readonly kind: ShapeKind;
  /** Points in CSS pixels of the viewer; a closed figure repeats its first point at the end. */
  readonly outline: readonly Point[];
  /** Label, such as `123.4 µm`; null if there is none. */
  readonly label: string | null;
  /** Middle of the baseline of the label, in CSS pixels of the viewer. */
  readonly labelPosition: Point;
}

/** Number of points of the polygon that is drawn as a counting circle: enough to look round. */
const circlePoints = 96;
/** Distance between a label and the part of the outline below it, in CSS pixels. */
const labelDistance = 8;
/** Distance between the centre of a mark and its corners, in CSS pixels. */
const markRadius = 5;

/** Returns the figures of all shapes, including the unfinished shape. @param placement converts image to CSS pixels */
export function figuresOf(
  drawing: Drawing,
  placement: Placement,
  calibration: Calibration | null, // null for a slide without a scale
): readonly Figure[] {
  const unfinished = unfinishedShape(drawing);
  const shapes = unfinished === null ? drawing.shapes : [...drawing.shapes, unfinished];
  return shapes.map((shape) => {
    const outline =
      shape.kind === 'mark'
        ? diamondAround(toScreen(placement, shape.centre))
        : outlineOf(shape, calibration).map((point) => toScreen(placement, point));
    return {
      kind: shape.kind,
      outline,
      label: labelOf(shape, shapes, calibration),
      labelPosition:
        shape.kind === 'ruler' ? labelPositionAboveMiddle(outline) : labelPositionAboveTop(outline),
    };
  });
}

/**
 * Returns the label of a shape, such as `123.4 µm`, or `1 mm²: 12` for a counting circle with 12 marks (counted cells) inside.
 */
function labelOf(shape: Shape, shapes: readonly Shape[], calibration: Calibration | null): string | null {
  const measure = measureOf(shape, calibration);
  const isCounting = shape.kind === 'circle' && shapes.some(({ kind }) => kind === 'mark');
  if (measure === null || !isCounting || calibration === null) return measure;
  return `${measure}: ${countMarksInside(shape.centre, shapes, calibration)}`;
}

/** Returns a closed diamond around a point of the screen. */
function diamondAround({ x, y }: Point): readonly Point[] {
  return [
    { x, y: y - markRadius },
    { x: x + markRadius, y },
    { x, y: y + markRadius },
    { x: x - markRadius, y },
    { x, y: y - markRadius },
  ];
}

/** Returns the unfinished shape with the position of the pointer as its last point; null when there is none. */
function unfinishedShape({ tool, placedPoints, pointerPoint }: Drawing): Shape | null {
  if (tool === 'circle' && pointerPoint !== null) return { kind: 'circle', centre: pointerPoint };
  const [start] = placedPoints;
  if (start === undefined || pointerPoint === null) return null;
  if (tool === 'ruler') return { kind: 'ruler', points: [start, pointerPoint] };
  return tool === 'area' ? { kind: 'area', points: [...placedPoints, pointerPoint] } : null;
}

/** Returns the outline of a shape in image pixels. */
function outlineOf(shape: Shape, calibration: Calibration | null): readonly Point[] {
  switch (shape.kind) {
    case 'ruler':
      return shape.points;
    case 'area':
      return [...shape.points, ...shape.points.slice(0, 1)];
    case 'mark':
      return [shape.centre];
    case 'circle': {
      if (calibration === null) return [];
      const { rx, ry } = countingCircleRadii(calibration);
      return Array.from({ length: circlePoints + 1 }, (_, i) => {
        const angle = (i / circlePoints) * 2 * Math.PI;
        return { x: shape.centre.x + rx * Math.cos(angle), y: shape.centre.y + ry * Math.sin(angle) };
      });
    }
  }
}

/** Returns the position of the label of a ruler. */
function labelPositionAboveMiddle([start, end]: readonly Point[]): Point {
  if (start === undefined || end === undefined) return { x: 0, y: 0 };
  return { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 - labelDistance };
}

/** Returns the position of a label above the highest point of an outline. */
function labelPositionAboveTop(outline: readonly Point[]): Point {
  const [first = { x: 0, y: 0 }, ...others] = outline;
  const highest = others.reduce(
    (highestSoFar, point) => (point.y < highestSoFar.y ? point : highestSoFar),
    first,
  );
  return { x: highest.x, y: highest.y - labelDistance };
}
