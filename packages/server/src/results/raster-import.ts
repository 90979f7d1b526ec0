/**
 * Imports a raster result of a slide, such as a mask or a heatmap: stores its values without loss as tiles of 256 × 256 pixels, in a
 * pyramid in which each level has half the width and height of the previous one. A pixel of a smaller level is the mean of four
 * pixels of the previous level; in a mask, it is their most frequent value. raster-reader.ts converts the values to 8-bit tiles.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { overlayTileSize as tileSide } from '@lamina/contract/result-limits';
import { SlideError, type ValueArray, type ValueImage, type ValueType } from '@lamina/slide/result-files';
import type { ContainerWriter } from './container.ts';
import { createStatistics, type ValueStatistics } from './raster-statistics.ts';

export interface RasterLevel {
  readonly width: number;
  readonly height: number;
  /** Number of the level's first tile in the index; its other tiles follow row by row. */
  readonly firstTile: number;
}

/** The meaning of one value of a mask. */
export interface RasterCategory {
  readonly value: number;
  readonly name: string;
  readonly color: readonly [number, number, number];
}

/** Description of a raster in the file of its layer (see container.ts), with the range of its values (`ValueStatistics`). */
export interface RasterDescription extends ValueStatistics {
  readonly kind: 'raster';
  readonly type: ValueType;
  /** Levels from the largest to the smallest. */
  readonly levels: readonly RasterLevel[];
  /** Offset of the index in the file. The index has 12 bytes for each tile: Float64 offset and Uint32 length. */
  readonly index: number;
  /** Number of tiles. */
  readonly tiles: number;
  /** Meaning of the values of a mask; null for continuous values. */
  readonly categories: readonly RasterCategory[] | null;
  /** Transform from pixels of the raster to pixels of level 0 (full resolution) of the slide: a, b, c, d, e, f. */
  readonly registration: readonly number[];
}

/** Size of an entry of the index. */
export const tileEntryBytes = 12;

interface RasterOptions {
  readonly maxPixels: number;
  /** False for continuous values; true for a mask; null: the palette and the values decide. */
  readonly isMask: boolean | null;
  /** Categories that the file names; undefined derives them from the values. */
  readonly categories?: readonly RasterCategory[] | undefined;
  /** Returns the transform from pixels of a raster of this size to pixels of level 0 of the slide. */
  readonly registrationFor: (width: number, height: number) => readonly number[];
  /** Called with the completed fraction, 0 to 1. */
  readonly onProgress: (fraction: number) => void;
}

/** Maximum size of a band of 256 rows in memory, which limits the width of a raster. */
const maxBandBytes = 160 * 2 ** 20;
/** Share of the progress bar for reading the file; the rest is for the smaller levels. */
const readingFraction = 0.75;
const bytesPerValue: Readonly<Record<ValueType, number>> = { uint8: 1, uint16: 2, float32: 4, float64: 8 };
/** A raster with more distinct values than this, or with a value above this number, is usually not a mask (see `categoriesOf`). */
const maxMaskValues = 64;
/** Maximum number of different uniform tiles (with one value only) that are remembered, so that equal ones are stored once. */
const maxUniformTiles = 1000;

/** Colours for categories to which the file gives no colour: a palette by Okabe and Ito that colour-blind people can distinguish. */
const categoryColors: readonly (readonly [number, number, number])[] = [
  [230, 159, 0],
  [86, 180, 233],
  [0, 158, 115],
  [213, 94, 0],
  [204, 121, 167],
  [240, 228, 66],
  [0, 114, 178],
  [153, 153, 153],
];

function createValues(type: ValueType, length: number): ValueArray {
  if (type === 'uint8') return new Uint8Array(length);
  if (type === 'uint16') return new Uint16Array(length);
  return type === 'float32' ? new Float32Array(length) : new Float64Array(length);
}

/** Unpacks the values of a tile. @param length number of values */
function unpackValues(type: ValueType, packed: Uint8Array, length: number): ValueArray {
  const bytes = inflateRawSync(packed, { maxOutputLength: length * bytesPerValue[type] });
  return valuesOf(type, bytes, length);
}

/** Converts bytes, which are in the byte order of this machine, to values. @param length number of values */
export function valuesOf(type: ValueType, bytes: Uint8Array, length: number): ValueArray {
  const values = createValues(type, length);
  new Uint8Array(values.buffer).set(bytes.subarray(0, values.byteLength));
  return values;
}

/** Writes the tiles and the index of a raster to the file of its layer. @throws SlideError, ContainerFull */
export async function importRaster(
  image: ValueImage,
  writer: ContainerWriter,
  options: RasterOptions,
): Promise<RasterDescription> {
  const { width, height, type } = image;
  if (width * height > options.maxPixels) {
    throw new SlideError('LIMIT_EXCEEDED', `The raster has ${width} × ${height} pixels`);
  }
  if (width * tileSide * bytesPerValue[type] > maxBandBytes) {
    throw new SlideError('LIMIT_EXCEEDED', `The raster is ${width} pixels wide`);
  }
  const tiles = createTileStore(writer, type);
  const statistics = createStatistics(type);
  const band = createValues(type, width * Math.min(tileSide, height));
  for (let top = 0; top < height; top += tileSide) {
    const rows = Math.min(tileSide, height - top);
    await image.readRows(top, rows, band);
    for (let left = 0; left < width; left += tileSide) {
      const columns = Math.min(tileSide, width - left);
      const tile = createValues(type, columns * rows);
      for (let y = 0; y < rows; y++) {
        const rowStart = y * width + left;
        tile.set(band.subarray(rowStart, rowStart + columns), y * columns);
      }
      statistics.add(tile); // before `tiles.add`, because `statistics.add` replaces infinite values in the tile with NaN
      tiles.add(tile);
    }
    options.onProgress(((top + rows) / height) * readingFraction);
  }
  const valueStatistics = statistics.result();
  const { range } = valueStatistics;
  if (range !== null && !Number.isFinite(range.max - range.min)) {
    throw new SlideError(
      'FORMAT_NOT_SUPPORTED',
      'The range of the values is too large for the steps of the tiles',
    );
  }
  const distinctValues = statistics.values();
  // Programs also write masks as floating point, or as integers that become floating point (see `openValueTiff`).
  const isWholeNumberType = type === 'uint8' || type === 'uint16';
  const maskValues = isWholeNumberType || options.isMask ? distinctValues : null;
  const categories = options.categories ?? categoriesOf(maskValues, options.isMask, image.palette);
  const isMask = categories !== null;
  let smallest: RasterLevel = { width, height, firstTile: 0 };
  const levels = [smallest];
  while (smallest.width > tileSide || smallest.height > tileSide) {
    smallest = addLevel(tiles, smallest, type, isMask);
    levels.push(smallest);
    options.onProgress(Math.min(0.99, readingFraction + levels.length * 0.02)); // an estimate: 2 % for each level, at most 99 %
  }
  return {
    kind: 'raster',
    type,
    levels,
    ...tiles.writeIndex(),
    ...valueStatistics,
    categories,
    registration: options.registrationFor(width, height),
  };
}

/**
 * Stores tiles and their index. Most of a slide is background, so a uniform tile (all of its values are equal) is stored once, and
 * all equal tiles refer to it.
 */
function createTileStore(writer: ContainerWriter, type: ValueType) {
  /** Offset and length of each tile in the file, by tile number. */
  const offsets: number[] = [];
  const lengths: number[] = [];
  /** Number of the first tile that contains only this value, by value. */
  const uniformTiles = new Map<number, number>();
  /** Offsets of these uniform tiles in the file. */
  const uniformOffsets = new Set<number>();
  return {
    get count() {
      return offsets.length;
    },
    add(tile: ValueArray): void {
      const firstValue = tile[0] as number;
      // Smaller tiles at the edges cannot share the bytes of a whole tile.
      const isUniform = tile.length === tileSide * tileSide && isUniformTile(tile, firstValue);
      const equalTile = isUniform ? uniformTiles.get(firstValue) : undefined;
      if (equalTile !== undefined) {
        offsets.push(offsets[equalTile] as number);
        lengths.push(lengths[equalTile] as number);
        return;
      }
      const isRemembered = isUniform && uniformTiles.size < maxUniformTiles;
      if (isRemembered) uniformTiles.set(firstValue, offsets.length);
      const packed = deflateRawSync(new Uint8Array(tile.buffer, tile.byteOffset, tile.byteLength), {
        level: 3,
      });
      const offset = writer.append(packed);
      if (isRemembered) uniformOffsets.add(offset);
      offsets.push(offset);
      lengths.push(packed.length);
    },
    /**
     * Adds a tile of a smaller level, which is computed from four source tiles. If all four refer to the same uniform tile, the new tile
     * refers to it, too. Returns whether the tile was added.
     */
    addIfUniform(sourceTiles: readonly (number | null)[]): boolean {
      const [first] = sourceTiles;
      if (first === null || first === undefined) return false;
      const offset = offsets[first] as number;
      if (!uniformOffsets.has(offset)) return false;
      if (sourceTiles.some((source) => source === null || offsets[source] !== offset)) return false;
      offsets.push(offset);
      lengths.push(lengths[first] as number);
      return true;
    },
    read(tileNumber: number, length: number): ValueArray {
      const packed = writer.readAt(offsets[tileNumber] as number, lengths[tileNumber] as number);
      return unpackValues(type, packed, length);
    },
    writeIndex(): Pick<RasterDescription, 'index' | 'tiles'> {
      const bytes = new DataView(new ArrayBuffer(tileEntryBytes * offsets.length)); // `true` below means little-endian
      for (let n = 0; n < offsets.length; n++) {
        bytes.setFloat64(tileEntryBytes * n, offsets[n] as number, true);
        bytes.setUint32(tileEntryBytes * n + 8, lengths[n] as number, true);
      }
      return { index: writer.append(new Uint8Array(bytes.buffer)), tiles: offsets.length };
    },
  };
}

/** Returns whether all values of a tile equal the first one; NaN equals NaN. */
function isUniformTile(tile: ValueArray, firstValue: number): boolean {
  if (tile instanceof Uint8Array) return isUniformBytes(tile, firstValue);
  for (let i = 0; i < tile.length; i++) if (!Object.is(tile[i], firstValue)) return false;
  return true;
}

/** A separate loop for the type of most masks: the compiler makes it fast, because it sees only one type of array. */
function isUniformBytes(tile: Uint8Array, firstValue: number): boolean {
  for (let i = 0; i < tile.length; i++) if (tile[i] !== firstValue) return false;
  return true;
}

type TileStore = ReturnType<typeof createTileStore>;

/** Adds the tiles of the next smaller level. @param larger the level from which the new tiles are computed */
function addLevel(tiles: TileStore, larger: RasterLevel, type: ValueType, isMask: boolean): RasterLevel {
  const width = Math.ceil(larger.width / 2);
  const height = Math.ceil(larger.height / 2);
  const firstTile = tiles.count;
  const largerTileColumns = Math.ceil(larger.width / tileSide);
  const meanOf = type.startsWith('float') ? mean : roundedMean;
  const merge = isMask ? mostFrequent : meanOf;
  const fourValues = new Float64Array(4);
  for (let top = 0; top < height; top += tileSide) {
    for (let left = 0; left < width; left += tileSide) {
      const columns = Math.min(tileSide, width - left);
      const rows = Math.min(tileSide, height - top);
      const tile = createValues(type, columns * rows);
      // The tile covers 2 × 2 tiles of the larger level (null: outside the raster). Its quarters are numbered row by row.
      const sourceTiles = [0, 1, 2, 3].map((quarter) => {
        const tileColumn = (left / tileSide) * 2 + (quarter & 1);
        const tileRow = (top / tileSide) * 2 + (quarter >> 1);
        const isInside = tileColumn * tileSide < larger.width && tileRow * tileSide < larger.height;
        return isInside ? larger.firstTile + tileRow * largerTileColumns + tileColumn : null;
      });
      if (columns === tileSide && rows === tileSide && tiles.addIfUniform(sourceTiles)) continue;
      for (let quarter = 0; quarter < 4; quarter++) {
        const sourceTile = sourceTiles[quarter];
        if (sourceTile === null || sourceTile === undefined) continue;
        const tileColumn = (left / tileSide) * 2 + (quarter & 1);
        const tileRow = (top / tileSide) * 2 + (quarter >> 1);
        const sourceWidth = Math.min(tileSide, larger.width - tileColumn * tileSide);
        const sourceHeight = Math.min(tileSide, larger.height - tileRow * tileSide);
        const source = tiles.read(sourceTile, sourceWidth * sourceHeight);
        const quarterLeft = (quarter & 1) * (tileSide / 2);
        const quarterTop = (quarter >> 1) * (tileSide / 2);
        for (let y = 0; 2 * y < sourceHeight; y++) {
          for (let x = 0; 2 * x < sourceWidth; x++) {
            const topLeft = 2 * y * sourceWidth + 2 * x;
            // At the right and bottom edge of an odd size the last pixel is used twice.
            const right = 2 * x + 1 < sourceWidth ? 1 : 0;
            const down = 2 * y + 1 < sourceHeight ? sourceWidth : 0;
            fourValues[0] = source[topLeft] as number;
            fourValues[1] = source[topLeft + right] as number;
            fourValues[2] = source[topLeft + down] as number;
            fourValues[3] = source[topLeft + right + down] as number;
            tile[(quarterTop + y) * columns + quarterLeft + x] = merge(fourValues);
          }
        }
      }
      tiles.add(tile);
    }
  }
  return { width, height, firstTile };
}

/** Returns the mean of the values that are not NaN; NaN when all are. */
function mean(fourValues: Float64Array): number {
  let sum = 0;
  let count = 0;
  for (const value of fourValues) {
    if (Number.isNaN(value)) continue;
    sum += value;
    count++;
  }
  return count === 0 ? Number.NaN : sum / count;
}

function roundedMean(fourValues: Float64Array): number {
  return Math.round(mean(fourValues));
}

/** Returns the most frequent of four values; the first one when all differ. */
function mostFrequent(fourValues: Float64Array): number {
  const [a, b, c, d] = fourValues as unknown as readonly [number, number, number, number];
  if (a === b || a === c || a === d) return a;
  if (b === c || b === d) return b;
  return c === d ? c : a;
}

/**
 * Returns a category for each distinct value of a mask; null for continuous values, and for values above 255. A raster without a
 * palette is a mask if its file name says so, if it has at most two distinct values, or if it has at most 64 distinct values and
 * none of them exceeds 64.
 *
 * @param values distinct values in ascending order; null for continuous values
 */
function categoriesOf(
  values: readonly number[] | null,
  isMask: boolean | null,
  palette: ValueImage['palette'],
): RasterCategory[] | null {
  if (values === null || isMask === false) return null;
  const largest = values.at(-1) ?? 0;
  const hasMaskValues = values.length <= maxMaskValues && (largest <= maxMaskValues || values.length <= 2);
  if (palette === null && isMask === null && !hasMaskValues) return null;
  if (largest > 255) return null; // the 8-bit tiles must contain the values themselves
  return values.map((value) => ({
    value,
    name: String(value),
    color: palette?.[value] ?? (value === 0 ? [0, 0, 0] : categoryColor(value - 1)), // value 0 is the background
  }));
}

/** Returns the colour of the category with an index from 0. After eight categories the colours repeat in a darker shade. */
export function categoryColor(index: number): readonly [number, number, number] {
  const color = categoryColors[index % categoryColors.length] as readonly [number, number, number];
  const shade = 1 - 0.2 * (Math.floor(index / categoryColors.length) % 4);
  return [Math.round(color[0] * shade), Math.round(color[1] * shade), Math.round(color[2] * shade)];
}
