/**
 * Quantities that change slowly over the slide (depth below a surface, density): evaluated on a coarse grid and
 * interpolated at every pixel.
 */
import type { SquareArea } from './square-area.ts';

/** Pixels between two grid nodes. */
const STEP = 16;

/** The values of some quantities at every 16th pixel of a tile, its right and bottom edge included. */
export interface SampledField {
  readonly tile: SquareArea;
  readonly quantities: number;
  /** Row by row; at each node the quantities in order. */
  readonly nodes: Float64Array;
}

/** @param evaluate writes the quantities at a position on the slide into `out` */
export function sampleField(
  tile: SquareArea,
  quantities: number,
  evaluate: (x: number, y: number, out: Float64Array) => void,
): SampledField {
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

function nodesAcross(tile: SquareArea): number {
  return Math.ceil(tile.size / STEP) + 1;
}

/** Returns the minimum and maximum of a quantity over the nodes of the tile. */
export function rangeOf({ quantities, nodes }: SampledField, quantity: number): { min: number; max: number } {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (let i = quantity; i < nodes.length; i += quantities) {
    const value = nodes[i] as number;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return { min: least, max: most };
}

/** Writes a quantity at every pixel of the tile into `plane`, interpolated linearly. */
export function interpolate(
  { tile, quantities, nodes }: SampledField,
  quantity: number,
  plane: Float32Array,
): void {
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
