import { tag } from '../tiff/tags.ts';
import { buildTiff, type DirectoryPlan, long } from './build-tiff.ts';
import { encodePicture } from './encode-picture.ts';
import { paintTissue } from './paint-tissue.ts';

/**
 * A valid slide of a few megabytes that takes minutes to look at as a whole: 65,536 × 65,536 pixels, no pyramid, and
 * every one of its quarter of a million tiles is the same.
 */
export async function buildEndlessTiff(): Promise<Uint8Array> {
  const tile = await encodePicture(paintTissue(128, 128), 128);
  const [stream] = tile.tiles ?? [];
  const tiles = 512 * 512;
  // The first thing that is written stands right after the header.
  const same = (value: number) => ({ type: 4, numbers: new Array<number>(tiles).fill(value) });
  const directory: DirectoryPlan = {
    tiles: [stream ?? null],
    tags: {
      ...tile.tags,
      [tag.ImageWidth]: long(65_536),
      [tag.ImageLength]: long(65_536),
      [tag.TileOffsets]: same(8),
      [tag.TileByteCounts]: same(stream?.length ?? 0),
    },
  };
  return buildTiff({ directories: [directory] }).bytes;
}
