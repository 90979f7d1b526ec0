/**
 * Sizes and limits of analysis results. A module of its own without imports, because each import of a result file starts a worker
 * thread: loading the whole contract takes such a thread 0.25 s.
 */

/** Width and height of a tile of a raster result, in pixels. */
export const overlayTileSize = 256;

/** Limits per slide and per file. The server rejects a layer or file that exceeds them, but skips further `measurements`. */
export const resultLimits = {
  layersPerSlide: 100,
  objects: 10_000_000,
  classes: 250,
  measurements: 200,
  rasterPixels: 20_000_000_000,
} as const;
