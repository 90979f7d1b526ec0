/**
 * The layout of the liver slide: a wedge of tissue with its capsule (the surface of the liver) at the top, and a needle
 * core (a thin cylinder of tissue) below it. All lengths are pixels (0.25 µm) and all positions are on the whole slide.
 * A liver consists of lobules with a central vein; portal tracts between the lobules contain a vein, an artery and bile
 * ducts (the portal triad). Sizes and positions of the structures are chosen by eye.
 *
 * Noises make shapes irregular. `26 * roughNoiseAt(seed + 1, x / 170, y / 170, 3)`, for example, lies between −26 and 26 pixels, has a
 * period of 170 pixels and three octaves (levels of detail). The numbers added to `seed` keep the noises independent.
 */
import {
  between,
  createLineNoise,
  createRandom,
  noiseAt,
  type Random,
  roughNoiseAt,
} from '../geometry/random.ts';
import { SpatialIndex } from '../geometry/spatial-index.ts';
import type { Gland } from '../structures/glands.ts';
import { createVessel, type Vessel } from '../structures/vessels.ts';

/** Size of the slide. */
export const LIVER_WIDTH = 20480;
export const LIVER_HEIGHT = 15360;

/** Distance between central veins, which is the diameter of a lobule; 0.9 mm. */
const LOBULE_DIAMETER = 3600;
/** Thickness of the capsule. */
export const CAPSULE_THICKNESS = 120;
/** y of the line between the wedge (above) and the needle core (below). */
const CORE_TOP = 11900;

export interface LiverPosition {
  /** Distance from the nearest edge of the section; negative outside. */
  distanceFromEdge: number;
  /** Depth below the outer surface of the capsule; 10⁶ in a needle core, which has no capsule. */
  capsuleDepth: number;
}

/** Distance from a portal tract beyond which the tract has no effect. */
const TRACT_MARGIN = 200;
/** Arms and noise enlarge a tract to at most about this many times its radius. */
const MAX_TRACT_GROWTH = 1.6;
/** Height of the cuboidal epithelium of bile ducts; 9 µm. */
export const DUCT_EPITHELIUM_THICKNESS = 37;

interface PortalTract {
  readonly seed: number;
  /** Centre. */
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

export interface LiverLayout {
  readonly vessels: SpatialIndex<Vessel>;
  /** The bile ducts by position, and as a list. */
  readonly ducts: SpatialIndex<Gland>;
  readonly allDucts: readonly Gland[];
  /** Computes the position in the section; writes it into `out` and returns `out`. */
  locate(x: number, y: number, out: LiverPosition): LiverPosition;
  /** Returns the depth inside the nearest portal tract, measured from its border; negative in the lobules, at least -200. */
  tractDepth(x: number, y: number): number;
  /**
   * Writes the direction of the blood flow (a unit vector from the portal tracts to the central vein) and the zone into `out`; the
   * zone is 0 at a portal tract and 1 at a central vein.
   */
  flow(x: number, y: number, out: { x: number; y: number; zone: number }): void;
}

/** Creates the layout; its inner functions share the outlines, which depend on the seed. */
export function layOutLiver(seed: number): LiverLayout {
  const random = createRandom(seed);
  const { veins, tracts } = placeLobules(random);
  // Noises of the needle core: of its middle line, its thickness and its ends.
  const middleNoise = createLineNoise({ seed: seed + 2, row: 2, period: 1700, amplitude: 120 });
  const thicknessNoise = createLineNoise({ seed: seed + 3, row: 4, period: 1100, amplitude: 90, octaves: 2 });
  const coreStartNoise = createLineNoise({ seed: seed + 4, row: 1, period: 420, amplitude: 160, octaves: 2 });
  const coreEndNoise = createLineNoise({ seed: seed + 10, row: 1, period: 420, amplitude: 190, octaves: 2 });
  // Noises of the borders of the wedge.
  const capsuleNoise = createLineNoise({ seed: seed + 5, row: 1, period: 2900, amplitude: 190 });
  const fineCapsuleNoise = createLineNoise({ seed: seed + 6, row: 1, period: 420, amplitude: 24 });
  const leftNoise = createLineNoise({ seed: seed + 7, row: 2, period: 1700, amplitude: 150, octaves: 3 });
  const rightNoise = createLineNoise({ seed: seed + 8, row: 2, period: 1900, amplitude: 170, octaves: 3 });
  const bottomNoise = createLineNoise({ seed: seed + 9, row: 3, period: 2600, amplitude: 300, octaves: 3 });

  function locate(x: number, y: number, out: LiverPosition): LiverPosition {
    const ragged = 26 * roughNoiseAt(seed + 1, x / 170, y / 170, 3);
    if (y > CORE_TOP) {
      const middleY = 13350 + 420 * Math.sin(x / 3900 + 0.6) + middleNoise(x);
      const halfThickness = 760 + thicknessNoise(x);
      const fromEnds = Math.min(x - 1500 - coreStartNoise(y), 18700 - x + coreEndNoise(y));
      // The core is thinner where it broke, within 260 pixels of x = 12300.
      const thinning = 560 * Math.max(0, 1 - Math.abs(x - 12300) / 260) ** 2;
      out.distanceFromEdge = Math.min(halfThickness - thinning - Math.abs(y - middleY), fromEnds) + ragged;
      out.capsuleDepth = 1e6;
      return out;
    }
    // `left`, `right` and `bottom` are distances from the cut edges. The factors near 1 turn distances along x or y from slanted
    // edges into perpendicular distances. `smoothMinimum` rounds the corners; its third argument is in pixels.
    const capsuleY = 1350 + 620 * ((x - 10500) / 7600) ** 2 + capsuleNoise(x) + fineCapsuleNoise(x);
    out.capsuleDepth = (y - capsuleY) * 0.97;
    const left = (x - 2900 - (y - 2000) * 0.2) * 0.98 + leftNoise(y);
    const right = (18300 - x - (y - 2000) * 0.36) * 0.94 + rightNoise(y);
    const bottom = 10700 + bottomNoise(x) + (x - 10000) * 0.05 - y;
    const sides = smoothMinimum(left, right, 300);
    out.distanceFromEdge = smoothMinimum(out.capsuleDepth, smoothMinimum(sides, bottom, 2400) + ragged, 700);
    return out;
  }

  const tractIndex = new SpatialIndex<PortalTract>(512);
  for (const tract of tracts) {
    const { x, y } = tract;
    const reach = tract.radius * MAX_TRACT_GROWTH + TRACT_MARGIN;
    tractIndex.add(tract, x - reach, y - reach, x + reach, y + reach);
  }

  function tractDepth(x: number, y: number): number {
    let maxDepth = -TRACT_MARGIN;
    for (const tract of tractIndex.near(x, y)) {
      const dx = x - tract.x;
      const dy = y - tract.y;
      const distance = Math.hypot(dx, dy);
      if (tract.radius * MAX_TRACT_GROWTH - distance < maxDepth) continue; // the position cannot be deeper in this tract
      // Arms reach towards the neighbouring tracts. Their noise is sampled on a circle, so that the outline closes without a step.
      const cos = dx / (distance + 1);
      const sin = dy / (distance + 1);
      const arms = 1 + 0.5 * noiseAt(tract.seed, cos * 2.1 + 7, sin * 2.1 + 7);
      const rough = 24 * roughNoiseAt(tract.seed + 1, x / 90, y / 90, 2);
      maxDepth = Math.max(maxDepth, tract.radius * arms + rough - distance);
    }
    return maxDepth;
  }

  function flow(x: number, y: number, out: { x: number; y: number; zone: number }): void {
    // Direction of the flow; normalised to unit length below.
    let fx = 0;
    let fy = 0;
    let squaredDistanceToVein = 1e9;
    let squaredDistanceToTract = 1e9;
    // The flow is computed like an electric field in which the veins are sinks and the tracts are sources.
    for (const vein of veins) {
      const dx = vein.x - x;
      const dy = vein.y - y;
      const square = dx * dx + dy * dy + 1;
      fx += dx / square;
      fy += dy / square;
      squaredDistanceToVein = Math.min(squaredDistanceToVein, square);
    }
    // A tract has half the strength of a vein, because there are about twice as many tracts.
    for (const tract of tracts) {
      const dx = tract.x - x;
      const dy = tract.y - y;
      const square = dx * dx + dy * dy + 1;
      fx -= (0.5 * dx) / square;
      fy -= (0.5 * dy) / square;
      squaredDistanceToTract = Math.min(squaredDistanceToTract, square);
    }
    const length = Math.hypot(fx, fy) + 1e-12;
    out.x = fx / length;
    out.y = fy / length;
    out.zone =
      Math.sqrt(squaredDistanceToTract) /
      (Math.sqrt(squaredDistanceToTract) + Math.sqrt(squaredDistanceToVein));
  }

  const vessels = new SpatialIndex<Vessel>(256);
  const ducts = new SpatialIndex<Gland>(64);
  const allDucts: Gland[] = [];
  const addVessel = (vessel: Vessel) => {
    const { x, y, reach } = vessel;
    vessels.add(vessel, x - reach, y - reach, x + reach, y + reach);
  };
  for (const vein of veins) addVessel(vein);
  for (const tract of tracts) {
    const triad = placePortalTriad(random, tract);
    for (const vessel of triad.vessels) addVessel(vessel);
    for (const duct of triad.ducts) {
      const reach = duct.lumenRadius + duct.height + duct.length + 30;
      ducts.add(duct, duct.x - reach, duct.y - reach, duct.x + reach, duct.y + reach);
      allDucts.push(duct);
    }
  }
  return { vessels, ducts, allDucts, locate, tractDepth, flow };
}

/** Returns the minimum of two numbers, with a smooth transition where they differ by less than `rounding`. */
function smoothMinimum(a: number, b: number, rounding: number): number {
  const blend = Math.max(0, rounding - Math.abs(a - b)) / rounding;
  return Math.min(a, b) - (blend * blend * rounding) / 4;
}

/** Places central veins on a hexagonal grid, and portal tracts where three lobules meet. */
function placeLobules(random: Random): { veins: readonly Vessel[]; tracts: readonly PortalTract[] } {
  const veins: Vessel[] = [];
  const tracts: PortalTract[] = [];
  const rowHeight = LOBULE_DIAMETER * 0.866; // √3 / 2, for a hexagonal grid
  for (let row = 0; row * rowHeight < LIVER_HEIGHT + LOBULE_DIAMETER; row++) {
    for (let column = -1; column * LOBULE_DIAMETER < LIVER_WIDTH + LOBULE_DIAMETER; column++) {
      const x = (column + (row & 1) * 0.5 + between(random, -0.14, 0.14)) * LOBULE_DIAMETER + 500;
      const y = row * rowHeight + between(random, -0.14, 0.14) * LOBULE_DIAMETER + 400;
      const long = between(random, 95, 215);
      veins.push(
        createVessel({
          kind: 'vein',
          seed: Math.floor(random() * 1e6),
          x,
          y,
          long,
          short: long * between(random, 0.55, 0.9),
          angle: random() * Math.PI,
          wall: between(random, 7, 12),
          filled: random() < 0.3 ? 0 : between(random, 0.1, 0.6),
        }),
      );
      // Distances of the two tracts below the vein, as shares of the row height.
      for (const down of [0.333, 0.667]) {
        // Not every corner of a lobule has its tract in the section plane.
        if (random() < 0.2) continue;
        tracts.push({
          seed: Math.floor(random() * 1e6),
          x: x + (down < 0.5 ? 0.5 : 0) * LOBULE_DIAMETER + between(random, -0.07, 0.07) * LOBULE_DIAMETER,
          y: y + down * rowHeight + between(random, -0.06, 0.06) * LOBULE_DIAMETER,
          radius: random() < 0.12 ? between(random, 420, 560) : between(random, 190, 340),
        });
      }
    }
  }
  return { veins, tracts };
}

/** Places the portal triad of a tract: vein, artery and bile ducts. */
function placePortalTriad(
  random: Random,
  tract: PortalTract,
): { vessels: readonly Vessel[]; ducts: readonly Gland[] } {
  const turn = random() * Math.PI * 2;
  // `share` is the distance from the centre of the tract as a share of its radius.
  const positionAt = (direction: number, share: number) => ({
    x: tract.x + Math.cos(turn + direction) * tract.radius * share,
    y: tract.y + Math.sin(turn + direction) * tract.radius * share,
  });
  const veinLong = tract.radius * between(random, 0.34, 0.5);
  const vein = createVessel({
    kind: 'vein',
    seed: Math.floor(random() * 1e6),
    ...positionAt(0, 0.34),
    long: veinLong,
    short: veinLong * between(random, 0.5, 0.8),
    angle: turn + Math.PI / 2,
    wall: between(random, 8, 13),
    filled: between(random, 0.1, 0.7),
  });
  const arteryLong = between(random, 16, 30);
  const artery = createVessel({
    kind: 'artery',
    seed: Math.floor(random() * 1e6),
    ...positionAt(2.5, 0.5),
    long: arteryLong,
    short: arteryLong * between(random, 0.65, 0.95),
    angle: random() * Math.PI,
    wall: between(random, 16, 26),
    filled: between(random, 0, 0.5),
  });
  const count = tract.radius > 250 ? 2 : 1;
  const ducts = Array.from({ length: count }, (_, k) => {
    const angle = random() * Math.PI * 2;
    return {
      seed: Math.floor(random() * 1e7),
      ...positionAt(-2.35 + k * 1.15, 0.55),
      dx: Math.cos(angle),
      dy: Math.sin(angle),
      length: between(random, 0, 26),
      lumenRadius: between(random, 11, 22),
      height: DUCT_EPITHELIUM_THICKNESS,
      bend: 0,
      opensAtSurface: false,
      cellWidth: between(random, 58, 68),
      gobletShare: 0,
    };
  });
  return { vessels: [vein, artery], ducts };
}
