import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { loadSharp } from '../decode/load-sharp.ts';
import { GLASS } from '../decode/paint-tiff.ts';
import { type EncodedImage, type Level, SlideError, type TileAddress } from '../slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { openFileSource } from '../source/file-source.ts';
import type { SlideFiles } from '../source/slide-files.ts';
import { readPicture } from '../tiff/picture.ts';
import { openShownPyramid } from '../tiff/shown-pyramid.ts';
import { openTiff } from '../tiff/tiff-file.ts';

/** A picture in tiles, upright, and made smaller again and again: RGB that nothing has to be unpacked of. */
export interface TiledCopy {
  /** @throws SlideError TILE_OUT_OF_RANGE */
  readTile(address: TileAddress, signal?: AbortSignal): Promise<EncodedImage | null>;
  /** Nothing of the copy is left after it. */
  close(): Promise<void>;
}

export interface TiledCopyPlan {
  /** Pixels of the picture as it is stored; more are refused by the decoder. */
  readonly width: number;
  readonly height: number;
  readonly isTurned: boolean;
  /** Grey of 16 bits, which stays so: what is black and white in it is found out of the copy. */
  readonly isWideGrey: boolean;
}

/** Pixels, both ways. */
const TILE_SIZE = 512;
/** What a file of tiles takes besides full resolution: a third for the smaller ones, and tiles that reach over edges. */
const ROOM = 1.5;
const CHUNK_BYTES = 2 ** 20;

/**
 * A large JPEG or PNG can only be decoded from its beginning. So it is decoded once, line by line, into a file of tiles
 * in the system's folder of temporary files, where it has no name any more as soon as it is written.
 *
 * @throws SlideError FILE_CORRUPT, DECODE_FAILED when there is no room for the copy
 */
export async function makeTiledCopy(
  { leading, path }: Pick<SlideFiles, 'leading' | 'path'>,
  plan: TiledCopyPlan,
): Promise<TiledCopy> {
  const folder = await mkdtemp(join(tmpdir(), 'picture-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await checkRoom(folder, leading, plan);
    const copy = join(folder, 'tiles.tif');
    // The library that decodes reads files by their names.
    const original = path ?? (await writeOriginal(leading, join(folder, 'original')));
    await writeTiles(original, copy, plan);
    const tiles = await openFileSource(copy);
    // Where an open file cannot be removed, it is when it is closed.
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
 * The levels that the copy of a picture will have: libvips halves it, rounding down, until it is a single tile.
 *
 * @param width and height: of the upright picture, in pixels
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
    isMade: true,
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
  const { readTile } = await openShownPyramid(tiles, await Promise.all(directories.map(readPicture)));
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

async function writeTiles(
  original: string,
  copy: string,
  { width, height, isTurned, isWideGrey }: TiledCopyPlan,
): Promise<void> {
  const sharp = await loadSharp();
  const picture = sharp(original, { failOn: 'warning', limitInputPixels: width * height });
  if (isTurned) picture.autoOrient();
  await picture
    .toColourspace(isWideGrey ? 'grey16' : 'srgb')
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
      throw new SlideError('FILE_CORRUPT', 'The picture cannot be decoded', { cause });
    });
}

/** Told before, since a full disk and a damaged picture look the same afterwards. */
async function checkRoom(folder: string, source: ByteSource, { width, height, isTurned }: TiledCopyPlan) {
  const { bavail, bsize } = await statfs(folder);
  const decoded = width * height * 3 * ROOM;
  // Turning takes all of the picture, which libvips keeps in another temporary file.
  const needed = source.size + (isTurned ? 2 : 1) * decoded;
  if (needed < bavail * bsize) return;
  throw new SlideError(
    'DECODE_FAILED',
    `A picture of ${width} × ${height} pixels needs ${Math.ceil(needed / 2 ** 20)} MiB for temporary files`,
  );
}
