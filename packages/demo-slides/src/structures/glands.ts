/**
 * Glands: tubes lined by epithelium, such as the crypts of the colon and the bile ducts of the liver.
 *
 * A gland is a straight or slightly bent axis with a lumen (the inner space) around it. A position has a depth below the inner
 * surface (negative in the lumen) and a distance along the wall. Both ends of a gland are round, unless its start opens at a
 * surface. The axis of a gland in cross-section is short or has length 0. There are two walls, one on each side of the axis.
 */
import { randomAt } from '../geometry/random.ts';

export interface Gland {
  readonly seed: number;
  /** Start of the axis, pixels. */
  readonly x: number;
  readonly y: number;
  /** Direction of the axis, a unit vector. */
  readonly dx: number;
  readonly dy: number;
  /** Length of the axis, pixels. */
  readonly length: number;
  /** Pixels from the axis to the inner surface. */
  readonly lumenRadius: number;
  /** Height of the epithelium, pixels. */
  readonly height: number;
  /** Sideways deviation of the axis at its middle, pixels; 0 for an axis of length 0. */
  readonly bend: number;
  /** Whether the start opens at a surface. */
  readonly opensAtSurface: boolean;
  /** Width of a pair of absorptive cells, or of a goblet cell, along the wall, pixels. */
  readonly cellWidth: number;
  /** Share of goblet cells (cells that secrete mucus), 0…1; the others are absorptive cells. */
  readonly gobletShare: number;
}

/** Returns the random seed of the cells of one of the two walls of a gland. @param side 1 or -1 */
export function wallSeed(gland: Gland, side: number): number {
  return gland.seed * 2 + (side < 0 ? 1 : 0);
}

export interface GlandPosition {
  /** Pixels below the inner surface; negative in the lumen. */
  depth: number;
  /** Pixels along the wall; 0 beside the start of the axis, negative around a round start. */
  along: number;
  /** 1 or -1: the two walls on both sides of the axis. */
  side: number;
}

/** Returns the sideways deviation of the axis, `alongAxis` pixels from its start. */
function bendAt(gland: Gland, alongAxis: number): number {
  if (gland.bend === 0) return 0;
  const share = alongAxis / gland.length;
  // A parabola that is 0 at both ends and 1 in the middle, and a smaller term that makes the bend asymmetric.
  return gland.bend * (4 * share * (1 - share) + 1.6 * share * (1 - share) * (1 - 2 * share));
}

/** Returns the radius at which distances along a round end are measured: slightly outside the middle of the epithelium. */
function wallRadius(gland: Gland): number {
  return gland.lumenRadius + gland.height * 0.6;
}

/** Converts a position on the slide to one in a gland; writes it into `out` and returns `out`. */
export function locateInGland(gland: Gland, x: number, y: number, out: GlandPosition): GlandPosition {
  const fromX = x - gland.x;
  const fromY = y - gland.y;
  const alongAxis = fromX * gland.dx + fromY * gland.dy;
  const positionOnAxis = Math.min(gland.length, Math.max(0, alongAxis));
  const acrossAxis = fromY * gland.dx - fromX * gland.dy - bendAt(gland, positionOnAxis);
  const distance = Math.abs(acrossAxis);
  out.side = acrossAxis < 0 ? -1 : 1;
  if (alongAxis > gland.length) {
    const beyond = alongAxis - gland.length;
    out.depth = Math.sqrt(beyond * beyond + distance * distance) - gland.lumenRadius;
    out.along = gland.length + wallRadius(gland) * Math.atan2(beyond, distance);
  } else if (alongAxis < 0 && !gland.opensAtSurface) {
    out.depth = Math.sqrt(alongAxis * alongAxis + distance * distance) - gland.lumenRadius;
    out.along = -wallRadius(gland) * Math.atan2(-alongAxis, distance);
  } else {
    out.depth = distance - gland.lumenRadius;
    out.along = alongAxis;
  }
  return out;
}

/** Converts a position in a wall to one on the slide; `outwards` is the direction away from the axis, radians. */
export function wallPoint(gland: Gland, along: number, side: number, depth: number) {
  const distance = gland.lumenRadius + depth;
  const positionOnAxis = Math.min(gland.length, Math.max(0, along));
  /** Angle around the round end; 0 beside the axis. */
  const turn = (along - positionOnAxis) / wallRadius(gland);
  const alongAxis = positionOnAxis + Math.sin(turn) * distance;
  const acrossAxis = side * Math.cos(turn) * distance + bendAt(gland, positionOnAxis);
  return {
    x: gland.x + gland.dx * alongAxis - gland.dy * acrossAxis,
    y: gland.y + gland.dy * alongAxis + gland.dx * acrossAxis,
    outwards: Math.atan2(gland.dy, gland.dx) + Math.atan2(side * Math.cos(turn), Math.sin(turn)),
  };
}

/** Returns the position on the slide of a point of the axis, `alongAxis` pixels from its start. */
export function axisPoint(gland: Gland, alongAxis: number): { x: number; y: number } {
  const acrossAxis = bendAt(gland, alongAxis);
  return {
    x: gland.x + gland.dx * alongAxis - gland.dy * acrossAxis,
    y: gland.y + gland.dy * alongAxis + gland.dx * acrossAxis,
  };
}

/** Returns where the wall of one side begins and ends, pixels along the wall. */
export function wallRange(gland: Gland): { readonly start: number; readonly end: number } {
  const quarterCircle = (wallRadius(gland) * Math.PI) / 2;
  return { start: gland.opensAtSurface ? 0 : -quarterCircle, end: gland.length + quarterCircle };
}

/** One cell of a wall (a goblet cell or a pair of absorptive cells), and a position across it. Objects are reused, for speed. */
export interface WallCell {
  /** Seed of the wall. */
  seed: number;
  /** Number of the cell along the wall. */
  index: number;
  /** Borders of the cell, in cell widths along the wall. */
  left: number;
  right: number;
  /** The position in the cell: 0 at its left border, 1 at its right border. */
  across: number;
  /** Width of the cell, pixels. */
  width: number;
  isGoblet: boolean;
  /** Random brightness of the cell, 0…1. */
  shade: number;
}

/** Creates an object for `cellAt`; its seed -1 belongs to no wall. */
export function emptyWallCell(): WallCell {
  return { seed: -1, index: 0, left: 0, right: 0, across: 0, width: 0, isGoblet: false, shade: 0 };
}

/** Returns the displacement of the left border of a cell, as a share of the cell width. */
function borderShift(seed: number, index: number): number {
  return (randomAt(seed, index, 11) - 0.5) * 0.34; // the last argument, 11 to 13, selects an independent random property of a cell
}

/**
 * Finds the cell of a wall at a position along it; writes it into `out` and returns `out`. A call with the `out` of a neighbouring
 * position is faster, because both are usually in the same cell.
 */
export function cellAt(
  seed: number,
  gobletShare: number,
  cellWidth: number,
  along: number,
  out: WallCell,
): WallCell {
  const positionInCells = along / cellWidth;
  if (out.seed !== seed || positionInCells < out.left || positionInCells >= out.right) {
    let index = Math.floor(positionInCells);
    if (positionInCells < index + borderShift(seed, index)) index -= 1;
    else if (positionInCells >= index + 1 + borderShift(seed, index + 1)) index += 1;
    out.seed = seed;
    out.index = index;
    out.left = index + borderShift(seed, index);
    out.right = index + 1 + borderShift(seed, index + 1);
    out.width = (out.right - out.left) * cellWidth;
    out.isGoblet = randomAt(seed, index, 12) < gobletShare;
    out.shade = randomAt(seed, index, 13);
  }
  out.across = (positionInCells - out.left) / (out.right - out.left);
  return out;
}
