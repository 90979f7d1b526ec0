/**
 * Several processes (`npm run bench -- processes`): one, two and three behind nginx, over PostgreSQL and object storage,
 * each with a share of a processor of its own, so that it shows what another one brings; then all viewers at three
 * of them without such bounds.
 */
import { mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { nginx, startLoadBalancer } from '../../packages/server/src/testing/load-balancer.ts';
import { createObjectStore } from '../../packages/slide/src/index.ts';
import { freePort } from '../free-port.mjs';
import { startPostgres } from '../postgres.mjs';
import { callApi, untilReady } from '../product-api.mjs';
import { endOf, passSignalsTo, Stop, server as serverCommand, start } from '../runtime.mjs';
import { startSwift } from '../swift.mjs';
import { crowdPlan, crowdReport, watchCrowd, watched } from './crowd.mjs';
import { load } from './load-client.mjs';
import { makeProcessorShare } from './processor-share.mjs';
import { administrator } from './product.mjs';
import { circumstances, publish, tableOf } from './report.mjs';
import { bigSlide, slideNames } from './slides.mjs';
import { untilTilesAreMade } from './tiles-made.mjs';
import { gridOf, maxLevelOf, tilesOfLevel, viewingTrace } from './trace.mjs';
import { makeSessions } from './viewer-sessions.mjs';

/** Of one processor, to each process with all that it starts. */
const share = 0.15;
const counts = [1, 2, 3];
const connections = 48;

export async function processesPart(ground, { isQuick }) {
  const plan = isQuick
    ? { counts: [1, 3], seconds: 2, viewing: 150 }
    : { counts, seconds: 10, viewing: 1200 };
  if (nginx === null) throw new Stop('This part needs nginx (Debian: nginx-light).');
  const postgres = await startPostgres();
  if (postgres === null) throw new Stop('This part needs PostgreSQL.');
  const swift = await startSwift();
  const cache = join(ground.cache, 'several');
  rmSync(cache, { recursive: true, force: true });
  try {
    const bucket = swift === null ? null : await fillBucket(swift.env, ground.slides);
    const own = { ...ground, cache, env: settingsOf(postgres, bucket, ground.slides) };
    const rows = [];
    for (const count of plan.counts) rows.push(await measure(own, count, plan));
    const seen = await watchAll(own, crowdPlan(isQuick));
    report({ rows, seen, plan, hasBucket: swift !== null }, isQuick);
  } finally {
    await swift?.stop();
    await postgres.stop();
  }
}

function settingsOf(postgres, bucket, slides) {
  const settings = {
    HOST: '127.0.0.1',
    DATABASE_URL: postgres.address,
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
    SLIDES_DIR: join(slides, 'none'),
    S3_ENDPOINT: bucket.endpoint,
    S3_REGION: bucket.region,
    S3_BUCKET: bucket.bucket,
    S3_ACCESS_KEY_ID: bucket.accessKeyId,
    S3_SECRET_ACCESS_KEY: bucket.secretAccessKey,
  };
}

/** @returns the bucket with the slides in it */
async function fillBucket(env, slides) {
  console.log('Putting the slides into the object store …');
  Object.assign(process.env, env); // where the tests look for it, too
  const { makeBucket } = await import('../../packages/slide/src/testing/test-bucket.ts');
  const bucket = await makeBucket();
  const store = createObjectStore(bucket);
  for (const name of Object.values(slideNames)) await store.put(`Bench/${name}`, join(slides, name));
  return bucket;
}

/** So many processes behind a load balancer, over the same database, each with a new folder of its own. */
async function startSeveral({ cache, env }, count, more = {}) {
  mkdirSync(join(cache, 'log'), { recursive: true });
  const processes = [];
  const startOne = async (place) => {
    const limit = makeProcessorShare(`${count}-${place}`);
    const port = await freePort();
    const log = openSync(join(cache, 'log', `product-${place}.log`), 'a');
    const commandLine = limit === null ? serverCommand() : limit.wrap(serverCommand());
    const dataDir = join(cache, `data-${count}-${place}`);
    rmSync(dataDir, { recursive: true, force: true });
    const child = start(commandLine, {
      env: { ...env, ...more, PORT: String(port), DATA_DIR: dataDir },
      stdio: ['ignore', log, log],
    });
    const end = endOf(child);
    const signals = passSignalsTo(child);
    const stop = async () => {
      limit?.set(null);
      child.kill();
      await end;
      signals.release();
      await limit?.remove();
    };
    processes.push({ port, pid: child.pid, dataDir, limit, stop });
    await Promise.race([untilReady(`http://127.0.0.1:${port}`), failed(end)]);
  };
  let balancer = null;
  const stop = async () => {
    await balancer?.stop();
    await Promise.all(processes.map((each) => each.stop()));
  };
  try {
    await Promise.all(Array.from({ length: count }, (_, place) => startOne(place)));
    balancer = await startLoadBalancer(processes.map(({ port }) => port));
    const { token } = await callApi(balancer.address, 'POST', '/auth/login', { body: administrator });
    const images = await whenRead(balancer.address, token);
    const { session_id: session } = await callApi(balancer.address, 'POST', '/auth/image-session', { token });
    const tilePath = (name, tile, by = session) => {
      const { id } = images.find(({ file_name }) => file_name === name);
      return `/api/v1/image-catalog/proxy/${id}/image_files/${tile}.jpeg?session=${by}`;
    };
    const roots = processes.map(({ pid }) => pid);
    return { processes, roots, balancer, token, tilePath, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function failed(end) {
  throw new Error(`The product ended with ${await end}; its log is in the folder of the bench.`);
}

async function whenRead(address, token) {
  for (;;) {
    const { images } = await callApi(address, 'GET', '/image-catalog/images', { token });
    if (images.length >= 3 && images.every(({ status }) => status === 'ready')) return images;
    await setTimeout(200);
  }
}

/** What so many processes give, each with its share of a processor. */
async function measure(ground, count, plan) {
  const { tileSize } = ground;
  // Room for what is asked for, and little more: to make tiles ahead would take of the share that is measured.
  const several = await startSeveral(ground, count, { TILE_CACHE_BYTES: String(64 * 1024 * 1024) });
  try {
    const slide = { ...bigSlide, tileSize };
    const pathOf = (tile) => several.tilePath(slideNames.scan, tile);
    const stored = middleOf(slide);
    const trace = viewingTrace(slide, 3).slice(0, plan.viewing);
    // Once at each of them, so that neither the object store nor the making of tiles is what is measured.
    for (const { port } of several.processes) {
      await load({ port, roots: [], pathOf }, [...stored, ...trace], { connections: 8 });
    }
    const through = { port: several.balancer.port, roots: several.roots, pathOf };
    // Until the code has been compiled, which would take most of a small share.
    await load(through, stored, { connections, seconds: 5 });
    for (const { limit } of several.processes) limit?.set(share);
    await load(through, stored, { connections, seconds: 2 });
    const plain = await load(through, stored, { connections, seconds: plan.seconds });
    const viewing = await load(through, trace, { connections: 16, seconds: plan.seconds });
    const isLimited = several.processes.every(({ limit }) => limit !== null);
    const row = { count, plain, viewing, isLimited };
    console.log(
      `${count}: ${plain.perSecond.toFixed(0)} stored tiles/s, ${viewing.perSecond.toFixed(0)} of viewing, ${plain.failed + viewing.failed} failed`,
    );
    return row;
  } finally {
    await several.stop();
  }
}

/** Tiles of full resolution in the middle of the slide, in rows: some 30 MB. */
function middleOf(slide) {
  const level = maxLevelOf(slide);
  const { columns, rows } = gridOf(slide, level);
  const [left, top] = [Math.floor(columns / 3), Math.floor(rows / 3)];
  return Array.from({ length: 40 * 50 }, (_, i) => `${level}/${left + (i % 50)}_${top + Math.floor(i / 50)}`);
}

/** Everybody at once, at three processes that may take what the machine has. */
async function watchAll(ground, plan) {
  const { tileSize } = ground;
  const several = await startSeveral(ground, 3);
  try {
    console.log(`Making accounts for ${plan.viewers} viewers …`);
    const [sessions] = await Promise.all([
      makeSessions({ address: several.balancer.address, token: several.token }, plan.viewers),
      ...several.processes.map(({ port }) => lookThrough(port, several, tileSize)),
    ]);
    await untilTilesAreMade(several.processes.map(({ dataDir }) => dataDir));
    const { port, process: balancer } = several.balancer;
    const pathOf = (place, tile) => several.tilePath(watched[place % watched.length], tile, sessions[place]);
    const roots = { 'the three': several.roots, nginx: [balancer.pid] };
    return await watchCrowd({ count: sessions.length, port, tileSize, pathOf }, roots, plan);
  } finally {
    await several.stop();
  }
}

/** One tile of four of each slide, so that each process has read nearly all of the objects. */
async function lookThrough(port, { tilePath }, tileSize) {
  const slide = { ...bigSlide, tileSize };
  const levels = Array.from({ length: maxLevelOf(slide) + 1 }, (_, level) => tilesOfLevel(slide, level));
  const some = levels.flat().filter((_, place) => place % 4 === 0);
  for (const name of watched) {
    await load({ port, roots: [], pathOf: (tile) => tilePath(name, tile) }, some, { connections: 4 });
  }
}

function report({ rows, seen, plan, hasBucket }, isQuick) {
  const { viewers, arrivingSeconds } = crowdPlan(isQuick);
  const [one] = rows;
  const times = (value, base) => `${(value / base).toFixed(2)}×`;
  const isLimited = rows.every((row) => row.isLimited);
  publish(
    'processes',
    [
      circumstances({}),
      '',
      `nginx before the processes, PostgreSQL and ${hasBucket ? 'an object store (Swift)' : 'a folder of slides (no object store is installed here)'} behind them, the client beside them, all on this machine. ${isLimited ? `Each process, with all that it starts, gets ${share} of one processor and no more.` : 'The processes share the processors: no bounds could be set here, so that growth is that of the machine.'} Stored: ${connections} connections, ${plan.seconds} s, 2,000 tiles of full resolution. Viewing: 3 people, ${plan.viewing} tiles again and again, 16 connections, ${plan.seconds} s, a third of them made. Each process has read or made all of these tiles before: it keeps its own.`,
      '',
      tableOf(
        rows.map(({ count, plain, viewing }) => ({
          processes: count,
          'stored/s': plain.perSecond.toFixed(0),
          growth: times(plain.perSecond, one.plain.perSecond),
          'p50 / p99 ms': `${plain.p50.toFixed(1)} / ${plain.p99.toFixed(1)}`,
          'CPU s/1000': plain.cpuPer1000.toFixed(3),
          'viewing/s': viewing.perSecond.toFixed(0),
          'growth ': times(viewing.perSecond, one.viewing.perSecond),
          'p50 / p99 ms ': `${viewing.p50.toFixed(1)} / ${viewing.p99.toFixed(1)}`,
          'client, of a core': plain.clientShare.toFixed(2),
          failed: plain.failed + viewing.failed,
        })),
      ),
      '',
      `${viewers} viewers, arriving within ${arrivingSeconds} s, at three processes without bounds, each of which has made the tiles of both slides before and has read nearly all of both objects.`,
      '',
      crowdReport(seen),
    ].join('\n'),
    { isKept: !isQuick },
  );
}
