/** Tile index of one level of a DICOM slide: finds the frame that contains the tile at a column and row. */
import { SlideError } from '../model/slide.ts';
import { corruptError, limitExceededError } from './errors.ts';
import type { FramePositions } from './frame-positions.ts';
import { limits } from './limits.ts';

/** One of the files that together contain an image. */
interface Part {
  /** Number of frames. */
  readonly frames: number;
  /** Null for frames in row-major order. */
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

export interface TileIndex {
  readonly columns: number;
  readonly rows: number;
  /** Returns the index of the part and of the frame in it, both from 0; null for a tile that the scanner left empty. */
  frameOf(column: number, row: number): { readonly part: number; readonly frame: number } | null;
}

/**
 * Builds the index. It contains only frames of the first optical path (a way to illuminate and filter). If the path has several
 * focal planes, the index contains the plane closest to the glass.
 *
 * Source: DICOM PS3.3, C.7.6.17.3: in TILED_FULL, frames are ordered by optical path, focal plane, row and column; in
 * TILED_SPARSE, each frame states its position.
 *
 * @throws SlideError FILE_CORRUPT, FORMAT_NOT_SUPPORTED for tiles that form no grid, LIMIT_EXCEEDED
 */
export function indexTiles(image: TiledImage): TileIndex {
  const columns = Math.ceil(image.width / image.tileWidth);
  const rows = Math.ceil(image.height / image.tileHeight);
  if (columns * rows > limits.tilesPerLevel) throw limitExceededError(`a level has ${columns * rows} tiles`);
  const hasPositions = image.parts.some(({ positions }) => positions !== null);
  const frameOf = hasPositions ? indexByPosition(image, columns, rows) : indexByOrder(image, columns, rows);
  return { columns, rows, frameOf };
}

/** Finds frames by their order in the image, for TILED_FULL. */
function indexByOrder({ parts }: TiledImage, columns: number, rows: number): TileIndex['frameOf'] {
  // The first columns × rows frames belong to the first optical path and focal plane; those of other paths and planes follow.
  const frames = parts.reduce((sum, part) => sum + part.frames, 0);
  if (frames < columns * rows || frames % (columns * rows) !== 0) {
    throw corruptError(`an image of ${columns} × ${rows} tiles has ${frames} frames`);
  }
  return (column, row) => {
    // Begins as the index of the frame within the image; the loop reduces it to the index within the part that has the frame.
    let frame = row * columns + column;
    let part = 0;
    for (; frame >= (parts[part]?.frames ?? Number.POSITIVE_INFINITY); part++)
      frame -= parts[part]?.frames ?? 0;
    return { part, frame };
  };
}

/** Finds frames by the positions that they state, for TILED_SPARSE. */
function indexByPosition(image: TiledImage, columns: number, rows: number): TileIndex['frameOf'] {
  const { tileWidth, tileHeight } = image;
  const framesByTile = new Map<number, { part: number; frame: number; zOffset: number }>();
  for (const [part, { frames, positions }] of image.parts.entries()) {
    if (!positions) throw corruptError('only some of its files state the positions of their frames');
    for (let frame = 0; frame < frames; frame++) {
      if (positions.isFirstPath[frame] === 0) continue;
      const x = (positions.columns[frame] as number) - 1;
      const y = (positions.rows[frame] as number) - 1;
      if (x % tileWidth !== 0 || y % tileHeight !== 0) {
        throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not supported: tiles that form no grid');
      }
      const column = x / tileWidth;
      const row = y / tileHeight;
      if (column < 0 || column >= columns || row < 0 || row >= rows) {
        throw corruptError(`frame ${frame + 1} is outside the image`);
      }
      const zOffset = positions.zOffsets[frame] as number;
      const tile = row * columns + column;
      const closest = framesByTile.get(tile);
      if (closest?.zOffset === zOffset)
        throw corruptError(`frame ${frame + 1} has the position of another frame`);
      if (!closest || zOffset < closest.zOffset) framesByTile.set(tile, { part, frame, zOffset });
    }
  }
  if (framesByTile.size === 0) throw corruptError('it has no frame of its first optical path');
  return (column, row) => framesByTile.get(row * columns + column) ?? null;
}
