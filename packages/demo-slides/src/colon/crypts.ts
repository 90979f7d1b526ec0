/** Places the crypts of the strip of colon wall. */
import { type Curve, pointOn } from '../geometry/curve.ts';
import { between, type Random } from '../geometry/random.ts';
import { axisPoint, type Gland, placeInGland } from '../structures/glands.ts';
import { EPITHELIUM, MUCOSA } from './colon-wall.ts';

/** Places crypts from the surface almost down to the muscularis mucosae. */
export function cryptsOf(
  random: Random,
  surface: Curve,
  mucosaBase: Curve,
  roomAt: (x: number, y: number) => number,
): Gland[] {
  const glands: Gland[] = [];
  /** Returns the length after which a crypt would touch another one or leave the mucosa. */
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
    // Crypts are perpendicular to the surface and to the muscle below, which bends less.
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
      gobletShare: between(random, 0.4, 0.6),
    });
    // Some crypts lie in the section plane; others leave it and reappear.
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
