/**
 * `npm run bench -- processes`: measures one, two and three server processes behind nginx, with PostgreSQL and object storage.
 *
 * Each process has a CPU quota, so that the throughput per added process can be measured on a machine with few processors. A second
 * measurement simulates a thousand viewers on three processes without a quota.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { nginx } from '../../../packages/server/src/testing/load-balancer.ts';
import { createObjectStore, type ObjectStoreSettings } from '../../../packages/slide/src/index.ts';
import { ScriptExit } from '../../launcher/runtime.mjs';
import { type PostgresServer, startPostgres } from '../../services/postgres.ts';
import { startSwift } from '../../services/swift.ts';
import { type BenchOptions, createEnvironment } from '../environment.ts';
import { type LoadResult, measureLoad } from '../load/load-client.ts';
import { gridOf, maxLevelOf, type TiledSlide, tilesOfLevel, viewingTrace } from '../load/trace.ts';
import { administrator } from '../product.ts';
import { waitUntilTilesAreRendered } from '../rendered-tiles.ts';
import { describeMachine, markdownTable, publish } from '../report.ts';
import { bigSlide, slideNames } from '../slides/slides.ts';
import {
  type LoadProfile,
  loadProfileOf,
  measureViewers,
  type ViewersResult,
  viewedSlides,
  viewersReport,
} from '../viewers/concurrent-viewers.ts';
import { createViewerSessions } from '../viewers/viewer-sessions.ts';
import { type ServerGroup, type ServerGroupOptions, startServerGroup } from './server-group.ts';

/** CPU quota of each server process including its child processes, as a share of one processor. */
const cpuShare = 0.15;
/** Connections of the load with native tiles (sent as the file stores them), and of the load with a viewing trace. */
const nativeConnections = 48;
const viewingConnections = 16;
/** Number of viewers whose requests the viewing trace contains. */
const traceViewers = 3;

/** What is measured: how many processes, and with which loads. */
interface Workload {
  /** The measured numbers of processes. */
  readonly counts: readonly number[];
  /** Duration of each load. */
  readonly seconds: number;
  /** Number of tiles of the viewing trace. */
  readonly viewingTiles: number;
}

/** The results of both loads for one number of server processes. */
interface Row {
  /** Number of server processes. */
  readonly count: number;
  /** Results of the load with native tiles, and of the load with a viewing trace. */
  readonly native: LoadResult;
  readonly viewing: LoadResult;
  /** Whether each process had its CPU quota. */
  readonly hasQuota: boolean;
}

interface Results {
  readonly rows: readonly Row[];
  readonly viewers: ViewersResult;
  readonly workload: Workload;
  /** Whether the slides were in object storage; otherwise they were in a folder. */
  readonly hasBucket: boolean;
}

export async function processesPart({ isQuick }: BenchOptions): Promise<void> {
  const workload = isQuick
    ? { counts: [1, 3], seconds: 2, viewingTiles: 150 }
    : { counts: [1, 2, 3], seconds: 10, viewingTiles: 1200 };
  const { cache: sharedCache, slides, tileSize } = await createEnvironment();
  const slide = { ...bigSlide, tileSize };
  if (nginx === null) throw new ScriptExit('This part needs nginx (Debian: nginx-light).');
  const postgres = await startPostgres();
  if (postgres === null) throw new ScriptExit('This part needs PostgreSQL.');
  const swift = await startSwift();
  const cache = join(sharedCache, 'several'); // for several processes
  rmSync(cache, { recursive: true, force: true });
  try {
    const bucket = swift === null ? null : await fillBucket(swift.env, slides);
    const options = { cache, env: settingsOf(postgres, bucket, slides) };
    const rows: Row[] = [];
    for (const count of workload.counts) rows.push(await measureThroughput(options, slide, count, workload));
    const viewers = await measureAllViewers(options, slide, loadProfileOf(isQuick));
    report({ rows, viewers, workload, hasBucket: swift !== null }, isQuick);
  } finally {
    await swift?.stop();
    await postgres.stop();
  }
}

/** Returns the settings of every process. @param bucket contains the slides; null for the slide folder */
function settingsOf(
  postgres: PostgresServer,
  bucket: ObjectStoreSettings | null,
  slides: string,
): NodeJS.ProcessEnv {
  const settings = {
    HOST: '127.0.0.1',
    DATABASE_URL: postgres.url,
    SECRET_KEY: 'the same for all processes of a measurement',
    SLIDES_DIR: slides,
    DEMO: 'off',
    THROTTLE: 'off',
    ADMIN_EMAIL: administrator.email,
    ADMIN_PASSWORD: administrator.password,
    IMAGE_SESSION_TTL: '86400',
    LOG_LEVEL: 'warn',
    TRUSTED_PROXIES: '127.0.0.1',
  };
  if (bucket === null) return settings;
  return {
    ...settings,
    SLIDES_DIR: join(slides, 'none'), // a folder without slides: all of them are in the bucket
    S3_ENDPOINT: bucket.endpoint,
    S3_REGION: bucket.region,
    S3_BUCKET: bucket.bucket,
    S3_ACCESS_KEY_ID: bucket.accessKeyId,
    S3_SECRET_ACCESS_KEY: bucket.secretAccessKey,
  };
}

/** Uploads the slides into a new bucket. */
async function fillBucket(
  env: Readonly<Record<string, string>>,
  slides: string,
): Promise<ObjectStoreSettings> {
  console.log('Uploading the slides to object storage …');
  // test-bucket.ts reads the environment when it is imported.
  Object.assign(process.env, env);
  const { makeBucket } = await import('../../../packages/slide/src/testing/test-bucket.ts');
  const bucket = await makeBucket();
  const store = createObjectStore(bucket);
  for (const name of Object.values(slideNames)) await store.put(`Bench/${name}`, join(slides, name));
  return bucket;
}

/** Measures the throughput of `count` processes, each with its CPU quota. */
async function measureThroughput(
  options: ServerGroupOptions,
  slide: TiledSlide,
  count: number,
  workload: Workload,
): Promise<Row> {
  // The disk cache is only a little larger than the measured tiles. In a larger one the servers would prerender tiles,
  // which would use the CPU quota.
  const group = await startServerGroup(options, count, { TILE_CACHE_BYTES: String(64 * 1024 * 1024) });
  try {
    const pathOf = (tile: string) => group.tilePath(slideNames.scan, tile);
    const nativeTiles = centralTilesOf(slide);
    const trace = viewingTrace(slide, traceViewers).slice(0, workload.viewingTiles);
    // Fills the caches of each process, so that neither object storage nor rendering is measured. The results are not used.
    for (const { port } of group.processes) {
      await measureLoad({ port, processIds: [], pathOf }, [...nativeTiles, ...trace], { connections: 8 });
    }
    const target = { port: group.balancer.port, processIds: group.processIds, pathOf };
    // Makes the servers compile their code before the quota is set, because the compilation would use most of the quota.
    await measureLoad(target, nativeTiles, { connections: nativeConnections, seconds: 5 });
    for (const { quota } of group.processes) quota?.set(cpuShare);
    // The first 2 s with the quota are not measured.
    await measureLoad(target, nativeTiles, { connections: nativeConnections, seconds: 2 });
    const native = await measureLoad(target, nativeTiles, {
      connections: nativeConnections,
      seconds: workload.seconds,
    });
    const viewing = await measureLoad(target, trace, {
      connections: viewingConnections,
      seconds: workload.seconds,
    });
    console.log(
      `${count}: ${native.perSecond.toFixed(0)} native tiles/s, ${viewing.perSecond.toFixed(0)} tiles/s of viewing, ${native.failed + viewing.failed} failed`,
    );
    return { count, native, viewing, hasQuota: group.processes.every(({ quota }) => quota !== null) };
  } finally {
    await group.stop();
  }
}

/** Returns 2,000 tiles of full resolution (40 rows of 50, about 30 MB) near the centre of the slide, row by row. */
function centralTilesOf(slide: TiledSlide): string[] {
  const level = maxLevelOf(slide);
  const { columns, rows } = gridOf(slide, level);
  const [firstColumn, firstRow] = [Math.floor(columns / 3), Math.floor(rows / 3)];
  return Array.from(
    { length: 40 * 50 },
    (_, i) => `${level}/${firstColumn + (i % 50)}_${firstRow + Math.floor(i / 50)}`,
  );
}

/** Simulates all viewers of the profile; their requests go to three processes without a quota. */
async function measureAllViewers(
  options: ServerGroupOptions,
  slide: TiledSlide,
  profile: LoadProfile,
): Promise<ViewersResult> {
  const group = await startServerGroup(options, 3);
  try {
    console.log(`Creating accounts for ${profile.viewers} viewers …`);
    const [sessions] = await Promise.all([
      createViewerSessions(group.balancer.address, group.token, profile.viewers),
      ...group.processes.map(({ port }) => readSlides(port, group, slide)),
    ]);
    await waitUntilTilesAreRendered(group.processes.map(({ dataDir }) => dataDir));
    const { port, process: balancer } = group.balancer;
    return await measureViewers(
      {
        port,
        tileSize: slide.tileSize,
        pathOf: (viewer, tile) =>
          group.tilePath(viewedSlides[viewer % viewedSlides.length] ?? '', tile, sessions[viewer] ?? ''),
        processIds: {
          'the three': group.processIds,
          nginx: balancer.pid === undefined ? [] : [balancer.pid],
        },
      },
      profile,
    );
  } finally {
    await group.stop();
  }
}

/** Requests every fourth tile of each slide, so that the process has read nearly all of both slides from object storage. */
async function readSlides(port: number, { tilePath }: ServerGroup, slide: TiledSlide): Promise<void> {
  const levels = Array.from({ length: maxLevelOf(slide) + 1 }, (_, level) => tilesOfLevel(slide, level));
  const tiles = levels.flat().filter((_, i) => i % 4 === 0);
  for (const name of viewedSlides) {
    await measureLoad({ port, processIds: [], pathOf: (tile) => tilePath(name, tile) }, tiles, {
      connections: 4,
    });
  }
}

function report({ rows, viewers, workload, hasBucket }: Results, isQuick: boolean): void {
  const { viewers: viewerCount, rampUpSeconds } = loadProfileOf(isQuick);
  const [firstRow] = rows;
  const growthText = (value: number, firstValue = Number.NaN) => `${(value / firstValue).toFixed(2)}×`;
  const storage = hasBucket
    ? 'object storage (Swift)'
    : 'a folder of slides (no object storage is installed here)';
  const quotas = rows.every(({ hasQuota }) => hasQuota)
    ? `Each process, with its child processes, has a quota of ${cpuShare} of one processor.`
    : 'The processes have no CPU quota (none could be set here), so the growth is limited by the machine.';
  publish(
    'processes',
    [
      describeMachine(),
      '',
      `nginx in front of the processes, PostgreSQL and ${storage} behind them, the client beside them, all on this machine. ${quotas} Native: ${nativeConnections} connections, ${workload.seconds} s, 2,000 tiles of full resolution. Viewing: 3 viewers, ${workload.viewingTiles} tiles again and again, ${viewingConnections} connections, ${workload.seconds} s, a third of them rendered tiles. Each process has all of these tiles in its cache.`,
      '',
      markdownTable(
        rows.map(({ count, native, viewing }) => ({
          processes: count,
          'native/s': native.perSecond.toFixed(0),
          growth: growthText(native.perSecond, firstRow?.native.perSecond),
          'p50 / p99 ms': `${native.p50.toFixed(1)} / ${native.p99.toFixed(1)}`,
          'CPU s/1000': native.cpuPer1000.toFixed(3),
          'viewing/s': viewing.perSecond.toFixed(0),
          // A space at the end distinguishes the keys of the second load from those of the first.
          'growth ': growthText(viewing.perSecond, firstRow?.viewing.perSecond),
          'p50 / p99 ms ': `${viewing.p50.toFixed(1)} / ${viewing.p99.toFixed(1)}`,
          'client, of a core': native.clientShare.toFixed(2),
          failed: native.failed + viewing.failed,
        })),
      ),
      '',
      `${viewerCount} viewers arrive within ${rampUpSeconds} s at three processes without a quota, each of which has rendered the tiles of both slides and has read nearly all of both objects.`,
      '',
      viewersReport(viewers),
    ],
    { isQuick },
  );
}
