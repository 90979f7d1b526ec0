/** Draws the colon slide: the wall, from the mucosa (inner lining) to the fat outside the muscle, and two biopsies. */
import { roughNoiseAt } from '../geometry/random.ts';
import { interpolate, rangeOf, type SampledField, sampleField } from '../geometry/sampled-field.ts';
import type { StainTile } from '../stain/stain.ts';
import { applyStamp } from '../stain/stamp.ts';
import type { DrawnCell } from '../structures/drawn-cell.ts';
import { paintFat } from '../structures/fat.ts';
import { EDGE_WIDTH, frayEdges } from '../structures/frayed-edges.ts';
import { createPalette, type Tissue } from '../structures/palette.ts';
import { paintVessel } from '../structures/vessels.ts';
import { layOutColon } from './colon-layout.ts';
import {
  type ColonScene,
  createColonScene,
  DENSITY,
  DISTANCE_FROM_EDGE,
  depthInFat,
  FAT_DEPTH,
  FAT_SEED_OFFSET,
  FOLLICLE_DEPTH_RATIO,
  MUCOSA_ALONG,
  MUCOSA_DEPTH,
  MUSCLE_ALONG,
  MUSCLE_DEPTH,
  planeOf,
  QUANTITY_COUNT,
  resizePlanes,
  SHIFT_X,
  SHIFT_Y,
  SURFACE_ALONG,
  SURFACE_DEPTH,
  THICKNESS,
} from './colon-scene.ts';
import { COLON_HEIGHT, COLON_WIDTH, EPITHELIUM } from './colon-wall.ts';
import { placeEpithelialNuclei } from './epithelial-nuclei.ts';
import { paintGanglion } from './paint-ganglion.ts';
import { paintMucosa } from './paint-mucosa.ts';
import { paintWallLayers } from './paint-wall-layers.ts';
import { scatterCells } from './scatter-cells.ts';

/** Noise displaces the border between two layers by at most this many pixels; a tile this near to the border may have both. */
const MAX_BORDER_SHIFT = 40;
/** A tile is bare glass when all its sampled positions are farther than this from the tissue; pixels. */
const GLASS_MARGIN = 40;
/** A tile has no fat when all its sampled positions are farther than this from fat: the size of a fat cell, pixels. */
const FAT_MARGIN = 250;

/** Creates the tissue: its layout, its epithelial nuclei, and the function that draws a tile. */
export function createColon(seed: number): Tissue {
  const palette = createPalette(seed);
  const scene = createColonScene(seed, palette, layOutColon(seed));
  const { layout } = scene;
  const nuclei = placeEpithelialNuclei(scene);

  /** Draws a tile; returns false, without drawing, when the tile is bare glass. */
  function draw(tile: StainTile, onCell?: (cell: DrawnCell) => void): boolean {
    resizePlanes(scene, tile.size);
    const field = sampleQuantities(scene, tile);
    const distanceFromEdge = rangeOf(field, DISTANCE_FROM_EDGE);
    const surfaceDepth = rangeOf(field, SURFACE_DEPTH);
    // The inner surface does not count as an edge, because it was not cut. The glass above it has negative values of `SURFACE_DEPTH`.
    if (distanceFromEdge.max < -GLASS_MARGIN || surfaceDepth.max < -GLASS_MARGIN) return false;

    const hasMucosa = rangeOf(field, MUCOSA_DEPTH).min < MAX_BORDER_SHIFT;
    interpolateQuantities(scene, field);
    paintWallLayers(scene, tile);
    if (rangeOf(field, FAT_DEPTH).max > -FAT_MARGIN)
      paintFat(tile, palette, seed + FAT_SEED_OFFSET, scene.depthInFatAt);
    for (const ganglion of layout.ganglia.touching(tile)) paintGanglion(tile, palette, ganglion);
    scatterCells(scene, tile, field, onCell);
    for (const vessel of layout.vessels.touching(tile)) paintVessel(tile, palette, vessel);
    if (hasMucosa) paintMucosa(scene, tile);
    for (const nucleus of nuclei.touching(tile)) applyStamp(tile, nucleus.stamp, nucleus);
    if (distanceFromEdge.min < EDGE_WIDTH)
      frayEdges(tile, palette.clouds, planeOf(scene, DISTANCE_FROM_EDGE));
    return true;
  }

  return { width: COLON_WIDTH, height: COLON_HEIGHT, draw };
}

/** Samples the quantities of a tile on a coarse grid. The numbers added to `seed` keep the noises independent. */
function sampleQuantities({ seed, layout, position }: ColonScene, tile: StainTile): SampledField {
  const shift = { x: 0, y: 0 };
  return sampleField(tile, QUANTITY_COUNT, (x, y, out) => {
    layout.locate(x, y, position);
    layout.shiftAt(x, y, shift);
    out[DISTANCE_FROM_EDGE] = position.distanceFromEdge;
    out[SURFACE_DEPTH] = position.surfaceDepth;
    out[SURFACE_ALONG] = position.surfaceAlong;
    out[MUCOSA_DEPTH] = position.mucosaDepth;
    out[MUCOSA_ALONG] = position.mucosaAlong;
    out[MUSCLE_DEPTH] = position.muscleDepth;
    out[MUSCLE_ALONG] = position.muscleAlong;
    out[DENSITY] = roughNoiseAt(seed + 63, x / 380, y / 380, 3);
    out[THICKNESS] = 1 + 0.1 * roughNoiseAt(seed + 64, x / 2600, y / 2600, 2);
    out[SHIFT_X] = shift.x;
    out[SHIFT_Y] = shift.y;
    out[FAT_DEPTH] = depthInFat(seed, position, x, y);
    out[FOLLICLE_DEPTH_RATIO] = layout.follicleDepthRatio(x, y);
  });
}

/**
 * Interpolates the sampled quantities at every pixel.
 *
 * Most tiles lie in one layer and far from every edge. To save time, a quantity without effect on the tile gets a constant
 * value: for depths, one that is far from every border of a layer.
 */
function interpolateQuantities(scene: ColonScene, field: SampledField): void {
  const surfaceDepth = rangeOf(field, SURFACE_DEPTH);
  const mucosaDepth = rangeOf(field, MUCOSA_DEPTH);
  const muscleDepth = rangeOf(field, MUSCLE_DEPTH);
  const interpolateIf = (hasEffect: boolean, quantity: number, constant: number) => {
    if (hasEffect) interpolate(field, quantity, planeOf(scene, quantity));
    else planeOf(scene, quantity).fill(constant);
  };
  interpolateIf(rangeOf(field, DISTANCE_FROM_EDGE).min < EDGE_WIDTH, DISTANCE_FROM_EDGE, EDGE_WIDTH);
  interpolateIf(mucosaDepth.min < MAX_BORDER_SHIFT, SURFACE_DEPTH, 1e6);
  interpolateIf(surfaceDepth.min < 2 * EPITHELIUM, SURFACE_ALONG, 0);
  interpolateIf(muscleDepth.min < MAX_BORDER_SHIFT, MUCOSA_DEPTH, 1e6);
  interpolateIf(muscleDepth.max > -MAX_BORDER_SHIFT, MUSCLE_DEPTH, -1e6);
  interpolateIf(muscleDepth.max > -MAX_BORDER_SHIFT, MUSCLE_ALONG, 0);
  interpolateIf(mucosaDepth.max > -MAX_BORDER_SHIFT && muscleDepth.min < MAX_BORDER_SHIFT, MUCOSA_ALONG, 0);
  interpolateIf(rangeOf(field, FOLLICLE_DEPTH_RATIO).max > 0, FOLLICLE_DEPTH_RATIO, -1);
  for (const quantity of [DENSITY, THICKNESS, SHIFT_X, SHIFT_Y]) {
    interpolate(field, quantity, planeOf(scene, quantity));
  }
}
