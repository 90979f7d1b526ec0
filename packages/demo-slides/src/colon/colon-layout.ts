/**
 * The layout of the colon slide: a full-thickness strip of the colon wall with its inner surface at the top, and two
 * small biopsies of the mucosa (the inner lining) above the strip. All lengths are pixels (0.25 µm) and all positions
 * are on the whole slide. Sizes and positions of the structures are chosen by eye.
 *
 * Noises make shapes irregular. `50 * roughNoiseAt(seed + 8, x / 240, y / 240, 3)`, for example, lies between −50 and 50 pixels, has a
 * period of 240 pixels and three octaves (levels of detail). The numbers added to `seed` keep the noises independent.
 */
import { type CurvePosition, createCurve, locateOnCurve, pointOnCurve } from '../geometry/curve.ts';
import { createLineNoise, createRandom, noiseAt, roughNoiseAt, smoothStep } from '../geometry/random.ts';
import { SpatialIndex } from '../geometry/spatial-index.ts';
import { axisPoint, type Gland, type GlandPosition, locateInGland, wallSeed } from '../structures/glands.ts';
import { type BiopsyPosition, createBiopsy, locateInBiopsy, placeCutCrypts } from './biopsy.ts';
import { placeGanglia, placeVessels } from './colon-vessels.ts';
import {
  BIOPSIES_MAX_Y,
  COLON_WIDTH,
  type ColonLayout,
  EPITHELIUM,
  emptyWallPosition,
  GLAND_SQUARE,
  MUCOSA_THICKNESS,
  type MucosaPosition,
  OUTSIDE,
  SURFACE_SEED,
  WALL_END,
  type WallPosition,
} from './colon-wall.ts';
import { placeCrypts } from './crypts.ts';

/** `locateInMucosa` joins two surfaces (of mucosa or a crypt) where the depths below them differ by less than this. */
const JOIN_WIDTH = 46;

/** Added to `surfaceAlong` once per biopsy: more than the length of a surface, so that cells of two surfaces never have the same index. */
const SURFACE_OFFSET = 100_000;
/** The `follicleDepthRatio` of a position that is far from every follicle. */
const FAR_FROM_FOLLICLES = -9;
/** Glands longer than this count as crypts cut along their axis, shorter ones as crypts in cross-section. */
const MIN_LONGITUDINAL_LENGTH = 400;
/**
 * A gland affects positions up to this many pixels outside its epithelium: the displacement by `shiftAt` and the join with another
 * surface (`JOIN_WIDTH`) extend its reach.
 */
const GLAND_MARGIN = 90;

/** Creates the layout. The same seed always gives the same layout. */
// oxlint-disable-next-line lamina/max-own-lines -- its functions share the outlines, which depend on the seed
export function layOutColon(seed: number): ColonLayout {
  const random = createRandom(seed);
  // Noises of borders: of the layers along x, of the cut ends along y, and of the outer border along the muscle.
  const unfoldedNoise = createLineNoise({ seed, row: 3, period: 4200, amplitude: 260 });
  const surfaceNoise = createLineNoise({ seed: seed + 1, row: 1, period: 900, amplitude: 60 });
  const fineSurfaceNoise = createLineNoise({ seed: seed + 2, row: 1, period: 210, amplitude: 16 });
  const mucosaBaseNoise = createLineNoise({ seed: seed + 3, row: 1, period: 700, amplitude: 46 });
  const muscleBorderNoise = createLineNoise({ seed: seed + 4, row: 1, period: 1900, amplitude: 150 });
  const leftEndNoise = createLineNoise({ seed: seed + 5, row: 7, period: 1300, amplitude: 230, octaves: 3 });
  const rightEndNoise = createLineNoise({ seed: seed + 6, row: 9, period: 1500, amplitude: 260, octaves: 3 });
  const outerBorderNoise = createLineNoise({
    seed: seed + 7,
    row: 5,
    period: 1500,
    amplitude: 230,
    octaves: 3,
  });
  /** Returns the y of the inner surface without its folds: 7050 in the middle, 1250 more at 9400 pixels from the middle, and noise. */
  const unfoldedY = (x: number) => 7050 + 1250 * ((x - COLON_WIDTH / 2) / 9400) ** 2 + unfoldedNoise(x);
  // `rise` is the height of a fold at the inner surface; at the distance `width` from its top, it is 37 % of `rise`.
  const folds = [
    { x: 3700, rise: 800, width: 1900 },
    { x: 9700, rise: 1300, width: 2350 },
    { x: 15900, rise: 760, width: 1800 },
  ];
  /** Returns by how many pixels the folds raise a layer. The factors are 1 for the surface; in deeper layers, folds are wider and lower. */
  const foldRise = (
    x: number,
    { widthFactor, heightFactor }: Record<'widthFactor' | 'heightFactor', number>,
  ) =>
    heightFactor *
    folds.reduce(
      (sum, fold) => sum + fold.rise * Math.exp(-(((x - fold.x) / (fold.width * widthFactor)) ** 2)),
      0,
    );
  // The curves are 600 pixels longer than the slide at both ends and have a point every 24 pixels.
  const createLayerCurve = (yAt: (x: number) => number) => createCurve(-600, COLON_WIDTH + 600, 24, yAt);
  const surface = createLayerCurve(
    (x) =>
      unfoldedY(x) - foldRise(x, { widthFactor: 1, heightFactor: 1 }) + surfaceNoise(x) + fineSurfaceNoise(x),
  );
  const mucosaBase = createLayerCurve(
    (x) =>
      unfoldedY(x) +
      MUCOSA_THICKNESS -
      foldRise(x, { widthFactor: 1.06, heightFactor: 0.94 }) +
      mucosaBaseNoise(x),
  );
  // The inner border of the muscle coat: 3050 pixels below the surface where there are no folds, which hardly raise it.
  const muscleBorder = createLayerCurve(
    (x) => unfoldedY(x) + 3050 - foldRise(x, { widthFactor: 1.3, heightFactor: 0.2 }) + muscleBorderNoise(x),
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
  // Lymph follicles: ellipses with the semi-axes `long` and `short`, 90 pixels above the base of the mucosa.
  const follicles = [
    { x: 12950, long: 640, short: 440 },
    { x: 6500, long: 430, short: 320 },
  ].map(({ x, long, short }) => {
    const { y, downX, downY } = pointOnCurve(mucosaBase, x);
    return { x: x - downX * 90, y: y - downY * 90, long, short };
  });

  const curvePosition: CurvePosition = { depth: 0, along: 0 };
  const biopsyPosition: BiopsyPosition = { distanceFromEdge: 0, depth: 0, along: 0 };
  // `leftEnd` and `rightEnd` return the x of the left and the right cut end of the strip at the height `y`; both slant slightly.
  const leftEnd = (y: number) => 820 + leftEndNoise(y) + (y - 9000) * 0.05;
  const rightEnd = (y: number) => 19700 + rightEndNoise(y) - (y - 9000) * 0.04;
  /** Returns whether a position is above the strip, where the biopsies lie. No fold is as high as 1900 pixels. */
  const isAmongBiopsies = (x: number, y: number) => y < BIOPSIES_MAX_Y && y < unfoldedY(x) - 1900;

  function locate(x: number, y: number, out: WallPosition): WallPosition {
    if (isAmongBiopsies(x, y)) {
      out.mucosaDepth = OUTSIDE;
      out.muscleDepth = OUTSIDE;
      out.mucosaAlong = x; // any value, as for `muscleAlong`: a biopsy has no layer below the mucosa
      // Noise enlarges a biopsy by at most 18 % beyond its ellipse, so the factor 1.35 leaves a margin.
      const biopsyIndex = biopsies.findIndex((biopsy) => Math.abs(x - biopsy.x) < biopsy.long * 1.35);
      const biopsy = biopsies[biopsyIndex];
      if (biopsy === undefined) {
        out.distanceFromEdge = OUTSIDE;
        out.surfaceDepth = OUTSIDE;
        return out; // `surfaceAlong` stays unset: nothing is drawn on bare glass
      }
      locateInBiopsy(biopsy, x, y, biopsyPosition);
      out.distanceFromEdge = biopsyPosition.distanceFromEdge;
      out.surfaceDepth = biopsyPosition.depth;
      out.surfaceAlong = biopsyPosition.along + SURFACE_OFFSET * (biopsyIndex + 1);
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
    const toOuterBorder = WALL_END + outerBorderNoise(out.muscleAlong) - out.muscleDepth;
    const toCutEnd = Math.min(x - leftEnd(y), rightEnd(y) - x);
    out.distanceFromEdge = Math.min(
      toOuterBorder + 36 * roughNoiseAt(seed + 9, x / 150, y / 150, 3),
      toCutEnd + 50 * roughNoiseAt(seed + 8, x / 240, y / 240, 3),
    );
    return out;
  }

  function shiftAt(x: number, y: number, out: { x: number; y: number }): void {
    out.x = 17 * noiseAt(seed + 11, x / 150, y / 150) + 6 * noiseAt(seed + 12, x / 55, y / 55);
    out.y = 17 * noiseAt(seed + 13, x / 150, y / 150) + 6 * noiseAt(seed + 14, x / 55, y / 55);
  }

  function follicleDepthRatio(x: number, y: number): number {
    let maxRatio = FAR_FROM_FOLLICLES;
    for (const follicle of follicles) {
      /** 0 in the centre of the follicle, 1 on its ellipse. */
      const distanceRatio = Math.hypot((x - follicle.x) / follicle.long, (y - follicle.y) / follicle.short);
      if (distanceRatio < 3)
        maxRatio = Math.max(
          maxRatio,
          1 - distanceRatio + 0.22 * roughNoiseAt(seed + 15, x / 260, y / 260, 2),
        );
    }
    return maxRatio;
  }

  const glandPosition: GlandPosition = { depth: 0, along: 0, side: 1 };

  function locateInMucosa(
    x: number,
    y: number,
    position: WallPosition,
    glands: readonly Gland[],
    out: MucosaPosition,
  ): void {
    // Begins with the inner surface, which has fewer goblet cells than the crypts and no dividing cells.
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
        // Cells divide in the lower half of a crypt. A cross-section may be at any height of the crypt, so it gets a low value.
        out.proliferation =
          gland.length > MIN_LONGITUDINAL_LENGTH
            ? smoothStep(0.55, 0.95, glandPosition.along / gland.length)
            : 0.35;
      }
    }
  }

  // In the lower part of the wall, from the middle of the submucosa, the layers follow the muscle; in the upper part, the mucosa.
  const layerDirection = (x: number, y: number) => {
    if (isAmongBiopsies(x, y)) return noiseAt(seed + 16, x / 700, y / 700) * 2.2;
    const { downX, downY } = pointOnCurve(y > unfoldedY(x) + 2600 ? muscleBorder : mucosaBase, x);
    return Math.atan2(-downX, downY);
  };

  /** Returns the distance from the nearest edge; in a follicle and just outside it, where no crypt may be, a large negative number. */
  const cryptClearanceAt = (x: number, y: number) =>
    follicleDepthRatio(x, y) > -0.12 ? OUTSIDE : locate(x, y, emptyWallPosition()).distanceFromEdge;
  // The crypts (tubular glands) of the strip and of the biopsies.
  const glands = [
    ...placeCrypts(random, surface, mucosaBase, cryptClearanceAt),
    ...biopsies.flatMap((biopsy) => placeCutCrypts(random, biopsy, EPITHELIUM)),
  ];
  const glandIndex = new SpatialIndex<Gland>(GLAND_SQUARE);
  for (const gland of glands) indexGland(glandIndex, gland);
  const layout = { locate, shiftAt, locateInMucosa, follicleDepthRatio, layerDirection, glandIndex };
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
  const reach = gland.lumenRadius + gland.height + GLAND_MARGIN;
  // Adds several small rectangles along the axis, because one rectangle around an oblique crypt would be mostly empty.
  for (let alongAxis = 0; alongAxis <= gland.length; alongAxis += Math.max(1, Math.min(48, gland.length))) {
    const { x, y } = axisPoint(gland, alongAxis);
    index.add(gland, x - reach, y - reach, x + reach, y + reach);
  }
}
