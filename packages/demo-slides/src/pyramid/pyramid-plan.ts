/** The input of a pyramid and its levels. */

/** Side of a tile, pixels. Half of it would mean four times the requests and twice the encoding time. */
export const TILE_SIZE = 512;

export interface PyramidPlan {
  /** Path of the file to write; overwritten. */
  readonly file: string;
  /** Pixels at full resolution. */
  readonly width: number;
  readonly height: number;
  /** Micrometres per pixel at full resolution. */
  readonly micronsPerPixel: number;
  readonly objectivePower: number;
  /** Colour of bare glass, red, green and blue, 0…255. */
  readonly glass: readonly [number, number, number];
  /**
   * Draws a tile of full resolution, pixels beyond the slide's edge included.
   *
   * @param makePixels returns a new tile of bare glass to draw on: red, green and blue, row by row
   * @returns the result of `makePixels`; null for bare glass
   */
  readonly drawTile: (column: number, row: number, makePixels: () => Uint8Array) => Uint8Array | null;
  /** Called after each tile of full resolution. */
  readonly onTile: (done: number, total: number) => void;
}

export interface LevelPlan {
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  readonly rows: number;
  /** Positions of the tiles in the file, row by row. */
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
}

/** Returns the levels: full resolution first, each next one half as large, the last one a single tile. */
export function planLevels(width: number, height: number): LevelPlan[] {
  const columns = Math.ceil(width / TILE_SIZE);
  const rows = Math.ceil(height / TILE_SIZE);
  const level = {
    width,
    height,
    columns,
    rows,
    offsets: new Uint32Array(columns * rows),
    lengths: new Uint32Array(columns * rows),
  };
  if (columns * rows === 1) return [level];
  return [level, ...planLevels(Math.ceil(width / 2), Math.ceil(height / 2))];
}
