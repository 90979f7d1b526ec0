/** Temporary copy of a large JPEG or PNG as a tiled pyramid; without it, each tile would require decoding the whole image. */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { checkScanCount, countScans } from '../decode/check-encoded-image.ts';
import { loadSharp } from '../decode/load-sharp.ts';
import { GLASS } from '../decode/tiff-to-rgb.ts';
import { type EncodedImage, type Level, SlideError, type TileAddress } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { openFileSource } from '../source/file-source.ts';
import type { SlideFiles } from '../source/slide-files.ts';
import { openDisplayPyramid } from '../tiff/display-pyramid.ts';
import { openTiff } from '../tiff/tiff-file.ts';
import { readTiffImage } from '../tiff/tiff-image.ts';

/** An upright copy of an image, RGB or grey of 16 bits, as an uncompressed, tiled pyramid. */
export interface TiledCopy {
  /** @throws SlideError TILE_OUT_OF_RANGE */
  readTile(address: TileAddress, signal?: AbortSignal): Promise<EncodedImage | null>;
  /** Closes and deletes the copy. */
  close(): Promise<void>;
}

export interface TiledCopyOptions {
  /** Pixels of the image as stored; the decoder rejects an image with more. */
  readonly width: number;
  readonly height: number;
  /** Whether the image is stored rotated or mirrored, so that its copy must be turned upright. */
  readonly needsAutoOrient: boolean;
  /** Whether the image is grey with 16 bits and no transparency; the copy then has 16 bits too. */
  readonly isOpaqueGrey16: boolean;
  /** Whether the image is a progressive JPEG, whose scans must be counted before it is decoded. */
  readonly isProgressive: boolean;
}

/** Width and height of the copy's tiles in pixels. */
const TILE_SIDE = 512;
/** Estimated bytes of the copy per byte of full resolution: smaller levels add a third, padded edge tiles the rest. */
const PYRAMID_FACTOR = 1.5;
/** Bytes of the original file that are read at a time. */
const CHUNK_BYTES = 2 ** 20;

/**
 * Writes a tiled copy of a large JPEG or PNG, which cannot be decoded in parts. The image is decoded once, line by
 * line, into a temporary file. Except on Windows, the finished file is opened and then unlinked, so the operating system
 * frees its space even if the process crashes.
 *
 * @throws SlideError FILE_CORRUPT, LIMIT_EXCEEDED, DECODE_FAILED when the disk has too little free space for the copy
 */
export async function writeTiledCopy(
  { main, path }: Pick<SlideFiles, 'main' | 'path'>,
  options: TiledCopyOptions,
): Promise<TiledCopy> {
  const folder = await mkdtemp(join(tmpdir(), 'picture-'));
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  try {
    await checkFreeSpace(folder, main, options);
    if (options.isProgressive) await checkScans(main);
    const copyPath = join(folder, 'tiles.tif');
    // The decoder reads only files, so an image in object storage is first written to a file.
    const originalPath = path ?? (await writeOriginal(main, join(folder, 'original')));
    await writeTiles(originalPath, copyPath, options);
    const copySource = await openFileSource(copyPath);
    // Windows cannot delete an open file; there the folder is deleted when the copy is closed.
    if (process.platform !== 'win32') await removeFolder();
    return await openCopy(copySource, removeFolder).catch(async (error: unknown) => {
      await copySource.close();
      throw error;
    });
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

/**
 * Returns the levels that the copy will have: libvips halves the image, rounding down, until it fits into one tile or is one
 * pixel wide or high.
 *
 * @param width pixels of the upright image
 * @param height pixels of the upright image
 */
export function levelsOfCopy(width: number, height: number): [Level, ...Level[]] {
  const createLevel = (levelWidth: number, levelHeight: number): Level => ({
    width: levelWidth,
    height: levelHeight,
    tileWidth: TILE_SIDE,
    tileHeight: TILE_SIDE,
    columns: Math.ceil(levelWidth / TILE_SIDE),
    rows: Math.ceil(levelHeight / TILE_SIDE),
    downsample: (width / levelWidth + height / levelHeight) / 2,
    needsRendering: true,
  });
  const levels: [Level, ...Level[]] = [createLevel(width, height)];
  let [levelWidth, levelHeight] = [width, height];
  while (Math.max(levelWidth, levelHeight) > TILE_SIDE && Math.min(levelWidth, levelHeight) > 1) {
    levelWidth = Math.floor(levelWidth / 2);
    levelHeight = Math.floor(levelHeight / 2);
    levels.push(createLevel(levelWidth, levelHeight));
  }
  return levels;
}

async function openCopy(source: ByteSource, removeFolder: () => Promise<void>): Promise<TiledCopy> {
  const directories = await (await openTiff(source)).directories();
  const { readTile } = await openDisplayPyramid(source, await Promise.all(directories.map(readTiffImage)));
  return {
    readTile,
    async close() {
      await source.close();
      await removeFolder();
    },
  };
}

/** Writes the original file to a path. @returns the path */
async function writeOriginal(source: ByteSource, path: string): Promise<string> {
  const ownerOnly = 0o600; // other users must not read the image
  await pipeline(Readable.from(chunksOf(source)), createWriteStream(path, { mode: ownerOnly }));
  return path;
}

async function* chunksOf(source: ByteSource): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < source.size; offset += CHUNK_BYTES) {
    yield await source.read(offset, Math.min(CHUNK_BYTES, source.size - offset));
  }
}

/**
 * Checks the number of scans of a progressive JPEG, because the decoder processes the whole image once per scan.
 *
 * @throws SlideError LIMIT_EXCEEDED
 */
async function checkScans(source: ByteSource): Promise<void> {
  let scanCount = 0;
  let previousByte = new Uint8Array(0);
  for await (const chunk of chunksOf(source)) {
    // The two bytes of a scan marker may be split between two chunks.
    scanCount += countScans(Buffer.concat([previousByte, chunk]));
    previousByte = chunk.slice(-1);
    checkScanCount(scanCount);
  }
}

/** Decodes the original, draws it on `GLASS` (white) where it is transparent, and writes it as a tiled pyramid. */
async function writeTiles(
  originalPath: string,
  copyPath: string,
  { width, height, needsAutoOrient, isOpaqueGrey16 }: TiledCopyOptions,
): Promise<void> {
  const sharp = await loadSharp();
  const image = sharp(originalPath, { failOn: 'warning', limitInputPixels: width * height });
  if (needsAutoOrient) image.autoOrient();
  await image
    .toColourspace(isOpaqueGrey16 ? 'grey16' : 'srgb')
    .flatten({ background: GLASS })
    .tiff({
      compression: 'none',
      tile: true,
      tileWidth: TILE_SIDE,
      tileHeight: TILE_SIDE,
      pyramid: true,
      bigtiff: true,
    })
    .toFile(copyPath)
    .catch((cause: unknown) => {
      throw new SlideError('FILE_CORRUPT', 'The image cannot be decoded', { cause });
    });
}

/** Checks the free disk space in advance, because libvips reports a full disk in the same way as a damaged image. */
async function checkFreeSpace(
  folder: string,
  source: ByteSource,
  { width, height, needsAutoOrient }: TiledCopyOptions,
) {
  const { bavail: freeBlocks, bsize: blockBytes } = await statfs(folder);
  const rgbBytes = 3;
  const copyBytes = width * height * rgbBytes * PYRAMID_FACTOR;
  // To rotate an image, libvips keeps all its pixels in a second temporary file.
  const copies = needsAutoOrient ? 2 : 1;
  // The original is always counted, although only an image in object storage is written to a file.
  const neededBytes = source.size + copies * copyBytes;
  if (neededBytes < freeBlocks * blockBytes) return;
  throw new SlideError(
    'DECODE_FAILED',
    `An image of ${width} × ${height} pixels needs ${Math.ceil(neededBytes / 2 ** 20)} MiB of free space for temporary files`,
  );
}
