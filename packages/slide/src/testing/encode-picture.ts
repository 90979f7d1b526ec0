import sharp from 'sharp';
import type { Raster } from '../decode/raster.ts';
import { marker, readJpegHeader } from '../jpeg/header.ts';
import { memorySource } from '../source/memory-source.ts';
import { tag } from '../tiff/tags.ts';
import { openTiff } from '../tiff/tiff-file.ts';
import { type DirectoryPlan, long, short, undefinedBytes } from './build-tiff.ts';

/**
 * How JPEG stores the colours. `rgb`: as Aperio writes RGB (no subsampling, components numbered 0, 1 and 2, no Adobe
 * marker). `ycbcr`: with subsampled chroma.
 */
export type PictureColour = 'rgb' | 'ycbcr' | 'grey';

/**
 * Builds a TIFF directory with an image in JPEG tiles or strips, encoded by libtiff.
 *
 * @param tileSize side of a tile in pixels; null for strips of 16 rows
 */
export async function encodePicture(
  { width, height, rgb }: Raster,
  tileSize: number | null,
  colour: PictureColour = 'rgb',
): Promise<DirectoryPlan> {
  const picture = sharp(rgb, { raw: { width, height, channels: 3 } });
  if (colour === 'grey') picture.toColourspace('b-w');
  // libvips writes RGB at quality 90 or more, and YCbCr at lower quality.
  const quality = colour === 'rgb' ? 90 : 80;
  const tiling = tileSize === null ? {} : { tile: true, tileWidth: tileSize, tileHeight: tileSize };
  const source = memorySource(await picture.tiff({ compression: 'jpeg', quality, ...tiling }).toBuffer());
  const { first: encodedDirectory } = await openTiff(source);

  const [offsetsTag, byteCountsTag] =
    tileSize === null
      ? ([tag.StripOffsets, tag.StripByteCounts] as const)
      : ([tag.TileOffsets, tag.TileByteCounts] as const);
  const count = encodedDirectory.count(offsetsTag);
  const offsets = await encodedDirectory.table(offsetsTag, count);
  const byteCounts = await encodedDirectory.table(byteCountsTag, count);
  const streams = await Promise.all(
    Array.from(offsets, (offset, i) => source.read(offset, byteCounts[i] as number)),
  );
  const samples = colour === 'grey' ? 1 : 3;
  const tables = await encodedDirectory.bytes(tag.JPEGTables);
  return {
    tags: {
      [tag.ImageWidth]: long(width),
      [tag.ImageLength]: long(height),
      [tag.BitsPerSample]: short(...Array.from({ length: samples }, () => 8)),
      [tag.Compression]: short(7), // JPEG
      [tag.PhotometricInterpretation]: short({ grey: 1, rgb: 2, ycbcr: 6 }[colour]),
      [tag.SamplesPerPixel]: short(samples),
      [tag.PlanarConfiguration]: short(1), // interleaved samples
      ...(tables && { [tag.JPEGTables]: undefinedBytes(tables) }),
      ...(tileSize === null
        ? { [tag.RowsPerStrip]: long((await encodedDirectory.number(tag.RowsPerStrip)) ?? height) }
        : { [tag.TileWidth]: short(tileSize), [tag.TileLength]: short(tileSize) }),
    },
    [tileSize === null ? 'strips' : 'tiles']: colour === 'rgb' ? streams.map(asAperioWrites) : streams,
  };
}

/**
 * Numbers the components 0, 1, 2 and removes the Adobe marker, as Aperio writes tiles. libtiff numbers RGB components
 * by the letters R, G, B and adds the marker.
 */
function asAperioWrites(stream: Uint8Array): Uint8Array {
  const { frameAt, scanAt, components } = readJpegHeader(stream);
  // Removes all segments between the start marker (2 bytes) and the frame segment, one of which is the Adobe marker.
  const jpeg = Uint8Array.from([0xff, marker.SOI, ...stream.subarray(frameAt)]);
  const removedBytes = frameAt - 2;
  // The number of a component is in the frame segment (components from byte 10, 3 bytes each) and in the scan segment
  // (components from byte 5, 2 bytes each).
  components.forEach((_, i) => {
    jpeg[frameAt - removedBytes + 10 + 3 * i] = i;
    jpeg[scanAt - removedBytes + 5 + 2 * i] = i;
  });
  return jpeg;
}
