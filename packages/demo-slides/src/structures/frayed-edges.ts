/** Paints the frayed edges of a tissue section, where it was cut. Numbers without a name are chosen by eye. */
import { smoothStep } from '../geometry/random.ts';
import type { StainTile } from '../stain/stain.ts';
import { nearestValue, type Texture } from '../stain/texture.ts';

/** `frayEdges` changes the stain up to this many pixels inside a cut edge. */
export const EDGE_WIDTH = 60;
/** Callers must paint this many pixels beyond the edge, because `frayEdges` moves the edge inwards and outwards. */
export const FRAY_REACH = 12;

/**
 * Makes cut edges ragged, and slightly darker as in real sections, whose edges curl.
 *
 * @param distanceFromEdge distance from the nearest cut edge in pixels, for every pixel of the tile; negative outside the section
 */
export function frayEdges(tile: StainTile, clouds: Texture, distanceFromEdge: Float32Array): void {
  const { size, haematoxylin, eosin, orange } = tile;
  for (let row = 0, pixel = 0; row < size; row++) {
    for (let column = 0; column < size; column++, pixel++) {
      const distance = distanceFromEdge[pixel] as number;
      if (distance >= EDGE_WIDTH) continue;
      // The noise, mostly within ±1, moves the edge by about 7 pixels.
      const frayedDistance = distance + 7 * nearestValue(clouds, tile.x + column, tile.y + row);
      const factor = smoothStep(-2, 2.5, frayedDistance) * (1 + 0.16 * smoothStep(40, 4, frayedDistance));
      haematoxylin[pixel] = (haematoxylin[pixel] as number) * factor;
      eosin[pixel] = (eosin[pixel] as number) * factor;
      orange[pixel] = (orange[pixel] as number) * factor;
    }
  }
}
