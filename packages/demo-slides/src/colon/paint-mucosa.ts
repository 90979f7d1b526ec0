/**
 * Paints the epithelium of the mucosa and of its crypts (tubular glands), the mucus in the crypts, and the basement
 * membrane below the epithelium. Amounts of stain (the unit is defined in `stain.ts`) are chosen by eye.
 */
import type { StainTile } from '../stain/stain.ts';
import { nearestValue, sample } from '../stain/texture.ts';
import { paintEpithelium } from '../structures/epithelium.ts';
import { FRAY_REACH } from '../structures/frayed-edges.ts';
import { cellAt, emptyWallCell } from '../structures/glands.ts';
import {
  type ColonScene,
  DISTANCE_FROM_EDGE,
  planeOf,
  SHIFT_X,
  SHIFT_Y,
  SURFACE_ALONG,
  SURFACE_DEPTH,
} from './colon-scene.ts';
import { EPITHELIUM, emptyMucosaPosition, GLAND_SQUARE } from './colon-wall.ts';

/** The basement membrane is visible down to this many pixels below the epithelium. */
const MEMBRANE_REACH = 12;

/** Paints the epithelium of a tile. Looks the crypts up once per square of the crypt index, not once per pixel. */
// oxlint-disable-next-line lamina/max-own-lines -- the loop over pixels calls few functions, for speed
export function paintMucosa(scene: ColonScene, tile: StainTile): void {
  const { palette, layout, position } = scene;
  const { clouds } = palette;
  const mucosa = emptyMucosaPosition();
  const cell = emptyWallCell();
  const { size, haematoxylin, eosin, orange } = tile;
  const [distanceFromEdge, surfaceDepth, surfaceAlong] = [
    planeOf(scene, DISTANCE_FROM_EDGE),
    planeOf(scene, SURFACE_DEPTH),
    planeOf(scene, SURFACE_ALONG),
  ];
  const [shiftX, shiftY] = [planeOf(scene, SHIFT_X), planeOf(scene, SHIFT_Y)];
  /** Returns the x (or y) at which the next square of the index begins. */
  const nextSquare = (coordinate: number) => (Math.floor(coordinate / GLAND_SQUARE) + 1) * GLAND_SQUARE;
  for (let top = tile.y; top < tile.y + size; top = nextSquare(top)) {
    const bottom = Math.min(nextSquare(top), tile.y + size);
    for (let left = tile.x; left < tile.x + size; left = nextSquare(left)) {
      const right = Math.min(nextSquare(left), tile.x + size);
      const glands = layout.glandIndex.near(left, top);
      for (let y = top; y < bottom; y++) {
        for (let x = left, pixel = (y - tile.y) * size + left - tile.x; x < right; x++, pixel++) {
          position.surfaceDepth = surfaceDepth[pixel] as number;
          if (glands.length === 0 && position.surfaceDepth > EPITHELIUM + MEMBRANE_REACH) continue;
          if ((distanceFromEdge[pixel] as number) < -FRAY_REACH) continue;
          position.surfaceAlong = surfaceAlong[pixel] as number;
          layout.locateInMucosa(
            x + (shiftX[pixel] as number),
            y + (shiftY[pixel] as number),
            position,
            glands,
            mucosa,
          );
          const beyond = mucosa.depth - EPITHELIUM; // pixels below the epithelium
          if (beyond > MEMBRANE_REACH) continue;
          if (mucosa.depth <= -1) {
            // The stain of the epithelium ends at depth -1. Beyond it, some crypts have mucus in their lumen (inner space), and
            // above the surface of the mucosa is only glass.
            const density =
              position.surfaceDepth < 0 ? 0 : sample(clouds, x / 7, y / 7) + 0.3 * nearestValue(clouds, x, y);
            const mucus = Math.min(0.1, Math.max(0, density - 0.25) * 0.12);
            haematoxylin[pixel] = mucus;
            eosin[pixel] = mucus * 0.6;
            orange[pixel] = 0;
          } else if (beyond < 0) {
            const { proliferation } = mucosa;
            cellAt(mucosa.seed, mucosa.gobletShare, mucosa.cellWidth, mucosa.along, cell);
            paintEpithelium(tile, palette, {
              pixel,
              x,
              y,
              depth: mucosa.depth,
              height: EPITHELIUM,
              cell,
              proliferation,
            });
          } else {
            // The basement membrane: a thin band of eosin with its maximum 2 pixels below the epithelium.
            eosin[pixel] = (eosin[pixel] as number) + 0.22 * Math.exp(-(((beyond - 2) / 2) ** 2));
          }
        }
      }
    }
  }
}
