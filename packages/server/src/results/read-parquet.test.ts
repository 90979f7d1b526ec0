/** Tests reading points and outlines from Parquet files, and the rejection of damaged files and of files with false sizes. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ResultObject } from './read-objects.ts';
import { isParquet, readParquet } from './read-parquet.ts';

const mpp = { x: 0.5, y: 0.5 };

/** Returns the objects that `readParquet` emits for a file with this content. */
async function read(bytes: Uint8Array, scale: typeof mpp | null = mpp): Promise<ResultObject[]> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'lamina-parquet-'));
  onTestFinished(() => fs.rm(folder, { recursive: true }));
  const file = path.join(folder, 'table.parquet');
  await fs.writeFile(file, bytes);
  const found: ResultObject[] = [];
  await readParquet(
    file,
    scale,
    (object) => found.push(object),
    () => undefined,
  );
  return found;
}

type Columns = Parameters<typeof parquetWriteBuffer>[0]['columnData'];

function table(columnData: Columns, options: { rowGroupSize?: number } = {}): Uint8Array {
  return new Uint8Array(parquetWriteBuffer({ columnData, ...options }));
}

const rows = 70_000;
const points = table(
  [
    { name: 'x', data: Float64Array.from({ length: rows }, (_, i) => i / 4) },
    { name: 'y', data: Int32Array.from({ length: rows }, (_, i) => i) },
    { name: 'cell_type', data: Array.from({ length: rows }, (_, i) => (i % 2 === 0 ? 'Tumor' : 'Stroma')) },
    { name: 'score', data: Float32Array.from({ length: rows }, (_, i) => i / 2) },
  ],
  { rowGroupSize: 40_000 },
);

/** Offsets in well-known binary of a polygon: of the number of vertices of the first ring, and of its first vertex. */
const vertexCountOffset = 9;
const firstVertexOffset = 13;

/** Returns a polygon as well-known binary, little-endian. */
function wkbPolygon(ring: readonly (readonly [number, number])[]): Uint8Array {
  const bytes = Buffer.alloc(firstVertexOffset + 16 * ring.length);
  bytes.writeUInt8(1, 0); // byte order: little-endian
  bytes.writeUInt32LE(3, 1); // type: polygon
  bytes.writeUInt32LE(1, 5); // number of rings
  bytes.writeUInt32LE(ring.length, vertexCountOffset);
  let offset = firstVertexOffset;
  for (const coordinate of ring.flat()) offset = bytes.writeDoubleLE(coordinate, offset);
  return new Uint8Array(bytes);
}

const geoParquetMetadata = [
  {
    key: 'geo',
    value: JSON.stringify({ primary_column: 'geometry', columns: { geometry: { encoding: 'WKB' } } }),
  },
];

/** Returns a GeoParquet file with a row for each polygon. */
const outlineTable = (geometry: Uint8Array[]) =>
  new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: 'geometry', data: geometry, type: 'BYTE_ARRAY' },
        { name: 'class', data: geometry.map(() => 'Tumor') },
        { name: 'area', data: geometry.map((_, i) => i) },
      ],
      kvMetadata: geoParquetMetadata,
    }),
  );

describe('readParquet (reads analysis results from a Parquet file)', () => {
  it('emits one object for each row of a table of points with several row groups', async () => {
    expect(isParquet(points)).toBe(true);
    const found = await read(points);
    expect(found).toHaveLength(rows);
    // The ends of a part that is decoded at once (32,768 rows) and of a row group (40,000 rows).
    for (const n of [0, 32_767, 32_768, 39_999, 40_000, rows - 1]) {
      expect(found[n]).toEqual({
        rings: [],
        x: n / 4,
        y: n,
        className: n % 2 === 0 ? 'Tumor' : 'Stroma',
        classColor: null,
        id: null,
        measurements: [['score', n / 2]],
      });
    }
  });

  it('converts coordinates in micrometres to pixels, and rejects them for a slide without pixel size', async () => {
    const bytes = table([
      { name: 'x_um', data: [10] },
      { name: 'y_um', data: [20] },
    ]);
    expect(await read(bytes)).toMatchObject([{ x: 20, y: 40 }]);
    await expect(read(bytes, null)).rejects.toMatchObject({ problem: 'not_registered' });
  });

  it('reads outlines of GeoParquet with their classes and measurements', async () => {
    const ring = [
      [0, 0],
      [8, 0],
      [8, 8],
      [0, 8],
      [0, 0],
    ] as const;
    const found = await read(outlineTable([wkbPolygon(ring), wkbPolygon(ring.map(([x, y]) => [x + 10, y]))]));
    expect(found).toMatchObject([
      { rings: [[0, 0, 8, 0, 8, 8, 0, 8]], x: 4, y: 4, className: 'Tumor', measurements: [['area', 0]] },
      { x: 14, y: 4, className: 'Tumor', measurements: [['area', 1]] },
    ]);
  });

  it('rejects a table without coordinates as unknown_format', async () => {
    const bytes = table([{ name: 'score', data: [1] }]);
    await expect(read(bytes)).rejects.toMatchObject({ problem: 'unknown_format' });
  });

  it('rejects an outline with NaN as a coordinate as bad_geometry', async () => {
    const ring = [
      [0, Number.NaN],
      [8, 0],
      [8, 8],
    ] as const;
    await expect(read(outlineTable([wkbPolygon(ring)]))).rejects.toMatchObject({ problem: 'bad_geometry' });
  });

  it('rejects as damaged an outline whose WKB header states 10^9 vertices, although it has 3', async () => {
    const bytes = Buffer.from(
      wkbPolygon([
        [0, 0],
        [1, 0],
        [1, 1],
      ]),
    );
    bytes.writeUInt32LE(1e9, vertexCountOffset);
    await expect(read(outlineTable([bytes]))).rejects.toMatchObject({ problem: 'damaged' });
  });

  it('throws no other error than ImportRejectedError for a truncated file or a file with a changed byte', async () => {
    const small = table([
      { name: 'x', data: [1, 2, 3] },
      { name: 'y', data: [1, 2, 3] },
      { name: 'class', data: ['a', 'b', 'a'] },
    ]);
    await expect(read(small.subarray(0, small.length - 20))).rejects.toMatchObject({ problem: 'damaged' });
    // The first 4 bytes are the signature; the import passes no file with another signature to readParquet.
    for (let offset = 4; offset < small.length; offset++) {
      const bytes = small.slice();
      bytes[offset] = (bytes[offset] as number) ^ 0xff;
      const outcome = await read(bytes).then(
        () => 'read',
        (error: Error) => error.name,
      );
      expect(['read', 'ImportRejectedError']).toContain(outcome);
    }
  });
});
