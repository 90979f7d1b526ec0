import type { Position, Ring } from '../model/geometry.ts';
import { fromGrid, fromGridRing, type GridPoint, type GridRing } from './clipping.ts';
import type { Bounds } from './ring.ts';
import type { Piece } from './window-cut.ts';

const keyOf = ({ x, y }: GridPoint): string => `${x},${y}`;

/**
 * Last step of a local Boolean operation (`local-boolean.ts`): joins the rings that clipping produced inside a window with the
 * pieces of the original rings outside it. The result has neither the edges along the window nor the crossings: a crossing lies in
 * the middle of a straight edge of the original ring, so it is not needed as a vertex.
 *
 * @param rings rings inside the window, on the grid of `clipping.ts`
 * @param outside pieces between two crossings, as `cutRing` returns them
 * @returns null when a piece outside does not meet exactly one piece inside at each of its ends
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
  const outsideByStart = new Map(outside.map((piece) => [keyOf(piece.start), piece]));
  const unused = new Set(outside);
  for (const first of outside) {
    if (!unused.has(first)) continue;
    const paths: (readonly Position[])[] = [];
    let piece: Piece | undefined = first;
    while (piece && unused.delete(piece)) {
      paths.push(piece.positions);
      const key = keyOf(piece.end);
      const pieceInside = insideByStart.get(key);
      if (!pieceInside) return null;
      insideByStart.delete(key);
      // The first and the last point are the crossings.
      paths.push(pieceInside.slice(1, -1).map(({ x, y }): Position => [fromGrid(x), fromGrid(y)]));
      piece = outsideByStart.get(keyOf(pieceInside.at(-1) as GridPoint));
    }
    if (piece !== first) return null;
    const ring = ([] as Position[]).concat(...paths);
    ring.push(ring[0] as Position); // the closing position
    result.push(ring);
  }
  return result;
}

/** Returns the pieces of a ring between its edges along the window; 'closed' when no edge runs along the window. */
function splitAtWindow(ring: GridRing, window: Bounds): readonly GridPoint[][] | 'closed' {
  /** For each point, whether the edge that begins at it runs along the window. */
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
