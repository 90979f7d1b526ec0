/** Liver cells: polygons in plates, a round nucleus or two in each, sinusoids between the plates. */
import { forEachSquare } from './field.ts';
import { chanceAt, noiseAt, pick, smoothStep } from './random.ts';
import type { StainTile } from './stain.ts';
import { type PlacedStamp, press } from './stamp.ts';
import { nearest, sample } from './texture.ts';
import type { Palette } from './tissue.ts';
import { pointOf, type Side, type VoronoiCell, voronoiCell } from './voronoi.ts';

/** Pixels from cell to cell: 24 µm. */
const SPACING = 96;
/** Pixels beyond a cell's place that it and what lies beside it may reach. */
const MARGIN = 150;
/** Cells that are remembered from tile to tile. */
const MOST_KNOWN = 6000;

export interface Lobule {
  /** Whether liver cells lie at a place, and not connective tissue, a vessel or glass. */
  isParenchyma(x: number, y: number): boolean;
  /** Direction of the plates at a place, and 0 at a portal tract … 1 at a central vein. */
  flow(x: number, y: number, out: { x: number; y: number; way: number }): void;
}

interface Hepatocyte {
  readonly column: number;
  readonly row: number;
  /** The point the cell grew around, pixels; `reach` from there to the farthest corner. */
  readonly x: number;
  readonly y: number;
  readonly reach: number;
  /** Sides without the half sinusoids beyond them; those with a sinusoid first. */
  readonly sides: readonly HepatocyteSide[];
  /** 0 at a portal tract … 1 at a central vein. */
  readonly way: number;
  /** Of the cell and of the sinusoids it looks after. */
  readonly nuclei: readonly PlacedStamp[];
}

interface HepatocyteSide extends Side {
  /** Width of the sinusoid beyond it, pixels; 0 where the next cell touches. */
  readonly gap: number;
  /** 1 for one of the two cells at a side, -1 for the other: what one bulges, the other gives way. */
  readonly bulge: 1 | -1;
  /** Whether the sinusoid ends where the side begins, or ends. */
  readonly closesFrom: boolean;
  readonly closesTo: boolean;
}

/** Pixels by which cells that touch overlap, so that no light comes between them. */
const TOUCH = 0.5;
/** Pixels by which the sides of cells are not straight. */
const BULGE = 5;
/** Pixels over which a sinusoid that ends narrows. */
const NARROWING = 26;

interface GridPlace {
  readonly column: number;
  readonly row: number;
}

const neighbourOf = (side: Side): GridPlace => ({ column: side.neighbourColumn, row: side.neighbourRow });

/** Of two neighbours, the one that speaks for both. */
function isFirst(one: GridPlace, other: GridPlace): boolean {
  return other.row > one.row || (other.row === one.row && other.column > one.column);
}

/** A number in [0, 1) that belongs to two neighbours, in whichever order they are named. */
function chanceBetween(seed: number, one: GridPlace, other: GridPlace): number {
  const [a, b] = isFirst(one, other) ? [one, other] : [other, one];
  return chanceAt(seed + (b.column - a.column + 3) * 7 + (b.row - a.row + 3), a.column, a.row);
}

/** Width of the sinusoid between two neighbours, pixels; 0 for none. */
function gapBetween(seed: number, lobule: Lobule, one: GridPlace, other: GridPlace): number {
  const grid = gridOf(seed);
  const from = pointOf(grid, one.column, one.row);
  const to = pointOf(grid, other.column, other.row);
  const x = (from.x + to.x) / 2;
  const y = (from.y + to.y) / 2;
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const flow = { x: 0, y: 0, way: 0 };
  lobule.flow(x, y, flow);
  const swirl = noiseAt(seed + 5, x / 420, y / 420) * 0.8;
  const fx = flow.x * Math.cos(swirl) - flow.y * Math.sin(swirl);
  const fy = flow.x * Math.sin(swirl) + flow.y * Math.cos(swirl);
  const across = Math.abs((to.x - from.x) * fx + (to.y - from.y) * fy) / length;
  // Sinusoids run with the blood; some cross from one to the next.
  const share = smoothStep(0.82, 0.45, across) * 0.84 + 0.045;
  const chance = chanceBetween(seed + 100, one, other);
  if (chance > share) return 0;
  const open = 0.62 + 0.26 * noiseAt(seed + 6, x / 900, y / 900) + 0.5 * smoothStep(0.62, 0.95, flow.way);
  return (13 + 20 * (chance / share)) * open;
}

function hepatocyteOf(palette: Palette, seed: number, lobule: Lobule, cell: VoronoiCell): Hepatocyte {
  const flow = { x: 0, y: 0, way: 0 };
  lobule.flow(cell.x, cell.y, flow);
  const gaps = cell.sides.map((side) => gapBetween(seed, lobule, cell, neighbourOf(side)));
  /** Whether the sinusoid at a side goes on beyond the corner with another side. */
  const goesOn = (k: number, next: number) => {
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
        closesFrom: gap > 0 && !goesOn(k, (k + count - 1) % count),
        closesTo: gap > 0 && !goesOn(k, (k + 1) % count),
      };
    })
    .sort((a, b) => Number(b.gap > 0) - Number(a.gap > 0));
  const { column, row, x, y, reach } = cell;
  const nuclei = [
    ...nucleiOf(palette, seed, cell, centreOf(cell, sides)),
    ...sides.flatMap((side) => sinusoidCells(palette, seed, lobule, cell, side)),
  ];
  return { column, row, x, y, reach, sides, way: flow.way, nuclei };
}

/** @returns a function that draws the liver cells of a tile over what is there */
export function hepatocytePainter(palette: Palette, seed: number, lobule: Lobule): (tile: StainTile) => void {
  const grid = gridOf(seed);
  // Neighbouring tiles share cells, and are drawn soon after one another.
  let known = new Map<number, Hepatocyte | null>();

  function hepatocyteAt(column: number, row: number): Hepatocyte | null {
    const key = row * 65536 + column;
    const before = known.get(key);
    if (before !== undefined) return before;
    const { x, y } = pointOf(grid, column, row);
    const found = lobule.isParenchyma(x, y)
      ? hepatocyteOf(palette, seed, lobule, voronoiCell(grid, column, row))
      : null;
    if (known.size > MOST_KNOWN) known = new Map();
    known.set(key, found);
    return found;
  }

  return (tile) => {
    const here: Hepatocyte[] = [];
    forEachSquare(tile, SPACING, MARGIN, (column, row) => {
      const cell = hepatocyteAt(column, row);
      if (cell !== null) here.push(cell);
    });
    for (const cell of here) paintBody(tile, palette, seed, cell);
    for (const cell of here) for (const nucleus of cell.nuclei) press(tile, nucleus.stamp, nucleus);
  };
}

function gridOf(seed: number) {
  return { seed, spacing: SPACING, jitter: 0.86 };
}

interface Vacuole {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

/** Drops of fat, here and there, from the middle of the cell, pixels. */
function vacuolesOf(seed: number, { column, row, x, y }: Hepatocyte): readonly Vacuole[] {
  const fatty = 0.03 + 0.2 * Math.max(0, noiseAt(seed + 7, x / 1300, y / 1300) - 0.25);
  if (chanceAt(seed + 8, column, row) > fatty) return [];
  const count = 1 + Math.floor(chanceAt(seed + 9, column, row) * 3);
  return Array.from({ length: count }, (_, k) => {
    const direction = chanceAt(seed + 10 + k, column, row) * Math.PI * 2;
    const size = chanceAt(seed + 14 + k, column, row) ** 2;
    return { x: Math.cos(direction) * 22, y: Math.sin(direction) * 22, radius: 5 + 16 * size };
  });
}

/** Pixels from its sides within which a cell's border shows. */
const BORDER = 22;

function paintBody(tile: StainTile, { grain, clouds }: Palette, seed: number, cell: Hepatocyte): void {
  const { haematoxylin, eosin, orange, size } = tile;
  const { column, row, reach, way, sides } = cell;
  const top = Math.max(0, Math.floor(cell.y - reach - tile.y));
  const bottom = Math.min(size - 1, Math.ceil(cell.y + reach - tile.y));
  const offsetX = tile.x - cell.x;
  if (offsetX + size < -reach || offsetX > reach) return;

  const vacuoles = vacuolesOf(seed, cell);
  const shade = chanceAt(seed + 20, column, row) - 0.5;
  // Cells full of glycogen are pale and lacy.
  const glycogen = smoothStep(0.05, 0.6, noiseAt(seed + 21, cell.x / 700, cell.y / 700) + shade * 0.9);
  const ownX = Math.floor(chanceAt(seed + 22, column, row) * 512) + tile.x;
  const ownY = Math.floor(chanceAt(seed + 23, column, row) * 512) + tile.y;
  const baseEosin = 0.62 + 0.07 * way + shade * 0.13 - 0.17 * glycogen;
  const baseHaematoxylin = 0.15 - 0.075 * way - 0.04 * glycogen;
  const lace = 0.065 + 0.11 * glycogen;
  // Brown pigment of old cells lies around the central veins.
  const isPigmented = way > 0.72 && chanceAt(seed + 24, column, row) < (way - 0.72) * 2.4;

  for (let py = top; py <= bottom; py++) {
    const dy = tile.y + py - cell.y;
    // Where this row of pixels enters and leaves the cell, and the part of it without a border.
    let from = -reach;
    let to = reach;
    let plainFrom = -reach;
    let plainTo = reach;
    for (const side of sides) {
      const room = side.distance - side.ny * dy;
      const edge = (room + 1 + BULGE + side.gap / 2) / side.nx;
      const plain = (room - BORDER) / side.nx;
      if (side.nx > 1e-6) {
        to = Math.min(to, edge);
        plainTo = Math.min(plainTo, plain);
      } else if (side.nx < -1e-6) {
        from = Math.max(from, edge);
        plainFrom = Math.max(plainFrom, plain);
      } else {
        if (room < -1 - BULGE - side.gap / 2) to = -reach - 1;
        if (room < BORDER) plainTo = -reach - 1;
      }
    }
    const left = Math.max(0, Math.ceil(from - offsetX));
    const right = Math.min(size - 1, Math.floor(to - offsetX));
    for (let px = left; px <= right; px++) {
      const dx = offsetX + px;
      let rim = 0;
      let cover = 1;
      let depth = BORDER;
      if (dx < plainFrom || dx > plainTo) {
        const x = tile.x + px;
        const y = tile.y + py;
        depth = depthIn(sides, dx, dy, BULGE * 0.8 * sample(clouds, x / 3.5, y / 3.5));
        if (depth < -1) continue;
        if (depth < 5) rim = (5 - depth) / 5;
        if (depth < 1) cover = (depth + 1) / 2;
      }
      const at = py * size + px;
      const g = nearest(grain, px + ownX, py + ownY);
      const cloud = nearest(clouds, px + ownX, py + ownY);
      let e = baseEosin + 0.085 * g + lace * cloud + 0.15 * rim;
      let h = baseHaematoxylin + 0.04 * g + 0.05 * cloud + 0.03 * rim;
      let o = 0.03;
      if (isPigmented && cloud * 0.6 + g > 1.15 && depth > 8) {
        o = 0.75;
        h += 0.12;
      }
      for (const drop of vacuoles) {
        const fromX = dx - drop.x;
        const fromY = dy - drop.y;
        const beyond = Math.sqrt(fromX * fromX + fromY * fromY) - drop.radius;
        if (beyond > 4) continue;
        const empty = smoothStep(0.8, -0.8, beyond);
        e = e * (1 - empty) + 0.12 * Math.exp(-(((beyond - 1.5) / 1.4) ** 2));
        h *= 1 - empty;
        o *= 1 - empty;
      }
      haematoxylin[at] = (haematoxylin[at] as number) * (1 - cover) + h * cover;
      eosin[at] = (eosin[at] as number) * (1 - cover) + e * cover;
      orange[at] = (orange[at] as number) * (1 - cover) + o * cover;
    }
  }
}

/**
 * Pixels from the sides; corners at sinusoids are round, corners between cells that touch almost sharp.
 *
 * @param bulge pixels by which sides are moved here
 */
function depthIn(sides: readonly HepatocyteSide[], x: number, y: number, bulge: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (const side of sides) {
    let depth = side.distance - x * side.nx - y * side.ny + bulge * side.bulge;
    let rounding = 5;
    if (side.gap > 0) {
      rounding = 20;
      if (side.closesFrom || side.closesTo) {
        const along = y * side.nx - x * side.ny;
        const fromEnd = Math.min(
          side.closesFrom ? along - side.from : NARROWING,
          side.closesTo ? side.to - along : NARROWING,
        );
        if (fromEnd < NARROWING) {
          const narrowed = 1 - Math.max(0, fromEnd) / NARROWING;
          depth += side.gap * 0.5 * narrowed * narrowed;
          rounding = 20 - 15 * narrowed;
        }
      }
    }
    const apart = least < depth ? depth - least : least - depth;
    if (depth < least) least = depth;
    if (apart < rounding) least -= ((rounding - apart) * (rounding - apart)) / (4 * rounding);
  }
  return least;
}

function nucleiOf(
  { cells }: Palette,
  seed: number,
  { column, row }: VoronoiCell,
  middle: { readonly x: number; readonly y: number },
): PlacedStamp[] {
  const chance = (lane: number) => chanceAt(seed + 30 + lane, column, row);
  // A section of 4 µm misses some of the nuclei.
  if (chance(0) < 0.13) return [];
  const isDouble = chance(1) < 0.11;
  // Twice the chromosomes, a fourth more across.
  const ploidy = chance(2) < 0.68 ? 0.88 : chance(2) < 0.96 ? 1.08 : 1.32;
  const turn = chance(3) * Math.PI * 2;
  const aside = isDouble ? 15 : chance(4) * 8;
  const one = (sign: number, lane: number): PlacedStamp => ({
    stamp: pick(cells.hepatocyte, chance(lane)),
    x: middle.x + Math.cos(turn) * aside * sign,
    y: middle.y + Math.sin(turn) * aside * sign,
    angle: chance(lane + 1) * Math.PI * 2,
    scale: (isDouble ? 0.86 : ploidy) * (0.94 + 0.12 * chance(lane + 2)),
    density: 0.82 + 0.36 * chance(lane + 3),
    opacity: chance(lane + 4) < 0.14 ? 0.55 : 0.95,
  });
  return isDouble ? [one(1, 5), one(-1, 10)] : [one(1, 5)];
}

/** The middle of a cell between its sides: pushed away from the near ones. */
function centreOf(cell: VoronoiCell, sides: readonly Side[]): { x: number; y: number } {
  let [dx, dy] = [0, 0];
  for (const side of [...sides, ...sides]) {
    const push = Math.max(0, 40 - (side.distance - dx * side.nx - dy * side.ny)) * 0.4;
    dx -= side.nx * push;
    dy -= side.ny * push;
  }
  return { x: cell.x + dx, y: cell.y + dy };
}

/** Lining cells, Kupffer cells and red cells of a sinusoid; one of the two cells beside it looks after them. */
function sinusoidCells(
  { cells }: Palette,
  seed: number,
  lobule: Lobule,
  cell: VoronoiCell,
  side: HepatocyteSide,
): PlacedStamp[] {
  const { gap, nx, ny } = side;
  if (gap === 0 || !isFirst(cell, neighbourOf(side))) return [];
  const chance = (lane: number) => chanceBetween(seed + 200 + lane * 60, cell, neighbourOf(side));
  const distance = side.distance + gap / 2;
  const middleOfSide = (side.from + side.to) / 2;
  // Away from the ends, which may be narrow.
  const room = Math.max(0, (side.to - side.from) / 2 - 20);
  const aside = middleOfSide + (chance(0) * 2 - 1) * room;
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
    const count = Math.min(1 + Math.floor(chance(6) * 3), 1 + Math.floor((room * 2) / 22));
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
