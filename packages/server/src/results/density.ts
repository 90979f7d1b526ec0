/** Density rasters: how many objects of each class have their centre in a cell of a grid. */
import { gzipSync } from 'node:zlib';
import type { ContainerWriter } from './container.ts';

export interface DensityLevel {
  readonly cell: number;
  readonly width: number;
  readonly height: number;
  readonly x: number;
  readonly y: number;
  /** Offset and length of the compressed counts, by class. */
  readonly rasters: readonly (readonly [offset: number, length: number])[];
}

const densityCells = 512;
const minDensityCell = 16;
const maxDensityValues = 8 * 2 ** 20;

/** Counts the objects of each class in grids; each grid has a quarter of the cells of the one before. */
export function createDensity([x0, y0, x1, y1]: readonly [number, number, number, number], classes: number) {
  const isEmpty = !(x0 <= x1);
  let cell = minDensityCell;
  const size = (side: number) => Math.floor(side / cell) + 1;
  const isTooFine = () =>
    Math.max(x1 - x0, y1 - y0) / cell > densityCells ||
    size(x1 - x0) * size(y1 - y0) * classes > maxDensityValues;
  while (!isEmpty && isTooFine()) cell *= 2;
  const [left, top] = isEmpty ? [0, 0] : [Math.floor(x0 / cell) * cell, Math.floor(y0 / cell) * cell];
  const width = isEmpty ? 0 : Math.floor((x1 - left) / cell) + 1;
  const height = isEmpty ? 0 : Math.floor((y1 - top) / cell) + 1;
  const counts = new Uint32Array(width * height * classes);
  return {
    add(x: number, y: number, classNumber: number): void {
      const column = Math.floor((x - left) / cell);
      const row = Math.floor((y - top) / cell);
      (counts[(classNumber * height + row) * width + column] as number)++;
    },
    write(writer: ContainerWriter): DensityLevel[] {
      if (isEmpty) return [];
      const levels: DensityLevel[] = [];
      let grid = { cell, width, height, counts };
      for (;;) {
        const length = grid.width * grid.height;
        const { counts: values } = grid;
        const rasters = Array.from({ length: classes }, (_, n) => {
          const raster = values.subarray(n * length, (n + 1) * length);
          const packed = gzipSync(new Uint8Array(raster.buffer, raster.byteOffset, raster.byteLength), {
            level: 6,
          });
          return [writer.append(packed), packed.length] as const;
        });
        levels.push({ cell: grid.cell, width: grid.width, height: grid.height, x: left, y: top, rasters });
        if (Math.max(grid.width, grid.height) <= 64) return levels;
        grid = halved(grid, classes);
      }
    },
  };
}

interface Grid {
  readonly cell: number;
  readonly width: number;
  readonly height: number;
  readonly counts: Uint32Array<ArrayBuffer>;
}

function halved({ cell, width, height, counts }: Grid, classes: number): Grid {
  const [columns, rows] = [Math.ceil(width / 2), Math.ceil(height / 2)];
  const sums = new Uint32Array(columns * rows * classes);
  for (let n = 0; n < classes; n++)
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++) {
        const to = (n * rows + (y >> 1)) * columns + (x >> 1);
        (sums[to] as number) += counts[(n * height + y) * width + x] as number;
      }
  return { cell: cell * 2, width: columns, height: rows, counts: sums };
}
