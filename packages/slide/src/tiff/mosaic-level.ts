/**
 * Levels whose stored tiles do not lie in a grid: cameras overlap, and scanned regions lie anywhere. Their tiles are
 * put together from the stored ones.
 */
import type { Colour, Raster } from '../decode/raster.ts';
import { type EncodedImage, SlideError } from '../slide.ts';
import { decodeKept } from './kept-tiles.ts';
import { limits } from './limits.ts';
import type { ReadTile } from './picture.ts';
import type { ReadableLevel } from './stated-levels.ts';

/** A rectangle of cells, each a stored tile or a part of one, whose rows and columns keep together. */
export interface MosaicArea {
  readonly readTile: ReadTile;
  /** Pixels of a stored tile. */
  readonly tileWidth: number;
  readonly tileHeight: number;
  /** How many cells a stored tile holds, along each side; a divisor of both. */
  readonly cellsPerTile: number;
  /** Which cell of the stored picture is the first of the area, counted from its top left corner. */
  readonly firstColumn: number;
  readonly firstRow: number;
  /** Where the columns and rows of cells begin, in whole pixels of the level, ascending. */
  readonly lefts: readonly number[];
  readonly tops: readonly number[];
  /** Pixels of the stored picture: cells at its edge end there. */
  readonly width: number;
  readonly height: number;
}

export interface MosaicPlan {
  /** Pixels of the level. */
  readonly width: number;
  readonly height: number;
  readonly downsample: number;
  /** Those that come later lie in front; in an area, cells further right and down do. */
  readonly areas: readonly MosaicArea[];
  readonly background: Colour;
}

/** Side of the tiles that are put together. */
const TILE_SIDE = 512;
/** Smaller cells would take thousands for every tile. */
const LEAST_CELL = 16;

/**
 * Asked before anything is as long as a file says.
 *
 * @param lines columns and rows of cells of all areas together
 * @throws SlideError LIMIT_EXCEEDED
 */
export function checkAreas(areas: number, lines: number): void {
  if (areas > limits.areas || lines > limits.areaLines) {
    throw new SlideError('LIMIT_EXCEEDED', `A level is ${areas} areas of ${lines} columns and rows`);
  }
}

/** @throws SlideError LIMIT_EXCEEDED */
export function openMosaicLevel({ width, height, downsample, areas, background }: MosaicPlan): ReadableLevel {
  const columns = Math.ceil(width / TILE_SIDE);
  const rows = Math.ceil(height / TILE_SIDE);
  if (Math.max(width, height) > limits.imageSide || columns * rows > limits.tilesPerLevel) {
    throw new SlideError('LIMIT_EXCEEDED', `A level has ${width} × ${height} pixels`);
  }
  for (const { tileWidth, tileHeight, cellsPerTile } of areas) {
    if (Math.min(tileWidth, tileHeight) / cellsPerTile < LEAST_CELL) {
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
      isMade: true,
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
        for (const part of partsUnder(area, frame)) {
          signal?.throwIfAborted();
          const tile = await decodeKept(area.readTile, part.column, part.row);
          if (!tile) continue;
          canvas ??= blank(frame.width, frame.height, background);
          paint(canvas, frame, tile, part);
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

/** A cell: which stored tile it is in and where, and where it belongs. */
interface Part {
  readonly column: number;
  readonly row: number;
  readonly fromX: number;
  readonly fromY: number;
  readonly at: Frame;
}

/** By stored tiles, so that each is decoded once; where cells overlap, those further right and down come later. */
function* partsUnder(area: MosaicArea, frame: Frame): Generator<Part> {
  const cellWidth = area.tileWidth / area.cellsPerTile;
  const cellHeight = area.tileHeight / area.cellsPerTile;
  const columns = touched(area.lefts, cellWidth, frame.x, frame.width);
  const rows = touched(area.tops, cellHeight, frame.y, frame.height);
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

/** Which of the cells that begin at these places have pixels in a stretch. */
function touched(starts: readonly number[], side: number, from: number, length: number): number[] {
  const found: number[] = [];
  for (const [i, start] of starts.entries()) {
    if (start >= from + length) break;
    if (start + side > from) found.push(i);
  }
  return found;
}

function paint(canvas: Raster, frame: Frame, tile: Raster, { at, fromX, fromY }: Part): void {
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
