/**
 * Union, difference and intersection of areas, and the repair of areas whose rings cross. An area and a much smaller one are
 * combined only near the smaller one (`local-boolean.ts`). Results are rounded to 1/100 pixel.
 */
import { type AreaGeometry, countVertices, type Plane, polygonsOf, type Ring } from '../model/geometry.ts';
import { assembleArea } from './assemble.ts';
import { type BooleanOperation, clipRings, fromGridRing, type GridRing, toGridRing } from './clipping.ts';
import { expandEllipse } from './ellipse.ts';
import { clipLocally } from './local-boolean.ts';
import { boundsOfLines, orientRing } from './ring.ts';
import { isSelfIntersecting, ringCrossesItself } from './self-intersections.ts';

/** Areas with at least this number of positions are clipped only near the other area, if that is much smaller. */
const minimumPositionsForLocalClipping = 1000;
/** Maximum number of passes of a repair; almost every area needs only one. */
const maximumRepairPasses = 4;

/** Returns the area that at least one of the areas covers, on the plane of the first; null when all of them are empty. */
export function unionAreas(areas: readonly AreaGeometry[]): AreaGeometry | null {
  const [first, second, ...rest] = areas;
  if (!first) return null;
  if (!second) return repairArea(first);
  // Only two areas can be combined locally.
  if (rest.length === 0) return combine('union', first, second);
  return assembleGridRings(clipRings('union', areas.flatMap(gridRingsOf), []), first.plane);
}

/** Returns the part of the first area that no other area covers; null when nothing is left. */
export function subtractAreas(area: AreaGeometry, others: readonly AreaGeometry[]): AreaGeometry | null {
  const [other, ...rest] = others;
  if (!other) return repairArea(area);
  if (rest.length === 0) return combine('subtract', area, other);
  return assembleGridRings(clipRings('subtract', gridRingsOf(area), others.flatMap(gridRingsOf)), area.plane);
}

/** Returns the part that two areas have in common, on the plane of the first; null when there is none. */
export function intersectAreas(area: AreaGeometry, other: AreaGeometry): AreaGeometry | null {
  return combine('intersect', area, other);
}

/**
 * Returns the area that the outer rings enclose, without the holes, as rings that do not cross. Returns null when no
 * area remains. The repair ends after four passes, so in rare cases a crossing remains.
 */
export function repairArea(area: AreaGeometry): AreaGeometry | null {
  let repaired = resolveRings(area);
  // Rounding to the grid leaves spikes at thin parts, which the next pass removes.
  for (let pass = 1; pass < maximumRepairPasses && repaired && isSelfIntersecting(repaired); pass++) {
    repaired = resolveRings(repaired);
  }
  return repaired;
}

/** Runs one pass of a repair. */
function resolveRings(area: AreaGeometry): AreaGeometry | null {
  return assembleGridRings(clipRings('union', gridRingsOf(area), []), area.plane);
}

/** Combines two areas: near the second only, if the first has many positions and the second is much smaller; otherwise as a whole. */
function combine(operation: BooleanOperation, area: AreaGeometry, other: AreaGeometry): AreaGeometry | null {
  // The operands of a union can be exchanged, so that the second is the one with fewer positions.
  const isSwapped = operation === 'union' && countVertices(other) > countVertices(area);
  const first = expandEllipse(isSwapped ? other : area);
  const second = expandEllipse(isSwapped ? area : other);
  const clip = gridRingsOf(second);
  if (
    clip.length > 0 &&
    countVertices(first) >= minimumPositionsForLocalClipping &&
    isMuchSmaller(second, first)
  ) {
    const rings = clipLocally(operation, first, clip);
    if (rings) return assembleArea(rings, area.plane);
  }
  return assembleGridRings(clipRings(operation, gridRingsOf(first), clip), area.plane);
}

/** Returns whether the bounding box of `small` has less than half the area of the bounding box of `large`. */
function isMuchSmaller(small: AreaGeometry, large: AreaGeometry): boolean {
  const boxAreaOf = (area: AreaGeometry) => {
    const { minX, minY, maxX, maxY } = boundsOfLines(polygonsOf(area).flat());
    return (maxX - minX) * (maxY - minY);
  };
  return boxAreaOf(small) * 2 < boxAreaOf(large);
}

/**
 * Returns rings that fill the area by the nonzero rule, also when the rings of other areas are added to them. Outer rings that
 * cross themselves or have holes are clipped first: otherwise a loop in the opposite direction would subtract from another area
 * that it overlaps.
 */
function gridRingsOf(area: AreaGeometry): readonly GridRing[] {
  return polygonsOf(expandEllipse(area)).flatMap(([outer = [], ...holes]) => {
    const outerRings = [toGridRing(orientRing(outer, 1))]; // 1: with a positive signed area
    if (holes.length > 0) return clipRings('subtract', outerRings, holes.map(toGridRing));
    return ringCrossesItself(outer) ? clipRings('union', outerRings, []) : outerRings;
  });
}

function assembleGridRings(rings: readonly GridRing[], plane: Plane | undefined): AreaGeometry | null {
  return assembleArea(
    rings.map((ring): Ring => fromGridRing(ring)),
    plane,
  );
}
