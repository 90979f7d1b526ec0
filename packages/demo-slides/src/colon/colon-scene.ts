/** What the painters of the colon slide share. */

import { noiseAt, roughNoiseAt } from '../geometry/random.ts';
import type { Palette } from '../structures/palette.ts';
import {
  type ColonLayout,
  emptyWallPosition,
  MUSCULARIS_MUCOSAE,
  type MucosaPosition,
  OUTER_MUSCLE_TO,
  PLEXUS_FROM,
  PLEXUS_TO,
  type WallPosition,
} from './colon-wall.ts';

export const MUCOSA = 0;
export const MUSCLE_OF_MUCOSA = 1;
export const SUBMUCOSA = 2;
export const INNER_MUSCLE = 3;
export const PLEXUS = 4;
export const OUTER_MUSCLE = 5;
export const SUBSEROSA = 6;
export type Layer = 0 | 1 | 2 | 3 | 4 | 5 | 6;

/** Indices of the quantities that are sampled for a tile of the colon slide. */
export const INSIDE = 0;
export const DEPTH = 1;
export const SURFACE_ALONG = 2;
export const MUCOSA_DEPTH = 3;
export const ALONG = 4;
export const MUSCLE_DEPTH = 5;
export const LOOSE = 6;
export const THICKNESS = 7;
export const SHIFT_X = 8;
export const SHIFT_Y = 9;
export const FAT = 10;
export const LYMPHOID = 11;
export const MUSCLE_ALONG = 12;
export const QUANTITIES = 13;

export interface ColonScene {
  readonly seed: number;
  readonly palette: Palette;
  readonly layout: ColonLayout;
  /** The values of each quantity at every pixel of the current tile. */
  planes: readonly Float32Array[];
  /** The position that was located last. */
  readonly position: WallPosition;
  /** Locates a position in the mucosa, and sets `position`. The result is overwritten by the next call. */
  mucosaAt(x: number, y: number): MucosaPosition;
  /** Returns the pixels inwards from the border of fat, and sets `position`. */
  fatAt(x: number, y: number): number;
}

export function createColonScene(seed: number, palette: Palette, layout: ColonLayout): ColonScene {
  const position = emptyWallPosition();
  const mucosa: MucosaPosition = {
    depth: 0,
    along: 0,
    seed: 0,
    gobletShare: 0,
    cellWidth: 1,
    proliferation: 0,
  };
  const shift = { x: 0, y: 0 };
  return {
    seed,
    palette,
    layout,
    planes: [],
    position,
    mucosaAt(x, y) {
      layout.locate(x, y, position);
      layout.warp(x, y, shift);
      layout.inMucosa(x + shift.x, y + shift.y, position, layout.glandIndex.near(x, y), mucosa);
      return mucosa;
    },
    fatAt: (x, y) => fatIn(seed, layout.locate(x, y, position), x, y),
  };
}

/** Allocates the planes for tiles of this size, unless they have it already. */
export function resizePlanes(scene: ColonScene, tileSize: number): void {
  if (scene.planes[0]?.length === tileSize * tileSize) return;
  scene.planes = Array.from({ length: QUANTITIES }, () => new Float32Array(tileSize * tileSize));
}

/** Returns the values of a quantity at every pixel of the current tile. */
export function planeOf(scene: ColonScene, quantity: number): Float32Array {
  return scene.planes[quantity] as Float32Array;
}

/** @param uneven displacement of the borders at the position, pixels */
export function layerOf(mucosaDepth: number, muscleDepth: number, uneven: number): Layer {
  if (muscleDepth > uneven) {
    if (muscleDepth < PLEXUS_FROM + uneven) return INNER_MUSCLE;
    if (muscleDepth < PLEXUS_TO + uneven) return PLEXUS;
    return muscleDepth < OUTER_MUSCLE_TO + uneven * 2 ? OUTER_MUSCLE : SUBSEROSA;
  }
  if (mucosaDepth < uneven) return MUCOSA;
  return mucosaDepth < MUSCULARIS_MUCOSAE + uneven ? MUSCLE_OF_MUCOSA : SUBMUCOSA;
}

/** Returns the pixels inwards from the border of fat: lobules in the submucosa, and the fat outside the muscle. */
export function fatIn(seed: number, place: WallPosition, x: number, y: number): number {
  if (place.muscleDepth < -2500) return -1e3;
  const outside =
    place.muscleDepth - OUTER_MUSCLE_TO - 170 + 110 * roughNoiseAt(seed + 60, x / 700, y / 500, 2);
  if (outside < -400 && place.mucosaDepth < 300) return -1e3;
  const lobule = 420 * (roughNoiseAt(seed + 61, x / 1500, y / 900, 2) - 0.34);
  const within = Math.min(lobule, -place.muscleDepth - 130, place.mucosaDepth - MUSCULARIS_MUCOSAE - 130);
  // Strands of connective tissue divide the outer fat into lobules.
  const strand = 330 * Math.abs(noiseAt(seed + 62, x / 1100, y / 700)) - 16;
  return Math.min(Math.max(Math.min(outside, strand), within), place.inside - 175);
}
