/**
 * Reads objects of a result layer, such as detected cells, from a Parquet file: a table of points with the columns that
 * read-points.ts knows, or GeoParquet with outlines as well-known binary (WKB), which hyparquet converts to GeoJSON. Rows
 * are decoded in parts, and the compressed bytes of at most one row group (a section of the file) are in memory at a time.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import {
  type AsyncBuffer,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
  snappyUncompress,
} from 'hyparquet';
import { ImportRejectedError } from './problems.ts';
import { createObjectReader, type ResultObject } from './read-objects.ts';
import { pointReader } from './read-points.ts';

const signature = Buffer.from('PAR1');
const maxColumns = 512;
/** Maximum size of the footer (metadata at the end of the file), checked after parsing; `maxGroupBytes` limits how much is read. */
const maxFooterBytes = 16 * 2 ** 20;
const maxGroupBytes = 256 * 2 ** 20; // maximum size of a compressed row group
const maxPageBytes = 64 * 2 ** 20; // maximum size of an unpacked page, a part of a row group
/** Number of rows that one call decodes. A row with an outline is larger than a row with a point. */
const rowsPerPart = { points: 32_768, outlines: 4096 } as const;

type Row = Readonly<Record<string, unknown>>;

/** Returns whether a file is a Parquet file. @param start first bytes of the file */
export function isParquet(start: Uint8Array): boolean {
  return signature.equals(start.subarray(0, signature.length));
}

/**
 * Emits one object for each row of the file.
 *
 * @param onProgress called with the completed fraction, 0 to 1
 * @param mpp pixel size of the slide, for coordinates in micrometres; null when unknown
 * @throws ImportRejectedError unknown_format, not_registered, bad_geometry, damaged, too_large
 */
export async function readParquet(
  path: string,
  mpp: { readonly x: number; readonly y: number } | null,
  emit: (object: ResultObject) => void,
  onProgress: (fraction: number) => void,
): Promise<void> {
  const file = await open(path, 'r');
  try {
    const buffer = bufferOf(file, (await file.stat()).size);
    // The first read gets 64 KiB from the end of the file, which usually contain the whole footer.
    const metadata = await runParser(() => parquetMetadataAsync(buffer, { initialFetchSize: 65_536 }));
    const { columns, geometryColumn, rowsOfGroups } = await runParser(() => contentOf(metadata));
    const totalRows = rowsOfGroups.reduce((sum, rows) => sum + rows, 0);
    const emitRow =
      geometryColumn === null ? pointEmitter(columns, mpp, emit) : outlineEmitter(geometryColumn, emit);
    const partRows = geometryColumn === null ? rowsPerPart.points : rowsPerPart.outlines;
    let groupStart = 0; // number of the group's first row in the file
    for (const groupRows of rowsOfGroups) {
      buffer.forget();
      for (let start = 0; start < groupRows; start += partRows) {
        const end = Math.min(groupRows, start + partRows);
        const rows = await runParser(() =>
          parquetReadObjects({
            file: buffer,
            metadata,
            columns,
            rowStart: groupStart + start,
            rowEnd: groupStart + end,
            compressors,
          }),
        );
        // A damaged header may state billions of rows, so reading stops as soon as a row is missing.
        if (rows.length !== end - start) throw damagedFile('a row group has fewer rows than it claims');
        for (const row of rows) emitRow(row);
        onProgress((groupStart + end) / totalRows);
      }
      groupStart += groupRows;
    }
  } finally {
    await file.close();
  }
}

const damagedFile = (damage: string) =>
  new ImportRejectedError('damaged', `The Parquet file is damaged: ${damage}`);

/** Runs a step of the parser. @throws ImportRejectedError damaged for any parser error */
async function runParser<T>(step: () => T | Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof ImportRejectedError) throw error;
    throw damagedFile((error as Error).message);
  }
}

/**
 * Returns the buffer from which the parser reads ranges of the file. Caches the ranges until `forget` is called, because each
 * part of a row group needs the same ranges.
 */
function bufferOf(file: FileHandle, byteLength: number): AsyncBuffer & { forget(): void } {
  const cachedRanges = new Map<string, Promise<ArrayBuffer>>();
  let cachedBytes = 0;

  async function read(start: number, end: number): Promise<ArrayBuffer> {
    const bytes = new Uint8Array(end - start);
    for (let filled = 0; filled < bytes.length; ) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, start + filled);
      if (bytesRead === 0) throw damagedFile('it ends early');
      filled += bytesRead;
    }
    return bytes.buffer;
  }

  return {
    byteLength,
    slice(start, end = byteLength) {
      const isInside = Number.isSafeInteger(start) && start >= 0 && end >= start && end <= byteLength;
      if (!isInside) throw damagedFile(`it has no bytes ${start} to ${end}`);
      const key = `${start}-${end}`;
      const cached = cachedRanges.get(key);
      if (cached !== undefined) return cached;
      cachedBytes += end - start;
      if (cachedBytes > maxGroupBytes)
        throw new ImportRejectedError('too_large', 'A row group has too many bytes');
      const bytes = read(start, end);
      cachedRanges.set(key, bytes);
      return bytes;
    },
    forget() {
      cachedRanges.clear();
      cachedBytes = 0;
    },
  };
}

/** Returns the names of the columns that are not nested and of the column with outlines (null for a table of points). */
function contentOf(metadata: FileMetaData): {
  columns: string[];
  geometryColumn: string | null;
  /** Number of rows of each row group. */
  rowsOfGroups: number[];
} {
  if (metadata.metadata_length > maxFooterBytes) {
    throw new ImportRejectedError('too_large', 'The description of the Parquet file is too long');
  }
  const flatColumns = parquetSchema(metadata).children.filter(({ children }) => children.length === 0);
  if (flatColumns.length > maxColumns)
    throw new ImportRejectedError('unknown_format', 'The table has too many columns');
  if (!flatColumns.every(({ element }) => typeof element.name === 'string'))
    throw damagedFile('a column has no name');
  const rowsOfGroups = metadata.row_groups.map(({ num_rows: rows }) => Number(rows));
  if (!rowsOfGroups.every((rows) => Number.isSafeInteger(rows) && rows >= 0))
    throw damagedFile('a row group has an invalid number of rows');
  const geometry = flatColumns.find(({ element }) => element.logical_type?.type === 'GEOMETRY');
  return {
    columns: flatColumns.map(({ element }) => element.name),
    geometryColumn: geometry?.element.name ?? null,
    rowsOfGroups,
  };
}

/** Returns a function that emits the object of a row with a point. */
function pointEmitter(
  columns: readonly string[],
  mpp: { readonly x: number; readonly y: number } | null,
  emit: (object: ResultObject) => void,
): (row: Row) => void {
  const readRow = pointReader(columns, mpp, { hasDecimalCommas: false }); // expects strings, because it also reads CSV tables
  return (row) => emit(readRow(columns.map((name) => textOf(row[name]))));
}

/** Converts a string or number to a string; returns '' for null and values of other types. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
    ? `${value}`
    : '';
}

/** Returns a function that reads a row as a GeoJSON feature. Its geometry is the outline; the other columns are its properties. */
function outlineEmitter(geometryColumn: string, emit: (object: ResultObject) => void): (row: Row) => void {
  const reader = createObjectReader();
  return (row) => {
    const properties = Object.fromEntries(
      Object.entries(row).flatMap(([name, value]) => {
        if (name === geometryColumn) return [];
        return [[name, typeof value === 'bigint' ? Number(value) : value] as const];
      }),
    );
    const id = typeof row.id === 'bigint' ? Number(row.id) : row.id;
    const feature = { type: 'Feature', id, geometry: row[geometryColumn] ?? null, properties };
    reader.read({ value: feature, key: null }, emit); // null: the feature is not a member of a JSON object
  };
}

/** Decompression functions by codec. Their argument `length` is the size of the unpacked page in bytes. */
const compressors: Compressors = {
  SNAPPY(input, length) {
    const output = new Uint8Array(checkedPageBytes(length));
    snappyUncompress(input, output);
    return output;
  },
  GZIP: (input, length) => gunzipSync(input, { maxOutputLength: checkedPageBytes(length) }),
  ZSTD: (input, length) => zstdDecompressSync(input, { maxOutputLength: checkedPageBytes(length) }),
  BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: checkedPageBytes(length) }),
};

/** Checks the size of an unpacked page, and returns it, or 1 (the minimum of `maxOutputLength`) for 0. @throws ImportRejectedError */
function checkedPageBytes(length: number): number {
  // The negated comparison also rejects NaN.
  if (!(length >= 0 && length <= maxPageBytes)) {
    throw new ImportRejectedError('too_large', `A page claims ${length} bytes`);
  }
  return Math.max(1, length);
}
