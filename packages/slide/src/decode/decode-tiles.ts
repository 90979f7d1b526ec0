import { readJpegHeader } from '../jpeg/header.ts';
import { joinScans } from '../jpeg/join-scans.ts';
import type { EncodedImage } from '../model/slide.ts';
import { decodeImage, type Shrink } from './decode-image.ts';
import type { Raster } from './raster.ts';

/** Vertically adjacent tiles of a level, top to bottom. */
export type TileColumn = readonly EncodedImage[];

/**
 * Decodes tiles of one level, all of the same size. JPEG tiles with equal tables are joined into one tall JPEG and
 * decoded together, which takes half the time of decoding them one by one.
 *
 * A decoder may smooth across the seam between two joined tiles. Therefore:
 *
 * - When the decoder does not smooth, any tiles may be joined.
 * - When it smooths a reduced image, only vertically adjacent tiles are joined, whose pixels also meet in the slide.
 * - When it smooths at full size, no tiles are joined, because the result must have exactly the pixels of the file.
 *
 * @returns the pixels of every tile, column by column, in the order of the tiles
 * @throws SlideError errors of decodeImage
 */
export async function decodeTiles(
  columns: readonly TileColumn[],
  shrink: Shrink,
): Promise<readonly Raster[]> {
  const tiles = columns.flat();
  const groupsIfSmoothed = shrink === 1 ? tiles.map((tile) => [tile]) : columns;
  // It is enough to test the first tile, because `joinScans` joins only JPEGs whose headers are equal.
  const groups = decodesWithoutSmoothing(tiles[0], shrink) ? [tiles] : groupsIfSmoothed;
  const rasters: Raster[] = [];
  for (const group of groups) rasters.push(...(await decodeGroup(group, shrink)));
  return rasters;
}

/**
 * Whether the tile is a JPEG that is decoded without vertical smoothing. There are two cases with smoothing: sharp
 * reduces by 4 or 8 with a cubic filter, and the decoder interpolates chroma whose vertical sampling factor is smaller.
 */
function decodesWithoutSmoothing(tile: EncodedImage | undefined, shrink: Shrink): boolean {
  if (tile?.codec !== 'jpeg' || shrink > 2) return false;
  const { components } = readJpegHeader(tile.bytes);
  return components.every(({ verticalSampling }) => verticalSampling === components[0]?.verticalSampling);
}

function isUprightJpeg({ codec, orientation = 1 }: EncodedImage): boolean {
  return codec === 'jpeg' && orientation === 1; // Orientation 1 is upright.
}

/** Decodes tiles as one joined JPEG if they can be joined, or else one by one. */
async function decodeGroup(tiles: readonly EncodedImage[], shrink: Shrink): Promise<readonly Raster[]> {
  const [first] = tiles;
  const mayJoin = tiles.length > 1 && tiles.every(isUprightJpeg);
  const joined = mayJoin ? joinScans(tiles.map(({ bytes }) => bytes)) : null;
  if (!first || !joined) return Promise.all(tiles.map((tile) => decodeImage(tile, shrink)));

  const { width, height } = first;
  const tallJpeg: EncodedImage = { codec: 'jpeg', bytes: joined, width, height: height * tiles.length };
  const { rgb } = await decodeImage(tallJpeg, shrink);
  const bytesPerTile = rgb.length / tiles.length;
  return tiles.map((_, i) => ({
    width: width / shrink,
    height: height / shrink,
    rgb: rgb.subarray(i * bytesPerTile, (i + 1) * bytesPerTile),
  }));
}
