/**
 * The types of slides: what every format reader provides, whichever scanner wrote the file.
 *
 * Level 0 is full resolution; a larger level number is a smaller image. Pixel origin is the top-left
 * corner; columns grow rightwards, rows downwards. Deep Zoom levels are defined in deep-zoom.ts only.
 */

/** Location of a slide. Never taken from a request; part of a fingerprint, never of an API response. */
export interface SlideLocation {
  /** Absolute path of the leading file, or the key of an object. */
  readonly path: string;
  /** The slide is in object storage, not in a local folder. */
  readonly isObject?: true;
  /**
   * The other files of a slide, as `groupSlideFiles` returns them: paths relative to the leading file's folder; empty
   * for a slide of one file. Absent when unknown: then opening the slide lists the folder.
   */
  readonly members?: readonly string[];
}

export interface Level {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Pixels, equal for every tile of the level; edge tiles are stored padded to it. */
  readonly tileWidth: number;
  readonly tileHeight: number;
  readonly columns: number;
  readonly rows: number;
  /** Level 0 pixels per pixel of this level; 1 for level 0, rarely a whole number for others. */
  readonly downsample: number;
  /**
   * Padding pixels of the first column and row of tiles, left of and above the image: rotation moves padding away from
   * the right and bottom edges. Absent: none.
   */
  readonly outside?: { readonly left: number; readonly top: number };
  /** The level has no native tiles: none is JPEG, or all must be rotated. Absent: some tiles may be native. */
  readonly needsRendering?: true;
  /**
   * An empty tile is a gap, which the server renders from the next larger level. Absent: an empty tile has the
   * background colour.
   */
  readonly hasGaps?: true;
}

export interface TileAddress {
  readonly level: number;
  readonly column: number;
  readonly row: number;
}

/** Associated images. They may contain names of patients: label and macro never leave the server. */
export type AssociatedImageName = 'label' | 'macro' | 'thumbnail';

/**
 * Encoding of an image. `samples` are uncompressed and `rle` is DICOM run-length coding; both need `layout`. `tiff` has
 * any compression of TIFF and needs `coding`.
 */
export type Codec = 'jpeg' | 'png' | 'webp' | 'jpeg2000' | 'jpegls' | 'rle' | 'samples' | 'tiff' | 'rgb';

/** Meaning of the samples where the bytes do not state it. */
export type SampleColour =
  | 'rgb'
  /** Full-range YCbCr, as in JPEG files (ITU-T T.871). */
  | 'ycc'
  /** Only for JPEG 2000: `ycc` if OpenJPEG wrote the stream, else as the stream declares. */
  | 'ycc-of-openjpeg'
  | GreyRange;

/** Samples that become black and white in a grey image, with linear scaling between; `white` may be less. */
export interface GreyRange {
  readonly black: number;
  readonly white: number;
}

export interface SampleLayout {
  readonly samplesPerPixel: 1 | 3;
  /** Bits of one sample; 16-bit samples are little-endian. */
  readonly bits: 8 | 16;
  /** Whether each sample has its own plane; else the samples of a pixel are interleaved. */
  readonly isPlanar: boolean;
}

/** Lossless compression of bytes without knowledge of the image. */
export type Packing = 'none' | 'lzw' | 'packbits' | 'deflate' | 'zstd';

/** How the bytes of a `tiff` image encode its pixels. */
export interface TiffCoding {
  /** `jpeg`: every block is a complete JPEG of one or four components. */
  readonly packing: Packing | 'jpeg';
  /**
   * Length of each block of the bytes, packed separately: from top to bottom; in planar images the blocks of the first
   * plane first.
   */
  readonly blockBytes: readonly number[];
  /** Rows of a block; the last of a plane may have fewer. */
  readonly blockRows: number;
  readonly samplesPerPixel: number;
  readonly bits: 1 | 2 | 4 | 8 | 16;
  /** Whether each sample has its own plane; else the samples of a pixel are interleaved. */
  readonly isPlanar: boolean;
  /** Byte order of 16-bit samples. */
  readonly isLittleEndian: boolean;
  /** Whether the first pixel of a byte is in its lowest bits, not in its highest. */
  readonly isBitReversed: boolean;
  /** Whether samples are stored as differences to the pixel on the left. */
  readonly isDifferenced: boolean;
  readonly colour: TiffColour;
}

export type TiffColour = {
  /** Index of the alpha sample; null when all pixels are opaque. */
  readonly alpha: { readonly sample: number; readonly isAssociated: boolean } | null;
} & (
  | { readonly model: 'rgb' | 'ycc' | 'cmyk' }
  | { readonly model: 'grey'; readonly isInverted: boolean }
  /** Red, green and blue of each index. */
  | { readonly model: 'palette'; readonly palette: Uint8Array }
);

/** Rotation to the upright image, by the numbers of TIFF and EXIF: 3 is 180°, 6 is 90° clockwise. */
export type Orientation = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

/** An image as bytes. `jpeg` is always a complete JPEG file that any decoder draws in the right colours. */
export interface EncodedImage {
  readonly codec: Codec;
  readonly bytes: Uint8Array;
  /** Pixels. For `rgb`, bytes are width × height × 3 samples of 8 bits, sRGB, row by row. */
  readonly width: number;
  readonly height: number;
  /** Absent where the bytes state it themselves. */
  readonly colour?: SampleColour;
  /** Present for `samples` and `rle` only. */
  readonly layout?: SampleLayout;
  /** Present for `tiff` only. */
  readonly coding?: TiffCoding;
  /** Width and height are those before rotation. Absent: the image is upright. */
  readonly orientation?: Orientation;
}

/**
 * Returns memory of exactly this size for one tile, with any content. Reused memory spares the garbage collector, which
 * a process that reads 500 MB per second would keep busy.
 */
export type Allocate = (byteCount: number) => Uint8Array;

/** Which of the focal planes and times of a file is shown. */
export interface ShownPlane {
  /** From 1, in the order of the planes. */
  readonly plane: number;
  readonly planes: number;
  /** Time points, of which the first is shown. */
  readonly times: number;
}

/** Where the image is on the glass. Source: DICOM PS3.3 C.8.12.4 and C.8.12.14. */
export interface PlaceOnGlass {
  /** Millimetres from the corner of the glass to the first pixel of level 0. */
  readonly origin: { readonly x: number; readonly y: number };
  /** Directions along a row and down a column, three cosines each. */
  readonly orientation: readonly number[];
}

export interface Slide {
  /** Machine name of the format, e.g. `aperio`, `tiff`. */
  readonly format: string;
  /** Changes whenever the file changes; independent of its location. URL-safe, at most 64 characters. */
  readonly fingerprint: string;
  /** Vendor of the scanner according to the file; null when unknown. */
  readonly vendor: string | null;
  /** Largest first, never empty. */
  readonly levels: readonly [Level, ...Level[]];
  /** Micrometres per pixel at level 0; null when unknown. */
  readonly mpp: { readonly x: number; readonly y: number } | null;
  /** Magnification of the objective used for the scan, e.g. 20 or 40; null when unknown. */
  readonly objectivePower: number | null;
  /** Absent for a file of one focal plane and one time, or whose planes are not counted. */
  readonly shownPlane?: ShownPlane;
  /** Absent when the file does not state it. */
  readonly placeOnGlass?: PlaceOnGlass;
  /** Colour of areas the scanner left empty, 0…255 each. */
  readonly background: { readonly r: number; readonly g: number; readonly b: number };
  readonly associatedImages: ReadonlySet<AssociatedImageName>;
  /**
   * Read one tile as stored, without decoding it.
   *
   * @param allocate provides memory for the tile; formats may ignore it
   * @returns the tile, `tileWidth × tileHeight` pixels when it is upright; on the right and bottom edges of the level
   *   it may be padded to that, or end with the image; null for a tile the scanner left empty
   * @throws SlideError TILE_OUT_OF_RANGE, FILE_TRUNCATED, FILE_CORRUPT, FORMAT_NOT_SUPPORTED, LIMIT_EXCEEDED
   */
  readTile(address: TileAddress, signal?: AbortSignal, allocate?: Allocate): Promise<EncodedImage | null>;
  /** Reads an associated image. @throws SlideError ASSOCIATED_IMAGE_MISSING */
  readAssociatedImage(name: AssociatedImageName): Promise<EncodedImage>;
  /**
   * Reads the ICC profile of full resolution.
   *
   * @returns null when the file has none
   * @throws SlideError LIMIT_EXCEEDED, FILE_TRUNCATED, FILE_CORRUPT
   */
  readIccProfile(): Promise<Uint8Array | null>;
  close(): Promise<void>;
}

/** Why a slide or a part of it cannot be read. */
export type SlideErrorCode =
  /** No format knows the file. */
  | 'FORMAT_NOT_RECOGNISED'
  /** The format is known, but this variant is not supported (codec, bit depth, layout). */
  | 'FORMAT_NOT_SUPPORTED'
  /** The file is not an image of a slide, e.g. a DICOM segmentation. */
  | 'NOT_A_SLIDE'
  /** The file ends before the end that its own directory states. */
  | 'FILE_TRUNCATED'
  /** The file contradicts itself or its format's rules. */
  | 'FILE_CORRUPT'
  /** The file exceeds a limit. */
  | 'LIMIT_EXCEEDED'
  | 'FILE_MISSING'
  | 'FILE_CHANGED'
  | 'TILE_OUT_OF_RANGE'
  | 'ASSOCIATED_IMAGE_MISSING'
  /** Decoding took longer than allowed, or the decoding process died. */
  | 'DECODE_FAILED'
  /** Too many requests wait to be rendered or read. */
  | 'BUSY'
  /** The disk or object storage does not respond correctly: the state of the file is unknown. */
  | 'STORE_UNAVAILABLE'
  /** Object storage did not respond in time: the state of the file is unknown. */
  | 'STORE_TIMEOUT';

/** The only error class of this package; the message is a clear English sentence without paths. */
export class SlideError extends Error {
  readonly code: SlideErrorCode;

  constructor(code: SlideErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SlideError';
    this.code = code;
  }
}

/** Whether the state of the file is unknown because its storage did not respond; the caller should retry. */
export function isUnreachable(error: unknown): error is SlideError {
  return error instanceof SlideError && unreachable.has(error.code);
}

const unreachable: ReadonlySet<SlideErrorCode> = new Set(['BUSY', 'STORE_UNAVAILABLE', 'STORE_TIMEOUT']);
