/** Paints fat: large round cells that look empty, because processing dissolves the fat. Numbers without a name are chosen by eye. */
import { pick, randomAt, smoothStep } from '../geometry/random.ts';
import { forEachSquare } from '../geometry/spatial-index.ts';
import { type CellDepth, depthIn, nearestPoint, pointOf, voronoiCell } from '../geometry/voronoi.ts';
import type { StainTile } from '../stain/stain.ts';
import { applyStamp } from '../stain/stamp.ts';
import { nearestValue } from '../stain/texture.ts';
import type { Palette } from './palette.ts';

/** Distance between the centres of fat cells, pixels; 62 µm. */
const SPACING = 250;
/** Pixels over which the corners of a cell are rounded. */
const ROUNDING = 26;

const gridOf = (seed: number) => ({ seed, spacing: SPACING, jitter: 0.72 });

/** Returns whether `paintFat`, called with the same `seed` and `amountAt`, paints a fat cell over a position. */
export function isFat(
  seed: number,
  amountAt: (x: number, y: number) => number,
  x: number,
  y: number,
): boolean {
  const cellCentre = nearestPoint(gridOf(seed), x, y);
  return amountAt(cellCentre.x, cellCentre.y) > 0;
}

/** Paints whole fat cells over the tissue of a tile. @param amountAt returns a number above 0 at the centres of cells to paint */
export function paintFat(
  tile: StainTile,
  palette: Palette,
  seed: number,
  amountAt: (x: number, y: number) => number,
): void {
  const { haematoxylin, eosin, orange, size } = tile;
  const { grain, cells } = palette;
  const depth: CellDepth = { straight: 0, rounded: 0 };
  // Visits grid squares up to 1.5 spacings outside the tile too, because their cells may reach into it.
  forEachSquare(tile, SPACING, SPACING * 1.5, (column, row) => {
    const grid = gridOf(seed);
    const centre = pointOf(grid, column, row);
    if (amountAt(centre.x, centre.y) <= 0) return;
    const cell = voronoiCell(grid, column, row);
    const left = Math.max(0, Math.floor(cell.x - cell.reach - tile.x));
    const right = Math.min(size - 1, Math.ceil(cell.x + cell.reach - tile.x));
    const top = Math.max(0, Math.floor(cell.y - cell.reach - tile.y));
    const bottom = Math.min(size - 1, Math.ceil(cell.y + cell.reach - tile.y));
    for (let y = top; y <= bottom; y++) {
      for (let x = left; x <= right; x++) {
        depthIn(cell, tile.x + x - cell.x, tile.y + y - cell.y, ROUNDING, depth);
        if (depth.straight < 0) continue; // outside the cell
        const pixel = y * size + x;
        const wall = smoothStep(4.4, 1.4, depth.rounded); // 1 in the wall, 0 in the empty inside
        haematoxylin[pixel] = wall * 0.06;
        eosin[pixel] = wall * (0.42 + 0.08 * nearestValue(grain, tile.x + x, tile.y + y));
        orange[pixel] = 0;
      }
    }
    // A section contains the nucleus of 55 % of the cells. The nucleus lies at the middle of a random side of its cell. It is
    // flat, like the nuclei of endothelium, so their stamps are used.
    const side = pick(cell.sides, randomAt(seed + 2, column, row));
    if (randomAt(seed + 3, column, row) < 0.55) {
      const x = cell.x + side.nx * side.distance;
      const y = cell.y + side.ny * side.distance;
      applyStamp(tile, pick(cells.endothelium, randomAt(seed + 4, column, row)), {
        x,
        y,
        angle: Math.atan2(side.nx, -side.ny),
        scale: 0.8,
        density: 1,
        opacity: 0.95,
      });
    }
  });
}
