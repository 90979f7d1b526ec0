import { tag } from '../tiff/tags.ts';
import { buildTiff, long } from './build-tiff.ts';
import { encodeSamples } from './encode-samples.ts';
import { pack } from './pack.ts';

const TILE_SIDE = 8192;
const TILES = 256;

/**
 * Builds a valid slide of some hundred kilobytes whose thumbnail takes minutes to render: it has no pyramid, but one
 * row of 256 tiles of the maximum size. All tiles refer to the same compressed bytes.
 */
export function buildEndlessTiff(): Uint8Array {
  const stream = pack(new Uint8Array(TILE_SIDE * TILE_SIDE), 'deflate');
  const onePixel = { width: 1, height: 1, samples: [0], samplesPerPixel: 1, photometric: 1 }; // 1: grey
  // One pixel is enough, because only the tags are used. The tags with sizes and positions are replaced below.
  const { tags } = encodeSamples({ ...onePixel, tile: { width: TILE_SIDE, height: 1 } });
  const forAllTiles = (value: number) => long(...new Array<number>(TILES).fill(value));
  const directory = {
    tiles: [stream],
    tags: {
      ...tags,
      [tag.ImageWidth]: long(TILES * TILE_SIDE),
      [tag.ImageLength]: long(TILE_SIDE),
      [tag.TileLength]: long(TILE_SIDE),
      // buildTiff writes the stream right after the header, which has 8 bytes.
      [tag.TileOffsets]: forAllTiles(8),
      [tag.TileByteCounts]: forAllTiles(stream.length),
    },
  };
  return buildTiff({ directories: [directory] }).bytes;
}
