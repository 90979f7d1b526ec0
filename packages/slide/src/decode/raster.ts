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
  if (factor === 2 && raster.width % 2 === 0 && raster.height % 2 === 0) return halveRaster(raster);
  const width = Math.ceil(raster.width / factor);
  const height = Math.ceil(raster.height / factor);
  const rgb = new Uint8Array(width * height * 3);
  const sums = new Uint32Array(width * 3);
  for (let y = 0; y < height; y++) {
    const top = y * factor;
    const rows = Math.min(factor, raster.height - top);
    sums.fill(0);
    for (let row = top; row < top + rows; row++) addRow(raster, row, factor, sums);
    for (let x = 0, at = y * width * 3; x < width; x++) {
      const part = 1 / (rows * Math.min(factor, raster.width - x * factor));
      for (let sample = x * 3; sample < x * 3 + 3; sample++)
        rgb[at++] = (sums[sample] as number) * part + 0.5;
    }
  }
  return { width, height, rgb };
}

/** The step that most made tiles take; in a loop of its own it costs a third. */
function halveRaster({ rgb, width, height }: Raster): Raster {
  const rowBytes = width * 3;
  const half = new Uint8Array(rgb.length / 4);
  let to = 0;
  for (let upper = 0; upper < height * rowBytes; upper += 2 * rowBytes) {
    for (let at = upper, end = upper + rowBytes; at < end; at += 6, to += 3) {
      const below = at + rowBytes;
      half[to] = (sample(at) + sample(at + 3) + sample(below) + sample(below + 3) + 2) >> 2;
      half[to + 1] = (sample(at + 1) + sample(at + 4) + sample(below + 1) + sample(below + 4) + 2) >> 2;
      half[to + 2] = (sample(at + 2) + sample(at + 5) + sample(below + 2) + sample(below + 5) + 2) >> 2;
    }
  }
  return { width: width / 2, height: height / 2, rgb: half };

  function sample(at: number): number {
    return rgb[at] as number;
  }
}

/** Adds the samples of a row to the sums of the pixels that they become part of. */
function addRow({ rgb, width }: Raster, row: number, factor: number, sums: Uint32Array): void {
  let from = row * width * 3;
  const end = from + width * 3;
  for (let to = 0; from < end; to += 3) {
    let r = 0;
    let g = 0;
    let b = 0;
    for (const stop = Math.min(from + factor * 3, end); from < stop; from += 3) {
      r += rgb[from] as number;
      g += rgb[from + 1] as number;
      b += rgb[from + 2] as number;
    }
    sums[to] = (sums[to] as number) + r;
    sums[to + 1] = (sums[to + 1] as number) + g;
    sums[to + 2] = (sums[to + 2] as number) + b;
  }
}
