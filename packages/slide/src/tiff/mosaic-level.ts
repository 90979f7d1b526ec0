/**
 * Opens levels whose stored tiles form no grid, because camera frames overlap or scanned regions lie apart. Tiles of
 * such a level are composed from the stored ones.
 */
import type { Colour, Raster } from '../decode/raster.ts';
import { type EncodedImage, SlideError } from '../model/slide.ts';
import type { ReadableLevel } from './declared-levels.ts';
import { decodeCached } from './decoded-tile-cache.ts';
import { limits } from './limits.ts';
import type { ReadTile } from './tiff-image.ts';

/** A rectangle of cells with common columns and rows; a cell is a stored tile or a part of one. */
export interface MosaicArea {
  readonly readTile: ReadTile;
  /** Pixels of a stored tile. */
  readonly tileWidth: number;
  readonly tileHeight: number;
  /** Cells of a stored tile along each side; a divisor of both sides. */
  readonly cellsPerTile: number;
  /** First cell of the area, counted from the top left corner of the stored image. */
  readonly firstColumn: number;
  readonly firstRow: number;
  /** Start of each column and row of cells, in whole pixels of the level, ascending. */
  readonly lefts: readonly number[];
  readonly tops: readonly number[];
  /** Pixels of the stored image, at whose edge cells end. */
  readonly width: number;
  readonly height: number;
}

export interface MosaicOptions {
  /** Pixels of the level. */
  readonly width: number;
  readonly height: number;
  readonly downsample: number;
  /** Later areas are drawn in front; within an area, cells further right and down are. */
  readonly areas: readonly MosaicArea[];
  readonly background: Colour;
}

/** Side of the composed tiles. */
const TILE_SIDE = 512;
/** With smaller cells, a tile would be composed of thousands. */
const MIN_CELL_SIDE = 16;

/**
 * Checks the numbers of a file before any array gets their length.
 *
 * @param lines columns and rows of cells of all areas together
 * @throws SlideError LIMIT_EXCEEDED
 */
export function checkAreas(areas: number, lines: number): void {
  if (areas > limits.areas || lines > limits.areaLines) {
    throw new SlideError('LIMIT_EXCEEDED', `A level has ${areas} areas with ${lines} columns and rows`);
  }
}

/** @throws SlideError LIMIT_EXCEEDED */
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
      throw new SlideError('LIMIT_EXCEEDED', `A level has tiles of ${tileWidth} × ${tileHeight} pixels`);
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
      const frame = {
        x: column * TILE_SIDE,
        y: row * TILE_SIDE,
        width: Math.min(TILE_SIDE, width - column * TILE_SIDE),
        height: Math.min(TILE_SIDE, height - row * TILE_SIDE),
      };
      let canvas: Raster | null = null;
      for (const area of areas) {
        for (const cell of cellsUnder(area, frame)) {
          signal?.throwIfAborted();
          const tile = await decodeCached(area.readTile, cell.column, cell.row);
          if (!tile) continue;
          canvas ??= blank(frame.width, frame.height, background);
          drawCell(canvas, frame, tile, cell);
        }
      }
      return canvas && asImage(canvas);
    },
  };
}

interface Frame {
  /** Pixels of the level. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A cell: its stored tile, its position in that tile, and its position in the level. */
interface Cell {
  readonly column: number;
  readonly row: number;
  readonly fromX: number;
  readonly fromY: number;
  readonly at: Frame;
}

/** Yields cells ordered by stored tile, so that each is decoded once; cells further right and down come later. */
function* cellsUnder(area: MosaicArea, frame: Frame): Generator<Cell> {
  const cellWidth = area.tileWidth / area.cellsPerTile;
  const cellHeight = area.tileHeight / area.cellsPerTile;
  const columns = overlappingCells(area.lefts, cellWidth, frame.x, frame.width);
  const rows = overlappingCells(area.tops, cellHeight, frame.y, frame.height);
  for (const row of rows) {
    for (const column of columns) {
      const storedColumn = area.firstColumn + column;
      const storedRow = area.firstRow + row;
      const at = {
        x: area.lefts[column] ?? 0,
        y: area.tops[row] ?? 0,
        width: Math.min(cellWidth, area.width - storedColumn * cellWidth),
        height: Math.min(cellHeight, area.height - storedRow * cellHeight),
      };
      yield {
        column: Math.floor(storedColumn / area.cellsPerTile),
        row: Math.floor(storedRow / area.cellsPerTile),
        fromX: (storedColumn % area.cellsPerTile) * cellWidth,
        fromY: (storedRow % area.cellsPerTile) * cellHeight,
        at,
      };
    }
  }
}

/** Returns the indices of the cells that overlap a stretch of the level. */
function overlappingCells(starts: readonly number[], side: number, from: number, length: number): number[] {
  const found: number[] = [];
  for (const [i, start] of starts.entries()) {
    if (start >= from + length) break;
    if (start + side > from) found.push(i);
  }
  return found;
}

function drawCell(canvas: Raster, frame: Frame, tile: Raster, { at, fromX, fromY }: Cell): void {
  const left = Math.max(at.x, frame.x);
  const right = Math.min(at.x + at.width, frame.x + frame.width, at.x + tile.width - fromX);
  const top = Math.max(at.y, frame.y);
  const bottom = Math.min(at.y + at.height, frame.y + frame.height, at.y + tile.height - fromY);
  for (let y = top; y < bottom && right > left; y++) {
    const from = ((fromY + y - at.y) * tile.width + fromX + left - at.x) * 3;
    const to = ((y - frame.y) * canvas.width + left - frame.x) * 3;
    canvas.rgb.set(tile.rgb.subarray(from, from + (right - left) * 3), to);
  }
}

function blank(width: number, height: number, { r, g, b }: Colour): Raster {
  const rgb = new Uint8Array(width * height * 3);
  for (let at = 0; at < rgb.length; at += 3) rgb.set([r, g, b], at);
  return { width, height, rgb };
}

function asImage({ width, height, rgb }: Raster): EncodedImage {
  return { codec: 'rgb', bytes: rgb, width, height };
}
