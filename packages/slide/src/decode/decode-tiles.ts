import { joinScans } from '../jpeg/join-scans.ts';
import type { EncodedImage } from '../slide.ts';
import { decodeImage, type Shrink } from './decode-image.ts';
import type { Raster } from './raster.ts';

/**
 * Decode tiles of one level, all of the same size: where they are JPEG that can be joined, in one go, which costs
 * half of decoding one by one.
 *
 * @throws SlideError what decodeImage throws
 */
export async function decodeTiles(
  tiles: readonly EncodedImage[],
  shrink: Shrink,
): Promise<readonly Raster[]> {
  const [first] = tiles;
  // At full size a decoder smooths colours of half resolution across the seam between two tiles.
  const mayJoin = tiles.length > 1 && shrink > 1 && tiles.every((tile) => tile.codec === 'jpeg');
  const joined = mayJoin ? joinScans(tiles.map((tile) => tile.bytes)) : null;
  if (!first || !joined) return Promise.all(tiles.map((tile) => decodeImage(tile, shrink)));

  const { width, height } = first;
  const { rgb } = await decodeImage(
    { codec: 'jpeg', bytes: joined, width, height: height * tiles.length },
    shrink,
  );
  const bytes = rgb.length / tiles.length;
  return tiles.map((_, i) => ({
    width: width / shrink,
    height: height / shrink,
    rgb: rgb.subarray(i * bytes, (i + 1) * bytes),
  }));
}
