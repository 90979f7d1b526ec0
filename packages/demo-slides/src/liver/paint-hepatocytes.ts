/** Paints the liver cells of a tile. */

import { noiseAt, randomAt, smoothStep } from '../geometry/random.ts';
import { forEachSquare } from '../geometry/spatial-index.ts';
import { pointOf, voronoiCell } from '../geometry/voronoi.ts';
import type { StainTile } from '../stain/stain.ts';
import { applyStamp } from '../stain/stamp.ts';
import { nearest, sample } from '../stain/texture.ts';
import type { Palette } from '../structures/palette.ts';
import {
  gridOf,
  type Hepatocyte,
  type HepatocyteSide,
  hepatocyteOf,
  type Lobule,
  SPACING,
} from './hepatocytes.ts';

/** Greatest radius of a cell with its sinusoids, pixels. */
const MARGIN = 150;
/** Number of cells that are cached from tile to tile. */
const MAX_CACHED = 6000;

/** Deviation of the sides of cells from a straight line, pixels. */
const BULGE = 5;
/** Pixels over which a sinusoid narrows at its end. */
const NARROWING = 26;

/** Returns a function that paints the liver cells of a tile over its background. */
export function hepatocytePainter(palette: Palette, seed: number, lobule: Lobule): (tile: StainTile) => void {
  const grid = gridOf(seed);
  // Neighbouring tiles share cells and are drawn soon after each other.
  let cache = new Map<number, Hepatocyte | null>();

  function hepatocyteAt(column: number, row: number): Hepatocyte | null {
    const key = row * 65536 + column;
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const { x, y } = pointOf(grid, column, row);
    const found = lobule.isParenchyma(x, y)
      ? hepatocyteOf(palette, seed, lobule, voronoiCell(grid, column, row))
      : null;
    if (cache.size > MAX_CACHED) cache = new Map();
    cache.set(key, found);
    return found;
  }

  return (tile) => {
    const here: Hepatocyte[] = [];
    forEachSquare(tile, SPACING, MARGIN, (column, row) => {
      const cell = hepatocyteAt(column, row);
      if (cell !== null) here.push(cell);
    });
    for (const cell of here) paintBody(tile, palette, seed, cell);
    for (const cell of here) for (const nucleus of cell.nuclei) applyStamp(tile, nucleus.stamp, nucleus);
  };
}

interface Vacuole {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

/** Places the fat vacuoles of a cell, relative to its centre; most cells have none. */
function vacuolesOf(seed: number, { column, row, x, y }: Hepatocyte): readonly Vacuole[] {
  const fatty = 0.03 + 0.2 * Math.max(0, noiseAt(seed + 7, x / 1300, y / 1300) - 0.25);
  if (randomAt(seed + 8, column, row) > fatty) return [];
  const count = 1 + Math.floor(randomAt(seed + 9, column, row) * 3);
  return Array.from({ length: count }, (_, k) => {
    const direction = randomAt(seed + 10 + k, column, row) * Math.PI * 2;
    const size = randomAt(seed + 14 + k, column, row) ** 2;
    return { x: Math.cos(direction) * 22, y: Math.sin(direction) * 22, radius: 5 + 16 * size };
  });
}

/** Distance from its sides within which the border of a cell is visible, pixels. */
const BORDER = 22;

/** Paints one cell, row by row. */
// oxlint-disable-next-line lamina/max-own-lines -- the loop over pixels calls few functions, for speed
function paintBody(tile: StainTile, { grain, clouds }: Palette, seed: number, cell: Hepatocyte): void {
  const { haematoxylin, eosin, orange, size } = tile;
  const { column, row, reach, zone, sides } = cell;
  const top = Math.max(0, Math.floor(cell.y - reach - tile.y));
  const bottom = Math.min(size - 1, Math.ceil(cell.y + reach - tile.y));
  const offsetX = tile.x - cell.x;
  if (offsetX + size < -reach || offsetX > reach) return;

  const vacuoles = vacuolesOf(seed, cell);
  const shade = randomAt(seed + 20, column, row) - 0.5;
  // Cells with much glycogen are pale and lacy.
  const glycogen = smoothStep(0.05, 0.6, noiseAt(seed + 21, cell.x / 700, cell.y / 700) + shade * 0.9);
  const ownX = Math.floor(randomAt(seed + 22, column, row) * 512) + tile.x;
  const ownY = Math.floor(randomAt(seed + 23, column, row) * 512) + tile.y;
  const baseEosin = 0.62 + 0.07 * zone + shade * 0.13 - 0.17 * glycogen;
  const baseHaematoxylin = 0.15 - 0.075 * zone - 0.04 * glycogen;
  const lace = 0.065 + 0.11 * glycogen;
  // Lipofuscin: brown pigment of old cells around the central veins.
  const isPigmented = zone > 0.72 && randomAt(seed + 24, column, row) < (zone - 0.72) * 2.4;

  for (let py = top; py <= bottom; py++) {
    const dy = tile.y + py - cell.y;
    // The pixels of this row that lie in the cell, and those of them without a visible border.
    let from = -reach;
    let to = reach;
    let plainFrom = -reach;
    let plainTo = reach;
    for (const side of sides) {
      const distanceToSide = side.distance - side.ny * dy;
      const edge = (distanceToSide + 1 + BULGE + side.gap / 2) / side.nx;
      const plainEdge = (distanceToSide - BORDER) / side.nx;
      if (side.nx > 1e-6) {
        to = Math.min(to, edge);
        plainTo = Math.min(plainTo, plainEdge);
      } else if (side.nx < -1e-6) {
        from = Math.max(from, edge);
        plainFrom = Math.max(plainFrom, plainEdge);
      } else {
        if (distanceToSide < -1 - BULGE - side.gap / 2) to = -reach - 1;
        if (distanceToSide < BORDER) plainTo = -reach - 1;
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
      for (const vacuole of vacuoles) {
        const fromX = dx - vacuole.x;
        const fromY = dy - vacuole.y;
        const beyond = Math.sqrt(fromX * fromX + fromY * fromY) - vacuole.radius;
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
 * Returns the distance to the nearest side. Corners at sinusoids are round, those between touching cells almost sharp.
 *
 * @param bulge displacement of the sides at the position, pixels
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
