/** Geometry of liver cells: polygons with one or two round nuclei, and the sinusoids between them. */

import { noiseAt, pick, randomAt, smoothStep } from '../geometry/random.ts';
import { pointOf, type Side, type VoronoiCell } from '../geometry/voronoi.ts';
import type { PlacedStamp } from '../stain/stamp.ts';
import type { Palette } from '../structures/palette.ts';

/** Distance of the cells, pixels: 24 µm. */
export const SPACING = 96;
export interface Lobule {
  /** Returns whether a position has liver cells, and not connective tissue, a vessel or glass. */
  isParenchyma(x: number, y: number): boolean;
  /** Computes the direction of the cell plates, and the zone: 0 at a portal tract … 1 at a central vein. */
  flow(x: number, y: number, out: { x: number; y: number; zone: number }): void;
}

export interface Hepatocyte {
  readonly column: number;
  readonly row: number;
  /** The grid point of the cell, pixels; `reach` is the distance to the farthest corner. */
  readonly x: number;
  readonly y: number;
  readonly reach: number;
  /** Sides without the adjacent halves of sinusoids; sides with a sinusoid come first. */
  readonly sides: readonly HepatocyteSide[];
  /** 0 at a portal tract … 1 at a central vein. */
  readonly zone: number;
  /** Nuclei of the cell, and of the sinusoids that are drawn with this cell. */
  readonly nuclei: readonly PlacedStamp[];
}

export interface HepatocyteSide extends Side {
  /** Width of the adjacent sinusoid, pixels; 0 where the next cell touches. */
  readonly gap: number;
  /** 1 for one of the two cells at a side, -1 for the other: one bulges out where the other bulges in. */
  readonly bulge: 1 | -1;
  /** Whether the sinusoid ends at the first, or at the second end of the side. */
  readonly closesFrom: boolean;
  readonly closesTo: boolean;
}

/** Overlap of cells that touch, pixels, so that there is no gap between them. */
const TOUCH = 0.5;
interface GridPlace {
  readonly column: number;
  readonly row: number;
}

const neighbourOf = (side: Side): GridPlace => ({ column: side.neighbourColumn, row: side.neighbourRow });

/** Returns whether `one` owns what two neighbours share. */
function isFirst(one: GridPlace, other: GridPlace): boolean {
  return other.row > one.row || (other.row === one.row && other.column > one.column);
}

/** Returns the random number in [0, 1) of two neighbours, independent of their order. */
function chanceBetween(seed: number, one: GridPlace, other: GridPlace): number {
  const [a, b] = isFirst(one, other) ? [one, other] : [other, one];
  return randomAt(seed + (b.column - a.column + 3) * 7 + (b.row - a.row + 3), a.column, a.row);
}

/** Returns the width of the sinusoid between two neighbours in pixels; 0 for none. */
function gapBetween(seed: number, lobule: Lobule, one: GridPlace, other: GridPlace): number {
  const grid = gridOf(seed);
  const from = pointOf(grid, one.column, one.row);
  const to = pointOf(grid, other.column, other.row);
  const x = (from.x + to.x) / 2;
  const y = (from.y + to.y) / 2;
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const flow = { x: 0, y: 0, zone: 0 };
  lobule.flow(x, y, flow);
  const swirl = noiseAt(seed + 5, x / 420, y / 420) * 0.8;
  const fx = flow.x * Math.cos(swirl) - flow.y * Math.sin(swirl);
  const fy = flow.x * Math.sin(swirl) + flow.y * Math.cos(swirl);
  const across = Math.abs((to.x - from.x) * fx + (to.y - from.y) * fy) / length;
  // Most sinusoids follow the blood flow; some connect two of them.
  const share = smoothStep(0.82, 0.45, across) * 0.84 + 0.045;
  const chance = chanceBetween(seed + 100, one, other);
  if (chance > share) return 0;
  const open = 0.62 + 0.26 * noiseAt(seed + 6, x / 900, y / 900) + 0.5 * smoothStep(0.62, 0.95, flow.zone);
  return (13 + 20 * (chance / share)) * open;
}

export function hepatocyteOf(palette: Palette, seed: number, lobule: Lobule, cell: VoronoiCell): Hepatocyte {
  const flow = { x: 0, y: 0, zone: 0 };
  lobule.flow(cell.x, cell.y, flow);
  const gaps = cell.sides.map((side) => gapBetween(seed, lobule, cell, neighbourOf(side)));
  /** Returns whether the sinusoid at a side continues beyond its corner with another side. */
  const continuesAt = (k: number, next: number) => {
    const [side, other] = [cell.sides[k], cell.sides[next]];
    if (side === undefined || other === undefined) return false;
    return (gaps[next] as number) > 0 || gapBetween(seed, lobule, neighbourOf(side), neighbourOf(other)) > 0;
  };
  const count = cell.sides.length;
  const sides = cell.sides
    .map((side, k) => {
      const gap = gaps[k] as number;
      return {
        ...side,
        gap,
        bulge: isFirst(cell, neighbourOf(side)) ? (1 as const) : (-1 as const),
        distance: side.distance + (gap > 0 ? -gap / 2 - 0.6 : TOUCH),
        closesFrom: gap > 0 && !continuesAt(k, (k + count - 1) % count),
        closesTo: gap > 0 && !continuesAt(k, (k + 1) % count),
      };
    })
    .sort((a, b) => Number(b.gap > 0) - Number(a.gap > 0));
  const { column, row, x, y, reach } = cell;
  const nuclei = [
    ...nucleiOf(palette, seed, cell, centreOf(cell, sides)),
    ...sides.flatMap((side) => sinusoidCells(palette, seed, lobule, cell, side)),
  ];
  return { column, row, x, y, reach, sides, zone: flow.zone, nuclei };
}

export function gridOf(seed: number) {
  return { seed, spacing: SPACING, jitter: 0.86 };
}

function nucleiOf(
  { cells }: Palette,
  seed: number,
  { column, row }: VoronoiCell,
  middle: { readonly x: number; readonly y: number },
): PlacedStamp[] {
  const chance = (stream: number) => randomAt(seed + 30 + stream, column, row);
  // A section of 4 µm does not contain every nucleus.
  if (chance(0) < 0.13) return [];
  const isDouble = chance(1) < 0.11;
  // A nucleus with twice the chromosomes has a diameter a quarter larger.
  const ploidy = chance(2) < 0.68 ? 0.88 : chance(2) < 0.96 ? 1.08 : 1.32;
  const turn = chance(3) * Math.PI * 2;
  const aside = isDouble ? 15 : chance(4) * 8;
  const one = (sign: number, stream: number): PlacedStamp => ({
    stamp: pick(cells.hepatocyte, chance(stream)),
    x: middle.x + Math.cos(turn) * aside * sign,
    y: middle.y + Math.sin(turn) * aside * sign,
    angle: chance(stream + 1) * Math.PI * 2,
    scale: (isDouble ? 0.86 : ploidy) * (0.94 + 0.12 * chance(stream + 2)),
    density: 0.82 + 0.36 * chance(stream + 3),
    opacity: chance(stream + 4) < 0.14 ? 0.55 : 0.95,
  });
  return isDouble ? [one(1, 5), one(-1, 10)] : [one(1, 5)];
}

/** Returns the centre of a cell: its grid point, moved away from near sides. */
function centreOf(cell: VoronoiCell, sides: readonly Side[]): { x: number; y: number } {
  let [dx, dy] = [0, 0];
  for (const side of [...sides, ...sides]) {
    const push = Math.max(0, 40 - (side.distance - dx * side.nx - dy * side.ny)) * 0.4;
    dx -= side.nx * push;
    dy -= side.ny * push;
  }
  return { x: cell.x + dx, y: cell.y + dy };
}

/** Places endothelial, Kupffer and red blood cells in a sinusoid. Only one of its two adjacent cells returns them. */
function sinusoidCells(
  { cells }: Palette,
  seed: number,
  lobule: Lobule,
  cell: VoronoiCell,
  side: HepatocyteSide,
): PlacedStamp[] {
  const { gap, nx, ny } = side;
  if (gap === 0 || !isFirst(cell, neighbourOf(side))) return [];
  const chance = (stream: number) => chanceBetween(seed + 200 + stream * 60, cell, neighbourOf(side));
  const distance = side.distance + gap / 2;
  const middleOfSide = (side.from + side.to) / 2;
  // Not at the ends, which may be narrow.
  const halfFreeLength = Math.max(0, (side.to - side.from) / 2 - 20);
  const aside = middleOfSide + (chance(0) * 2 - 1) * halfFreeLength;
  const along = (step: number, across: number) => ({
    x: cell.x + nx * (distance + across) - ny * step,
    y: cell.y + ny * (distance + across) + nx * step,
  });
  const middle = along(aside, 0);
  if (!lobule.isParenchyma(middle.x, middle.y)) return [];
  const place = { angle: Math.atan2(nx, -ny), scale: 0.66 + 0.22 * chance(1), density: 0.95, opacity: 0.95 };
  const found: PlacedStamp[] = [];
  if (chance(2) < 0.42) {
    const wall = (gap / 2 - 3) * (chance(3) < 0.5 ? 1 : -1);
    found.push({ ...place, ...along(aside, wall), stamp: pick(cells.endothelium, chance(4)) });
  }
  if (gap > 15 && chance(5) < 0.42) {
    const count = Math.min(1 + Math.floor(chance(6) * 3), 1 + Math.floor((halfFreeLength * 2) / 22));
    for (let n = 0; n < count; n++) {
      found.push({
        stamp: pick(cells.redCells, chance(7 + n)),
        ...along(middleOfSide + (n - (count - 1) / 2) * 22, 0),
        angle: chance(10 + n) * 6,
        scale: Math.min(0.95, gap / 25),
        density: 0.85 + 0.25 * chance(13 + n),
        opacity: 0.92,
      });
    }
  } else if (gap > 20 && chance(16) < 0.16) {
    found.push({ ...place, ...middle, stamp: pick(cells.macrophages, chance(17)), scale: 0.6 });
  }
  return found;
}
