import { readJpegHeader } from '../jpeg/header.ts';
import { joinScans } from '../jpeg/join-scans.ts';
import type { EncodedImage } from '../slide.ts';
import { decodeImage, type Shrink } from './decode-image.ts';
import type { Raster } from './raster.ts';

/** Tiles that stand one under the other in their level, top to bottom. */
export type Column = readonly EncodedImage[];

/**
 * Decode tiles of one level, all of the same size: where they are JPEG that can be joined, many in one go, which
 * costs half of decoding one by one.
 *
 * Across the seam of two joined tiles a decoder may smooth, so only neighbours are joined, unless it does not, and at
 * full size none: those pixels are the file's own.
 *
 * @returns pixels of every tile, column by column
 * @throws SlideError what decodeImage throws
 */
export async function decodeTiles(columns: readonly Column[], shrink: Shrink): Promise<readonly Raster[]> {
  const tiles = columns.flat();
  const apart = shrink === 1 ? tiles.map((tile) => [tile]) : columns;
  const groups = keepsSeams(tiles[0], shrink) ? [tiles] : apart;
  const pieces: Raster[] = [];
  for (const group of groups) pieces.push(...(await decodeGroup(group, shrink)));
  return pieces;
}

/** Reduced by 4 and more the last step is a filter; at half resolution colours are smoothed when made larger. */
function keepsSeams(tile: EncodedImage | undefined, shrink: Shrink): boolean {
  if (tile?.codec !== 'jpeg' || shrink > 2) return false;
  const { components } = readJpegHeader(tile.bytes);
  return components.every(({ vertical }) => vertical === components[0]?.vertical);
}

function isUprightJpeg({ codec, orientation = 1 }: EncodedImage): boolean {
  return codec === 'jpeg' && orientation === 1;
}

async function decodeGroup(tiles: readonly EncodedImage[], shrink: Shrink): Promise<readonly Raster[]> {
  const [first] = tiles;
  const mayJoin = tiles.length > 1 && tiles.every(isUprightJpeg);
  const joined = mayJoin ? joinScans(tiles.map(({ bytes }) => bytes)) : null;
  if (!first || !joined) return Promise.all(tiles.map((tile) => decodeImage(tile, shrink)));

  const { width, height } = first;
  const whole: EncodedImage = { codec: 'jpeg', bytes: joined, width, height: height * tiles.length };
  const { rgb } = await decodeImage(whole, shrink);
  const bytes = rgb.length / tiles.length;
  return tiles.map((_, i) => ({
    width: width / shrink,
    height: height / shrink,
    rgb: rgb.subarray(i * bytes, (i + 1) * bytes),
  }));
}
