import { readJpegHeader } from '../jpeg/header.ts';
import { joinScans } from '../jpeg/join-scans.ts';
import type { EncodedImage } from '../model/slide.ts';
import { decodeImage, type Shrink } from './decode-image.ts';
import type { Raster } from './raster.ts';

/** Vertically adjacent tiles of a level, top to bottom. */
export type Column = readonly EncodedImage[];

/**
 * Decodes tiles of one level, all of the same size. JPEGs that can be joined are decoded together, which
 * takes half the time.
 *
 * A decoder may smooth across the seam of joined tiles. Therefore only neighbours are joined, unless the
 * decoder does not smooth. At full size no tiles are joined, because those pixels are the file's own.
 *
 * @returns pixels of every tile, column by column
 * @throws SlideError errors of decodeImage
 */
export async function decodeTiles(columns: readonly Column[], shrink: Shrink): Promise<readonly Raster[]> {
  const tiles = columns.flat();
  const separateGroups = shrink === 1 ? tiles.map((tile) => [tile]) : columns;
  const groups = keepsSeams(tiles[0], shrink) ? [tiles] : separateGroups;
  const pieces: Raster[] = [];
  for (const group of groups) pieces.push(...(await decodeGroup(group, shrink)));
  return pieces;
}

/**
 * Whether decoding does not smooth across seams. A reduction by 4 or 8 ends with a filter, and subsampled
 * chroma is smoothed when it is enlarged.
 */
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
