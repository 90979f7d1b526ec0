/**
 * Paints the liver cells of a tile, whose geometry `hepatocytes.ts` computes. Numbers without a name are chosen by eye;
 * those added to `seed` keep random numbers independent.
 */
import { noiseAt, randomAt, smoothStep } from '../geometry/random.ts';
import { forEachSquare } from '../geometry/spatial-index.ts';
import { pointOf, voronoiCell } from '../geometry/voronoi.ts';
import type { StainTile } from '../stain/stain.ts';
import { applyStamp } from '../stain/stamp.ts';
import { nearestValue, sample } from '../stain/texture.ts';
import type { Palette } from '../structures/palette.ts';
import {
  createHepatocyte,
  gridOf,
  type Hepatocyte,
  type HepatocyteSide,
  type Lobule,
  SPACING,
} from './hepatocytes.ts';

/** Pixels around a tile in which grid points of cells are visited: the largest radius of a cell including its sinusoids. */
const MARGIN = 150;
/** The cache is cleared when it has more cells than this. */
const MAX_CACHED_CELLS = 6000;

/** Largest deviation of the sides of cells from a straight line, pixels. */
const BULGE = 5;
/** Pixels over which a sinusoid narrows at its end. */
const NARROWING = 26;

/** Returns a function that paints the liver cells of a tile, and their nuclei, over the background of the tile. */
export function createHepatocytePainter(
  palette: Palette,
  seed: number,
  lobule: Lobule,
): (tile: StainTile) => void {
  const grid = gridOf(seed);
  // Neighbouring tiles share cells and are drawn soon after each other. Null: no liver cell at this grid position.
  let cache = new Map<number, Hepatocyte | null>();

  function hepatocyteAt(column: number, row: number): Hepatocyte | null {
    const key = row * 65536 + column; // unique, because a slide has far fewer columns
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const { x, y } = pointOf(grid, column, row);
    const cell = lobule.isParenchyma(x, y)
      ? createHepatocyte(palette, seed, lobule, voronoiCell(grid, column, row))
      : null;
    if (cache.size > MAX_CACHED_CELLS) cache = new Map();
    cache.set(key, cell);
    return cell;
  }

  return (tile) => {
    const cells: Hepatocyte[] = [];
    forEachSquare(tile, SPACING, MARGIN, (column, row) => {
      const cell = hepatocyteAt(column, row);
      if (cell !== null) cells.push(cell);
    });
    for (const cell of cells) paintCell(tile, palette, seed, cell);
    for (const cell of cells) for (const placed of cell.stamps) applyStamp(tile, placed.stamp, placed);
  };
}

interface Vacuole {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

/** Places the fat vacuoles of a cell, relative to its centre; most cells have none. */
function placeVacuoles(seed: number, { column, row, x, y }: Hepatocyte): readonly Vacuole[] {
  const probability = 0.03 + 0.2 * Math.max(0, noiseAt(seed + 7, x / 1300, y / 1300) - 0.25);
  if (randomAt(seed + 8, column, row) > probability) return [];
  const count = 1 + Math.floor(randomAt(seed + 9, column, row) * 3);
  return Array.from({ length: count }, (_, k) => {
    const direction = randomAt(seed + 10 + k, column, row) * Math.PI * 2;
    const relativeSize = randomAt(seed + 14 + k, column, row) ** 2;
    return { x: Math.cos(direction) * 22, y: Math.sin(direction) * 22, radius: 5 + 16 * relativeSize };
  });
}

/** The border of a cell (its rim, bulges and round corners) has no effect farther inside than this; pixels. */
const BORDER_REACH = 22;

/** Paints one cell, row by row. */
// oxlint-disable-next-line lamina/max-own-lines -- the loop over pixels calls few functions, for speed
function paintCell(tile: StainTile, { grain, clouds }: Palette, seed: number, cell: Hepatocyte): void {
  const { haematoxylin, eosin, orange, size } = tile;
  const { column, row, reach, zone, sides } = cell;
  const top = Math.max(0, Math.floor(cell.y - reach - tile.y));
  const bottom = Math.min(size - 1, Math.ceil(cell.y + reach - tile.y));
  const offsetX = tile.x - cell.x; // x of the tile's left edge relative to the cell's point
  if (offsetX + size < -reach || offsetX > reach) return;

  const vacuoles = placeVacuoles(seed, cell);
  const shade = randomAt(seed + 20, column, row) - 0.5;
  // Cells with much glycogen are pale and lacy.
  const glycogen = smoothStep(0.05, 0.6, noiseAt(seed + 21, cell.x / 700, cell.y / 700) + shade * 0.9);
  // Every cell uses another part of the textures.
  const textureX = Math.floor(randomAt(seed + 22, column, row) * 512) + tile.x;
  const textureY = Math.floor(randomAt(seed + 23, column, row) * 512) + tile.y;
  const baseEosin = 0.62 + 0.07 * zone + shade * 0.13 - 0.17 * glycogen;
  const baseHaematoxylin = 0.15 - 0.075 * zone - 0.04 * glycogen;
  const lace = 0.065 + 0.11 * glycogen; // strength of the coarse texture
  // Lipofuscin: brown pigment of old cells around the central veins.
  const isPigmented = zone > 0.72 && randomAt(seed + 24, column, row) < (zone - 0.72) * 2.4;

  for (let py = top; py <= bottom; py++) {
    const dy = tile.y + py - cell.y;
    // `start` and `end` limit the part of this row in the cell, `interiorStart` and `interiorEnd` the part that its
    // border does not affect; all four are x relative to the cell's point.
    let start = -reach;
    let end = reach;
    let interiorStart = -reach;
    let interiorEnd = reach;
    for (const side of sides) {
      const distanceToSide = side.distance - side.ny * dy;
      // A side may bulge outwards, or be displaced into a sinusoid that narrows at its end; the cell fades out over 1 more pixel.
      const edge = (distanceToSide + 1 + BULGE + side.gap / 2) / side.nx;
      const interiorEdge = (distanceToSide - BORDER_REACH) / side.nx;
      if (side.nx > 1e-6) {
        end = Math.min(end, edge);
        interiorEnd = Math.min(interiorEnd, interiorEdge);
      } else if (side.nx < -1e-6) {
        start = Math.max(start, edge);
        interiorStart = Math.max(interiorStart, interiorEdge);
      } else {
        if (distanceToSide < -1 - BULGE - side.gap / 2) end = -reach - 1; // the row is outside the cell
        if (distanceToSide < BORDER_REACH) interiorEnd = -reach - 1; // the whole row is near the border
      }
    }
    const left = Math.max(0, Math.ceil(start - offsetX));
    const right = Math.min(size - 1, Math.floor(end - offsetX));
    for (let px = left; px <= right; px++) {
      const dx = offsetX + px;
      /** 1 at the border of the cell, 0 from 5 pixels inside it. */
      let rim = 0;
      /** Opacity of the cell at the pixel. */
      let cover = 1;
      let depth = BORDER_REACH;
      if (dx < interiorStart || dx > interiorEnd) {
        const x = tile.x + px;
        const y = tile.y + py;
        depth = depthIn(sides, dx, dy, BULGE * 0.8 * sample(clouds, x / 3.5, y / 3.5));
        if (depth < -1) continue;
        if (depth < 5) rim = (5 - depth) / 5;
        if (depth < 1) cover = (depth + 1) / 2;
      }
      const pixel = py * size + px;
      const granules = nearestValue(grain, px + textureX, py + textureY);
      const cloud = nearestValue(clouds, px + textureX, py + textureY);
      // Amounts of eosin, haematoxylin and orange.
      let e = baseEosin + 0.085 * granules + lace * cloud + 0.15 * rim;
      let h = baseHaematoxylin + 0.04 * granules + 0.05 * cloud + 0.03 * rim;
      let o = 0.03;
      if (isPigmented && cloud * 0.6 + granules > 1.15 && depth > 8) {
        o = 0.75;
        h += 0.12;
      }
      for (const vacuole of vacuoles) {
        const fromX = dx - vacuole.x;
        const fromY = dy - vacuole.y;
        const beyond = Math.sqrt(fromX * fromX + fromY * fromY) - vacuole.radius;
        if (beyond > 4) continue;
        const emptiness = smoothStep(0.8, -0.8, beyond);
        e = e * (1 - emptiness) + 0.12 * Math.exp(-(((beyond - 1.5) / 1.4) ** 2));
        h *= 1 - emptiness;
        o *= 1 - emptiness;
      }
      haematoxylin[pixel] = (haematoxylin[pixel] as number) * (1 - cover) + h * cover;
      eosin[pixel] = (eosin[pixel] as number) * (1 - cover) + e * cover;
      orange[pixel] = (orange[pixel] as number) * (1 - cover) + o * cover;
    }
  }
}

/**
 * Returns the distance of a position from the nearest side; negative outside the cell. Corners at sinusoids are round, corners
 * between touching cells are almost sharp.
 *
 * @param bulge displacement of the sides at the position, pixels; the sign depends on `side.bulge`
 */
function depthIn(sides: readonly HepatocyteSide[], x: number, y: number, bulge: number): number {
  let minDepth = Number.POSITIVE_INFINITY;
  for (const side of sides) {
    let depth = side.distance - x * side.nx - y * side.ny + bulge * side.bulge;
    let rounding = 5;
    if (side.gap > 0) {
      rounding = 20;
      if (side.closesAtStart || side.closesAtEnd) {
        const along = y * side.nx - x * side.ny;
        const fromEnd = Math.min(
          side.closesAtStart ? along - side.start : NARROWING,
          side.closesAtEnd ? side.end - along : NARROWING,
        );
        if (fromEnd < NARROWING) {
          const narrowed = 1 - Math.max(0, fromEnd) / NARROWING;
          depth += side.gap * 0.5 * narrowed * narrowed;
          rounding = 20 - 15 * narrowed;
        }
      }
    }
    // The polynomial smooth minimum of the depths rounds the corners.
    const difference = minDepth < depth ? depth - minDepth : minDepth - depth;
    if (depth < minDepth) minDepth = depth;
    if (difference < rounding)
      minDepth -= ((rounding - difference) * (rounding - difference)) / (4 * rounding);
  }
  return minDepth;
}
