/** Places the crypts (tubular glands) of the strip of colon wall. Numbers without a name are pixels or shares, chosen by eye. */
import { type Curve, pointOnCurve } from '../geometry/curve.ts';
import { between, type Random } from '../geometry/random.ts';
import { axisPoint, type Gland, locateInGland } from '../structures/glands.ts';
import { EPITHELIUM, MUCOSA_THICKNESS } from './colon-wall.ts';

/**
 * Places crypts almost down to the base of the mucosa.
 *
 * @param clearanceAt returns the distance from the nearest edge, pixels; negative at a lymph follicle, which crypts must not touch
 */
export function placeCrypts(
  random: Random,
  surface: Curve,
  mucosaBase: Curve,
  clearanceAt: (x: number, y: number) => number,
): Gland[] {
  const glands: Gland[] = [];
  /** Returns the length up to which a crypt touches no edge, no follicle and none of the last five crypts (placed from left to right). */
  const freeLength = (gland: Gland) => {
    const radius = gland.lumenRadius + gland.height + 20;
    for (let alongAxis = 60; alongAxis <= gland.length; alongAxis += 40) {
      const { x, y } = axisPoint(gland, alongAxis);
      if (clearanceAt(x, y) < radius) return alongAxis;
      for (const other of glands.slice(-5)) {
        if (locateInGland(other, x, y, { depth: 0, along: 0, side: 1 }).depth < other.height + radius)
          return alongAxis;
      }
    }
    return gland.length;
  };
  for (let x = 980; x < 19560; x += between(random, 240, 286)) {
    const { y, downX } = pointOnCurve(surface, x);
    // A crypt points between perpendicular to the surface (factor 1) and straight down (factor 0), because the muscle below is flatter.
    const baseX = x + downX * MUCOSA_THICKNESS * 0.55 + between(random, -50, 50);
    const baseY = pointOnCurve(mucosaBase, baseX).y;
    const depth = Math.hypot(baseX - x, baseY - y);
    const dx = (baseX - x) / depth;
    const dy = (baseY - y) / depth;
    const lumenRadius = between(random, 8, 22);
    const fullLength = depth - lumenRadius - EPITHELIUM - between(random, 20, 90);
    const bend = between(random, -52, 52);
    /** Creates the part of the crypt between two distances from the surface. */
    const createPart = (start: number, end: number): Gland => ({
      seed: Math.floor(random() * 1e7),
      x: x + dx * start,
      y: y + dy * start,
      dx,
      dy,
      length: end - start,
      lumenRadius: lumenRadius * between(random, 0.85, 1.15),
      height: EPITHELIUM,
      bend: bend * Math.min(1, (end - start) / 1200),
      opensAtSurface: start < 0,
      cellWidth: between(random, 43, 50),
      gobletShare: between(random, 0.4, 0.6),
    });
    /** Returns the parts of a crypt: 68 % are complete (start at −40, above the surface), 20 % have a gap, 12 % lack the mouth. */
    const createParts = (chance: number): readonly Gland[] => {
      if (chance < 0.68) return [createPart(-40, fullLength)];
      if (chance < 0.88) {
        return [
          createPart(-40, fullLength * between(random, 0.34, 0.5)),
          createPart(fullLength * between(random, 0.66, 0.74), fullLength),
        ];
      }
      return [createPart(fullLength * between(random, 0.14, 0.22), fullLength * between(random, 0.7, 1))];
    };
    for (const part of createParts(random())) {
      const free = freeLength(part);
      if (free < 90) continue; // too short for a crypt
      // A shortened crypt ends so that its epithelium and 20 more pixels fit below the end of its axis.
      glands.push(free < part.length ? { ...part, length: Math.max(0, free - part.height - 20) } : part);
    }
  }
  return glands;
}
