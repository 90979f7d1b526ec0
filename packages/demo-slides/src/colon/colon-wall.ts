/**
 * The layers of the colon wall, and positions in them. All lengths are pixels (0.25 µm). From inside to outside: the mucosa with its
 * epithelium and crypts (tubular glands), the muscularis mucosae (a thin muscle), the submucosa, the muscle coat (an inner and
 * an outer layer with a nerve plexus between them) and the subserosa, which is mostly fat.
 */
import type { Curve } from '../geometry/curve.ts';
import type { SpatialIndex } from '../geometry/spatial-index.ts';
import type { Gland } from '../structures/glands.ts';
import type { Vessel } from '../structures/vessels.ts';
import type { Biopsy } from './biopsy.ts';

/** Height of the epithelium; 21 µm. */
export const EPITHELIUM = 84;
/** Thickness of the mucosa; 0.45 mm. */
export const MUCOSA_THICKNESS = 1800;
/** Thickness of the muscularis mucosae; 31 µm. */
export const MUSCULARIS_MUCOSAE_THICKNESS = 125;
// Values of `WallPosition.muscleDepth` (the depth below the inner border of the muscle coat) at which layers begin or end. The inner layer
// of the muscle coat is above the plexus, the subserosa below the outer layer; `WALL_END` is the outer surface of the wall.
export const PLEXUS_START = 1500;
export const PLEXUS_END = 1575;
export const OUTER_MUSCLE_END = 2480;
export const WALL_END = 3330;
/** y on the slide of the line above which the biopsies lie. */
export const BIOPSIES_MAX_Y = 4600;
/** The depth of a position that is far outside a tissue or a layer. */
export const OUTSIDE = -1e6;
/** Random seed of the cells of the inner surface; the walls of the crypts have other seeds (`wallSeed`). */
export const SURFACE_SEED = 71;
/** Side of the squares of the spatial index of crypts. */
export const GLAND_SQUARE = 64;

/** A position in the strip or in a biopsy. Depths are positive inside the tissue. */
export interface WallPosition {
  /** Distance from the nearest cut edge or outer border of the tissue; negative on the glass. */
  distanceFromEdge: number;
  /** Depth below the inner surface; far too large where the outline of a biopsy is torn, because no surface is near. */
  surfaceDepth: number;
  /** Distance along the inner surface. */
  surfaceAlong: number;
  /** Depth below the lower border of the mucosa; `OUTSIDE` in a biopsy, which has only mucosa. */
  mucosaDepth: number;
  /** Distance along the lower border of the mucosa. */
  mucosaAlong: number;
  /** Depth below the inner border of the muscle coat; `OUTSIDE` in a biopsy. */
  muscleDepth: number;
  /** Distance along the inner border of the muscle coat. */
  muscleAlong: number;
}

export function emptyWallPosition(): WallPosition {
  return {
    distanceFromEdge: OUTSIDE,
    surfaceDepth: OUTSIDE,
    surfaceAlong: 0,
    mucosaDepth: OUTSIDE,
    mucosaAlong: 0,
    muscleDepth: OUTSIDE,
    muscleAlong: 0,
  };
}

/** A position relative to the epithelium of the mucosa or of a crypt. */
export interface MucosaPosition {
  /** Depth below the nearest surface, of the mucosa or of a crypt; negative in the inner space of a crypt. */
  depth: number;
  /** Distance along this surface. */
  along: number;
  /** Random seed of the cells of this surface. */
  seed: number;
  /** Share of goblet cells (mucus-secreting cells of the epithelium), 0…1. */
  gobletShare: number;
  /** Width of a cell along the surface. */
  cellWidth: number;
  /** 0 at the surface, 1 at the base of a crypt, where cells divide. */
  proliferation: number;
}

export function emptyMucosaPosition(): MucosaPosition {
  return { depth: 0, along: 0, seed: 0, gobletShare: 0, cellWidth: 1, proliferation: 0 };
}

/** A group of nerve cells: an ellipse between the two layers of the muscle coat. */
export interface Ganglion {
  readonly seed: number;
  /** Centre. */
  readonly x: number;
  readonly y: number;
  /** Semi-axes. */
  readonly long: number;
  readonly short: number;
  /** Direction of the long axis, radians. */
  readonly angle: number;
}

/** Size of the slide. */
export const COLON_WIDTH = 20480;
export const COLON_HEIGHT = 15360;

export interface ColonLayout {
  /** The inner surface of the strip. */
  readonly surface: Curve;
  readonly biopsies: readonly Biopsy[];
  readonly glands: readonly Gland[];
  readonly glandIndex: SpatialIndex<Gland>;
  readonly vessels: SpatialIndex<Vessel>;
  readonly ganglia: SpatialIndex<Ganglion>;
  /** Computes the position in the wall; writes it into `out` and returns `out`. */
  locate(x: number, y: number, out: WallPosition): WallPosition;
  /** Writes a displacement by noise into `out`. Crypts and textures are looked up at the displaced position, so they look irregular. */
  shiftAt(x: number, y: number, out: { x: number; y: number }): void;
  /**
   * Computes a position relative to the epithelium; writes the result into `out`.
   *
   * @param x the x of the position plus the displacement of `shiftAt`; likewise y
   * @param position the position in the wall, without the displacement
   * @param glands the crypts near the position
   */
  locateInMucosa(
    x: number,
    y: number,
    position: WallPosition,
    glands: readonly Gland[],
    out: MucosaPosition,
  ): void;
  /** Returns a ratio for the nearest lymph follicle (a round group of lymphocytes): 1 in its centre, 0 at its border, negative outside. */
  follicleDepthRatio(x: number, y: number): number;
  /** Returns the direction of the layers in radians. */
  layerDirection(x: number, y: number): number;
}
