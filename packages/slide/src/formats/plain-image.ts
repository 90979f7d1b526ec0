/**
 * Pictures that were not made to be slides: JPEG, PNG and JPEG 2000 files. They have one resolution, not cut into
 * tiles; every smaller one is made.
 *
 * docs/formats/plain-images.md says what is read, and where each fact is from.
 */
import { withGreyRange } from '../decode/contrast.ts';
import { isJpeg2000, readJpeg2000Header } from '../decode/jpeg2000-header.ts';
import { isPng, readPngHeader } from '../decode/png-header.ts';
import { turnOf } from '../decode/turn-raster.ts';
import { isColourMarker, type JpegHeader, marker, readJpegHeader, segments } from '../jpeg/header.ts';
import { readJpegHead } from '../jpeg/read-head.ts';
import { type Level, type Orientation, type Slide, SlideError } from '../slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { memorySource } from '../source/memory-source.ts';
import { readOnce } from '../source/read-once.ts';
import type { SlideFiles } from '../source/slide-files.ts';
import type { SlideFormat } from '../source/slide-format.ts';
import { readOrientation } from '../tiff/image-layout.ts';
import { plausibleMpp, readResolution } from '../tiff/resolution.ts';
import { openTiff } from '../tiff/tiff-file.ts';
import { levelsOfCopy, makeTiledCopy, type TiledCopy } from './plain-image-copy.ts';

type Mpp = Slide['mpp'];

/** A picture as its file describes it. */
interface PlainPicture {
  readonly codec: 'jpeg' | 'png' | 'jpeg2000';
  /** Pixels as they are stored: not turned. */
  readonly width: number;
  readonly height: number;
  readonly orientation: Orientation;
  readonly mpp: Mpp;
  /** Of a sample, where the picture is of one sample a pixel and has more than 8; else null. */
  readonly greyBits: number | null;
  /** Memory that decoding takes for all of the picture at once; 0 where it goes line by line. */
  readonly bytesAtOnce: number;
}

/** A picture of more has to be saved in a format that is cut into tiles. */
const MOST_PIXELS = 200_000_000;
/** Decoded as a whole each time it is needed; a larger one is copied into tiles first. */
const MOST_DIRECT = { pixels: 2 ** 24, bytes: 128 * 2 ** 20 };
/** What decodeJpeg2000 decodes, which has no other way than the whole picture. */
const MOST_JPEG2000_PIXELS = 2 ** 23;
const MOST_BYTES_AT_ONCE = 192 * 2 ** 20;
/** libpng takes no more by itself. */
const MOST_SIDE = 1_000_000;

const kinds: readonly {
  readonly isKind: (start: Uint8Array) => boolean;
  readonly read: (source: ByteSource) => Promise<PlainPicture>;
}[] = [
  { isKind: isJpeg, read: readJpegPicture },
  { isKind: isPng, read: readPngPicture },
  { isKind: isJpeg2000, read: readJpeg2000Picture },
];

export const plainImage: SlideFormat = {
  name: 'plain-image',
  isOnlyMade: true,

  mismatch({ start }) {
    return kinds.some(({ isKind }) => isKind(start))
      ? null
      : 'it begins neither like JPEG nor PNG nor JPEG 2000';
  },

  async open(files, { start }) {
    const picture = await kinds.find(({ isKind }) => isKind(start))?.read(files.leading);
    if (!picture) throw new SlideError('FORMAT_NOT_RECOGNISED', 'The file is no picture');
    checkSize(picture);
    const { width, height, codec, orientation, mpp, greyBits } = picture;
    const { isSwapped } = turnOf(orientation);
    const upright = isSwapped ? { width: height, height: width } : { width, height };
    const isDirect = codec === 'jpeg2000' || width * height <= MOST_DIRECT.pixels;
    const tiles = isDirect ? wholeTile(files, picture) : copiedTiles(files, picture);
    const levels: Slide['levels'] = isDirect
      ? [wholeLevel(upright)]
      : levelsOfCopy(upright.width, upright.height);
    return {
      format: codec,
      fingerprint: files.fingerprint,
      vendor: null,
      levels,
      mpp: mpp && isSwapped ? { x: mpp.y, y: mpp.x } : mpp,
      objectivePower: null,
      background: { r: 255, g: 255, b: 255 },
      associatedImages: new Set(),
      readTile:
        isDirect && greyBits !== null
          ? withGreyRange({ levels, readTile: tiles.readTile }, greyBits, null)
          : tiles.readTile,
      async readAssociatedImage(name) {
        throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
      },
      // What is decoded is sRGB already.
      readIccProfile: async () => null,
      close: tiles.close,
    };
  },
};

/** A picture that is one tile. As it is stored it may hold anything besides: where it was taken, by whom, a comment. */
function wholeLevel({ width, height }: { width: number; height: number }): Level {
  return {
    width,
    height,
    tileWidth: width,
    tileHeight: height,
    columns: 1,
    rows: 1,
    downsample: 1,
    isMade: true,
  };
}

function checkSize({ width, height, codec, bytesAtOnce }: PlainPicture): void {
  const most = codec === 'jpeg2000' ? MOST_JPEG2000_PIXELS : MOST_PIXELS;
  if (width * height > most || Math.max(width, height) > MOST_SIDE) {
    throw new SlideError(
      'LIMIT_EXCEEDED',
      `A picture of ${width} × ${height} pixels is too large for a file that is not cut into tiles: ` +
        `${most} pixels at most. Save it as a pyramidal TIFF.`,
    );
  }
  if (bytesAtOnce > MOST_BYTES_AT_ONCE) {
    throw new SlideError(
      'LIMIT_EXCEEDED',
      `A progressive or interlaced picture of ${width} × ${height} pixels is too large: all of it has to be decoded ` +
        'at once. Save it without, or as a pyramidal TIFF.',
    );
  }
}

type Tiles = Pick<Slide, 'readTile' | 'close'>;

function wholeTile({ leading, close }: SlideFiles, picture: PlainPicture): Tiles {
  const { codec, width, height, orientation } = picture;
  return {
    async readTile({ level, column, row }, signal) {
      if (level !== 0 || column !== 0 || row !== 0) {
        throw new SlideError('TILE_OUT_OF_RANGE', `There is no tile ${column}, ${row} of level ${level}`);
      }
      if (leading.size > MOST_DIRECT.bytes) {
        throw new SlideError(
          'LIMIT_EXCEEDED',
          `A picture of ${width} × ${height} pixels has ${leading.size} bytes`,
        );
      }
      const bytes = await leading.read(0, leading.size, signal);
      return { codec, bytes, width, height, ...(orientation !== 1 && { orientation }) };
    },
    close,
  };
}

function copiedTiles(files: SlideFiles, { width, height, orientation, greyBits }: PlainPicture): Tiles {
  const plan = { width, height, isTurned: orientation !== 1, isWideGrey: greyBits !== null };
  let copying: Promise<TiledCopy> | null = null;
  const copy = readOnce(() => {
    copying = makeTiledCopy(files, plan);
    return copying;
  });
  return {
    readTile: async (address, signal) => (await copy()).readTile(address, signal),
    async close() {
      // A copy that failed has nothing to close, and has told whoever wanted it.
      const made = await Promise.resolve(copying).catch(() => null);
      await made?.close();
      await files.close();
    },
  };
}

function isJpeg(start: Uint8Array): boolean {
  return start[0] === 0xff && start[1] === marker.SOI && start[2] === 0xff;
}

const [BASELINE, EXTENDED, PROGRESSIVE] = [0xc0, 0xc1, 0xc2];
const APP1 = 0xe1;

async function readJpegPicture(source: ByteSource): Promise<PlainPicture> {
  const head = await readJpegHead(source, 0, source.size);
  const header = readJpegHeader(head);
  const { frameMarker, precision, width, height, components } = header;
  if (width === 0 || height === 0)
    throw new SlideError('FILE_CORRUPT', `A JPEG has ${width} × ${height} pixels`);
  if (![BASELINE, EXTENDED, PROGRESSIVE].includes(frameMarker) || precision !== 8) {
    throw notRead('lossless, arithmetic or 12-bit JPEG');
  }
  if (![1, 3, 4].includes(components.length)) throw notRead(`JPEG of ${components.length} components`);
  const { orientation, mpp } = await readJpegMetadata(head);
  return {
    codec: 'jpeg',
    width,
    height,
    orientation,
    mpp,
    greyBits: null,
    bytesAtOnce: coefficientBytes(header),
  };
}

/** Where a component comes in several scans, all its coefficients wait for the last; they are numbers of 16 bits. */
function coefficientBytes({ frameMarker, width, height, components, scanComponents }: JpegHeader): number {
  if (frameMarker !== PROGRESSIVE && scanComponents === components.length) return 0;
  const across = Math.max(...components.map(({ horizontal }) => horizontal));
  const down = Math.max(...components.map(({ vertical }) => vertical));
  const shares = components.map(({ horizontal, vertical }) => (horizontal * vertical) / (across * down));
  return 2 * width * height * shares.reduce((sum, share) => sum + share, 0);
}

/** Source: Exif 2.32, 4.5.4 (APP1) and 4.6.4 (Orientation, resolution); JFIF 1.02 (density). */
async function readJpegMetadata(head: Uint8Array): Promise<{ orientation: Orientation; mpp: Mpp }> {
  let jfif: Mpp = null;
  for (const segment of segments(head, 2)) {
    const body = Buffer.from(head.buffer, head.byteOffset + segment.bodyAt, segment.end - segment.bodyAt);
    if (segment.marker === marker.APP0 && isColourMarker(head, segment)) jfif = readJfifDensity(body);
    if (segment.marker === APP1 && body.subarray(0, 6).equals(EXIF)) {
      const exif = await readExif(body.subarray(EXIF.length));
      return { orientation: exif.orientation, mpp: exif.mpp ?? jfif };
    }
  }
  return { orientation: 1, mpp: jfif };
}

const EXIF = Buffer.from('Exif\0\0', 'latin1');

async function readExif(bytes: Uint8Array): Promise<{ orientation: Orientation; mpp: Mpp }> {
  try {
    const { first } = await openTiff(memorySource(bytes));
    return { orientation: await readOrientation(first), mpp: await readResolution(first) };
  } catch (error) {
    // Whatever cameras and editors have made of it, the picture itself is none the worse.
    if (error instanceof SlideError) return { orientation: 1, mpp: null };
    throw error;
  }
}

/** Micrometres, by the unit of the density: 1 an inch, 2 a centimetre. */
const JFIF_UNITS: Readonly<Record<number, number>> = { 1: 25_400, 2: 10_000 };

function readJfifDensity(body: Buffer): Mpp {
  const unit = body.length >= 12 ? JFIF_UNITS[body.readUInt8(7)] : undefined;
  return unit === undefined ? null : plausibleMpp(unit / body.readUInt16BE(8), unit / body.readUInt16BE(10));
}

async function readPngPicture(source: ByteSource): Promise<PlainPicture> {
  const header = await readPngHeader(source);
  if (header.isAnimated) throw notRead('animated PNG');
  const { width, height, bytesPerPixel, isInterlaced, isWideGrey, pixelsPerMetre } = header;
  return {
    codec: 'png',
    width,
    height,
    orientation: 1,
    mpp: pixelsPerMetre && plausibleMpp(1e6 / pixelsPerMetre.x, 1e6 / pixelsPerMetre.y),
    greyBits: isWideGrey ? 16 : null,
    bytesAtOnce: isInterlaced ? width * height * bytesPerPixel : 0,
  };
}

/** Boxes may stand before the code stream, and be long; pictures are not read for their headers alone. */
const HEAD_BYTES = { first: 64 * 1024, most: 16 * 2 ** 20 };

async function readJpeg2000Picture(source: ByteSource): Promise<PlainPicture> {
  for (let length = HEAD_BYTES.first; ; length *= 16) {
    const bytes = await source.read(0, Math.min(length, source.size));
    try {
      const { width, height, components, bits, isSigned } = readJpeg2000Header(bytes);
      const isRead =
        !isSigned && ((components === 1 && bits <= 16) || (components === 3 && bits >= 8 && bits <= 16));
      if (!isRead) throw notRead(`JPEG 2000 of ${components} components of ${bits} bits`);
      const greyBits = components === 1 && bits > 8 ? bits : null;
      return { codec: 'jpeg2000', width, height, orientation: 1, mpp: null, greyBits, bytesAtOnce: 0 };
    } catch (error) {
      const isCut = error instanceof SlideError && error.code === 'FILE_CORRUPT' && length < source.size;
      if (!isCut || length >= HEAD_BYTES.most) throw error;
    }
  }
}

function notRead(what: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not read: ${what}`);
}
