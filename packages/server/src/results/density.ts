/**
 * Computes the density rasters of a vector layer (objects, such as cells, that an analysis program found). The viewer
 * shows them instead of objects when zoomed out. They state, for each class and each square cell of a grid, how many
 * objects have their centre in the cell.
 */
import { gzipSync } from 'node:zlib';
import type { ContainerWriter } from './container.ts';

/** One grid. The description of the layer's file (container.ts) contains these fields. */
export interface DensityLevel {
  /** Side of a cell in pixels of level 0 (full resolution). */
  readonly cell: number;
  /** Size of the grid in cells. */
  readonly width: number;
  readonly height: number;
  /** Top left corner of the grid in pixels of level 0. */
  readonly x: number;
  readonly y: number;
  /** For each class, the range of its counts in the file, in bytes. The counts are Uint32, row by row, gzipped. */
  readonly rasters: readonly (readonly [offset: number, length: number])[];
}

/** Maximum width and height of the finest grid, in cells. */
const maxGridCells = 512;
/** Side of the smallest cells, in pixels of level 0. */
const minCellSide = 16;
/** Maximum number of counts in the finest grid, of all classes together. */
const maxCounts = 8 * 2 ** 20;
/** A grid of at most this width and height is the coarsest one. */
const coarsestGridCells = 64;

/**
 * Returns two functions. `add` counts an object of the layer in the finest grid. `write` stores this grid in the file of the layer, and
 * then coarser grids, each of which has cells of twice the side of the previous one.
 *
 * @param bounds x0, y0, x1, y1 of the centres of all objects, in pixels of level 0 (full resolution); x0 > x1 without objects
 */
export function createDensity(
  [x0, y0, x1, y1]: readonly [number, number, number, number],
  classCount: number,
) {
  const isEmpty = x0 > x1;
  let cellSide = minCellSide;
  const cellsAcross = (length: number) => Math.floor(length / cellSide) + 1;
  const isTooFine = () =>
    Math.max(x1 - x0, y1 - y0) / cellSide > maxGridCells ||
    cellsAcross(x1 - x0) * cellsAcross(y1 - y0) * classCount > maxCounts;
  while (!isEmpty && isTooFine()) cellSide *= 2;
  const left = isEmpty ? 0 : Math.floor(x0 / cellSide) * cellSide;
  const top = isEmpty ? 0 : Math.floor(y0 / cellSide) * cellSide;
  const width = isEmpty ? 0 : cellsAcross(x1 - left);
  const height = isEmpty ? 0 : cellsAcross(y1 - top);
  const counts = new Uint32Array(width * height * classCount);
  return {
    add(x: number, y: number, classNumber: number): void {
      const column = Math.floor((x - left) / cellSide);
      const row = Math.floor((y - top) / cellSide);
      (counts[(classNumber * height + row) * width + column] as number)++;
    },
    write(writer: ContainerWriter): DensityLevel[] {
      if (isEmpty) return [];
      const levels: DensityLevel[] = [];
      let grid = { cell: cellSide, width, height, counts };
      for (;;) {
        const rasterLength = grid.width * grid.height;
        const { counts: gridCounts } = grid; // the callback below must not capture the variable `grid`, which changes
        const rasters = Array.from({ length: classCount }, (_, classNumber) => {
          const start = classNumber * rasterLength;
          const { buffer, byteOffset, byteLength } = gridCounts.subarray(start, start + rasterLength);
          const packed = gzipSync(new Uint8Array(buffer, byteOffset, byteLength), { level: 6 });
          return [writer.append(packed), packed.length] as const;
        });
        levels.push({ cell: grid.cell, width: grid.width, height: grid.height, x: left, y: top, rasters });
        if (Math.max(grid.width, grid.height) <= coarsestGridCells) return levels;
        grid = halveGrid(grid, classCount);
      }
    },
  };
}

/** A grid in memory; the fields are those of `DensityLevel`. */
interface Grid {
  readonly cell: number;
  readonly width: number;
  readonly height: number;
  /** Class by class, row by row. */
  readonly counts: Uint32Array<ArrayBuffer>;
}

/** Returns a grid with half the width and height, in which each count is the sum of the counts of 2 × 2 cells. */
function halveGrid({ cell, width, height, counts }: Grid, classCount: number): Grid {
  const [columns, rows] = [Math.ceil(width / 2), Math.ceil(height / 2)];
  const sums = new Uint32Array(columns * rows * classCount);
  for (let classNumber = 0; classNumber < classCount; classNumber++)
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++) {
        const sumIndex = (classNumber * rows + (y >> 1)) * columns + (x >> 1);
        (sums[sumIndex] as number) += counts[(classNumber * height + y) * width + x] as number;
      }
  return { cell: cell * 2, width: columns, height: rows, counts: sums };
}
