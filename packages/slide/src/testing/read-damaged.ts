import { expect } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import type { Raster } from '../decode/raster.ts';
import { type Level, type Slide, SlideError } from '../model/slide.ts';
import { openSlideFrom } from '../open-slide.ts';
import type { SlideFiles } from '../source/slide-files.ts';
import { countedFiles, type ReadCount } from './counted-files.ts';
import { memoryFiles } from './memory-files.ts';

/** Pixels of a tile; the error that reading it threw; or null for a tile that the slide does not store. */
export type TileResult = Uint8Array | SlideError | null;

/** Decodes the first 24 tiles of level 0, row by row. Throws errors other than SlideError. */
export async function readTiles(slide: Slide): Promise<TileResult[]> {
  const [level] = slide.levels;
  const { columns, rows } = level;
  const results: TileResult[] = [];
  const maxTiles = 24;
  for (let i = 0; i < Math.min(columns * rows, maxTiles); i++) {
    const [column, row] = [i % columns, Math.floor(i / columns)];
    try {
      const tile = await slide.readTile({ level: 0, column, row });
      const raster = tile && (await decodeImage(tile));
      if (raster) expect(raster).toSatisfy((read: Raster) => fitsTile(read, level, column, row));
      results.push(raster?.rgb ?? null);
    } catch (error) {
      if (!(error instanceof SlideError)) throw error;
      results.push(error);
    }
  }
  return results;
}

/** Whether a raster covers the tile's part of the image and does not exceed the tile; it may be padded. */
function fitsTile({ width, height, rgb }: Raster, level: Level, column: number, row: number): boolean {
  const { tileWidth, tileHeight } = level;
  return (
    rgb.length === width * height * 3 &&
    width >= Math.min(tileWidth, level.width - column * tileWidth) &&
    height >= Math.min(tileHeight, level.height - row * tileHeight) &&
    width <= tileWidth &&
    height <= tileHeight
  );
}

/**
 * Opens a file that may be damaged. Checks how much the slide reader reads, and that it closes a file that it
 * rejects.
 *
 * @param wrap changes the files before they are opened, for example so that a read fails
 * @returns null when the file is rejected with a SlideError
 */
export async function openDamaged(
  bytes: Uint8Array,
  wrap = (files: SlideFiles) => files,
): Promise<{ slide: Slide; count: ReadCount } | null> {
  const { files, count } = countedFiles(memoryFiles({ a: bytes }));
  const slide = await openSlideFrom(wrap(files)).catch((error: unknown) => {
    if (error instanceof SlideError) return null;
    throw error;
  });
  // Limits of reads and bytes, unlike limits of time, detect endless loops on a machine of any speed.
  expect(count.bytes).toBeLessThan(4 * bytes.length + 2 ** 16);
  expect(count.reads).toBeLessThan(bytes.length / 8 + 64);
  expect(count.open).toBe(slide ? 1 : 0);
  return slide && { slide, count };
}
