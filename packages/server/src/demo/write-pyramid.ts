/**
 * Writes a slide as Aperio scanners lay theirs out: one TIFF with a directory per level, tiles of JPEG
 * whose tables stand once per level, and a description that says scale and magnification.
 *
 * Every pixel is drawn once. Tiles are visited in the order of a quadtree, so that four neighbours become
 * the tile above them while they are still in memory, and no level is ever read back.
 *
 * Sources: TIFF 6.0 (Adobe, 1992); TIFF Technical Note #2 (T. Lane, 1995) for JPEG; the wording of the
 * description as in the Aperio files of the OpenSlide test data.
 */
import { open } from 'node:fs/promises';
import sharp from 'sharp';

/** Pixels, both ways. Half of it would mean four times the requests and twice the time to encode. */
export const TILE_SIZE = 512;
const QUALITY = 78;
/** Tiles that may wait for their JPEG to be encoded. */
const MOST_WAITING = 8;

export interface PyramidPlan {
  /** Path of the file to write; overwritten. */
  readonly file: string;
  /** Pixels at full resolution. */
  readonly width: number;
  readonly height: number;
  /** Micrometres per pixel at full resolution. */
  readonly micronsPerPixel: number;
  readonly objectivePower: number;
  /** Colour of bare glass, red, green and blue, 0…255. */
  readonly glass: readonly [number, number, number];
  /**
   * Draws a tile of full resolution, pixels beyond the slide's edge included.
   *
   * @param makePixels gives red, green and blue, row by row, of bare glass to draw upon
   * @returns what `makePixels` gave; null for bare glass
   */
  readonly drawTile: (column: number, row: number, makePixels: () => Uint8Array) => Uint8Array | null;
  /** Called after each tile of full resolution, drawn or bare. */
  readonly onTile: (done: number, total: number) => void;
}

interface LevelPlan {
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  readonly rows: number;
  /** Of each tile in the file, row by row. */
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
}

/** Full resolution first, each level half the one before, the last one a single tile. */
function planLevels(width: number, height: number): LevelPlan[] {
  const columns = Math.ceil(width / TILE_SIZE);
  const rows = Math.ceil(height / TILE_SIZE);
  const level = {
    width,
    height,
    columns,
    rows,
    offsets: new Uint32Array(columns * rows),
    lengths: new Uint32Array(columns * rows),
  };
  if (columns * rows === 1) return [level];
  return [level, ...planLevels(Math.ceil(width / 2), Math.ceil(height / 2))];
}

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

  /** Draws or averages a tile and all below it. @returns null for bare glass */
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

/** Averages four pixels into one and puts the result, a quarter of a tile, at a place of the coarser tile. */
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

/** A JPEG taken apart as TIFF keeps it: the tables once, the rest per tile. */
interface TakenApart {
  /** SOI, quantisation and Huffman tables, EOI. */
  readonly tables: Buffer;
  /** SOI, frame, scan, EOI. */
  readonly tile: Buffer;
}

async function encode(pixels: Uint8Array): Promise<TakenApart> {
  const jpeg = await sharp(pixels, { raw: { width: TILE_SIZE, height: TILE_SIZE, channels: 3 } })
    // Huffman tables of its own would make every tile's tables differ.
    .jpeg({ quality: QUALITY, chromaSubsampling: '4:2:0', optimiseCoding: false })
    .toBuffer();
  return takeApart(jpeg);
}

function takeApart(jpeg: Buffer): TakenApart {
  const [startOfImage, endOfImage] = [jpeg.subarray(0, 2), jpeg.subarray(-2)];
  const tables: Buffer[] = [];
  const rest: Buffer[] = [];
  let at = 2;
  for (;;) {
    const marker = jpeg.readUInt16BE(at);
    if (marker === 0xffda) break;
    const segment = jpeg.subarray(at, at + 2 + jpeg.readUInt16BE(at + 2));
    if (marker === 0xffdb || marker === 0xffc4) tables.push(segment);
    // APPn (JFIF) repeats what the TIFF says.
    else if (marker < 0xffe0 || marker > 0xffef) rest.push(segment);
    at += segment.length;
  }
  return {
    tables: Buffer.concat([startOfImage, ...tables, endOfImage]),
    tile: Buffer.concat([startOfImage, ...rest, jpeg.subarray(at)]),
  };
}

type WriteBytes = (bytes: Buffer, offset: number) => Promise<unknown>;

/**
 * Appends tiles in the order they are put, while later ones are drawn and encoded. All bare glass shares
 * one stored tile.
 */
class TileWriter {
  readonly tables: Buffer;
  readonly #write: WriteBytes;
  readonly #bare: { readonly offset: number; readonly length: number };
  readonly #waiting: Promise<void>[] = [];
  #end: number;

  private constructor(write: WriteBytes, bare: TakenApart, start: number) {
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

  /** Where the next tile goes, bytes. */
  get end(): number {
    return this.#end;
  }

  /** @param placed is told offset and length when they are known */
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
    if (this.#waiting.length > MOST_WAITING) await this.#waiting.shift();
    // Even with nothing to wait for, messages and signals get their turn between two tiles.
    else await new Promise(setImmediate);
  }

  async finish(): Promise<void> {
    await Promise.all(this.#waiting.splice(0));
  }
}

// Tags and types of TIFF 6.0, section 8 and appendix A.
const SHORT = 3;
const LONG = 4;
const RATIONAL = 5;
const ASCII = 2;
const UNDEFINED = 7;

interface Entry {
  readonly tag: number;
  readonly type: number;
  readonly count: number;
  readonly value: Buffer;
}

function shorts(tag: number, ...values: readonly number[]): Entry {
  return { tag, type: SHORT, count: values.length, value: Buffer.from(Uint16Array.from(values).buffer) };
}

function longs(tag: number, values: Uint32Array): Entry {
  return { tag, type: LONG, count: values.length, value: Buffer.from(values.slice().buffer) };
}

function rational(tag: number, numerator: number, denominator: number): Entry {
  return { ...longs(tag, Uint32Array.of(numerator, denominator)), type: RATIONAL, count: 1 };
}

function ascii(tag: number, text: string): Entry {
  const value = Buffer.from(`${text}\0`, 'latin1');
  return { tag, type: ASCII, count: value.length, value };
}

/** All directories, to be written at `start`, each with its values behind it. */
function directoriesOf(
  plan: PyramidPlan,
  levels: readonly LevelPlan[],
  tables: Buffer,
  start: number,
): { bytes: Buffer; firstDirectory: number } {
  const firstDirectory = start + (start % 2);
  const parts: Buffer[] = [Buffer.alloc(firstDirectory - start)];
  let place = firstDirectory;
  levels.forEach((_, number) => {
    const entries = entriesOf(plan, levels, number, tables);
    const directory = Buffer.alloc(2 + entries.length * 12 + 4);
    const values: Buffer[] = [];
    let valuePlace = place + directory.length;
    directory.writeUInt16LE(entries.length, 0);
    entries.forEach(({ tag, type, count, value }, index) => {
      const at = 2 + index * 12;
      directory.writeUInt16LE(tag, at);
      directory.writeUInt16LE(type, at + 2);
      directory.writeUInt32LE(count, at + 4);
      if (value.length <= 4) value.copy(directory, at + 8);
      else {
        directory.writeUInt32LE(valuePlace, at + 8);
        // Values start at even places.
        const padded = Buffer.concat([value, Buffer.alloc(value.length % 2)]);
        values.push(padded);
        valuePlace += padded.length;
      }
    });
    const isLast = number === levels.length - 1;
    directory.writeUInt32LE(isLast ? 0 : valuePlace, directory.length - 4);
    parts.push(directory, ...values);
    place = valuePlace;
  });
  return { bytes: Buffer.concat(parts), firstDirectory };
}

/** Tags in ascending order, as TIFF wants them. */
function entriesOf(plan: PyramidPlan, levels: readonly LevelPlan[], number: number, tables: Buffer): Entry[] {
  const level = levels[number] as LevelPlan;
  const pixelsPerCentimetre = Math.round(10_000 / plan.micronsPerPixel / 2 ** number);
  return [
    longs(254, Uint32Array.of(number === 0 ? 0 : 1)), // NewSubfileType: 1 a reduced version of another
    longs(256, Uint32Array.of(level.width)),
    longs(257, Uint32Array.of(level.height)),
    shorts(258, 8, 8, 8), // BitsPerSample
    shorts(259, 7), // Compression: JPEG
    shorts(262, 6), // PhotometricInterpretation: YCbCr
    ascii(270, descriptionOf(plan, level, number)),
    shorts(277, 3), // SamplesPerPixel
    rational(282, pixelsPerCentimetre, 1),
    rational(283, pixelsPerCentimetre, 1),
    shorts(284, 1), // PlanarConfiguration: samples of a pixel side by side
    shorts(296, 3), // ResolutionUnit: centimetre
    shorts(322, TILE_SIZE),
    shorts(323, TILE_SIZE),
    longs(324, level.offsets),
    longs(325, level.lengths),
    { tag: 347, type: UNDEFINED, count: tables.length, value: tables }, // JPEGTables
    shorts(530, 2, 2), // YCbCrSubSampling
  ];
}

function descriptionOf(plan: PyramidPlan, level: LevelPlan, number: number): string {
  const { width, height } = plan;
  const reduced = number === 0 ? '' : ` -> ${level.width}x${level.height}`;
  const geometry = `${width}x${height} [0,0 ${width}x${height}] (${TILE_SIZE}x${TILE_SIZE})${reduced} JPEG/YCC Q=${QUALITY}`;
  return [
    `Aperio Image Library layout\r\n${geometry}`,
    `AppMag = ${plan.objectivePower}`,
    `MPP = ${plan.micronsPerPixel.toFixed(4)}`,
    'Origin = drawn by a program for demonstration, of no patient',
  ].join('|');
}
