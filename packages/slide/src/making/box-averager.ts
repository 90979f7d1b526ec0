import type { Colour, Raster } from '../decode/raster.ts';

/**
 * Puts a picture together from pieces of a larger one: every pixel of the answer is the mean of the area it
 * covers (a box filter), each piece counting by how much of it lies there.
 *
 * Pieces are added one after the other and forgotten, so that memory depends on the answer alone.
 */
export class BoxAverager {
  readonly #width: number;
  readonly #height: number;
  readonly #sums: Float32Array;
  /** How much of each pixel the pieces have covered, 0…1. */
  readonly #areas: Float32Array;

  /** @param width and height: of the answer, in pixels */
  constructor(width: number, height: number) {
    this.#width = width;
    this.#height = height;
    this.#sums = new Float32Array(width * height * 3);
    this.#areas = new Float32Array(width * height);
  }

  /**
   * @param x and y: where the piece's top left corner lies, in pixels of the answer; any number
   * @param scaleX and scaleY: how large one of its pixels is there, above 0 and at most 1
   */
  add(piece: Raster, x: number, y: number, scaleX: number, scaleY: number): void {
    const columns = spread(piece.width, x, scaleX, this.#width);
    const rows = spread(piece.height, y, scaleY, this.#height);
    for (let j = 0; j < piece.height; j++) {
      const row = rows.first[j] as number;
      this.#addRow(piece, j, columns, row, rows.firstShare[j] as number);
      this.#addRow(piece, j, columns, row + 1, rows.secondShare[j] as number);
    }
  }

  #addRow(piece: Raster, j: number, columns: Spread, row: number, rowShare: number): void {
    if (rowShare === 0) return;
    const { first, firstShare, secondShare } = columns;
    const start = row * this.#width;
    for (let i = 0, from = j * piece.width * 3; i < piece.width; i++, from += 3) {
      const at = start + (first[i] as number);
      const here = (firstShare[i] as number) * rowShare;
      const beside = (secondShare[i] as number) * rowShare;
      if (here > 0) this.#addPixel(at, here, piece.rgb, from);
      if (beside > 0) this.#addPixel(at + 1, beside, piece.rgb, from);
    }
  }

  #addPixel(at: number, area: number, rgb: Uint8Array, from: number): void {
    const sums = this.#sums;
    this.#areas[at] = (this.#areas[at] as number) + area;
    sums[at * 3] = (sums[at * 3] as number) + area * (rgb[from] as number);
    sums[at * 3 + 1] = (sums[at * 3 + 1] as number) + area * (rgb[from + 1] as number);
    sums[at * 3 + 2] = (sums[at * 3 + 2] as number) + area * (rgb[from + 2] as number);
  }

  /** @param background for pixels that no piece has touched */
  finish(background: Colour): Raster {
    const rgb = new Uint8Array(this.#width * this.#height * 3);
    const sums = this.#sums;
    for (let at = 0, to = 0; to < rgb.length; at++, to += 3) {
      const area = this.#areas[at] as number;
      if (area > 0) {
        rgb[to] = (sums[to] as number) / area + 0.5;
        rgb[to + 1] = (sums[to + 1] as number) / area + 0.5;
        rgb[to + 2] = (sums[to + 2] as number) / area + 0.5;
      } else {
        rgb[to] = background.r;
        rgb[to + 1] = background.g;
        rgb[to + 2] = background.b;
      }
    }
    return { width: this.#width, height: this.#height, rgb };
  }
}

/**
 * How the pixels of a piece lie on those of the answer, along one axis: a pixel no larger than one of the answer's
 * lies on one of them or on two neighbours.
 */
interface Spread {
  readonly first: Int32Array;
  /** Share of the first one, and of the one after it, that the pixel covers; 0 outside the answer. */
  readonly firstShare: Float32Array;
  readonly secondShare: Float32Array;
}

/** Corners that should lie on the edge of a pixel miss it by the rounding of numbers. */
const EPSILON = 1e-6;

function spread(count: number, start: number, scale: number, limit: number): Spread {
  const first = new Int32Array(count);
  const firstShare = new Float32Array(count);
  const secondShare = new Float32Array(count);
  const isInside = (pixel: number) => pixel >= 0 && pixel < limit;
  for (let i = 0; i < count; i++) {
    const from = start + i * scale;
    const pixel = Math.floor(from + EPSILON);
    const over = from + scale - (pixel + 1);
    const second = over > EPSILON ? over : 0;
    first[i] = pixel;
    firstShare[i] = isInside(pixel) ? scale - second : 0;
    secondShare[i] = isInside(pixel + 1) ? second : 0;
  }
  return { first, firstShare, secondShare };
}
