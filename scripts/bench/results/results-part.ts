/**
 * `npm run bench -- results`: imports layers of 1 and 5 million outlines of 20 vertices as the server does, and measures time,
 * memory, counts, picks and the bytes of a field of view.
 */
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { openContainer } from '../../../packages/server/src/results/container.ts';
import { runImport } from '../../../packages/server/src/results/run-import.ts';
import { openVector, type VectorReader } from '../../../packages/server/src/results/vector-reader.ts';
import { type BenchOptions, cacheFolder } from '../environment.ts';
import { quantile } from '../load/statistics.ts';
import { circumstances, publish, tableOf } from '../report.ts';

const slide = { width: 100_000, height: 80_000 };
const vertices = 20;
const classes = ['Tumor', 'Stroma', 'Lymphocyte', 'Mitosis'] as const;
const field = { width: 1920, height: 1080 };
const repetitions = 200;

interface Measured {
  readonly objects: number;
  readonly megabytes: number;
  readonly importSeconds: number;
  /** Peak resident memory of the process while it imported. */
  readonly importMegabytes: number;
  readonly fileMegabytes: number;
  /** Milliseconds, 95th percentile. */
  readonly pickMs: number;
  readonly countMs: number;
  /** Kilobytes of the blocks of a field at full resolution, 95th percentile. */
  readonly fieldKilobytes: number;
}

export async function resultsPart({ isQuick }: BenchOptions): Promise<void> {
  const folder = join(cacheFolder(), 'results');
  mkdirSync(folder, { recursive: true });
  const measured: Measured[] = [];
  for (const objects of isQuick ? [20_000] : [1_000_000, 5_000_000]) {
    measured.push(await measure(folder, objects));
  }
  const table = tableOf(
    measured.map((result) => ({
      outlines: result.objects.toLocaleString('en'),
      file: `${result.megabytes} MB`,
      import: `${result.importSeconds.toFixed(1)} s`,
      memory: `${result.importMegabytes} MB`,
      layer: `${result.fileMegabytes} MB`,
      'pick, p95': `${result.pickMs.toFixed(1)} ms`,
      'counts, p95': `${result.countMs.toFixed(1)} ms`,
      'field, p95': `${result.fieldKilobytes} kB`,
    })),
  );
  publish('results', [circumstances(), '', table], { isQuick });
}

async function measure(folder: string, objects: number): Promise<Measured> {
  const source = join(folder, `${objects}.geojson`);
  const target = join(folder, `${objects}.result`);
  if (!existsSync(source)) await writeOutlines(source, objects);
  const startedAt = performance.now();
  let peak = 0;
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 50);
  const task = {
    kind: 'vector',
    source,
    fileName: null,
    target,
    maxBytes: 2 ** 40,
    registration: { method: 'full-size' },
    isMask: null,
    slide: { ...slide, mpp: null },
  } as const;
  const answer = await runImport(task, () => undefined, new AbortController().signal);
  clearInterval(sampling);
  const importSeconds = (performance.now() - startedAt) / 1000;
  if (!answer.ok) throw new Error(answer.message);
  const container = await openContainer(target);
  const reader = await openVector(container);
  const queries = await measureQueries(reader);
  await container.close();
  const megabytes = (file: string) => Math.round(statSync(file).size / 1e6);
  const result = {
    objects,
    megabytes: megabytes(source),
    importSeconds,
    importMegabytes: Math.round(peak / 1e6),
    fileMegabytes: megabytes(target),
    ...queries,
  };
  rmSync(target);
  return result;
}

async function measureQueries(
  reader: VectorReader,
): Promise<Pick<Measured, 'pickMs' | 'countMs' | 'fieldKilobytes'>> {
  const random = seeded();
  const index = await reader.index();
  const picks: number[] = [];
  const counts: number[] = [];
  const fields: number[] = [];
  for (let n = 0; n < repetitions; n++) {
    const x = random() * (slide.width - field.width);
    const y = random() * (slide.height - field.height);
    const pickedAt = performance.now();
    await reader.pick(x, y, 4);
    picks.push(performance.now() - pickedAt);
    const countedAt = performance.now();
    await reader.counts([x, y, x + field.width, y + field.height]);
    counts.push(performance.now() - countedAt);
    fields.push(bytesOfField(index, x, y));
  }
  return {
    pickMs: quantile(picks, 0.95),
    countMs: quantile(counts, 0.95),
    fieldKilobytes: Math.round(quantile(fields, 0.95) / 1000),
  };
}

/** Sums the stored bytes of the blocks whose bounds touch the field. */
function bytesOfField(index: Buffer, x: number, y: number): number {
  const [x0, y0, x1, y1] = [x * 4, y * 4, (x + field.width) * 4, (y + field.height) * 4];
  let bytes = 0;
  for (let at = 0; at < index.length; at += 28) {
    const isNear =
      index.readInt32LE(at) <= x1 &&
      index.readInt32LE(at + 4) <= y1 &&
      index.readInt32LE(at + 8) >= x0 &&
      index.readInt32LE(at + 12) >= y0;
    if (isNear) bytes += index.readUInt32LE(at + 24);
  }
  return bytes;
}

/** Writes outlines of cells with two measurements, in rows of tiles as programs write them. */
async function writeOutlines(file: string, objects: number): Promise<void> {
  const random = seeded();
  const stream = createWriteStream(file, { highWaterMark: 2 ** 20 });
  stream.write('{"type":"FeatureCollection","features":[');
  const perRow = Math.ceil(Math.sqrt((objects * slide.width) / slide.height));
  const step = slide.width / perRow;
  for (let n = 0; n < objects; n++) {
    const x = ((n % perRow) + random()) * step;
    const y = (Math.floor(n / perRow) + random()) * step;
    const radius = 8 + 8 * random();
    const ring = Array.from({ length: vertices }, (_, i) => {
      const angle = (2 * Math.PI * i) / vertices;
      const reach = radius * (0.8 + 0.4 * random());
      return `[${(x + reach * Math.cos(angle)).toFixed(2)},${(y + reach * Math.sin(angle)).toFixed(2)}]`;
    });
    ring.push(ring[0] ?? '');
    const name = classes[Math.floor(random() * classes.length)];
    const text = `${n === 0 ? '' : ','}{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[${ring.join()}]]},"properties":{"objectType":"cell","classification":{"name":"${name}","color":[200,0,0]},"measurements":{"Area":${(radius * radius * 3).toFixed(2)},"Score":${random().toFixed(3)}}}}`;
    if (!stream.write(text)) await once(stream, 'drain');
  }
  stream.end(']}');
  await finished(stream);
}

function seeded(): () => number {
  let seed = 7;
  return () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
}
