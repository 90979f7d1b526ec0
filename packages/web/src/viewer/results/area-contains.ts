/** Tests whether positions lie in an area, fast for many positions: each test reads only the edges of one horizontal strip. */
import { type AreaGeometry, boundsOf, containsPosition, polygonsOf } from '@lamina/annotations';

/** Number of horizontal strips into which the area is divided. */
const strips = 512;

/** Returns a function that tells whether a position lies in the area, as `containsPosition` does. */
export function areaTestOf(area: AreaGeometry): (x: number, y: number) => boolean {
  if (area.type === 'Polygon' && area.isEllipse === true) return (x, y) => containsPosition(area, [x, y]);
  const { minX, minY, maxX, maxY } = boundsOf(area);
  const height = Math.max((maxY - minY) / strips, Number.MIN_VALUE);
  const stripOf = (y: number) => Math.min(strips - 1, Math.max(0, Math.floor((y - minY) / height)));
  /** Edges by strip: x and y of both ends in turns. The parts of an area do not overlap: crossings of all rings count. */
  const edges = Array.from({ length: strips }, (): number[] => []);
  for (const ring of polygonsOf(area).flat()) {
    for (const [place, [x2, y2]] of ring.entries()) {
      const [x1, y1] = ring[(place + 1) % ring.length] ?? [x2, y2];
      if (y1 === y2) continue;
      for (let strip = stripOf(Math.min(y1, y2)); strip <= stripOf(Math.max(y1, y2)); strip++) {
        edges[strip]?.push(x1, y1, x2, y2);
      }
    }
  }
  return (x, y) => {
    if (x < minX || x > maxX || y < minY || y > maxY) return false;
    const near = edges[stripOf(y)] ?? [];
    let isInside = false;
    for (let at = 0; at < near.length; at += 4) {
      const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = [near[at], near[at + 1], near[at + 2], near[at + 3]];
      if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) isInside = !isInside;
    }
    return isInside;
  };
}
