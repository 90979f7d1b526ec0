import { SlideError } from '../slide.ts';
import { corrupt, tooMuch } from './damage.ts';
import type { FramePositions } from './frame-positions.ts';
import { limits } from './limits.ts';

/** A part of a picture: one file, or the only one. */
interface Part {
  readonly frames: number;
  readonly positions: FramePositions | null;
}

interface Picture {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly tileWidth: number;
  readonly tileHeight: number;
  /** In the order of their frames. */
  readonly parts: readonly Part[];
}

/** Which frame shows which tile. */
export interface TileIndex {
  readonly columns: number;
  readonly rows: number;
  /** @returns the part and its frame, from 0; null for a tile that the scanner left empty */
  frameOf(column: number, row: number): { readonly part: number; readonly frame: number } | null;
}

/**
 * Of several optical paths the first counts, of several focal planes the one nearest to the glass.
 *
 * Source: DICOM PS3.3, C.7.6.17.3 (TILED_FULL varies columns first, then rows, focal planes, optical paths;
 * TILED_SPARSE says of each frame where it is).
 *
 * @throws SlideError FILE_CORRUPT, FORMAT_NOT_SUPPORTED for tiles that stand in no grid, LIMIT_EXCEEDED
 */
export function indexTiles(picture: Picture): TileIndex {
  const columns = Math.ceil(picture.width / picture.tileWidth);
  const rows = Math.ceil(picture.height / picture.tileHeight);
  if (columns * rows > limits.tilesPerLevel) throw tooMuch(`a level has ${columns * rows} tiles`);
  const isSparse = picture.parts.some(({ positions }) => positions !== null);
  const frameOf = isSparse ? sparse(picture, columns, rows) : full(picture, columns, rows);
  return { columns, rows, frameOf };
}

function full({ parts }: Picture, columns: number, rows: number): TileIndex['frameOf'] {
  const frames = parts.reduce((sum, part) => sum + part.frames, 0);
  if (frames < columns * rows || frames % (columns * rows) !== 0) {
    throw corrupt(`a picture of ${columns} × ${rows} tiles has ${frames} frames`);
  }
  return (column, row) => {
    let frame = row * columns + column;
    let part = 0;
    for (; frame >= (parts[part]?.frames ?? Number.POSITIVE_INFINITY); part++)
      frame -= parts[part]?.frames ?? 0;
    return { part, frame };
  };
}

function sparse(picture: Picture, columns: number, rows: number): TileIndex['frameOf'] {
  const { tileWidth, tileHeight } = picture;
  const places = new Map<number, { part: number; frame: number; depth: number }>();
  for (const [part, { frames, positions }] of picture.parts.entries()) {
    if (!positions) throw corrupt('some of its files say where their frames are, and some do not');
    for (let frame = 0; frame < frames; frame++) {
      if (positions.isFirstPath[frame] === 0) continue;
      const x = (positions.columns[frame] as number) - 1;
      const y = (positions.rows[frame] as number) - 1;
      if (x % tileWidth !== 0 || y % tileHeight !== 0) {
        throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not read: tiles that do not stand in a grid');
      }
      const [column, row] = [x / tileWidth, y / tileHeight];
      if (column < 0 || column >= columns || row < 0 || row >= rows) {
        throw corrupt(`frame ${frame + 1} lies outside the picture`);
      }
      const depth = positions.depths[frame] as number;
      const known = places.get(row * columns + column);
      if (known?.depth === depth) throw corrupt(`frame ${frame + 1} lies where another is`);
      if (!known || depth < known.depth) places.set(row * columns + column, { part, frame, depth });
    }
  }
  if (places.size === 0) throw corrupt('no frame belongs to its first optical path');
  return (column, row) => places.get(row * columns + column) ?? null;
}
