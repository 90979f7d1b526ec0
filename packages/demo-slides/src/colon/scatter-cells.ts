/**
 * Scatters single cells over the layers of the colon wall, by drawing stamps (small images of cells) into a tile.
 * Spacings, shares and the looks of cells are chosen by eye. Numbers added to `seed` keep random numbers independent.
 */
import { noiseAt, pick, randomAt, smoothStep } from '../geometry/random.ts';
import { rangeOf, type SampledField } from '../geometry/sampled-field.ts';
import { forEachSquare } from '../geometry/spatial-index.ts';
import type { StainTile } from '../stain/stain.ts';
import { applyStamp, type Stamp } from '../stain/stamp.ts';
import type { DrawnCell, ImmuneClass } from '../structures/drawn-cell.ts';
import { isFat } from '../structures/fat.ts';
import type { Palette } from '../structures/palette.ts';
import {
  type ColonScene,
  FAT_SEED_OFFSET,
  INNER_MUSCLE,
  type Layer,
  layerOf,
  MUCOSA_DEPTH,
  MUSCLE_DEPTH,
  MUSCULARIS_MUCOSAE,
  OUTER_MUSCLE,
  PLEXUS,
  SUBMUCOSA,
  SUBSEROSA,
} from './colon-scene.ts';
import {
  EPITHELIUM,
  MUSCULARIS_MUCOSAE_THICKNESS,
  OUTER_MUSCLE_END,
  PLEXUS_END,
  PLEXUS_START,
} from './colon-wall.ts';

/** One kind of cell of a population (the cells of a kind of tissue). */
interface CellKind {
  /** Share of the population, 0…1. */
  readonly share: number;
  readonly stamps: readonly Stamp[];
  /** True if the cells lie along the layers, false if their directions are random. */
  readonly isAligned: boolean;
  /** The class of an immune cell; undefined for other cells. */
  readonly immuneClass?: ImmuneClass;
}

/**
 * Returns the cells of each kind of tissue. `laminaPropria` is the connective tissue of the mucosa, `connective` that
 * of other layers; `muscleAlong` and `muscleAcross` are muscle cut along and across its fibres; `mantle` and `germinal`
 * (the centre) are parts of a lymph follicle.
 */
function createPopulations({
  cells,
}: Palette): Record<
  'laminaPropria' | 'connective' | 'muscleAlong' | 'muscleAcross' | 'mantle' | 'germinal',
  readonly CellKind[]
> {
  const laminaPropria: readonly CellKind[] = [
    { share: 0.28, stamps: cells.plasmaCells, isAligned: false, immuneClass: 'Plasma cell' },
    { share: 0.24, stamps: cells.lymphocytes, isAligned: false, immuneClass: 'Lymphocyte' },
    { share: 0.3, stamps: cells.fibroblasts, isAligned: false },
    { share: 0.09, stamps: cells.macrophages, isAligned: false },
    { share: 0.04, stamps: cells.eosinophils, isAligned: false, immuneClass: 'Eosinophil' },
    { share: 0.05, stamps: cells.endothelium, isAligned: false },
  ];
  const connective: readonly CellKind[] = [
    { share: 0.74, stamps: cells.fibroblasts, isAligned: true },
    { share: 0.14, stamps: cells.endothelium, isAligned: true },
    { share: 0.09, stamps: cells.lymphocytes, isAligned: false, immuneClass: 'Lymphocyte' },
    { share: 0.03, stamps: cells.plasmaCells, isAligned: false, immuneClass: 'Plasma cell' },
  ];
  const muscleAlong: readonly CellKind[] = [
    { share: 0.95, stamps: cells.muscleLong, isAligned: true },
    { share: 0.05, stamps: cells.endothelium, isAligned: true },
  ];
  const muscleAcross: readonly CellKind[] = [
    { share: 0.95, stamps: cells.muscleRound, isAligned: false },
    { share: 0.05, stamps: cells.endothelium, isAligned: false },
  ];
  const mantle: readonly CellKind[] = [
    { share: 1, stamps: cells.lymphocytes, isAligned: false, immuneClass: 'Lymphocyte' },
  ];
  const germinal: readonly CellKind[] = [
    { share: 0.84, stamps: cells.germinal, isAligned: false, immuneClass: 'Follicle centre cell' },
    { share: 0.1, stamps: cells.lymphocytes, isAligned: false, immuneClass: 'Lymphocyte' },
    { share: 0.06, stamps: cells.macrophages, isAligned: false },
  ];
  return { laminaPropria, connective, muscleAlong, muscleAcross, mantle, germinal };
}

/** Side of the squares that have at most one cell each, pixels. */
const spacings = {
  laminaPropria: 36,
  connective: 92,
  muscleAlong: 64,
  muscleAcross: 46,
  mantle: 25,
  germinal: 31,
};
/** Pixels around a tile in which squares are visited, because their cells may overlap the tile. */
const CELL_REACH = 64;
// Ranges of `ColonLayout.follicleDepthRatio`, which is 1 in the centre of a follicle and 0 at its border.
/** Cells of the germinal centre lie where `follicleDepthRatio` is larger than this. */
const GERMINAL_FROM = 0.5;
/** Lymphocytes of the mantle around the germinal centre lie in this range. The overlap with the centre avoids a gap. */
const MANTLE = { from: -0.25, densestFrom: 0.12, to: 0.52 };

/**
 * Places at most one cell per square of a grid.
 *
 * @param stream number of the first of nine streams of random numbers, which differ between populations
 * @param spacing side of the squares, pixels
 * @param choose returns the population for a cell at a position; null for no cell. `chance` is a random number in [0, 1): a
 *   population that is returned for a `chance` below 0.6 has a cell in 60 % of the squares
 */
function scatterPopulation(
  { layout }: ColonScene,
  tile: StainTile,
  stream: number,
  spacing: number,
  choose: (x: number, y: number, chance: number) => readonly CellKind[] | null,
  onCell?: (cell: DrawnCell) => void,
): void {
  forEachSquare(tile, spacing, CELL_REACH, (column, row) => {
    const chance = (k: number) => randomAt(stream + k, column, row);
    const x = (column + 0.5 + (chance(0) - 0.5) * 0.92) * spacing;
    const y = (row + 0.5 + (chance(1) - 0.5) * 0.92) * spacing;
    const kinds = choose(x, y, chance(2));
    if (kinds === null) return;
    // Selects a kind with the probability of its share.
    let remaining = chance(3);
    const kind = kinds.find((candidate) => {
      remaining -= candidate.share;
      return remaining < 0;
    });
    if (kind === undefined) return;
    const stamp = pick(kind.stamps, chance(5));
    const placement = {
      x,
      y,
      angle: kind.isAligned
        ? layout.layerDirection(x, y) + (chance(4) - 0.5) * 0.36
        : chance(4) * Math.PI * 2,
      scale: 0.86 + 0.26 * chance(6),
      density: 0.8 + 0.36 * chance(7),
      opacity: chance(8) < 0.25 ? 0.6 : 0.95, // a quarter of the cells lies only partly in the section
    };
    applyStamp(tile, stamp, placement);
    if (kind.immuneClass !== undefined) onCell?.({ ...placement, stamp, immuneClass: kind.immuneClass });
  });
}

/** Scatters the cells of all layers over a tile. @param onCell called with each immune cell */
// oxlint-disable-next-line lamina/max-own-lines -- the populations of all layers share the same tile and random numbers
export function scatterCells(
  scene: ColonScene,
  tile: StainTile,
  field: SampledField,
  onCell?: (cell: DrawnCell) => void,
): void {
  const { seed, layout, position, mucosaAt, depthInFatAt } = scene;
  const { laminaPropria, connective, muscleAlong, muscleAcross, mantle, germinal } = createPopulations(
    scene.palette,
  );
  // The centre of a cell that overlaps the tile is at most this many pixels outside the tile. A depth changes by at
  // most 1 per pixel, so the depth at the centre differs from a depth in the tile by at most the same number.
  const margin = 95;
  const mucosaDepthRange = rangeOf(field, MUCOSA_DEPTH);
  const muscleDepthRange = rangeOf(field, MUSCLE_DEPTH);
  const mayExceed = (maxDepth: number, limit: number) => maxDepth + margin > limit;
  /** Returns the layer at a position; null outside of the tissue and in its outermost pixels. */
  const layerAt = (x: number, y: number): Layer | null => {
    layout.locate(x, y, position);
    const { distanceFromEdge, surfaceDepth, mucosaDepth, muscleDepth } = position;
    return distanceFromEdge < 10 || surfaceDepth < 6 ? null : layerOf(mucosaDepth, muscleDepth, 0);
  };
  const mayTouchMucosa = mucosaDepthRange.min <= margin;
  if (mayTouchMucosa) {
    scatterPopulation(
      scene,
      tile,
      seed + 200,
      spacings.laminaPropria,
      (x, y, chance) => {
        if (chance > 0.56 + 0.2 * noiseAt(seed + 69, x / 400, y / 400)) return null;
        const { depth } = mucosaAt(x, y); // also sets `position`
        if (depth < EPITHELIUM + 13 || position.mucosaDepth > 0 || position.distanceFromEdge < 10)
          return null;
        return layout.follicleDepthRatio(x, y) > 0 ? null : laminaPropria;
      },
      onCell,
    );
  }
  if (mayExceed(mucosaDepthRange.max, MUSCULARIS_MUCOSAE_THICKNESS)) {
    scatterPopulation(
      scene,
      tile,
      seed + 210,
      spacings.connective,
      (x, y, chance) => {
        if (chance > 0.6) return null;
        const layer = layerAt(x, y);
        if (layer !== SUBMUCOSA && layer !== PLEXUS && layer !== SUBSEROSA) return null;
        return isFat(seed + FAT_SEED_OFFSET, depthInFatAt, x, y) ? null : connective;
      },
      onCell,
    );
  }
  if (mayExceed(mucosaDepthRange.max, 0) && muscleDepthRange.min < PLEXUS_START + margin) {
    scatterPopulation(scene, tile, seed + 220, spacings.muscleAlong, (x, y, chance) => {
      const layer = layerAt(x, y);
      if (layer === INNER_MUSCLE) return chance < 0.44 ? muscleAlong : null;
      if (layout.follicleDepthRatio(x, y) > -0.05) return null;
      return layer === MUSCULARIS_MUCOSAE && chance < 0.75 ? muscleAlong : null;
    });
  }
  if (mayExceed(muscleDepthRange.max, PLEXUS_END) && muscleDepthRange.min < OUTER_MUSCLE_END + margin) {
    scatterPopulation(scene, tile, seed + 230, spacings.muscleAcross, (x, y, chance) =>
      chance < 0.4 && layerAt(x, y) === OUTER_MUSCLE ? muscleAcross : null,
    );
  }
  // At the centre of a tile that touches a lymph follicle, `follicleDepthRatio` is above −2.
  if (layout.follicleDepthRatio(tile.x + tile.size / 2, tile.y + tile.size / 2) > -2) {
    scatterPopulation(
      scene,
      tile,
      seed + 240,
      spacings.mantle,
      (x, y, chance) => {
        const ratio = layout.follicleDepthRatio(x, y);
        const share = 0.95 * smoothStep(MANTLE.from, MANTLE.densestFrom, ratio);
        if (ratio < MANTLE.from || ratio > MANTLE.to || chance > share) return null;
        return mucosaAt(x, y).depth > EPITHELIUM + 10 ? mantle : null;
      },
      onCell,
    );
    scatterPopulation(
      scene,
      tile,
      seed + 250,
      spacings.germinal,
      (x, y, chance) => (chance < 0.95 && layout.follicleDepthRatio(x, y) > GERMINAL_FROM ? germinal : null),
      onCell,
    );
  }
}
