/**
 * Paints epithelium, which consists of absorptive cells and goblet cells (cells that secrete mucus), and places its
 * nuclei. Numbers without a name are chosen by eye: amounts of stain (the unit is defined in `stain.ts`), and depths
 * and widths in pixels or as shares of a cell.
 */
import { between, createRandom, pick, randomAt, smoothStep } from '../geometry/random.ts';
import type { StainTile } from '../stain/stain.ts';
import type { PlacedStamp } from '../stain/stamp.ts';
import { nearestValue } from '../stain/texture.ts';
import {
  cellAt,
  emptyWallCell,
  type Gland,
  type WallCell,
  wallPoint,
  wallRange,
  wallSeed,
} from './glands.ts';
import type { Palette } from './palette.ts';

/** A pixel of the tile and its position in the epithelium. */
export interface EpitheliumPosition {
  /** Index of the pixel in the tile. */
  readonly pixel: number;
  /** Position on the slide, pixels. */
  readonly x: number;
  readonly y: number;
  /** Pixels from the inner surface towards the base, up to `height`; negative in the lumen, in whose first pixel the stain fades out. */
  readonly depth: number;
  /** Height of the epithelium, pixels. */
  readonly height: number;
  /** The cell at the position. Its `across` (position from border to border) and `shade` (random brightness) are 0…1. */
  readonly cell: WallCell;
  /** 0 for mature cells, 1 for the dividing cells at the base of a crypt, whose cytoplasm is darker. */
  readonly proliferation: number;
}

/** Paints one pixel of epithelium. */
export function paintEpithelium(
  tile: StainTile,
  { grain, clouds }: Palette,
  position: EpitheliumPosition,
): void {
  const { pixel, x, y, depth, height, cell, proliferation } = position;
  /** 0 at the surface, 1 at the base. */
  const shareOfHeight = depth / height;
  const granules = nearestValue(grain, x, y);
  /** Pixels to the nearer border of the cell, and to its middle. */
  const toBorder = Math.min(cell.across, 1 - cell.across) * cell.width;
  const toMiddle = Math.abs(cell.across - 0.5) * cell.width;

  let haematoxylin = 0.15 + 0.13 * shareOfHeight + 0.12 * proliferation + 0.035 * granules;
  let eosin =
    0.43 +
    0.06 * shareOfHeight +
    0.06 * granules +
    (cell.shade - 0.5) * 0.14 -
    0.06 * smoothStep(0.5, 0.3, shareOfHeight);
  // Cell membranes. A wall cell that is not a goblet cell is drawn as two slim absorptive cells.
  const toMembrane = cell.isGoblet ? toBorder : Math.min(toBorder, toMiddle);
  if (toMembrane < 2.8) {
    const membrane = Math.exp(-toMembrane * toMembrane * 0.7) * 0.16;
    eosin += membrane;
    haematoxylin += membrane * 0.45;
  }
  if (cell.isGoblet) {
    // The mucin of a goblet cell is a droplet that is widest at 40 % of the height; the theca is the cytoplasm around it.
    const relativeWidthSquared = 1 - ((shareOfHeight - 0.4) / 0.43) ** 2;
    const openingWidth = shareOfHeight < 0.12 ? 0.4 : 0; // the droplet opens into the lumen, so it does not end in a point there
    const halfWidth =
      cell.width * 0.5 * Math.max(Math.sqrt(Math.max(0, relativeWidthSquared)) * 0.97, openingWidth);
    /** Pixels inside the outline of the droplet; negative outside. */
    const insideDroplet = halfWidth - toMiddle;
    const mucin = smoothStep(-1.2, 1.4, insideDroplet);
    const theca = Math.abs(insideDroplet) < 4.5 ? Math.exp(-((insideDroplet / 1.7) ** 2)) * 0.24 : 0;
    const cloud = nearestValue(clouds, x + cell.shade * 300, y); // each cell shows another part of the texture
    haematoxylin =
      haematoxylin * (1 - mucin) + (0.12 + 0.06 * cloud + 0.025 * granules) * mucin + theca * 0.75;
    eosin = eosin * (1 - mucin) + (0.09 + 0.03 * cloud) * mucin + theca;
  } else if (depth < 5) {
    // The brush border at the surface of absorptive cells.
    eosin += 0.34 * (1 - depth / 5);
    haematoxylin += 0.1 * (1 - depth / 5);
  }
  const cover = smoothStep(-1, 1.2, depth);
  tile.haematoxylin[pixel] = haematoxylin * cover;
  tile.eosin[pixel] = eosin * cover;
  tile.orange[pixel] = 0;
}

/** Returns the smallest and largest depth of a nucleus below the surface, relative to the height of the epithelium. */
function nucleusDepth(isGoblet: boolean, isCuboidal: boolean): readonly [number, number] {
  if (isGoblet) return [0.85, 0.93];
  return isCuboidal ? [0.48, 0.6] : [0.62, 0.8];
}

/** Places the nuclei of the cells of a gland. @param options.isCuboidal true for a low epithelium with round nuclei */
export function placeNuclei(gland: Gland, { cells }: Palette, { isCuboidal = false } = {}): PlacedStamp[] {
  const nuclei: PlacedStamp[] = [];
  const absorptiveStamps = isCuboidal ? cells.cuboidal : cells.columnar;
  const { start, end } = wallRange(gland);
  const cell = emptyWallCell(); // `cellAt` writes into it
  for (const side of [-1, 1]) {
    const seed = wallSeed(gland, side);
    const random = createRandom(seed);
    for (let index = Math.floor(start / gland.cellWidth); index * gland.cellWidth < end; index++) {
      const middle = (index + 0.5) * gland.cellWidth;
      cellAt(seed, gland.gobletShare, gland.cellWidth, middle, cell);
      /** Positions across the wall cell, 0…1. */
      const nucleusPositions = cell.isGoblet ? [0.5] : [0.26, 0.74];
      for (const position of nucleusPositions) {
        const along = middle + (position - 0.5) * cell.width + between(random, -1.5, 1.5);
        // The two walls meet in the middle of each round end of the gland, where nuclei of both walls would overlap.
        if (along < start + 8 || along > end - 8) continue;
        const relativeDepth = between(random, ...nucleusDepth(cell.isGoblet, isCuboidal));
        const point = wallPoint(gland, along, side, gland.height * relativeDepth);
        const turn = cell.isGoblet ? Math.PI / 2 : 0; // nuclei of goblet cells lie along the wall
        nuclei.push({
          stamp: pick(cell.isGoblet ? cells.goblet : absorptiveStamps, random()),
          x: point.x,
          y: point.y,
          // Half of the stamps are turned by 180°, so that repetitions are less visible.
          angle: point.outwards + turn + between(random, -0.16, 0.16) + (random() < 0.5 ? Math.PI : 0),
          scale: between(random, 0.9, 1.08),
          density: between(random, 0.85, 1.15),
          opacity: random() < 0.18 ? between(random, 0.45, 0.75) : 0.96, // 18 % are thin slices of nuclei
        });
      }
      // Some columnar cells (0.5 %) are dividing, but not the cell with index 0. The number 31 makes this random
      // number independent of the cell's other random numbers.
      if (!cell.isGoblet && !isCuboidal && index > 0 && randomAt(seed, index, 31) < 0.005) {
        const point = wallPoint(gland, middle, side, gland.height * 0.35);
        nuclei.push({
          stamp: pick(cells.mitoses, random()),
          x: point.x,
          y: point.y,
          angle: random() * 6, // radians: any direction
          scale: 0.9,
          density: 1,
          opacity: 1,
        });
      }
    }
  }
  return nuclei;
}
