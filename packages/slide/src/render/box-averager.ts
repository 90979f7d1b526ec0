import type { Colour, Raster } from '../decode/raster.ts';

/**
 * Scales an image down with a box filter. The image is added in pieces. Every pixel of the result is the mean of the pixels that
 * it covers, each weighted by the area that the two share.
 *
 * Pieces do not overlap. They are added one after the other and not retained, so memory depends only on the size of the result.
 */
export class BoxAverager {
  readonly #width: number;
  readonly #height: number;
  readonly #rgb: Uint8Array;
  /** 1 for each pixel of the result that was copied from a piece without averaging. */
  readonly #copied: Uint8Array;
  /** Number of copied pixels. */
  #copiedCount = 0;
  /** The sums from which `finish` computes the means; null until a piece is averaged. */
  #sums: WeightedSums | null = null;

  /**
   * @param width width of the result in pixels
   * @param height height of the result in pixels
   */
  constructor(width: number, height: number) {
    this.#width = width;
    this.#height = height;
    this.#rgb = new Uint8Array(width * height * 3);
    this.#copied = new Uint8Array(width * height);
  }

  /**
   * Adds a piece.
   *
   * @param x left edge of the piece in pixels of the result; may be fractional or outside the result
   * @param y top edge of the piece, like `x`
   * @param scaleX width of the piece's pixels in pixels of the result, above 0 and at most 1
   * @param scaleY height of the piece's pixels in pixels of the result, above 0 and at most 1
   */
  add(piece: Raster, x: number, y: number, scaleX: number, scaleY: number): void {
    if (scaleX === 1 && scaleY === 1 && Number.isInteger(x) && Number.isInteger(y)) {
      this.#copy(piece, x, y);
      return;
    }
    const pixels = this.#width * this.#height;
    this.#sums ??= { colours: new Float32Array(pixels * 3), areas: new Float32Array(pixels) };
    const columns = coverageAlongAxis(piece.width, x, scaleX, this.#width);
    const rows = coverageAlongAxis(piece.height, y, scaleY, this.#height);
    const rowSums = createRowSums(columns, this.#width);
    for (let pieceRow = 0; pieceRow < piece.height; pieceRow++) {
      const share = rows.firstShare[pieceRow] as number;
      const shareBelow = rows.secondShare[pieceRow] as number;
      if (share === 0 && shareBelow === 0) continue;
      sumRow(piece, pieceRow, columns, rowSums);
      const row = rows.first[pieceRow] as number;
      if (share > 0) addRowSums(rowSums, this.#sums, row * this.#width, share);
      if (shareBelow > 0) addRowSums(rowSums, this.#sums, (row + 1) * this.#width, shareBelow);
    }
  }

  /** Copies a piece whose pixels coincide with pixels of the result. Most tiles are such pieces. */
  #copy({ rgb, width, height }: Raster, x: number, y: number): void {
    const left = Math.max(0, x);
    const right = Math.min(this.#width, x + width);
    if (left >= right) return;
    for (let row = Math.max(0, y); row < Math.min(this.#height, y + height); row++) {
      // Index of the piece's pixel that lies in column 0 of the result; it may be negative.
      const pieceStart = (row - y) * width - x;
      const resultStart = row * this.#width;
      const samples = rgb.subarray((pieceStart + left) * 3, (pieceStart + right) * 3);
      this.#rgb.set(samples, (resultStart + left) * 3);
      this.#copied.fill(1, resultStart + left, resultStart + right);
      this.#copiedCount += right - left;
    }
  }

  /** Returns the result. @param background colour of pixels that no piece covers */
  finish(background: Colour): Raster {
    if (this.#copiedCount < this.#width * this.#height) this.#fillUncopied(background);
    return { width: this.#width, height: this.#height, rgb: this.#rgb };
  }

  /** Fills the pixels of `#rgb` that were not copied: with their mean, or with the background where no piece contributed. */
  #fillUncopied(background: Colour): void {
    const rgb = this.#rgb;
    const copied = this.#copied;
    const { colours, areas } = this.#sums ?? { colours: [], areas: [] };
    for (let pixel = 0, i = 0; i < rgb.length; pixel++, i += 3) {
      if (copied[pixel] === 1) continue;
      const area = areas[pixel] ?? 0;
      if (area > 0) {
        // The Uint8Array truncates, so + 0.5 rounds.
        const factor = 1 / area;
        rgb[i] = (colours[i] as number) * factor + 0.5;
        rgb[i + 1] = (colours[i + 1] as number) * factor + 0.5;
        rgb[i + 2] = (colours[i + 2] as number) * factor + 0.5;
      } else {
        rgb[i] = background.r;
        rgb[i + 1] = background.g;
        rgb[i + 2] = background.b;
      }
    }
  }
}

/** Sums over the pieces for each pixel of the result. The mean colour of a pixel is `colours` divided by `areas`. */
interface WeightedSums {
  /** Red, green and blue of each pixel, weighted by the covered area. */
  readonly colours: Float32Array;
  /** Covered area of each pixel, 0…1. */
  readonly areas: Float32Array;
}

/**
 * Adds the sums of a row of a piece to a row of the result.
 *
 * @param rowStart index of the first pixel of the result's row
 * @param share part of the height of the result's row that the row of the piece covers, 0…1
 */
function addRowSums(
  rowSums: RowSums,
  { colours, areas }: WeightedSums,
  rowStart: number,
  share: number,
): void {
  const firstPixel = rowStart + rowSums.start;
  for (let i = 0, pixel = firstPixel; i < rowSums.widths.length; i++, pixel++) {
    areas[pixel] = (areas[pixel] as number) + (rowSums.widths[i] as number) * share;
  }
  for (let i = 0, sample = firstPixel * 3; i < rowSums.colours.length; i++, sample++) {
    colours[sample] = (colours[sample] as number) + (rowSums.colours[i] as number) * share;
  }
}

/**
 * The pixels of the result that each pixel of a piece covers along one axis. It covers one, or two that are adjacent, because it
 * is at most as large as a pixel of the result.
 */
interface Coverage {
  /** Index of the first covered pixel of the result; it may lie outside the result. */
  readonly first: Int32Array;
  /** Shares of that pixel and of the next one that are covered, 0…1; 0 outside the result. */
  readonly firstShare: Float32Array;
  readonly secondShare: Float32Array;
}

/** Tolerance for edges that miss a pixel boundary by rounding. */
const EPSILON = 1e-6;

/**
 * Computes which pixels of the result the pixels of a piece cover along one axis.
 *
 * @param count pixels of the piece
 * @param start edge of its first pixel in pixels of the result
 * @param scale size of its pixels in pixels of the result
 * @param limit pixels of the result
 */
function coverageAlongAxis(count: number, start: number, scale: number, limit: number): Coverage {
  const first = new Int32Array(count);
  const firstShare = new Float32Array(count);
  const secondShare = new Float32Array(count);
  const isInside = (pixel: number) => pixel >= 0 && pixel < limit;
  for (let i = 0; i < count; i++) {
    const edge = start + i * scale; // left or top edge of the piece's pixel
    const pixel = Math.floor(edge + EPSILON);
    const beyond = edge + scale - (pixel + 1); // how far the piece's pixel extends into the next pixel; negative if not at all
    const nextShare = beyond > EPSILON ? beyond : 0;
    first[i] = pixel;
    firstShare[i] = isInside(pixel) ? scale - nextShare : 0;
    secondShare[i] = isInside(pixel + 1) ? nextShare : 0;
  }
  return { first, firstShare, secondShare };
}

/** One row of a piece, summed horizontally for each pixel of the result that the row covers. */
interface RowSums {
  /** Column of the first covered pixel. */
  readonly start: number;
  /** Sums of red, green and blue for each covered pixel, weighted by the covered width. */
  readonly colours: Float32Array;
  /** Covered width of each pixel, 0…1; the same for every row of a piece. */
  readonly widths: Float32Array;
}

/** Creates the sums for the rows of a piece: `widths` is computed from its columns, `colours` are 0. @param width width of the result */
function createRowSums({ first, firstShare, secondShare }: Coverage, width: number): RowSums {
  const start = Math.min(Math.max(0, first[0] ?? 0), width);
  // The piece's last column may cover two pixels of the result: the first at `first.at(-1)` and the one after it.
  const lastPixel = (first.at(-1) ?? 0) + 1;
  const end = Math.max(start, Math.min(width, lastPixel + 1));
  const widths = new Float32Array(end - start);
  for (let i = 0; i < first.length; i++) {
    const pixel = (first[i] as number) - start;
    const share = firstShare[i] as number;
    const shareRight = secondShare[i] as number;
    if (share > 0) widths[pixel] = (widths[pixel] as number) + share;
    if (shareRight > 0) widths[pixel + 1] = (widths[pixel + 1] as number) + shareRight;
  }
  return { start, colours: new Float32Array(widths.length * 3), widths };
}

/** Overwrites `sums` with the colours of one row of a piece, weighted by the shares of the piece's columns. */
function sumRow(
  { rgb, width }: Raster,
  row: number,
  columns: Coverage,
  { start, colours: sums }: RowSums,
): void {
  const { first, firstShare, secondShare } = columns;
  sums.fill(0);
  for (let i = 0, source = row * width * 3; i < width; i++, source += 3) {
    const target = ((first[i] as number) - start) * 3;
    const share = firstShare[i] as number;
    const shareRight = secondShare[i] as number;
    const r = rgb[source] as number;
    const g = rgb[source + 1] as number;
    const b = rgb[source + 2] as number;
    if (share > 0) {
      sums[target] = (sums[target] as number) + share * r;
      sums[target + 1] = (sums[target + 1] as number) + share * g;
      sums[target + 2] = (sums[target + 2] as number) + share * b;
    }
    if (shareRight > 0) {
      sums[target + 3] = (sums[target + 3] as number) + shareRight * r;
      sums[target + 4] = (sums[target + 4] as number) + shareRight * g;
      sums[target + 5] = (sums[target + 5] as number) + shareRight * b;
    }
  }
}
