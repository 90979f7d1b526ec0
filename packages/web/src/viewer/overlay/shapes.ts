/** What is drawn over a slide, and how large it is. */
import { formatFigure } from '../../numbers.ts';
import type { Calibration } from '../scale.ts';
import type { Point } from './placement.ts';

/** Points are image pixels at full resolution, from the top left. */
export type Shape =
  | { readonly kind: 'ruler'; readonly points: readonly [Point, Point] }
  /** Closed by itself; three points and more. */
  | { readonly kind: 'area'; readonly points: readonly Point[] }
  /** The circle of one square millimetre, in which cells are counted. */
  | { readonly kind: 'circle'; readonly centre: Point };

export type ShapeKind = Shape['kind'];

/** Square micrometres. */
const squareMillimetre = 1_000_000;

/** Micrometres; pixels where the slide is not calibrated. */
export function lengthOf(a: Point, b: Point, calibration: Calibration | null): number {
  const { x, y } = pixelOf(calibration);
  return Math.hypot((a.x - b.x) * x, (a.y - b.y) * y);
}

/** Square micrometres, or pixels. A polygon that crosses itself has no area to speak of. */
export function areaOf(points: readonly Point[], calibration: Calibration | null): number {
  const { x, y } = pixelOf(calibration);
  let twice = 0;
  for (const [i, point] of points.entries()) {
    const next = points[(i + 1) % points.length] ?? point;
    twice += point.x * next.y - next.x * point.y;
  }
  return (Math.abs(twice) / 2) * x * y;
}

export function perimeterOf(points: readonly Point[], calibration: Calibration | null): number {
  return points.reduce((sum, point, i) => {
    const next = points[(i + 1) % points.length] ?? point;
    return sum + lengthOf(point, next, calibration);
  }, 0);
}

/** Half axes of the counting circle in image pixels: where pixels are not square, it is an ellipse of them. */
export function countingCircle(calibration: Calibration): { readonly rx: number; readonly ry: number } {
  const radius = Math.sqrt(squareMillimetre / Math.PI);
  return { rx: radius / calibration.mpp, ry: radius / (calibration.mppY ?? calibration.mpp) };
}

function pixelOf(calibration: Calibration | null): Point {
  if (calibration === null) return { x: 1, y: 1 };
  return { x: calibration.mpp, y: calibration.mppY ?? calibration.mpp };
}

/** Such as `123.4 µm`, `1.23 mm`; `≈` where the size of a pixel is an estimate; `512 px` where nobody knows it. */
export function lengthText(length: number, calibration: Calibration | null): string {
  if (calibration === null) return `${Math.round(length)} px`;
  return estimated(
    calibration,
    length >= 1000 ? `${significant(length / 1000)} mm` : `${significant(length)} µm`,
  );
}

/** Such as `0.0123 mm²`, from a hundredth of a square millimetre; below it in µm². */
export function areaText(area: number, calibration: Calibration | null): string {
  if (calibration === null) return `${Math.round(area)} px²`;
  const isLarge = area >= squareMillimetre / 100;
  return estimated(
    calibration,
    isLarge ? `${significant(area / squareMillimetre)} mm²` : `${significant(area)} µm²`,
  );
}

function estimated({ derived }: Calibration, text: string): string {
  return derived === 'mpp' ? `≈ ${text}` : text;
}

/** Four digits that count, and whole numbers whole. */
function significant(value: number): string {
  return formatFigure(value >= 1000 ? Math.round(value) : Number(value.toPrecision(4)));
}

/** How large a shape is, in words; null where it cannot be said. */
export function measureOf(shape: Shape, calibration: Calibration | null): string | null {
  switch (shape.kind) {
    case 'ruler':
      return lengthText(lengthOf(...shape.points, calibration), calibration);
    case 'area':
      return areaText(areaOf(shape.points, calibration), calibration);
    case 'circle':
      return calibration === null ? null : areaText(squareMillimetre, calibration);
  }
}
