/**
 * `npm run bench -- annotations`: measures the download of a list of 10,000 annotations and the time until they are drawn, frames with
 * 100,000 vertices, and the brush on an outline of 50,000 vertices. Counts changes that are lost when the server is killed, when the
 * page crashes, and when 20 users change one layer at the same time.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import os from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../services/postgres.ts';
import { type BenchEnvironment, type BenchOptions, createEnvironment } from '../environment.ts';
import { quantile } from '../load/statistics.ts';
import { type RunningProduct, startProduct } from '../product.ts';
import { describeMachine, markdownTable, publish } from '../report.ts';
import { slideNames } from '../slides/slides.ts';
import { measureInBrowser } from './browser-figures.ts';
import { measureConcurrentChanges } from './concurrent-writers.ts';
import { clearLayers, makeLayer, outlinesIn } from './generated-annotations.ts';
import { measureKills } from './killed-server.ts';

/** A row of the result table: its cells by column heading. */
export type Row = Readonly<Record<string, string | number>>;

export async function annotationsPart({ isQuick }: BenchOptions): Promise<void> {
  const environment = await createEnvironment();
  const postgres = await startPostgres();
  /** Numbers of list downloads, of rounds with simultaneous changes, and of kills of the server. */
  const { downloads, rounds, kills } = isQuick
    ? { downloads: 3, rounds: 3, kills: 3 }
    : { downloads: 20, rounds: 30, kills: 50 };
  const rows: Row[] = [];
  const addRow = (row: Row) => {
    const rowWithLoad = { ...row, 'load of the machine': (os.loadavg()[0] ?? 0).toFixed(1) };
    console.log(JSON.stringify(rowWithLoad));
    rows.push(rowWithLoad);
  };
  try {
    const installations: readonly (readonly [name: string, env: NodeJS.ProcessEnv])[] = [
      ['SQLite', {}],
      ...(postgres === null ? [] : [['PostgreSQL', { DATABASE_URL: postgres.url }] as const]),
    ];
    for (const [name, env] of installations) {
      await withProduct(environment, env, async (product) => {
        addRow(await measureList(product, name, downloads));
        // Only once, because the work of the browser does not depend on the database.
        if (name === 'SQLite') for (const row of await measureInBrowser(product, isQuick)) addRow(row);
      });
      // WORKERS is the number of server processes that respond to HTTP requests.
      await withProduct(environment, { ...env, WORKERS: '3' }, async (product) => {
        addRow(await measureConcurrentChanges(product, name, rounds));
      });
      addRow(await measureKills(withEmptyFolder(environment), env, name, kills));
    }
  } finally {
    await postgres?.stop();
  }
  publish('annotations', [describeMachine(), '', markdownTable(rows)], { isQuick });
}

/** Returns the environment with an empty folder for everything that this part writes. */
function withEmptyFolder(environment: BenchEnvironment): BenchEnvironment {
  const cache = join(environment.cache, 'annotations');
  rmSync(cache, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  return { ...environment, cache };
}

/** Starts the product with an empty data folder, and stops it after `use`. */
async function withProduct(
  environment: BenchEnvironment,
  env: NodeJS.ProcessEnv,
  use: (product: RunningProduct) => Promise<void>,
): Promise<void> {
  const product = await startProduct(withEmptyFolder(environment), env);
  try {
    await use(product);
  } finally {
    await product.stop();
  }
}

/** Measures the download of the list of a layer with 10,000 annotations of 30 vertices, from the request to the last byte. */
async function measureList(product: RunningProduct, database: string, repeats: number): Promise<Row> {
  const target = { ...product, imageId: product.imageIdOf(slideNames.scan) };
  const layerId = await makeLayer(target, outlinesIn({ width: 20_000, height: 15_000 }, 10_000, 30));
  const times: number[] = [];
  const firstByteTimes: number[] = [];
  let bytes = 0;
  for (let repeat = 0; repeat <= repeats; repeat++) {
    const download = await downloadList(product, layerId);
    bytes = download.bytes;
    // The first download is not counted, because the server compiles code during it.
    if (repeat > 0) {
      times.push(download.ms);
      firstByteTimes.push(download.firstByteMs);
    }
  }
  await clearLayers(target);
  return {
    measured: `${database}: list of 10,000 annotations of 30 vertices, compressed, median of ${repeats}`,
    result: `${Math.round(quantile(times, 0.5))} ms`,
    detail: `p95 ${Math.round(quantile(times, 0.95))} ms, first byte ${Math.round(quantile(firstByteTimes, 0.5))} ms, ${(bytes / 1e6).toFixed(1)} MB`,
    limit: '500 ms',
  };
}

interface ListDownload {
  readonly ms: number;
  readonly firstByteMs: number;
  readonly bytes: number;
}

/** Requests a list with the headers of a browser, and does not decompress it. */
function downloadList({ port, token }: RunningProduct, layerId: string): Promise<ListDownload> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const path = `/api/v1/annotation-layers/${layerId}/annotations`;
    const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip, deflate, br, zstd' };
    request({ host: '127.0.0.1', port, path, headers }, (response) => {
      let bytes = 0;
      let firstByteMs = 0;
      response
        .on('data', (part: Buffer) => {
          if (bytes === 0) firstByteMs = performance.now() - startedAt;
          bytes += part.length;
        })
        .on('error', reject)
        .on('end', () => resolve({ ms: performance.now() - startedAt, firstByteMs, bytes }));
    })
      .on('error', reject)
      .end();
  });
}
