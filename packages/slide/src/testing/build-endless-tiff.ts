import { tag } from '../tiff/tags.ts';
import { buildTiff, long } from './build-tiff.ts';
import { encodeSamples } from './encode-samples.ts';
import { pack } from './pack.ts';

const TILE_SIDE = 8192;
const TILES = 256;

/**
 * Builds a valid slide of some hundred kilobytes whose overview takes minutes: it has no pyramid, and one row
 * of identical tiles of the maximum size.
 */
export function buildEndlessTiff(): Uint8Array {
  const stream = pack(new Uint8Array(TILE_SIDE * TILE_SIDE), 'deflate');
  const small = { width: 1, height: 1, samples: [0], samplesPerPixel: 1, photometric: 1 };
  const { tags } = encodeSamples({ ...small, tile: { width: TILE_SIDE, height: 1 } });
  // The first stream is written right after the header.
  const same = (value: number) => long(...new Array<number>(TILES).fill(value));
  const directory = {
    tiles: [stream],
    tags: {
      ...tags,
      [tag.ImageWidth]: long(TILES * TILE_SIDE),
      [tag.ImageLength]: long(TILE_SIDE),
      [tag.TileLength]: long(TILE_SIDE),
      [tag.TileOffsets]: same(8),
      [tag.TileByteCounts]: same(stream.length),
    },
  };
  return buildTiff({ directories: [directory] }).bytes;
}
