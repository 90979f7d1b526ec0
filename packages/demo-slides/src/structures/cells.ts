/**
 * The cells of the demonstration slides, as stamps (small images of single cells). Sizes are in pixels of 0.25 µm.
 *
 * Sizes and appearance follow histology atlases. A lymphocyte nucleus has 7 µm and clumped chromatin; a liver nucleus is pale and has
 * 7–9 µm, a rim and a nucleolus; a red blood cell has 7 µm and a paler centre. `drawCells` is a table of parameters, which
 * `cell-shapes.ts` explains.
 */
import { between, noiseAt, type Random, smoothStep } from '../geometry/random.ts';
import { createStamp, type Stamp } from '../stain/stamp.ts';
import {
  blendOver,
  createCytoplasm,
  createNucleus,
  type NucleusLook,
  translate,
  typicalNucleus,
} from './cell-shapes.ts';

/** Returns `count` random variants of a stamp. */
function createStamps(count: number, draw: () => Stamp): readonly Stamp[] {
  return Array.from({ length: count }, draw);
}

/** Random variants of stamps for each kind of cell; each field is named after its cells. */
export interface Cells {
  /** Nuclei of columnar epithelium; their long axis points from the base of the cell to its surface. */
  readonly columnar: readonly Stamp[];
  /** Nuclei of goblet cells, flattened at the base of the cell; their long axis lies along the base. */
  readonly goblet: readonly Stamp[];
  /** Nuclei of low epithelium. */
  readonly cuboidal: readonly Stamp[];
  readonly lymphocytes: readonly Stamp[];
  readonly plasmaCells: readonly Stamp[];
  readonly eosinophils: readonly Stamp[];
  readonly macrophages: readonly Stamp[];
  readonly fibroblasts: readonly Stamp[];
  readonly endothelium: readonly Stamp[];
  /** Nuclei of muscle fibres in longitudinal section. */
  readonly muscleLong: readonly Stamp[];
  /** Nuclei of muscle fibres in cross-section. */
  readonly muscleRound: readonly Stamp[];
  /** Cells of the germinal centre of a lymph follicle. */
  readonly germinal: readonly Stamp[];
  /** Nerve cells. */
  readonly ganglion: readonly Stamp[];
  readonly hepatocyte: readonly Stamp[];
  readonly redCells: readonly Stamp[];
  /** Dividing cells. */
  readonly mitoses: readonly Stamp[];
}

/** Draws all stamps of a slide. */
export function drawCells(random: Random): Cells {
  /** Draws a stamp that is only a nucleus. A stamp without a height is square. */
  const drawNucleus = (width: number, look: Partial<NucleusLook>, height = width) =>
    createStamp(width, height, createNucleus(random, { ...typicalNucleus, ...look }));

  return {
    columnar: createStamps(48, () =>
      drawNucleus(
        60,
        {
          long: [15.5, 20.5],
          short: [8.6, 10.8],
          irregular: 0.06,
          base: 0.66,
          clumps: 0.34,
          clumpSpacing: 4,
        },
        36,
      ),
    ),
    goblet: createStamps(24, () =>
      drawNucleus(
        48,
        { long: [10, 15], short: [5.5, 8], irregular: 0.1, base: 0.95, clumps: 0.3, nucleoli: 0, bow: 3 },
        36,
      ),
    ),
    cuboidal: createStamps(24, () =>
      drawNucleus(40, { long: [11, 13.5], short: [10, 12], base: 0.7, clumps: 0.35, nucleoli: 0.6 }),
    ),
    lymphocytes: createStamps(40, () =>
      drawNucleus(44, {
        long: [11.5, 14.5],
        short: [11, 13.2],
        base: 0.98,
        clumps: 0.5,
        membrane: 0.35,
        clumpSpacing: 5.5,
        nucleoli: 0,
      }),
    ),
    plasmaCells: createStamps(28, () => {
      const nucleusOffset = between(random, 5, 8);
      const nucleus = createNucleus(random, {
        ...typicalNucleus,
        long: [11, 12.5],
        short: [10.5, 12],
        base: 0.78,
        clumps: 0.7,
        clumpSpacing: 6,
        membrane: 0.6,
        nucleoli: 0,
      });
      const cytoplasm = createCytoplasm(random, {
        long: 22,
        short: between(random, 15, 18),
        haematoxylin: 0.34,
        eosin: 0.5,
        orange: 0,
        grain: 0.25,
        grainSpacing: 3,
        cover: 0.88,
      });
      const movedNucleus = translate(nucleus, -nucleusOffset, 0);
      return createStamp(60, 52, (x, y) => blendOver(movedNucleus(x, y), cytoplasm(x, y)));
    }),
    eosinophils: createStamps(14, () => {
      /** One of the two lobes of the nucleus. */
      const lobe = {
        ...typicalNucleus,
        long: [7, 8.5],
        short: [6.5, 8],
        base: 1.05,
        clumps: 0.4,
        nucleoli: 0,
      } as const;
      const spread = between(random, 6, 8);
      const tilt = between(random, -3, 3);
      const [left, right] = [
        translate(createNucleus(random, lobe), -spread, tilt),
        translate(createNucleus(random, lobe), spread, -tilt),
      ];
      const cytoplasm = translate(
        createCytoplasm(random, {
          long: 19,
          short: 17,
          haematoxylin: 0.03,
          eosin: 1.05,
          orange: 0.38,
          grain: 0.75,
          grainSpacing: 3.2,
          cover: 0.95,
        }),
        0,
        between(random, 3, 6),
      );
      return createStamp(56, 56, (x, y) => blendOver(blendOver(left(x, y), right(x, y)), cytoplasm(x, y)));
    }),
    macrophages: createStamps(14, () => {
      const nucleus = createNucleus(random, {
        ...typicalNucleus,
        long: [14, 17],
        short: [9, 11],
        base: 0.45,
        clumps: 0.35,
        irregular: 0.12,
        bow: 5,
      });
      const cytoplasm = createCytoplasm(random, {
        long: 32,
        short: between(random, 20, 26),
        haematoxylin: 0.14,
        eosin: 0.4,
        orange: 0.03,
        grain: 0.5,
        grainSpacing: 5,
        cover: 0.8,
      });
      const movedNucleus = translate(nucleus, between(random, -8, 8), 0);
      return createStamp(80, 72, (x, y) => blendOver(movedNucleus(x, y), cytoplasm(x, y)));
    }),
    fibroblasts: createStamps(28, () =>
      drawNucleus(
        96,
        {
          long: [22, 38],
          short: [4.2, 7],
          base: 0.72,
          clumps: 0.35,
          membrane: 0.3,
          bow: 5,
          pointed: 1,
          irregular: 0.08,
        },
        40,
      ),
    ),
    endothelium: createStamps(20, () =>
      drawNucleus(
        84,
        {
          long: [19, 30],
          short: [3.8, 5.6],
          base: 0.92,
          clumps: 0.3,
          membrane: 0.25,
          bow: 4,
          pointed: 0.8,
          nucleoli: 0,
        },
        36,
      ),
    ),
    muscleLong: createStamps(28, () =>
      drawNucleus(
        124,
        {
          long: [28, 48],
          short: [4, 6],
          base: 0.62,
          clumps: 0.32,
          membrane: 0.32,
          bow: 5,
          pointed: 0.12,
          nucleoli: 1.5,
          irregular: 0.04,
        },
        44,
      ),
    ),
    muscleRound: createStamps(24, () =>
      drawNucleus(36, {
        long: [6, 10],
        short: [5, 8.5],
        base: 0.72,
        clumps: 0.35,
        irregular: 0.1,
        nucleoli: 0.6,
      }),
    ),
    germinal: createStamps(24, () =>
      drawNucleus(60, {
        long: [16, 21],
        short: [14.5, 18],
        base: 0.5,
        clumps: 0.42,
        membrane: 0.55,
        irregular: 0.09,
        nucleoli: 3,
      }),
    ),
    ganglion: createStamps(10, () => {
      const nucleus = createNucleus(random, {
        ...typicalNucleus,
        long: [17, 20],
        short: [16, 19],
        base: 0.34,
        clumps: 0.2,
        membrane: 0.5,
        nucleoli: 0,
      });
      const cytoplasm = createCytoplasm(random, {
        long: 48,
        short: between(random, 34, 42),
        haematoxylin: 0.4,
        eosin: 0.62,
        orange: 0.04,
        grain: 0.3,
        grainSpacing: 6,
        cover: 0.96,
      });
      const nucleusOffset = between(random, -14, 14);
      const movedNucleus = translate(nucleus, nucleusOffset, 0);
      // The typical single large nucleolus lies off-centre in the nucleus.
      const nucleolus = translate(
        createCytoplasm(random, {
          long: 5,
          short: 4.6,
          haematoxylin: 1.2,
          eosin: 0.9,
          orange: 0,
          grain: 0,
          grainSpacing: 4,
          cover: 1,
        }),
        nucleusOffset + between(random, -7, 7),
        between(random, -6, 6),
      );
      return createStamp(116, 100, (x, y) =>
        blendOver(nucleolus(x, y), blendOver(movedNucleus(x, y), cytoplasm(x, y))),
      );
    }),
    hepatocyte: createStamps(48, () =>
      drawNucleus(56, {
        long: [13.5, 16.5],
        short: [13, 16],
        irregular: 0.03,
        base: 0.46,
        clumps: 0.36,
        membrane: 0.5,
        clumpSpacing: 5,
        nucleoli: 2.4,
      }),
    ),
    redCells: createStamps(16, () => {
      const long = between(random, 12.5, 14.5);
      const short = long * between(random, 0.72, 1);
      const deviation = (random() * 2 - 1) * 0.07; // of the outline, which is slightly three-sided
      const pallor = between(random, 0.1, 0.42); // share of the stain that is missing in the centre
      return createStamp(36, 36, (x, y) => {
        const distance = Math.hypot(x / long, y / short) * (1 + deviation * Math.cos(3 * Math.atan2(y, x)));
        const cover = smoothStep(-0.8, 0.9, (1 - distance) * short);
        if (cover <= 0) return null;
        const stainShare = 1 - pallor * Math.exp(-((distance / 0.5) ** 2));
        return {
          haematoxylin: 0.02,
          eosin: 1.12 * stainShare,
          orange: 0.7 * stainShare,
          cover: cover * 0.96,
        };
      });
    }),
    mitoses: createStamps(6, () => {
      const seed = Math.floor(random() * 2 ** 30);
      const plateOffset = between(random, 0, 9);
      return createStamp(48, 48, (x, y) => {
        // The chromosomes form a plate at x = 0, or two plates at ±`plateOffset`. `distance` is 1 at the edge of a plate.
        // The thickness varies along y only, so the second coordinate of its noise is constant.
        const distance = Math.abs(Math.abs(x) - plateOffset) / (4.2 + noiseAt(seed, y / 4, 1) * 2);
        const cover =
          smoothStep(1.15, 0.8, distance) * smoothStep(16, 13, Math.abs(y) + noiseAt(seed, x, y) * 2);
        return cover <= 0 ? null : { haematoxylin: 1.75, eosin: 0.3, orange: 0, cover };
      });
    }),
  };
}
