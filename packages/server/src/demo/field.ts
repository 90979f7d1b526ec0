/** Slowly changing quantities (depth below a surface, density): asked at few places, read at every pixel. */
import type { StainTile } from './stain.ts';

/** Pixels between two places that are asked. */
const STEP = 16;

/** Some quantities at every 16th pixel of a tile and its right and bottom edge. */
export interface Survey {
  readonly tile: StainTile;
  readonly quantities: number;
  /** Row by row, at each place the quantities in order. */
  readonly nodes: Float64Array;
}

/** @param evaluate writes the quantities at a place of the slide into `out` */
export function survey(
  tile: StainTile,
  quantities: number,
  evaluate: (x: number, y: number, out: Float64Array) => void,
): Survey {
  const across = nodesAcross(tile);
  const out = new Float64Array(quantities);
  const nodes = new Float64Array(across * across * quantities);
  for (let row = 0; row < across; row++) {
    for (let column = 0; column < across; column++) {
      evaluate(tile.x + column * STEP, tile.y + row * STEP, out);
      nodes.set(out, (row * across + column) * quantities);
    }
  }
  return { tile, quantities, nodes };
}

function nodesAcross(tile: StainTile): number {
  return Math.ceil(tile.size / STEP) + 1;
}

/** Least and greatest value of a quantity in the tile. */
export function rangeOf({ quantities, nodes }: Survey, quantity: number): { least: number; most: number } {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (let i = quantity; i < nodes.length; i += quantities) {
    const value = nodes[i] as number;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return { least, most };
}

/** A quantity at every pixel of the tile, in straight lines between the places that were asked. */
export function spread({ tile, quantities, nodes }: Survey, quantity: number, plane: Float32Array): void {
  const { size } = tile;
  const across = nodesAcross(tile);
  for (let y = 0; y < size; y++) {
    const top = Math.floor(y / STEP) * across;
    const fy = (y % STEP) / STEP;
    let at = y * size;
    const rowEnd = at + size;
    let i = top * quantities + quantity;
    const below = across * quantities;
    let right = (nodes[i] as number) * (1 - fy) + (nodes[i + below] as number) * fy;
    while (at < rowEnd) {
      i += quantities;
      let value = right;
      right = (nodes[i] as number) * (1 - fy) + (nodes[i + below] as number) * fy;
      const slope = (right - value) / STEP;
      const end = Math.min(rowEnd, at + STEP);
      while (at < end) {
        plane[at++] = value;
        value += slope;
      }
    }
  }
}

/** Every place of a jittered grid that may touch a tile: one place per square of `spacing` pixels. */
export function forEachSquare(
  tile: StainTile,
  spacing: number,
  margin: number,
  visit: (column: number, row: number) => void,
): void {
  const lastColumn = Math.floor((tile.x + tile.size + margin) / spacing);
  const lastRow = Math.floor((tile.y + tile.size + margin) / spacing);
  for (let row = Math.floor((tile.y - margin) / spacing); row <= lastRow; row++) {
    for (let column = Math.floor((tile.x - margin) / spacing); column <= lastColumn; column++) {
      visit(column, row);
    }
  }
}

/** Things with a place, found by the square of the slide they touch. */
export class PlaceIndex<T> {
  readonly #squares = new Map<number, T[]>();
  readonly #order = new Map<T, number>();
  readonly #side: number;

  /** @param side of the squares in pixels, about the size of what is looked for */
  constructor(side: number) {
    this.#side = side;
  }

  /** The rectangle in pixels that the thing may touch. */
  add(thing: T, left: number, top: number, right: number, bottom: number): void {
    if (!this.#order.has(thing)) this.#order.set(thing, this.#order.size);
    for (let row = Math.floor(top / this.#side); row <= Math.floor(bottom / this.#side); row++) {
      for (let column = Math.floor(left / this.#side); column <= Math.floor(right / this.#side); column++) {
        const there = this.#squares.get(keyOf(column, row));
        if (there === undefined) this.#squares.set(keyOf(column, row), [thing]);
        else if (there[there.length - 1] !== thing) there.push(thing);
      }
    }
  }

  /** What may touch the square around a place. */
  near(x: number, y: number): readonly T[] {
    return this.#squares.get(keyOf(Math.floor(x / this.#side), Math.floor(y / this.#side))) ?? [];
  }

  /** What may touch a tile, each once, in the order it was added: so tiles agree what lies over what. */
  touching(tile: StainTile): readonly T[] {
    const found = new Set<T>();
    const lastRow = Math.floor((tile.y + tile.size - 1) / this.#side);
    const lastColumn = Math.floor((tile.x + tile.size - 1) / this.#side);
    for (let row = Math.floor(tile.y / this.#side); row <= lastRow; row++) {
      for (let column = Math.floor(tile.x / this.#side); column <= lastColumn; column++) {
        for (const thing of this.#squares.get(keyOf(column, row)) ?? []) found.add(thing);
      }
    }
    const placeOf = (thing: T) => this.#order.get(thing) ?? 0;
    return [...found].sort((a, b) => placeOf(a) - placeOf(b));
  }
}

function keyOf(column: number, row: number): number {
  return row * 65536 + column;
}
