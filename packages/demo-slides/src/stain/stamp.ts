/** Stamps: small images of the stain of single cells and nuclei, created once per slide and drawn many times. */
import type { StainTile } from './stain.ts';

/** An image of a cell. The centre of the image is the centre of the cell; the long axis of the cell is x. */
export interface Stamp {
  readonly width: number;
  readonly height: number;
  /** Per pixel: coverage 0…1, then haematoxylin, eosin and orange, each multiplied by the coverage. */
  readonly values: Float32Array;
}

/** Amounts of the three stains, as in `StainTile`. */
export interface Stain {
  readonly haematoxylin: number;
  readonly eosin: number;
  readonly orange: number;
}

/** Creates a stamp. @param stainAt returns the stain and the coverage at a position relative to the centre; null outside the cell */
export function createStamp(
  width: number,
  height: number,
  stainAt: (x: number, y: number) => (Stain & { readonly cover: number }) | null,
): Stamp {
  const values = new Float32Array(width * height * 4);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const stain = stainAt(column + 0.5 - width / 2, row + 0.5 - height / 2);
      if (stain === null || stain.cover <= 0) continue;
      const i = (row * width + column) * 4;
      values[i] = stain.cover;
      values[i + 1] = stain.haematoxylin * stain.cover;
      values[i + 2] = stain.eosin * stain.cover;
      values[i + 3] = stain.orange * stain.cover;
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
  /** 0…1. Below 1 the tissue under the stamp is visible, as when the section contains only a thin slice of a nucleus. */
  readonly opacity: number;
}

export interface PlacedStamp extends Placement {
  readonly stamp: Stamp;
}

/** Blends a stamp into a tile, with bilinear sampling. */
// oxlint-disable-next-line lamina/max-own-lines -- the loop over pixels calls no functions, for speed
export function applyStamp(tile: StainTile, stamp: Stamp, placement: Placement): void {
  const { width, height, values } = stamp;
  const { haematoxylin, eosin, orange, size } = tile;
  // `cos` and `sin` rotate and scale from the tile into the stamp, so they contain 1 / scale. The reach of the stamp in
  // the tile must contain the factor scale instead, so it is multiplied by scale² below.
  const cos = Math.cos(placement.angle) / placement.scale;
  const sin = Math.sin(placement.angle) / placement.scale;
  const centreX = placement.x - tile.x;
  const centreY = placement.y - tile.y;
  const reachX = (Math.abs(cos) * width + Math.abs(sin) * height) * 0.5 * placement.scale * placement.scale;
  const reachY = (Math.abs(sin) * width + Math.abs(cos) * height) * 0.5 * placement.scale * placement.scale;
  const firstColumn = Math.max(0, Math.ceil(centreX - reachX));
  const lastColumn = Math.min(size - 1, Math.floor(centreX + reachX));
  const firstRow = Math.max(0, Math.ceil(centreY - reachY));
  const lastRow = Math.min(size - 1, Math.floor(centreY + reachY));
  const stride = width * 4;
  for (let row = firstRow; row <= lastRow; row++) {
    const dy = row - centreY;
    for (let column = firstColumn; column <= lastColumn; column++) {
      const dx = column - centreX;
      // Position in the stamp.
      const sx = dx * cos + dy * sin + width / 2 - 0.5;
      const sy = dy * cos - dx * sin + height / 2 - 0.5;
      if (sx < 0 || sy < 0 || sx >= width - 1 || sy >= height - 1) continue;
      const left = sx | 0; // drops the fraction
      const top = sy | 0;
      const fx = sx - left;
      const fy = sy - top;
      // Weights of the four pixels of the stamp around the position: top left, top right, bottom left, bottom right.
      const a = (1 - fx) * (1 - fy);
      const b = fx * (1 - fy);
      const c = (1 - fx) * fy;
      const d = fx * fy;
      // Indices of the top left and the bottom left pixel.
      const i = top * stride + left * 4;
      const j = i + stride;
      const cover =
        (values[i] as number) * a +
        (values[i + 4] as number) * b +
        (values[j] as number) * c +
        (values[j + 4] as number) * d;
      if (cover < 0.004) continue; // about 1/255, too little to be visible
      // Interpolated amounts of haematoxylin, eosin and orange.
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
      const pixel = row * size + column;
      const transparency = 1 - cover * placement.opacity;
      const gain = placement.density * placement.opacity;
      haematoxylin[pixel] = (haematoxylin[pixel] as number) * transparency + h * gain;
      eosin[pixel] = (eosin[pixel] as number) * transparency + e * gain;
      orange[pixel] = (orange[pixel] as number) * transparency + o * gain;
    }
  }
}
