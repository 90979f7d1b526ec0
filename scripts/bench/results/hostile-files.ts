/** Imports of files that an attacker could upload as result layers: their time and memory, and whether the import accepts each file. */
import { once } from 'node:events';
import { createWriteStream, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { bigSlide } from '../slides/slides.ts';
import { measureImport } from './measured-import.ts';

type Row = Readonly<Record<string, string>>;

interface HostileFile {
  readonly name: string;
  readonly kind: 'vector' | 'raster';
  readonly write: (file: string) => Promise<void> | void;
}

/** Returns GeoJSON with one polygon. @param coordinates inserted as they are, even if they are invalid JSON */
const geoJsonOf = (coordinates: string) =>
  `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{},"geometry":{"type":"Polygon","coordinates":${coordinates}}}]}`;

const hostileFiles: readonly HostileFile[] = [
  {
    name: 'GeoJSON, nested 10,000,000 deep',
    kind: 'vector',
    write: (file) => writeFileSync(file, geoJsonOf('['.repeat(10_000_000))),
  },
  { name: 'GeoJSON, a polygon of 10,000,000 vertices', kind: 'vector', write: writeLongPolygon },
  {
    name: 'GeoJSON, coordinates of 1e999',
    kind: 'vector',
    write: (file) => writeFileSync(file, geoJsonOf('[[[0,0],[1e999,0],[1,1],[0,0]]]')),
  },
  { name: 'PNG of 2,147,483,647 × 2,147,483,647 pixels', kind: 'raster', write: writePngHeader },
  {
    name: 'TIFF of 1,000,000,000 pixels, whose directories never end',
    kind: 'raster',
    write: writeEndlessTiff,
  },
];

/**
 * Writes and imports each hostile file.
 *
 * @param folder of the files, which are removed afterwards
 * @returns the rows of the result table
 */
export async function measureHostileFiles(folder: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { name, kind, write } of hostileFiles) {
    const source = join(folder, 'hostile');
    await write(source);
    const target = join(folder, 'hostile.result');
    const { outcome, seconds, moreMegabytes } = await measureImport({
      kind,
      source,
      target,
      slide: bigSlide,
    });
    rows.push({
      'hostile file': name,
      answer: outcome.ok ? 'accepted' : outcome.problem,
      time: `${seconds.toFixed(2)} s`,
      'more memory': `${moreMegabytes} MB`,
    });
    rmSync(source);
    rmSync(target, { force: true });
  }
  return rows;
}

/** Writes GeoJSON with one polygon of 10,000,000 vertices on a circle. */
async function writeLongPolygon(file: string): Promise<void> {
  const stream = createWriteStream(file, { highWaterMark: 2 ** 20 });
  const [start = '', end = ''] = geoJsonOf('[[POSITIONS]]').split('POSITIONS');
  const vertices = 10_000_000;
  stream.write(start);
  for (let n = 0; n < vertices; n++) {
    const angle = (2 * Math.PI * n) / vertices;
    const position = `[${(1e4 * Math.cos(angle)).toFixed(2)},${(1e4 * Math.sin(angle)).toFixed(2)}],`;
    if (!stream.write(position)) await once(stream, 'drain');
  }
  stream.end(`[10000.00,0.00]${end}`); // the first position again, which closes the ring
  await finished(stream);
}

/** Writes a PNG that consists only of a header, which claims 2³¹ − 1 pixels in both directions. */
function writePngHeader(file: string): void {
  const header = Buffer.alloc(33); // signature (8 bytes) and IHDR chunk (25 bytes)
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).copy(header); // signature
  header.writeUInt32BE(13, 8); // length of the chunk
  header.write('IHDR', 12, 'latin1');
  header.writeUInt32BE(2_147_483_647, 16); // width
  header.writeUInt32BE(2_147_483_647, 20); // height
  header.writeUInt8(8, 24); // bits per sample
  writeFileSync(file, header);
}

/** Writes a TIFF with one directory (of one tag, ImageWidth), whose next directory is itself. */
function writeEndlessTiff(file: string): void {
  const bytes = Buffer.alloc(26); // header (8 bytes) and directory (18 bytes)
  bytes.write('II', 0, 'latin1'); // little-endian
  bytes.writeUInt16LE(42, 2); // identifies a TIFF
  bytes.writeUInt32LE(8, 4); // offset of the directory
  bytes.writeUInt16LE(1, 8); // number of tags
  bytes.writeUInt16LE(256, 10); // ImageWidth
  bytes.writeUInt16LE(4, 12); // type LONG
  bytes.writeUInt32LE(1, 14); // number of values
  bytes.writeUInt32LE(1_000_000_000, 18); // value
  bytes.writeUInt32LE(8, 22); // offset of the next directory, which is this directory
  writeFileSync(file, bytes);
}
