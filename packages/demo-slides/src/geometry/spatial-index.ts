/** Finds grid squares and items in or near a tile, so that drawing a tile does not visit the whole slide. */
import type { SquareArea } from './square-area.ts';

/** Calls `visit` for every square of a grid that lies in a tile or within `margin` pixels of it. @param spacing side of the squares */
export function forEachSquare(
  tile: SquareArea,
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

/** Finds items by their position on the slide. Each item is stored in all index squares that its bounding rectangle overlaps. */
export class SpatialIndex<Item> {
  readonly #squares = new Map<number, Item[]>();
  /** The number of each item in the order of `add`. */
  readonly #order = new Map<Item, number>();
  readonly #side: number;

  /** @param side side of the index squares in pixels, about the size of an item */
  constructor(side: number) {
    this.#side = side;
  }

  /** Adds an item with its bounding rectangle in pixels. Consecutive calls may add several rectangles of one item. */
  add(item: Item, left: number, top: number, right: number, bottom: number): void {
    if (!this.#order.has(item)) this.#order.set(item, this.#order.size);
    for (let row = Math.floor(top / this.#side); row <= Math.floor(bottom / this.#side); row++) {
      for (let column = Math.floor(left / this.#side); column <= Math.floor(right / this.#side); column++) {
        const items = this.#squares.get(keyOf(column, row));
        if (items === undefined) this.#squares.set(keyOf(column, row), [item]);
        else if (items[items.length - 1] !== item) items.push(item);
      }
    }
  }

  /** Returns the items whose rectangle overlaps the index square at a position. */
  near(x: number, y: number): readonly Item[] {
    return this.#squares.get(keyOf(Math.floor(x / this.#side), Math.floor(y / this.#side))) ?? [];
  }

  /** Returns the items that may overlap a tile. They are in the order of `add`, so all tiles draw them in the same order. */
  touching(tile: SquareArea): readonly Item[] {
    const touchingItems = new Set<Item>();
    const lastRow = Math.floor((tile.y + tile.size - 1) / this.#side);
    const lastColumn = Math.floor((tile.x + tile.size - 1) / this.#side);
    for (let row = Math.floor(tile.y / this.#side); row <= lastRow; row++) {
      for (let column = Math.floor(tile.x / this.#side); column <= lastColumn; column++) {
        for (const item of this.#squares.get(keyOf(column, row)) ?? []) touchingItems.add(item);
      }
    }
    const orderOf = (item: Item) => this.#order.get(item) ?? 0;
    return [...touchingItems].sort((a, b) => orderOf(a) - orderOf(b));
  }
}

/** Returns a number for a square, unique because slides have fewer than 65,536 columns of squares. */
function keyOf(column: number, row: number): number {
  return row * 65536 + column;
}
