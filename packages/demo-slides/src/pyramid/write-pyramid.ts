/**
 * Writes a demonstration slide with the layout of an Aperio scan: one TIFF with a directory per level, JPEG tiles with shared
 * tables, and a description with pixel size and objective power (the magnification of the scanner's objective lens).
 *
 * Every pixel of full resolution is drawn once. Tiles are drawn in quadtree order: four adjacent tiles are averaged into one tile of
 * the next smaller level while they are in memory, so no level is read back from the file.
 */
import { open } from 'node:fs/promises';
import { encodeTile, type SplitJpeg } from './jpeg-tile.ts';
import { type LevelPlan, type PyramidPlan, planLevels, TILE_SIZE } from './pyramid-plan.ts';
import { encodeDirectories } from './tiff-directories.ts';

/** Maximum number of tiles that are being encoded or wait to be written. */
const MAX_PENDING = 8;

/** Writes the file. @throws the error of `drawTile` or of the file system; the incomplete file remains */
export async function writePyramid(plan: PyramidPlan): Promise<void> {
  const levels = planLevels(plan.width, plan.height);
  const file = await open(plan.file, 'w');
  try {
    const tiles = await TileWriter.create(
      (bytes, offset) => file.write(bytes, 0, bytes.length, offset),
      plan.glass,
    );
    await drawQuadtree(plan, levels, tiles);
    await tiles.finish();
    const { bytes, firstDirectory } = encodeDirectories(plan, levels, tiles.tables, tiles.end);
    await file.write(bytes, 0, bytes.length, tiles.end);
    // The header of TIFF 6.0: "II" for little-endian, 42 for TIFF, then the offset of the first directory.
    const header = Buffer.from([0x49, 0x49, 42, 0, 0, 0, 0, 0]);
    header.writeUInt32LE(firstDirectory, 4);
    await file.write(header, 0, header.length, 0);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Draws all tiles, and sets the offset and length of each tile in `levels`. */
async function drawQuadtree(
  plan: PyramidPlan,
  levels: readonly LevelPlan[],
  tiles: TileWriter,
): Promise<void> {
  const fullResolution = levels[0];
  if (fullResolution === undefined) return;
  const totalTiles = fullResolution.columns * fullResolution.rows;
  const glassTile = createGlassTile(plan.glass);
  const copyGlassTile = () => glassTile.slice();
  let drawnTiles = 0;

  /** Appends a tile: drawn at full resolution, else averaged from four of the next larger level. @returns null for glass or outside */
  async function draw(levelIndex: number, column: number, row: number): Promise<Uint8Array | null> {
    const level = levels[levelIndex];
    if (level === undefined || column >= level.columns || row >= level.rows) return null;
    let pixels: Uint8Array | null = null;
    if (levelIndex === 0) {
      pixels = plan.drawTile(column, row, copyGlassTile);
      drawnTiles += 1;
      plan.onTile(drawnTiles, totalTiles);
    } else {
      for (const [right, down] of [
        [0, 0],
        [1, 0],
        [0, 1],
        [1, 1],
      ] as const) {
        const fineTile = await draw(levelIndex - 1, column * 2 + right, row * 2 + down);
        if (fineTile === null) continue;
        pixels ??= copyGlassTile();
        halveInto(pixels, fineTile, (right * TILE_SIZE) / 2, (down * TILE_SIZE) / 2);
      }
    }
    const tileIndex = row * level.columns + column;
    await tiles.append(pixels, (offset, length) => {
      level.offsets[tileIndex] = offset;
      level.lengths[tileIndex] = length;
    });
    return pixels;
  }

  await draw(levels.length - 1, 0, 0);
}

/** Returns the pixels of a tile of bare glass. */
function createGlassTile(glass: PyramidPlan['glass']): Uint8Array {
  const pixels = new Uint8Array(TILE_SIZE * TILE_SIZE * 3);
  for (let i = 0; i < pixels.length; i += 3) pixels.set(glass, i);
  return pixels;
}

/** Halves `fine` by averaging 2 × 2 pixels, and writes the result into the quarter of `coarse` that begins at x, y. */
function halveInto(coarse: Uint8Array, fine: Uint8Array, x: number, y: number): void {
  const stride = TILE_SIZE * 3;
  for (let row = 0; row < TILE_SIZE / 2; row++) {
    let target = (y + row) * stride + x * 3;
    let source = row * 2 * stride;
    for (let column = 0; column < TILE_SIZE / 2; column++, source += 6, target += 3) {
      for (let channel = 0; channel < 3; channel++) {
        const i = source + channel;
        const sum =
          (fine[i] as number) +
          (fine[i + 3] as number) +
          (fine[i + stride] as number) +
          (fine[i + stride + 3] as number);
        coarse[target + channel] = (sum + 2) >> 2; // the rounded mean
      }
    }
  }
}

type WriteBytes = (bytes: Buffer, offset: number) => Promise<unknown>;

/**
 * Appends tiles to the file in the order of the calls of `append`. Encoding and writing run while later tiles are drawn; at most eight
 * tiles are pending. All tiles of bare glass share one tile of the file.
 */
class TileWriter {
  /** The JPEG tables that all tiles share. */
  readonly tables: Buffer;
  readonly #write: WriteBytes;
  /** Where the shared tile of bare glass is stored, bytes. */
  readonly #glassTile: { readonly offset: number; readonly length: number };
  readonly #pending: Promise<void>[] = [];
  #end: number;

  private constructor(write: WriteBytes, glassTile: SplitJpeg, start: number) {
    this.#write = write;
    this.tables = glassTile.tables;
    this.#glassTile = { offset: start, length: glassTile.tile.length };
    this.#end = start + glassTile.tile.length;
  }

  static async create(write: WriteBytes, glass: PyramidPlan['glass']): Promise<TileWriter> {
    const headerLength = 8;
    const glassTile = await encodeTile(createGlassTile(glass));
    await write(glassTile.tile, headerLength);
    return new TileWriter(write, glassTile, headerLength);
  }

  /** Offset in the file at which the next tile begins, bytes; after `finish`, the end of all tiles. */
  get end(): number {
    return this.#end;
  }

  /** Appends a tile; null is bare glass. Calls `onPlaced` with its offset and length in bytes when they are known. */
  async append(pixels: Uint8Array | null, onPlaced: (offset: number, length: number) => void): Promise<void> {
    if (pixels === null) {
      onPlaced(this.#glassTile.offset, this.#glassTile.length);
      return;
    }
    const encoding = encodeTile(pixels);
    const previous = this.#pending.at(-1) ?? Promise.resolve();
    const writing = Promise.all([encoding, previous]).then(async ([{ tile }]) => {
      const offset = this.#end;
      this.#end += tile.length;
      onPlaced(offset, tile.length);
      await this.#write(tile, offset);
    });
    // `append` and `finish` throw the first error. Without this handler, Node would end the process for the errors of other tiles.
    writing.catch(() => {});
    this.#pending.push(writing);
    if (this.#pending.length > MAX_PENDING) await this.#pending.shift();
    else await new Promise(setImmediate); // lets the event loop handle messages and signals between two tiles
  }

  /** Waits until all tiles are written. */
  async finish(): Promise<void> {
    await Promise.all(this.#pending.splice(0));
  }
}
