/** The shapes of the measuring tools, and their lengths, areas and counts. */
import { formatMeasuredValue } from '../../formatting/numbers.ts';
import { type Calibration, withScaleMarks } from '../scale.ts';
import type { Point } from './placement.ts';

/** A measured shape. Points are in image pixels at full resolution, from the top left. */
export type Shape =
  | { readonly kind: 'ruler'; readonly points: readonly [Point, Point] }
  /** A closed polygon of at least three points. */
  | { readonly kind: 'area'; readonly points: readonly Point[] }
  /** A circle of one square millimetre, in which cells are counted. */
  | { readonly kind: 'circle'; readonly centre: Point }
  /** A counted cell. */
  | { readonly kind: 'mark'; readonly centre: Point };

export type ShapeKind = Shape['kind'];

/** One square millimetre in square micrometres. */
const squareMillimetre = 1_000_000;

/** Returns the distance between two points in micrometres, or in pixels for a slide without a scale. */
export function lengthOf(a: Point, b: Point, calibration: Calibration | null): number {
  const pixel = pixelSizeOf(calibration);
  return Math.hypot((a.x - b.x) * pixel.width, (a.y - b.y) * pixel.height);
}

/**
 * Returns the area of a polygon in square micrometres, or in square pixels for a slide without a scale, by the shoelace formula.
 * The result is meaningless for a polygon that crosses itself.
 */
export function areaOf(points: readonly Point[], calibration: Calibration | null): number {
  const pixel = pixelSizeOf(calibration);
  let doubledArea = 0;
  for (const [i, point] of points.entries()) {
    const next = points[(i + 1) % points.length] ?? point;
    doubledArea += point.x * next.y - next.x * point.y;
  }
  return (Math.abs(doubledArea) / 2) * pixel.width * pixel.height;
}

/** Returns the perimeter of a polygon in micrometres, or in pixels for a slide without a scale. */
export function perimeterOf(points: readonly Point[], calibration: Calibration | null): number {
  return points.reduce((sum, point, i) => {
    const next = points[(i + 1) % points.length] ?? point;
    return sum + lengthOf(point, next, calibration);
  }, 0);
}

/** Returns the horizontal and vertical radius of the counting circle in image pixels; they differ when pixels are not square. */
export function countingCircleRadii(calibration: Calibration): { readonly rx: number; readonly ry: number } {
  const radius = Math.sqrt(squareMillimetre / Math.PI); // in µm; `mpp` and `mppY` are µm per pixel along x and y
  return { rx: radius / calibration.mpp, ry: radius / (calibration.mppY ?? calibration.mpp) };
}

/** Returns how many marks (counted cells) lie inside the counting circle around `centre`. */
export function countMarksInside(centre: Point, shapes: readonly Shape[], calibration: Calibration): number {
  const { rx, ry } = countingCircleRadii(calibration);
  return shapes.filter(
    (shape) =>
      shape.kind === 'mark' &&
      Math.hypot((shape.centre.x - centre.x) / rx, (shape.centre.y - centre.y) / ry) <= 1,
  ).length;
}

/** Returns the number of marks (counted cells). */
export function markCountOf(shapes: readonly Shape[]): number {
  return shapes.filter(({ kind }) => kind === 'mark').length;
}

/**
 * Handles are points that the user can drag. An area with more points than this has no handles: it was usually drawn freehand, and
 * moving single points would not help.
 */
const maxHandles = 24;

/** Returns the points of a shape that the user can drag, in image pixels. */
export function handlesOf(shape: Shape): readonly Point[] {
  switch (shape.kind) {
    case 'ruler':
      return shape.points;
    case 'area':
      return shape.points.length <= maxHandles ? shape.points : [];
    case 'circle':
    case 'mark':
      return [shape.centre];
  }
}

/** Returns the shape with one of its handles moved to another point. @param handle index in `handlesOf` */
export function withHandleAt(shape: Shape, handle: number, point: Point): Shape {
  switch (shape.kind) {
    case 'ruler': {
      const [start, end] = shape.points;
      return { ...shape, points: handle === 0 ? [point, end] : [start, point] };
    }
    case 'area':
      return { ...shape, points: shape.points.with(handle, point) };
    case 'circle':
    case 'mark':
      return { ...shape, centre: point };
  }
}

/** Returns the size of an image pixel in micrometres; 1 and 1 for a slide without a scale. */
function pixelSizeOf(calibration: Calibration | null): { readonly width: number; readonly height: number } {
  if (calibration === null) return { width: 1, height: 1 };
  return { width: calibration.mpp, height: calibration.mppY ?? calibration.mpp };
}

/**
 * Formats a length from `lengthOf`, such as `123.4 µm` or `1.23 mm`; `512 px` without a scale. `≈` marks an estimated pixel size
 * and `*` a scale that an administrator has entered.
 */
export function lengthText(length: number, calibration: Calibration | null): string {
  if (calibration === null) return `${Math.round(length)} px`;
  return withScaleMarks(
    calibration,
    length >= 1000 ? `${formatSignificant(length / 1000)} mm` : `${formatSignificant(length)} µm`,
  );
}

/** Formats an area from `areaOf`, such as `0.0123 mm²`; in µm² below 0.01 mm², in px² without a scale. */
export function areaText(area: number, calibration: Calibration | null): string {
  if (calibration === null) return `${Math.round(area)} px²`;
  const isLarge = area >= squareMillimetre / 100;
  return withScaleMarks(
    calibration,
    isLarge ? `${formatSignificant(area / squareMillimetre)} mm²` : `${formatSignificant(area)} µm²`,
  );
}

/** Formats a number with four significant digits; a number of 1000 or more as a whole number. */
function formatSignificant(value: number): string {
  return formatMeasuredValue(value >= 1000 ? Math.round(value) : Number(value.toPrecision(4)));
}

/** Returns the length or area of a shape as text; null for a mark, and for a circle on a slide without a scale. */
export function measureOf(shape: Shape, calibration: Calibration | null): string | null {
  switch (shape.kind) {
    case 'ruler':
      return lengthText(lengthOf(...shape.points, calibration), calibration);
    case 'area':
      return areaText(areaOf(shape.points, calibration), calibration);
    case 'circle':
      return calibration === null ? null : areaText(squareMillimetre, calibration);
    case 'mark':
      return null;
  }
}
