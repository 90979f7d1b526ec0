/**
 * Reader of the blocks of a TIFF image (its tiles or strips) as encoded images, without decoding them. An image whose
 * samples are not interleaved has one set of blocks for each sample, here called a plane. The codec `tiff` stands for
 * all encodings that only the directory describes, e.g. LZW or uncompressed samples.
 */
import { completeJpeg, jpegPrefix, maskColourMarkers, tileOffset } from '../jpeg/complete-jpeg.ts';
import type { JpegHeader } from '../jpeg/header.ts';
import { type BufferAllocator, type EncodedImage, SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { readOnce } from '../source/read-once.ts';
import { type BlockTags, type FindBlock, readBlockTable, type StoredBlock } from './block-table.ts';
import type { TiffDirectory } from './directory.ts';
import type { ImageCoding } from './image-coding.ts';
import { limits } from './limits.ts';
import { tag } from './tags.ts';

/** The blocks that form one encoded image, and the size that this image must have. */
export interface BlockRequest {
  /** Index of the first block, in the first plane. */
  readonly first: number;
  /** Number of consecutive blocks of a plane (strips, one below the other); above 1 only for the codec `tiff`. */
  readonly count: number;
  /** Size in pixels of all blocks together. */
  readonly width: number;
  readonly height: number;
  /** Rows of one block; the last may have fewer. */
  readonly blockRows: number;
  /** Size in pixels of the part inside the image; the rest is padding, which a JPEG at the edge may omit. */
  readonly filledWidth: number;
  readonly filledHeight: number;
}

/**
 * Reads blocks as one encoded image.
 *
 * @param allocate creates the buffer of a JPEG; other codecs ignore it
 * @returns null when the blocks are empty
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, FORMAT_NOT_SUPPORTED, LIMIT_EXCEEDED
 */
export type ReadBlocks = (
  request: BlockRequest,
  signal?: AbortSignal,
  allocate?: BufferAllocator,
) => Promise<EncodedImage | null>;

/**
 * Returns the function that reads the blocks of an image.
 *
 * @param tags the tags of the block table: those for tiles or those for strips
 * @param blocksPerPlane blocks per plane; all blocks when the samples of a pixel are interleaved
 */
export function createBlockReader(
  source: ByteSource,
  directory: TiffDirectory,
  coding: ImageCoding,
  tags: BlockTags,
  blocksPerPlane: number,
): ReadBlocks {
  switch (coding.codec) {
    case 'jpeg':
      return createJpegReader(source, directory, coding, tags, blocksPerPlane);
    case 'tiff':
      return createSampleReader(source, directory, coding, tags, blocksPerPlane);
    case 'jpeg2000':
    case 'webp':
      return createStreamReader(source, directory, coding, tags, blocksPerPlane);
  }
}

const newBuffer: BufferAllocator = (byteCount) => new Uint8Array(byteCount);

type CodingOf<C extends ImageCoding['codec']> = Extract<ImageCoding, { codec: C }>;

/** Reads blocks that are JPEG streams, and completes each stream so that it can be decoded alone. */
function createJpegReader(
  source: ByteSource,
  directory: TiffDirectory,
  { colour }: CodingOf<'jpeg'>,
  tags: BlockTags,
  blocksPerPlane: number,
): ReadBlocks {
  // The block table covers one plane; `createSampleReader` reads JPEGs in several planes. The prefix holds what a JPEG
  // of the file may lack: the tables that all tiles share, and the colour marker.
  const readTables = readOnce(async () => ({
    findBlock: await readBlockTable(source, directory, tags, blocksPerPlane),
    prefix: jpegPrefix(await directory.bytes(tag.JPEGTables), colour),
  }));
  /** The result of `readTables`; keeping it saves an `await` per tile. */
  let tables: Awaited<ReturnType<typeof readTables>> | null = null;
  return async (request, signal, allocate = newBuffer) => {
    tables ??= await readTables();
    const { findBlock, prefix } = tables;
    const block = findBlock(request.first);
    if (!block) return null;
    const streamAt = tileOffset(prefix); // leaves room for the prefix
    const buffer = allocate(streamAt + block.byteCount);
    await source.readInto(buffer, streamAt, block.offset, block.byteCount, signal);
    const { jpeg, header } = completeJpeg(buffer, prefix);
    checkFrame(header, request);
    const components = colour === 'grey' ? 1 : 3;
    if (header.components.length !== components) {
      throw new SlideError('FILE_CORRUPT', `A tile has ${header.components.length} components`);
    }
    return { codec: 'jpeg', bytes: jpeg, width: header.width, height: header.height };
  };
}

/** Checks that the header of a JPEG agrees with the directory, before the JPEG is sent to clients or decoded. */
function checkFrame(header: JpegHeader, request: BlockRequest): void {
  const { width, height } = header;
  const hasValidWidth = width >= request.filledWidth && width <= request.width;
  const hasValidHeight = height >= request.filledHeight && height <= request.height;
  if (!hasValidWidth || !hasValidHeight) {
    throw new SlideError(
      'FILE_CORRUPT',
      `A tile is ${width} × ${height} pixels, not ${request.width} × ${request.height}`,
    );
  }
  const isBaselineOrProgressive = header.frameMarker <= 0xc2; // SOF0, SOF1 or SOF2
  if (!isBaselineOrProgressive || header.precision !== 8) {
    throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not supported: lossless, arithmetic or 12-bit JPEG');
  }
}

/** Reads blocks that are complete JPEG 2000 or WebP streams. */
function createStreamReader(
  source: ByteSource,
  directory: TiffDirectory,
  coding: CodingOf<'jpeg2000' | 'webp'>,
  tags: BlockTags,
  blocksPerPlane: number,
): ReadBlocks {
  const readTable = readOnce(() => readBlockTable(source, directory, tags, blocksPerPlane));
  return async ({ first, width, height }, signal) => {
    const block = (await readTable())(first);
    if (!block) return null;
    const bytes = await source.read(block.offset, block.byteCount, signal);
    const colour = coding.codec === 'jpeg2000' ? coding.colour : null;
    return { codec: coding.codec, bytes, width, height, ...(colour && { colour }) };
  };
}

/** Reads the blocks of all planes, without decompressing them, as an image of the codec `tiff`. */
function createSampleReader(
  source: ByteSource,
  directory: TiffDirectory,
  { samples }: CodingOf<'tiff'>,
  tags: BlockTags,
  blocksPerPlane: number,
): ReadBlocks {
  const planes = samples.isPlanar ? samples.samplesPerPixel : 1;
  const readTables = readOnce(async () => ({
    findBlock: await readBlockTable(source, directory, tags, blocksPerPlane * planes),
    jpegTables: samples.packing === 'jpeg' ? await directory.bytes(tag.JPEGTables) : null,
  }));
  return async (request, signal) => {
    const { width, height, blockRows } = request;
    const { findBlock, jpegTables } = await readTables();
    const blocks = findBlocks(findBlock, request, planes, blocksPerPlane);
    if (!blocks) return null;
    const readBytes = samples.packing === 'jpeg' ? readJpegBlocks : readStoredBlocks;
    const { bytes, blockBytes } = await readBytes(source, blocks, jpegTables, signal);
    return { codec: 'tiff', bytes, width, height, coding: { ...samples, blockRows, blockBytes } };
  };
}

/** Returns the blocks plane by plane; null when all are empty. */
function findBlocks(
  findBlock: FindBlock,
  { first, count }: BlockRequest,
  planes: number,
  blocksPerPlane: number,
): StoredBlock[] | null {
  const blocks: StoredBlock[] = [];
  let missingCount = 0;
  let totalBytes = 0;
  for (let plane = 0; plane < planes; plane++) {
    for (let i = 0; i < count; i++) {
      const block = findBlock(plane * blocksPerPlane + first + i);
      if (block) blocks.push(block);
      else missingCount++;
      totalBytes += block?.byteCount ?? 0;
    }
  }
  if (totalBytes > limits.tileBytes) throw new SlideError('LIMIT_EXCEEDED', `A tile has ${totalBytes} bytes`);
  if (blocks.length === 0) return null;
  if (missingCount > 0) throw new SlideError('FILE_CORRUPT', 'Some blocks of a tile are missing');
  return blocks;
}

/** The bytes of several blocks, one after the other, and the length of each in bytes. */
interface JoinedBlocks {
  readonly bytes: Uint8Array;
  readonly blockBytes: readonly number[];
}

/** Reads blocks without changing their bytes. */
async function readStoredBlocks(
  source: ByteSource,
  blocks: readonly StoredBlock[],
  _tables: Uint8Array | null, // unused; readStoredBlocks and readJpegBlocks have the same parameters
  signal?: AbortSignal,
): Promise<JoinedBlocks> {
  const blockBytes = blocks.map(({ byteCount }) => byteCount);
  const bytes = new Uint8Array(blockBytes.reduce((sum, length) => sum + length, 0));
  let targetAt = 0;
  for (const { offset, byteCount } of blocks) {
    await source.readInto(bytes, targetAt, offset, byteCount, signal);
    targetAt += byteCount;
  }
  return { bytes, blockBytes };
}

/** Completes JPEG streams with their tables, and masks their colour markers, because the directory defines the colours. */
async function readJpegBlocks(
  source: ByteSource,
  blocks: readonly StoredBlock[],
  tables: Uint8Array | null,
  signal?: AbortSignal,
): Promise<JoinedBlocks> {
  const prefix = jpegPrefix(tables, 'grey'); // `grey` adds no colour marker
  const streamAt = tileOffset(prefix);
  const jpegs: Uint8Array[] = [];
  for (const { offset, byteCount } of blocks) {
    const buffer = new Uint8Array(streamAt + byteCount);
    await source.readInto(buffer, streamAt, offset, byteCount, signal);
    const { jpeg } = completeJpeg(buffer, prefix);
    maskColourMarkers(jpeg);
    jpegs.push(jpeg);
  }
  return { bytes: Buffer.concat(jpegs), blockBytes: jpegs.map(({ length }) => length) };
}
