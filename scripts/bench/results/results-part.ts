/**
 * `npm run bench -- results`: imports result layers of 1 and 5 million outlines of 20 vertices with the code of the
 * server. Measures time and memory of the import, counting and picking (finding the object at a position), and the
 * stored bytes that a field of view needs. Then measures layers with the same numbers of outlines in a browser (browser-figures.ts),
 * and the import of hostile files (hostile-files.ts).
 */
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openContainer } from '../../../packages/server/src/results/container.ts';
import { openVector, type VectorReader } from '../../../packages/server/src/results/vector-reader.ts';
import { type BenchOptions, cacheFolder } from '../environment.ts';
import { randomFrom } from '../load/random.ts';
import { quantile } from '../load/statistics.ts';
import { describeMachine, markdownTable, publish } from '../report.ts';
import { measureInBrowser, type Row } from './browser-figures.ts';
import { type Centres, centresOf, classNames, writeOutlines } from './generated-outlines.ts';
import { measureHostileFiles } from './hostile-files.ts';
import { measureImport } from './measured-import.ts';

/** Size in pixels of the slide that the layers belong to; no file of this slide exists. */
const slide = { width: 100_000, height: 80_000 };
/** Size of a field of view in screen pixels; at full resolution also in pixels of the slide. */
const field = { width: 1920, height: 1080 };
/** Number of measured queries of each kind. */
const repetitions = 200;
/** Number of fields of view whose counts are compared with the source. */
const comparedFields = 70;
// A block is a group of outlines that are stored together. `VectorReader.index` returns an entry for each block, which begins with the
// block's bounds (Int32) and ends with the block's length in bytes (Uint32).
const indexEntryBytes = 28;
const blockLengthOffset = 24;

interface LayerFigures {
  readonly objects: number;
  /** Size of the GeoJSON file. */
  readonly megabytes: number;
  readonly importSeconds: number;
  /** Largest growth of the resident memory of the process during the import. */
  readonly importMegabytes: number;
  /** Size of the imported layer. */
  readonly layerMegabytes: number;
  /** 95th percentile of the milliseconds of a pick, and of counting the objects of a field of view. */
  readonly pickMs: number;
  readonly countMs: number;
  /** In how many of the compared fields of view the counts equal those of the source, for example "70 of 70". */
  readonly equalCounts: string;
  /** Kilobytes of the blocks of a field at full resolution, 95th percentile. */
  readonly fieldKilobytes: number;
}

export async function resultsPart({ isQuick }: BenchOptions): Promise<void> {
  const folder = join(cacheFolder(), 'results');
  mkdirSync(folder, { recursive: true });
  const sizes = isQuick ? [20_000] : [1_000_000, 5_000_000];
  const measured: LayerFigures[] = [];
  for (const objects of sizes) measured.push(await measureLayer(folder, objects));
  const table = markdownTable(
    measured.map((result) => ({
      outlines: result.objects.toLocaleString('en'),
      file: `${result.megabytes} MB`,
      import: `${result.importSeconds.toFixed(1)} s`,
      'more memory': `${result.importMegabytes} MB`,
      layer: `${result.layerMegabytes} MB`,
      'pick, p95': `${result.pickMs.toFixed(1)} ms`,
      'counts, p95': `${result.countMs.toFixed(1)} ms`,
      'field, p95': `${result.fieldKilobytes} kB`,
      'counts equal to the source': result.equalCounts,
    })),
  );
  const inBrowser: Row[] = [];
  for (const objects of sizes) inBrowser.push(...(await measureInBrowser(folder, objects)));
  const hostile = markdownTable(await measureHostileFiles(folder));
  publish('results', [describeMachine(), '', table, '', markdownTable(inBrowser), '', hostile], { isQuick });
}

/** Imports a layer of `objects` outlines and measures the import and queries of the layer. */
async function measureLayer(folder: string, objects: number): Promise<LayerFigures> {
  const source = join(folder, `${objects}-${slide.width}.geojson`);
  const target = join(folder, `${objects}.result`);
  if (!existsSync(source)) await writeOutlines(source, objects, slide);
  const { outcome, seconds, moreMegabytes } = await measureImport({ kind: 'vector', source, target, slide });
  if (!outcome.ok) throw new Error(outcome.message);
  const container = await openContainer(target);
  const reader = await openVector(container);
  const queries = await measureQueries(reader);
  const equalCounts = await compareCounts(reader, centresOf(objects, slide));
  await container.close();
  const megabytes = (file: string) => Math.round(statSync(file).size / 1e6);
  const result = {
    objects,
    megabytes: megabytes(source),
    importSeconds: seconds,
    importMegabytes: moreMegabytes,
    layerMegabytes: megabytes(target),
    equalCounts,
    ...queries,
  };
  rmSync(target);
  return result;
}

/** Measures picks, counts and bytes of random fields of view at full resolution. */
async function measureQueries(
  reader: VectorReader,
): Promise<Pick<LayerFigures, 'pickMs' | 'countMs' | 'fieldKilobytes'>> {
  const random = randomFrom(7); // a fixed seed: the same fields in every run
  const index = await reader.index();
  const pickTimes: number[] = [];
  const countTimes: number[] = [];
  const fieldBytes: number[] = [];
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const x = random() * (slide.width - field.width);
    const y = random() * (slide.height - field.height);
    const pickedAt = performance.now();
    await reader.pick(x, y, 4); // within 4 pixels
    pickTimes.push(performance.now() - pickedAt);
    const countedAt = performance.now();
    await reader.counts([x, y, x + field.width, y + field.height]);
    countTimes.push(performance.now() - countedAt);
    fieldBytes.push(bytesOfField(index, x, y));
  }
  return {
    pickMs: quantile(pickTimes, 0.95),
    countMs: quantile(countTimes, 0.95),
    fieldKilobytes: Math.round(quantile(fieldBytes, 0.95) / 1000),
  };
}

/**
 * Compares the counts per class in 70 fields of view with the source. An outline belongs to the fields that contain its generated centre.
 *
 * @returns in how many fields all counts are equal, for example "70 of 70"
 */
async function compareCounts(reader: VectorReader, { x, y, classIndexes }: Centres): Promise<string> {
  const random = randomFrom(7); // a fixed seed: the same fields in every run
  let equalFields = 0;
  for (let fieldNumber = 0; fieldNumber < comparedFields; fieldNumber++) {
    // Zooms of 1, 1/2 … 1/64; at 1/64 the field is larger than the slide.
    const zoom = 2 ** -(fieldNumber % 7);
    const [width, height] = [field.width / zoom, field.height / zoom];
    const left = random() * slide.width - width / 2;
    const top = random() * slide.height - height / 2;
    const expected = classNames.map(() => 0);
    for (let i = 0; i < x.length; i++) {
      const [centreX, centreY] = [x[i] ?? 0, y[i] ?? 0];
      const isInside =
        centreX >= left && centreX <= left + width && centreY >= top && centreY <= top + height;
      const classIndex = classIndexes[i] ?? 0;
      if (isInside) expected[classIndex] = (expected[classIndex] ?? 0) + 1;
    }
    const counts = await reader.counts([left, top, left + width, top + height]);
    if (classNames.every((name, index) => (counts[name] ?? 0) === expected[index])) equalFields++;
  }
  return `${equalFields} of ${comparedFields}`;
}

/** Returns the stored bytes of the blocks that touch the field of view whose left edge is x and top edge is y, in pixels of the slide. */
function bytesOfField(index: Buffer, x: number, y: number): number {
  // The bounds of blocks (left, top, right, bottom) are in quarter pixels.
  const [x0, y0, x1, y1] = [x * 4, y * 4, (x + field.width) * 4, (y + field.height) * 4];
  let bytes = 0;
  for (let entryAt = 0; entryAt < index.length; entryAt += indexEntryBytes) {
    const touchesField =
      index.readInt32LE(entryAt) <= x1 &&
      index.readInt32LE(entryAt + 4) <= y1 &&
      index.readInt32LE(entryAt + 8) >= x0 &&
      index.readInt32LE(entryAt + 12) >= y0;
    if (touchesField) bytes += index.readUInt32LE(entryAt + blockLengthOffset);
  }
  return bytes;
}
