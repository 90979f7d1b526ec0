/** Builds Zeiss CZI files for tests. Source: docs/formats/czi.md. */
import zlib from 'node:zlib';
import sharp from 'sharp';
import type { Raster } from '../decode/raster.ts';

/** One subblock (a rectangle of stored pixels) of a CZI file to build. */
export interface SubblockPlan {
  /** Position in pixels of full resolution. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Size of the stored pixels at a reduced resolution; 0 or absent: the pixels are stored at `width` × `height`. */
  readonly storedWidth?: number;
  readonly storedHeight?: number;
  /** Positions in other dimensions, for example `{ C: 1, S: 0, M: 3 }` (channel, scene, mosaic index). */
  readonly dimensions?: Readonly<Record<string, number>>;
  /** A value of `cziPixelTypes`. */
  readonly pixelType: number;
  /** A value of `cziCompressions`. */
  readonly compression: number;
  /** The pixels in this compression, as `encodeCziPixels` returns them. */
  readonly data: Uint8Array;
}

/** An image that the file contains in addition to the slide, e.g. a thumbnail. */
export interface AttachmentPlan {
  readonly name: string;
  readonly fileType: string;
  readonly data: Uint8Array;
}

export interface CziPlan {
  readonly subblocks: readonly SubblockPlan[];
  /** The metadata; if absent, the file has no metadata segment. */
  readonly xml?: string;
  readonly attachments?: readonly AttachmentPlan[];
  /** Whether the directory precedes the subblocks, as in files of ZEN; by default it follows them. */
  readonly isDirectoryFirst?: boolean;
}

/** Positions of the parts of a file, for tests that damage them: of the headers of segments unless stated; 0 for an absent segment. */
export interface CziPlaces {
  /** Position of the first segment's body, after its header. */
  readonly file: number;
  readonly directory: number;
  /** Positions of the entries of the directory, one for each subblock. */
  readonly entries: readonly number[];
  readonly metadata: number;
  readonly attachmentDirectory: number;
  readonly attachments: readonly number[];
  readonly subblocks: readonly number[];
}

const SEGMENT_HEADER_BYTES = 32;
const SEGMENT_ALIGNMENT = 32;
/** Bytes of the directory's body before its first entry. */
const DIRECTORY_HEADER_BYTES = 128;
/** Bytes before the contents in the body of the metadata, of an attachment and of the attachment directory. */
const BODY_HEADER_BYTES = 256;

/** Builds a CZI file, segment by segment, and returns the positions of its parts. */
export function buildCzi(plan: CziPlan): { bytes: Buffer; places: CziPlaces } {
  const entries = plan.subblocks.map((subblock) => directoryEntry(subblock));
  const directoryBody = () =>
    Buffer.concat([padded(int32(entries.length), DIRECTORY_HEADER_BYTES), ...entries]);
  const pieces: Buffer[] = [];
  let end = 0;
  const add = (id: string, body: Buffer): number => {
    const at = end;
    const piece = segment(id, body);
    pieces.push(piece);
    end += piece.length;
    return at; // the position of the segment
  };

  const fileBody = Buffer.alloc(512);
  const majorVersion = 1;
  fileBody.writeInt32LE(majorVersion, 0);
  add('ZISRAWFILE', fileBody);
  const firstDirectory = plan.isDirectoryFirst ? add('ZISRAWDIRECTORY', directoryBody()) : null;
  const metadata = plan.xml === undefined ? 0 : add('ZISRAWMETADATA', metadataBody(plan.xml));
  const subblocks = plan.subblocks.map((subblock, i) => {
    const entry = entries[i] as Buffer;
    entry.writeBigInt64LE(BigInt(end), 6); // the position of the subblock
    return add('ZISRAWSUBBLOCK', subblockBody(entry, subblock.data));
  });
  const attachments = (plan.attachments ?? []).map(({ data }) => {
    return add('ZISRAWATTACH', Buffer.concat([padded(int32(data.length), BODY_HEADER_BYTES), data]));
  });
  const attachmentDirectory = plan.attachments
    ? add('ZISRAWATTDIR', attachmentDirectoryBody(plan.attachments, attachments))
    : 0;
  const directory = firstDirectory ?? add('ZISRAWDIRECTORY', directoryBody());

  const bytes = Buffer.concat(pieces);
  // The file segment states the positions of the directory, the metadata and the attachment directory.
  bytes.writeBigInt64LE(BigInt(directory), SEGMENT_HEADER_BYTES + 52);
  bytes.writeBigInt64LE(BigInt(metadata), SEGMENT_HEADER_BYTES + 60);
  bytes.writeBigInt64LE(BigInt(attachmentDirectory), SEGMENT_HEADER_BYTES + 72);
  const entryPlaces: number[] = [];
  let entryAt = directory + SEGMENT_HEADER_BYTES + DIRECTORY_HEADER_BYTES;
  for (const entry of entries) {
    // If the directory is first, its entries were written before the positions of the subblocks were known.
    bytes.set(entry, entryAt);
    entryPlaces.push(entryAt);
    entryAt += entry.length;
  }
  return {
    bytes,
    places: {
      file: SEGMENT_HEADER_BYTES,
      directory,
      entries: entryPlaces,
      metadata,
      attachmentDirectory,
      attachments,
      subblocks,
    },
  };
}

/** Builds a segment: id (16 bytes), allocated size, used size, body. */
function segment(id: string, body: Buffer): Buffer {
  const header = Buffer.alloc(SEGMENT_HEADER_BYTES);
  header.write(id, 'latin1');
  const allocated = Math.ceil(body.length / SEGMENT_ALIGNMENT) * SEGMENT_ALIGNMENT;
  header.writeBigInt64LE(BigInt(allocated), 16);
  header.writeBigInt64LE(BigInt(body.length), 24);
  return Buffer.concat([header, padded(body, allocated)]);
}

/** Builds the directory entry of a subblock. The position of the subblock (8 bytes at 6) is written later, when it is known. */
function directoryEntry(plan: SubblockPlan): Buffer {
  const { x, y, width, height, storedWidth = 0, storedHeight = 0, dimensions = {} } = plan;
  const header = Buffer.alloc(32);
  header.write('DV', 'latin1');
  header.writeInt32LE(plan.pixelType, 2);
  header.writeInt32LE(plan.compression, 18);
  header.writeInt8(storedWidth === 0 ? 0 : 2, 22); // the pyramid type: none, or several subblocks per level
  const allDimensions = [
    dimension('X', x, width, storedWidth),
    dimension('Y', y, height, storedHeight),
    ...Object.entries(dimensions).map(([name, start]) => dimension(name, start, 1, 0)),
  ];
  header.writeInt32LE(allDimensions.length, 28);
  return Buffer.concat([header, ...allDimensions]);
}

/** Builds a dimension of a directory entry. StartCoordinate (4 bytes at 12; not `start`) stays 0, because readers ignore it. */
function dimension(name: string, start: number, size: number, storedSize: number): Buffer {
  const bytes = Buffer.alloc(20);
  bytes.write(name, 'latin1');
  bytes.writeInt32LE(start, 4);
  bytes.writeInt32LE(size, 8);
  bytes.writeInt32LE(storedSize, 16);
  return bytes;
}

const SUBBLOCK_METADATA = Buffer.from('<METADATA />');

/** Builds the body of a subblock: the sizes of metadata (at 0) and pixels (at 8), then entry, metadata and pixels. */
function subblockBody(entry: Buffer, data: Uint8Array): Buffer {
  const sizes = Buffer.alloc(16);
  sizes.writeInt32LE(SUBBLOCK_METADATA.length, 0);
  sizes.writeBigInt64LE(BigInt(data.length), 8);
  const header = Buffer.concat([sizes, entry]);
  const minHeaderBytes = 256;
  return Buffer.concat([padded(header, Math.max(minHeaderBytes, header.length)), SUBBLOCK_METADATA, data]);
}

function metadataBody(xml: string): Buffer {
  const text = Buffer.from(xml);
  return Buffer.concat([padded(int32(text.length), BODY_HEADER_BYTES), text]);
}

/** Builds a list of attachments. An entry states the position (at byte 12), file type (at 40) and name (at 48). */
function attachmentDirectoryBody(plans: readonly AttachmentPlan[], places: readonly number[]): Buffer {
  const entries = plans.map(({ name, fileType }, i) => {
    const entry = Buffer.alloc(128);
    entry.write('A1', 'latin1');
    entry.writeBigInt64LE(BigInt(places[i] ?? 0), 12);
    entry.write(fileType, 40, 'latin1');
    entry.write(name, 48, 'latin1');
    return entry;
  });
  return Buffer.concat([padded(int32(entries.length), BODY_HEADER_BYTES), ...entries]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

/** Appends zeros up to a length. */
function padded(bytes: Buffer, length: number): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(length - bytes.length)]);
}

/** Pixel format of a subblock: order and bits of its samples. */
export type CziPixels = 'gray8' | 'gray16' | 'bgr24' | 'bgr48' | 'bgra32';
/** `zstd1` has a header; `zstd1-split` also stores the low and the high bytes of 16-bit samples separately. */
export type CziCompression = 'none' | 'jpeg' | 'zstd0' | 'zstd1' | 'zstd1-split';

export const cziPixelTypes: Readonly<Record<CziPixels, number>> = {
  gray8: 0,
  gray16: 1,
  bgr24: 3,
  bgr48: 4,
  bgra32: 9,
};
export const cziCompressions: Readonly<Record<CziCompression, number>> = {
  none: 0,
  jpeg: 1,
  zstd0: 5,
  zstd1: 6,
  'zstd1-split': 6,
};

/** The samples of a stored pixel in order: 0 is the red, 1 the green, 2 the blue one; null is an opaque alpha sample. */
const storedSamples: Readonly<Record<CziPixels, readonly (number | null)[]>> = {
  gray8: [1],
  gray16: [1],
  bgr24: [2, 1, 0],
  bgr48: [2, 1, 0],
  bgra32: [2, 1, 0, null],
};

/**
 * Encodes pixels as the data of a subblock. Grey formats contain the green samples. A 16-bit sample is 64 times the
 * 8-bit sample, as from a camera of 14 bits.
 */
export async function encodeCziPixels(
  { width, height, rgb }: Raster,
  pixels: CziPixels,
  compression: CziCompression,
): Promise<Uint8Array> {
  if (compression === 'jpeg') {
    const isGrey = pixels === 'gray8';
    const samples = isGrey ? rgb.filter((_, i) => i % 3 === 1) : rgb;
    return sharp(samples, { raw: { width, height, channels: isGrey ? 1 : 3 } })
      .toColourspace(isGrey ? 'b-w' : 'srgb')
      .jpeg({ quality: 95, chromaSubsampling: '4:4:4' })
      .toBuffer();
  }
  const order = storedSamples[pixels];
  const is16Bit = pixels === 'gray16' || pixels === 'bgr48';
  const bytes = new Uint8Array(width * height * order.length * (is16Bit ? 2 : 1));
  for (let pixel = 0, at = 0; pixel < width * height; pixel++) {
    for (const sample of order) {
      const value = sample === null ? 255 : (rgb[pixel * 3 + sample] as number);
      if (is16Bit) bytes[at++] = (value * 64) & 255;
      bytes[at++] = is16Bit ? (value * 64) >> 8 : value;
    }
  }
  switch (compression) {
    case 'none':
      return bytes;
    case 'zstd0':
      return zlib.zstdCompressSync(bytes);
    case 'zstd1': {
      const header = Uint8Array.of(1); // its length
      return Buffer.concat([header, zlib.zstdCompressSync(bytes)]);
    }
    case 'zstd1-split': {
      const low = bytes.filter((_, i) => i % 2 === 0);
      const high = bytes.filter((_, i) => i % 2 === 1);
      const header = Uint8Array.of(3, 1, 1); // its length, the chunk type, and the flag "bytes are split"
      return Buffer.concat([header, zlib.zstdCompressSync(Buffer.concat([low, high]))]);
    }
  }
}
