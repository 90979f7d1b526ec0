/** The input of `writePyramid`, and the sizes of the levels of a pyramid. */

/** Side of a tile in pixels. Tiles of 256 pixels would mean four times the requests and twice the encoding time. */
export const TILE_SIZE = 512;

export interface PyramidPlan {
  /** Path of the file to write; overwritten. */
  readonly file: string;
  /** Pixels at full resolution. */
  readonly width: number;
  readonly height: number;
  /** Micrometres per pixel at full resolution. */
  readonly micronsPerPixel: number;
  /** Magnification of the objective lens, such as 40. */
  readonly objectivePower: number;
  /** Colour of bare glass, red, green and blue, 0…255. */
  readonly glass: readonly [number, number, number];
  /**
   * Draws a tile of full resolution, including the pixels beyond the edge of the slide.
   *
   * @param copyGlassTile returns a new tile of bare glass to draw on: red, green and blue, row by row
   * @returns the result of `copyGlassTile`; null for bare glass
   */
  readonly drawTile: (column: number, row: number, copyGlassTile: () => Uint8Array) => Uint8Array | null;
  /** Called after each tile of full resolution. */
  readonly onTile: (drawnTiles: number, totalTiles: number) => void;
}

export interface LevelPlan {
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  readonly rows: number;
  /** Offset of each tile in the file in bytes, row by row; `writePyramid` sets it. */
  readonly offsets: Uint32Array;
  /** Length of each tile in bytes, in the same order; `writePyramid` sets it. */
  readonly lengths: Uint32Array;
}

/** Returns the levels: full resolution first, each later level half as wide and high; the last level has one tile. */
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
