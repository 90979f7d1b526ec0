import type { Position, Ring } from '../model/geometry.ts';
import { fromGrid, fromGridRing, type GridPoint, type GridRing } from './clipping.ts';
import type { Bounds } from './ring.ts';
import type { Piece } from './window-cut.ts';

const keyOf = ({ x, y }: GridPoint): string => `${x},${y}`;

/**
 * Joins the rings of a window with the pieces outside. The edges of the rings along the window vanish; the positions on it
 * vanish, too, because the edges that crossed the window there are straight.
 *
 * @returns null when a piece outside has no counterpart inside
 */
export function joinPieces(
  rings: readonly GridRing[],
  outside: readonly Piece[],
  window: Bounds,
): readonly Ring[] | null {
  const result: Ring[] = [];
  const insideByStart = new Map<string, GridPoint[]>();
  for (const ring of rings) {
    const pieces = splitAtWindow(ring, window);
    if (pieces === 'closed') result.push(fromGridRing(ring));
    else {
      for (const piece of pieces) {
        const key = keyOf(piece[0] as GridPoint);
        if (insideByStart.has(key)) return null;
        insideByStart.set(key, piece);
      }
    }
  }
  if (insideByStart.size !== outside.length) return null;
  const outsideByStart = new Map(outside.map((piece) => [keyOf(piece.from), piece]));
  const left = new Set(outside);
  for (const start of outside) {
    if (!left.has(start)) continue;
    const parts: (readonly Position[])[] = [];
    let piece: Piece | undefined = start;
    while (piece && left.delete(piece)) {
      parts.push(piece.positions);
      const key = keyOf(piece.to);
      const inner = insideByStart.get(key);
      if (!inner) return null;
      insideByStart.delete(key);
      parts.push(inner.slice(1, -1).map(({ x, y }): Position => [fromGrid(x), fromGrid(y)]));
      piece = outsideByStart.get(keyOf(inner.at(-1) as GridPoint));
    }
    if (piece !== start) return null;
    const ring = ([] as Position[]).concat(...parts);
    ring.push(ring[0] as Position);
    result.push(ring);
  }
  return result;
}

/** Returns the parts of a ring between its edges along the window; none when all its edges are along the window. */
function splitAtWindow(ring: GridRing, window: Bounds): readonly GridPoint[][] | 'closed' {
  const isBorder = ring.map((point, index) =>
    isAlongWindow(point, ring[(index + 1) % ring.length] as GridPoint, window),
  );
  const firstBorder = isBorder.indexOf(true);
  if (firstBorder === -1) return 'closed';
  const pieces: GridPoint[][] = [];
  let piece: GridPoint[] = [];
  for (let step = 1; step <= ring.length; step++) {
    const index = (firstBorder + step) % ring.length;
    piece.push(ring[index] as GridPoint);
    if (!isBorder[index]) continue;
    if (piece.length > 1) pieces.push(piece);
    piece = [];
  }
  return pieces;
}

function isAlongWindow(a: GridPoint, b: GridPoint, { minX, minY, maxX, maxY }: Bounds): boolean {
  return (a.x === b.x && (a.x === minX || a.x === maxX)) || (a.y === b.y && (a.y === minY || a.y === maxY));
}
