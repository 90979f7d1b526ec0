/**
 * The vocabulary of slide files: what every format provides, whichever scanner wrote the file.
 *
 * Level 0 is full resolution; a larger level number is a smaller image. Pixel origin is the top-left
 * corner; columns grow rightwards, rows downwards. Nothing here knows Deep Zoom (see deep-zoom.ts).
 */

/** Where a slide is. Never comes from a request; part of a fingerprint, never of an answer. */
export interface SlideLocation {
  /** Absolute path of the file (of a multi-file slide: of its leading file); of an object, its key. */
  readonly path: string;
  /** It is an object of the store that the program was given, no file of this machine. */
  readonly isObject?: true;
  /**
   * The other files of a multi-file slide, as `groupSlideFiles` names them: by their paths from the leading file's
   * folder; none for a slide of one file. Absent where nobody has looked yet: then opening it looks at the folder.
   */
  readonly members?: readonly string[];
}

export interface Level {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Pixels, the same for every tile of the level; edge tiles are stored padded to it. */
  readonly tileWidth: number;
  readonly tileHeight: number;
  readonly columns: number;
  readonly rows: number;
  /** Level 0 pixels per pixel of this level; 1 for level 0, rarely a whole number further down. */
  readonly downsample: number;
  /**
   * Pixels of the first column and row of tiles that lie outside the picture, left of it and above: where a picture
   * was stored turned, its padding is not on the right and bottom. Absent: none.
   */
  readonly outside?: { readonly left: number; readonly top: number };
  /** No tile of the level can go out as it is stored: none is JPEG, or all have to be turned. Absent: some may. */
  readonly isMade?: true;
  /**
   * A tile that was left empty is a gap: what belongs there is made of the next larger level. Absent: it shows the
   * background.
   */
  readonly hasGaps?: true;
}

export interface TileAddress {
  readonly level: number;
  readonly column: number;
  readonly row: number;
}

/** Pictures stored beside the pyramid. They may carry names of patients: recognised, and kept back. */
export type AssociatedImageName = 'label' | 'macro' | 'thumbnail';

/**
 * How the bytes of a picture are written. `samples` are not compressed, `rle` is the run-length code of DICOM;
 * both say more in `layout`. `tiff` is whatever TIFF does to samples itself, and says more in `coding`.
 */
export type Codec = 'jpeg' | 'png' | 'webp' | 'jpeg2000' | 'jpegls' | 'rle' | 'samples' | 'tiff' | 'rgb';

/** What the samples of a picture mean where its bytes do not say it. */
export type SampleColour =
  | 'rgb'
  /** Full-range YCbCr, as in JPEG files (ITU-T T.871). */
  | 'ycc'
  /** Of JPEG 2000 alone: as `ycc` where OpenJPEG wrote the stream, and as it says itself where another did. */
  | 'ycc-of-openjpeg'
  | GreyRange;

/** One sample a pixel. These two become black and white, all between them in proportion; `white` may be less. */
export interface GreyRange {
  readonly black: number;
  readonly white: number;
}

export interface SampleLayout {
  readonly samplesPerPixel: 1 | 3;
  /** Of one sample; those of 16 are little-endian. */
  readonly bits: 8 | 16;
  /** Each sample of all pixels in a plane of its own; else those of one pixel stand together. */
  readonly isPlanar: boolean;
}

/** What packs bytes without knowing that they are a picture; each without loss. */
export type Packing = 'none' | 'lzw' | 'packbits' | 'deflate' | 'zstd';

/** What is between the bytes of a `tiff` picture and its pixels. */
export interface TiffCoding {
  /** `jpeg`: every block is a complete JPEG of one or four components. */
  readonly packing: Packing | 'jpeg';
  /**
   * How long the blocks are that the bytes consist of, each packed by itself: from top to bottom, and where samples
   * stand in planes, those of the first plane first.
   */
  readonly blockBytes: readonly number[];
  /** Rows of a block; the last of a plane may have fewer. */
  readonly blockRows: number;
  readonly samplesPerPixel: number;
  readonly bits: 1 | 2 | 4 | 8 | 16;
  /** Each sample of all pixels in a plane of its own; else those of one pixel stand together. */
  readonly isPlanar: boolean;
  /** Of samples of 16 bits. */
  readonly isLittleEndian: boolean;
  /** The first pixel of a byte is in its lowest bits, not in its highest. */
  readonly isBitReversed: boolean;
  /** Samples are stored as differences to the pixel left of them. */
  readonly isDifferenced: boolean;
  readonly colour: TiffColour;
}

export type TiffColour = {
  /** The sample of a pixel that says how opaque it is; null where all are. */
  readonly alpha: { readonly sample: number; readonly isAssociated: boolean } | null;
} & (
  | { readonly model: 'rgb' | 'ycc' | 'cmyk' }
  | { readonly model: 'grey'; readonly isInverted: boolean }
  /** Red, green and blue of one index after the other. */
  | { readonly model: 'palette'; readonly palette: Uint8Array }
);

/** How a picture has to be turned to be upright, by the numbers of TIFF and EXIF: 3 half a turn, 6 a quarter to the right. */
export type Orientation = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

/** A picture as bytes. `jpeg` is always a complete JPEG file that any decoder draws in the right colours. */
export interface EncodedImage {
  readonly codec: Codec;
  readonly bytes: Uint8Array;
  /** Pixels. For `rgb`, bytes are width × height × 3 samples of 8 bits, sRGB, row by row. */
  readonly width: number;
  readonly height: number;
  /** Absent where the bytes say it themselves. */
  readonly colour?: SampleColour;
  /** Of `samples` and `rle` alone, and never absent there. */
  readonly layout?: SampleLayout;
  /** Of `tiff` alone, and never absent there. */
  readonly coding?: TiffCoding;
  /** Width and height are those before turning. Absent: it is upright. */
  readonly orientation?: Orientation;
}

/**
 * Memory for the bytes of one tile, exactly so many, whatever stands in it. Memory that is used again and again spares
 * the collector of garbage, which a program that reads half a gigabyte a second would keep busy.
 */
export type Allocate = (byteCount: number) => Uint8Array;

export interface Slide {
  /** Machine name of the format, e.g. `aperio`, `tiff`. */
  readonly format: string;
  /** Changes whenever the file does; says nothing of where it is. URL-safe, at most 64 characters. */
  readonly fingerprint: string;
  /** Maker of the scanner as the file says; null when it does not. */
  readonly vendor: string | null;
  /** Largest first, never empty. */
  readonly levels: readonly [Level, ...Level[]];
  /** Micrometres per pixel at level 0; null when the file does not say. */
  readonly mpp: { readonly x: number; readonly y: number } | null;
  /** Magnification of the objective used for the scan, e.g. 20 or 40; null when unknown. */
  readonly objectivePower: number | null;
  /** Colour of places the scanner left empty, 0…255 each. */
  readonly background: { readonly r: number; readonly g: number; readonly b: number };
  readonly associatedImages: ReadonlySet<AssociatedImageName>;
  /**
   * Read one tile as stored, without decoding it.
   *
   * @param allocate where the bytes of a tile may be put; a format that has no use for it does without
   * @returns the tile, `tileWidth × tileHeight` pixels when it is upright; on the right and bottom edges of the level
   *   it may be padded to that, or end with the picture; null for a tile the scanner left empty
   * @throws SlideError TILE_OUT_OF_RANGE, FILE_TRUNCATED, FILE_CORRUPT, FORMAT_NOT_SUPPORTED, LIMIT_EXCEEDED
   */
  readTile(address: TileAddress, signal?: AbortSignal, allocate?: Allocate): Promise<EncodedImage | null>;
  /** @throws SlideError ASSOCIATED_IMAGE_MISSING */
  readAssociatedImage(name: AssociatedImageName): Promise<EncodedImage>;
  /**
   * What the numbers of full resolution's colours mean, as an ICC profile.
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
  /** The format is known, this variant of it is not read (codec, bit depth, layout). */
  | 'FORMAT_NOT_SUPPORTED'
  /** The file is a picture of something else than a slide, e.g. a DICOM segmentation. */
  | 'NOT_A_SLIDE'
  /** The file ends before what its own directory promises. */
  | 'FILE_TRUNCATED'
  /** The file contradicts itself or its format's rules. */
  | 'FILE_CORRUPT'
  /** The file asks for more than the stated caps allow. */
  | 'LIMIT_EXCEEDED'
  | 'FILE_MISSING'
  | 'FILE_CHANGED'
  | 'TILE_OUT_OF_RANGE'
  | 'ASSOCIATED_IMAGE_MISSING'
  /** Decoding took longer than allowed, or the decoding process died. */
  | 'DECODE_FAILED'
  /** Too much waits already, to be made or to be read. */
  | 'BUSY'
  /** The disk or the object store does not answer, or not as it should: nothing is known of the file. */
  | 'STORE_UNAVAILABLE'
  /** The object store took too long: the same. */
  | 'STORE_TIMEOUT';

/** The one error of this package; the message is a clear English sentence without paths. */
export class SlideError extends Error {
  readonly code: SlideErrorCode;

  constructor(code: SlideErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SlideError';
    this.code = code;
  }
}

/** Whether nothing could be learnt of the file, so that it is neither damaged nor gone: to be tried again. */
export function isUnreachable(error: unknown): error is SlideError {
  return error instanceof SlideError && unreachable.has(error.code);
}

const unreachable: ReadonlySet<SlideErrorCode> = new Set(['BUSY', 'STORE_UNAVAILABLE', 'STORE_TIMEOUT']);
