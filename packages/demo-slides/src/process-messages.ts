/** Messages between the server and the child process that draws a demonstration slide. */

export interface DrawRequest {
  /** Path of the file to write. */
  readonly file: string;
  readonly tissue: 'colon' | 'liver';
  /** Seed of the random numbers; the same seed gives the same slide. */
  readonly seed: number;
  /** The part of the slide to draw, pixels at full resolution; null for all of it. */
  readonly part: SlidePart | null;
  /** Paths of the analysis results to write beside the slide; null to write none. */
  readonly results: ResultFiles | null;
}

/** File names of the analysis results of one slide; a `DrawRequest` contains their full paths. */
export interface ResultFiles {
  /** A TIFF with the density of immune cells. */
  readonly heatmap: string;
  /** Gzipped GeoJSON with the outlines of the nuclei of immune cells. */
  readonly cells: string;
}

/** A rectangle in pixels at full resolution. */
export interface SlidePart {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** `progress` follows each percent of the tiles. `done` or `failed` is the last report; the server then kills the process. */
export type DrawReport =
  | { readonly kind: 'progress'; readonly percent: number }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string };
