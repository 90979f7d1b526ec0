/**
 * Cross-sections of blood vessels: arteries with a muscular wall and veins with a thin wall, with red blood cells.
 * Numbers without a name are chosen by eye: amounts of stain (unit: see `stain.ts`), sizes in pixels, and weights of
 * textures. The numbers added to `seed` keep random numbers independent.
 */
import { noiseAt, pick, randomAt, smoothStep } from '../geometry/random.ts';
import type { StainTile } from '../stain/stain.ts';
import { applyStamp, type Stamp } from '../stain/stamp.ts';
import { nearestValue, sample } from '../stain/texture.ts';
import type { Palette } from './palette.ts';

interface VesselShape {
  readonly kind: 'artery' | 'vein';
  readonly seed: number;
  /** Centre, pixels. */
  readonly x: number;
  readonly y: number;
  /** Semi-axes of the lumen (the inner space), pixels. */
  readonly long: number;
  readonly short: number;
  /** Direction of the long axis, radians. */
  readonly angle: number;
  /** Thickness of the wall, pixels. */
  readonly wall: number;
  /** Share of the lumen filled with red cells, 0…1. */
  readonly filled: number;
}

export interface Vessel extends VesselShape {
  /** Radius of the circle around the centre that the painted vessel does not exceed, pixels. */
  readonly reach: number;
  /** Radius of the lumen relative to its ellipse, at equally spaced angles. */
  readonly outline: Float32Array;
}

/** Number of angles at which the outline of a vessel is stored. */
const DIRECTIONS = 128;
/** Pixels over which a wall blends into the surrounding tissue (the adventitia is the outer layer of a vessel wall). */
const ADVENTITIA = 16;
/** Mean distance between red blood cells of a group, pixels. */
const RED_CELL_SPACING = 22;

/**
 * Creates a vessel with an irregular outline: noise sampled on circles, so that the outline closes without a step. The larger
 * circle gives more waves. The centre of the circles, (9, 9), is arbitrary.
 */
export function createVessel(shape: VesselShape): Vessel {
  /** Relative deviation of the outline from the ellipse. */
  const deviation = shape.kind === 'vein' ? 0.2 : 0.08;
  const outline = Float32Array.from({ length: DIRECTIONS }, (_, k) => {
    const cos = Math.cos((k / DIRECTIONS) * Math.PI * 2);
    const sin = Math.sin((k / DIRECTIONS) * Math.PI * 2);
    const folds = noiseAt(shape.seed + 1, cos * 4 + 9, sin * 4 + 9) * 0.4;
    return 1 + deviation * (noiseAt(shape.seed, cos * 1.6 + 9, sin * 1.6 + 9) + folds);
  });
  const widest = Math.max(shape.long, shape.short) * (1 + deviation * 1.4); // 1 of noise and 0.4 of folds
  return { ...shape, outline, reach: widest + shape.wall + ADVENTITIA };
}

interface VesselPosition {
  /** Distance from the inner surface, pixels; negative in the lumen. */
  depth: number;
  /** Angle from the long axis, radians, in coordinates in which the lumen is a circle. */
  direction: number;
}

/** Converts a position on the slide to one in a vessel; writes it into `out` and returns `out`. */
function locateInVessel(vessel: Vessel, x: number, y: number, out: VesselPosition): VesselPosition {
  const cos = Math.cos(vessel.angle);
  const sin = Math.sin(vessel.angle);
  const dx = x - vessel.x;
  const dy = y - vessel.y;
  // Coordinates in which the ellipse of the lumen is a circle of radius 1.
  const circleX = (dx * cos + dy * sin) / vessel.long;
  const circleY = (dy * cos - dx * sin) / vessel.short;
  const direction = Math.atan2(circleY, circleX);
  const indexInOutline = (direction / (Math.PI * 2) + 1) * DIRECTIONS; // + 1: not negative, for the operator % below
  const k = Math.floor(indexInOutline);
  const here = vessel.outline[k % DIRECTIONS] as number;
  const next = vessel.outline[(k + 1) % DIRECTIONS] as number;
  const radius = Math.sqrt(circleX * circleX + circleY * circleY);
  // Pixels per unit of radius in this direction, so that the wall has the same thickness everywhere.
  const unit = radius < 1e-6 ? vessel.short : Math.sqrt(dx * dx + dy * dy) / radius;
  out.depth = (radius - here - (next - here) * (indexInOutline - k)) * unit;
  out.direction = direction;
  return out;
}

/** Returns whether a position lies in a vessel enlarged by `margin` pixels; a negative margin makes it smaller. */
export function isInVessel(vessel: Vessel, x: number, y: number, margin: number): boolean {
  if (Math.hypot(x - vessel.x, y - vessel.y) > vessel.reach + margin) return false;
  return locateInVessel(vessel, x, y, { depth: 0, direction: 0 }).depth < vessel.wall + margin;
}

/** Paints a vessel over the tissue of a tile: wall, red blood cells and nuclei. */
export function paintVessel(tile: StainTile, palette: Palette, vessel: Vessel): void {
  paintWall(tile, palette, vessel);
  paintRedCells(tile, palette, vessel);
  paintNuclei(tile, palette, vessel);
}

function paintWall(tile: StainTile, { grain, clouds, muscle, collagen }: Palette, vessel: Vessel): void {
  const { haematoxylin, eosin, orange, size } = tile;
  const { reach, wall } = vessel;
  const left = Math.max(0, Math.floor(vessel.x - reach - tile.x));
  const right = Math.min(size - 1, Math.ceil(vessel.x + reach - tile.x));
  const top = Math.max(0, Math.floor(vessel.y - reach - tile.y));
  const bottom = Math.min(size - 1, Math.ceil(vessel.y + reach - tile.y));
  const position: VesselPosition = { depth: 0, direction: 0 };
  const meanRadius = (vessel.long + vessel.short) / 2;
  const isArtery = vessel.kind === 'artery';
  /** Number of waves of the inner surface of an artery. */
  const scallops = Math.round(meanRadius / 7);
  for (let row = top; row <= bottom; row++) {
    for (let column = left; column <= right; column++) {
      const x = tile.x + column;
      const y = tile.y + row;
      const { depth, direction } = locateInVessel(vessel, x, y, position);
      if (depth > wall + ADVENTITIA) continue;
      const outerShift = 5 * nearestValue(clouds, x, y); // makes the outer border uneven
      const pixel = row * size + column;
      const granules = nearestValue(grain, x, y);
      const along = direction * (meanRadius + depth); // pixels along the wall
      const surface = isArtery ? depth - 2.2 * Math.sin(direction * scallops) : depth; // depth below the wavy surface
      // Amounts of haematoxylin and eosin.
      let h = 0;
      let e = 0;
      // The seed shifts the textures, so that each vessel shows another part of them.
      if (surface < 0) {
        // Blood plasma stains faintly.
        e = vessel.filled > 0.05 ? 0.09 + 0.02 * granules : 0;
      } else if (isArtery) {
        const strand = sample(muscle, along * 1.1 + vessel.seed, depth * 1.1 + vessel.seed * 3);
        e = 0.34 + 0.36 * strand + 0.05 * granules;
        h = 0.07 + 0.03 * granules;
        // The internal elastic lamina: a bright, wavy line.
        const lamina = Math.exp(-(((surface - 6) / 2) ** 2));
        e += 0.28 * lamina;
        h -= 0.05 * lamina;
      } else {
        const strand = sample(collagen, along + vessel.seed, depth * 1.6 + vessel.seed * 3);
        e = 0.34 + 0.36 * strand + 0.05 * granules;
        h = 0.04;
      }
      const cover = smoothStep(wall + ADVENTITIA, wall + 2, depth + outerShift);
      const fadeIn = surface < 0 ? 1 : smoothStep(-1, 1.2, surface); // blurs the inner border of the wall
      haematoxylin[pixel] = (haematoxylin[pixel] as number) * (1 - cover) + h * cover * fadeIn;
      eosin[pixel] = (eosin[pixel] as number) * (1 - cover) + e * cover * fadeIn;
      orange[pixel] = (orange[pixel] as number) * (1 - cover);
    }
  }
}

function paintRedCells(tile: StainTile, { cells }: Palette, vessel: Vessel): void {
  if (vessel.filled <= 0) return;
  const { seed, reach } = vessel;
  const position: VesselPosition = { depth: 0, direction: 0 };
  // A red blood cell reaches at most 20 pixels into a tile from outside.
  const left = Math.floor(Math.max(vessel.x - reach, tile.x - 20) / RED_CELL_SPACING);
  const right = Math.floor(Math.min(vessel.x + reach, tile.x + tile.size + 20) / RED_CELL_SPACING);
  const top = Math.floor(Math.max(vessel.y - reach, tile.y - 20) / RED_CELL_SPACING);
  const bottom = Math.floor(Math.min(vessel.y + reach, tile.y + tile.size + 20) / RED_CELL_SPACING);
  for (let row = top; row <= bottom; row++) {
    for (let column = left; column <= right; column++) {
      const x = (column + 0.5 + (randomAt(seed, column, row) - 0.5) * 0.8) * RED_CELL_SPACING;
      const y = (row + 0.5 + (randomAt(seed + 1, column, row) - 0.5) * 0.8) * RED_CELL_SPACING;
      // Red blood cells form groups, with only plasma between them. Their centres are at least 9 pixels from the wall.
      const groupNoise = noiseAt(seed + 2, x / 150, y / 150) * 0.5 + 0.5;
      if (groupNoise > vessel.filled || locateInVessel(vessel, x, y, position).depth > -9) continue;
      applyStamp(tile, pick(cells.redCells, randomAt(seed + 3, column, row)), {
        x,
        y,
        angle: randomAt(seed + 4, column, row) * 6.3, // a full turn
        scale: 0.92 + 0.16 * randomAt(seed + 5, column, row),
        density: 0.8 + 0.35 * randomAt(seed + 6, column, row),
        opacity: 0.94,
      });
    }
  }
}

interface NucleusRing {
  /** Depth in the wall, and distance between the positions for nuclei; pixels. */
  readonly depth: number;
  readonly spacing: number;
  /** Share of the positions that get a nucleus, 0…1. */
  readonly share: number;
  /** Number of the first stream of random numbers of this ring. */
  readonly stream: number;
  readonly stamps: readonly Stamp[];
}

function paintNuclei(tile: StainTile, { cells }: Palette, vessel: Vessel): void {
  const { seed, long, short, wall } = vessel;
  const meanRadius = (long + short) / 2;
  const isSmall = meanRadius < 40; // 10 µm
  const cos = Math.cos(vessel.angle);
  const sin = Math.sin(vessel.angle);
  const position: VesselPosition = { depth: 0, direction: 0 };

  /** Paints a ring of nuclei in the wall. */
  const paintRing = ({ depth, spacing, share, stream, stamps }: NucleusRing) => {
    const count = Math.max(isSmall ? 3 : 5, Math.round((2 * Math.PI * (meanRadius + depth)) / spacing));
    for (let k = 0; k < count; k++) {
      const chance = randomAt(seed, k, stream);
      if (chance > share) continue;
      const direction = ((k + chance * 0.9) / count) * Math.PI * 2;
      const circleX = Math.cos(direction);
      const circleY = Math.sin(direction);
      const stepX = circleX * long * cos - circleY * short * sin;
      const stepY = circleX * long * sin + circleY * short * cos;
      // Finds the position at `depth` in this direction by three Newton steps; `relativeDistance` is 1 on the lumen's ellipse.
      let relativeDistance = 1;
      for (let step = 0; step < 3; step++) {
        const currentDepth = locateInVessel(
          vessel,
          vessel.x + stepX * relativeDistance,
          vessel.y + stepY * relativeDistance,
          position,
        ).depth;
        relativeDistance += (depth - currentDepth) / Math.hypot(stepX, stepY);
      }
      applyStamp(tile, pick(stamps, randomAt(seed, k, stream + 1)), {
        x: vessel.x + stepX * relativeDistance,
        y: vessel.y + stepY * relativeDistance,
        // Along the wall: perpendicular to the normal of the ellipse.
        angle: Math.atan2(circleY / short, circleX / long) + vessel.angle + Math.PI / 2,
        scale: (isSmall ? 0.62 : 0.74) + 0.25 * randomAt(seed, k, stream + 2),
        density: 0.75 + 0.4 * randomAt(seed, k, stream + 3),
        opacity: randomAt(seed, k, stream + 4) < 0.3 ? 0.6 : 0.92,
      });
    }
  };
  paintRing({ depth: 1.5, spacing: isSmall ? 60 : 74, share: 0.75, stream: 1, stamps: cells.endothelium });
  if (vessel.kind === 'artery') {
    // A ring every 24 pixels (6 µm) of the muscle; each ring uses five streams of random numbers.
    for (let depth = 18, stream = 11; depth < wall - 4; depth += 24, stream += 5) {
      paintRing({ depth, spacing: 92, share: 0.55, stream, stamps: cells.muscleLong });
    }
  } else if (!isSmall) {
    paintRing({ depth: wall * 0.7, spacing: 150, share: 0.7, stream: 11, stamps: cells.fibroblasts });
  }
}
