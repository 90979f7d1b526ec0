/**
 * Tests whether positions lie in an annotated area. The test is fast for many positions: `createAreaTest` first sorts the
 * edges of the area into horizontal strips, and each test reads only the edges of one strip.
 */
import { type AreaGeometry, boundsOf, containsPosition, polygonsOf } from '@lamina/annotations';

const stripCount = 512; // number of strips for the whole height of the area

/** Returns a test with the same results as `containsPosition(area, [x, y])`, which the test calls for an ellipse. */
export function createAreaTest(area: AreaGeometry): (x: number, y: number) => boolean {
  if (area.type === 'Polygon' && area.isEllipse === true) return (x, y) => containsPosition(area, [x, y]);
  const { minX, minY, maxX, maxY } = boundsOf(area);
  const stripHeight = Math.max((maxY - minY) / stripCount, Number.MIN_VALUE); // not 0: it is a divisor
  const stripOf = (y: number) => Math.min(stripCount - 1, Math.max(0, Math.floor((y - minY) / stripHeight)));
  /**
   * The edges of each strip as a flat list: x1, y1, x2, y2, x1, … One list holds the edges of all rings, because the parts of an area
   * do not overlap: a position is inside when a horizontal ray from the position crosses an odd number of edges.
   */
  const edgesByStrip = Array.from({ length: stripCount }, (): number[] => []);
  for (const ring of polygonsOf(area).flat()) {
    for (const [index, [x2, y2]] of ring.entries()) {
      const [x1, y1] = ring[(index + 1) % ring.length] ?? [x2, y2];
      if (y1 === y2) continue; // a ray does not cross a horizontal edge
      for (let strip = stripOf(Math.min(y1, y2)); strip <= stripOf(Math.max(y1, y2)); strip++) {
        edgesByStrip[strip]?.push(x1, y1, x2, y2);
      }
    }
  }
  return (x, y) => {
    if (x < minX || x > maxX || y < minY || y > maxY) return false;
    const edges = edgesByStrip[stripOf(y)] ?? [];
    let isInside = false;
    for (let index = 0; index < edges.length; index += 4) {
      const x1 = edges[index] ?? 0;
      const y1 = edges[index + 1] ?? 0;
      const x2 = edges[index + 2] ?? 0;
      const y2 = edges[index + 3] ?? 0;
      const spansY = y1 > y !== y2 > y; // one end is above y, the other is not
      if (spansY && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) isInside = !isInside;
    }
    return isInside;
  };
}
