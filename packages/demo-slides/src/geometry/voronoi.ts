/**
 * Voronoi cells of a jittered grid: the outlines of fat cells and liver cells. The seed, column and row determine a cell, so every
 * tile draws it the same way. A cell's polygon contains the positions that are nearer to its grid point than to any other.
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
  /** Ends of the side: pixels in the direction (-ny, nx) from the point of its line that is nearest to the cell's point. */
  readonly start: number;
  readonly end: number;
}

export interface VoronoiCell {
  readonly column: number;
  readonly row: number;
  /** The grid point of the cell, pixels. */
  readonly x: number;
  readonly y: number;
  /** Sides of the cell's polygon in ascending order of the angle of their normals: clockwise on a screen. */
  readonly sides: readonly Side[];
  /** Pixels from the point to the farthest corner. */
  readonly reach: number;
}

interface Grid {
  readonly seed: number;
  /** Side of the squares with one point each, pixels. */
  readonly spacing: number;
  /** How far points may be from the centre of their square: 0 not at all (a regular grid), 1 anywhere in the square. */
  readonly jitter: number;
}

/** Returns the position of a grid point. */
export function pointOf(grid: Grid, column: number, row: number): { x: number; y: number } {
  const { seed, spacing, jitter } = grid;
  // Every second row is shifted by half a square, as in a hexagonal packing.
  const rowShift = (row & 1) * 0.5 - 0.25;
  return {
    x: (column + 0.5 + rowShift + (randomAt(seed, column, row) - 0.5) * jitter) * spacing,
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

/** Computes a cell: cuts a large square at the perpendicular bisector between the cell's point and each of 24 neighbours. */
export function voronoiCell(grid: Grid, column: number, row: number): VoronoiCell {
  const { x, y } = pointOf(grid, column, row);
  const halfSide = grid.spacing * 3;
  let corners = [
    { x: -halfSide, y: -halfSide },
    { x: halfSide, y: -halfSide },
    { x: halfSide, y: halfSide },
    { x: -halfSide, y: halfSide },
  ];
  const candidates: Omit<Side, 'start' | 'end'>[] = [];
  for (let r = row - 2; r <= row + 2; r++) {
    for (let c = column - 2; c <= column + 2; c++) {
      if (r === row && c === column) continue;
      const neighbour = pointOf(grid, c, r);
      const dx = neighbour.x - x;
      const dy = neighbour.y - y;
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
  // Cuts the polygon at each bisector: keeps corners on the cell's side (depth ≥ 0), adds one where an edge crosses it.
  for (const side of candidates) {
    const remaining: typeof corners = [];
    corners.forEach((corner, i) => {
      const next = corners[(i + 1) % corners.length] ?? corner;
      const depth = side.distance - corner.x * side.nx - corner.y * side.ny;
      const nextDepth = side.distance - next.x * side.nx - next.y * side.ny;
      if (depth >= 0) remaining.push(corner);
      const isCut = depth >= 0 !== nextDepth >= 0;
      if (isCut) {
        const share = depth / (depth - nextDepth);
        remaining.push({
          x: corner.x + (next.x - corner.x) * share,
          y: corner.y + (next.y - corner.y) * share,
        });
      }
    });
    corners = remaining;
  }
  const sides = candidates.flatMap((side): Side[] => {
    // Positions, along this side, of the corners on it. A side with fewer than two corners is no part of the polygon.
    const cornerPositions = corners
      .filter((corner) => Math.abs(side.distance - corner.x * side.nx - corner.y * side.ny) < 1e-6)
      .map((corner) => corner.y * side.nx - corner.x * side.ny);
    return cornerPositions.length < 2
      ? []
      : [{ ...side, start: Math.min(...cornerPositions), end: Math.max(...cornerPositions) }];
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
  /** Like `straight`, but measured in the polygon with rounded corners. */
  rounded: number;
}

/**
 * Computes the depth of a position in a cell; writes it into `out`.
 *
 * @param x the x of the position minus that of the cell's point, pixels; likewise y
 * @param rounding pixels over which a corner is rounded
 */
export function depthIn(cell: VoronoiCell, x: number, y: number, rounding: number, out: CellDepth): void {
  let straight = Number.POSITIVE_INFINITY;
  let rounded = Number.POSITIVE_INFINITY;
  for (const side of cell.sides) {
    const depth = side.distance - x * side.nx - y * side.ny;
    if (depth < straight) straight = depth;
    // The polynomial smooth minimum of the depths rounds the corners.
    const difference = rounded < depth ? depth - rounded : rounded - depth;
    if (depth < rounded) rounded = depth;
    if (difference < rounding)
      rounded -= ((rounding - difference) * (rounding - difference)) / (4 * rounding);
  }
  out.straight = straight;
  out.rounded = rounded;
}
