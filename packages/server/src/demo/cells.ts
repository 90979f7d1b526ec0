/**
 * The cells of the demonstration slides, as stamps at 0.25 µm per pixel.
 *
 * Sizes and looks follow what any atlas of histology says: a lymphocyte nucleus of 7 µm with clumped
 * chromatin, a liver nucleus of 7–9 µm that is pale with a rim and a nucleolus, a red cell of 7 µm
 * paler in its middle.
 */
import { between, noiseAt, type Random, smoothStep } from './random.ts';
import { drawStamp, type Stamp } from './stamp.ts';

interface NucleusLook {
  /** Half axes in pixels, shortest and longest; the first lies along x. */
  readonly long: readonly [number, number];
  readonly short: readonly [number, number];
  /** How far the outline leaves the ellipse, 0 none, 0.15 much. */
  readonly irregular: number;
  /** Amount of haematoxylin between the clumps, in the clumps (added), and in the membrane (added). */
  readonly ground: number;
  readonly clumps: number;
  readonly membrane: number;
  /** Pixels from clump to clump. */
  readonly clumpSize: number;
  /** Most nucleoli that are seen. */
  readonly nucleoli: number;
  /** Sideways bow of a long nucleus, pixels at its ends. */
  readonly bow: number;
  /** 0 round ends, 1 pointed. */
  readonly pointed: number;
}

interface Point {
  readonly haematoxylin: number;
  readonly eosin: number;
  readonly orange: number;
  readonly cover: number;
}

const usual: NucleusLook = {
  long: [13, 15],
  short: [12, 14],
  irregular: 0.05,
  ground: 0.62,
  clumps: 0.5,
  membrane: 0.45,
  clumpSize: 4.5,
  nucleoli: 1,
  bow: 0,
  pointed: 0,
};

/** A nucleus as a function of the place, counted from its middle; null outside it. */
function nucleus(random: Random, look: NucleusLook): (x: number, y: number) => Point | null {
  const long = between(random, ...look.long);
  const short = between(random, ...look.short);
  const bow = (random() * 2 - 1) * look.bow;
  const seed = Math.floor(random() * 2 ** 30);
  const waves = [2, 3, 4, 5].map((count) => ({
    count,
    size: (look.irregular * (random() * 2 - 1)) / Math.sqrt(count - 1),
    phase: random() * Math.PI * 2,
  }));
  const nucleoli = Array.from({ length: Math.round(look.nucleoli * between(random, 0.35, 1)) }, () => {
    const angle = random() * Math.PI * 2;
    const away = Math.sqrt(random()) * 0.5;
    return {
      x: Math.cos(angle) * away * long,
      y: Math.sin(angle) * away * short,
      radius: between(random, 1.7, 3.1),
    };
  });
  const narrowest = Math.min(long, short);

  return (x, yBent) => {
    const y = yBent - bow * ((x / long) ** 2 - 0.33);
    const taper = 1 - look.pointed * 0.75 * Math.min(1, (x / long) ** 2);
    const nx = x / long;
    const ny = y / (short * Math.max(0.2, taper));
    const distance = Math.hypot(nx, ny);
    if (distance > 1.5) return null;
    const angle = Math.atan2(ny, nx);
    let outline = 1;
    for (const wave of waves) outline += wave.size * Math.cos(angle * wave.count + wave.phase);
    const inside = (1 - distance / outline) * narrowest;
    const cover = smoothStep(-1.1, 0.9, inside);
    if (cover <= 0) return null;

    const coarse = noiseAt(seed, x / look.clumpSize, y / look.clumpSize);
    const fine = noiseAt(seed + 7, x / 2.1, y / 2.1);
    const clump = smoothStep(-0.1, 0.75, coarse + fine * 0.35);
    const rim = Math.exp(-(((inside - 1.3) / 1.5) ** 2)) * (0.75 + 0.35 * coarse);
    // A ball is thickest in its middle; a section through it keeps little of that.
    const depth = 0.86 + 0.14 * Math.sqrt(Math.max(0, 1 - (distance / outline) ** 2));
    let haematoxylin = (look.ground + look.clumps * clump + 0.1 * fine) * depth + look.membrane * rim;
    let eosin = 0.26 + 0.06 * coarse;
    for (const spot of nucleoli) {
      const near = Math.exp(-((Math.hypot(x - spot.x, y - spot.y) / spot.radius) ** 4));
      haematoxylin += near * 0.55;
      eosin += near * 0.5;
    }
    return { haematoxylin, eosin, orange: 0, cover };
  };
}

function bank(count: number, draw: () => Stamp): readonly Stamp[] {
  return Array.from({ length: count }, draw);
}

function over(top: Point | null, under: Point | null): Point | null {
  if (top === null || under === null) return top ?? under;
  const cover = top.cover + under.cover * (1 - top.cover);
  const share = top.cover / cover;
  return {
    haematoxylin: top.haematoxylin * share + under.haematoxylin * (1 - share),
    eosin: top.eosin * share + under.eosin * (1 - share),
    orange: top.orange * share + under.orange * (1 - share),
    cover,
  };
}

interface BodyLook {
  /** Half axes, pixels. */
  readonly long: number;
  readonly short: number;
  readonly haematoxylin: number;
  readonly eosin: number;
  readonly orange: number;
  /** Strength of the granules, and pixels from one to the next. */
  readonly grain: number;
  readonly grainSize: number;
  readonly cover: number;
}

/** The cytoplasm of a cell that lies singly. */
function body(random: Random, look: BodyLook): (x: number, y: number) => Point | null {
  const seed = Math.floor(random() * 2 ** 30);
  const lobes = [2, 3, 5].map((count) => ({
    count,
    size: 0.09 * (random() * 2 - 1),
    phase: random() * 7,
  }));
  return (x, y) => {
    const distance = Math.hypot(x / look.long, y / look.short);
    const angle = Math.atan2(y, x);
    let outline = 1;
    for (const lobe of lobes) outline += lobe.size * Math.cos(angle * lobe.count + lobe.phase);
    const inside = (1 - distance / outline) * Math.min(look.long, look.short);
    const cover = smoothStep(-1.4, 1.2, inside) * look.cover;
    if (cover <= 0) return null;
    // Two lattices turned against one another, so that neither shows.
    const turned = noiseAt(
      seed + 3,
      (x * 0.8 - y * 0.6) / look.grainSize,
      (x * 0.6 + y * 0.8) / look.grainSize,
    );
    const grain = 1 + look.grain * (turned + 0.8 * noiseAt(seed, x / look.grainSize, y / look.grainSize));
    return {
      haematoxylin: look.haematoxylin * grain,
      eosin: look.eosin * grain,
      orange: look.orange * grain,
      cover,
    };
  };
}

function shifted<T>(draw: (x: number, y: number) => T, dx: number, dy: number) {
  return (x: number, y: number) => draw(x - dx, y - dy);
}

export interface Cells {
  /** Long axis from base to surface of the epithelium. */
  readonly columnar: readonly Stamp[];
  /** Pressed against the base; long axis along the base. */
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
    drawStamp(size, height, nucleus(random, { ...usual, ...look }));

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
      return drawStamp(60, 52, (x, y) => over(nucleusAside(x, y), cytoplasm(x, y)));
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
      return drawStamp(56, 56, (x, y) => over(over(left(x, y), right(x, y)), cytoplasm(x, y)));
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
      return drawStamp(80, 72, (x, y) => over(nucleusAside(x, y), cytoplasm(x, y)));
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
      // The one large nucleolus by which such a cell is known lies off the middle of its nucleus.
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
      return drawStamp(116, 100, (x, y) => over(nucleolus(x, y), over(nucleusAside(x, y), cytoplasm(x, y))));
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
      return drawStamp(36, 36, (x, y) => {
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
      return drawStamp(48, 48, (x, y) => {
        const plate = Math.abs(Math.abs(x) - gap) / (4.2 + noiseAt(seed, y / 4, 1) * 2);
        const cover =
          smoothStep(1.15, 0.8, plate) * smoothStep(16, 13, Math.abs(y) + noiseAt(seed, x, y) * 2);
        return cover <= 0 ? null : { haematoxylin: 1.75, eosin: 0.3, orange: 0, cover };
      });
    }),
  };
}
