/** The interface of a tissue, and the palette: the textures and cells with which every tissue is drawn. */
import { createRandom } from '../geometry/random.ts';
import type { StainTile } from '../stain/stain.ts';
import { createCrossSections, createFibres, createSpeckle, type Texture } from '../stain/texture.ts';
import { type Cells, drawCells } from './cells.ts';
import type { DrawnCell } from './drawn-cell.ts';

/** Micrometres per pixel at full resolution; typical of a scan with a 40× objective. */
export const MICRONS_PER_PIXEL = 0.25;
export const OBJECTIVE_POWER = 40;

export interface Tissue {
  /** Pixels at full resolution. */
  readonly width: number;
  readonly height: number;
  /**
   * Draws the part of the section that `tile` covers. Nothing must have been drawn into the tile before.
   *
   * @param onCell called with the immune cells of the tile, and with some just outside it
   * @returns false when the tile has only bare glass and nothing was drawn
   */
  draw(tile: StainTile, onCell?: (cell: DrawnCell) => void): boolean;
}

/** Textures and cells, created once per slide. */
export interface Palette {
  readonly cells: Cells;
  /** Granules of cytoplasm, about the size of a pixel. */
  readonly grain: Texture;
  /** Soft noise with a period of some 10 pixels. */
  readonly clouds: Texture;
  /** Fine strands in any direction, with gaps. */
  readonly reticulum: Texture;
  /** Wavy bundles. */
  readonly collagen: Texture;
  /** Long dense muscle fibres in longitudinal section. */
  readonly muscle: Texture;
  /** The rare gaps between muscle fibres. */
  readonly clefts: Texture;
  /** Cross-sections of muscle fibres. */
  readonly muscleCrossSections: Texture;
  /** Cross-sections of bundles of muscle fibres, at a quarter of their real size; paint-wall-layers.ts enlarges them. */
  readonly bundles: Texture;
}

/** Creates the palette of a slide, with numbers chosen by eye. `texture.ts` explains the parameters of the textures. */
export function createPalette(seed: number): Palette {
  const random = createRandom(seed);
  return {
    cells: drawCells(random),
    grain: createSpeckle(random, 512, [0, 1, 2]), // size of the texture, and blur radii of the noises that it adds, in pixels
    clouds: createSpeckle(random, 512, [3, 6, 12]),
    reticulum: createFibres(random, 1024, {
      count: 2600,
      length: [40, 200],
      thickness: [2.5, 9],
      lean: Math.PI,
      swing: [2, 14],
      swingLength: [50, 160],
      cover: 0.75,
      softness: 1,
    }),
    collagen: createFibres(random, 1024, {
      count: 900,
      length: [160, 620],
      thickness: [5, 24],
      lean: 0.4,
      swing: [4, 20],
      swingLength: [90, 260],
      cover: 0.9,
      softness: 1,
    }),
    muscle: createFibres(random, 1024, {
      count: 2600,
      length: [260, 800],
      thickness: [9, 19],
      lean: 0.05,
      swing: [1, 6],
      swingLength: [200, 500],
      cover: 0.95,
      softness: 0,
    }),
    clefts: createFibres(random, 1024, {
      count: 85,
      length: [120, 620],
      thickness: [1.5, 8],
      lean: 0.1,
      swing: [1, 9],
      swingLength: [200, 600],
      cover: 0.95,
      softness: 1,
    }),
    muscleCrossSections: createCrossSections(random, 512, 16, 0.68), // 16 pixels apart, with slightly paler gaps
    bundles: createCrossSections(random, 1024, 128, 0), // 128 pixels apart, with empty gaps
  };
}
