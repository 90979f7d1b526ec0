/** Changes of one area: filling its holes, separating its parts, and cutting it along a line. */
import { type AreaGeometry, type PolygonGeometry, type Position, polygonsOf } from '../model/geometry.ts';
import { assembleArea } from './assemble.ts';
import { subtractAreas, unionAreas } from './booleans.ts';
import { offsetLine } from './brush.ts';
import { fromGridRing, gridSteps } from './clipping.ts';
import { expandEllipse } from './ellipse.ts';

/** Returns the area without holes; a part inside a hole is merged with the part around the hole. */
export function fillHoles(area: AreaGeometry): AreaGeometry {
  if (area.type === 'Polygon') {
    return area.coordinates.length === 1 ? area : { ...area, coordinates: area.coordinates.slice(0, 1) };
  }
  const filled: AreaGeometry = { ...area, coordinates: area.coordinates.map(([outer = []]) => [outer]) };
  return unionAreas([filled]) ?? area;
}

/** Returns the parts of an area as separate polygons. */
export function separateParts(area: AreaGeometry): readonly PolygonGeometry[] {
  if (area.type === 'Polygon') return [area];
  return polygonsOf(area).map((coordinates) => ({
    type: 'Polygon',
    coordinates,
    ...(area.plane && { plane: area.plane }),
  }));
}

/** Half the width in pixels of the gap that a cut leaves: one step of the grid. */
const halfGap = 1 / gridSteps;

/**
 * Cuts an area along a line.
 *
 * @returns at least two pieces with a gap of 0.02 pixels between them, or only the unchanged area when the line does not divide it
 */
export function splitArea(area: AreaGeometry, line: readonly Position[]): readonly AreaGeometry[] {
  /** The thin area to cut out. `halfGap` is its radius and the tolerance of its round ends. */
  const gapArea = line.length < 2 ? null : assembleArea(offsetLine(line, halfGap, halfGap).map(fromGridRing));
  if (!gapArea) return [area];
  const cut = subtractAreas(area, [gapArea]);
  if (!cut) return [area];
  const pieces = separateParts(cut);
  const partCount = polygonsOf(expandEllipse(area)).length;
  return pieces.length > partCount ? pieces : [area];
}
