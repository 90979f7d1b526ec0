/** Places the nuclei of the epithelium of the mucosa. */
import { pointOn } from '../geometry/curve.ts';
import { pick, randomAt } from '../geometry/random.ts';
import { SpatialIndex } from '../geometry/spatial-index.ts';
import type { PlacedStamp } from '../stain/stamp.ts';
import { nucleiOf } from '../structures/epithelium.ts';
import { cellAt, emptyWallCell } from '../structures/glands.ts';
import { outlinePoint } from './biopsy.ts';
import type { ColonScene } from './colon-scene.ts';
import { EPITHELIUM, SURFACE_SEED } from './colon-wall.ts';

export function epithelialNuclei({ seed, palette, layout, mucosaAt }: ColonScene): SpatialIndex<PlacedStamp> {
  const { cells } = palette;
  const shift = { x: 0, y: 0 };
  const cell = emptyWallCell();
  const index = new SpatialIndex<PlacedStamp>(256);
  const add = (nucleus: PlacedStamp) => {
    const { x, y } = nucleus;
    index.add(nucleus, x - 40, y - 40, x + 40, y + 40);
  };
  for (const gland of layout.glands) {
    for (const nucleus of nucleiOf(gland, palette)) {
      let { x, y } = nucleus;
      for (let step = 0; step < 2; step++) {
        layout.warp(x, y, shift);
        x = nucleus.x - shift.x;
        y = nucleus.y - shift.y;
      }
      // Near the surface or another crypt the wall differs from that of the crypt alone.
      const { depth } = mucosaAt(x, y);
      if (depth > EPITHELIUM * 0.3 && depth < EPITHELIUM * 1.02) add({ ...nucleus, x, y });
    }
  }
  // Follows the surface in steps shorter than a slim cell; the position below the surface determines the cell.
  const seen = new Set<number>();
  const addAt = (x: number, y: number, inX: number, inY: number) => {
    const below = mucosaAt(x + inX * EPITHELIUM * 0.7, y + inY * EPITHELIUM * 0.7);
    const isThere = below.depth > EPITHELIUM * 0.5 && below.depth < EPITHELIUM;
    if (below.seed !== SURFACE_SEED || !isThere) return;
    cellAt(below.seed, below.gobletShare, below.cellWidth, below.along, cell);
    const isSecond = !cell.isGoblet && cell.across > 0.5;
    const middle = cell.isGoblet ? 0.5 : isSecond ? 0.74 : 0.26;
    const key = cell.index * 2 + (isSecond ? 1 : 0);
    if (Math.abs(cell.across - middle) > 0.12 || seen.has(key)) return;
    seen.add(key);
    const level = cell.isGoblet ? 0.9 : 0.6 + 0.18 * randomAt(seed + 50, key, 1);
    add({
      stamp: pick(cell.isGoblet ? cells.goblet : cells.columnar, randomAt(seed + 50, key, 2)),
      x: x + inX * EPITHELIUM * level,
      y: y + inY * EPITHELIUM * level,
      angle:
        Math.atan2(inY, inX) + (cell.isGoblet ? Math.PI / 2 : 0) + (randomAt(seed + 50, key, 3) - 0.5) * 0.3,
      scale: 0.92 + 0.14 * randomAt(seed + 50, key, 4),
      density: 0.9 + 0.25 * randomAt(seed + 50, key, 5),
      opacity: 0.96,
    });
  };
  for (let x = 700; x < 19900; x += 2) {
    const { y, downX, downY } = pointOn(layout.surface, x);
    addAt(x, y, downX, downY);
  }
  for (const biopsy of layout.biopsies) {
    for (let direction = -Math.PI; direction < Math.PI; direction += 2 / biopsy.long) {
      const { x, y, inX, inY } = outlinePoint(biopsy, direction);
      addAt(x, y, inX, inY);
    }
  }
  return index;
}
