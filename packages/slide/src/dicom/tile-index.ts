/** Finds the frame of each tile of a level. */
import { SlideError } from '../model/slide.ts';
import { corrupt, limitExceeded } from './errors.ts';
import type { FramePositions } from './frame-positions.ts';
import { limits } from './limits.ts';

/** One file of an image. */
interface Part {
  readonly frames: number;
  readonly positions: FramePositions | null;
}

interface TiledImage {
  /** Size in pixels. */
  readonly width: number;
  readonly height: number;
  readonly tileWidth: number;
  readonly tileHeight: number;
  /** Parts of the image, in the order of their frames. */
  readonly parts: readonly Part[];
}

/** Finds the frame of a tile. */
export interface TileIndex {
  readonly columns: number;
  readonly rows: number;
  /** Returns the index of the part and its frame, from 0; null for a tile that the scanner left empty. */
  frameOf(column: number, row: number): { readonly part: number; readonly frame: number } | null;
}

/**
 * Builds the index. Of several optical paths the first is used, of several focal planes the one nearest to the glass.
 *
 * Source: DICOM PS3.3, C.7.6.17.3 (TILED_FULL varies columns first, then rows, focal planes, optical paths;
 * TILED_SPARSE states the position of each frame).
 *
 * @throws SlideError FILE_CORRUPT, FORMAT_NOT_SUPPORTED for tiles that form no grid, LIMIT_EXCEEDED
 */
export function indexTiles(image: TiledImage): TileIndex {
  const columns = Math.ceil(image.width / image.tileWidth);
  const rows = Math.ceil(image.height / image.tileHeight);
  if (columns * rows > limits.tilesPerLevel) throw limitExceeded(`a level has ${columns * rows} tiles`);
  const isSparse = image.parts.some(({ positions }) => positions !== null);
  const frameOf = isSparse ? sparse(image, columns, rows) : full(image, columns, rows);
  return { columns, rows, frameOf };
}

function full({ parts }: TiledImage, columns: number, rows: number): TileIndex['frameOf'] {
  const frames = parts.reduce((sum, part) => sum + part.frames, 0);
  if (frames < columns * rows || frames % (columns * rows) !== 0) {
    throw corrupt(`an image of ${columns} × ${rows} tiles has ${frames} frames`);
  }
  return (column, row) => {
    let frame = row * columns + column;
    let part = 0;
    for (; frame >= (parts[part]?.frames ?? Number.POSITIVE_INFINITY); part++)
      frame -= parts[part]?.frames ?? 0;
    return { part, frame };
  };
}

function sparse(image: TiledImage, columns: number, rows: number): TileIndex['frameOf'] {
  const { tileWidth, tileHeight } = image;
  const places = new Map<number, { part: number; frame: number; depth: number }>();
  for (const [part, { frames, positions }] of image.parts.entries()) {
    if (!positions) throw corrupt('only some of its files state the positions of their frames');
    for (let frame = 0; frame < frames; frame++) {
      if (positions.isFirstPath[frame] === 0) continue;
      const x = (positions.columns[frame] as number) - 1;
      const y = (positions.rows[frame] as number) - 1;
      if (x % tileWidth !== 0 || y % tileHeight !== 0) {
        throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not supported: tiles that form no grid');
      }
      const [column, row] = [x / tileWidth, y / tileHeight];
      if (column < 0 || column >= columns || row < 0 || row >= rows) {
        throw corrupt(`frame ${frame + 1} is outside the image`);
      }
      const depth = positions.depths[frame] as number;
      const nearest = places.get(row * columns + column);
      if (nearest?.depth === depth) throw corrupt(`frame ${frame + 1} has the position of another frame`);
      if (!nearest || depth < nearest.depth) places.set(row * columns + column, { part, frame, depth });
    }
  }
  if (places.size === 0) throw corrupt('it has no frame of its first optical path');
  return (column, row) => places.get(row * columns + column) ?? null;
}
