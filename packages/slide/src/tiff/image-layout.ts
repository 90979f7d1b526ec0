import { SlideError } from '../slide.ts';
import type { TiffDirectory } from './directory.ts';
import { limits } from './limits.ts';
import { nameOfTag, type Tag, tag } from './tags.ts';

/** How a picture is cut into tiles; those of the last column and row are stored as large as the others. */
export interface TileGrid {
  /** Pixels of one tile. */
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  readonly rows: number;
}

/** How large the picture of a directory is, and how it is cut. */
export interface ImageGeometry {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Null when the picture is cut into strips, or not at all. */
  readonly tiles: TileGrid | null;
}

/** How the samples of a picture are written. Source of the numbers: TIFF 6.0, sections 3, 8, 21 and 22. */
export interface SampleLayout {
  readonly compression: number;
  readonly photometric: number | null;
  readonly bitsPerSample: readonly number[];
  readonly samplesPerPixel: number;
  /** 1: the samples of a pixel stand together, 2: each in a plane of its own. */
  readonly planarConfiguration: number;
  /** 1 unsigned, 2 signed, 3 floating point. */
  readonly sampleFormat: number;
  /** Where row 0 and column 0 are; 1 is top left, as every viewer expects. */
  readonly orientation: number;
  /** Planes one behind the other in each tile. */
  readonly depth: number;
}

/**
 * @throws SlideError FILE_CORRUPT when width, height or tile sides are missing or zero, LIMIT_EXCEEDED when
 *   they are larger than limits.ts allows
 */
export async function readGeometry(directory: TiffDirectory): Promise<ImageGeometry> {
  const side = async (name: Tag, limit: number) => {
    const value = await directory.number(name);
    if (!value) throw new SlideError('FILE_CORRUPT', `${nameOfTag(name)} is ${value ?? 'missing'}`);
    if (value > limit) throw new SlideError('LIMIT_EXCEEDED', `${nameOfTag(name)} is ${value}`);
    return value;
  };
  const width = await side(tag.ImageWidth, limits.imageSide);
  const height = await side(tag.ImageLength, limits.imageSide);
  if (directory.count(tag.TileWidth) === 0 && directory.count(tag.TileOffsets) === 0) {
    return { width, height, tiles: null };
  }
  const tileWidth = await side(tag.TileWidth, limits.tileSide);
  const tileHeight = await side(tag.TileLength, limits.tileSide);
  const columns = Math.ceil(width / tileWidth);
  const rows = Math.ceil(height / tileHeight);
  if (columns * rows > limits.tilesPerLevel) {
    throw new SlideError('LIMIT_EXCEEDED', `A level has ${columns * rows} tiles`);
  }
  return { width, height, tiles: { width: tileWidth, height: tileHeight, columns, rows } };
}

/** What a directory leaves out is what TIFF 6.0 says by default. */
export async function readSampleLayout(directory: TiffDirectory): Promise<SampleLayout> {
  return {
    compression: (await directory.number(tag.Compression)) ?? 1,
    photometric: await directory.number(tag.PhotometricInterpretation),
    bitsPerSample: (await directory.numbers(tag.BitsPerSample)) ?? [1],
    samplesPerPixel: (await directory.number(tag.SamplesPerPixel)) ?? 1,
    planarConfiguration: (await directory.number(tag.PlanarConfiguration)) ?? 1,
    sampleFormat: (await directory.number(tag.SampleFormat)) ?? 1,
    orientation: (await directory.number(tag.Orientation)) ?? 1,
    depth: (await directory.number(tag.ImageDepth)) ?? 1,
  };
}

/** Names for messages. Source: TIFF 6.0; libtiff's tiff.h for numbers beyond it; OpenSlide's Aperio notes (33003, 33005). */
const compressions: Readonly<Record<number, string>> = {
  1: 'no compression',
  2: 'CCITT RLE',
  3: 'CCITT Group 3',
  4: 'CCITT Group 4',
  5: 'LZW',
  6: 'old-style JPEG',
  7: 'JPEG',
  8: 'Deflate',
  32773: 'PackBits',
  32946: 'Deflate',
  33003: 'JPEG 2000 of Aperio, YCbCr',
  33005: 'JPEG 2000 of Aperio, RGB',
  34712: 'JPEG 2000',
  34887: 'LERC',
  34925: 'LZMA',
  34933: 'PNG',
  34934: 'JPEG XR',
  50000: 'Zstandard',
  50001: 'WebP',
  50002: 'JPEG XL',
};

/** For messages, e.g. `LZW (compression 5)`. */
export function nameOfCompression(compression: number): string {
  return `${compressions[compression] ?? 'unknown'} (compression ${compression})`;
}
