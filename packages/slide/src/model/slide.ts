/**
 * The slide model: the types that every format reader provides, whichever scanner wrote the file.
 *
 * Level 0 is full resolution; a larger level number is a smaller image. Pixel origin is the top-left
 * corner; columns grow rightwards, rows downwards. Deep Zoom numbers levels in the opposite order (deep-zoom.ts).
 */

/** Location of a slide. It never comes from a request, and API responses never contain it. */
export interface SlideLocation {
  /** Absolute path of the main file, or the key of an object. */
  readonly path: string;
  /** True when the slide is in object storage; absent for a local folder. */
  readonly isObject?: true;
  /**
   * The other files of a slide, as `groupSlideFiles` returns them: paths relative to the main file's folder; empty
   * for a slide of one file. If absent, the members are unknown, and opening the slide lists the folder.
   */
  readonly members?: readonly string[];
}

export interface Level {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Pixels, equal for every tile of the level. A tile at the right or bottom edge may be stored smaller (see `readTile`). */
  readonly tileWidth: number;
  readonly tileHeight: number;
  /** Number of columns and rows of tiles. */
  readonly columns: number;
  readonly rows: number;
  /** Level 0 pixels per pixel of this level; 1 for level 0, rarely a whole number for others. */
  readonly downsample: number;
  /**
   * Padding pixels left of the image in the first column of tiles, and above it in the first row. Only levels that are stored
   * rotated or mirrored have them: turning the image upright moves the usual padding from the right and bottom to the other edges.
   */
  readonly leadingPadding?: { readonly left: number; readonly top: number };
  /** True when the level has no native tiles: none is JPEG, or all must be rotated. If absent, the server checks each tile. */
  readonly needsRendering?: true;
  /**
   * True when an empty tile is a gap, which the server fills with pixels of the next level with higher resolution. If absent, an
   * empty tile has the background colour.
   */
  readonly hasGaps?: true;
}

export interface TileAddress {
  readonly level: number;
  readonly column: number;
  readonly row: number;
}

/** Associated images. The server never sends `label` and `macro` (the whole glass); they may show the patient's name. */
export type AssociatedImageName = 'label' | 'macro' | 'thumbnail';

/**
 * Encoding of an image. `samples` are uncompressed and `rle` is DICOM run-length coding; `EncodedImage.layout` describes
 * both. `tiff` is any encoding of TIFF that no other name covers, described by `EncodedImage.coding`. `rgb` is a decoded image.
 */
export type Codec = 'jpeg' | 'png' | 'webp' | 'jpeg2000' | 'jpegls' | 'rle' | 'samples' | 'tiff' | 'rgb';

/** Meaning of the samples where the bytes do not state it. */
export type SampleColour =
  | 'rgb'
  /** Full-range YCbCr, as in JPEG files (ITU-T T.871). */
  | 'ycc'
  /**
   * Only for JPEG 2000 in files that libvips wrote. Its streams may declare RGB but contain YCbCr, when OpenJPEG encoded them. The
   * decoder therefore treats streams of OpenJPEG as `ycc`, and follows the declaration of all others.
   */
  | 'ycc-of-openjpeg'
  | GreyRange;

/**
 * The sample value of a grey image that is displayed as black, and the one that is displayed as white; values between them
 * are scaled linearly. In an inverted image, `white` is less than `black`.
 */
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

/** Lossless compression of bytes, whatever they contain. */
export type Packing = 'none' | 'lzw' | 'packbits' | 'deflate' | 'zstd';

/** How the bytes of a `tiff` image encode its pixels. */
export interface TiffCoding {
  /**
   * With `jpeg`, every block is a complete JPEG that browsers would draw in wrong colours: one component (inverted grey, or a
   * separate plane) or four (CMYK). Other JPEG images have the codec `jpeg`.
   */
  readonly packing: Packing | 'jpeg';
  /**
   * Size in bytes of each separately compressed block, in the order of the blocks in `EncodedImage.bytes`. Blocks are stored
   * from top to bottom. In planar images, all blocks of the first plane precede those of the second, and so on.
   */
  readonly blockBytes: readonly number[];
  /** Pixel rows of a block; the last block of a plane may have fewer. */
  readonly blockRows: number;
  readonly samplesPerPixel: number;
  readonly bits: 1 | 2 | 4 | 8 | 16;
  /** Whether each sample has its own plane; else the samples of a pixel are interleaved. */
  readonly isPlanar: boolean;
  /** Byte order of 16-bit samples. */
  readonly isLittleEndian: boolean;
  /** Whether the first pixel of a byte is in its lowest bits, not in its highest. */
  readonly isBitReversed: boolean;
  /** Whether samples are stored as differences from the pixel on the left. */
  readonly isDifferenced: boolean;
  readonly colour: TiffColour;
}

export type TiffColour = {
  /** Index of the alpha sample, and whether the colours are multiplied by it; null when all pixels are opaque. */
  readonly alpha: { readonly sample: number; readonly isAssociated: boolean } | null;
} & (
  | { readonly model: 'rgb' | 'ycc' | 'cmyk' }
  | { readonly model: 'grey'; readonly isInverted: boolean }
  /** Red, green and blue of each index, 8 bits each. */
  | { readonly model: 'palette'; readonly palette: Uint8Array }
);

/** Rotation or reflection to the upright image, by the numbers of TIFF and EXIF: 3 is 180°, 6 is 90° clockwise. */
export type Orientation = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

/** An encoded image. With `jpeg`, the bytes are a complete JPEG file that any decoder draws in the right colours. */
export interface EncodedImage {
  readonly codec: Codec;
  readonly bytes: Uint8Array;
  /** Pixels. For `rgb`, bytes are width × height × 3 samples of 8 bits, sRGB, row by row. */
  readonly width: number;
  readonly height: number;
  /** Absent when the bytes themselves declare their colour space. */
  readonly colour?: SampleColour;
  /** Present for `samples` and `rle` only. */
  readonly layout?: SampleLayout;
  /** Present for `tiff` only. */
  readonly coding?: TiffCoding;
  /** Rotation to apply after decoding; `width` and `height` are those before it. Absent for an upright image. */
  readonly orientation?: Orientation;
}

/**
 * Allocates a buffer of exactly `byteCount` bytes for one tile; it need not be zeroed. Callers pass their own allocator to
 * reuse buffers, because a process that reads 500 MB per second would otherwise keep the garbage collector busy.
 */
export type BufferAllocator = (byteCount: number) => Uint8Array;

/** The focal plane and time point that are shown, of all those in a file. */
export interface ShownPlane {
  /** Number of the shown focal plane, from 1. */
  readonly plane: number;
  /** Number of focal planes. */
  readonly planes: number;
  /** Number of time points; the first one is shown. */
  readonly times: number;
}

/** Where the image is on the glass. Source: DICOM PS3.3 C.8.12.4 and C.8.12.14. */
export interface PlaceOnGlass {
  /** Millimetres from the origin of DICOM's slide coordinates, a corner of the glass, to the top-left pixel of level 0. */
  readonly origin: { readonly x: number; readonly y: number };
  /** Six direction cosines in the coordinates of the glass: three for the direction along a row, three for that down a column. */
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
  /** Absent for a file of one focal plane and one time point, and when the reader does not count planes. */
  readonly shownPlane?: ShownPlane;
  /** Absent when the file does not state it. */
  readonly placeOnGlass?: PlaceOnGlass;
  /**
   * Upper left corner of the scanned area, in pixels of level 0. Programs such as QuPath count coordinates from it. Absent when the
   * file does not state the scanned area.
   */
  readonly boundsOrigin?: { readonly x: number; readonly y: number };
  /** Colour of areas the scanner left empty, 0…255 each. */
  readonly background: { readonly r: number; readonly g: number; readonly b: number };
  readonly associatedImages: ReadonlySet<AssociatedImageName>;
  /**
   * Reads one tile as stored, without decoding it.
   *
   * @param allocate called with the byte count of the tile; returns the memory to read it into. Not all formats use it
   * @returns the tile; null for a tile the scanner left empty. An upright tile has `tileWidth × tileHeight` pixels. On the right
   *   and bottom edges of the level, it may be padded to that size or be cut off at the edge of the image
   * @throws SlideError TILE_OUT_OF_RANGE; FORMAT_NOT_SUPPORTED, FILE_TRUNCATED, FILE_CORRUPT, LIMIT_EXCEEDED (content of the file);
   *   FILE_MISSING, FILE_CHANGED, BUSY, STORE_UNAVAILABLE, STORE_TIMEOUT (its storage); the abort reason of the signal
   */
  readTile(
    address: TileAddress,
    signal?: AbortSignal,
    allocate?: BufferAllocator,
  ): Promise<EncodedImage | null>;
  /** Reads an associated image. @throws SlideError ASSOCIATED_IMAGE_MISSING, and errors of `readTile` except TILE_OUT_OF_RANGE */
  readAssociatedImage(name: AssociatedImageName): Promise<EncodedImage>;
  /**
   * Reads the ICC profile of level 0.
   *
   * @returns null when the file has none
   * @throws SlideError LIMIT_EXCEEDED, FILE_TRUNCATED, FILE_CORRUPT, and the errors of the storage that `readTile` throws
   */
  readIccProfile(): Promise<Uint8Array | null>;
  close(): Promise<void>;
}

/** Why a slide, or a part of a slide, cannot be read. */
export type SlideErrorCode =
  /** The file has none of the supported formats. */
  | 'FORMAT_NOT_RECOGNISED'
  /** The format is known, but this variant is not supported (codec, bit depth, layout). */
  | 'FORMAT_NOT_SUPPORTED'
  /** The file is not an image of a slide, e.g. a DICOM segmentation. */
  | 'NOT_A_SLIDE'
  /** The file ends before the end that its own directory states. */
  | 'FILE_TRUNCATED'
  /** The file contradicts itself or its format's rules. */
  | 'FILE_CORRUPT'
  /** The file exceeds a limit of its reader, for example tiles per level. */
  | 'LIMIT_EXCEEDED'
  /** A file of the slide does not exist, or the server has no permission to read it. */
  | 'FILE_MISSING'
  /** The file was modified or replaced while it was open. */
  | 'FILE_CHANGED'
  | 'TILE_OUT_OF_RANGE'
  | 'ASSOCIATED_IMAGE_MISSING'
  /** Decoding took longer than allowed, or the render process ended. */
  | 'DECODE_FAILED'
  /** Too many requests wait to be rendered or read. */
  | 'BUSY'
  /** The disk or object storage does not respond correctly: the state of the file is unknown. */
  | 'STORE_UNAVAILABLE'
  /** Object storage did not respond in time: the state of the file is unknown. */
  | 'STORE_TIMEOUT';

/** The error for a slide that cannot be read; the message is a clear English sentence without paths. */
export class SlideError extends Error {
  readonly code: SlideErrorCode;

  constructor(code: SlideErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SlideError';
    this.code = code;
  }
}

/** Returns the error for a valid slide that Lamina cannot show. @param what names the missing feature, after "Not supported: " */
export function notSupportedError(what: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not supported: ${what}`);
}

/** Whether the file could not be read now, because the server is busy or the storage did not respond; the caller should retry. */
export function isTemporaryError(error: unknown): error is SlideError {
  return error instanceof SlideError && temporaryCodes.has(error.code);
}

const temporaryCodes: ReadonlySet<SlideErrorCode> = new Set(['BUSY', 'STORE_UNAVAILABLE', 'STORE_TIMEOUT']);
