/** The liver slide: lobules of plates around central veins, portal tracts between them, a capsule above. */
import { nucleiOf, paintEpithelium } from './epithelium.ts';
import { forEachSquare, PlaceIndex, rangeOf, spread, survey } from './field.ts';
import { cellAt, noCell, placeInGland, type WallPlace, wallSeed } from './glands.ts';
import { hepatocytePainter } from './hepatocytes.ts';
import {
  CAPSULE,
  DUCT_EPITHELIUM,
  LIVER_HEIGHT,
  LIVER_WIDTH,
  type LiverPosition,
  layOutLiver,
} from './liver-layout.ts';
import { chanceAt, noiseAt, pick, roughNoiseAt, smoothStep } from './random.ts';
import type { StainTile } from './stain.ts';
import { type PlacedStamp, press } from './stamp.ts';
import { nearest } from './texture.ts';
import { mixPalette, type Tissue } from './tissue.ts';
import { isInVessel, paintVessel } from './vessels.ts';

// What is asked at every 16th pixel, in this order.
const INSIDE = 0;
const CAPSULE_DEPTH = 1;
const TRACT = 2;
const LOOSE = 3;
const SHIFT_X = 4;
const SHIFT_Y = 5;
const QUANTITIES = 6;

/** Pixels from a cut edge within which it shows. */
const EDGE = 60;
/** Pixels that connective tissue reaches between the liver cells around it. */
const BETWEEN_CELLS = 46;

export function createLiver(seed: number): Tissue {
  const palette = mixPalette(seed);
  const layout = layOutLiver(seed);
  const { cells, grain, clouds, collagen } = palette;
  const position: LiverPosition = { inside: 0, capsuleDepth: 0 };
  const wallPlace: WallPlace = { depth: 0, along: 0, side: 1 };
  const cell = noCell();
  const ductNuclei = new PlaceIndex<PlacedStamp>(256);
  for (const duct of layout.allDucts) {
    for (const nucleus of nucleiOf(duct, palette, true)) {
      const { x, y } = nucleus;
      ductNuclei.add(nucleus, x - 30, y - 30, x + 30, y + 30);
    }
  }
  const paintHepatocytes = hepatocytePainter(palette, seed, { isParenchyma, flow: layout.flow });
  let planes: readonly Float32Array[] = [];

  function plane(quantity: number): Float32Array {
    return planes[quantity] as Float32Array;
  }

  function isParenchyma(x: number, y: number): boolean {
    layout.locate(x, y, position);
    if (position.inside < 12 || position.capsuleDepth < CAPSULE + 4) return false;
    if (layout.tractDepth(x, y) > -18) return false;
    for (const vessel of layout.vessels.near(x, y)) if (isInVessel(vessel, x, y, -6)) return false;
    return true;
  }

  function draw(tile: StainTile): boolean {
    const { size } = tile;
    if (planes[0]?.length !== size * size) {
      planes = Array.from({ length: QUANTITIES }, () => new Float32Array(size * size));
    }
    const found = survey(tile, QUANTITIES, (x, y, out) => {
      layout.locate(x, y, position);
      out[INSIDE] = position.inside;
      out[CAPSULE_DEPTH] = position.capsuleDepth;
      out[TRACT] = layout.tractDepth(x, y);
      out[LOOSE] = roughNoiseAt(seed + 63, x / 380, y / 380, 3);
      out[SHIFT_X] = 70 * noiseAt(seed + 64, x / 210, y / 210);
      out[SHIFT_Y] = 70 * noiseAt(seed + 65, x / 210, y / 210);
    });
    const inside = rangeOf(found, INSIDE);
    if (inside.most < -40) return false;

    for (let quantity = 0; quantity < QUANTITIES; quantity++) spread(found, quantity, plane(quantity));
    paintGround(tile);
    paintHepatocytes(tile);
    scatterCells(
      tile,
      rangeOf(found, TRACT).most > -120,
      rangeOf(found, CAPSULE_DEPTH).least < CAPSULE + 120,
    );
    for (const vessel of layout.vessels.touching(tile)) paintVessel(tile, palette, vessel);
    paintDucts(tile);
    for (const nucleus of ductNuclei.touching(tile)) press(tile, nucleus.stamp, nucleus);
    if (inside.least < EDGE) fray(tile);
    return true;
  }

  /** What lies below and between the liver cells: blood spaces, or connective tissue. */
  function paintGround(tile: StainTile): void {
    const { size, haematoxylin, eosin } = tile;
    const [inside, capsuleDepth, tract] = [plane(INSIDE), plane(CAPSULE_DEPTH), plane(TRACT)];
    const [loose, shiftX, shiftY] = [plane(LOOSE), plane(SHIFT_X), plane(SHIFT_Y)];
    for (let row = 0, at = 0; row < size; row++) {
      const y = tile.y + row;
      for (let column = 0; column < size; column++, at++) {
        if ((inside[at] as number) < -12) continue;
        const x = tile.x + column;
        const cloud = nearest(clouds, x, y);
        const depth = capsuleDepth[at] as number;
        if (depth < CAPSULE + BETWEEN_CELLS) {
          const strand = nearest(collagen, x, depth * 1.5 + (shiftY[at] as number) * 0.25);
          eosin[at] = strand * 0.72 + 0.03 * nearest(grain, x, y);
          haematoxylin[at] = 0.03 * strand;
        } else if ((tract[at] as number) > -BETWEEN_CELLS + 8 * cloud) {
          const strand = nearest(collagen, x + (shiftX[at] as number), y + (shiftY[at] as number));
          const full = 0.42 + 0.14 * (loose[at] as number) + 0.05 * cloud;
          eosin[at] = 0.06 + strand * full + 0.03 * nearest(grain, x, y);
          haematoxylin[at] = 0.035 * strand;
        } else {
          // At a cut edge the blood spaces lie open.
          const closed = smoothStep(48, 80, inside[at] as number);
          eosin[at] = (0.085 + 0.04 * cloud) * closed;
          haematoxylin[at] = 0.012 * closed;
        }
      }
    }
  }

  function scatterCells(tile: StainTile, hasTract: boolean, hasCapsule: boolean): void {
    const tractCells = [
      cells.fibroblasts,
      cells.fibroblasts,
      cells.lymphocytes,
      cells.lymphocytes,
      cells.plasmaCells,
    ];
    if (hasTract) {
      forEachSquare(tile, 44, 64, (column, row) => {
        const chance = (lane: number) => chanceAt(seed + 200 + lane, column, row);
        const x = (column + 0.5 + (chance(0) - 0.5) * 0.9) * 44;
        const y = (row + 0.5 + (chance(1) - 0.5) * 0.9) * 44;
        const crowded = 0.26 + 0.5 * Math.max(0, noiseAt(seed + 66, x / 260, y / 260));
        if (chance(2) > crowded || layout.tractDepth(x, y) < -12) return;
        layout.locate(x, y, position);
        if (position.inside < 12) return;
        const ducts = layout.ducts.near(x, y);
        if (ducts.some((duct) => placeInGland(duct, x, y, wallPlace).depth < DUCT_EPITHELIUM + 14)) return;
        press(tile, pick(pick(tractCells, chance(3)), chance(4)), {
          x,
          y,
          angle: chance(5) * Math.PI * 2,
          scale: 0.82 + 0.24 * chance(6),
          density: 0.85 + 0.3 * chance(7),
          opacity: chance(8) < 0.25 ? 0.6 : 0.95,
        });
      });
    }
    if (hasCapsule) {
      forEachSquare(tile, 76, 64, (column, row) => {
        const chance = (lane: number) => chanceAt(seed + 220 + lane, column, row);
        const x = (column + 0.5 + (chance(0) - 0.5) * 0.9) * 76;
        const y = (row + 0.5 + (chance(1) - 0.5) * 0.9) * 76;
        layout.locate(x, y, position);
        if (chance(2) > 0.62 || position.capsuleDepth > CAPSULE - 6 || position.inside < 5) return;
        const here = position.capsuleDepth;
        const ahead = layout.locate(x + 60, y, position).capsuleDepth;
        press(tile, pick(cells.fibroblasts, chance(3)), {
          x,
          y,
          angle: Math.atan2(here - ahead, 60) + (chance(4) - 0.5) * 0.2,
          scale: 0.8 + 0.2 * chance(5),
          density: 1,
          opacity: 0.92,
        });
      });
    }
  }

  function paintDucts(tile: StainTile): void {
    const { size, eosin } = tile;
    for (const duct of layout.ducts.touching(tile)) {
      const reach = duct.lumen + duct.height + duct.length + 12;
      const left = Math.max(0, Math.floor(duct.x - reach - tile.x));
      const right = Math.min(size - 1, Math.ceil(duct.x + reach - tile.x));
      const top = Math.max(0, Math.floor(duct.y - reach - tile.y));
      const bottom = Math.min(size - 1, Math.ceil(duct.y + reach - tile.y));
      for (let row = top; row <= bottom; row++) {
        for (let column = left; column <= right; column++) {
          const x = tile.x + column;
          const y = tile.y + row;
          placeInGland(duct, x, y, wallPlace);
          const { depth, along, side } = wallPlace;
          const beyond = depth - DUCT_EPITHELIUM;
          if (beyond > 8) continue;
          const at = row * size + column;
          if (beyond > 0) {
            eosin[at] = (eosin[at] as number) + 0.3 * Math.exp(-(((beyond - 2) / 2.2) ** 2));
            continue;
          }
          cellAt(wallSeed(duct, side), duct.goblets, duct.cellWidth, along, cell);
          paintEpithelium(tile, palette, { at, x, y, depth, height: DUCT_EPITHELIUM, cell, busy: 0 });
        }
      }
    }
  }

  /** Cut edges are ragged, curl a little, and are darker for it. */
  function fray(tile: StainTile): void {
    const { size, haematoxylin, eosin, orange } = tile;
    const inside = plane(INSIDE);
    for (let row = 0, at = 0; row < size; row++) {
      for (let column = 0; column < size; column++, at++) {
        const edge = inside[at] as number;
        if (edge >= EDGE) continue;
        const frayed = edge + 7 * nearest(clouds, tile.x + column, tile.y + row);
        const amount = smoothStep(-2, 2.5, frayed) * (1 + 0.16 * smoothStep(40, 4, frayed));
        haematoxylin[at] = (haematoxylin[at] as number) * amount;
        eosin[at] = (eosin[at] as number) * amount;
        orange[at] = (orange[at] as number) * amount;
      }
    }
  }

  return { width: LIVER_WIDTH, height: LIVER_HEIGHT, draw };
}
