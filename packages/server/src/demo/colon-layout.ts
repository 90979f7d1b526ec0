/**
 * What lies where on the colon slide: a full-thickness strip of wall, lumen upwards, and two small
 * biopsies of mucosa above it. Lengths in pixels (0.25 µm) of the whole slide.
 */
import { type Biopsy, type BiopsyPlace, biopsyOf, cutCryptsOf, placeInBiopsy } from './biopsy.ts';
import { type Curve, type CurvePlace, curveOf, placeOn, pointOn } from './curve.ts';
import { PlaceIndex } from './field.ts';
import { axisPoint, type Gland, placeInGland, type WallPlace, wallSeed } from './glands.ts';
import { between, noiseAt, type Random, randomFrom, roughNoiseAt, smoothStep } from './random.ts';
import { isInVessel, type Vessel, vesselOf } from './vessels.ts';

export const COLON_WIDTH = 20480;
export const COLON_HEIGHT = 15360;

/** Epithelium of 21 µm. */
export const EPITHELIUM = 84;
/** Mucosa of 0.45 mm. */
const MUCOSA = 1800;
export const MUSCULARIS_MUCOSAE = 125;
/** Depths below the inner border of the muscle coat: inner layer, the plexus between, outer layer, fat. */
export const PLEXUS_FROM = 1500;
export const PLEXUS_TO = 1575;
export const OUTER_MUSCLE_TO = 2480;
const WALL_TO = 3330;
/** Biopsies lie above this line. */
const BIOPSIES_TO = 4600;
const NONE = -1e6;
/** Of the cells at the inner surface, as crypts have seeds of their own. */
export const SURFACE_SEED = 71;
/** Pixels of the squares in which crypts are looked up. */
export const GLAND_SQUARE = 64;

/** A place of the strip or of a biopsy. Depths in pixels, positive into the tissue. */
export interface WallPosition {
  /** From the nearest cut edge or outer border. */
  inside: number;
  /** Below the inner surface; in a biopsy large where its outline is torn. */
  depth: number;
  /** Pixels along the inner surface. */
  surfaceAlong: number;
  /** Below the lower border of the mucosa; far negative in a biopsy, which has nothing below. */
  mucosaDepth: number;
  along: number;
  /** Below the inner border of the muscle coat; far negative in a biopsy. */
  muscleDepth: number;
  muscleAlong: number;
}

export function nowhere(): WallPosition {
  return {
    inside: NONE,
    depth: NONE,
    surfaceAlong: 0,
    mucosaDepth: NONE,
    along: 0,
    muscleDepth: NONE,
    muscleAlong: 0,
  };
}

/** Where a place lies in the epithelium of the mucosa or below it. */
export interface MucosaPosition {
  /** Below the nearest inner surface, be it the mucosa's or a crypt's; negative in a lumen. */
  depth: number;
  along: number;
  /** Of the wall that the place belongs to. */
  seed: number;
  goblets: number;
  cellWidth: number;
  /** 0 at the surface, 1 at a crypt's base, where cells divide. */
  busy: number;
}

export interface Ganglion {
  readonly seed: number;
  readonly x: number;
  readonly y: number;
  readonly long: number;
  readonly short: number;
  readonly angle: number;
}

export interface ColonLayout {
  readonly surface: Curve;
  readonly biopsies: readonly Biopsy[];
  readonly glands: readonly Gland[];
  readonly glandIndex: PlaceIndex<Gland>;
  readonly vessels: PlaceIndex<Vessel>;
  readonly ganglia: PlaceIndex<Ganglion>;
  locate(x: number, y: number, out: WallPosition): WallPosition;
  /** Turns the even geometry of tubes into the slightly uneven one of tissue: what to add to a place. */
  warp(x: number, y: number, out: { x: number; y: number }): void;
  /**
   * @param x after the warp
   * @param position of the place on the wall
   * @param glands that may be near
   */
  inMucosa(x: number, y: number, position: WallPosition, glands: readonly Gland[], out: MucosaPosition): void;
  /** 1 in the middle of a lymph follicle, 0 at its border, negative outside. */
  lymphoid(x: number, y: number): number;
  /** Direction of the layers, radians. */
  tangent(x: number, y: number): number;
}

export function layOutColon(seed: number): ColonLayout {
  const random = randomFrom(seed);
  const arch = (x: number) =>
    7050 + 1250 * ((x - COLON_WIDTH / 2) / 9400) ** 2 + 260 * noiseAt(seed, x / 4200, 3);
  const folds = [
    { x: 3700, rise: 800, width: 1900 },
    { x: 9700, rise: 1300, width: 2350 },
    { x: 15900, rise: 760, width: 1800 },
  ];
  const foldAt = (x: number, wider: number) =>
    folds.reduce((sum, fold) => sum + fold.rise * Math.exp(-(((x - fold.x) / (fold.width * wider)) ** 2)), 0);
  const across = (heightAt: (x: number) => number) => curveOf(-600, COLON_WIDTH + 600, 24, heightAt);
  const surface = across(
    (x) => arch(x) - foldAt(x, 1) + 60 * noiseAt(seed + 1, x / 900, 1) + 16 * noiseAt(seed + 2, x / 210, 1),
  );
  const mucosaBase = across(
    (x) => arch(x) + MUCOSA - foldAt(x, 1.06) * 0.94 + 46 * noiseAt(seed + 3, x / 700, 1),
  );
  const muscle = across((x) => arch(x) + 3050 - foldAt(x, 1.3) * 0.2 + 150 * noiseAt(seed + 4, x / 1900, 1));
  const biopsies = [
    {
      x: 5200,
      y: 2450,
      long: 2500,
      short: 1200,
      angle: -0.16,
      seed: seed + 40,
      surface: -1.5,
      surfaceSpan: 1.3,
    },
    {
      x: 14500,
      y: 2300,
      long: 2750,
      short: 1100,
      angle: 0.12,
      seed: seed + 41,
      surface: -1.7,
      surfaceSpan: 1.5,
    },
  ].map(biopsyOf);
  const follicles = [
    { x: 12950, long: 640, short: 440 },
    { x: 6500, long: 430, short: 320 },
  ].map(({ x, long, short }) => {
    const { y, downX, downY } = pointOn(mucosaBase, x);
    return { x: x - downX * 90, y: y - downY * 90, long, short };
  });

  const curvePlace: CurvePlace = { depth: 0, along: 0 };
  const biopsyPlace: BiopsyPlace = { inside: 0, depth: 0, along: 0 };
  const leftEnd = (y: number) => 820 + 230 * roughNoiseAt(seed + 5, y / 1300, 7, 3) + (y - 9000) * 0.05;
  const rightEnd = (y: number) => 19700 + 260 * roughNoiseAt(seed + 6, y / 1500, 9, 3) - (y - 9000) * 0.04;
  const isAmongBiopsies = (x: number, y: number) => y < BIOPSIES_TO && y < arch(x) - 1900;

  function locate(x: number, y: number, out: WallPosition): WallPosition {
    if (isAmongBiopsies(x, y)) {
      out.mucosaDepth = NONE;
      out.muscleDepth = NONE;
      out.along = x;
      const here = biopsies.findIndex((biopsy) => Math.abs(x - biopsy.x) < biopsy.long * 1.35);
      const biopsy = biopsies[here];
      if (biopsy === undefined) {
        out.inside = NONE;
        out.depth = NONE;
        return out;
      }
      placeInBiopsy(biopsy, x, y, biopsyPlace);
      out.inside = biopsyPlace.inside;
      out.depth = biopsyPlace.depth;
      // Far from the strip's own lengths, so that no two walls share their cells.
      out.surfaceAlong = biopsyPlace.along + 100_000 * (here + 1);
      return out;
    }
    placeOn(muscle, x, y, curvePlace);
    out.muscleDepth = curvePlace.depth;
    out.muscleAlong = curvePlace.along;
    placeOn(mucosaBase, x, y, curvePlace);
    out.mucosaDepth = curvePlace.depth;
    out.along = curvePlace.along;
    placeOn(surface, x, y, curvePlace);
    out.depth = curvePlace.depth;
    out.surfaceAlong = curvePlace.along;
    const outer = WALL_TO + 230 * roughNoiseAt(seed + 7, out.muscleAlong / 1500, 5, 3) - out.muscleDepth;
    const ends = Math.min(x - leftEnd(y), rightEnd(y) - x) + 50 * roughNoiseAt(seed + 8, x / 240, y / 240, 3);
    out.inside = Math.min(outer + 36 * roughNoiseAt(seed + 9, x / 150, y / 150, 3), ends);
    return out;
  }

  function warp(x: number, y: number, out: { x: number; y: number }): void {
    out.x = 17 * noiseAt(seed + 11, x / 150, y / 150) + 6 * noiseAt(seed + 12, x / 55, y / 55);
    out.y = 17 * noiseAt(seed + 13, x / 150, y / 150) + 6 * noiseAt(seed + 14, x / 55, y / 55);
  }

  function lymphoid(x: number, y: number): number {
    let most = -9;
    for (const follicle of follicles) {
      const away = Math.hypot((x - follicle.x) / follicle.long, (y - follicle.y) / follicle.short);
      if (away < 3) most = Math.max(most, 1 - away + 0.22 * roughNoiseAt(seed + 15, x / 260, y / 260, 2));
    }
    return most;
  }

  const wallPlace: WallPlace = { depth: 0, along: 0, side: 1 };

  function inMucosa(
    x: number,
    y: number,
    position: WallPosition,
    glands: readonly Gland[],
    out: MucosaPosition,
  ): void {
    out.depth = position.depth;
    out.along = position.surfaceAlong;
    out.seed = SURFACE_SEED;
    out.goblets = 0.2;
    out.cellWidth = 46;
    out.busy = 0;
    let nearestDepth = position.depth;
    for (const gland of glands) {
      placeInGland(gland, x, y, wallPlace);
      const { depth } = wallPlace;
      // Surfaces run into one another in a curve of some micrometres.
      const apart = Math.abs(out.depth - depth);
      const blend = apart < 46 ? (46 - apart) / 46 : 0;
      out.depth = Math.min(out.depth, depth) - blend * blend * 11.5;
      if (depth < nearestDepth) {
        nearestDepth = depth;
        out.along = wallPlace.along;
        out.seed = wallSeed(gland, wallPlace.side);
        out.goblets = gland.goblets;
        out.cellWidth = gland.cellWidth;
        out.busy = gland.length > 400 ? smoothStep(0.55, 0.95, wallPlace.along / gland.length) : 0.35;
      }
    }
  }

  const tangent = (x: number, y: number) => {
    if (isAmongBiopsies(x, y)) return noiseAt(seed + 16, x / 700, y / 700) * 2.2;
    const { downX, downY } = pointOn(y > arch(x) + 2600 ? muscle : mucosaBase, x);
    return Math.atan2(-downX, downY);
  };

  const glands = [
    ...cryptsOf(random, surface, mucosaBase, (x, y) =>
      lymphoid(x, y) > -0.12 ? NONE : locate(x, y, nowhere()).inside,
    ),
    ...biopsies.flatMap((biopsy) => cutCryptsOf(random, biopsy, EPITHELIUM)),
  ];
  const glandIndex = new PlaceIndex<Gland>(GLAND_SQUARE);
  for (const gland of glands) indexGland(glandIndex, gland);
  const layout = { locate, warp, inMucosa, lymphoid, tangent, glandIndex };
  return {
    ...layout,
    surface,
    biopsies,
    glands,
    vessels: vesselsOf(random, layout),
    ganglia: gangliaOf(random, muscle),
  };
}

function indexGland(index: PlaceIndex<Gland>, gland: Gland): void {
  const reach = gland.lumen + gland.height + 90;
  // Square by square along the axis: a rectangle around a leaning crypt would be mostly beside it.
  for (let s = 0; s <= gland.length; s += Math.max(1, Math.min(48, gland.length))) {
    const { x, y } = axisPoint(gland, s);
    index.add(gland, x - reach, y - reach, x + reach, y + reach);
  }
}

/** Crypts of the strip, from the surface almost down to the muscle of the mucosa. */
function cryptsOf(
  random: Random,
  surface: Curve,
  mucosaBase: Curve,
  roomAt: (x: number, y: number) => number,
): Gland[] {
  const glands: Gland[] = [];
  /** Pixels of a crypt's length until it would meet another or leave the mucosa. */
  const freeLength = (gland: Gland) => {
    const far = gland.lumen + gland.height + 20;
    for (let s = 60; s <= gland.length; s += 40) {
      const { x, y } = axisPoint(gland, s);
      if (roomAt(x, y) < far) return s;
      for (const other of glands.slice(-5)) {
        if (placeInGland(other, x, y, { depth: 0, along: 0, side: 1 }).depth < other.height + far) return s;
      }
    }
    return gland.length;
  };
  for (let x = 980; x < 19560; x += between(random, 240, 286)) {
    const { y, downX } = pointOn(surface, x);
    // Crypts stand square to the surface above and to the muscle below, which bends less.
    const toX = x + downX * MUCOSA * 0.55 + between(random, -50, 50);
    const toY = pointOn(mucosaBase, toX).y;
    const whole = Math.hypot(toX - x, toY - y);
    const dx = (toX - x) / whole;
    const dy = (toY - y) / whole;
    const lumen = between(random, 8, 22);
    const full = whole - lumen - EPITHELIUM - between(random, 20, 90);
    const bend = between(random, -52, 52);
    const gland = (from: number, to: number): Gland => ({
      seed: Math.floor(random() * 1e7),
      x: x + dx * from,
      y: y + dy * from,
      dx,
      dy,
      length: to - from,
      lumen: lumen * between(random, 0.85, 1.15),
      height: EPITHELIUM,
      bend: bend * Math.min(1, (to - from) / 1200),
      open: from < 0,
      cellWidth: between(random, 43, 50),
      goblets: between(random, 0.4, 0.6),
    });
    // Some lie whole in the section; others leave it and come back.
    const style = random();
    const parts =
      style < 0.68
        ? [gland(-40, full)]
        : style < 0.88
          ? [gland(-40, full * between(random, 0.34, 0.5)), gland(full * between(random, 0.66, 0.74), full)]
          : [gland(full * between(random, 0.14, 0.22), full * between(random, 0.7, 1))];
    for (const part of parts) {
      const free = freeLength(part);
      if (free < 90) continue;
      glands.push(free < part.length ? { ...part, length: Math.max(0, free - part.height - 20) } : part);
    }
  }
  return glands;
}

function vesselsOf(
  random: Random,
  layout: Pick<ColonLayout, 'locate' | 'warp' | 'inMucosa' | 'lymphoid' | 'tangent' | 'glandIndex'>,
): PlaceIndex<Vessel> {
  const index = new PlaceIndex<Vessel>(256);
  const placed: Vessel[] = [];
  const position = nowhere();
  const mucosa: MucosaPosition = { depth: 0, along: 0, seed: 0, goblets: 0, cellWidth: 1, busy: 0 };
  const shift = { x: 0, y: 0 };
  const place = (vessel: Vessel) => {
    const { x, y, reach } = vessel;
    if (placed.some((other) => isInVessel(other, x, y, reach))) return;
    placed.push(vessel);
    index.add(vessel, x - reach, y - reach, x + reach, y + reach);
  };

  for (let attempt = 0; attempt < 560; attempt++) {
    const x = between(random, 1300, 19200);
    const y = between(random, 6000, 14600);
    const size = random() ** 2;
    const isArtery = random() < 0.42;
    const long = isArtery ? 22 + 80 * size : 34 + 230 * size;
    const vessel = vesselOf({
      kind: isArtery ? 'artery' : 'vein',
      seed: Math.floor(random() * 1e6),
      x,
      y,
      long,
      short: long * between(random, isArtery ? 0.6 : 0.28, isArtery ? 0.95 : 0.6),
      angle: layout.tangent(x, y) + between(random, -0.5, 0.5),
      wall: isArtery ? 22 + long * between(random, 0.35, 0.65) : 7 + long * between(random, 0.06, 0.14),
      filled: isArtery ? between(random, 0, 0.55) : between(random, 0.25, 0.95),
    });
    const room = vessel.reach + 20;
    layout.locate(x, y, position);
    const inSubmucosa = position.mucosaDepth > MUSCULARIS_MUCOSAE + room && position.muscleDepth < -room;
    const inSubserosa = position.muscleDepth > OUTER_MUSCLE_TO + 60 + room && position.inside > room + 30;
    if ((inSubmucosa || inSubserosa) && position.inside > room && layout.lymphoid(x, y) < -0.5) place(vessel);
  }

  for (let attempt = 0; attempt < 9000; attempt++) {
    const x = between(random, 700, 19800);
    const y = between(random, 900, 10800);
    layout.locate(x, y, position);
    if (position.inside < 80 || position.depth < 110 || position.mucosaDepth > -30) continue;
    if (layout.lymphoid(x, y) > -0.15) continue;
    layout.warp(x, y, shift);
    layout.inMucosa(x + shift.x, y + shift.y, position, layout.glandIndex.near(x, y), mucosa);
    if (mucosa.depth < EPITHELIUM + 22) continue;
    place(
      vesselOf({
        kind: 'vein',
        seed: Math.floor(random() * 1e6),
        x,
        y,
        long: between(random, 14, 26),
        short: between(random, 8, 13),
        angle: layout.tangent(x, y) + Math.PI / 2 + between(random, -0.7, 0.7),
        wall: 3,
        filled: between(random, 0.35, 1),
      }),
    );
  }
  return index;
}

/** Knots of nerve cells between the two layers of muscle. */
function gangliaOf(random: Random, muscle: Curve): PlaceIndex<Ganglion> {
  const index = new PlaceIndex<Ganglion>(256);
  for (let x = 1500; x < 19000; x += between(random, 520, 1300)) {
    const { y, downX, downY } = pointOn(muscle, x);
    const depth = (PLEXUS_FROM + PLEXUS_TO) / 2;
    const ganglion = {
      seed: Math.floor(random() * 1e6),
      x: x + downX * depth,
      y: y + downY * depth,
      long: between(random, 120, 280),
      short: between(random, 42, 66),
      angle: Math.atan2(-downX, downY) + between(random, -0.1, 0.1),
    };
    const reach = ganglion.long * 1.2;
    index.add(ganglion, ganglion.x - reach, ganglion.y - reach, ganglion.x + reach, ganglion.y + reach);
  }
  return index;
}
