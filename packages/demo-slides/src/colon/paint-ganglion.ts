/**
 * Paints a ganglion: a group of nerve cells between the two layers of the muscle coat. The cells are stamps (small
 * images created once per slide). Numbers without a name are chosen by eye.
 */
import { noiseAt, pick, randomAt, smoothStep } from '../geometry/random.ts';
import type { StainTile } from '../stain/stain.ts';
import { applyStamp } from '../stain/stamp.ts';
import { sample } from '../stain/texture.ts';
import type { Palette } from '../structures/palette.ts';
import type { Ganglion } from './colon-wall.ts';

/** Paints a ganglion over the tissue of a tile. */
export function paintGanglion(tile: StainTile, { cells, reticulum }: Palette, ganglion: Ganglion): void {
  const { size, haematoxylin, eosin } = tile;
  const cos = Math.cos(ganglion.angle);
  const sin = Math.sin(ganglion.angle);
  for (let row = 0; row < size; row++) {
    const dy = tile.y + row - ganglion.y;
    if (Math.abs(dy) > ganglion.long * 1.2) continue;
    for (let column = 0; column < size; column++) {
      const dx = tile.x + column - ganglion.x;
      // Coordinates in which the ellipse of the ganglion is a circle of radius 1.
      const circleX = (dx * cos + dy * sin) / ganglion.long;
      const circleY = (dy * cos - dx * sin) / ganglion.short;
      const squaredDistance = circleX * circleX + circleY * circleY;
      if (squaredDistance > 1.5) continue;
      const distance = Math.sqrt(squaredDistance) + 0.12 * noiseAt(ganglion.seed, dx / 60, dy / 60);
      const cover = smoothStep(1.06, 0.97, distance); // opacity of the ganglion, from 0 outside to 1 inside
      const pixel = row * size + column;
      const strand = sample(reticulum, circleX * ganglion.long * 0.7, circleY * ganglion.short * 1.3);
      haematoxylin[pixel] = (haematoxylin[pixel] as number) * (1 - cover) + (0.08 + 0.03 * strand) * cover;
      eosin[pixel] = (eosin[pixel] as number) * (1 - cover) + (0.26 + 0.12 * strand) * cover;
    }
  }
  // The cells lie in a row along the long axis.
  const count = Math.max(2, Math.round(ganglion.long / 45));
  for (let k = 0; k < count; k++) {
    const chance = (stream: number) => randomAt(ganglion.seed, k, stream); // one random number per property of the cell
    const alongLong = (((k + 0.5) / count) * 2 - 1) * ganglion.long * 0.8;
    const alongShort = (chance(1) - 0.5) * ganglion.short * 0.7;
    const isNeuron = chance(2) < 0.62;
    applyStamp(tile, pick(isNeuron ? cells.ganglion : cells.fibroblasts, chance(3)), {
      x: ganglion.x + alongLong * cos - alongShort * sin,
      y: ganglion.y + alongLong * sin + alongShort * cos,
      angle: ganglion.angle + (chance(4) - 0.5) * 0.7,
      scale: isNeuron ? 0.7 + 0.25 * chance(5) : 0.7,
      density: 1,
      opacity: 0.96,
    });
  }
}
