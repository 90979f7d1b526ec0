import { type Slide, SlideError } from './slide.ts';

/** What a viewer must know of a slide before it can ask for tiles. */
export interface DeepZoomDescriptor {
  /** Pixels at full resolution. */
  readonly width: number;
  readonly height: number;
  /** Pixels, both ways; tiles on the right and bottom edges are smaller. */
  readonly tileSize: number;
  readonly overlap: 0;
  readonly format: 'jpg';
  /** The Deep Zoom level of full resolution; level 0 is one pixel. */
  readonly maxLevel: number;
}

/** `dziLevel` 0 is one pixel; `column` and `row` count from the top-left corner, from 0. */
export interface DeepZoomAddress {
  readonly dziLevel: number;
  readonly column: number;
  readonly row: number;
}

export function describeDeepZoom(slide: Slide): DeepZoomDescriptor {
  const { width, height, tileWidth, tileHeight } = slide.levels[0];
  const isUsable = tileWidth === tileHeight && tileWidth >= 128 && tileWidth <= 1024;
  const tileSize = isUsable ? tileWidth : 256;
  const maxLevel = Math.ceil(Math.log2(Math.max(width, height)));
  return { width, height, tileSize, overlap: 0, format: 'jpg', maxLevel };
}

/** The descriptor as the `.dzi` file that viewers read. */
export function descriptorXml(descriptor: DeepZoomDescriptor): string {
  const { width, height, tileSize, overlap, format } = descriptor;
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    '<Image xmlns="http://schemas.microsoft.com/deepzoom/2008"' +
    ` TileSize="${tileSize}" Overlap="${overlap}" Format="${format}">` +
    `<Size Width="${width}" Height="${height}"/></Image>\n`
  );
}

/**
 * The tile as the file stores it, as a complete JPEG, without decoding anything.
 *
 * @returns null when the file has no such tile and it has to be made (see making/)
 * @throws SlideError TILE_OUT_OF_RANGE, and what `Slide.readTile` throws
 */
export async function readStoredTile(
  _slide: Slide,
  _address: DeepZoomAddress,
  _signal?: AbortSignal,
): Promise<Uint8Array | null> {
  throw new SlideError('FORMAT_NOT_SUPPORTED', 'No tile is read yet');
}
