/**
 * Geometry of liver cells (hepatocytes): Voronoi polygons with one or two round nuclei, and the sinusoids between them. Sinusoids
 * are the narrow blood vessels of the liver; they run from the portal tracts to the central veins of a lobule. Numbers without a
 * name (shares, widths in pixels, periods of noises) are chosen by eye; those added to `seed` keep noises independent.
 */
import { noiseAt, pick, randomAt, smoothStep } from '../geometry/random.ts';
import { pointOf, type Side, type VoronoiCell } from '../geometry/voronoi.ts';
import type { PlacedStamp } from '../stain/stamp.ts';
import type { Palette } from '../structures/palette.ts';

/** Distance between liver cells, pixels; 24 µm. */
export const SPACING = 96;

/** The tissue in which liver cells are placed. */
export interface Lobule {
  /** Returns whether a position has liver cells instead of connective tissue, a vessel or glass. */
  isParenchyma(x: number, y: number): boolean;
  /** Writes the direction of the blood flow and the zone into `out`; the zone is 0 at a portal tract and 1 at a central vein. */
  flow(x: number, y: number, out: { x: number; y: number; zone: number }): void;
}

export interface Hepatocyte {
  readonly column: number;
  readonly row: number;
  /** The grid point of the cell, pixels. */
  readonly x: number;
  readonly y: number;
  /** Distance to the farthest corner, pixels. */
  readonly reach: number;
  /** Sides of the cell, moved inwards where a sinusoid is adjacent; sides with a sinusoid come first. */
  readonly sides: readonly HepatocyteSide[];
  /** From 0 at a portal tract to 1 at a central vein. */
  readonly zone: number;
  /** Nuclei of the cell, and cells of the sinusoids that are drawn with this cell. */
  readonly stamps: readonly PlacedStamp[];
}

export interface HepatocyteSide extends Side {
  /** Width of the adjacent sinusoid, pixels; 0 where the neighbouring cell touches. */
  readonly gap: number;
  /** 1 for one of the two cells at a side and -1 for the other: one bulges out where the other bulges in. */
  readonly bulge: 1 | -1;
  /** Whether the adjacent sinusoid ends where the side starts, and whether it ends where the side ends. */
  readonly closesAtStart: boolean;
  readonly closesAtEnd: boolean;
}

/** Pixels by which touching cells overlap, so that no gap appears between them. */
const TOUCH_OVERLAP = 0.5;
/** Pixels between a cell and the adjacent sinusoid, in addition to half the width of the sinusoid. */
const SINUSOID_MARGIN = 0.6;

interface GridPosition {
  readonly column: number;
  readonly row: number;
}

const neighbourOf = (side: Side): GridPosition => ({ column: side.neighbourColumn, row: side.neighbourRow });

/** Returns whether a cell precedes its neighbour by row and column; the first one fills the sinusoid between them. */
function isFirst(cell: GridPosition, neighbour: GridPosition): boolean {
  return neighbour.row > cell.row || (neighbour.row === cell.row && neighbour.column > cell.column);
}

/** Returns a number in [0, 1) that depends on the seed and two neighbours, but not on their order. */
function chanceBetween(seed: number, cell: GridPosition, neighbour: GridPosition): number {
  const [a, b] = isFirst(cell, neighbour) ? [cell, neighbour] : [neighbour, cell];
  // `b.row - a.row` is at least 0 and less than 7, so each neighbour gives a different sum.
  return randomAt(seed + (b.column - a.column + 3) * 7 + (b.row - a.row + 3), a.column, a.row);
}

/** Returns the width of the sinusoid between two neighbouring cells in pixels; 0 where the cells touch. */
function gapBetween(seed: number, lobule: Lobule, cell: GridPosition, neighbour: GridPosition): number {
  const grid = gridOf(seed);
  const centre = pointOf(grid, cell.column, cell.row);
  const neighbourCentre = pointOf(grid, neighbour.column, neighbour.row);
  const x = (centre.x + neighbourCentre.x) / 2;
  const y = (centre.y + neighbourCentre.y) / 2;
  const dx = neighbourCentre.x - centre.x;
  const dy = neighbourCentre.y - centre.y;
  const length = Math.hypot(dx, dy);
  const flow = { x: 0, y: 0, zone: 0 };
  lobule.flow(x, y, flow);
  // The blood flow in the middle between the cells, turned by an angle of noise.
  const swirl = noiseAt(seed + 5, x / 420, y / 420) * 0.8;
  const fx = flow.x * Math.cos(swirl) - flow.y * Math.sin(swirl);
  const fy = flow.x * Math.sin(swirl) + flow.y * Math.cos(swirl);
  /** 0 when the side is parallel to the blood flow, 1 when it is perpendicular to the flow. */
  const crossing = Math.abs(dx * fx + dy * fy) / length;
  // Most sinusoids follow the blood flow; a few connect two parallel sinusoids.
  const probability = smoothStep(0.82, 0.45, crossing) * 0.84 + 0.045;
  const chance = chanceBetween(seed + 100, cell, neighbour);
  if (chance > probability) return 0;
  const widening =
    0.62 + 0.26 * noiseAt(seed + 6, x / 900, y / 900) + 0.5 * smoothStep(0.62, 0.95, flow.zone);
  return (13 + 20 * (chance / probability)) * widening; // `chance / probability` is a random number in 0…1
}

/** Creates a liver cell from its Voronoi cell. */
export function createHepatocyte(
  palette: Palette,
  seed: number,
  lobule: Lobule,
  cell: VoronoiCell,
): Hepatocyte {
  const flow = { x: 0, y: 0, zone: 0 };
  lobule.flow(cell.x, cell.y, flow);
  const gaps = cell.sides.map((side) => gapBetween(seed, lobule, cell, neighbourOf(side)));
  /** Returns whether the sinusoid at side `k` continues beyond its corner with side `next`. */
  const continuesAt = (k: number, next: number) => {
    const side = cell.sides[k];
    const nextSide = cell.sides[next];
    if (side === undefined || nextSide === undefined) return false;
    const gapBetweenNeighbours = gapBetween(seed, lobule, neighbourOf(side), neighbourOf(nextSide));
    return (gaps[next] as number) > 0 || gapBetweenNeighbours > 0;
  };
  const count = cell.sides.length;
  const sides = cell.sides
    .map((side, k) => {
      const gap = gaps[k] as number;
      return {
        ...side,
        gap,
        bulge: isFirst(cell, neighbourOf(side)) ? (1 as const) : (-1 as const),
        distance: side.distance + (gap > 0 ? -gap / 2 - SINUSOID_MARGIN : TOUCH_OVERLAP),
        closesAtStart: gap > 0 && !continuesAt(k, (k + count - 1) % count),
        closesAtEnd: gap > 0 && !continuesAt(k, (k + 1) % count),
      };
    })
    .sort((a, b) => Number(b.gap > 0) - Number(a.gap > 0));
  const { column, row, x, y, reach } = cell;
  const stamps = [
    ...placeNuclei(palette, seed, cell, centreOf(cell, sides)),
    ...sides.flatMap((side) => placeSinusoidCells(palette, seed, lobule, cell, side)),
  ];
  return { column, row, x, y, reach, sides, zone: flow.zone, stamps };
}

/** Returns the grid of the liver cells. */
export function gridOf(seed: number) {
  return { seed, spacing: SPACING, jitter: 0.86 };
}

/** Places the nuclei of a cell, at most two, at its centre. */
function placeNuclei(
  { cells }: Palette,
  seed: number,
  { column, row }: VoronoiCell,
  middle: { readonly x: number; readonly y: number },
): PlacedStamp[] {
  /** Returns a random number in [0, 1) for this cell; each stream gives an independent one. */
  const chance = (stream: number) => randomAt(seed + 30 + stream, column, row);
  // A section of 4 µm does not contain every nucleus.
  if (chance(0) < 0.13) return [];
  const isDouble = chance(1) < 0.11;
  const scale = isDouble ? 0.86 : scaleOfPloidy(chance(2));
  const turn = chance(3) * Math.PI * 2;
  const offset = isDouble ? 15 : chance(4) * 8;
  const createNucleus = (sign: 1 | -1, stream: number): PlacedStamp => ({
    stamp: pick(cells.hepatocyte, chance(stream)),
    x: middle.x + Math.cos(turn) * offset * sign,
    y: middle.y + Math.sin(turn) * offset * sign,
    angle: chance(stream + 1) * Math.PI * 2,
    scale: scale * (0.94 + 0.12 * chance(stream + 2)),
    density: 0.82 + 0.36 * chance(stream + 3),
    opacity: chance(stream + 4) < 0.14 ? 0.55 : 0.95,
  });
  return isDouble ? [createNucleus(1, 5), createNucleus(-1, 10)] : [createNucleus(1, 5)];
}

/** Returns the scale of a nucleus with normal, twofold or (rarely) fourfold chromosomes; doubling adds a quarter to the diameter. */
function scaleOfPloidy(chance: number): number {
  if (chance < 0.68) return 0.88;
  return chance < 0.96 ? 1.08 : 1.32;
}

/** Returns the centre of a cell: its grid point, moved away from sides closer than 40 pixels, in two passes over all sides. */
function centreOf(cell: VoronoiCell, sides: readonly Side[]): { x: number; y: number } {
  let [dx, dy] = [0, 0];
  for (const side of [...sides, ...sides]) {
    const push = Math.max(0, 40 - (side.distance - dx * side.nx - dy * side.ny)) * 0.4;
    dx -= side.nx * push;
    dy -= side.ny * push;
  }
  return { x: cell.x + dx, y: cell.y + dy };
}

/** Places endothelial, Kupffer and red blood cells in a sinusoid, if `cell` is the first of the two cells beside it. */
function placeSinusoidCells(
  { cells }: Palette,
  seed: number,
  lobule: Lobule,
  cell: VoronoiCell,
  side: HepatocyteSide,
): PlacedStamp[] {
  const { gap, nx, ny } = side;
  if (gap === 0 || !isFirst(cell, neighbourOf(side))) return [];
  /** Returns a random number in [0, 1) for this side. `chanceBetween` adds less than 60 to its seed, so streams are independent. */
  const chance = (stream: number) => chanceBetween(seed + 200 + stream * 60, cell, neighbourOf(side));
  const distanceToMiddle = side.distance + gap / 2;
  const middleOfSide = (side.start + side.end) / 2;
  // Cells keep 20 pixels away from the ends of the side, which may be narrow.
  const halfFreeLength = Math.max(0, (side.end - side.start) / 2 - 20);
  const randomAlong = middleOfSide + (chance(0) * 2 - 1) * halfFreeLength;
  /** Converts pixels along the side, and across the sinusoid from its middle, to a position on the slide. */
  const positionAt = (along: number, across: number) => ({
    x: cell.x + nx * (distanceToMiddle + across) - ny * along,
    y: cell.y + ny * (distanceToMiddle + across) + nx * along,
  });
  const middle = positionAt(randomAlong, 0);
  if (!lobule.isParenchyma(middle.x, middle.y)) return [];
  const pose = { angle: Math.atan2(nx, -ny), scale: 0.66 + 0.22 * chance(1), density: 0.95, opacity: 0.95 };
  const placed: PlacedStamp[] = [];
  if (chance(2) < 0.42) {
    const wallOffset = (gap / 2 - 3) * (chance(3) < 0.5 ? 1 : -1);
    placed.push({
      ...pose,
      ...positionAt(randomAlong, wallOffset),
      stamp: pick(cells.endothelium, chance(4)),
    });
  }
  if (gap > 15 && chance(5) < 0.42) {
    const spacing = 22; // pixels between red blood cells
    const count = Math.min(1 + Math.floor(chance(6) * 3), 1 + Math.floor((halfFreeLength * 2) / spacing));
    // There are at most three red blood cells, so each of their properties has three streams of random numbers.
    for (let n = 0; n < count; n++) {
      placed.push({
        stamp: pick(cells.redCells, chance(7 + n)),
        ...positionAt(middleOfSide + (n - (count - 1) / 2) * spacing, 0),
        angle: chance(10 + n) * 6, // radians: any direction
        scale: Math.min(0.95, gap / 25),
        density: 0.85 + 0.25 * chance(13 + n),
        opacity: 0.92,
      });
    }
  } else if (gap > 20 && chance(16) < 0.16) {
    // Kupffer cells are the macrophages of the liver.
    placed.push({ ...pose, ...middle, stamp: pick(cells.macrophages, chance(17)), scale: 0.6 });
  }
  return placed;
}
