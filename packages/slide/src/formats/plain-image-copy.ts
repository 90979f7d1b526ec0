/** Copies a large JPEG or PNG into a temporary tiled pyramid. */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { checkScanCount, countScans } from '../decode/check-encoded-image.ts';
import { loadSharp } from '../decode/load-sharp.ts';
import { GLASS } from '../decode/paint-tiff.ts';
import { type EncodedImage, type Level, SlideError, type TileAddress } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { openFileSource } from '../source/file-source.ts';
import type { SlideFiles } from '../source/slide-files.ts';
import { openDisplayPyramid } from '../tiff/display-pyramid.ts';
import { openTiff } from '../tiff/tiff-file.ts';
import { readTiffImage } from '../tiff/tiff-image.ts';

/** An upright RGB copy of an image as an uncompressed, tiled pyramid. */
export interface TiledCopy {
  /** @throws SlideError TILE_OUT_OF_RANGE */
  readTile(address: TileAddress, signal?: AbortSignal): Promise<EncodedImage | null>;
  /** Deletes the copy. */
  close(): Promise<void>;
}

export interface TiledCopyOptions {
  /** Pixels of the image as stored; the decoder rejects more. */
  readonly width: number;
  readonly height: number;
  readonly isTurned: boolean;
  /** Grey of 16 bits, kept as such: its black and white are estimated from the copy. */
  readonly isOpaqueGrey16: boolean;
  /** Whether the image is a JPEG with an unknown number of scans, which must be counted. */
  readonly isProgressive: boolean;
}

/** Width and height of the copy's tiles in pixels. */
const TILE_SIZE = 512;
/** Size of the tiled file relative to full resolution: a third for smaller levels, and padding of edge tiles. */
const PYRAMID_FACTOR = 1.5;
const CHUNK_BYTES = 2 ** 20;

/**
 * Writes a tiled copy of a large JPEG or PNG, which can only be decoded from its beginning. The image is decoded once,
 * line by line, into a file in the temporary folder; the file is unlinked as soon as it is written.
 *
 * @throws SlideError FILE_CORRUPT, DECODE_FAILED when the disk has too little free space for the copy
 */
export async function writeTiledCopy(
  { leading, path }: Pick<SlideFiles, 'leading' | 'path'>,
  options: TiledCopyOptions,
): Promise<TiledCopy> {
  const folder = await mkdtemp(join(tmpdir(), 'picture-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await checkFreeSpace(folder, leading, options);
    if (options.isProgressive) await checkScans(leading);
    const copy = join(folder, 'tiles.tif');
    // The decoder opens files by name, so an image in object storage is first written to a file.
    const original = path ?? (await writeOriginal(leading, join(folder, 'original')));
    await writeTiles(original, copy, options);
    const tiles = await openFileSource(copy);
    // Windows cannot delete an open file: there it is deleted on close.
    if (process.platform !== 'win32') await remove();
    return await openCopy(tiles, remove).catch(async (error: unknown) => {
      await tiles.close();
      throw error;
    });
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Returns the levels that the copy will have: libvips halves the image, rounding down, until it is a single tile.
 *
 * @param width of the upright image, in pixels
 * @param height likewise
 */
export function levelsOfCopy(width: number, height: number): [Level, ...Level[]] {
  const level = (w: number, h: number): Level => ({
    width: w,
    height: h,
    tileWidth: TILE_SIZE,
    tileHeight: TILE_SIZE,
    columns: Math.ceil(w / TILE_SIZE),
    rows: Math.ceil(h / TILE_SIZE),
    downsample: (width / w + height / h) / 2,
    needsRendering: true,
  });
  const levels: [Level, ...Level[]] = [level(width, height)];
  let [w, h] = [width, height];
  while (Math.max(w, h) > TILE_SIZE && Math.min(w, h) > 1) {
    [w, h] = [Math.floor(w / 2), Math.floor(h / 2)];
    levels.push(level(w, h));
  }
  return levels;
}

async function openCopy(tiles: ByteSource, remove: () => Promise<void>): Promise<TiledCopy> {
  const directories = await (await openTiff(tiles)).directories();
  const { readTile } = await openDisplayPyramid(tiles, await Promise.all(directories.map(readTiffImage)));
  return {
    readTile,
    async close() {
      await tiles.close();
      await remove();
    },
  };
}

async function writeOriginal(source: ByteSource, path: string): Promise<string> {
  await pipeline(Readable.from(chunksOf(source)), createWriteStream(path, { mode: 0o600 }));
  return path;
}

async function* chunksOf(source: ByteSource): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < source.size; at += CHUNK_BYTES) {
    yield await source.read(at, Math.min(CHUNK_BYTES, source.size - at));
  }
}

/** Counts the scans: the decoder passes over the whole image for each. @throws SlideError LIMIT_EXCEEDED */
async function checkScans(source: ByteSource): Promise<void> {
  let count = 0;
  let last = new Uint8Array(0);
  for await (const chunk of chunksOf(source)) {
    // A marker may be split across two chunks.
    count += countScans(Buffer.concat([last, chunk]));
    last = chunk.slice(-1);
    checkScanCount(count);
  }
}

async function writeTiles(
  original: string,
  copy: string,
  { width, height, isTurned, isOpaqueGrey16 }: TiledCopyOptions,
): Promise<void> {
  const sharp = await loadSharp();
  const image = sharp(original, { failOn: 'warning', limitInputPixels: width * height });
  if (isTurned) image.autoOrient();
  await image
    .toColourspace(isOpaqueGrey16 ? 'grey16' : 'srgb')
    .flatten({ background: GLASS })
    .tiff({
      compression: 'none',
      tile: true,
      tileWidth: TILE_SIZE,
      tileHeight: TILE_SIZE,
      pyramid: true,
      bigtiff: true,
    })
    .toFile(copy)
    .catch((cause: unknown) => {
      throw new SlideError('FILE_CORRUPT', 'The image cannot be decoded', { cause });
    });
}

/** Checks the free disk space beforehand, because libvips reports a full disk and a damaged image alike. */
async function checkFreeSpace(
  folder: string,
  source: ByteSource,
  { width, height, isTurned }: TiledCopyOptions,
) {
  const { bavail, bsize } = await statfs(folder);
  const decoded = width * height * 3 * PYRAMID_FACTOR;
  // Rotation needs the whole image, which libvips keeps in a second temporary file.
  const needed = source.size + (isTurned ? 2 : 1) * decoded;
  if (needed < bavail * bsize) return;
  throw new SlideError(
    'DECODE_FAILED',
    `An image of ${width} × ${height} pixels needs ${Math.ceil(needed / 2 ** 20)} MiB of free space for temporary files`,
  );
}
