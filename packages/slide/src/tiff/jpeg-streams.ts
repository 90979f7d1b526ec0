import { completeJpeg, type JpegColour, jpegPrefix, streamPlace } from '../jpeg/complete-jpeg.ts';
import type { JpegHeader } from '../jpeg/header.ts';
import { joinScans } from '../jpeg/join-scans.ts';
import { type EncodedImage, SlideError } from '../slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { readOnce } from '../source/read-once.ts';
import type { TiffDirectory } from './directory.ts';
import { type ImageGeometry, nameOfCompression, type SampleLayout, type TileGrid } from './image-layout.ts';
import { limits } from './limits.ts';
import { tag } from './tags.ts';

/** TIFF Technical Note 2: the number of JPEG as it is written since 1995. */
const JPEG_COMPRESSION = 7;
/** Source: TIFF 6.0, PhotometricInterpretation. */
const colours: Readonly<Record<number, JpegColour>> = { 1: 'grey', 2: 'rgb', 6: 'ycbcr' };

/**
 * What the samples of a picture mean, if it is one that is read: JPEG of 8 bits, grey, RGB or YCbCr.
 *
 * @throws SlideError FORMAT_NOT_SUPPORTED naming what is different
 */
export function jpegColourOf(samples: SampleLayout): JpegColour {
  const colour = colours[samples.photometric ?? -1];
  const refusal = refusalOf(samples, colour);
  if (refusal === null && colour) return colour;
  throw new SlideError('FORMAT_NOT_SUPPORTED', `Not read: ${refusal}`);
}

function refusalOf(samples: SampleLayout, colour: JpegColour | undefined): string | null {
  const { compression, photometric, bitsPerSample, samplesPerPixel } = samples;
  if (compression !== JPEG_COMPRESSION) return nameOfCompression(compression);
  if (!colour) return `photometric interpretation ${photometric ?? 'missing'}`;
  if (samplesPerPixel !== componentsOf(colour)) return `${samplesPerPixel} samples a pixel`;
  if (bitsPerSample.some((bits) => bits !== 8)) return `${bitsPerSample.join(', ')} bits a sample`;
  if (samples.sampleFormat !== 1) return `sample format ${samples.sampleFormat}`;
  if (samples.planarConfiguration !== 1 && samplesPerPixel > 1) return 'a plane for every sample';
  if (samples.depth > 1) return `${samples.depth} planes in depth`;
  // TIFF 6.0 knows 1…8; some writers leave 0, and mean nothing by it.
  if (samples.orientation > 1 && samples.orientation <= 8) return `orientation ${samples.orientation}`;
  return null;
}

const componentsOf = (colour: JpegColour): number => (colour === 'grey' ? 1 : 3);

/** @returns null for a tile that was left empty */
export type ReadTile = (column: number, row: number, signal?: AbortSignal) => Promise<EncodedImage | null>;

/** Reads tiles of one level; its tables are read with the first of them. */
export function jpegTiles(
  source: ByteSource,
  directory: TiffDirectory,
  tiles: TileGrid,
  colour: JpegColour,
): ReadTile {
  const count = tiles.columns * tiles.rows;
  const readStream = jpegStreams(source, directory, colour, tag.TileOffsets, tag.TileByteCounts, count);
  return async (column, row, signal) => {
    const isInside = column >= 0 && column < tiles.columns && row >= 0 && row < tiles.rows;
    if (!isInside || !Number.isInteger(column) || !Number.isInteger(row)) {
      throw new SlideError('TILE_OUT_OF_RANGE', `There is no tile ${column}, ${row}`);
    }
    const stream = await readStream(row * tiles.columns + column, signal);
    if (!stream) return null;
    checkFrame(stream.header, tiles.width, tiles.height, colour);
    return { codec: 'jpeg', bytes: stream.jpeg, width: tiles.width, height: tiles.height };
  };
}

/**
 * A whole picture that is cut into strips, put together without decoding it.
 *
 * @throws SlideError FORMAT_NOT_SUPPORTED when its strips cannot be joined
 */
export async function readJpegStrips(
  source: ByteSource,
  directory: TiffDirectory,
  { width, height }: ImageGeometry,
  colour: JpegColour,
): Promise<EncodedImage> {
  const rowsPerStrip = Math.min((await directory.number(tag.RowsPerStrip)) ?? height, height);
  if (rowsPerStrip === 0) throw new SlideError('FILE_CORRUPT', 'A strip has no rows');
  const count = Math.ceil(height / rowsPerStrip);
  if (count > limits.stripsPerPicture)
    throw new SlideError('LIMIT_EXCEEDED', `A picture has ${count} strips`);
  const readStream = jpegStreams(source, directory, colour, tag.StripOffsets, tag.StripByteCounts, count);
  const strips: Uint8Array[] = [];
  for (let i = 0; i < count; i++) {
    const strip = await readStream(i);
    if (!strip) throw new SlideError('FILE_CORRUPT', `Strip ${i} is empty`);
    checkFrame(strip.header, width, Math.min(rowsPerStrip, height - i * rowsPerStrip), colour);
    strips.push(strip.jpeg);
  }
  const bytes = joinScans(strips);
  if (!bytes) throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not read: strips that do not make one JPEG');
  return { codec: 'jpeg', bytes, width, height };
}

type ReadStream = (
  index: number,
  signal?: AbortSignal,
) => Promise<{ jpeg: Uint8Array; header: JpegHeader } | null>;

/** Complete JPEGs out of the abbreviated streams that two tables of a directory list. */
function jpegStreams(
  source: ByteSource,
  directory: TiffDirectory,
  colour: JpegColour,
  offsetsTag: typeof tag.TileOffsets | typeof tag.StripOffsets,
  byteCountsTag: typeof tag.TileByteCounts | typeof tag.StripByteCounts,
  count: number,
): ReadStream {
  const readTables = readOnce(async () => ({
    offsets: await directory.table(offsetsTag, count),
    byteCounts: await directory.table(byteCountsTag, count),
    prefix: jpegPrefix(await directory.bytes(tag.JPEGTables), colour),
  }));

  return async (index, signal) => {
    const { offsets, byteCounts, prefix } = await readTables();
    const offset = offsets[index] ?? 0;
    const byteCount = byteCounts[index] ?? 0;
    if (byteCount === 0) return null;
    if (byteCount > limits.tileBytes) {
      throw new SlideError('LIMIT_EXCEEDED', `A tile has ${byteCount} bytes`);
    }
    if (offset < 8) throw new SlideError('FILE_CORRUPT', 'A tile lies in the header of the file');
    if (offset + byteCount > source.size) {
      throw new SlideError('FILE_TRUNCATED', `The file ends at ${source.size}, before the end of a tile`);
    }
    const at = streamPlace(prefix);
    const buffer = new Uint8Array(at + byteCount);
    await source.readInto(buffer, at, offset, byteCount, signal);
    return completeJpeg(buffer, prefix);
  };
}

/** What goes out, or into a decoder, is what the directory promises, whatever the stream says of itself. */
function checkFrame(header: JpegHeader, width: number, height: number, colour: JpegColour): void {
  if (header.width !== width || header.height !== height) {
    throw new SlideError(
      'FILE_CORRUPT',
      `A tile is ${header.width} × ${header.height} pixels, not ${width} × ${height}`,
    );
  }
  const isBaselineOrProgressive = header.frameMarker <= 0xc2;
  if (!isBaselineOrProgressive || header.precision !== 8) {
    throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not read: lossless, arithmetic or 12-bit JPEG');
  }
  if (header.components.length !== componentsOf(colour)) {
    throw new SlideError('FILE_CORRUPT', `A tile has ${header.components.length} components`);
  }
}
