/** The cut edges of a section. */
import { smoothStep } from '../geometry/random.ts';
import type { StainTile } from '../stain/stain.ts';
import { nearest, type Texture } from '../stain/texture.ts';

/** Pixels from a cut edge within which it shows. */
export const EDGE = 60;

/**
 * Makes cut edges ragged, and darker because they curl a little.
 *
 * @param inside pixels from the nearest edge, at every pixel of the tile
 */
export function frayEdges(tile: StainTile, clouds: Texture, inside: Float32Array): void {
  const { size, haematoxylin, eosin, orange } = tile;
  for (let row = 0, at = 0; row < size; row++) {
    for (let column = 0; column < size; column++, at++) {
      const edge = inside[at] as number;
      if (edge >= EDGE) continue;
      const frayed = edge + 7 * nearest(clouds, tile.x + column, tile.y + row);
      const amount = smoothStep(-2, 2.5, frayed) * (1 + 0.16 * smoothStep(40, 4, frayed));
      haematoxylin[at] = (haematoxylin[at] as number) * amount;
      eosin[at] = (eosin[at] as number) * amount;
      orange[at] = (orange[at] as number) * amount;
    }
  }
}
