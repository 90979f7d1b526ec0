/** A picture as pixels: RGB, 8 bits a sample, row by row from the top left. */
export interface Raster {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** width × height × 3 samples. */
  readonly rgb: Uint8Array;
}

export interface Colour {
  /** 0…255 each. */
  readonly r: number;
  readonly g: number;
  readonly b: number;
}

/** A part of a picture, by its place and size in pixels. */
export function cropRaster(raster: Raster, x: number, y: number, width: number, height: number): Raster {
  if (width === raster.width && height === raster.height) return raster;
  const rgb = new Uint8Array(width * height * 3);
  for (let row = 0; row < height; row++) {
    const start = ((y + row) * raster.width + x) * 3;
    rgb.set(raster.rgb.subarray(start, start + width * 3), row * width * 3);
  }
  return { width, height, rgb };
}

/**
 * Every pixel of the answer is the mean of `factor × factor` pixels; those on the right and bottom edges are the
 * mean of what is left there.
 *
 * @param factor a whole number
 */
export function shrinkRaster(raster: Raster, factor: number): Raster {
  if (factor === 1) return raster;
  const width = Math.ceil(raster.width / factor);
  const height = Math.ceil(raster.height / factor);
  const rgb = new Uint8Array(width * height * 3);
  const sums = new Uint32Array(width * 3);
  for (let y = 0; y < height; y++) {
    const top = y * factor;
    const bottom = Math.min(top + factor, raster.height);
    sums.fill(0);
    for (let row = top; row < bottom; row++) {
      let from = row * raster.width * 3;
      for (let x = 0; x < raster.width; x++) {
        const to = Math.trunc(x / factor) * 3;
        for (let sample = to; sample < to + 3; sample++) {
          sums[sample] = (sums[sample] as number) + (raster.rgb[from++] as number);
        }
      }
    }
    for (let x = 0; x < width; x++) {
      const pixels = (bottom - top) * Math.min(factor, raster.width - x * factor);
      for (let sample = x * 3; sample < x * 3 + 3; sample++) {
        rgb[y * width * 3 + sample] = Math.round((sums[sample] as number) / pixels);
      }
    }
  }
  return { width, height, rgb };
}
