/**
 * The large slides of the bench, created by repeating the tiles of a small slide and kept in the cache folder between runs.
 *
 * `scan.svs` has the layout of an Aperio scan: levels at downsamples 1, 4, 16 and 64, with the compressed tiles of a real scanner at full
 * resolution. `halves.tif` has a level for every halving and YCbCr colours, the only layout that the compared server iipsrv reads.
 * Adjacent repetitions of the small slide differ in brightness, which reveals a tile at a wrong position.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { type Raster, shrinkRaster } from '../../../packages/slide/src/decode/raster.ts';
import { memorySource } from '../../../packages/slide/src/source/memory-source.ts';
import { encodePicture } from '../../../packages/slide/src/testing/encode-picture.ts';
import { realSlide } from '../../../packages/slide/src/testing/real-slide.ts';
import { tag } from '../../../packages/slide/src/tiff/tags.ts';
import { openTiff } from '../../../packages/slide/src/tiff/tiff-file.ts';
import { lengthsByCode, variantOf } from './tile-variants.ts';
import { type Level, type LevelContent, writeTiff } from './write-tiff.ts';

/** Increase this number when the content of the slides changes, so that cached slides are created again. */
const version = 2;
/** Size of the large slides, in pixels. */
export const bigSlide = { width: 40_000, height: 30_000 };
/** File names of the slides; `seed` is the small slide from whose tiles the others are created. */
export const slideNames = { seed: 'seed.svs', scan: 'scan.svs', halves: 'halves.tif' };

/** The small slide, without the tiles at its right and bottom edges, which are only partly filled. */
interface Seed {
  readonly tileSize: number;
  /** Quantisation and Huffman tables that the tiles share (TIFF tag JPEGTables). */
  readonly tables: Uint8Array;
  /** The compressed tiles, which are repeated over a large slide. */
  readonly unit: TileGrid;
  /** The pixels of these tiles. */
  readonly pixels: Raster;
}

interface TileGrid {
  readonly columns: number;
  readonly rows: number;
  /** Compressed, row by row. */
  readonly tiles: readonly Uint8Array[];
}

/** Creates the slides that are missing. @returns their folder, and the side of their tiles in pixels */
export async function makeSlides(cache: string): Promise<{ folder: string; tileSize: number }> {
  const folder = join(cache, `slides-${version}`);
  mkdirSync(folder, { recursive: true });
  const seedFile = join(folder, slideNames.seed);
  await writeOnce(seedFile, async (file) => copyFileSync(realSlide, file)); // CMU-1-Small-Region.svs
  const seed = await readSeed(seedFile);
  await writeOnce(join(folder, slideNames.scan), async (file) => {
    console.log('Making a big slide with the layout of an Aperio scan …');
    await writeScan(file, seed);
  });
  await writeOnce(join(folder, slideNames.halves), async (file) => {
    console.log('Making a big slide with a level for every halving …');
    await writeHalves(file, seed);
  });
  return { folder, tileSize: seed.tileSize };
}

/** Writes a file unless it exists. `write` gets a temporary name, so an interrupted run leaves no incomplete file under the final name. */
async function writeOnce(file: string, write: (temporaryFile: string) => Promise<void>): Promise<void> {
  if (existsSync(file)) return;
  await write(`${file}.part`);
  renameSync(`${file}.part`, file);
}

/** Reads the compressed and the decoded tiles of the small slide. */
async function readSeed(file: string): Promise<Seed> {
  const bytes = readFileSync(file);
  const { first: directory } = await openTiff(memorySource(bytes)); // of full resolution
  const [width, height, tileSize, tables] = [
    await directory.number(tag.ImageWidth),
    await directory.number(tag.ImageLength),
    await directory.number(tag.TileWidth),
    await directory.bytes(tag.JPEGTables),
  ];
  if (width === null || height === null || tileSize === null || tables === null) {
    throw new Error(`${file} has no tiles with JPEGTables.`);
  }
  const [columns, rows] = [Math.floor(width / tileSize), Math.floor(height / tileSize)];
  const count = directory.count(tag.TileOffsets);
  const offsets = await directory.table(tag.TileOffsets, count);
  const byteCounts = await directory.table(tag.TileByteCounts, count);
  const tileAt = (column: number, row: number) => {
    const index = row * Math.ceil(width / tileSize) + column; // the file also stores the tiles at the edges
    const offset = offsets[index] ?? 0;
    return bytes.subarray(offset, offset + (byteCounts[index] ?? 0));
  };
  const size = { width: columns * tileSize, height: rows * tileSize };
  const rgb = await sharp(file)
    .extract({ left: 0, top: 0, ...size })
    .removeAlpha()
    .raw()
    .toBuffer();
  const tiles = Array.from({ length: columns * rows }, (_, i) =>
    tileAt(i % columns, Math.floor(i / columns)),
  );
  return {
    tileSize,
    tables,
    unit: { columns, rows, tiles },
    pixels: { ...size, rgb },
  };
}

/** Returns the size of a level, rounded down as scanners do. */
function sizeAt(downsample: number): { width: number; height: number } {
  return {
    width: Math.floor(bigSlide.width / downsample),
    height: Math.floor(bigSlide.height / downsample),
  };
}

/** Writes a slide with the layout of an Aperio scan. */
async function writeScan(file: string, { tileSize, tables, unit, pixels }: Seed): Promise<void> {
  const library = 'Aperio Image Library v11.2.1';
  const wholeSize = `${bigSlide.width}x${bigSlide.height}`;
  const levels = [1, 4, 16, 64].map((downsample): Level => {
    const { width, height } = sizeAt(downsample);
    const descriptionStart = `${library} \r\n${wholeSize} [0,0 ${wholeSize}] (${tileSize}x${tileSize})`;
    const description =
      downsample === 1
        ? `${descriptionStart} JPEG/RGB Q=30|AppMag = 20|MPP = 0.4990`
        : `${descriptionStart} -> ${width}x${height} JPEG/RGB Q=90`;
    return { width, height, description, downsample, photometric: 2 }; // RGB
  });
  await writeTiff(file, tileSize, levels, (level) =>
    level.downsample === 1
      ? repeatedTiles(unit, tables, level, tileSize)
      : encodedTiles(pixels, level, tileSize, 'rgb'),
  );
}

/** Writes a slide with a level for every halving of the size, as long as the level is larger than a tile. */
async function writeHalves(file: string, { tileSize, pixels }: Seed): Promise<void> {
  const levels: Level[] = [];
  for (
    let downsample = 1;
    Math.max(bigSlide.width, bigSlide.height) / downsample > tileSize;
    downsample *= 2
  ) {
    levels.push({ ...sizeAt(downsample), downsample, photometric: 6 }); // YCbCr
  }
  const { tiles, tables } = await encodeTiles(pixels, tileSize, 'ycbcr');
  const unit = { columns: pixels.width / tileSize, rows: pixels.height / tileSize, tiles };
  await writeTiff(file, tileSize, levels, (level) =>
    level.downsample === 1
      ? repeatedTiles(unit, tables, level, tileSize)
      : encodedTiles(pixels, level, tileSize, 'ycbcr'),
  );
}

/** Encodes a picture as JPEG tiles that share their tables. */
async function encodeTiles(
  pixels: Raster,
  tileSize: number,
  colour: 'rgb' | 'ycbcr',
): Promise<{ tiles: Uint8Array[]; tables: Uint8Array }> {
  const { tiles = [], tags } = await encodePicture(pixels, tileSize, colour);
  const tables = Uint8Array.from(tags[tag.JPEGTables]?.numbers ?? []);
  return { tiles: tiles.filter((tile) => tile !== null), tables };
}

/** Repeats the tiles of the small slide over a level. Adjacent repetitions differ in brightness. */
function repeatedTiles(
  unit: TileGrid,
  tables: Uint8Array,
  { width, height }: Level,
  tileSize: number,
): LevelContent {
  const codes = lengthsByCode(tables);
  const columns = Math.ceil(width / tileSize);
  const count = columns * Math.ceil(height / tileSize);
  function* tiles() {
    for (let i = 0; i < count; i += 1) {
      const [column, row] = [i % columns, Math.floor(i / columns)];
      const tile = unit.tiles[(row % unit.rows) * unit.columns + (column % unit.columns)];
      if (tile === undefined) throw new Error('The small slide has no whole tile.');
      // Repetitions side by side have consecutive variants; the variants of repetitions one above the other differ by 5.
      const variant = Math.floor(column / unit.columns) + 5 * Math.floor(row / unit.rows);
      yield variantOf(tile, codes, variant);
    }
  }
  return { tables, tiles: tiles() };
}

/** Encodes the tiles of a reduced level, one row of tiles at a time, because the decoded level may be too large for the memory. */
async function encodedTiles(
  pixels: Raster,
  { width, height, downsample }: Level,
  tileSize: number,
  colour: 'rgb' | 'ycbcr',
): Promise<LevelContent> {
  const unit = shrinkRaster(pixels, downsample);
  const encodeRow = (top: number) =>
    encodeTiles(repeatedRows(unit, width, top, Math.min(tileSize, height - top)), tileSize, colour);
  const { tables } = await encodeRow(0); // the tables are the same for all rows
  async function* tiles() {
    for (let top = 0; top < height; top += tileSize) yield* (await encodeRow(top)).tiles;
  }
  return { tables, tiles: tiles() };
}

/**
 * Returns rows of a picture that repeats a smaller picture (`unit`).
 *
 * @param top number of the first row
 * @param height number of rows
 */
function repeatedRows(unit: Raster, width: number, top: number, height: number): Raster {
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    const start = ((top + y) % unit.height) * unit.width * 3;
    const row = unit.rgb.subarray(start, start + unit.width * 3);
    for (let x = 0; x < width; x += unit.width) {
      rgb.set(row.subarray(0, Math.min(unit.width, width - x) * 3), (y * width + x) * 3);
    }
  }
  return { width, height, rgb };
}
