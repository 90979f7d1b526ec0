/**
 * Draws the liver slide: lobules (units of liver tissue) around central veins, portal tracts (connective tissue with
 * vessels and bile ducts) between them, and a capsule (the surface of the liver) at the top. Numbers without a name are
 * chosen by eye: amounts of stain (the unit is defined in `stain.ts`), spacings in pixels, and scales of cells. The
 * numbers added to `seed` keep random numbers independent.
 */
import { noiseAt, pick, randomAt, roughNoiseAt, smoothStep } from '../geometry/random.ts';
import { interpolate, rangeOf, sampleField } from '../geometry/sampled-field.ts';
import { forEachSquare, SpatialIndex } from '../geometry/spatial-index.ts';
import type { StainTile } from '../stain/stain.ts';
import { applyStamp, type PlacedStamp } from '../stain/stamp.ts';
import { nearestValue } from '../stain/texture.ts';
import { paintEpithelium, placeNuclei } from '../structures/epithelium.ts';
import { EDGE_WIDTH, FRAY_REACH, frayEdges } from '../structures/frayed-edges.ts';
import { cellAt, emptyWallCell, type GlandPosition, locateInGland, wallSeed } from '../structures/glands.ts';
import { createPalette, type Tissue } from '../structures/palette.ts';
import { isInVessel, paintVessel } from '../structures/vessels.ts';
import {
  CAPSULE_THICKNESS,
  DUCT_EPITHELIUM_THICKNESS,
  LIVER_HEIGHT,
  LIVER_WIDTH,
  type LiverPosition,
  layOutLiver,
} from './liver-layout.ts';
import { createHepatocytePainter } from './paint-hepatocytes.ts';

// Indices of the quantities that are sampled for a tile (`geometry/sampled-field.ts`). Distances are pixels.
const DISTANCE_FROM_EDGE = 0;
/** Depth below the outer surface of the capsule. */
const CAPSULE_DEPTH = 1;
/** Depth inside the nearest portal tract; negative outside. */
const TRACT_DEPTH = 2;
/** How dense the connective tissue is, a noise; larger is denser. */
const DENSITY = 3;
// Displacement of the texture, so that strands look irregular.
const SHIFT_X = 4;
const SHIFT_Y = 5;
const QUANTITY_COUNT = 6;

/** A tile is bare glass when all its sampled positions are outside the section by more than this; pixels. */
const GLASS_MARGIN = 40;
/** A tile gets the single cells of tracts (or of the capsule) if a sampled position is this near to them; pixels. */
const CELL_MARGIN = 120;
/** Pixels around a tile in which single cells are visited, because they may overlap the tile. */
const CELL_REACH = 64;
/** Pixels by which connective tissue is painted beyond its border, because liver cells do not cover the border completely. */
const CONNECTIVE_TISSUE_OVERLAP = 46;

/** Creates the tissue; its painting functions share the layout and the sampled quantities. */
export function createLiver(seed: number): Tissue {
  const palette = createPalette(seed);
  const layout = layOutLiver(seed);
  const { cells, grain, clouds, collagen } = palette;
  // The next three objects are reused by all calls, for speed.
  const position: LiverPosition = { distanceFromEdge: 0, capsuleDepth: 0 };
  const glandPosition: GlandPosition = { depth: 0, along: 0, side: 1 };
  const cell = emptyWallCell();
  const ductNuclei = new SpatialIndex<PlacedStamp>(256);
  for (const duct of layout.allDucts) {
    for (const nucleus of placeNuclei(duct, palette, { isCuboidal: true })) {
      const { x, y } = nucleus;
      ductNuclei.add(nucleus, x - 30, y - 30, x + 30, y + 30); // no nucleus is larger
    }
  }
  const paintHepatocytes = createHepatocytePainter(palette, seed, { isParenchyma, flow: layout.flow });
  /** The quantities at each pixel of the current tile, one array for each quantity. */
  let planes: readonly Float32Array[] = [];

  function planeOf(quantity: number): Float32Array {
    return planes[quantity] as Float32Array;
  }

  /** Returns whether a position is in the parenchyma: liver cells and the sinusoids (narrow vessels) between them. */
  function isParenchyma(x: number, y: number): boolean {
    layout.locate(x, y, position);
    if (position.distanceFromEdge < 12 || position.capsuleDepth < CAPSULE_THICKNESS + 4) return false;
    if (layout.tractDepth(x, y) > -18) return false;
    // Liver cells may cover the outermost 6 pixels of a vessel's wall.
    for (const vessel of layout.vessels.near(x, y)) if (isInVessel(vessel, x, y, -6)) return false;
    return true;
  }

  /** Draws a tile; returns false, without drawing, when the tile is bare glass. */
  function draw(tile: StainTile): boolean {
    const { size } = tile;
    if (planes[0]?.length !== size * size) {
      planes = Array.from({ length: QUANTITY_COUNT }, () => new Float32Array(size * size));
    }
    const field = sampleField(tile, QUANTITY_COUNT, (x, y, out) => {
      layout.locate(x, y, position);
      out[DISTANCE_FROM_EDGE] = position.distanceFromEdge;
      out[CAPSULE_DEPTH] = position.capsuleDepth;
      out[TRACT_DEPTH] = layout.tractDepth(x, y);
      out[DENSITY] = roughNoiseAt(seed + 63, x / 380, y / 380, 3);
      out[SHIFT_X] = 70 * noiseAt(seed + 64, x / 210, y / 210);
      out[SHIFT_Y] = 70 * noiseAt(seed + 65, x / 210, y / 210);
    });
    const distanceFromEdge = rangeOf(field, DISTANCE_FROM_EDGE);
    if (distanceFromEdge.max < -GLASS_MARGIN) return false;

    for (let quantity = 0; quantity < QUANTITY_COUNT; quantity++)
      interpolate(field, quantity, planeOf(quantity));
    paintBackground(tile);
    paintHepatocytes(tile);
    if (rangeOf(field, TRACT_DEPTH).max > -CELL_MARGIN) scatterTractCells(tile);
    if (rangeOf(field, CAPSULE_DEPTH).min < CAPSULE_THICKNESS + CELL_MARGIN) scatterCapsuleCells(tile);
    for (const vessel of layout.vessels.touching(tile)) paintVessel(tile, palette, vessel);
    paintDucts(tile);
    for (const nucleus of ductNuclei.touching(tile)) applyStamp(tile, nucleus.stamp, nucleus);
    if (distanceFromEdge.min < EDGE_WIDTH) frayEdges(tile, clouds, planeOf(DISTANCE_FROM_EDGE));
    return true;
  }

  /** Paints the sinusoids and the connective tissue; the liver cells are painted over them. */
  function paintBackground(tile: StainTile): void {
    const { size, haematoxylin, eosin } = tile;
    const [distanceFromEdge, capsuleDepth, tractDepth] = [
      planeOf(DISTANCE_FROM_EDGE),
      planeOf(CAPSULE_DEPTH),
      planeOf(TRACT_DEPTH),
    ];
    const [density, shiftX, shiftY] = [planeOf(DENSITY), planeOf(SHIFT_X), planeOf(SHIFT_Y)];
    for (let row = 0, pixel = 0; row < size; row++) {
      const y = tile.y + row;
      for (let column = 0; column < size; column++, pixel++) {
        if ((distanceFromEdge[pixel] as number) < -FRAY_REACH) continue;
        const x = tile.x + column;
        const cloud = nearestValue(clouds, x, y);
        const depth = capsuleDepth[pixel] as number;
        if (depth < CAPSULE_THICKNESS + CONNECTIVE_TISSUE_OVERLAP) {
          const strand = nearestValue(collagen, x, depth * 1.5 + (shiftY[pixel] as number) * 0.25);
          eosin[pixel] = strand * 0.72 + 0.03 * nearestValue(grain, x, y);
          haematoxylin[pixel] = 0.03 * strand;
        } else if ((tractDepth[pixel] as number) > -CONNECTIVE_TISSUE_OVERLAP + 8 * cloud) {
          const strand = nearestValue(collagen, x + (shiftX[pixel] as number), y + (shiftY[pixel] as number));
          const strandEosin = 0.42 + 0.14 * (density[pixel] as number) + 0.05 * cloud;
          eosin[pixel] = 0.06 + strand * strandEosin + 0.03 * nearestValue(grain, x, y);
          haematoxylin[pixel] = 0.035 * strand;
        } else {
          // Sinusoids at a cut edge are empty.
          const filling = smoothStep(48, 80, distanceFromEdge[pixel] as number);
          eosin[pixel] = (0.085 + 0.04 * cloud) * filling;
          haematoxylin[pixel] = 0.012 * filling;
        }
      }
    }
  }

  /** Scatters single cells over the portal tracts. */
  function scatterTractCells(tile: StainTile): void {
    const { fibroblasts, lymphocytes, plasmaCells } = cells;
    const tractCells = [fibroblasts, fibroblasts, lymphocytes, lymphocytes, plasmaCells]; // listed twice: twice as frequent
    const spacing = 44;
    forEachSquare(tile, spacing, CELL_REACH, (column, row) => {
      const chance = (stream: number) => randomAt(seed + 200 + stream, column, row);
      const x = (column + 0.5 + (chance(0) - 0.5) * 0.9) * spacing;
      const y = (row + 0.5 + (chance(1) - 0.5) * 0.9) * spacing;
      const cellProbability = 0.26 + 0.5 * Math.max(0, noiseAt(seed + 66, x / 260, y / 260));
      if (chance(2) > cellProbability || layout.tractDepth(x, y) < -12) return;
      layout.locate(x, y, position);
      if (position.distanceFromEdge < 12) return;
      const ducts = layout.ducts.near(x, y);
      if (
        ducts.some((duct) => locateInGland(duct, x, y, glandPosition).depth < DUCT_EPITHELIUM_THICKNESS + 14)
      )
        return;
      applyStamp(tile, pick(pick(tractCells, chance(3)), chance(4)), {
        x,
        y,
        angle: chance(5) * Math.PI * 2,
        scale: 0.82 + 0.24 * chance(6),
        density: 0.85 + 0.3 * chance(7),
        opacity: chance(8) < 0.25 ? 0.6 : 0.95,
      });
    });
  }

  /** Scatters fibroblasts over the capsule. */
  function scatterCapsuleCells(tile: StainTile): void {
    const spacing = 76;
    forEachSquare(tile, spacing, CELL_REACH, (column, row) => {
      const chance = (stream: number) => randomAt(seed + 220 + stream, column, row);
      const x = (column + 0.5 + (chance(0) - 0.5) * 0.9) * spacing;
      const y = (row + 0.5 + (chance(1) - 0.5) * 0.9) * spacing;
      layout.locate(x, y, position);
      if (chance(2) > 0.62 || position.capsuleDepth > CAPSULE_THICKNESS - 6 || position.distanceFromEdge < 5)
        return;
      // The fibroblast lies along the capsule, whose slope is measured over 60 pixels.
      const here = position.capsuleDepth;
      const ahead = layout.locate(x + 60, y, position).capsuleDepth;
      applyStamp(tile, pick(cells.fibroblasts, chance(3)), {
        x,
        y,
        angle: Math.atan2(here - ahead, 60) + (chance(4) - 0.5) * 0.2,
        scale: 0.8 + 0.2 * chance(5),
        density: 1,
        opacity: 0.92,
      });
    });
  }

  /** Paints the epithelium of the bile ducts and their basement membrane, a thin band of eosin. */
  function paintDucts(tile: StainTile): void {
    const { size, eosin } = tile;
    for (const duct of layout.ducts.touching(tile)) {
      const reach = duct.lumenRadius + duct.height + duct.length + 12;
      const left = Math.max(0, Math.floor(duct.x - reach - tile.x));
      const right = Math.min(size - 1, Math.ceil(duct.x + reach - tile.x));
      const top = Math.max(0, Math.floor(duct.y - reach - tile.y));
      const bottom = Math.min(size - 1, Math.ceil(duct.y + reach - tile.y));
      for (let row = top; row <= bottom; row++) {
        for (let column = left; column <= right; column++) {
          const x = tile.x + column;
          const y = tile.y + row;
          locateInGland(duct, x, y, glandPosition);
          const { depth, along, side } = glandPosition;
          const beyond = depth - DUCT_EPITHELIUM_THICKNESS; // pixels outside the epithelium
          if (beyond > 8) continue;
          const pixel = row * size + column;
          if (beyond > 0) {
            eosin[pixel] = (eosin[pixel] as number) + 0.3 * Math.exp(-(((beyond - 2) / 2.2) ** 2));
            continue;
          }
          cellAt(wallSeed(duct, side), duct.gobletShare, duct.cellWidth, along, cell);
          paintEpithelium(tile, palette, {
            pixel,
            x,
            y,
            depth,
            height: DUCT_EPITHELIUM_THICKNESS,
            cell,
            proliferation: 0,
          });
        }
      }
    }
  }

  return { width: LIVER_WIDTH, height: LIVER_HEIGHT, draw };
}
