/** Canvas paths for the outlines of annotations, in image pixels, simplified for the zoom at which they are drawn. */
import { type Geometry, type Position, pathsOf } from '@lamina/annotations';

/** The parts of `Path2D` that outlines need. */
export interface PathSink {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  closePath(): void;
}

/** The coarsest level of simplification, for a zoom of 1/65,536 or less; see `simplificationLevelOf`. */
export const maxSimplificationLevel = 16;

/**
 * Returns the level of simplification for a zoom: 0 above 1/2, and one more for each halving of the zoom from 1/2 on.
 *
 * @param zoom CSS pixels per image pixel
 */
export function simplificationLevelOf(zoom: number): number {
  return Math.min(maxSimplificationLevel, Math.max(0, Math.floor(-Math.log2(zoom))));
}

/** Returns the tolerance of a level in image pixels, which is at most half a CSS pixel; 0 for level 0, which omits no position. */
function toleranceOf(level: number): number {
  return level === 0 ? 0 : 2 ** level / 2;
}

/** A dot is a line of this length (in image pixels) with round caps: browsers do not draw lines of length 0. */
const dotLength = 0.05;

/** Adds the outline of a geometry to a path. @param level see `simplificationLevelOf`. @returns the number of positions drawn */
export function addOutline(path: PathSink, geometry: Geometry, level: number): number {
  if (geometry.type === 'Point' || geometry.type === 'MultiPoint') {
    const positions = geometry.type === 'Point' ? [geometry.coordinates] : geometry.coordinates;
    for (const [x, y] of positions) {
      path.moveTo(x, y);
      path.lineTo(x + dotLength, y);
    }
    return positions.length;
  }
  const isClosed = geometry.type === 'Polygon' || geometry.type === 'MultiPolygon';
  const tolerance = toleranceOf(level);
  let drawnCount = 0;
  for (const line of pathsOf(geometry)) drawnCount += addLine(path, line, isClosed, tolerance);
  return drawnCount;
}

/**
 * Adds a line or ring to a path. Omits positions nearer than the tolerance to the last drawn position (except the end of a
 * line): this makes no visible difference.
 *
 * @returns the number of positions drawn
 */
function addLine(path: PathSink, line: readonly Position[], isClosed: boolean, tolerance: number): number {
  const [first] = line;
  if (first === undefined) return 0;
  let [lastX, lastY] = first;
  path.moveTo(lastX, lastY);
  let drawnCount = 1;
  // The last position of a ring repeats the first: closePath draws it.
  const count = isClosed ? line.length - 1 : line.length;
  for (let index = 1; index < count; index++) {
    const [x, y] = line[index] as Position;
    const isNear = Math.abs(x - lastX) < tolerance && Math.abs(y - lastY) < tolerance;
    const isEndOfLine = !isClosed && index === count - 1;
    if (isNear && !isEndOfLine) continue;
    path.lineTo(x, y);
    drawnCount++;
    lastX = x;
    lastY = y;
  }
  // A shape smaller than the tolerance stays visible as a dot.
  if (drawnCount === 1) path.lineTo(lastX + dotLength, lastY);
  if (isClosed) path.closePath();
  return drawnCount;
}
