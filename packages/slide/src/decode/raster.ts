/** An image as RGB pixels, 8 bits per sample, row by row from the top left. */
export interface Raster {
  /** Size in pixels. */
  readonly width: number;
  readonly height: number;
  /** width × height × 3 samples. */
  readonly rgb: Uint8Array;
}

/** A colour; each value is 0…255. */
export interface Colour {
  readonly r: number;
  readonly g: number;
  readonly b: number;
}

/** Returns a rectangle of a raster; `x` and `y` are its top left pixel. Returns `raster` itself for a rectangle of its whole size. */
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
 * Reduces a raster. Every pixel of the result is the mean of `factor × factor` pixels; on the right and
 * bottom edges it is the mean of the remaining pixels.
 *
 * @param factor an integer of at least 1
 */
export function shrinkRaster(raster: Raster, factor: number): Raster {
  if (factor === 1) return raster;
  /** Whether rows consist of whole 32-bit words, as `halveRaster` requires. */
  const hasWholeWords = raster.width % 4 === 0 && raster.height % 2 === 0 && raster.rgb.byteOffset % 4 === 0;
  if (factor === 2 && hasWholeWords) return halveRaster(raster);
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
      const weight = 1 / (rows * Math.min(factor, raster.width - x * factor));
      // The Uint8Array truncates, so + 0.5 rounds.
      for (let sample = x * 3; sample < x * 3 + 3; sample++)
        rgb[at++] = (sums[sample] as number) * weight + 0.5;
    }
  }
  return { width, height, rgb };
}

/** Mask of bytes 0 and 2 of a 32-bit word. Each byte has 16 bits of space, enough for the sum of two bytes. */
const PAIR = 0x00ff00ff;
/** Mask of the lower of the two 16-bit sums in a word. */
const LOW = 0xffff;

/**
 * Halves a raster, the step that most rendered tiles need. It processes four pixels (three 32-bit words) and the four
 * below them at once, because processing sample by sample takes 50 % longer.
 */
function halveRaster({ rgb, width, height }: Raster): Raster {
  const words = new Uint32Array(rgb.buffer, rgb.byteOffset, rgb.length / 4);
  const rowWords = (width * 3) / 4;
  const half = new Uint8Array(rgb.length / 4);
  let to = 0;
  for (let upper = 0; upper < words.length; upper += 2 * rowWords) {
    for (let at = upper, end = upper + rowWords; at < end; at += 3, to += 6) {
      // The bytes of the three words are: r0 g0 b0 r1, g1 b1 r2 g2, b2 r3 g3 b3. Bytes 0 and 2 of a word are added to
      // bytes 0 and 2 of the word below; bytes 1 and 3 likewise. `r0b0` has the sum for r0 in its lower half and the sum
      // for b0 in its upper half. This requires a little-endian system.
      const above0 = words[at] as number;
      const above1 = words[at + 1] as number;
      const above2 = words[at + 2] as number;
      const below0 = words[at + rowWords] as number;
      const below1 = words[at + rowWords + 1] as number;
      const below2 = words[at + rowWords + 2] as number;
      const r0b0 = (above0 & PAIR) + (below0 & PAIR);
      const g0r1 = ((above0 >>> 8) & PAIR) + ((below0 >>> 8) & PAIR);
      const g1r2 = (above1 & PAIR) + (below1 & PAIR);
      const b1g2 = ((above1 >>> 8) & PAIR) + ((below1 >>> 8) & PAIR);
      const b2g3 = (above2 & PAIR) + (below2 & PAIR);
      const r3b3 = ((above2 >>> 8) & PAIR) + ((below2 >>> 8) & PAIR);
      // Each result is the sum of four samples, divided by 4; + 2 rounds.
      half[to] = ((r0b0 & LOW) + (g0r1 >>> 16) + 2) >> 2;
      half[to + 1] = ((g0r1 & LOW) + (g1r2 & LOW) + 2) >> 2;
      half[to + 2] = ((r0b0 >>> 16) + (b1g2 & LOW) + 2) >> 2;
      half[to + 3] = ((g1r2 >>> 16) + (r3b3 & LOW) + 2) >> 2;
      half[to + 4] = ((b1g2 >>> 16) + (b2g3 >>> 16) + 2) >> 2;
      half[to + 5] = ((b2g3 & LOW) + (r3b3 >>> 16) + 2) >> 2;
    }
  }
  return { width: width / 2, height: height / 2, rgb: half };
}

/** Adds the samples of a row to the sums of the reduced pixels to which they contribute. */
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
