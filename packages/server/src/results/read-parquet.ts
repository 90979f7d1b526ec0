/**
 * Reads objects from a Parquet file: a table of points with the columns that read-points.ts knows, or GeoParquet with outlines
 * as well-known binary (WKB). Rows are read in parts, so that only the compressed bytes of one row group are in memory at a
 * time.
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
import { RefusedResult } from './problems.ts';
import { createObjectReader, type ResultObject } from './read-objects.ts';
import { pointReader } from './read-points.ts';

const signature = Buffer.from('PAR1');
const maxColumns = 512;
const maxFooterBytes = 16 * 2 ** 20;
/** Maximum number of compressed bytes of a row group. */
const maxGroupBytes = 256 * 2 ** 20;
const maxPageBytes = 64 * 2 ** 20;
const rowsPerPart = { points: 32_768, outlines: 4096 } as const;

type Row = Readonly<Record<string, unknown>>;

export function isParquet(start: Uint8Array): boolean {
  return signature.equals(start.subarray(0, signature.length));
}

/**
 * Emits one object for each row of the file.
 *
 * @param mpp pixel size of the slide, for coordinates in micrometres; null when unknown
 * @throws RefusedResult unknown_format, not_registered, bad_geometry, damaged, too_large
 */
export async function readParquet(
  path: string,
  mpp: { readonly x: number; readonly y: number } | null,
  emit: (object: ResultObject) => void,
  onProgress: (done: number) => void,
): Promise<void> {
  const file = await open(path, 'r');
  try {
    const buffer = bufferOf(file, (await file.stat()).size);
    const metadata = await parsed(() => parquetMetadataAsync(buffer, { initialFetchSize: 65_536 }));
    const { columns, geometry, groups } = await parsed(() => contentOf(metadata));
    const total = groups.reduce((sum, rows) => sum + rows, 0);
    const emitRow = geometry === null ? pointsOf(columns, mpp, emit) : outlinesOf(geometry, emit);
    const step = geometry === null ? rowsPerPart.points : rowsPerPart.outlines;
    let groupStart = 0;
    for (const groupRows of groups) {
      buffer.forget();
      for (let first = 0; first < groupRows; first += step) {
        const last = Math.min(groupRows, first + step);
        const rows = await parsed(() =>
          parquetReadObjects({
            file: buffer,
            metadata,
            columns,
            rowStart: groupStart + first,
            rowEnd: groupStart + last,
            compressors,
          }),
        );
        // A damaged header may state billions of rows, so reading stops as soon as a row is missing.
        if (rows.length !== last - first) throw damaged('a row group has fewer rows than it claims');
        for (const row of rows) emitRow(row);
        onProgress((groupStart + last) / total);
      }
      groupStart += groupRows;
    }
  } finally {
    await file.close();
  }
}

const damaged = (reason: string) => new RefusedResult('damaged', `The Parquet file is damaged: ${reason}`);

/** Runs a step of the parser. Its errors mean that the file is damaged. */
async function parsed<T>(step: () => T | Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof RefusedResult) throw error;
    throw damaged((error as Error).message);
  }
}

/** Reads ranges of a file and caches them until `forget` is called, because each part of a row group needs the same ranges. */
function bufferOf(file: FileHandle, byteLength: number): AsyncBuffer & { forget(): void } {
  const cachedRanges = new Map<string, Promise<ArrayBuffer>>();
  let cachedBytes = 0;

  async function read(start: number, end: number): Promise<ArrayBuffer> {
    const bytes = new Uint8Array(end - start);
    for (let at = 0; at < bytes.length; ) {
      const { bytesRead } = await file.read(bytes, at, bytes.length - at, start + at);
      if (bytesRead === 0) throw damaged('it ends early');
      at += bytesRead;
    }
    return bytes.buffer;
  }

  return {
    byteLength,
    slice(start, end = byteLength) {
      const isInside = Number.isSafeInteger(start) && start >= 0 && end >= start && end <= byteLength;
      if (!isInside) throw damaged(`it has no bytes ${start} to ${end}`);
      const key = `${start}-${end}`;
      const cached = cachedRanges.get(key);
      if (cached !== undefined) return cached;
      cachedBytes += end - start;
      if (cachedBytes > maxGroupBytes) throw new RefusedResult('too_large', 'A row group has too many bytes');
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

/** @throws RefusedResult */
function contentOf(metadata: FileMetaData): {
  columns: string[];
  geometry: string | null;
  /** Rows of each row group. */
  groups: number[];
} {
  if (metadata.metadata_length > maxFooterBytes) {
    throw new RefusedResult('too_large', 'The description of the Parquet file is too long');
  }
  const flat = parquetSchema(metadata).children.filter(({ children }) => children.length === 0);
  if (flat.length > maxColumns) throw new RefusedResult('unknown_format', 'The table has too many columns');
  if (!flat.every(({ element }) => typeof element.name === 'string')) throw damaged('a column has no name');
  const groups = metadata.row_groups.map(({ num_rows: rows }) => Number(rows));
  if (!groups.every((rows) => Number.isSafeInteger(rows) && rows >= 0))
    throw damaged('it has no number of rows');
  const geometry = flat.find(({ element }) => element.logical_type?.type === 'GEOMETRY');
  return {
    columns: flat.map(({ element }) => element.name),
    geometry: geometry?.element.name ?? null,
    groups,
  };
}

function pointsOf(
  columns: readonly string[],
  mpp: { readonly x: number; readonly y: number } | null,
  emit: (object: ResultObject) => void,
): (row: Row) => void {
  const read = pointReader(columns, mpp);
  return (row) => emit(read(columns.map((name) => textOf(row[name]))));
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
    ? `${value}`
    : '';
}

/** Returns a function that reads a row as a GeoJSON feature, whose properties are the columns other than the geometry. */
function outlinesOf(geometry: string, emit: (object: ResultObject) => void): (row: Row) => void {
  const reader = createObjectReader();
  return (row) => {
    const properties = Object.fromEntries(
      Object.entries(row).flatMap(([name, value]) => {
        if (name === geometry) return [];
        return [[name, typeof value === 'bigint' ? Number(value) : value] as const];
      }),
    );
    const id = typeof row.id === 'bigint' ? Number(row.id) : row.id;
    const value = { type: 'Feature', id, geometry: row[geometry] ?? null, properties };
    reader.read({ value, key: null }, emit);
  };
}

const compressors: Compressors = {
  SNAPPY(input, length) {
    const output = new Uint8Array(checked(length));
    snappyUncompress(input, output);
    return output;
  },
  GZIP: (input, length) => gunzipSync(input, { maxOutputLength: checked(length) }),
  ZSTD: (input, length) => zstdDecompressSync(input, { maxOutputLength: checked(length) }),
  BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: checked(length) }),
};

/** @throws RefusedResult for a page that unpacks to too many bytes */
function checked(length: number): number {
  if (!(length >= 0 && length <= maxPageBytes)) {
    throw new RefusedResult('too_large', `A page claims ${length} bytes`);
  }
  return Math.max(1, length);
}
