/** What a demonstration slide shows, and what every kind of tissue is drawn with. */
import { type Cells, drawCells } from './cells.ts';
import { type Random, randomFrom } from './random.ts';
import type { StainTile } from './stain.ts';
import { cutEnds, fibres, speckle, type Texture } from './texture.ts';

/** Micrometres per pixel at full resolution, as a scan with a 40× objective has. */
export const MICRONS_PER_PIXEL = 0.25;
export const OBJECTIVE_POWER = 40;

export interface Tissue {
  /** Pixels at full resolution. */
  readonly width: number;
  readonly height: number;
  /**
   * Draws the part of the section that lies in the tile, whose stains are all 0 before.
   *
   * @returns false when there is bare glass only, and nothing was drawn
   */
  draw(tile: StainTile): boolean;
}

/** Patterns and cells, drawn once per slide. */
export interface Palette {
  readonly cells: Cells;
  /** Granules of cytoplasm, from pixel to pixel. */
  readonly grain: Texture;
  /** Soft unevenness, some 10 pixels from hill to hill. */
  readonly clouds: Texture;
  /** Fine strands in any direction, with gaps. */
  readonly reticulum: Texture;
  /** Wavy bundles. */
  readonly collagen: Texture;
  /** Long fibres close together, and the rare gaps between them. */
  readonly muscle: Texture;
  readonly clefts: Texture;
  /** The same cut across, and at a quarter of its size the bundles they form. */
  readonly muscleEnds: Texture;
  readonly bundles: Texture;
}

export function mixPalette(seed: number): Palette {
  const random: Random = randomFrom(seed);
  return {
    cells: drawCells(random),
    grain: speckle(random, 512, [0, 1, 2]),
    clouds: speckle(random, 512, [3, 6, 12]),
    reticulum: fibres(random, 1024, {
      count: 2600,
      length: [40, 200],
      thickness: [2.5, 9],
      lean: Math.PI,
      swing: [2, 14],
      swingLength: [50, 160],
      cover: 0.75,
      softness: 1,
    }),
    collagen: fibres(random, 1024, {
      count: 900,
      length: [160, 620],
      thickness: [5, 24],
      lean: 0.4,
      swing: [4, 20],
      swingLength: [90, 260],
      cover: 0.9,
      softness: 1,
    }),
    muscle: fibres(random, 1024, {
      count: 2600,
      length: [260, 800],
      thickness: [9, 19],
      lean: 0.05,
      swing: [1, 6],
      swingLength: [200, 500],
      cover: 0.95,
      softness: 0,
    }),
    clefts: fibres(random, 1024, {
      count: 85,
      length: [120, 620],
      thickness: [1.5, 8],
      lean: 0.1,
      swing: [1, 9],
      swingLength: [200, 600],
      cover: 0.95,
      softness: 1,
    }),
    muscleEnds: cutEnds(random, 512, 16, 0.68),
    bundles: cutEnds(random, 1024, 128, 0),
  };
}
