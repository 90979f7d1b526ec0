import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { cropRaster, type Raster, shrinkRaster } from '../decode/raster.ts';

/** Content of a MIRAX slide for tests. */
export interface MiraxPlan {
  readonly picture: Raster;
  /** Tile side in pixels; a divisor of half the picture's sides. */
  readonly tileSide: number;
  /** Tiles of level 0 that the file does not contain. */
  readonly missing?: readonly (readonly [column: number, row: number])[];
  /** Tiles of level 0 whose bytes are not a picture. */
  readonly damaged?: readonly (readonly [column: number, row: number])[];
  /** Changes the text of Slidedat.ini. */
  readonly ini?: (ini: string) => string;
}

const SLIDE_ID = '0123456789ABCDEF0123456789ABCDEF';
const LEVELS = 2;

/**
 * Writes a MIRAX slide of two levels with PNG tiles: `name.mrxs` and its folder.
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
  const entries: number[][][] = [];
  for (let level = 0; level < LEVELS; level++) {
    const reduced = shrinkRaster(picture, 2 ** level);
    const list: number[][] = [];
    for (let row = 0; row < rows; row += 2 ** level) {
      for (let column = 0; column < columns; column += 2 ** level) {
        if (level === 0 && isIn(missing, column, row)) continue;
        const [x, y] = [(column * tileSide) / 2 ** level, (row * tileSide) / 2 ** level];
        const { width, height, rgb } = cropRaster(reduced, x, y, tileSide, tileSide);
        const png = await sharp(rgb, { raw: { width, height, channels: 3 } })
          .png()
          .toBuffer();
        const bytes = level === 0 && isIn(damaged, column, row) ? png.fill(7, 20) : png;
        // The number of a tile of a smaller level is that of the first level 0 tile in its area.
        list.push([row * columns + column, dataBytes, bytes.length, 0]);
        data.push(bytes);
        dataBytes += bytes.length;
      }
    }
    entries.push(list);
  }

  const parts = join(folder, name);
  await mkdir(parts, { recursive: true });
  const ini = iniOf(columns, rows, tileSide);
  await Promise.all([
    writeFile(join(folder, `${name}.mrxs`), ''),
    writeFile(join(parts, 'Slidedat.ini'), plan.ini?.(ini) ?? ini),
    writeFile(join(parts, 'Index.dat'), indexOf(entries)),
    writeFile(join(parts, 'Data0000.dat'), Buffer.concat(data)),
  ]);
}

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
  const named = sections.map(
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
${named.join('')}
${sections.join('\n')}
[DATAFILE]
FILE_COUNT=1
FILE_0=Data0000.dat
`;
}

/** Builds the index file: version, slide id and two roots. The first root refers to a page of tile entries per level. */
function indexOf(levels: readonly number[][][]): Buffer {
  const header = Buffer.from(`01.02${SLIDE_ID}`);
  const rootAt = header.length + 8;
  let at = rootAt + 4 * levels.length;
  const root: number[] = [];
  const pages: Buffer[] = [];
  for (const entries of levels) {
    root.push(at);
    const page = int32s(0, at + 8, entries.length, 0, ...entries.flat());
    pages.push(page);
    at += page.length;
  }
  return Buffer.concat([header, int32s(rootAt, at), int32s(...root), ...pages]);
}

function int32s(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeInt32LE(value, i * 4);
  return bytes;
}
