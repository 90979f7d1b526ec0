/**
 * Tubes lined by epithelium: the crypts of the colon, the bile ducts of the liver.
 *
 * A gland is a straight or slightly bent axis with a lumen around it. A position has a depth below the inner surface
 * (negative in the lumen) and a distance along the wall. Both ends of the axis are round unless the start opens at a
 * surface. A gland in cross-section has an axis of length 0.
 */
import { randomAt } from '../geometry/random.ts';

export interface Gland {
  readonly seed: number;
  /** Start of the axis, pixels, and its direction, a unit vector. */
  readonly x: number;
  readonly y: number;
  readonly dx: number;
  readonly dy: number;
  readonly length: number;
  /** Pixels from the axis to the inner surface. */
  readonly lumen: number;
  /** Height of the epithelium, pixels. */
  readonly height: number;
  /** Sideways deviation of the centre of the axis, pixels. */
  readonly bend: number;
  /** Whether the start opens at a surface. */
  readonly open: boolean;
  /** Width of a pair of absorptive cells, or of a goblet cell, along the wall, pixels. */
  readonly cellWidth: number;
  /** Share of goblet cells, 0…1. */
  readonly gobletShare: number;
}

/** Returns the random seed of the cells of one of the two walls of a gland. */
export function wallSeed(gland: Gland, side: number): number {
  return gland.seed * 2 + (side < 0 ? 1 : 0);
}

export interface WallPlace {
  depth: number;
  along: number;
  /** 1 or -1: the two walls on both sides of the axis. */
  side: number;
}

function bendAt(gland: Gland, s: number): number {
  if (gland.bend === 0) return 0;
  const t = s / gland.length;
  return gland.bend * (4 * t * (1 - t) + 1.6 * t * (1 - t) * (1 - 2 * t));
}

function wallRadius(gland: Gland): number {
  return gland.lumen + gland.height * 0.6;
}

export function placeInGland(gland: Gland, x: number, y: number, out: WallPlace): WallPlace {
  const fromX = x - gland.x;
  const fromY = y - gland.y;
  const s = fromX * gland.dx + fromY * gland.dy;
  const inside = s < 0 ? 0 : s > gland.length ? gland.length : s;
  const q = fromY * gland.dx - fromX * gland.dy - bendAt(gland, inside);
  const aside = q < 0 ? -q : q;
  out.side = q < 0 ? -1 : 1;
  if (s > gland.length) {
    const beyond = s - gland.length;
    out.depth = Math.sqrt(beyond * beyond + aside * aside) - gland.lumen;
    out.along = gland.length + wallRadius(gland) * Math.atan2(beyond, aside);
  } else if (s < 0 && !gland.open) {
    out.depth = Math.sqrt(s * s + aside * aside) - gland.lumen;
    out.along = -wallRadius(gland) * Math.atan2(-s, aside);
  } else {
    out.depth = aside - gland.lumen;
    out.along = s;
  }
  return out;
}

/** Returns the position on the slide of a wall position, and the outward direction in radians. */
export function wallPoint(gland: Gland, along: number, side: number, depth: number) {
  const away = gland.lumen + depth;
  const end = Math.min(gland.length, Math.max(0, along));
  const turn = (along - end) / wallRadius(gland);
  const s = end + Math.sin(turn) * away;
  const q = side * Math.cos(turn) * away + bendAt(gland, end);
  return {
    x: gland.x + gland.dx * s - gland.dy * q,
    y: gland.y + gland.dy * s + gland.dx * q,
    outwards: Math.atan2(gland.dy, gland.dx) + Math.atan2(side * Math.cos(turn), Math.sin(turn)),
  };
}

/** Returns the position on the slide of a point of the axis, `s` pixels from its start. */
export function axisPoint(gland: Gland, s: number): { x: number; y: number } {
  const q = bendAt(gland, s);
  return { x: gland.x + gland.dx * s - gland.dy * q, y: gland.y + gland.dy * s + gland.dx * q };
}

/** Returns where the wall of one side begins and ends, pixels along the wall. */
export function wallRange(gland: Gland): { readonly from: number; readonly to: number } {
  const quarter = (wallRadius(gland) * Math.PI) / 2;
  return { from: gland.open ? 0 : -quarter, to: gland.length + quarter };
}

export interface WallCell {
  /** Seed of the wall. */
  seed: number;
  /** Counted along the wall. */
  index: number;
  /** Borders of the cell, in widths along the wall. */
  left: number;
  right: number;
  /** 0…1 from one side of the cell to the other. */
  across: number;
  /** Pixels from side to side. */
  width: number;
  isGoblet: boolean;
  /** Random brightness of the cell, 0…1. */
  shade: number;
}

export function emptyWallCell(): WallCell {
  return { seed: -1, index: 0, left: 0, right: 0, across: 0, width: 0, isGoblet: false, shade: 0 };
}

/** Returns the displacement of a border between cells, as a share of the cell width. */
function borderShift(seed: number, index: number): number {
  return (randomAt(seed, index, 11) - 0.5) * 0.34;
}

/** Finds the cell of a wall at a position along it. `out` caches the result for neighbouring positions. */
export function cellAt(
  seed: number,
  gobletShare: number,
  cellWidth: number,
  along: number,
  out: WallCell,
): WallCell {
  const place = along / cellWidth;
  if (out.seed !== seed || place < out.left || place >= out.right) {
    let index = Math.floor(place);
    if (place < index + borderShift(seed, index)) index -= 1;
    else if (place >= index + 1 + borderShift(seed, index + 1)) index += 1;
    out.seed = seed;
    out.index = index;
    out.left = index + borderShift(seed, index);
    out.right = index + 1 + borderShift(seed, index + 1);
    out.width = (out.right - out.left) * cellWidth;
    out.isGoblet = randomAt(seed, index, 12) < gobletShare;
    out.shade = randomAt(seed, index, 13);
  }
  out.across = (place - out.left) / (out.right - out.left);
  return out;
}
