/**
 * Paints the connective tissue and the muscle of the colon wall, layer by layer (`colon-scene.ts` lists the layers).
 *
 * The stains are haematoxylin (blue-violet, mostly in nuclei) and eosin (pink, in muscle and connective tissue).
 * Numbers without a name are chosen by eye, so that each layer resembles stained tissue. They are amounts of stain (the
 * unit is defined in `stain.ts`), weights of textures and noises in these amounts, and scales that stretch a texture.
 */
import { smoothStep } from '../geometry/random.ts';
import type { StainTile } from '../stain/stain.ts';
import { nearestValue, sample } from '../stain/texture.ts';
import { FRAY_REACH } from '../structures/frayed-edges.ts';
import {
  type ColonScene,
  DENSITY,
  DISTANCE_FROM_EDGE,
  FOLLICLE_DEPTH_RATIO,
  INNER_MUSCLE,
  layerOf,
  MUCOSA,
  MUCOSA_ALONG,
  MUCOSA_DEPTH,
  MUSCLE_ALONG,
  MUSCLE_DEPTH,
  MUSCULARIS_MUCOSAE,
  OUTER_MUSCLE,
  PLEXUS,
  planeOf,
  SHIFT_X,
  SHIFT_Y,
  SUBMUCOSA,
  SUBSEROSA,
  SURFACE_DEPTH,
  THICKNESS,
} from './colon-scene.ts';

/** Paints every pixel of a tile that is inside the tissue. */
// oxlint-disable-next-line lamina/max-own-lines -- the loop over pixels calls few functions, for speed
export function paintWallLayers(scene: ColonScene, tile: StainTile): void {
  const { grain, clouds, reticulum, collagen, muscle, clefts, muscleCrossSections, bundles } = scene.palette;
  const { size, haematoxylin, eosin } = tile;
  const [distanceFromEdge, surfaceDepth] = [
    planeOf(scene, DISTANCE_FROM_EDGE),
    planeOf(scene, SURFACE_DEPTH),
  ];
  const [mucosaAlong, muscleAlong] = [planeOf(scene, MUCOSA_ALONG), planeOf(scene, MUSCLE_ALONG)];
  const [mucosaDepth, muscleDepth] = [planeOf(scene, MUCOSA_DEPTH), planeOf(scene, MUSCLE_DEPTH)];
  const [density, follicleDepthRatio] = [planeOf(scene, DENSITY), planeOf(scene, FOLLICLE_DEPTH_RATIO)];
  const [shiftX, shiftY, thickness] = [
    planeOf(scene, SHIFT_X),
    planeOf(scene, SHIFT_Y),
    planeOf(scene, THICKNESS),
  ];
  for (let row = 0, pixel = 0; row < size; row++) {
    const y = tile.y + row;
    for (let column = 0; column < size; column++, pixel++) {
      // Skips bare glass: pixels outside the tissue (negative distances, in pixels) beyond the reach of its frayed edge.
      if ((distanceFromEdge[pixel] as number) < -FRAY_REACH || (surfaceDepth[pixel] as number) < -2) continue;
      const x = tile.x + column;
      const cloud = nearestValue(clouds, x, y);
      const granules = nearestValue(grain, x, y);
      /** How dense the connective tissue is, mostly from −1 (loose) to 1. This slow noise also bends the textures. */
      const dense = density[pixel] as number;
      // Depths below the lower border of the mucosa and below the inner border of the muscle coat.
      const belowMucosa = mucosaDepth[pixel] as number;
      const belowMuscleBorder = muscleDepth[pixel] as number;
      // Amounts of haematoxylin and eosin. Below, u and v are positions in a texture along and across the layer.
      let h = 0;
      let e = 0;
      // A lymph follicle extends through the muscularis mucosae, and its background is painted like the mucosa.
      const isFollicle = (follicleDepthRatio[pixel] as number) > cloud * 0.08;
      const borderShift = cloud * 9; // makes the borders of the layers uneven
      switch (isFollicle ? MUCOSA : layerOf(belowMucosa, belowMuscleBorder, borderShift)) {
        case MUCOSA: {
          const strand = nearestValue(reticulum, x, y);
          e = 0.13 + (0.24 + 0.1 * dense) * strand + 0.05 * cloud + 0.02 * granules;
          h = 0.05 + 0.03 * strand;
          break;
        }
        case MUSCULARIS_MUCOSAE: {
          const strand = nearestValue(
            muscle,
            (mucosaAlong[pixel] as number) * 1.1,
            belowMucosa * 1.25 + (shiftY[pixel] as number),
          );
          e = 0.3 + 0.42 * strand + 0.05 * granules;
          h = 0.07 + 0.03 * granules;
          break;
        }
        case SUBMUCOSA: {
          const v = belowMucosa + (shiftY[pixel] as number) * 3 + dense * 60;
          const u = (mucosaAlong[pixel] as number) + (shiftX[pixel] as number) * 3;
          const strand = nearestValue(collagen, u, v);
          const collagenAmount = smoothStep(-0.75, 0.5, dense + cloud * 0.2);
          e =
            strand * (0.26 + 0.46 * collagenAmount + 0.06 * cloud) +
            0.05 * collagenAmount +
            0.035 * granules * strand;
          h = 0.03 * strand;
          break;
        }
        case INNER_MUSCLE: {
          const v = belowMuscleBorder + dense * 40 + (shiftY[pixel] as number);
          const u = muscleAlong[pixel] as number;
          const strand = nearestValue(muscle, u, v);
          const cleft = sample(clefts, u * 0.62, v * 0.9);
          e = (0.36 + 0.42 * strand + 0.05 * granules) * (1 - 0.8 * cleft);
          h = (0.065 + 0.025 * granules) * (1 - cleft);
          break;
        }
        case PLEXUS: {
          const strand = nearestValue(collagen, muscleAlong[pixel] as number, belowMuscleBorder * 1.4);
          e = strand * 0.5;
          h = 0.03 * strand;
          break;
        }
        case OUTER_MUSCLE: {
          const shiftedX = x + (shiftX[pixel] as number) * 1.5;
          const shiftedY = y + (shiftY[pixel] as number) * 1.5;
          const fibreSection = nearestValue(muscleCrossSections, shiftedX, shiftedY);
          const bundle = sample(bundles, (shiftedX + 30 * dense) * 0.23, (shiftedY - 40 * dense) * 0.23);
          const bundleCover = smoothStep(0.02, 0.62, bundle + 0.35 * dense + 0.08 * cloud);
          e = (0.16 + 0.6 * fibreSection + 0.05 * granules) * (0.38 + 0.62 * bundleCover);
          h = (0.065 + 0.025 * granules) * bundleCover;
          break;
        }
        case SUBSEROSA: {
          const strand = nearestValue(
            collagen,
            (muscleAlong[pixel] as number) + dense * 60,
            belowMuscleBorder * 1.3 + dense * 120,
          );
          e = strand * (0.52 + 0.2 * dense);
          h = 0.03 * strand;
          break;
        }
      }
      // The thickness of a section varies.
      const relativeThickness = thickness[pixel] as number;
      haematoxylin[pixel] = h * relativeThickness;
      eosin[pixel] = e * relativeThickness;
    }
  }
}
