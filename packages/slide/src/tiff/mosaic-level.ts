/**
 * Levels whose tiles in the file do not form one grid, because camera frames overlap or scanned regions are apart. This
 * module composes other tiles, which form a grid, from the tiles of the file.
 */
import type { Colour, Raster } from '../decode/raster.ts';
import { type EncodedImage, SlideError } from '../model/slide.ts';
import type { ReadableLevel } from './declared-levels.ts';
import { readDecodedTile } from './decoded-tile-cache.ts';
import { limits } from './limits.ts';
import type { ReadTile } from './tiff-image.ts';

/** A group of cells in common columns and rows. A cell is a tile of the file, or a rectangle of such a tile. */
export interface MosaicArea {
  readonly readTile: ReadTile;
  /** Pixels of a tile of the file. */
  readonly tileWidth: number;
  readonly tileHeight: number;
  /** Number of cells along each side of a tile of the file; it divides the width and the height of the tile. */
  readonly cellsPerTile: number;
  /** Column and row of the area's first cell in the stored image, counted in cells from 0. */
  readonly firstColumn: number;
  readonly firstRow: number;
  /** Left edge of each column and top edge of each row of cells, in whole pixels of the level, ascending. */
  readonly lefts: readonly number[];
  readonly tops: readonly number[];
  /** Size of the stored image in pixels; cells are cut off at its edges. */
  readonly imageWidth: number;
  readonly imageHeight: number;
}

export interface MosaicOptions {
  /** Pixels of the level. */
  readonly width: number;
  readonly height: number;
  readonly downsample: number;
  /** Later areas are drawn over earlier ones; within an area, later rows and columns over earlier ones. */
  readonly areas: readonly MosaicArea[];
  readonly background: Colour;
}

/** Side of the composed tiles in pixels. */
const TILE_SIDE = 512;
/** Minimum side of a cell in pixels. With smaller cells, one composed tile would consist of thousands of cells. */
const MIN_CELL_SIDE = 16;

/**
 * Checks the number of areas, and of their columns and rows, before memory is allocated for them.
 *
 * @param columnsAndRows columns plus rows of cells, of all areas together
 * @throws SlideError LIMIT_EXCEEDED
 */
export function checkAreaCounts(areas: number, columnsAndRows: number): void {
  if (areas > limits.areas || columnsAndRows > limits.areaColumnsAndRows) {
    throw new SlideError('LIMIT_EXCEEDED', `A level has ${areas} areas (${columnsAndRows} columns and rows)`);
  }
}

/**
 * Opens a level whose tiles are composed from the cells of its areas. Its `readTile` returns null where no cell has pixels. It does
 * not check the tile address, because `joinLevels` (declared-levels.ts) has checked it.
 *
 * @throws SlideError LIMIT_EXCEEDED
 */
export function openMosaicLevel({
  width,
  height,
  downsample,
  areas,
  background,
}: MosaicOptions): ReadableLevel {
  const columns = Math.ceil(width / TILE_SIDE);
  const rows = Math.ceil(height / TILE_SIDE);
  if (Math.max(width, height) > limits.imageSide || columns * rows > limits.tilesPerLevel) {
    throw new SlideError('LIMIT_EXCEEDED', `A level has ${width} × ${height} pixels`);
  }
  for (const { tileWidth, tileHeight, cellsPerTile } of areas) {
    if (Math.min(tileWidth, tileHeight) / cellsPerTile < MIN_CELL_SIDE) {
      throw new SlideError(
        'LIMIT_EXCEEDED',
        `Tiles of ${tileWidth} × ${tileHeight} pixels are too small to be composed`,
      );
    }
  }
  return {
    level: {
      width,
      height,
      tileWidth: TILE_SIDE,
      tileHeight: TILE_SIDE,
      columns,
      rows,
      downsample,
      needsRendering: true,
    },
    async readTile(column, row, signal) {
      const rect = {
        x: column * TILE_SIDE,
        y: row * TILE_SIDE,
        width: Math.min(TILE_SIDE, width - column * TILE_SIDE),
        height: Math.min(TILE_SIDE, height - row * TILE_SIDE),
      };
      let canvas: Raster | null = null;
      for (const area of areas) {
        for (const cell of cellsUnder(area, rect)) {
          signal?.throwIfAborted();
          const tile = await readDecodedTile(area.readTile, cell.tileColumn, cell.tileRow);
          if (!tile) continue;
          canvas ??= blankRaster(rect.width, rect.height, background);
          drawCell(canvas, rect, tile, cell);
        }
      }
      return canvas && asImage(canvas);
    },
  };
}

/** A rectangle of the level, in its pixels. */
interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface Cell {
  /** The tile of the file that contains the cell. */
  readonly tileColumn: number;
  readonly tileRow: number;
  /** Position of the cell in this tile, in pixels. */
  readonly xInTile: number;
  readonly yInTile: number;
  /** The rectangle of the level that the cell covers; smaller at the edges of the stored image. */
  readonly target: Rectangle;
}

/** Yields the cells that overlap a rectangle of the level, row by row, so that later ones are drawn over earlier ones. */
function* cellsUnder(area: MosaicArea, rect: Rectangle): Generator<Cell> {
  const cellWidth = area.tileWidth / area.cellsPerTile;
  const cellHeight = area.tileHeight / area.cellsPerTile;
  const columns = overlappingCells(area.lefts, cellWidth, rect.x, rect.width);
  const rows = overlappingCells(area.tops, cellHeight, rect.y, rect.height);
  for (const row of rows) {
    for (const column of columns) {
      const storedColumn = area.firstColumn + column;
      const storedRow = area.firstRow + row;
      const target = {
        x: area.lefts[column] ?? 0,
        y: area.tops[row] ?? 0,
        width: Math.min(cellWidth, area.imageWidth - storedColumn * cellWidth),
        height: Math.min(cellHeight, area.imageHeight - storedRow * cellHeight),
      };
      yield {
        tileColumn: Math.floor(storedColumn / area.cellsPerTile),
        tileRow: Math.floor(storedRow / area.cellsPerTile),
        xInTile: (storedColumn % area.cellsPerTile) * cellWidth,
        yInTile: (storedRow % area.cellsPerTile) * cellHeight,
        target,
      };
    }
  }
}

/** Returns the indices of the cells that overlap an interval, along one axis. @param cellStarts start of each cell, ascending */
function overlappingCells(
  cellStarts: readonly number[],
  cellSide: number,
  intervalStart: number,
  intervalLength: number,
): number[] {
  const indices: number[] = [];
  for (const [i, cellStart] of cellStarts.entries()) {
    if (cellStart >= intervalStart + intervalLength) break;
    if (cellStart + cellSide > intervalStart) indices.push(i);
  }
  return indices;
}

/** Copies the part of a cell that lies in `rect` and in the decoded tile. The canvas shows `rect`: it has the same size. */
function drawCell(canvas: Raster, rect: Rectangle, tile: Raster, cell: Cell): void {
  const { target, xInTile, yInTile } = cell;
  const left = Math.max(target.x, rect.x);
  const right = Math.min(target.x + target.width, rect.x + rect.width, target.x + tile.width - xInTile);
  const top = Math.max(target.y, rect.y);
  const bottom = Math.min(target.y + target.height, rect.y + rect.height, target.y + tile.height - yInTile);
  for (let y = top; y < bottom && right > left; y++) {
    const tileStart = ((yInTile + y - target.y) * tile.width + xInTile + left - target.x) * 3;
    const canvasStart = ((y - rect.y) * canvas.width + left - rect.x) * 3;
    canvas.rgb.set(tile.rgb.subarray(tileStart, tileStart + (right - left) * 3), canvasStart);
  }
}

function blankRaster(width: number, height: number, { r, g, b }: Colour): Raster {
  const rgb = new Uint8Array(width * height * 3);
  for (let i = 0; i < rgb.length; i += 3) rgb.set([r, g, b], i);
  return { width, height, rgb };
}

function asImage({ width, height, rgb }: Raster): EncodedImage {
  return { codec: 'rgb', bytes: rgb, width, height };
}
