/**
 * The layout of the colon slide: a full-thickness strip of the colon wall with its inner surface at the top, and two
 * small biopsies of the mucosa (the inner lining) above the strip. All lengths are pixels (0.25 µm) and all positions
 * are on the whole slide. Sizes and positions of the structures, and the strengths and periods of the noises, are
 * chosen by eye. The numbers added to `seed` keep the noises independent.
 */
import { type CurvePosition, createCurve, locateOnCurve, pointOnCurve } from '../geometry/curve.ts';
import { createRandom, noiseAt, roughNoiseAt, smoothStep } from '../geometry/random.ts';
import { SpatialIndex } from '../geometry/spatial-index.ts';
import { axisPoint, type Gland, type GlandPosition, locateInGland, wallSeed } from '../structures/glands.ts';
import { type BiopsyPosition, createBiopsy, locateInBiopsy, placeCutCrypts } from './biopsy.ts';
import { placeGanglia, placeVessels } from './colon-vessels.ts';
import {
  BIOPSIES_TO,
  COLON_WIDTH,
  type ColonLayout,
  EPITHELIUM,
  emptyWallPosition,
  GLAND_SQUARE,
  MUCOSA_THICKNESS,
  type MucosaPosition,
  OUTSIDE,
  SURFACE_SEED,
  WALL_TO,
  type WallPosition,
} from './colon-wall.ts';
import { placeCrypts } from './crypts.ts';

/** `locateInMucosa` joins two surfaces (of mucosa or a crypt) where the depths below them differ by less than this. */
const JOIN_WIDTH = 46;

/** Creates the layout. The same seed always gives the same layout. */
// oxlint-disable-next-line lamina/max-own-lines -- its functions share the outlines, which depend on the seed
export function layOutColon(seed: number): ColonLayout {
  const random = createRandom(seed);
  /** Returns the y of the inner surface without its folds. */
  const arch = (x: number) =>
    7050 + 1250 * ((x - COLON_WIDTH / 2) / 9400) ** 2 + 260 * noiseAt(seed, x / 4200, 3);
  const folds = [
    { x: 3700, rise: 800, width: 1900 },
    { x: 9700, rise: 1300, width: 2350 },
    { x: 15900, rise: 760, width: 1800 },
  ];
  /** Returns by how many pixels the folds raise a layer. @param widthFactor above 1 for deeper layers, whose folds are wider */
  const foldAt = (x: number, widthFactor: number) =>
    folds.reduce(
      (sum, fold) => sum + fold.rise * Math.exp(-(((x - fold.x) / (fold.width * widthFactor)) ** 2)),
      0,
    );
  // The curves are 600 pixels longer than the slide at both ends and have a point every 24 pixels.
  const createLayerCurve = (yAt: (x: number) => number) => createCurve(-600, COLON_WIDTH + 600, 24, yAt);
  const surface = createLayerCurve(
    (x) => arch(x) - foldAt(x, 1) + 60 * noiseAt(seed + 1, x / 900, 1) + 16 * noiseAt(seed + 2, x / 210, 1),
  );
  const mucosaBase = createLayerCurve(
    (x) => arch(x) + MUCOSA_THICKNESS - foldAt(x, 1.06) * 0.94 + 46 * noiseAt(seed + 3, x / 700, 1),
  );
  // The inner border of the muscle coat.
  const muscleBorder = createLayerCurve(
    (x) => arch(x) + 3050 - foldAt(x, 1.3) * 0.2 + 150 * noiseAt(seed + 4, x / 1900, 1),
  );
  const biopsies = [
    {
      x: 5200,
      y: 2450,
      long: 2500,
      short: 1200,
      angle: -0.16,
      seed: seed + 40,
      surfaceDirection: -1.5,
      halfSurfaceSpan: 1.3,
    },
    {
      x: 14500,
      y: 2300,
      long: 2750,
      short: 1100,
      angle: 0.12,
      seed: seed + 41,
      surfaceDirection: -1.7,
      halfSurfaceSpan: 1.5,
    },
  ].map(createBiopsy);
  const follicles = [
    { x: 12950, long: 640, short: 440 },
    { x: 6500, long: 430, short: 320 },
  ].map(({ x, long, short }) => {
    const { y, downX, downY } = pointOnCurve(mucosaBase, x);
    return { x: x - downX * 90, y: y - downY * 90, long, short }; // 90 pixels above the base of the mucosa
  });

  const curvePosition: CurvePosition = { depth: 0, along: 0 };
  const biopsyPosition: BiopsyPosition = { distanceFromEdge: 0, depth: 0, along: 0 };
  // `leftEnd` and `rightEnd` return the x of the left and the right cut end of the strip at the height `y`.
  const leftEnd = (y: number) => 820 + 230 * roughNoiseAt(seed + 5, y / 1300, 7, 3) + (y - 9000) * 0.05;
  const rightEnd = (y: number) => 19700 + 260 * roughNoiseAt(seed + 6, y / 1500, 9, 3) - (y - 9000) * 0.04;
  const isAmongBiopsies = (x: number, y: number) => y < BIOPSIES_TO && y < arch(x) - 1900;

  function locate(x: number, y: number, out: WallPosition): WallPosition {
    if (isAmongBiopsies(x, y)) {
      out.mucosaDepth = OUTSIDE;
      out.muscleDepth = OUTSIDE;
      out.mucosaAlong = x; // no effect: a biopsy has no layer below the mucosa
      const biopsyIndex = biopsies.findIndex((biopsy) => Math.abs(x - biopsy.x) < biopsy.long * 1.35);
      const biopsy = biopsies[biopsyIndex];
      if (biopsy === undefined) {
        out.distanceFromEdge = OUTSIDE;
        out.surfaceDepth = OUTSIDE;
        return out;
      }
      locateInBiopsy(biopsy, x, y, biopsyPosition);
      out.distanceFromEdge = biopsyPosition.distanceFromEdge;
      out.surfaceDepth = biopsyPosition.depth;
      // The offset is larger than the strip, so that the cells of two surfaces never have the same index.
      out.surfaceAlong = biopsyPosition.along + 100_000 * (biopsyIndex + 1);
      return out;
    }
    locateOnCurve(muscleBorder, x, y, curvePosition);
    out.muscleDepth = curvePosition.depth;
    out.muscleAlong = curvePosition.along;
    locateOnCurve(mucosaBase, x, y, curvePosition);
    out.mucosaDepth = curvePosition.depth;
    out.mucosaAlong = curvePosition.along;
    locateOnCurve(surface, x, y, curvePosition);
    out.surfaceDepth = curvePosition.depth;
    out.surfaceAlong = curvePosition.along;
    // Distances from the outer border and from the cut ends.
    const outer = WALL_TO + 230 * roughNoiseAt(seed + 7, out.muscleAlong / 1500, 5, 3) - out.muscleDepth;
    const ends = Math.min(x - leftEnd(y), rightEnd(y) - x) + 50 * roughNoiseAt(seed + 8, x / 240, y / 240, 3);
    out.distanceFromEdge = Math.min(outer + 36 * roughNoiseAt(seed + 9, x / 150, y / 150, 3), ends);
    return out;
  }

  function warp(x: number, y: number, out: { x: number; y: number }): void {
    out.x = 17 * noiseAt(seed + 11, x / 150, y / 150) + 6 * noiseAt(seed + 12, x / 55, y / 55);
    out.y = 17 * noiseAt(seed + 13, x / 150, y / 150) + 6 * noiseAt(seed + 14, x / 55, y / 55);
  }

  function follicleDepth(x: number, y: number): number {
    let max = -9; // far from every follicle
    for (const follicle of follicles) {
      const distance = Math.hypot((x - follicle.x) / follicle.long, (y - follicle.y) / follicle.short);
      if (distance < 3)
        max = Math.max(max, 1 - distance + 0.22 * roughNoiseAt(seed + 15, x / 260, y / 260, 2));
    }
    return max;
  }

  const glandPosition: GlandPosition = { depth: 0, along: 0, side: 1 };

  function locateInMucosa(
    x: number,
    y: number,
    position: WallPosition,
    glands: readonly Gland[],
    out: MucosaPosition,
  ): void {
    out.depth = position.surfaceDepth;
    out.along = position.surfaceAlong;
    out.seed = SURFACE_SEED;
    out.gobletShare = 0.2;
    out.cellWidth = 46;
    out.proliferation = 0;
    let nearestDepth = position.surfaceDepth;
    for (const gland of glands) {
      locateInGland(gland, x, y, glandPosition);
      const { depth } = glandPosition;
      // A smooth minimum joins two surfaces in a curve of some micrometres.
      const difference = Math.abs(out.depth - depth);
      const blend = difference < JOIN_WIDTH ? (JOIN_WIDTH - difference) / JOIN_WIDTH : 0;
      out.depth = Math.min(out.depth, depth) - (blend * blend * JOIN_WIDTH) / 4;
      if (depth < nearestDepth) {
        nearestDepth = depth;
        out.along = glandPosition.along;
        out.seed = wallSeed(gland, glandPosition.side);
        out.gobletShare = gland.gobletShare;
        out.cellWidth = gland.cellWidth;
        // Short glands are crypts in cross-section, cut at any height.
        out.proliferation =
          gland.length > 400 ? smoothStep(0.55, 0.95, glandPosition.along / gland.length) : 0.35;
      }
    }
  }

  // In the lower part of the wall, the layers follow the muscle; in the upper part, the mucosa.
  const layerDirection = (x: number, y: number) => {
    if (isAmongBiopsies(x, y)) return noiseAt(seed + 16, x / 700, y / 700) * 2.2;
    const { downX, downY } = pointOnCurve(y > arch(x) + 2600 ? muscleBorder : mucosaBase, x);
    return Math.atan2(-downX, downY);
  };

  // The crypts (tubular glands) of the strip and of the biopsies.
  const glands = [
    ...placeCrypts(random, surface, mucosaBase, (x, y) =>
      follicleDepth(x, y) > -0.12 ? OUTSIDE : locate(x, y, emptyWallPosition()).distanceFromEdge,
    ),
    ...biopsies.flatMap((biopsy) => placeCutCrypts(random, biopsy, EPITHELIUM)),
  ];
  const glandIndex = new SpatialIndex<Gland>(GLAND_SQUARE);
  for (const gland of glands) indexGland(glandIndex, gland);
  const layout = { locate, warp, locateInMucosa, follicleDepth, layerDirection, glandIndex };
  return {
    ...layout,
    surface,
    biopsies,
    glands,
    vessels: placeVessels(random, layout),
    ganglia: placeGanglia(random, muscleBorder),
  };
}

/** Adds a gland to an index of the glands by position. */
function indexGland(index: SpatialIndex<Gland>, gland: Gland): void {
  const reach = gland.lumenRadius + gland.height + 90;
  // Adds several small rectangles along the axis, because one rectangle around an oblique crypt would be mostly empty.
  for (let alongAxis = 0; alongAxis <= gland.length; alongAxis += Math.max(1, Math.min(48, gland.length))) {
    const { x, y } = axisPoint(gland, alongAxis);
    index.add(gland, x - reach, y - reach, x + reach, y + reach);
  }
}
