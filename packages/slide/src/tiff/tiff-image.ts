/** The types of TIFF images and their tiles. */
import type { BufferAllocator, EncodedImage, Orientation } from '../model/slide.ts';
import type { TiffDirectory } from './directory.ts';
import { type ImageGeometry, readGeometry, readOrientation, type TileGrid } from './image-layout.ts';

/** The geometry of the image of a directory, before its encoding is read. */
export interface TiffImage extends ImageGeometry {
  readonly directory: TiffDirectory;
  readonly orientation: Orientation;
}

/** Reads size, tile grid and orientation. @throws SlideError FILE_CORRUPT, LIMIT_EXCEEDED */
export async function readTiffImage(directory: TiffDirectory): Promise<TiffImage> {
  return {
    directory,
    ...(await readGeometry(directory)),
    orientation: await readOrientation(directory),
  };
}

/** Reads one tile. @param allocate creates the buffer of a JPEG tile; some readers ignore it @returns null for an empty tile */
export type ReadTile = (
  column: number,
  row: number,
  signal?: AbortSignal,
  allocate?: BufferAllocator,
) => Promise<EncodedImage | null>;

/** The tiles of an image in the file, before the orientation is applied. The caller checks that a tile exists. */
export interface StoredTiles {
  readonly tiles: TileGrid;
  readonly readTile: ReadTile;
}
