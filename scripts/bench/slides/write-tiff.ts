/** A writer of tiled TIFF files with too many tiles to hold in memory. */
import { closeSync, openSync, writeSync } from 'node:fs';
import {
  ascii,
  buildTiff,
  long,
  short,
  undefinedBytes,
} from '../../../packages/slide/src/testing/build-tiff.ts';
import { tag } from '../../../packages/slide/src/tiff/tags.ts';

export interface Level {
  /** Width and height in pixels of this level. */
  readonly width: number;
  readonly height: number;
  /** Pixels of full resolution per pixel of this level, in one direction. */
  readonly downsample: number;
  /** PhotometricInterpretation: 2 is RGB, 6 is YCbCr. */
  readonly photometric: number;
  readonly description?: string;
}

export interface LevelContent {
  /** Quantisation and Huffman tables that all tiles share (TIFF tag JPEGTables). */
  readonly tables: Uint8Array;
  /** Compressed, in row-major order. */
  readonly tiles: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/**
 * Writes a TIFF whose directories are at the beginning of the file, before the tiles.
 *
 * The directories contain the offsets of all tiles, which are known only at the end, but their length depends only on the number of tiles.
 * The function therefore leaves space of that length, writes each tile when it is created, and writes the directories last.
 */
export async function writeTiff(
  file: string,
  tileSize: number,
  levels: readonly Level[],
  contentOf: (level: Level) => LevelContent | Promise<LevelContent>,
): Promise<void> {
  const levelStates = await Promise.all(
    levels.map(async (level) => {
      const count = Math.ceil(level.width / tileSize) * Math.ceil(level.height / tileSize);
      const zeros = () => Array.from({ length: count }, () => 0);
      return { level, content: await contentOf(level), offsets: zeros(), byteCounts: zeros() };
    }),
  );
  const buildDirectories = () =>
    buildTiff({
      directories: levelStates.map(({ level, content, offsets, byteCounts }, i) => ({
        tags: {
          [tag.NewSubfileType]: long(i === 0 ? 0 : 1), // 1: reduced resolution
          [tag.ImageWidth]: long(level.width),
          [tag.ImageLength]: long(level.height),
          [tag.BitsPerSample]: short(8, 8, 8),
          [tag.Compression]: short(7), // JPEG
          [tag.PhotometricInterpretation]: short(level.photometric),
          ...(level.description && { [tag.ImageDescription]: ascii(level.description) }),
          [tag.SamplesPerPixel]: short(3),
          [tag.PlanarConfiguration]: short(1), // samples of a pixel together
          [tag.TileWidth]: short(tileSize),
          [tag.TileLength]: short(tileSize),
          [tag.TileOffsets]: long(...offsets),
          [tag.TileByteCounts]: long(...byteCounts),
          [tag.JPEGTables]: undefinedBytes(content.tables),
          530: short(2, 2), // YCbCrSubSampling, which Aperio writes also with RGB
        },
      })),
    }).bytes;

  const descriptor = openSync(file, 'w');
  try {
    let end = buildDirectories().length; // with offsets of 0
    for (const { content, offsets, byteCounts } of levelStates) {
      let index = 0;
      for await (const tile of content.tiles) {
        offsets[index] = end;
        byteCounts[index] = tile.length;
        end += writeSync(descriptor, tile, 0, tile.length, end);
        index += 1;
      }
    }
    writeSync(descriptor, buildDirectories(), 0, undefined, 0); // all bytes, at the file's start, with the real offsets
  } finally {
    closeSync(descriptor);
  }
}
