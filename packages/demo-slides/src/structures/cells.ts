/**
 * The cells of the demonstration slides, as stamps at 0.25 µm per pixel.
 *
 * Sizes and appearance follow histology atlases: a lymphocyte nucleus of 7 µm with clumped chromatin, a pale liver
 * nucleus of 7–9 µm with a rim and a nucleolus, a red blood cell of 7 µm with a paler centre. `drawCells` is one long
 * table of these parameters, so it is not split.
 */
import { between, noiseAt, type Random, smoothStep } from '../geometry/random.ts';
import { createStamp, type Stamp } from '../stain/stamp.ts';
import { body, type NucleusLook, nucleus, over, shifted, usual } from './cell-shapes.ts';

function bank(count: number, draw: () => Stamp): readonly Stamp[] {
  return Array.from({ length: count }, draw);
}

export interface Cells {
  /** The long axis points from the base to the surface of the epithelium. */
  readonly columnar: readonly Stamp[];
  /** Flattened at the base of the cell; the long axis lies along the base. */
  readonly goblet: readonly Stamp[];
  readonly cuboidal: readonly Stamp[];
  readonly lymphocytes: readonly Stamp[];
  readonly plasmaCells: readonly Stamp[];
  readonly eosinophils: readonly Stamp[];
  readonly macrophages: readonly Stamp[];
  readonly fibroblasts: readonly Stamp[];
  readonly endothelium: readonly Stamp[];
  readonly muscleLong: readonly Stamp[];
  readonly muscleRound: readonly Stamp[];
  readonly germinal: readonly Stamp[];
  readonly ganglion: readonly Stamp[];
  readonly hepatocyte: readonly Stamp[];
  readonly redCells: readonly Stamp[];
  readonly mitoses: readonly Stamp[];
}

export function drawCells(random: Random): Cells {
  const plain = (size: number, look: Partial<NucleusLook>, height = size) =>
    createStamp(size, height, nucleus(random, { ...usual, ...look }));

  return {
    columnar: bank(48, () =>
      plain(
        60,
        { long: [15.5, 20.5], short: [8.6, 10.8], irregular: 0.06, ground: 0.66, clumps: 0.34, clumpSize: 4 },
        36,
      ),
    ),
    goblet: bank(24, () =>
      plain(
        48,
        { long: [10, 15], short: [5.5, 8], irregular: 0.1, ground: 0.95, clumps: 0.3, nucleoli: 0, bow: 3 },
        36,
      ),
    ),
    cuboidal: bank(24, () =>
      plain(40, { long: [11, 13.5], short: [10, 12], ground: 0.7, clumps: 0.35, nucleoli: 0.6 }),
    ),
    lymphocytes: bank(40, () =>
      plain(44, {
        long: [11.5, 14.5],
        short: [11, 13.2],
        ground: 0.98,
        clumps: 0.5,
        membrane: 0.35,
        clumpSize: 5.5,
        nucleoli: 0,
      }),
    ),
    plasmaCells: bank(28, () => {
      const away = between(random, 5, 8);
      const kernel = nucleus(random, {
        ...usual,
        long: [11, 12.5],
        short: [10.5, 12],
        ground: 0.78,
        clumps: 0.7,
        clumpSize: 6,
        membrane: 0.6,
        nucleoli: 0,
      });
      const cytoplasm = body(random, {
        long: 22,
        short: between(random, 15, 18),
        haematoxylin: 0.34,
        eosin: 0.5,
        orange: 0,
        grain: 0.25,
        grainSize: 3,
        cover: 0.88,
      });
      const nucleusAside = shifted(kernel, -away, 0);
      return createStamp(60, 52, (x, y) => over(nucleusAside(x, y), cytoplasm(x, y)));
    }),
    eosinophils: bank(14, () => {
      const look = {
        ...usual,
        long: [7, 8.5],
        short: [6.5, 8],
        ground: 1.05,
        clumps: 0.4,
        nucleoli: 0,
      } as const;
      const spread = between(random, 6, 8);
      const tilt = between(random, -3, 3);
      const [left, right] = [
        shifted(nucleus(random, look), -spread, tilt),
        shifted(nucleus(random, look), spread, -tilt),
      ];
      const cytoplasm = shifted(
        body(random, {
          long: 19,
          short: 17,
          haematoxylin: 0.03,
          eosin: 1.05,
          orange: 0.38,
          grain: 0.75,
          grainSize: 3.2,
          cover: 0.95,
        }),
        0,
        between(random, 3, 6),
      );
      return createStamp(56, 56, (x, y) => over(over(left(x, y), right(x, y)), cytoplasm(x, y)));
    }),
    macrophages: bank(14, () => {
      const kernel = nucleus(random, {
        ...usual,
        long: [14, 17],
        short: [9, 11],
        ground: 0.45,
        clumps: 0.35,
        irregular: 0.12,
        bow: 5,
      });
      const cytoplasm = body(random, {
        long: 32,
        short: between(random, 20, 26),
        haematoxylin: 0.14,
        eosin: 0.4,
        orange: 0.03,
        grain: 0.5,
        grainSize: 5,
        cover: 0.8,
      });
      const nucleusAside = shifted(kernel, between(random, -8, 8), 0);
      return createStamp(80, 72, (x, y) => over(nucleusAside(x, y), cytoplasm(x, y)));
    }),
    fibroblasts: bank(28, () =>
      plain(
        96,
        {
          long: [22, 38],
          short: [4.2, 7],
          ground: 0.72,
          clumps: 0.35,
          membrane: 0.3,
          bow: 5,
          pointed: 1,
          irregular: 0.08,
        },
        40,
      ),
    ),
    endothelium: bank(20, () =>
      plain(
        84,
        {
          long: [19, 30],
          short: [3.8, 5.6],
          ground: 0.92,
          clumps: 0.3,
          membrane: 0.25,
          bow: 4,
          pointed: 0.8,
          nucleoli: 0,
        },
        36,
      ),
    ),
    muscleLong: bank(28, () =>
      plain(
        124,
        {
          long: [28, 48],
          short: [4, 6],
          ground: 0.62,
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
    muscleRound: bank(24, () =>
      plain(36, {
        long: [6, 10],
        short: [5, 8.5],
        ground: 0.72,
        clumps: 0.35,
        irregular: 0.1,
        nucleoli: 0.6,
      }),
    ),
    germinal: bank(24, () =>
      plain(60, {
        long: [16, 21],
        short: [14.5, 18],
        ground: 0.5,
        clumps: 0.42,
        membrane: 0.55,
        irregular: 0.09,
        nucleoli: 3,
      }),
    ),
    ganglion: bank(10, () => {
      const kernel = nucleus(random, {
        ...usual,
        long: [17, 20],
        short: [16, 19],
        ground: 0.34,
        clumps: 0.2,
        membrane: 0.5,
        nucleoli: 0,
      });
      const cytoplasm = body(random, {
        long: 48,
        short: between(random, 34, 42),
        haematoxylin: 0.4,
        eosin: 0.62,
        orange: 0.04,
        grain: 0.3,
        grainSize: 6,
        cover: 0.96,
      });
      const aside = between(random, -14, 14);
      const nucleusAside = shifted(kernel, aside, 0);
      // The typical single large nucleolus lies off-centre in the nucleus.
      const nucleolus = shifted(
        body(random, {
          long: 5,
          short: 4.6,
          haematoxylin: 1.2,
          eosin: 0.9,
          orange: 0,
          grain: 0,
          grainSize: 4,
          cover: 1,
        }),
        aside + between(random, -7, 7),
        between(random, -6, 6),
      );
      return createStamp(116, 100, (x, y) =>
        over(nucleolus(x, y), over(nucleusAside(x, y), cytoplasm(x, y))),
      );
    }),
    hepatocyte: bank(48, () =>
      plain(56, {
        long: [13.5, 16.5],
        short: [13, 16],
        irregular: 0.03,
        ground: 0.46,
        clumps: 0.36,
        membrane: 0.5,
        clumpSize: 5,
        nucleoli: 2.4,
      }),
    ),
    redCells: bank(16, () => {
      const long = between(random, 12.5, 14.5);
      const short = long * between(random, 0.72, 1);
      const wave = (random() * 2 - 1) * 0.07;
      const pallor = between(random, 0.1, 0.42);
      return createStamp(36, 36, (x, y) => {
        const distance = Math.hypot(x / long, y / short) * (1 + wave * Math.cos(3 * Math.atan2(y, x)));
        const cover = smoothStep(-0.8, 0.9, (1 - distance) * short);
        if (cover <= 0) return null;
        const hollow = 1 - pallor * Math.exp(-((distance / 0.5) ** 2));
        return { haematoxylin: 0.02, eosin: 1.12 * hollow, orange: 0.7 * hollow, cover: cover * 0.96 };
      });
    }),
    mitoses: bank(6, () => {
      const seed = Math.floor(random() * 2 ** 30);
      const gap = between(random, 0, 9);
      return createStamp(48, 48, (x, y) => {
        const plate = Math.abs(Math.abs(x) - gap) / (4.2 + noiseAt(seed, y / 4, 1) * 2);
        const cover =
          smoothStep(1.15, 0.8, plate) * smoothStep(16, 13, Math.abs(y) + noiseAt(seed, x, y) * 2);
        return cover <= 0 ? null : { haematoxylin: 1.75, eosin: 0.3, orange: 0, cover };
      });
    }),
  };
}
