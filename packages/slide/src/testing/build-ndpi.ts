/** Builds Hamamatsu NDPI slides for tests. Of a file larger than 4 GiB, only the pieces that are not zero are in memory. */
import sharp from 'sharp';
import { cropRaster, type Raster, shrinkRaster } from '../decode/raster.ts';
import type { Slide } from '../model/slide.ts';
import { openSlideFrom } from '../open-slide.ts';
import { tag } from '../tiff/tags.ts';
import { ascii, long, rational, short, type TagValue } from './build-tiff.ts';
import { encodeIntervals, type IntervalCoding } from './encode-intervals.ts';
import { memoryFiles } from './memory-files.ts';
import { paintPlain, paintTissue } from './paint-tissue.ts';
import { type Piece, sparseSource } from './sparse-source.ts';

/** The tags of one directory, and the JPEG that it refers to. */
export interface NdpiDirectoryPlan {
  /** Values by tag number. StripOffsets and StripByteCounts default to the position and the length of the JPEG. */
  readonly tags: Readonly<Record<number, TagValue>>;
  readonly jpeg: Uint8Array;
}

/** Options of an NDPI slide. */
export interface NdpiPlan {
  /** Size at full resolution in pixels; the width is a multiple of the interval's width; by default 384 × 272. */
  readonly width?: number;
  readonly height?: number;
  /** Downsamples of the stored levels, full resolution first; by default 1, 2 and 4. */
  readonly downsamples?: readonly number[];
  /** The image; by default tissue. */
  readonly picture?: Raster;
  /** Restart intervals of full resolution, by default 128 × 8 pixels; smaller levels divide the width by their downsample. */
  readonly intervals?: IntervalCoding;
  /** Index of the first level without restart markers (later levels have none either); by default all levels have them. */
  readonly wholeFrom?: number;
  /** Magnification of full resolution; by default 20. */
  readonly sourceLens?: number;
  /** Pixels of full resolution per centimetre; by default 20,000. */
  readonly pixelsPerCm?: number;
  /** Whether to add a red macro image and the map of tissue areas, which is not a JPEG; by default true. */
  readonly hasAssociatedImages?: boolean;
}

// Values of the TIFF field types FLOAT and SLONG.
export const float = (...numbers: number[]): TagValue => ({ type: 11, numbers });
export const signedLong = (...numbers: number[]): TagValue => ({ type: 9, numbers });

/** A file as pieces with zeros between them, because a file of more than 4 GiB does not fit into memory. */
export interface BuiltNdpi {
  readonly pieces: readonly Piece[];
  readonly size: number;
  /** Positions of the directories. */
  readonly directories: readonly number[];
}

/** Joins the pieces of a small file. */
export function ndpiBytes({ pieces, size }: BuiltNdpi): Uint8Array {
  const bytes = new Uint8Array(size);
  for (const { at, bytes: piece } of pieces) bytes.set(piece, at);
  return bytes;
}

/** Opens a built slide of any size. */
export function openNdpi({ pieces, size }: BuiltNdpi): Promise<Slide> {
  const main = sparseSource(pieces, size);
  return openSlideFrom({ ...memoryFiles({ slide: new Uint8Array() }), main });
}

/** Builds the directories of a slide: levels, largest first; then the macro; then the map of tissue areas. */
export async function ndpiDirectories({
  width = 384,
  height = 272,
  downsamples = [1, 2, 4],
  picture = paintTissue(width, height),
  intervals = { width: 128, height: 8 },
  wholeFrom = downsamples.length,
  sourceLens = 20,
  pixelsPerCm = 20_000,
  hasAssociatedImages = true,
}: NdpiPlan): Promise<NdpiDirectoryPlan[]> {
  const levels = await Promise.all(
    downsamples.map(async (downsample, level): Promise<NdpiDirectoryPlan> => {
      const [w, h] = [Math.floor(width / downsample), Math.floor(height / downsample)];
      const reduced = cropRaster(shrinkRaster(picture, downsample), 0, 0, w, h);
      const isGrey = intervals.colour === 'grey';
      const tags = {
        ...commonTags(w, h, pixelsPerCm / downsample, isGrey ? 1 : 3),
        [tag.SourceLens]: float(sourceLens / downsample),
        [tag.FocalPlane]: signedLong(0),
      };
      if (level >= wholeFrom) return { tags, jpeg: await encodeWhole(reduced) };
      const coding = { ...intervals, width: intervals.width / downsample };
      const { bytes, starts } = await encodeIntervals(reduced, coding);
      return { tags: { ...tags, [tag.McuStarts]: long(...starts) }, jpeg: bytes };
    }),
  );
  if (!hasAssociatedImages) return levels;
  const macro: NdpiDirectoryPlan = {
    tags: { ...commonTags(120, 48, 100, 3), [tag.SourceLens]: float(MACRO_LENS) },
    jpeg: await encodeWhole(paintPlain(120, 48, [255, 0, 0])),
  };
  const map: NdpiDirectoryPlan = {
    tags: { ...commonTags(60, 24, 50, 1), [tag.Compression]: short(1), [tag.SourceLens]: float(MAP_LENS) }, // 1: uncompressed
    jpeg: new Uint8Array(60 * 24),
  };
  return [...levels, macro, map];
}

/** Values of SourceLens that mark images without a magnification. */
const [MACRO_LENS, MAP_LENS] = [-1, -2];

/**
 * Returns the tags that all directories have. Some name a patient and a device; readers must not return these names.
 */
function commonTags(width: number, height: number, pixelsPerCm: number, samplesPerPixel: number) {
  return {
    [tag.ImageWidth]: long(width),
    [tag.ImageLength]: long(height),
    [tag.BitsPerSample]: short(...Array.from({ length: samplesPerPixel }, () => 8)),
    [tag.Compression]: short(7), // JPEG
    [tag.PhotometricInterpretation]: short(samplesPerPixel === 1 ? 1 : 6), // grey or YCbCr
    271: ascii('Hamamatsu'), // Make
    272: ascii('C9600-12'), // Model
    [tag.SamplesPerPixel]: short(samplesPerPixel),
    [tag.RowsPerStrip]: long(height),
    [tag.XResolution]: rational(pixelsPerCm, 1),
    [tag.YResolution]: rational(pixelsPerCm, 1),
    [tag.ResolutionUnit]: short(3), // centimetre
    305: ascii('NDP.scan 2.5.89'), // Software
    306: ascii('2026:01:02 03:04:05'), // DateTime
    [tag.NdpiVersion]: long(1),
    65427: ascii('PATIENT 4711'), // reference of the scan
    65449: ascii('Created=2026/01/02\r\nNDP.S/N=123456\r\n'), // properties of the scan
  };
}

/** Encodes an image as a JPEG without restart markers. */
function encodeWhole({ width, height, rgb }: Raster): Promise<Buffer> {
  return sharp(rgb, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 90, chromaSubsampling: '4:4:4' })
    .toBuffer();
}

/** Bytes of one number, by field type of TIFF (a RATIONAL is two numbers). */
const bytesPerNumber: Readonly<Record<number, number>> = { 2: 1, 3: 2, 4: 4, 5: 4, 7: 1, 9: 4, 11: 4 };

/**
 * Serialises directories without checking them: for each directory its JPEG, the values of its tags, its entries, the
 * offset of the next directory (8 bytes), and the upper 32 bits of each entry's value or offset. Source: OpenSlide's
 * notes on the Hamamatsu format.
 *
 * @param gapBytes number of zeros between the header and the first JPEG, to build files of more than 4 GiB
 */
export function layOutNdpi(directories: readonly NdpiDirectoryPlan[], gapBytes = 0): BuiltNdpi {
  const pieces: Piece[] = [];
  const header = Buffer.alloc(12);
  header.write('II*\0', 'latin1');
  pieces.push({ at: 0, bytes: header });
  let end = header.length + gapBytes;
  const append = (bytes: Uint8Array): number => {
    const at = end;
    pieces.push({ at, bytes });
    end += bytes.length;
    return at;
  };

  /** Where the position of the next directory is written: in the header, then after each directory. */
  let pointer: Buffer = header.subarray(4, 12);
  const directoryPositions = directories.map(({ tags, jpeg }) => {
    const jpegAt = append(jpeg);
    const sortedTags = Object.entries({
      [tag.StripOffsets]: long(jpegAt),
      [tag.StripByteCounts]: long(jpeg.length),
      ...tags,
    }).sort(([a], [b]) => Number(a) - Number(b));
    const entries: Buffer[] = [];
    const upperBits: Buffer[] = [];
    for (const [tagNumber, { type, numbers }] of sortedTags) {
      const value = Buffer.concat(numbers.map((element) => encode(element, type)));
      const isInEntry = value.length <= 4 && type !== ASCII; // NDPI never stores ASCII in the entry
      const valueOrOffset = isInEntry ? (numbers[0] ?? 0) : append(value);
      const lowerBits = isInEntry
        ? Buffer.concat([value, Buffer.alloc(4)]).subarray(0, 4)
        : encode(valueOrOffset, LONG);
      entries.push(
        encode(Number(tagNumber), SHORT),
        encode(type, SHORT),
        encode(numbers.length / (type === RATIONAL ? 2 : 1), LONG),
        lowerBits,
      );
      const hasUpperBits = type === LONG || !isInEntry;
      upperBits.push(encode(hasUpperBits ? Math.floor(valueOrOffset / 2 ** 32) : 0, LONG));
    }
    const next = Buffer.alloc(8);
    const at = append(Buffer.concat([encode(sortedTags.length, SHORT), ...entries]));
    pointer.writeBigUInt64LE(BigInt(at));
    append(next);
    append(Buffer.concat(upperBits));
    pointer = next;
    return at;
  });
  return { pieces, size: end, directories: directoryPositions };
}

const [ASCII, SHORT, LONG, RATIONAL, SIGNED, FLOAT] = [2, 3, 4, 5, 9, 11];

/** Encodes a number. If it is too large for its type, its upper bits are dropped. */
function encode(value: number, type: number): Buffer {
  const bytes = Buffer.alloc(bytesPerNumber[type] ?? 1);
  if (type === FLOAT) bytes.writeFloatLE(value);
  else if (type === SIGNED) bytes.writeInt32LE(value);
  else bytes.writeUIntLE(value % 2 ** (8 * bytes.length), 0, bytes.length);
  return bytes;
}
