/**
 * Reader of ordinary JPEG, PNG and JPEG 2000 files, which have one resolution and no tiles. The renderer draws smaller sizes. A
 * large JPEG or PNG is first copied into a temporary tiled pyramid (`plain-image-copy.ts`).
 *
 * docs/formats/plain-images.md lists the features that are read, with the source of each fact.
 */
import { isJpegStream, isProgressive } from '../decode/check-encoded-image.ts';
import { withGreyRange } from '../decode/contrast.ts';
import { isJpeg2000, readJpeg2000Header } from '../decode/jpeg2000-header.ts';
import { orientationTransform } from '../decode/orient-raster.ts';
import { isPng, readPngHeader } from '../decode/png-header.ts';
import { isColourMarker, type JpegHeader, marker, readJpegHeader, segments } from '../jpeg/header.ts';
import { readJpegHead } from '../jpeg/read-head.ts';
import { type Level, notSupportedError, type Orientation, type Slide, SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { memorySource } from '../source/memory-source.ts';
import { readOnce } from '../source/read-once.ts';
import type { SlideFiles } from '../source/slide-files.ts';
import { readOrientation } from '../tiff/image-layout.ts';
import { plausibleMpp, readResolution, uprightMpp } from '../tiff/resolution.ts';
import { openTiff } from '../tiff/tiff-file.ts';
import { levelsOfCopy, type TiledCopy, writeTiledCopy } from './plain-image-copy.ts';
import type { SlideFormat } from './slide-format.ts';

/** Micrometres per pixel; null when unknown. */
type Mpp = Slide['mpp'];

interface ImageHeader {
  readonly codec: 'jpeg' | 'png' | 'jpeg2000';
  /** Pixels as stored, before the orientation is applied. */
  readonly width: number;
  readonly height: number;
  /** Exif orientation: 1 is upright; 2 to 8 are rotated or mirrored. */
  readonly orientation: Orientation;
  readonly mpp: Mpp;
  /** Bits of a sample if the image has one sample per pixel and more than 8 bits; otherwise null. */
  readonly greyBits: number | null;
  /** Whether the image is a progressive JPEG, whose scans must be counted before it is decoded. */
  readonly isProgressive: boolean;
  /** Bytes that the decoder needs for the whole image; 0 if it works line by line, and for JPEG 2000 (see `MAX_JPEG2000_PIXELS`). */
  readonly decoderBytes: number;
}

/** Maximum pixels of an image; a larger one must be converted to a tiled format before it can be opened. */
const MAX_PIXELS = 200_000_000;
/** Limits of an image that is decoded as a whole for each rendered tile. A JPEG or PNG with more pixels is copied first. */
const SINGLE_TILE_LIMITS = { pixels: 2 ** 24, bytes: 128 * 2 ** 20 };
/** Maximum pixels of a JPEG 2000, whose decoder always decodes the whole image. */
const MAX_JPEG2000_PIXELS = 2 ** 23;
/** Maximum memory of the decoder of an image that cannot be decoded line by line. */
const MAX_DECODER_BYTES = 192 * 2 ** 20;
/** Maximum side of an image in pixels, a limit of libpng. */
const MAX_SIDE = 1_000_000;

/** For each codec: the test of a file's first bytes, and the reader of its header. */
const headerReaders: readonly {
  readonly hasSignature: (start: Uint8Array) => boolean;
  readonly readHeader: (source: ByteSource) => Promise<ImageHeader>;
}[] = [
  { hasSignature: isJpegStream, readHeader: readJpegFile },
  { hasSignature: isPng, readHeader: readPngFile },
  { hasSignature: isJpeg2000, readHeader: readJpeg2000File },
];

export const plainImage: SlideFormat = {
  name: 'plain-image',
  needsRendering: true,

  mismatchReason({ start }) {
    const isImage = headerReaders.some(({ hasSignature }) => hasSignature(start));
    return isImage ? null : 'it does not begin like JPEG, PNG or JPEG 2000';
  },

  async open(files, { start }) {
    const reader = headerReaders.find(({ hasSignature }) => hasSignature(start));
    const imageHeader = await reader?.readHeader(files.main);
    if (!imageHeader) throw new SlideError('FORMAT_NOT_RECOGNISED', 'The file is not an image');
    checkSize(imageHeader);
    const { width, height, codec, orientation, mpp, greyBits } = imageHeader;
    const { isSwapped } = orientationTransform(orientation);
    const uprightSize = isSwapped ? { width: height, height: width } : { width, height };
    const isOneTile = codec === 'jpeg2000' || width * height <= SINGLE_TILE_LIMITS.pixels;
    const tileReader = isOneTile ? openOneTile(files, imageHeader) : openTiledCopy(files, imageHeader);
    const levels: Slide['levels'] = isOneTile
      ? [oneTileLevel(uprightSize)]
      : levelsOfCopy(uprightSize.width, uprightSize.height);
    return {
      format: codec,
      fingerprint: files.fingerprint,
      vendor: null,
      levels,
      mpp: uprightMpp(mpp, orientation),
      objectivePower: null,
      background: { r: 255, g: 255, b: 255 },
      associatedImages: new Set(),
      // A grey range states which samples are displayed as black and white; null: the file declares none. The reader of a tiled
      // copy applies the range itself.
      readTile:
        isOneTile && greyBits !== null
          ? withGreyRange({ levels, readTile: tileReader.readTile }, greyBits, null)
          : tileReader.readTile,
      async readAssociatedImage(name) {
        throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
      },
      // The decoder applies the profile and returns sRGB.
      readIccProfile: async () => null,
      close: tileReader.close,
    };
  },
};

/**
 * Returns the level of an image that is one tile. It needs rendering because the stored bytes are never sent: they may
 * contain location, author and comments.
 */
function oneTileLevel({ width, height }: { width: number; height: number }): Level {
  return {
    width,
    height,
    tileWidth: width,
    tileHeight: height,
    columns: 1,
    rows: 1,
    downsample: 1,
    needsRendering: true,
  };
}

function checkSize({ width, height, codec, decoderBytes }: ImageHeader): void {
  const maxPixels = codec === 'jpeg2000' ? MAX_JPEG2000_PIXELS : MAX_PIXELS;
  if (width * height > maxPixels || Math.max(width, height) > MAX_SIDE) {
    throw new SlideError(
      'LIMIT_EXCEEDED',
      `An image of ${width} × ${height} pixels is too large for a format without tiles: ` +
        `at most ${maxPixels} pixels. Save it as a pyramidal TIFF.`,
    );
  }
  if (decoderBytes > MAX_DECODER_BYTES) {
    throw new SlideError(
      'LIMIT_EXCEEDED',
      `A progressive or interlaced image of ${width} × ${height} pixels is too large, because it must be decoded as a ` +
        'whole. Save it as a baseline JPEG, a non-interlaced PNG or a pyramidal TIFF.',
    );
  }
}

/** The functions of `Slide` that depend on whether the image has a tiled copy. */
type TileReader = Pick<Slide, 'readTile' | 'close'>;

/** Reads the whole image as one tile. */
function openOneTile({ main, close }: SlideFiles, imageHeader: ImageHeader): TileReader {
  const { codec, width, height, orientation } = imageHeader;
  return {
    async readTile({ level, column, row }, signal) {
      if (level !== 0 || column !== 0 || row !== 0) {
        throw new SlideError('TILE_OUT_OF_RANGE', `There is no tile ${column}, ${row} of level ${level}`);
      }
      if (main.size > SINGLE_TILE_LIMITS.bytes) {
        throw new SlideError(
          'LIMIT_EXCEEDED',
          `An image of ${width} × ${height} pixels has ${main.size} bytes`,
        );
      }
      const bytes = await main.read(0, main.size, signal);
      return { codec, bytes, width, height, ...(orientation !== 1 && { orientation }) };
    },
    close,
  };
}

/** Reads tiles from a tiled copy of the image. The copy is written when the first tile is read. */
function openTiledCopy(files: SlideFiles, imageHeader: ImageHeader): TileReader {
  const { width, height, orientation, greyBits, isProgressive } = imageHeader;
  const options = {
    width,
    height,
    needsAutoOrient: orientation !== 1,
    isOpaqueGrey16: greyBits !== null,
    isProgressive,
  };
  /** Null until the first tile is read; `close` must not start a copy. */
  let startedCopy: Promise<TiledCopy> | null = null;
  const getCopy = readOnce(() => {
    startedCopy = writeTiledCopy(files, options);
    return startedCopy;
  });
  return {
    readTile: async (address, signal) => (await getCopy()).readTile(address, signal),
    async close() {
      // A failed copy has nothing to close; readTile has already thrown its error.
      const finishedCopy = await Promise.resolve(startedCopy).catch(() => null);
      await finishedCopy?.close();
      await files.close();
    },
  };
}

/** JPEG markers SOF0, SOF1 and SOF2: the coding of the frame. */
const BASELINE = 0xc0;
const EXTENDED = 0xc1;
const PROGRESSIVE = 0xc2;
/** JPEG marker of the segment with Exif metadata. */
const APP1 = 0xe1;

async function readJpegFile(source: ByteSource): Promise<ImageHeader> {
  const head = await readJpegHead(source, 0, source.size);
  const header = readJpegHeader(head);
  const { frameMarker, precision, width, height, components } = header;
  if (width === 0 || height === 0)
    throw new SlideError('FILE_CORRUPT', `A JPEG has ${width} × ${height} pixels`);
  if (![BASELINE, EXTENDED, PROGRESSIVE].includes(frameMarker) || precision !== 8) {
    throw notSupportedError('lossless, arithmetic or 12-bit JPEG');
  }
  if (![1, 3, 4].includes(components.length))
    throw notSupportedError(`JPEG of ${components.length} components`);
  const { orientation, mpp } = await readJpegMetadata(head);
  return {
    codec: 'jpeg',
    width,
    height,
    orientation,
    mpp,
    greyBits: null,
    isProgressive: isProgressive(frameMarker),
    decoderBytes: coefficientBytes(header),
  };
}

/**
 * Returns the bytes of memory that the decoder needs for DCT coefficients (2 bytes each). If the samples are spread over
 * several scans, the decoder keeps all coefficients until the last scan; otherwise, it works line by line and keeps none.
 */
function coefficientBytes({ frameMarker, width, height, components, scanComponents }: JpegHeader): number {
  if (frameMarker !== PROGRESSIVE && scanComponents === components.length) return 0;
  const maxHorizontal = Math.max(...components.map(({ horizontalSampling }) => horizontalSampling));
  const maxVertical = Math.max(...components.map(({ verticalSampling }) => verticalSampling));
  // Subsampled components have less than one sample per pixel.
  const samplesPerPixel = components
    .map(
      ({ horizontalSampling, verticalSampling }) =>
        (horizontalSampling * verticalSampling) / (maxHorizontal * maxVertical),
    )
    .reduce((sum, samples) => sum + samples, 0);
  return 2 * width * height * samplesPerPixel;
}

/**
 * Reads orientation and pixel size from Exif. If Exif states no pixel size, that of the JFIF segment is used.
 *
 * Source: Exif 2.32, 4.5.4 (APP1) and 4.6.4 (Orientation, resolution); JFIF 1.02 (density).
 */
async function readJpegMetadata(head: Uint8Array): Promise<{ orientation: Orientation; mpp: Mpp }> {
  let jfifMpp: Mpp = null;
  for (const segment of segments(head)) {
    const body = Buffer.from(head.buffer, head.byteOffset + segment.bodyAt, segment.end - segment.bodyAt);
    const isJfif = segment.marker === marker.APP0 && isColourMarker(head, segment); // in APP0, this checks for "JFIF"
    if (isJfif) jfifMpp = readJfifDensity(body);
    if (segment.marker === APP1 && body.subarray(0, EXIF.length).equals(EXIF)) {
      const exif = await readExif(body.subarray(EXIF.length));
      return { orientation: exif.orientation, mpp: exif.mpp ?? jfifMpp };
    }
  }
  return { orientation: 1, mpp: jfifMpp };
}

/** The first bytes of an Exif segment's body. */
const EXIF = Buffer.from('Exif\0\0', 'latin1');

/** Reads Exif metadata, which are stored like a TIFF file. */
async function readExif(bytes: Uint8Array): Promise<{ orientation: Orientation; mpp: Mpp }> {
  try {
    const { first } = await openTiff(memorySource(bytes));
    return { orientation: await readOrientation(first), mpp: await readResolution(first) };
  } catch (error) {
    // An image with damaged metadata is still readable.
    if (error instanceof SlideError) return { orientation: 1, mpp: null };
    throw error;
  }
}

/** Micrometres per unit of a JFIF density: unit 1 is an inch, 2 a centimetre. With unit 0, JFIF states only an aspect ratio. */
const JFIF_UNITS: Readonly<Record<number, number>> = { 1: 25_400, 2: 10_000 };

/**
 * Reads the pixel size from the body of a JFIF segment: "JFIF" and NUL, version (2 bytes), unit (byte 7), pixels per unit in x
 * (bytes 8 and 9) and in y (bytes 10 and 11).
 */
function readJfifDensity(body: Buffer): Mpp {
  const unitMicrometres = body.length >= 12 ? JFIF_UNITS[body.readUInt8(7)] : undefined;
  if (unitMicrometres === undefined) return null;
  return plausibleMpp(unitMicrometres / body.readUInt16BE(8), unitMicrometres / body.readUInt16BE(10));
}

async function readPngFile(source: ByteSource): Promise<ImageHeader> {
  const header = await readPngHeader(source);
  if (header.isAnimated) throw notSupportedError('animated PNG');
  const { width, height, bytesPerPixel, isInterlaced, isOpaqueGrey16, pixelsPerMetre } = header;
  return {
    codec: 'png',
    width,
    height,
    orientation: 1,
    mpp: pixelsPerMetre && plausibleMpp(1e6 / pixelsPerMetre.x, 1e6 / pixelsPerMetre.y),
    greyBits: isOpaqueGrey16 ? 16 : null,
    isProgressive: false,
    decoderBytes: isInterlaced ? width * height * bytesPerPixel : 0,
  };
}

/**
 * Bytes that are read to find the header: `first` in the first attempt, then 16 times as many, up to `max`. Long boxes
 * (the blocks of a JPEG 2000 file) with other data may precede the header.
 */
const HEAD_BYTES = { first: 64 * 1024, max: 16 * 2 ** 20 };

async function readJpeg2000File(source: ByteSource): Promise<ImageHeader> {
  for (let length = HEAD_BYTES.first; ; length *= 16) {
    const bytes = await source.read(0, Math.min(length, source.size));
    try {
      const { width, height, components, bits, isSigned } = readJpeg2000Header(bytes);
      const isRgb = components === 3;
      const minBits = isRgb ? 8 : 1;
      const hasSupportedBits = !isSigned && bits >= minBits && bits <= 16;
      if (!hasSupportedBits || (components !== 1 && !isRgb))
        throw notSupportedError(`JPEG 2000 of ${components} components of ${bits} bits`);
      const greyBits = components === 1 && bits > 8 ? bits : null;
      return {
        codec: 'jpeg2000',
        width,
        height,
        orientation: 1,
        mpp: null,
        greyBits,
        isProgressive: false,
        decoderBytes: 0,
      };
    } catch (error) {
      const mayBeCutOff =
        error instanceof SlideError && error.code === 'FILE_CORRUPT' && length < source.size;
      if (!mayBeCutOff || length >= HEAD_BYTES.max) throw error;
    }
  }
}
