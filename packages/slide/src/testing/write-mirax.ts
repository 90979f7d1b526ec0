import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { cropRaster, type Raster, shrinkRaster } from '../decode/raster.ts';

/** Content of a MIRAX slide for tests. */
export interface MiraxPlan {
  readonly picture: Raster;
  /** Side of a tile in pixels. The image must be an even number of tiles wide and high. */
  readonly tileSide: number;
  /** Tiles of level 0 that the slide does not contain. */
  readonly missing?: readonly (readonly [column: number, row: number])[];
  /** Tiles of level 0 whose bytes cannot be decoded. */
  readonly damaged?: readonly (readonly [column: number, row: number])[];
  /** Receives the text of Slidedat.ini and returns the text that is written. */
  readonly ini?: (ini: string) => string;
}

const SLIDE_ID = '0123456789ABCDEF0123456789ABCDEF';
const LEVELS = 2;

/** A tile in the index file: its number, and its position in the data file. */
interface TileEntry {
  readonly tileNumber: number;
  readonly offset: number;
  readonly length: number;
}

/**
 * Writes a MIRAX slide of two levels with PNG tiles: the file `name.mrxs`, which is empty, and the folder `name` with all data.
 *
 * Source: OpenSlide's notes on the MIRAX format.
 */
export async function writeMirax(folder: string, name: string, plan: MiraxPlan): Promise<void> {
  const { picture, tileSide, missing = [], damaged = [] } = plan;
  const isIn = (tiles: MiraxPlan['missing'], column: number, row: number) =>
    tiles?.some(([x, y]) => x === column && y === row) === true;
  const [columns, rows] = [picture.width / tileSide, picture.height / tileSide];
  const data: Uint8Array[] = [];
  let dataBytes = 0;
  const entriesByLevel: TileEntry[][] = [];
  for (let level = 0; level < LEVELS; level++) {
    const reduced = shrinkRaster(picture, 2 ** level);
    const entries: TileEntry[] = [];
    for (let row = 0; row < rows; row += 2 ** level) {
      for (let column = 0; column < columns; column += 2 ** level) {
        if (level === 0 && isIn(missing, column, row)) continue;
        const [x, y] = [(column * tileSide) / 2 ** level, (row * tileSide) / 2 ** level];
        const { width, height, rgb } = cropRaster(reduced, x, y, tileSide, tileSide);
        const png = await sharp(rgb, { raw: { width, height, channels: 3 } })
          .png()
          .toBuffer();
        const bytes = level === 0 && isIn(damaged, column, row) ? damagePng(png) : png;
        // Tiles of level 0 are numbered row by row. A tile of level 1 covers 2 × 2 of them and has the number of the first.
        entries.push({ tileNumber: row * columns + column, offset: dataBytes, length: bytes.length });
        data.push(bytes);
        dataBytes += bytes.length;
      }
    }
    entriesByLevel.push(entries);
  }

  const slideFolder = join(folder, name);
  await mkdir(slideFolder, { recursive: true });
  const ini = iniOf(columns, rows, tileSide);
  await Promise.all([
    writeFile(join(folder, `${name}.mrxs`), ''),
    writeFile(join(slideFolder, 'Slidedat.ini'), plan.ini?.(ini) ?? ini),
    writeFile(join(slideFolder, 'Index.dat'), buildIndexFile(entriesByLevel)),
    writeFile(join(slideFolder, 'Data0000.dat'), Buffer.concat(data)),
  ]);
}

/** Overwrites all bytes after the first 20, so that the file is still recognised as PNG but cannot be decoded. */
const damagePng = (png: Buffer) => png.fill(7, 20);

function iniOf(columns: number, rows: number, tileSide: number): string {
  const sections = Array.from(
    { length: LEVELS },
    (_, level) => `[LAYER_0_LEVEL_${level}_SECTION]
OVERLAP_X=0
OVERLAP_Y=0
MICROMETER_PER_PIXEL_X=${0.25 * 2 ** level}
MICROMETER_PER_PIXEL_Y=${0.25 * 2 ** level}
IMAGE_FORMAT=PNG
IMAGE_FILL_COLOR_BGR=15790320
DIGITIZER_WIDTH=${tileSide}
DIGITIZER_HEIGHT=${tileSide}
IMAGE_CONCAT_FACTOR=${level === 0 ? 0 : 1}
`,
  );
  const levelReferences = sections.map(
    (_, level) => `HIER_0_VAL_${level}=ZoomLevel_${level}
HIER_0_VAL_${level}_SECTION=LAYER_0_LEVEL_${level}_SECTION
`,
  );
  return `[GENERAL]
SLIDE_VERSION=01.02
SLIDE_ID=${SLIDE_ID}
IMAGENUMBER_X=${columns}
IMAGENUMBER_Y=${rows}
OBJECTIVE_MAGNIFICATION=40
CameraImageDivisionsPerSide=1

[HIERARCHICAL]
HIER_COUNT=1
NONHIER_COUNT=0
INDEXFILE=Index.dat
HIER_0_NAME=Slide zoom level
HIER_0_COUNT=${LEVELS}
${levelReferences.join('')}
${sections.join('\n')}
[DATAFILE]
FILE_COUNT=1
FILE_0=Data0000.dat
`;
}

const ROOT_POINTERS_BYTES = 8; // positions of two tables, 4 bytes each

/**
 * Builds the index file: version and slide id; the positions of two tables; the first table, which states the position of
 * each level's list; and the lists. The second table (of non-hierarchical data) is empty, so its position is the end.
 */
function buildIndexFile(entriesByLevel: readonly TileEntry[][]): Buffer {
  const header = Buffer.from(`01.02${SLIDE_ID}`);
  const tableAt = header.length + ROOT_POINTERS_BYTES;
  let at = tableAt + 4 * entriesByLevel.length;
  const listPositions: number[] = [];
  const lists: Buffer[] = [];
  for (const entries of entriesByLevel) {
    listPositions.push(at);
    // A list is a head (number of its entries, position of the page) and a page (number of entries, next page,
    // entries).
    const pageAt = at + 8;
    const [noEntriesInHead, noNextPage, dataFile] = [0, 0, 0];
    const list = int32s(
      ...[noEntriesInHead, pageAt, entries.length, noNextPage],
      ...entries.flatMap(({ tileNumber, offset, length }) => [tileNumber, offset, length, dataFile]),
    );
    lists.push(list);
    at += list.length;
  }
  return Buffer.concat([header, int32s(tableAt, at), int32s(...listPositions), ...lists]);
}

function int32s(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeInt32LE(value, i * 4);
  return bytes;
}
