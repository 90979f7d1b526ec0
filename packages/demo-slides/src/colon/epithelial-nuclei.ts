/**
 * Places the nuclei of the epithelium, in the crypts (tubular glands) and at the surface, as stamps (small images of
 * nuclei). Numbers without a name are chosen by eye; those added to `seed` keep random numbers independent.
 */
import { pointOnCurve } from '../geometry/curve.ts';
import { pick, randomAt } from '../geometry/random.ts';
import { SpatialIndex } from '../geometry/spatial-index.ts';
import type { PlacedStamp } from '../stain/stamp.ts';
import { placeNuclei } from '../structures/epithelium.ts';
import { cellAt, emptyWallCell } from '../structures/glands.ts';
import { outlinePoint } from './biopsy.ts';
import type { ColonScene } from './colon-scene.ts';
import { EPITHELIUM, SURFACE_SEED } from './colon-wall.ts';

/** Places the nuclei of all epithelial cells of the slide. */
export function placeEpithelialNuclei({
  seed,
  palette,
  layout,
  mucosaAt,
}: ColonScene): SpatialIndex<PlacedStamp> {
  const { cells } = palette;
  const shift = { x: 0, y: 0 };
  const cell = emptyWallCell();
  const index = new SpatialIndex<PlacedStamp>(256);
  const add = (nucleus: PlacedStamp) => {
    const { x, y } = nucleus;
    index.add(nucleus, x - 40, y - 40, x + 40, y + 40); // no nucleus extends farther from its centre
  };
  for (const gland of layout.glands) {
    for (const nucleus of placeNuclei(gland, palette)) {
      // A pixel shows the part of the gland at its position plus the displacement of `shiftAt`. Finds the pixel that shows the position of
      // the nucleus, by two steps of a fixed-point iteration.
      let { x, y } = nucleus;
      for (let step = 0; step < 2; step++) {
        layout.shiftAt(x, y, shift);
        x = nucleus.x - shift.x;
        y = nucleus.y - shift.y;
      }
      // Near the surface or another crypt, `locateInMucosa` joins both walls. Omits nuclei outside the joined wall.
      const { depth } = mucosaAt(x, y);
      if (depth > EPITHELIUM * 0.3 && depth < EPITHELIUM * 1.02) add({ ...nucleus, x, y });
    }
  }
  // The loops below follow the surface in steps of about 2 pixels, and add a nucleus where a step meets the middle of a cell.
  const placedCells = new Set<number>();
  const addSurfaceNucleus = (x: number, y: number, inwardX: number, inwardY: number) => {
    const below = mucosaAt(x + inwardX * EPITHELIUM * 0.7, y + inwardY * EPITHELIUM * 0.7);
    const isInEpithelium = below.depth > EPITHELIUM * 0.5 && below.depth < EPITHELIUM;
    if (below.seed !== SURFACE_SEED || !isInEpithelium) return;
    cellAt(below.seed, below.gobletShare, below.cellWidth, below.along, cell);
    // A wall cell is a goblet cell (which secretes mucus) or a pair of slim absorptive cells with a nucleus each.
    const isSecondOfPair = !cell.isGoblet && cell.across > 0.5;
    const absorptiveMiddle = isSecondOfPair ? 0.74 : 0.26;
    const middle = cell.isGoblet ? 0.5 : absorptiveMiddle; // position across the wall cell, 0…1
    /** A different number for each slim cell or goblet cell of the surface. */
    const key = cell.index * 2 + (isSecondOfPair ? 1 : 0);
    if (Math.abs(cell.across - middle) > 0.12 || placedCells.has(key)) return;
    placedCells.add(key);
    const chance = (stream: number) => randomAt(seed + 50, key, stream); // one random number per property of the nucleus
    const turn = cell.isGoblet ? Math.PI / 2 : 0; // nuclei of goblet cells lie along the surface
    const relativeDepth = cell.isGoblet ? 0.9 : 0.6 + 0.18 * chance(1);
    add({
      stamp: pick(cell.isGoblet ? cells.goblet : cells.columnar, chance(2)),
      x: x + inwardX * EPITHELIUM * relativeDepth,
      y: y + inwardY * EPITHELIUM * relativeDepth,
      angle: Math.atan2(inwardY, inwardX) + turn + (chance(3) - 0.5) * 0.3,
      scale: 0.92 + 0.14 * chance(4),
      density: 0.9 + 0.25 * chance(5),
      opacity: 0.96,
    });
  };
  for (let x = 700; x < 19900; x += 2) {
    const { y, downX, downY } = pointOnCurve(layout.surface, x);
    addSurfaceNucleus(x, y, downX, downY);
  }
  for (const biopsy of layout.biopsies) {
    for (let direction = -Math.PI; direction < Math.PI; direction += 2 / biopsy.long) {
      const { x, y, inwardX, inwardY } = outlinePoint(biopsy, direction);
      addSurfaceNucleus(x, y, inwardX, inwardY);
    }
  }
  return index;
}
