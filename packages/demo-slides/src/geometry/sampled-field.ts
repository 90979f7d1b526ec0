/**
 * Quantities that change slowly over the slide, such as the depth below a surface or a density. They are evaluated on a coarse grid
 * and interpolated at every pixel, which is much faster than evaluating them at every pixel.
 */
import type { SquareArea } from './square-area.ts';

/** Pixels between two grid nodes. */
const STEP = 16;

/** The values of several quantities at every 16th pixel of a tile, including its right and bottom edge. */
export interface SampledField {
  readonly tile: SquareArea;
  /** Number of quantities. */
  readonly quantityCount: number;
  /** The values row by row; for each node one value per quantity. */
  readonly nodes: Float64Array;
}

/** Evaluates quantities on the grid of a tile. @param evaluate writes the quantities at a position on the slide into `out` */
export function sampleField(
  tile: SquareArea,
  quantityCount: number,
  evaluate: (x: number, y: number, out: Float64Array) => void,
): SampledField {
  const nodesPerRow = countNodesPerRow(tile);
  const out = new Float64Array(quantityCount);
  const nodes = new Float64Array(nodesPerRow * nodesPerRow * quantityCount);
  for (let row = 0; row < nodesPerRow; row++) {
    for (let column = 0; column < nodesPerRow; column++) {
      evaluate(tile.x + column * STEP, tile.y + row * STEP, out);
      nodes.set(out, (row * nodesPerRow + column) * quantityCount);
    }
  }
  return { tile, quantityCount, nodes };
}

function countNodesPerRow(tile: SquareArea): number {
  return Math.ceil(tile.size / STEP) + 1;
}

/** Returns the minimum and maximum of a quantity over the nodes of the tile. @param quantity index of the quantity */
export function rangeOf(
  { quantityCount, nodes }: SampledField,
  quantity: number,
): { min: number; max: number } {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (let i = quantity; i < nodes.length; i += quantityCount) {
    const value = nodes[i] as number;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return { min, max };
}

/** Writes the value of a quantity at every pixel of the tile, interpolated between the nodes, into `plane`. */
export function interpolate(
  { tile, quantityCount, nodes }: SampledField,
  quantity: number,
  plane: Float32Array,
): void {
  const { size } = tile;
  const nodesPerRow = countNodesPerRow(tile);
  for (let y = 0; y < size; y++) {
    const firstNodeOfRow = Math.floor(y / STEP) * nodesPerRow;
    const weightBelow = (y % STEP) / STEP;
    let pixel = y * size;
    const rowEnd = pixel + size;
    let i = firstNodeOfRow * quantityCount + quantity;
    /** Distance in `nodes` to the same quantity of the node below. */
    const below = nodesPerRow * quantityCount;
    // `value` and `right` are the values at the left and right node of the current section of the row.
    let right = (nodes[i] as number) * (1 - weightBelow) + (nodes[i + below] as number) * weightBelow;
    while (pixel < rowEnd) {
      i += quantityCount;
      let value = right;
      right = (nodes[i] as number) * (1 - weightBelow) + (nodes[i + below] as number) * weightBelow;
      const slope = (right - value) / STEP;
      const sectionEnd = Math.min(rowEnd, pixel + STEP);
      while (pixel < sectionEnd) {
        plane[pixel++] = value;
        value += slope;
      }
    }
  }
}
