import type { Colour, Raster } from '../decode/raster.ts';

/**
 * Assembles a picture from pieces of a larger one. Every pixel is the mean of the area it covers (a box
 * filter); each piece contributes by the area it covers.
 *
 * Pieces are added one after the other and not retained, so memory depends only on the size of the result.
 */
export class BoxAverager {
  readonly #width: number;
  readonly #height: number;
  readonly #rgb: Uint8Array;
  /** 1 for each pixel that is an exact copy of a piece's pixel. */
  readonly #copied: Uint8Array;
  #copiedCount = 0;
  /** Sums for all other pixels; null until there is one. */
  #means: Means | null = null;

  /**
   * @param width in pixels of the result
   * @param height in pixels of the result
   */
  constructor(width: number, height: number) {
    this.#width = width;
    this.#height = height;
    this.#rgb = new Uint8Array(width * height * 3);
    this.#copied = new Uint8Array(width * height);
  }

  /**
   * @param x left edge of the piece in pixels of the result; any number
   * @param y top edge, likewise
   * @param scaleX size of the piece's pixels in pixels of the result, above 0 and at most 1
   * @param scaleY likewise
   */
  add(piece: Raster, x: number, y: number, scaleX: number, scaleY: number): void {
    if (scaleX === 1 && scaleY === 1 && Number.isInteger(x) && Number.isInteger(y)) {
      this.#copy(piece, x, y);
      return;
    }
    const pixels = this.#width * this.#height;
    this.#means ??= { sums: new Float32Array(pixels * 3), areas: new Float32Array(pixels) };
    const columns = spread(piece.width, x, scaleX, this.#width);
    const rows = spread(piece.height, y, scaleY, this.#height);
    const line = lineUnder(columns, this.#width);
    for (let j = 0; j < piece.height; j++) {
      const here = rows.firstShare[j] as number;
      const below = rows.secondShare[j] as number;
      if (here === 0 && below === 0) continue;
      averageLine(piece, j, columns, line);
      const row = rows.first[j] as number;
      if (here > 0) addLine(line, this.#means, row * this.#width, here);
      if (below > 0) addLine(line, this.#means, (row + 1) * this.#width, below);
    }
  }

  /** Copies a piece whose pixels coincide with those of the result, which most tiles need. */
  #copy({ rgb, width, height }: Raster, x: number, y: number): void {
    const left = Math.max(0, x);
    const right = Math.min(this.#width, x + width);
    if (left >= right) return;
    for (let row = Math.max(0, y); row < Math.min(this.#height, y + height); row++) {
      const from = (row - y) * width - x;
      const to = row * this.#width;
      this.#rgb.set(rgb.subarray((from + left) * 3, (from + right) * 3), (to + left) * 3);
      this.#copied.fill(1, to + left, to + right);
      this.#copiedCount += right - left;
    }
  }

  /** @param background colour of pixels that no piece covers */
  finish(background: Colour): Raster {
    const result = { width: this.#width, height: this.#height, rgb: this.#rgb };
    if (this.#copiedCount < this.#width * this.#height) this.#fillOthers(background);
    return result;
  }

  #fillOthers(background: Colour): void {
    const rgb = this.#rgb;
    const copied = this.#copied;
    const { sums, areas } = this.#means ?? { sums: [], areas: [] };
    for (let at = 0, to = 0; to < rgb.length; at++, to += 3) {
      if (copied[at] === 1) continue;
      const area = areas[at] ?? 0;
      if (area > 0) {
        const part = 1 / area;
        rgb[to] = (sums[to] as number) * part + 0.5;
        rgb[to + 1] = (sums[to + 1] as number) * part + 0.5;
        rgb[to + 2] = (sums[to + 2] as number) * part + 0.5;
      } else {
        rgb[to] = background.r;
        rgb[to + 1] = background.g;
        rgb[to + 2] = background.b;
      }
    }
  }
}

/** The contributions of the pieces to each pixel. */
interface Means {
  readonly sums: Float32Array;
  /** Covered area of each pixel, 0…1. */
  readonly areas: Float32Array;
}

function addLine(line: Line, { sums, areas }: Means, row: number, share: number): void {
  const offset = row + line.start;
  for (let i = 0, at = offset; i < line.areas.length; i++, at++) {
    areas[at] = (areas[at] as number) + (line.areas[i] as number) * share;
  }
  for (let i = 0, at = offset * 3; i < line.sums.length; i++, at++) {
    sums[at] = (sums[at] as number) + (line.sums[i] as number) * share;
  }
}

/**
 * The position of a piece's pixels on those of the result, along one axis. A pixel is no larger than one of
 * the result, so it covers one or two neighbours.
 */
interface Spread {
  readonly first: Int32Array;
  /**
   * Shares of the first pixel and of the one after it that the piece's pixel covers; 0 outside the result.
   */
  readonly firstShare: Float32Array;
  readonly secondShare: Float32Array;
}

/** Tolerance for edges that miss a pixel boundary by rounding. */
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

/** A line of a piece, averaged over the result's pixels that it covers. */
interface Line {
  /** Index of the first covered pixel. */
  readonly start: number;
  readonly sums: Float32Array;
  /** Covered area of each pixel; the same for every line of a piece. */
  readonly areas: Float32Array;
}

function lineUnder({ first, firstShare, secondShare }: Spread, width: number): Line {
  const start = Math.min(Math.max(0, first[0] ?? 0), width);
  const end = Math.max(start, Math.min(width, (first.at(-1) ?? 0) + 2));
  const areas = new Float32Array(end - start);
  for (let i = 0; i < first.length; i++) {
    const at = (first[i] as number) - start;
    const here = firstShare[i] as number;
    const beside = secondShare[i] as number;
    if (here > 0) areas[at] = (areas[at] as number) + here;
    if (beside > 0) areas[at + 1] = (areas[at + 1] as number) + beside;
  }
  return { start, sums: new Float32Array(areas.length * 3), areas };
}

function averageLine({ rgb, width }: Raster, row: number, columns: Spread, { start, sums }: Line): void {
  const { first, firstShare, secondShare } = columns;
  sums.fill(0);
  for (let i = 0, from = row * width * 3; i < width; i++, from += 3) {
    const at = ((first[i] as number) - start) * 3;
    const here = firstShare[i] as number;
    const beside = secondShare[i] as number;
    const r = rgb[from] as number;
    const g = rgb[from + 1] as number;
    const b = rgb[from + 2] as number;
    if (here > 0) {
      sums[at] = (sums[at] as number) + here * r;
      sums[at + 1] = (sums[at + 1] as number) + here * g;
      sums[at + 2] = (sums[at + 2] as number) + here * b;
    }
    if (beside > 0) {
      sums[at + 3] = (sums[at + 3] as number) + beside * r;
      sums[at + 4] = (sums[at + 4] as number) + beside * g;
      sums[at + 5] = (sums[at + 5] as number) + beside * b;
    }
  }
}
