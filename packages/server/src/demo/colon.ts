/** The colon slide, layer by layer, from the mucosa's surface to the fat outside the muscle. */
import { outlinePoint } from './biopsy.ts';
import {
  COLON_HEIGHT,
  COLON_WIDTH,
  EPITHELIUM,
  type Ganglion,
  GLAND_SQUARE,
  layOutColon,
  MUSCULARIS_MUCOSAE,
  type MucosaPosition,
  nowhere,
  OUTER_MUSCLE_TO,
  PLEXUS_FROM,
  PLEXUS_TO,
  SURFACE_SEED,
  type WallPosition,
} from './colon-layout.ts';
import { pointOn } from './curve.ts';
import { nucleiOf, paintEpithelium } from './epithelium.ts';
import { isFat, paintFat } from './fat.ts';
import { forEachSquare, PlaceIndex, rangeOf, type Survey, spread, survey } from './field.ts';
import { cellAt, noCell } from './glands.ts';
import { chanceAt, noiseAt, pick, roughNoiseAt, smoothStep } from './random.ts';
import type { StainTile } from './stain.ts';
import { type PlacedStamp, press, type Stamp } from './stamp.ts';
import { nearest, sample } from './texture.ts';
import { mixPalette, type Tissue } from './tissue.ts';
import { paintVessel } from './vessels.ts';

const MUCOSA = 0;
const MUSCLE_OF_MUCOSA = 1;
const SUBMUCOSA = 2;
const INNER_MUSCLE = 3;
const PLEXUS = 4;
const OUTER_MUSCLE = 5;
const SUBSEROSA = 6;
type Layer = 0 | 1 | 2 | 3 | 4 | 5 | 6;

// What is asked at every 16th pixel, in this order.
const INSIDE = 0;
const DEPTH = 1;
const SURFACE_ALONG = 2;
const MUCOSA_DEPTH = 3;
const ALONG = 4;
const MUSCLE_DEPTH = 5;
const LOOSE = 6;
const THICKNESS = 7;
const SHIFT_X = 8;
const SHIFT_Y = 9;
const FAT = 10;
const LYMPHOID = 11;
const MUSCLE_ALONG = 12;
const QUANTITIES = 13;

/** Pixels by which the unevenness of tissue moves a border between layers, at most. */
const BORDER = 40;
/** Pixels from a cut edge within which it shows. */
const EDGE = 60;

interface Kind {
  /** Of the population, 0…1. */
  readonly share: number;
  readonly stamps: readonly Stamp[];
  /** Lies along the layers, else in any direction. */
  readonly isAligned: boolean;
}

export function createColon(seed: number): Tissue {
  const palette = mixPalette(seed);
  const layout = layOutColon(seed);
  const { cells, grain, clouds, reticulum, collagen, muscle, clefts, muscleEnds, bundles } = palette;
  const position = nowhere();
  const mucosa: MucosaPosition = { depth: 0, along: 0, seed: 0, goblets: 0, cellWidth: 1, busy: 0 };
  const shift = { x: 0, y: 0 };
  const cell = noCell();
  const nuclei = epithelialNuclei();
  let planes: readonly Float32Array[] = [];

  function mucosaAt(x: number, y: number): MucosaPosition {
    layout.locate(x, y, position);
    layout.warp(x, y, shift);
    layout.inMucosa(x + shift.x, y + shift.y, position, layout.glandIndex.near(x, y), mucosa);
    return mucosa;
  }

  function epithelialNuclei(): PlaceIndex<PlacedStamp> {
    const index = new PlaceIndex<PlacedStamp>(256);
    const add = (nucleus: PlacedStamp) => {
      const { x, y } = nucleus;
      index.add(nucleus, x - 40, y - 40, x + 40, y + 40);
    };
    for (const gland of layout.glands) {
      for (const nucleus of nucleiOf(gland, palette)) {
        let { x, y } = nucleus;
        for (let step = 0; step < 2; step++) {
          layout.warp(x, y, shift);
          x = nucleus.x - shift.x;
          y = nucleus.y - shift.y;
        }
        // Where a crypt meets the surface or a neighbour, its wall is not where it would be alone.
        const { depth } = mucosaAt(x, y);
        if (depth > EPITHELIUM * 0.3 && depth < EPITHELIUM * 1.02) add({ ...nucleus, x, y });
      }
    }
    // The surface is walked in steps shorter than a slim cell; what lies below says which cell it is.
    const seen = new Set<number>();
    const addAt = (x: number, y: number, inX: number, inY: number) => {
      const below = mucosaAt(x + inX * EPITHELIUM * 0.7, y + inY * EPITHELIUM * 0.7);
      const isThere = below.depth > EPITHELIUM * 0.5 && below.depth < EPITHELIUM;
      if (below.seed !== SURFACE_SEED || !isThere) return;
      cellAt(below.seed, below.goblets, below.cellWidth, below.along, cell);
      const isSecond = !cell.isGoblet && cell.across > 0.5;
      const middle = cell.isGoblet ? 0.5 : isSecond ? 0.74 : 0.26;
      const key = cell.index * 2 + (isSecond ? 1 : 0);
      if (Math.abs(cell.across - middle) > 0.12 || seen.has(key)) return;
      seen.add(key);
      const level = cell.isGoblet ? 0.9 : 0.6 + 0.18 * chanceAt(seed + 50, key, 1);
      add({
        stamp: pick(cell.isGoblet ? cells.goblet : cells.columnar, chanceAt(seed + 50, key, 2)),
        x: x + inX * EPITHELIUM * level,
        y: y + inY * EPITHELIUM * level,
        angle:
          Math.atan2(inY, inX) +
          (cell.isGoblet ? Math.PI / 2 : 0) +
          (chanceAt(seed + 50, key, 3) - 0.5) * 0.3,
        scale: 0.92 + 0.14 * chanceAt(seed + 50, key, 4),
        density: 0.9 + 0.25 * chanceAt(seed + 50, key, 5),
        opacity: 0.96,
      });
    };
    for (let x = 700; x < 19900; x += 2) {
      const { y, downX, downY } = pointOn(layout.surface, x);
      addAt(x, y, downX, downY);
    }
    for (const biopsy of layout.biopsies) {
      for (let direction = -Math.PI; direction < Math.PI; direction += 2 / biopsy.long) {
        const { x, y, inX, inY } = outlinePoint(biopsy, direction);
        addAt(x, y, inX, inY);
      }
    }
    return index;
  }

  /** @param uneven pixels by which the borders are moved here */
  function layerOf(mucosaDepth: number, muscleDepth: number, uneven: number): Layer {
    if (muscleDepth > uneven) {
      if (muscleDepth < PLEXUS_FROM + uneven) return INNER_MUSCLE;
      if (muscleDepth < PLEXUS_TO + uneven) return PLEXUS;
      return muscleDepth < OUTER_MUSCLE_TO + uneven * 2 ? OUTER_MUSCLE : SUBSEROSA;
    }
    if (mucosaDepth < uneven) return MUCOSA;
    return mucosaDepth < MUSCULARIS_MUCOSAE + uneven ? MUSCLE_OF_MUCOSA : SUBMUCOSA;
  }

  /** Pixels inwards from the border of fat, in the submucosa's lobules and outside the muscle. */
  function fatIn(place: WallPosition, x: number, y: number): number {
    if (place.muscleDepth < -2500) return -1e3;
    const outside =
      place.muscleDepth - OUTER_MUSCLE_TO - 170 + 110 * roughNoiseAt(seed + 60, x / 700, y / 500, 2);
    if (outside < -400 && place.mucosaDepth < 300) return -1e3;
    const lobule = 420 * (roughNoiseAt(seed + 61, x / 1500, y / 900, 2) - 0.34);
    const within = Math.min(lobule, -place.muscleDepth - 130, place.mucosaDepth - MUSCULARIS_MUCOSAE - 130);
    // Strands of connective tissue part the fat outside into lobules.
    const strand = 330 * Math.abs(noiseAt(seed + 62, x / 1100, y / 700)) - 16;
    return Math.min(Math.max(Math.min(outside, strand), within), place.inside - 175);
  }

  function fatAt(x: number, y: number): number {
    return fatIn(layout.locate(x, y, position), x, y);
  }

  function draw(tile: StainTile): boolean {
    const { size } = tile;
    if (planes[0]?.length !== size * size) {
      planes = Array.from({ length: QUANTITIES }, () => new Float32Array(size * size));
    }
    const found = survey(tile, QUANTITIES, (x, y, out) => {
      layout.locate(x, y, position);
      layout.warp(x, y, shift);
      out[INSIDE] = position.inside;
      out[DEPTH] = position.depth;
      out[SURFACE_ALONG] = position.surfaceAlong;
      out[MUCOSA_DEPTH] = position.mucosaDepth;
      out[ALONG] = position.along;
      out[MUSCLE_DEPTH] = position.muscleDepth;
      out[MUSCLE_ALONG] = position.muscleAlong;
      out[LOOSE] = roughNoiseAt(seed + 63, x / 380, y / 380, 3);
      out[THICKNESS] = 1 + 0.1 * roughNoiseAt(seed + 64, x / 2600, y / 2600, 2);
      out[SHIFT_X] = shift.x;
      out[SHIFT_Y] = shift.y;
      out[FAT] = fatIn(position, x, y);
      out[LYMPHOID] = layout.lymphoid(x, y);
    });
    const inside = rangeOf(found, INSIDE);
    const depth = rangeOf(found, DEPTH);
    const toMucosa = rangeOf(found, MUCOSA_DEPTH);
    const toMuscle = rangeOf(found, MUSCLE_DEPTH);
    if (inside.most < -40 || depth.most < -40) return false;

    // Most tiles lie in one layer, far from every edge: what cannot matter there need not be spread.
    const spreadIf = (matters: boolean, quantity: number, otherwise: number) => {
      if (matters) spread(found, quantity, plane(quantity));
      else plane(quantity).fill(otherwise);
    };
    const hasMucosa = toMucosa.least < BORDER;
    spreadIf(inside.least < EDGE, INSIDE, EDGE);
    spreadIf(hasMucosa, DEPTH, 1e6);
    spreadIf(depth.least < 2 * EPITHELIUM, SURFACE_ALONG, 0);
    spreadIf(toMuscle.least < BORDER, MUCOSA_DEPTH, 1e6);
    spreadIf(toMuscle.most > -BORDER, MUSCLE_DEPTH, -1e6);
    spreadIf(toMuscle.most > -BORDER, MUSCLE_ALONG, 0);
    spreadIf(toMucosa.most > -BORDER && toMuscle.least < BORDER, ALONG, 0);
    spreadIf(rangeOf(found, LYMPHOID).most > 0, LYMPHOID, -1);
    for (const quantity of [LOOSE, THICKNESS, SHIFT_X, SHIFT_Y]) spread(found, quantity, plane(quantity));

    paintLayers(tile);
    if (rangeOf(found, FAT).most > -250) paintFat(tile, palette, seed + 70, fatAt);
    for (const ganglion of layout.ganglia.touching(tile)) paintGanglion(tile, ganglion);
    scatterCells(tile, found);
    for (const vessel of layout.vessels.touching(tile)) paintVessel(tile, palette, vessel);
    if (hasMucosa) paintMucosa(tile);
    for (const nucleus of nuclei.touching(tile)) press(tile, nucleus.stamp, nucleus);
    if (inside.least < EDGE) fray(tile);
    return true;
  }

  function plane(quantity: number): Float32Array {
    return planes[quantity] as Float32Array;
  }

  function paintLayers(tile: StainTile): void {
    const { size, haematoxylin, eosin } = tile;
    const [inside, depth] = [plane(INSIDE), plane(DEPTH)];
    const [along, muscleAlong] = [plane(ALONG), plane(MUSCLE_ALONG)];
    const [mucosaDepth, muscleDepth] = [plane(MUCOSA_DEPTH), plane(MUSCLE_DEPTH)];
    const [loose, lymphoid] = [plane(LOOSE), plane(LYMPHOID)];
    const [shiftX, shiftY, thickness] = [plane(SHIFT_X), plane(SHIFT_Y), plane(THICKNESS)];
    for (let row = 0, at = 0; row < size; row++) {
      const y = tile.y + row;
      for (let column = 0; column < size; column++, at++) {
        if ((inside[at] as number) < -12 || (depth[at] as number) < -2) continue;
        const x = tile.x + column;
        const cloud = nearest(clouds, x, y);
        const g = nearest(grain, x, y);
        const gaps = loose[at] as number;
        const toMucosa = mucosaDepth[at] as number;
        const toMuscle = muscleDepth[at] as number;
        let h = 0;
        let e = 0;
        // A lymph follicle breaks through the muscle of the mucosa.
        const isFollicle = (lymphoid[at] as number) > cloud * 0.08;
        switch (isFollicle ? MUCOSA : layerOf(toMucosa, toMuscle, cloud * 9)) {
          case MUCOSA: {
            const strand = nearest(reticulum, x, y);
            e = 0.13 + (0.24 + 0.1 * gaps) * strand + 0.05 * cloud + 0.02 * g;
            h = 0.05 + 0.03 * strand;
            break;
          }
          case MUSCLE_OF_MUCOSA: {
            const strand = nearest(
              muscle,
              (along[at] as number) * 1.1,
              toMucosa * 1.25 + (shiftY[at] as number),
            );
            e = 0.3 + 0.42 * strand + 0.05 * g;
            h = 0.07 + 0.03 * g;
            break;
          }
          case SUBMUCOSA: {
            const v = toMucosa + (shiftY[at] as number) * 3 + gaps * 60;
            const strand = nearest(collagen, (along[at] as number) + (shiftX[at] as number) * 3, v);
            const full = smoothStep(-0.75, 0.5, gaps + cloud * 0.2);
            e = strand * (0.26 + 0.46 * full + 0.06 * cloud) + 0.05 * full + 0.035 * g * strand;
            h = 0.03 * strand;
            break;
          }
          case INNER_MUSCLE: {
            const v = toMuscle + gaps * 40 + (shiftY[at] as number);
            const u = muscleAlong[at] as number;
            const strand = nearest(muscle, u, v);
            const cleft = sample(clefts, u * 0.62, v * 0.9);
            e = (0.36 + 0.42 * strand + 0.05 * g) * (1 - 0.8 * cleft);
            h = (0.065 + 0.025 * g) * (1 - cleft);
            break;
          }
          case PLEXUS: {
            const strand = nearest(collagen, muscleAlong[at] as number, toMuscle * 1.4);
            e = strand * 0.5;
            h = 0.03 * strand;
            break;
          }
          case OUTER_MUSCLE: {
            const wx = x + (shiftX[at] as number) * 1.5;
            const wy = y + (shiftY[at] as number) * 1.5;
            const end = nearest(muscleEnds, wx, wy);
            const bundle = sample(bundles, (wx + 30 * gaps) * 0.23, (wy - 40 * gaps) * 0.23);
            const open = smoothStep(0.02, 0.62, bundle + 0.35 * gaps + 0.08 * cloud);
            e = (0.16 + 0.6 * end + 0.05 * g) * (0.38 + 0.62 * open);
            h = (0.065 + 0.025 * g) * open;
            break;
          }
          case SUBSEROSA: {
            const strand = nearest(
              collagen,
              (muscleAlong[at] as number) + gaps * 60,
              toMuscle * 1.3 + gaps * 120,
            );
            e = strand * (0.52 + 0.2 * gaps);
            h = 0.03 * strand;
            break;
          }
        }
        // Sections are never quite even in thickness.
        const amount = thickness[at] as number;
        haematoxylin[at] = h * amount;
        eosin[at] = e * amount;
      }
    }
  }

  function paintMucosa(tile: StainTile): void {
    const { size, haematoxylin, eosin, orange } = tile;
    const [inside, depth, surfaceAlong] = [plane(INSIDE), plane(DEPTH), plane(SURFACE_ALONG)];
    const [shiftX, shiftY] = [plane(SHIFT_X), plane(SHIFT_Y)];
    const squareAfter = (place: number) => (Math.floor(place / GLAND_SQUARE) + 1) * GLAND_SQUARE;
    for (let top = tile.y; top < tile.y + size; top = squareAfter(top)) {
      const bottom = Math.min(squareAfter(top), tile.y + size);
      for (let left = tile.x; left < tile.x + size; left = squareAfter(left)) {
        const right = Math.min(squareAfter(left), tile.x + size);
        const glands = layout.glandIndex.near(left, top);
        for (let y = top; y < bottom; y++) {
          for (let x = left, at = (y - tile.y) * size + left - tile.x; x < right; x++, at++) {
            position.depth = depth[at] as number;
            if (glands.length === 0 && position.depth > EPITHELIUM + 12) continue;
            if ((inside[at] as number) < -12) continue;
            position.surfaceAlong = surfaceAlong[at] as number;
            layout.inMucosa(x + (shiftX[at] as number), y + (shiftY[at] as number), position, glands, mucosa);
            const beyond = mucosa.depth - EPITHELIUM;
            if (beyond > 12) continue;
            if (mucosa.depth <= -1) {
              // Mucus stands in some of the crypts.
              const veil =
                position.depth < 0 ? 0 : sample(clouds, x / 7, y / 7) + 0.3 * nearest(clouds, x, y);
              const mucus = Math.min(0.1, Math.max(0, veil - 0.25) * 0.12);
              haematoxylin[at] = mucus;
              eosin[at] = mucus * 0.6;
              orange[at] = 0;
            } else if (beyond < 0) {
              const { busy } = mucosa;
              cellAt(mucosa.seed, mucosa.goblets, mucosa.cellWidth, mucosa.along, cell);
              paintEpithelium(tile, palette, {
                at,
                x,
                y,
                depth: mucosa.depth,
                height: EPITHELIUM,
                cell,
                busy,
              });
            } else {
              // The membrane that the cells stand on.
              eosin[at] = (eosin[at] as number) + 0.22 * Math.exp(-(((beyond - 2) / 2) ** 2));
            }
          }
        }
      }
    }
  }

  function paintGanglion(tile: StainTile, ganglion: Ganglion): void {
    const { size, haematoxylin, eosin } = tile;
    const cos = Math.cos(ganglion.angle);
    const sin = Math.sin(ganglion.angle);
    for (let row = 0; row < size; row++) {
      const dy = tile.y + row - ganglion.y;
      if (Math.abs(dy) > ganglion.long * 1.2) continue;
      for (let column = 0; column < size; column++) {
        const dx = tile.x + column - ganglion.x;
        const lx = (dx * cos + dy * sin) / ganglion.long;
        const ly = (dy * cos - dx * sin) / ganglion.short;
        const square = lx * lx + ly * ly;
        if (square > 1.5) continue;
        const away = Math.sqrt(square) + 0.12 * noiseAt(ganglion.seed, dx / 60, dy / 60);
        const cover = smoothStep(1.06, 0.97, away);
        const at = row * size + column;
        const strand = sample(reticulum, lx * ganglion.long * 0.7, ly * ganglion.short * 1.3);
        haematoxylin[at] = (haematoxylin[at] as number) * (1 - cover) + (0.08 + 0.03 * strand) * cover;
        eosin[at] = (eosin[at] as number) * (1 - cover) + (0.26 + 0.12 * strand) * cover;
      }
    }
    const count = Math.max(2, Math.round(ganglion.long / 45));
    for (let k = 0; k < count; k++) {
      const chance = (lane: number) => chanceAt(ganglion.seed, k, lane);
      const lx = (((k + 0.5) / count) * 2 - 1) * ganglion.long * 0.8;
      const ly = (chance(1) - 0.5) * ganglion.short * 0.7;
      const isNeuron = chance(2) < 0.62;
      press(tile, pick(isNeuron ? cells.ganglion : cells.fibroblasts, chance(3)), {
        x: ganglion.x + lx * cos - ly * sin,
        y: ganglion.y + lx * sin + ly * cos,
        angle: ganglion.angle + (chance(4) - 0.5) * 0.7,
        scale: isNeuron ? 0.7 + 0.25 * chance(5) : 0.7,
        density: 1,
        opacity: 0.96,
      });
    }
  }

  const laminaPropria: readonly Kind[] = [
    { share: 0.28, stamps: cells.plasmaCells, isAligned: false },
    { share: 0.24, stamps: cells.lymphocytes, isAligned: false },
    { share: 0.3, stamps: cells.fibroblasts, isAligned: false },
    { share: 0.09, stamps: cells.macrophages, isAligned: false },
    { share: 0.04, stamps: cells.eosinophils, isAligned: false },
    { share: 0.05, stamps: cells.endothelium, isAligned: false },
  ];
  const connective: readonly Kind[] = [
    { share: 0.74, stamps: cells.fibroblasts, isAligned: true },
    { share: 0.14, stamps: cells.endothelium, isAligned: true },
    { share: 0.09, stamps: cells.lymphocytes, isAligned: false },
    { share: 0.03, stamps: cells.plasmaCells, isAligned: false },
  ];
  const muscleAlong: readonly Kind[] = [
    { share: 0.95, stamps: cells.muscleLong, isAligned: true },
    { share: 0.05, stamps: cells.endothelium, isAligned: true },
  ];
  const muscleAcross: readonly Kind[] = [
    { share: 0.95, stamps: cells.muscleRound, isAligned: false },
    { share: 0.05, stamps: cells.endothelium, isAligned: false },
  ];
  const mantle: readonly Kind[] = [{ share: 1, stamps: cells.lymphocytes, isAligned: false }];
  const germinal: readonly Kind[] = [
    { share: 0.84, stamps: cells.germinal, isAligned: false },
    { share: 0.1, stamps: cells.lymphocytes, isAligned: false },
    { share: 0.06, stamps: cells.macrophages, isAligned: false },
  ];

  /** At most one cell per square of `spacing` pixels; `choose` says of which population, if any. */
  function scatter(
    tile: StainTile,
    lane: number,
    spacing: number,
    choose: (x: number, y: number, chance: number) => readonly Kind[] | null,
  ): void {
    forEachSquare(tile, spacing, 64, (column, row) => {
      const chance = (k: number) => chanceAt(lane + k, column, row);
      const x = (column + 0.5 + (chance(0) - 0.5) * 0.92) * spacing;
      const y = (row + 0.5 + (chance(1) - 0.5) * 0.92) * spacing;
      const kinds = choose(x, y, chance(2));
      if (kinds === null) return;
      let left = chance(3);
      const kind = kinds.find((candidate) => {
        left -= candidate.share;
        return left < 0;
      });
      if (kind === undefined) return;
      press(tile, pick(kind.stamps, chance(5)), {
        x,
        y,
        angle: kind.isAligned ? layout.tangent(x, y) + (chance(4) - 0.5) * 0.36 : chance(4) * Math.PI * 2,
        scale: 0.86 + 0.26 * chance(6),
        density: 0.8 + 0.36 * chance(7),
        opacity: chance(8) < 0.25 ? 0.6 : 0.95,
      });
    });
  }

  function scatterCells(tile: StainTile, found: Survey): void {
    // Depths change by at most a pixel per pixel, and a cell reaches in from at most this far.
    const margin = 95;
    const toMucosa = rangeOf(found, MUCOSA_DEPTH);
    const toMuscle = rangeOf(found, MUSCLE_DEPTH);
    const isPast = (depth: number, from: number) => depth + margin > from;
    const layerAt = (x: number, y: number): Layer | null => {
      layout.locate(x, y, position);
      const { inside, depth, mucosaDepth, muscleDepth } = position;
      return inside < 10 || depth < 6 ? null : layerOf(mucosaDepth, muscleDepth, 0);
    };
    if (!isPast(toMucosa.least, margin * 2)) {
      scatter(tile, seed + 200, 36, (x, y, chance) => {
        if (chance > 0.56 + 0.2 * noiseAt(seed + 69, x / 400, y / 400)) return null;
        const { depth } = mucosaAt(x, y);
        if (depth < EPITHELIUM + 13 || position.mucosaDepth > 0 || position.inside < 10) return null;
        return layout.lymphoid(x, y) > 0 ? null : laminaPropria;
      });
    }
    if (isPast(toMucosa.most, MUSCULARIS_MUCOSAE)) {
      scatter(tile, seed + 210, 92, (x, y, chance) => {
        if (chance > 0.6) return null;
        const layer = layerAt(x, y);
        if (layer !== SUBMUCOSA && layer !== PLEXUS && layer !== SUBSEROSA) return null;
        return isFat(seed + 70, fatAt, x, y) ? null : connective;
      });
    }
    if (isPast(toMucosa.most, 0) && toMuscle.least < PLEXUS_FROM + margin) {
      scatter(tile, seed + 220, 64, (x, y, chance) => {
        const layer = layerAt(x, y);
        if (layer === INNER_MUSCLE) return chance < 0.44 ? muscleAlong : null;
        if (layout.lymphoid(x, y) > -0.05) return null;
        return layer === MUSCLE_OF_MUCOSA && chance < 0.75 ? muscleAlong : null;
      });
    }
    if (isPast(toMuscle.most, PLEXUS_TO) && toMuscle.least < OUTER_MUSCLE_TO + margin) {
      scatter(tile, seed + 230, 46, (x, y, chance) =>
        chance < 0.4 && layerAt(x, y) === OUTER_MUSCLE ? muscleAcross : null,
      );
    }
    if (layout.lymphoid(tile.x + tile.size / 2, tile.y + tile.size / 2) > -2) {
      scatter(tile, seed + 240, 25, (x, y, chance) => {
        const lymphoid = layout.lymphoid(x, y);
        if (lymphoid < -0.25 || lymphoid > 0.52 || chance > 0.95 * smoothStep(-0.25, 0.12, lymphoid))
          return null;
        return mucosaAt(x, y).depth > EPITHELIUM + 10 ? mantle : null;
      });
      scatter(tile, seed + 250, 31, (x, y, chance) =>
        chance < 0.95 && layout.lymphoid(x, y) > 0.5 ? germinal : null,
      );
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

  return { width: COLON_WIDTH, height: COLON_HEIGHT, draw };
}
