/**
 * Writes a slide with the layout of an Aperio scan: one TIFF with a directory per level, JPEG tiles with shared tables,
 * and a description with pixel size and objective power.
 *
 * Every pixel is drawn once. Tiles are drawn in quadtree order: four neighbours are averaged into the tile of the next
 * level while they are in memory, so no level is read back from the file.
 *
 * Sources: TIFF 6.0 (Adobe, 1992); TIFF Technical Note #2 (T. Lane, 1995) for JPEG; the wording of the
 * description as in the Aperio files of the OpenSlide test data.
 */
import { open } from 'node:fs/promises';
import { encode, type SplitJpeg } from './jpeg-tile.ts';
import { type LevelPlan, type PyramidPlan, planLevels, TILE_SIZE } from './pyramid-plan.ts';
import { directoriesOf } from './tiff-directories.ts';

/** Maximum number of tiles whose JPEG encoding is pending. */
const MAX_PENDING = 8;

export async function writePyramid(plan: PyramidPlan): Promise<void> {
  const levels = planLevels(plan.width, plan.height);
  const file = await open(plan.file, 'w');
  try {
    const tiles = await TileWriter.start(
      (bytes, offset) => file.write(bytes, 0, bytes.length, offset),
      plan.glass,
    );
    await drawQuadtree(plan, levels, tiles);
    await tiles.finish();
    const { bytes, firstDirectory } = directoriesOf(plan, levels, tiles.tables, tiles.end);
    await file.write(bytes, 0, bytes.length, tiles.end);
    const header = Buffer.from([0x49, 0x49, 42, 0, 0, 0, 0, 0]);
    header.writeUInt32LE(firstDirectory, 4);
    await file.write(header, 0, header.length, 0);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function drawQuadtree(
  plan: PyramidPlan,
  levels: readonly LevelPlan[],
  tiles: TileWriter,
): Promise<void> {
  const full = levels[0];
  if (full === undefined) return;
  const total = full.columns * full.rows;
  const glass = tileOf(plan.glass);
  const bareTile = () => glass.slice();
  let done = 0;

  /** Draws a tile of full resolution, or averages it from the four tiles below it. @returns null for bare glass */
  async function draw(number: number, column: number, row: number): Promise<Uint8Array | null> {
    const level = levels[number];
    if (level === undefined || column >= level.columns || row >= level.rows) return null;
    let pixels: Uint8Array | null = null;
    if (number === 0) {
      pixels = plan.drawTile(column, row, bareTile);
      done += 1;
      plan.onTile(done, total);
    } else {
      for (const [right, down] of [
        [0, 0],
        [1, 0],
        [0, 1],
        [1, 1],
      ] as const) {
        const finer = await draw(number - 1, column * 2 + right, row * 2 + down);
        if (finer === null) continue;
        pixels ??= bareTile();
        halveInto(pixels, finer, (right * TILE_SIZE) / 2, (down * TILE_SIZE) / 2);
      }
    }
    const place = row * level.columns + column;
    await tiles.put(pixels, (offset, length) => {
      level.offsets[place] = offset;
      level.lengths[place] = length;
    });
    return pixels;
  }

  await draw(levels.length - 1, 0, 0);
}

function tileOf(glass: PyramidPlan['glass']): Uint8Array {
  const pixels = new Uint8Array(TILE_SIZE * TILE_SIZE * 3);
  for (let i = 0; i < pixels.length; i += 3) pixels.set(glass, i);
  return pixels;
}

/** Halves a tile by averaging 2 × 2 pixels and writes the result into a quarter of the coarser tile. */
function halveInto(coarse: Uint8Array, fine: Uint8Array, x: number, y: number): void {
  const stride = TILE_SIZE * 3;
  for (let row = 0; row < TILE_SIZE / 2; row++) {
    let to = (y + row) * stride + x * 3;
    let from = row * 2 * stride;
    for (let column = 0; column < TILE_SIZE / 2; column++, from += 6, to += 3) {
      for (let channel = 0; channel < 3; channel++) {
        const i = from + channel;
        const sum =
          (fine[i] as number) +
          (fine[i + 3] as number) +
          (fine[i + stride] as number) +
          (fine[i + stride + 3] as number);
        coarse[to + channel] = (sum + 2) >> 2;
      }
    }
  }
}

type WriteBytes = (bytes: Buffer, offset: number) => Promise<unknown>;

/**
 * Appends tiles to the file in the order of `put`, while later tiles are drawn and encoded. All tiles of bare glass share
 * one stored tile.
 */
class TileWriter {
  readonly tables: Buffer;
  readonly #write: WriteBytes;
  readonly #bare: { readonly offset: number; readonly length: number };
  readonly #waiting: Promise<void>[] = [];
  #end: number;

  private constructor(write: WriteBytes, bare: SplitJpeg, start: number) {
    this.#write = write;
    this.tables = bare.tables;
    this.#bare = { offset: start, length: bare.tile.length };
    this.#end = start + bare.tile.length;
  }

  static async start(write: WriteBytes, glass: PyramidPlan['glass']): Promise<TileWriter> {
    const headerLength = 8;
    const bare = await encode(tileOf(glass));
    await write(bare.tile, headerLength);
    return new TileWriter(write, bare, headerLength);
  }

  /** Offset of the next tile. */
  get end(): number {
    return this.#end;
  }

  /** @param placed called with offset and length when they are known */
  async put(pixels: Uint8Array | null, placed: (offset: number, length: number) => void): Promise<void> {
    if (pixels === null) {
      placed(this.#bare.offset, this.#bare.length);
      return;
    }
    const encoded = encode(pixels);
    const before = this.#waiting.at(-1) ?? Promise.resolve();
    const written = Promise.all([encoded, before]).then(async ([{ tile }]) => {
      const offset = this.#end;
      this.#end += tile.length;
      placed(offset, tile.length);
      await this.#write(tile, offset);
    });
    this.#waiting.push(written);
    if (this.#waiting.length > MAX_PENDING) await this.#waiting.shift();
    // Lets the event loop handle messages and signals between two tiles.
    else await new Promise(setImmediate);
  }

  async finish(): Promise<void> {
    await Promise.all(this.#waiting.splice(0));
  }
}
