/**
 * Voronoi cells of a jittered grid: the outlines of fat cells and liver cells. A cell follows from its column and row
 * alone, so every tile draws it the same way.
 */
import { randomAt } from './random.ts';

export interface Side {
  /** Unit vector from the cell's point towards the neighbour's. */
  readonly nx: number;
  readonly ny: number;
  /** Pixels from the cell's point to the side. */
  readonly distance: number;
  readonly neighbourColumn: number;
  readonly neighbourRow: number;
  /** Ends of the side: pixels along (-ny, nx) from the foot of the perpendicular of the cell's point. */
  readonly from: number;
  readonly to: number;
}

export interface VoronoiCell {
  readonly column: number;
  readonly row: number;
  readonly x: number;
  readonly y: number;
  /** Sides of the cell's polygon, counter-clockwise by the direction of their normals. */
  readonly sides: readonly Side[];
  /** Pixels from the point to the farthest corner. */
  readonly reach: number;
}

interface Grid {
  readonly seed: number;
  readonly spacing: number;
  /** 0 a regular grid, 1 anywhere in its square. */
  readonly jitter: number;
}

export function pointOf(grid: Grid, column: number, row: number): { x: number; y: number } {
  const { seed, spacing, jitter } = grid;
  // Every second row is shifted by half a square, as in a hexagonal packing.
  const aside = (row & 1) * 0.5 - 0.25;
  return {
    x: (column + 0.5 + aside + (randomAt(seed, column, row) - 0.5) * jitter) * spacing,
    y: (row + 0.5 + (randomAt(seed + 1, column, row) - 0.5) * jitter) * spacing,
  };
}

/** Returns the grid point whose cell contains a position. */
export function nearestPoint(grid: Grid, x: number, y: number): { x: number; y: number } {
  const column = Math.floor(x / grid.spacing);
  const row = Math.floor(y / grid.spacing);
  let nearest = pointOf(grid, column, row);
  for (let r = row - 2; r <= row + 2; r++) {
    for (let c = column - 2; c <= column + 2; c++) {
      const point = pointOf(grid, c, r);
      if (Math.hypot(point.x - x, point.y - y) < Math.hypot(nearest.x - x, nearest.y - y)) nearest = point;
    }
  }
  return nearest;
}

export function voronoiCell(grid: Grid, column: number, row: number): VoronoiCell {
  const { x, y } = pointOf(grid, column, row);
  const wide = grid.spacing * 3;
  let corners = [
    { x: -wide, y: -wide },
    { x: wide, y: -wide },
    { x: wide, y: wide },
    { x: -wide, y: wide },
  ];
  const candidates: Omit<Side, 'from' | 'to'>[] = [];
  for (let r = row - 2; r <= row + 2; r++) {
    for (let c = column - 2; c <= column + 2; c++) {
      if (r === row && c === column) continue;
      const other = pointOf(grid, c, r);
      const dx = other.x - x;
      const dy = other.y - y;
      const length = Math.hypot(dx, dy);
      candidates.push({
        nx: dx / length,
        ny: dy / length,
        distance: length / 2,
        neighbourColumn: c,
        neighbourRow: r,
      });
    }
  }
  for (const side of candidates) {
    const cut: typeof corners = [];
    corners.forEach((corner, i) => {
      const next = corners[(i + 1) % corners.length] ?? corner;
      const here = side.distance - corner.x * side.nx - corner.y * side.ny;
      const there = side.distance - next.x * side.nx - next.y * side.ny;
      if (here >= 0) cut.push(corner);
      if (here >= 0 !== there >= 0) {
        const t = here / (here - there);
        cut.push({ x: corner.x + (next.x - corner.x) * t, y: corner.y + (next.y - corner.y) * t });
      }
    });
    corners = cut;
  }
  const sides = candidates.flatMap((side): Side[] => {
    const along = corners
      .filter((corner) => Math.abs(side.distance - corner.x * side.nx - corner.y * side.ny) < 1e-6)
      .map((corner) => corner.y * side.nx - corner.x * side.ny);
    return along.length < 2 ? [] : [{ ...side, from: Math.min(...along), to: Math.max(...along) }];
  });
  sides.sort((a, b) => Math.atan2(a.ny, a.nx) - Math.atan2(b.ny, b.nx));
  return {
    column,
    row,
    x,
    y,
    sides,
    reach: Math.max(...corners.map((corner) => Math.hypot(corner.x, corner.y))),
  };
}

export interface CellDepth {
  /** Pixels to the nearest side, negative outside the cell. */
  straight: number;
  /** The same for a polygon with rounded corners. */
  rounded: number;
}

/**
 * Computes the depth of a position in a cell.
 *
 * @param x from the cell's point, pixels
 * @param rounding pixels over which a corner is rounded
 */
export function depthIn(cell: VoronoiCell, x: number, y: number, rounding: number, out: CellDepth): void {
  let straight = Number.POSITIVE_INFINITY;
  let rounded = Number.POSITIVE_INFINITY;
  for (const side of cell.sides) {
    const depth = side.distance - x * side.nx - y * side.ny;
    if (depth < straight) straight = depth;
    const apart = rounded < depth ? depth - rounded : rounded - depth;
    if (depth < rounded) rounded = depth;
    if (apart < rounding) rounded -= ((rounding - apart) * (rounding - apart)) / (4 * rounding);
  }
  out.straight = straight;
  out.rounded = rounded;
}
