/** The layers of the colon wall and the positions in them. Lengths in pixels (0.25 µm). */
import type { Curve } from '../geometry/curve.ts';
import type { SpatialIndex } from '../geometry/spatial-index.ts';
import type { Gland } from '../structures/glands.ts';
import type { Vessel } from '../structures/vessels.ts';
import type { Biopsy } from './biopsy.ts';

/** Epithelium of 21 µm. */
export const EPITHELIUM = 84;
/** Mucosa of 0.45 mm. */
export const MUCOSA = 1800;
export const MUSCULARIS_MUCOSAE = 125;
/** Depths below the inner border of the muscle coat: inner layer, the plexus between, outer layer, fat. */
export const PLEXUS_FROM = 1500;
export const PLEXUS_TO = 1575;
export const OUTER_MUSCLE_TO = 2480;
export const WALL_TO = 3330;
/** Biopsies lie above this line. */
export const BIOPSIES_TO = 4600;
export const OUTSIDE = -1e6;
/** Random seed of the cells at the inner surface; each crypt has its own. */
export const SURFACE_SEED = 71;
/** Side of the squares of the index of crypts, pixels. */
export const GLAND_SQUARE = 64;

/** A position in the strip or in a biopsy. Depths in pixels, positive into the tissue. */
export interface WallPosition {
  /** From the nearest cut edge or outer border. */
  inside: number;
  /** Below the inner surface; in a biopsy large where its outline is torn. */
  depth: number;
  /** Pixels along the inner surface. */
  surfaceAlong: number;
  /** Below the lower border of the mucosa; far negative in a biopsy, which has only mucosa. */
  mucosaDepth: number;
  along: number;
  /** Below the inner border of the muscle coat; far negative in a biopsy. */
  muscleDepth: number;
  muscleAlong: number;
}

export function emptyWallPosition(): WallPosition {
  return {
    inside: OUTSIDE,
    depth: OUTSIDE,
    surfaceAlong: 0,
    mucosaDepth: OUTSIDE,
    along: 0,
    muscleDepth: OUTSIDE,
    muscleAlong: 0,
  };
}

/** The position relative to the epithelium of the mucosa. */
export interface MucosaPosition {
  /** Below the nearest inner surface, of the mucosa or of a crypt; negative in a lumen. */
  depth: number;
  along: number;
  /** Random seed of the wall that the position belongs to. */
  seed: number;
  gobletShare: number;
  cellWidth: number;
  /** 0 at the surface, 1 at a crypt's base, where cells divide. */
  proliferation: number;
}

export interface Ganglion {
  readonly seed: number;
  readonly x: number;
  readonly y: number;
  readonly long: number;
  readonly short: number;
  readonly angle: number;
}

export const COLON_WIDTH = 20480;
export const COLON_HEIGHT = 15360;

export interface ColonLayout {
  readonly surface: Curve;
  readonly biopsies: readonly Biopsy[];
  readonly glands: readonly Gland[];
  readonly glandIndex: SpatialIndex<Gland>;
  readonly vessels: SpatialIndex<Vessel>;
  readonly ganglia: SpatialIndex<Ganglion>;
  locate(x: number, y: number, out: WallPosition): WallPosition;
  /** Computes the displacement of a position that makes the regular geometry of tubes look like tissue. */
  warp(x: number, y: number, out: { x: number; y: number }): void;
  /**
   * @param x with the displacement of `warp`
   * @param position in the wall
   * @param glands near the position
   */
  inMucosa(x: number, y: number, position: WallPosition, glands: readonly Gland[], out: MucosaPosition): void;
  /** Returns 1 in the centre of a lymph follicle, 0 at its border, negative outside. */
  lymphoid(x: number, y: number): number;
  /** Returns the direction of the layers in radians. */
  tangent(x: number, y: number): number;
}
