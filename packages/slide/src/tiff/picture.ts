import type { Allocate, EncodedImage, Orientation } from '../slide.ts';
import type { TiffDirectory } from './directory.ts';
import { type ImageGeometry, readGeometry, readOrientation, type TileGrid } from './image-layout.ts';

/** The picture that a directory describes, before it is known how it is coded. */
export interface TiffPicture extends ImageGeometry {
  readonly directory: TiffDirectory;
  readonly orientation: Orientation;
}

/** @throws SlideError FILE_CORRUPT, LIMIT_EXCEEDED */
export async function readPicture(directory: TiffDirectory): Promise<TiffPicture> {
  return {
    directory,
    ...(await readGeometry(directory)),
    orientation: await readOrientation(directory),
  };
}

/** @returns null for a tile that was left empty */
export type ReadTile = (
  column: number,
  row: number,
  signal?: AbortSignal,
  allocate?: Allocate,
) => Promise<EncodedImage | null>;

/** A picture as tiles, as it is stored: not turned. Whoever reads a tile has checked that there is one. */
export interface StoredTiles {
  readonly tiles: TileGrid;
  readonly readTile: ReadTile;
}
