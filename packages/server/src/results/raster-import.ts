/**
 * Imports a raster: writes its values as tiles of 256 pixels, losslessly, in a pyramid of levels that halve its size. A level
 * above the first has the mean of four pixels, or of a mask the most frequent value. Values stay what they are in the file;
 * the server makes the 8-bit tiles for display from them (raster-reader.ts).
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { overlayTileSize as side } from '@lamina/contract';
import { SlideError, type ValueArray, type ValueImage, type ValueType } from '@lamina/slide';
import type { ContainerWriter } from './container.ts';
import { createStatistics, type ValueStatistics } from './raster-statistics.ts';

export interface RasterLevel {
  readonly width: number;
  readonly height: number;
  /** Number of its first tile in the index. */
  readonly firstTile: number;
}

export interface RasterCategory {
  readonly value: number;
  readonly name: string;
  readonly color: readonly [number, number, number];
}

/** What the file says of a raster; levels from the largest to the smallest. */
export interface RasterDescription extends ValueStatistics {
  readonly kind: 'raster';
  readonly type: ValueType;
  readonly levels: readonly RasterLevel[];
  /** Offset of the index: 12 bytes for each tile, Float64 offset and Uint32 length. */
  readonly index: number;
  readonly tiles: number;
  readonly categories: readonly RasterCategory[] | null;
  readonly registration: readonly number[];
}

interface RasterOptions {
  readonly maxPixels: number;
  /** True: a mask; false: continuous values; null: decided from the values. */
  readonly isMask: boolean | null;
  readonly categories?: readonly RasterCategory[] | undefined;
  readonly registration: (width: number, height: number) => readonly number[];
  readonly onProgress: (done: number) => void;
}

const maxBandBytes = 160 * 2 ** 20;
const bytesOf: Readonly<Record<ValueType, number>> = { uint8: 1, uint16: 2, float32: 4, float64: 8 };
/** A mask has few values, and small ones. */
const maxMaskValues = 64;

/** Colours of categories without one: Okabe and Ito, distinguishable with every form of colour vision. */
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

/** Views packed bytes as values. */
function unpackedValues(type: ValueType, packed: Uint8Array, length: number): ValueArray {
  const bytes = inflateRawSync(packed, { maxOutputLength: length * bytesOf[type] });
  return valuesOf(type, bytes, length);
}

export function valuesOf(type: ValueType, bytes: Uint8Array, length: number): ValueArray {
  const values = createValues(type, length);
  new Uint8Array(values.buffer).set(bytes.subarray(0, values.byteLength));
  return values;
}

/** @throws SlideError, ContainerFull */
export async function importRaster(
  image: ValueImage,
  writer: ContainerWriter,
  options: RasterOptions,
): Promise<RasterDescription> {
  const { width, height, type } = image;
  if (width * height > options.maxPixels) {
    throw new SlideError('LIMIT_EXCEEDED', `The raster has ${width} × ${height} pixels`);
  }
  if (width * side * bytesOf[type] > maxBandBytes) {
    throw new SlideError('LIMIT_EXCEEDED', `The raster is ${width} pixels wide`);
  }
  const tiles = createTileStore(writer, type);
  const statistics = createStatistics(type);
  const band = createValues(type, width * Math.min(side, height));
  for (let top = 0; top < height; top += side) {
    const rows = Math.min(side, height - top);
    await image.readRows(top, rows, band);
    for (let left = 0; left < width; left += side) {
      const columns = Math.min(side, width - left);
      const tile = createValues(type, columns * rows);
      for (let y = 0; y < rows; y++) {
        const from = y * width + left;
        tile.set(band.subarray(from, from + columns), y * columns);
      }
      statistics.add(tile);
      tiles.add(tile);
    }
    options.onProgress(((top + rows) / height) * 0.75);
  }
  const categories = options.categories ?? categoriesOf(statistics.values(), options.isMask, image.palette);
  const levels: RasterLevel[] = [{ width, height, firstTile: 0 }];
  for (let last = levels[0]; last && (last.width > side || last.height > side); last = levels.at(-1)) {
    levels.push(addLevel(tiles, last, type, categories !== null));
    options.onProgress(Math.min(0.99, 0.75 + levels.length * 0.02));
  }
  return {
    kind: 'raster',
    type,
    levels,
    ...tiles.writeIndex(),
    ...statistics.result(),
    categories,
    registration: options.registration(width, height),
  };
}

function createTileStore(writer: ContainerWriter, type: ValueType) {
  const offsets: number[] = [];
  const lengths: number[] = [];
  const uniform = new Map<number, number>();
  /** Offsets of tiles of one value. */
  const shared = new Set<number>();
  return {
    get count() {
      return offsets.length;
    },
    add(tile: ValueArray): void {
      const first = tile[0] as number;
      // Most of a slide is background: a tile of one value is stored once.
      const isUniform = tile.length === side * side && isUniformTile(tile, first);
      const known = isUniform ? uniform.get(first) : undefined;
      if (known !== undefined) {
        offsets.push(offsets[known] as number);
        lengths.push(lengths[known] as number);
        return;
      }
      if (isUniform && uniform.size < 1000) uniform.set(first, offsets.length);
      const packed = deflateRawSync(new Uint8Array(tile.buffer, tile.byteOffset, tile.byteLength), {
        level: 3,
      });
      const offset = writer.append(packed);
      if (isUniform && uniform.get(first) === offsets.length) shared.add(offset);
      offsets.push(offset);
      lengths.push(packed.length);
    },
    /** Adds a tile above four tiles that are stored as one tile of one value. @returns false: they are not */
    addSame(four: readonly (number | null)[]): boolean {
      const [first] = four;
      if (first === null || first === undefined) return false;
      const offset = offsets[first] as number;
      if (!shared.has(offset)) return false;
      if (four.some((number) => number === null || offsets[number] !== offset)) return false;
      offsets.push(offset);
      lengths.push(lengths[first] as number);
      return true;
    },
    read(number: number, length: number): ValueArray {
      const packed = writer.readAt(offsets[number] as number, lengths[number] as number);
      return unpackedValues(type, packed, length);
    },
    writeIndex(): Pick<RasterDescription, 'index' | 'tiles'> {
      const bytes = new DataView(new ArrayBuffer(12 * offsets.length));
      for (let n = 0; n < offsets.length; n++) {
        bytes.setFloat64(12 * n, offsets[n] as number, true);
        bytes.setUint32(12 * n + 8, lengths[n] as number, true);
      }
      return { index: writer.append(new Uint8Array(bytes.buffer)), tiles: offsets.length };
    },
  };
}

function isUniformTile(tile: ValueArray, first: number): boolean {
  if (tile instanceof Uint8Array) return isUniformBytes(tile, first);
  for (let i = 0; i < tile.length; i++) if (!Object.is(tile[i], first)) return false;
  return true;
}

/** Most pixels of most masks are compared here: a loop over one type of array, which the compiler makes fast. */
function isUniformBytes(tile: Uint8Array, first: number): boolean {
  for (let i = 0; i < tile.length; i++) if (tile[i] !== first) return false;
  return true;
}

type TileStore = ReturnType<typeof createTileStore>;

function addLevel(tiles: TileStore, below: RasterLevel, type: ValueType, isMask: boolean): RasterLevel {
  const width = Math.ceil(below.width / 2);
  const height = Math.ceil(below.height / 2);
  const firstTile = tiles.count;
  const columnsBelow = Math.ceil(below.width / side);
  const merge = isMask ? mostFrequent : type.startsWith('float') ? mean : roundedMean;
  const four = new Float64Array(4);
  for (let top = 0; top < height; top += side) {
    for (let left = 0; left < width; left += side) {
      const columns = Math.min(side, width - left);
      const rows = Math.min(side, height - top);
      const tile = createValues(type, columns * rows);
      const partNumbers = [0, 1, 2, 3].map((quarter) => {
        const column = (left / side) * 2 + (quarter & 1);
        const row = (top / side) * 2 + (quarter >> 1);
        const isInside = column * side < below.width && row * side < below.height;
        return isInside ? below.firstTile + row * columnsBelow + column : null;
      });
      if (columns === side && rows === side && tiles.addSame(partNumbers)) continue;
      for (let quarter = 0; quarter < 4; quarter++) {
        const number = partNumbers[quarter];
        if (number === null || number === undefined) continue;
        const column = (left / side) * 2 + (quarter & 1);
        const row = (top / side) * 2 + (quarter >> 1);
        const partWidth = Math.min(side, below.width - column * side);
        const partHeight = Math.min(side, below.height - row * side);
        const part = tiles.read(number, partWidth * partHeight);
        const [x0, y0] = [(quarter & 1) * (side / 2), (quarter >> 1) * (side / 2)];
        for (let y = 0; 2 * y < partHeight; y++) {
          for (let x = 0; 2 * x < partWidth; x++) {
            const at = 2 * y * partWidth + 2 * x;
            const right = 2 * x + 1 < partWidth ? 1 : 0;
            const down = 2 * y + 1 < partHeight ? partWidth : 0;
            four[0] = part[at] as number;
            four[1] = part[at + right] as number;
            four[2] = part[at + down] as number;
            four[3] = part[at + right + down] as number;
            tile[(y0 + y) * columns + x0 + x] = merge(four);
          }
        }
      }
      tiles.add(tile);
    }
  }
  return { width, height, firstTile };
}

function mean(four: Float64Array): number {
  let sum = 0;
  let count = 0;
  for (const value of four) {
    if (Number.isNaN(value)) continue;
    sum += value;
    count++;
  }
  return count === 0 ? Number.NaN : sum / count;
}

function roundedMean(four: Float64Array): number {
  return Math.round(mean(four));
}

function mostFrequent(four: Float64Array): number {
  const [a, b, c, d] = four as unknown as readonly [number, number, number, number];
  if (a === b || a === c || a === d) return a;
  if (b === c || b === d) return b;
  return c === d ? c : a;
}

function categoriesOf(
  values: readonly number[] | null,
  isMask: boolean | null,
  palette: ValueImage['palette'],
): RasterCategory[] | null {
  if (values === null || isMask === false) return null;
  const most = values.at(-1) ?? 0;
  const isFew = values.length <= maxMaskValues && (most <= maxMaskValues || values.length <= 2);
  if (palette === null && !isFew) return null;
  if (most > 255) return null;
  return values.map((value) => ({
    value,
    name: String(value),
    color: palette?.[value] ?? (value === 0 ? [0, 0, 0] : categoryColor(value - 1)),
  }));
}

/** @param index 0, 1, 2 …; colours repeat, darker each time */
export function categoryColor(index: number): readonly [number, number, number] {
  const color = categoryColors[index % categoryColors.length] as readonly [number, number, number];
  const shade = 1 - 0.2 * (Math.floor(index / categoryColors.length) % 4);
  return [Math.round(color[0] * shade), Math.round(color[1] * shade), Math.round(color[2] * shade)];
}
