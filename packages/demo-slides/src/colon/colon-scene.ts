/**
 * The state that all functions that paint a tile of the colon slide share (`ColonScene`), the numbers of the layers of the wall, and
 * the indices of the quantities that are computed for every pixel of a tile. All lengths are pixels (0.25 µm).
 */
import { noiseAt, roughNoiseAt } from '../geometry/random.ts';
import type { Palette } from '../structures/palette.ts';
import {
  type ColonLayout,
  emptyMucosaPosition,
  emptyWallPosition,
  MUSCULARIS_MUCOSAE_THICKNESS,
  type MucosaPosition,
  OUTER_MUSCLE_END,
  PLEXUS_END,
  PLEXUS_START,
  type WallPosition,
} from './colon-wall.ts';

// Layers of the wall from the inside to the outside. The muscularis mucosae is a thin muscle, the plexus a network of
// nerves between the two layers of the muscle coat, the subserosa mostly fat.
export const MUCOSA = 0;
export const MUSCULARIS_MUCOSAE = 1;
export const SUBMUCOSA = 2;
export const INNER_MUSCLE = 3;
export const PLEXUS = 4;
export const OUTER_MUSCLE = 5;
export const SUBSEROSA = 6;
export type Layer = 0 | 1 | 2 | 3 | 4 | 5 | 6;

// Indices of the quantities that are sampled for a tile. The first six and `MUSCLE_ALONG` are the fields of
// `WallPosition`: the distance from the edge, depths below borders of layers, and distances along these borders.
export const DISTANCE_FROM_EDGE = 0;
export const SURFACE_DEPTH = 1;
export const SURFACE_ALONG = 2;
export const MUCOSA_DEPTH = 3;
export const MUCOSA_ALONG = 4;
export const MUSCLE_DEPTH = 5;
/** How dense the connective tissue is, a noise; larger is denser. */
export const DENSITY = 6;
/** Thickness of the section relative to the mean. */
export const THICKNESS = 7;
// Displacement of textures and glands, as `ColonLayout.shiftAt` computes it.
export const SHIFT_X = 8;
export const SHIFT_Y = 9;
/** Depth inside fat in pixels, as `depthInFat` computes it. Only its range over the tile is used, so it is not interpolated. */
export const FAT_DEPTH = 10;
/** As `ColonLayout.follicleDepthRatio` computes it: 1 in the centre of a lymph follicle, 0 at its border. */
export const FOLLICLE_DEPTH_RATIO = 11;
export const MUSCLE_ALONG = 12;
/** Number of quantities. */
export const QUANTITY_COUNT = 13;

/** Added to the seed of the slide for fat cells, so that `scatterCells` finds the same fat cells as `createColon` paints. */
export const FAT_SEED_OFFSET = 70;

export interface ColonScene {
  readonly seed: number;
  readonly palette: Palette;
  readonly layout: ColonLayout;
  /** The values of each quantity at every pixel of the current tile. */
  planes: readonly Float32Array[];
  /** The position in the wall from the last call of `mucosaAt`, of `depthInFatAt`, or of `layout.locate` with this object as `out`. */
  readonly position: WallPosition;
  /** Locates a position in the mucosa, and sets `position`. The result is overwritten by the next call. */
  mucosaAt(x: number, y: number): MucosaPosition;
  /** Returns the depth inside fat in pixels, negative outside fat, and sets `position`. */
  depthInFatAt(x: number, y: number): number;
}

/** Creates the state for one slide. */
export function createColonScene(seed: number, palette: Palette, layout: ColonLayout): ColonScene {
  const position = emptyWallPosition();
  const mucosa = emptyMucosaPosition();
  const shift = { x: 0, y: 0 };
  return {
    seed,
    palette,
    layout,
    planes: [],
    position,
    mucosaAt(x, y) {
      layout.locate(x, y, position);
      layout.shiftAt(x, y, shift);
      layout.locateInMucosa(x + shift.x, y + shift.y, position, layout.glandIndex.near(x, y), mucosa);
      return mucosa;
    },
    depthInFatAt: (x, y) => depthInFat(seed, layout.locate(x, y, position), x, y),
  };
}

/** Allocates the planes for tiles of this size, unless they already have the size. */
export function resizePlanes(scene: ColonScene, tileSize: number): void {
  if (scene.planes[0]?.length === tileSize * tileSize) return;
  scene.planes = Array.from({ length: QUANTITY_COUNT }, () => new Float32Array(tileSize * tileSize));
}

/** Returns the values of a quantity at every pixel of the current tile. */
export function planeOf(scene: ColonScene, quantity: number): Float32Array {
  return scene.planes[quantity] as Float32Array;
}

/**
 * Returns the layer at a position of the wall.
 *
 * @param mucosaDepth depth below the lower border of the mucosa, as in `WallPosition`
 * @param muscleDepth depth below the inner border of the muscle coat, as in `WallPosition`
 * @param borderShift displacement of the borders between layers at the position, pixels; the outermost one moves twice as far
 */
export function layerOf(mucosaDepth: number, muscleDepth: number, borderShift: number): Layer {
  if (muscleDepth > borderShift) {
    if (muscleDepth < PLEXUS_START + borderShift) return INNER_MUSCLE;
    if (muscleDepth < PLEXUS_END + borderShift) return PLEXUS;
    return muscleDepth < OUTER_MUSCLE_END + borderShift * 2 ? OUTER_MUSCLE : SUBSEROSA;
  }
  if (mucosaDepth < borderShift) return MUCOSA;
  return mucosaDepth < MUSCULARIS_MUCOSAE_THICKNESS + borderShift ? MUSCULARIS_MUCOSAE : SUBMUCOSA;
}

/** Depth of positions that are far from all fat. */
const FAR_FROM_FAT = -1e3;
/** Largest distance of fat above the muscle coat, pixels. */
const MAX_FAT_TO_MUSCLE = 2500;
/** Mean distance from the muscle coat to the fat outside it, and the deviation per unit of noise, both pixels. */
const [OUTER_FAT_DISTANCE, OUTER_FAT_DEVIATION] = [170, 110];
/** Depth below the mucosa at which the fat of the submucosa begins, pixels. */
const MIN_LOBULE_DEPTH = 300;
/** A position that is this far above the outer fat, and not deep enough for the fat of the submucosa, is far from all fat; pixels. */
const FAR_FROM_OUTER_FAT = 400;
/** Pixels of depth in a lobule per unit of the noise of lobules, and the noise above which there is a lobule. */
const [LOBULE_SCALE, LOBULE_THRESHOLD] = [420, 0.34];
/** Distance of lobules of the submucosa from the muscle coat and the muscularis mucosae, pixels. */
const LOBULE_MARGIN = 130;
/** Pixels of distance from a strand per unit of the noise of strands, and half the width of a strand in pixels. */
const [STRAND_SCALE, STRAND_HALF_WIDTH] = [330, 16];
/** Distance of fat from the edge of the tissue, pixels. */
const EDGE_MARGIN = 175;

/** Returns the depth inside fat, negative outside: in lobules of the submucosa and outside the muscle coat. */
export function depthInFat(seed: number, position: WallPosition, x: number, y: number): number {
  if (position.muscleDepth < -MAX_FAT_TO_MUSCLE) return FAR_FROM_FAT;
  /** Depth inside the fat outside the muscle coat. */
  const outerFat =
    position.muscleDepth -
    OUTER_MUSCLE_END -
    OUTER_FAT_DISTANCE +
    OUTER_FAT_DEVIATION * roughNoiseAt(seed + 60, x / 700, y / 500, 2);
  if (outerFat < -FAR_FROM_OUTER_FAT && position.mucosaDepth < MIN_LOBULE_DEPTH) return FAR_FROM_FAT;
  const lobule = LOBULE_SCALE * (roughNoiseAt(seed + 61, x / 1500, y / 900, 2) - LOBULE_THRESHOLD);
  const submucosalFat = Math.min(
    lobule,
    -position.muscleDepth - LOBULE_MARGIN,
    position.mucosaDepth - MUSCULARIS_MUCOSAE_THICKNESS - LOBULE_MARGIN,
  );
  // Strands of connective tissue divide the outer fat into lobules.
  const strand = STRAND_SCALE * Math.abs(noiseAt(seed + 62, x / 1100, y / 700)) - STRAND_HALF_WIDTH;
  return Math.min(
    Math.max(Math.min(outerFat, strand), submucosalFat),
    position.distanceFromEdge - EDGE_MARGIN,
  );
}
