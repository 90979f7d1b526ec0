/** Stamps: small stain pictures of single cells and nuclei, created once and applied to the section many times. */
import type { StainTile } from './stain.ts';

/** The centre of the picture is the centre of the cell; the long axis of the cell is x. */
export interface Stamp {
  readonly width: number;
  readonly height: number;
  /** Per pixel: coverage 0…1, then haematoxylin, eosin and orange, each multiplied by the coverage. */
  readonly values: Float32Array;
}

export interface Stain {
  readonly haematoxylin: number;
  readonly eosin: number;
  readonly orange: number;
}

/** @param pixel returns the stain at a position relative to the centre; null outside the cell */
export function createStamp(
  width: number,
  height: number,
  pixel: (x: number, y: number) => (Stain & { readonly cover: number }) | null,
): Stamp {
  const values = new Float32Array(width * height * 4);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const found = pixel(column + 0.5 - width / 2, row + 0.5 - height / 2);
      if (found === null || found.cover <= 0) continue;
      const i = (row * width + column) * 4;
      values[i] = found.cover;
      values[i + 1] = found.haematoxylin * found.cover;
      values[i + 2] = found.eosin * found.cover;
      values[i + 3] = found.orange * found.cover;
    }
  }
  return { width, height, values };
}

export interface Placement {
  /** Position of the stamp's centre on the slide, pixels. */
  readonly x: number;
  readonly y: number;
  /** Radians, from x towards y. */
  readonly angle: number;
  readonly scale: number;
  /** Factor of the amounts of stain. */
  readonly density: number;
  /** 0…1: below 1 the tissue under the stamp is visible, as with a nucleus of which the section has a thin slice. */
  readonly opacity: number;
}

export interface PlacedStamp extends Placement {
  readonly stamp: Stamp;
}

/** Blends a stamp into a tile, with bilinear sampling. */
// oxlint-disable-next-line lamina/max-own-lines -- the loop over pixels calls no functions, for speed
export function applyStamp(tile: StainTile, stamp: Stamp, place: Placement): void {
  const { width, height, values } = stamp;
  const { haematoxylin, eosin, orange, size } = tile;
  const cos = Math.cos(place.angle) / place.scale;
  const sin = Math.sin(place.angle) / place.scale;
  const centreX = place.x - tile.x;
  const centreY = place.y - tile.y;
  const reachX = (Math.abs(cos) * width + Math.abs(sin) * height) * 0.5 * place.scale * place.scale;
  const reachY = (Math.abs(sin) * width + Math.abs(cos) * height) * 0.5 * place.scale * place.scale;
  const firstColumn = Math.max(0, Math.ceil(centreX - reachX));
  const lastColumn = Math.min(size - 1, Math.floor(centreX + reachX));
  const firstRow = Math.max(0, Math.ceil(centreY - reachY));
  const lastRow = Math.min(size - 1, Math.floor(centreY + reachY));
  const stride = width * 4;
  for (let row = firstRow; row <= lastRow; row++) {
    const dy = row - centreY;
    for (let column = firstColumn; column <= lastColumn; column++) {
      const dx = column - centreX;
      const sx = dx * cos + dy * sin + width / 2 - 0.5;
      const sy = dy * cos - dx * sin + height / 2 - 0.5;
      if (sx < 0 || sy < 0 || sx >= width - 1 || sy >= height - 1) continue;
      const left = sx | 0;
      const top = sy | 0;
      const fx = sx - left;
      const fy = sy - top;
      const a = (1 - fx) * (1 - fy);
      const b = fx * (1 - fy);
      const c = (1 - fx) * fy;
      const d = fx * fy;
      const i = top * stride + left * 4;
      const j = i + stride;
      const cover =
        (values[i] as number) * a +
        (values[i + 4] as number) * b +
        (values[j] as number) * c +
        (values[j + 4] as number) * d;
      if (cover < 0.004) continue;
      const h =
        (values[i + 1] as number) * a +
        (values[i + 5] as number) * b +
        (values[j + 1] as number) * c +
        (values[j + 5] as number) * d;
      const e =
        (values[i + 2] as number) * a +
        (values[i + 6] as number) * b +
        (values[j + 2] as number) * c +
        (values[j + 6] as number) * d;
      const o =
        (values[i + 3] as number) * a +
        (values[i + 7] as number) * b +
        (values[j + 3] as number) * c +
        (values[j + 7] as number) * d;
      const at = row * size + column;
      const through = 1 - cover * place.opacity;
      const gain = place.density * place.opacity;
      haematoxylin[at] = (haematoxylin[at] as number) * through + h * gain;
      eosin[at] = (eosin[at] as number) * through + e * gain;
      orange[at] = (orange[at] as number) * through + o * gain;
    }
  }
}
