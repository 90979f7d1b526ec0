/** Size, tile grid, strips, sample layout and orientation of the image in a TIFF directory. */
import { type Orientation, SlideError } from '../model/slide.ts';
import type { TiffDirectory } from './directory.ts';
import { limits } from './limits.ts';
import { nameOfTag, type Tag, tag } from './tags.ts';

/** The tile grid of an image; tiles of the last column and row are stored at full size. */
export interface TileGrid {
  /** Pixels of one tile. */
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  readonly rows: number;
}

/** Size and tile grid of the image of a directory. */
export interface ImageGeometry {
  /** Pixels as stored, before the orientation is applied. */
  readonly width: number;
  readonly height: number;
  /** Null when the image is stored in strips. */
  readonly tiles: TileGrid | null;
}

/** The tags that state how samples are stored. Source of the codes: TIFF 6.0, sections 3, 8, 14, 18, 19, 21 and 22. */
export interface SampleLayout {
  readonly compression: number;
  readonly photometric: number | null;
  readonly bitsPerSample: readonly number[];
  readonly samplesPerPixel: number;
  /** 1: the samples of a pixel are interleaved, 2: each has its own plane. */
  readonly planarConfiguration: number;
  /** 1 unsigned, 2 signed, 3 floating point, 4 undefined. */
  readonly sampleFormat: number;
  /** 1: the first pixel of a byte is in its high bits, 2: in its low bits. */
  readonly fillOrder: number;
  /** 1 none, 2 horizontal differencing, 3 floating point. */
  readonly predictor: number;
  /** Meaning of the samples after the colours: 0 unspecified, 1 associated alpha, 2 unassociated alpha. */
  readonly extraSamples: readonly number[];
  /** Number of z planes that each tile contains one after the other (tag ImageDepth); not planes of colours. */
  readonly depth: number;
}

/**
 * Reads the size and the tile grid of an image.
 *
 * @throws SlideError FILE_CORRUPT when width, height or tile sides are missing or zero, LIMIT_EXCEEDED when
 *   they are larger than limits.ts allows
 */
export async function readGeometry(directory: TiffDirectory): Promise<ImageGeometry> {
  const readSide = async (sideTag: Tag, limit: number) => {
    const value = await directory.number(sideTag);
    if (!value) throw new SlideError('FILE_CORRUPT', `${nameOfTag(sideTag)} is ${value ?? 'missing'}`);
    if (value > limit) throw new SlideError('LIMIT_EXCEEDED', `${nameOfTag(sideTag)} is ${value}`);
    return value;
  };
  const width = await readSide(tag.ImageWidth, limits.imageSide);
  const height = await readSide(tag.ImageLength, limits.imageSide);
  if (directory.count(tag.TileWidth) === 0 && directory.count(tag.TileOffsets) === 0) {
    return { width, height, tiles: null };
  }
  const tileWidth = await readSide(tag.TileWidth, limits.tileSide);
  const tileHeight = await readSide(tag.TileLength, limits.tileSide);
  const columns = Math.ceil(width / tileWidth);
  const rows = Math.ceil(height / tileHeight);
  if (columns * rows > limits.tilesPerLevel) {
    throw new SlideError('LIMIT_EXCEEDED', `A level has ${columns * rows} tiles`);
  }
  return { width, height, tiles: { width: tileWidth, height: tileHeight, columns, rows } };
}

/**
 * Returns the rows per strip; without the tag, one strip contains the whole image.
 *
 * Source: TIFF 6.0, section 8, RowsPerStrip (default 2^32 − 1).
 *
 * @throws SlideError FILE_CORRUPT, LIMIT_EXCEEDED
 */
export async function readRowsPerStrip(directory: TiffDirectory, { height }: ImageGeometry): Promise<number> {
  const rows = Math.min((await directory.number(tag.RowsPerStrip)) ?? height, height);
  if (rows === 0) throw new SlideError('FILE_CORRUPT', `${nameOfTag(tag.RowsPerStrip)} is 0`);
  const strips = Math.ceil(height / rows);
  if (strips > limits.stripsPerImage) {
    throw new SlideError('LIMIT_EXCEEDED', `An image has ${strips} strips`);
  }
  return rows;
}

/** Reads the sample layout, with the defaults of TIFF 6.0 for absent tags. */
export async function readSampleLayout(directory: TiffDirectory): Promise<SampleLayout> {
  return {
    compression: (await directory.number(tag.Compression)) ?? 1,
    photometric: await directory.number(tag.PhotometricInterpretation),
    bitsPerSample: (await directory.numbers(tag.BitsPerSample)) ?? [1],
    samplesPerPixel: (await directory.number(tag.SamplesPerPixel)) ?? 1,
    planarConfiguration: (await directory.number(tag.PlanarConfiguration)) ?? 1,
    sampleFormat: (await directory.number(tag.SampleFormat)) ?? 1,
    fillOrder: (await directory.number(tag.FillOrder)) ?? 1,
    predictor: (await directory.number(tag.Predictor)) ?? 1,
    extraSamples: (await directory.numbers(tag.ExtraSamples)) ?? [],
    depth: (await directory.number(tag.ImageDepth)) ?? 1,
  };
}

/** Reads the orientation. TIFF 6.0 defines 1…8; a missing or other value (some writers leave 0) is read as 1. */
export async function readOrientation(directory: TiffDirectory): Promise<Orientation> {
  const orientation = await directory.number(tag.Orientation);
  return isOrientation(orientation) ? orientation : 1;
}

function isOrientation(number: number | null): number is Orientation {
  return number !== null && number >= 1 && number <= 8;
}

/**
 * Names of compressions for error messages. Source: TIFF 6.0; libtiff's tiff.h for other numbers; OpenSlide's notes on
 * Aperio (33003, 33005).
 */
const compressions: Readonly<Record<number, string>> = {
  1: 'no compression',
  2: 'CCITT RLE',
  3: 'CCITT Group 3',
  4: 'CCITT Group 4',
  5: 'LZW',
  6: 'old-style JPEG',
  7: 'JPEG',
  8: 'Deflate',
  32766: 'NeXT 2-bit RLE',
  32771: 'CCITT RLE with words',
  32773: 'PackBits',
  32809: 'ThunderScan',
  32946: 'Deflate',
  33003: 'JPEG 2000 of Aperio, YCbCr',
  33005: 'JPEG 2000 of Aperio, RGB',
  34661: 'JBIG',
  34676: 'SGI LogLuv',
  34712: 'JPEG 2000',
  34887: 'LERC',
  34925: 'LZMA',
  34933: 'PNG',
  34934: 'JPEG XR',
  50000: 'Zstandard',
  50001: 'WebP',
  50002: 'JPEG XL',
  52546: 'JPEG XL',
};

/** Returns the name of a compression for error messages, e.g. `LERC (compression 34887)`. */
export function nameOfCompression(compression: number): string {
  return `${compressions[compression] ?? 'unknown'} (compression ${compression})`;
}

/** Names of photometric interpretations for error messages. Source: TIFF 6.0; libtiff's tiff.h. */
const photometrics: Readonly<Record<number, string>> = {
  0: 'grey whose white is 0',
  1: 'grey',
  2: 'RGB',
  3: 'a palette',
  4: 'a transparency mask',
  5: 'inks',
  6: 'YCbCr',
  8: 'CIE L*a*b*',
  9: 'ICC L*a*b*',
  10: 'ITU L*a*b*',
  32803: 'a colour filter array',
  32844: 'LogL',
  32845: 'LogLuv',
  34892: 'linear raw samples',
};

/** Returns the name of a photometric interpretation for error messages, e.g. `CIE L*a*b* (photometric interpretation 8)`. */
export function nameOfPhotometric(photometric: number | null): string {
  if (photometric === null) return 'no photometric interpretation';
  return `${photometrics[photometric] ?? 'unknown colours'} (photometric interpretation ${photometric})`;
}
