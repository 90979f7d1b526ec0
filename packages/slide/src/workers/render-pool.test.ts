import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { buildDicom } from '../testing/build-dicom.ts';
import { buildEndlessTiff } from '../testing/build-endless-tiff.ts';
import { buildSvs } from '../testing/build-svs.ts';
import { difference, pixelsOf } from '../testing/compare-pixels.ts';
import { compiledCodeFolder } from '../testing/compiled-code.ts';
import { paintPlain } from '../testing/paint-tissue.ts';
import { RenderPool, type RenderPoolOptions } from './render-pool.ts';

// On a busy machine starting a process takes several seconds.
vi.setConfig({ testTimeout: 60_000 });

let folder: string;
let slide: { path: string };
/** A slide whose overview tile would take minutes. */
let endless: { path: string };
const endlessAddress = { dziLevel: 0, column: 0, row: 0 };

beforeAll(async () => {
  folder = await mkdtemp(join(os.tmpdir(), 'render-pool-'));
  slide = { path: join(folder, 'slide.svs') };
  endless = { path: join(folder, 'endless.tif') };
  await writeFile(slide.path, await buildSvs());
  await writeFile(endless.path, buildEndlessTiff());
});
afterAll(() => rm(folder, { recursive: true }));

const pools: RenderPool[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});
function renderPool(options: Partial<RenderPoolOptions> = {}): RenderPool {
  const pool = new RenderPool({
    processes: 1,
    queueLimit: 100,
    timeoutMs: 60_000,
    compiledFolder: compiledCodeFolder,
    ...options,
  });
  pools.push(pool);
  return pool;
}

describe('a render pool (processes that render slides)', () => {
  it('renders tiles of the size that Deep Zoom requires', async () => {
    const pool = renderPool();
    const tile = await pool.tile(slide, { dziLevel: 8, column: 1, row: 1 });
    // Level 8 has 240 × 200 pixels, and tiles have 128: the second column and row have the remaining 112 and 72.
    expect(await pixelsOf(tile)).toMatchObject({ width: 112, height: 72 });
  });

  it('renders a thumbnail whose longer side has the requested number of pixels', async () => {
    const thumbnail = await renderPool().thumbnail(slide, 100);
    expect(await pixelsOf(thumbnail)).toMatchObject({ width: 100, height: 83 });
  });

  it('returns format, scale, size and number of levels when it inspects a slide', async () => {
    expect(await renderPool().inspect(slide)).toEqual({
      format: 'aperio',
      fingerprint: expect.stringMatching(/^[\w-]{22}$/),
      vendor: 'Aperio',
      mpp: { x: 0.499, y: 0.499 },
      objectivePower: 20,
      width: 480,
      height: 400,
      tileSize: 128,
      scale: { mpp: { x: 0.499, y: 0.499 }, objectivePower: 20, derived: null },
      levels: 2,
    });
  });

  it('groups the DICOM files of a series into one slide and leaves out damaged and missing files', async () => {
    const seriesFolder = await mkdtemp(join(folder, 'series-'));
    const names = ['large.dcm', 'small.dcm', 'broken.dcm', 'gone.dcm'];
    await writeFile(join(seriesFolder, 'large.dcm'), await buildDicom());
    await writeFile(join(seriesFolder, 'small.dcm'), await buildDicom({ downsample: 2, instance: '2' }));
    await writeFile(join(seriesFolder, 'broken.dcm'), (await buildDicom({ instance: '3' })).subarray(0, 200));
    expect(await renderPool().group({ path: seriesFolder }, names, [])).toEqual([
      { main: 'large.dcm', members: ['small.dcm'] },
    ]);
  });

  it.each<[string, (pool: RenderPool) => Promise<unknown>, string]>([
    ['a missing file', (pool) => pool.inspect({ path: join(folder, 'secret.svs') }), 'FILE_MISSING'],
    [
      'a tile outside the grid',
      (pool) => pool.tile(slide, { dziLevel: 99, column: 0, row: 0 }),
      'TILE_OUT_OF_RANGE',
    ],
    [
      'a file that is no slide',
      (pool) => pool.thumbnail({ path: import.meta.filename }, 100),
      'FORMAT_NOT_RECOGNISED',
    ],
  ])('rejects %s with the error code $2, in a message without the path', async (_, runJob, code) => {
    await expect(runJob(renderPool())).rejects.toMatchObject({
      name: 'SlideError',
      code,
      message: expect.not.stringContaining(folder),
    });
  });

  it('renders a tile of the new file after the file of a slide was replaced', async () => {
    const pool = renderPool();
    const path = join(folder, 'replaced.svs');
    const address = { dziLevel: 8, column: 0, row: 0 };
    for (const colour of [
      [200, 30, 30],
      [30, 30, 200],
    ] as const) {
      const picture = paintPlain(480, 400, colour);
      await writeFile(`${path}.new`, await buildSvs({ picture, hasAssociatedImages: false }));
      await rename(`${path}.new`, path);
      const pixels = await pixelsOf(await pool.tile({ path }, address));
      expect(difference(pixels, paintPlain(128, 128, colour)).max).toBeLessThan(4);
    }
  });

  it('runs two identical concurrent jobs only once', async () => {
    const pool = renderPool();
    const address = { dziLevel: 8, column: 0, row: 0 };
    const requestTile = () => pool.tile(slide, address);
    const [first, second] = await Promise.all([requestTile(), requestTile()]);
    expect(second).toBe(first);
    expect(await requestTile()).not.toBe(first); // not concurrent, so rendered again
  });

  it('runs requested tiles first, then thumbnails, then prerendering', async () => {
    vi.useFakeTimers({ toFake: ['performance'] }); // so that no job waits longer than the limit for the server's own jobs
    const pool = renderPool();
    const done: string[] = [];
    const record = (name: string) => () => done.push(name);
    const tileAt = (column: number) => ({ dziLevel: 8, column, row: 0 });
    await Promise.all([
      pool.inspect(slide), // the process has this job before the others arrive
      pool.prerenderTile(slide, tileAt(0)).then(record('prerendered')),
      pool.prerenderTile(slide, tileAt(1)).then(record('prerendered, and requested meanwhile')),
      pool.thumbnail(slide, 100).then(record('thumbnail')),
      pool.tile(slide, tileAt(1)),
      pool.tile(slide, { dziLevel: 8, column: 0, row: 1 }).then(record('tile')),
    ]);
    expect(done).toEqual(['prerendered, and requested meanwhile', 'tile', 'thumbnail', 'prerendered']);
  });

  it('runs a thumbnail that has waited for 2 seconds before a tile requested later', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const pool = renderPool();
    const done: string[] = [];
    const record = (name: string) => () => done.push(name);
    const running = pool.inspect(slide);
    const earlier = [
      pool.prerenderTile(slide, { dziLevel: 8, column: 0, row: 0 }).then(record('prerendered')),
      pool.thumbnail(slide, 100).then(record('thumbnail')),
    ];
    vi.advanceTimersByTime(2001);
    const later = pool.tile(slide, { dziLevel: 8, column: 1, row: 0 }).then(record('tile'));
    await Promise.all([running, ...earlier, later]);
    expect(done).toEqual(['thumbnail', 'tile', 'prerendered']);
  });

  it('keeps one process free for tiles while another process runs a long job', async () => {
    const pool = renderPool({ processes: 2 });
    const controller = new AbortController();
    const longJobs = [100, 101].map((side) => pool.thumbnail(endless, side, controller.signal));
    await pool.tile(slide, { dziLevel: 8, column: 0, row: 0 });
    controller.abort();
    for (const job of longJobs) await expect(job).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('starts at most the configured number of processes, with below-normal CPU priority', async () => {
    const pool = renderPool({ processes: 2 });
    const columns = [0, 1, 2, 3];
    await Promise.all(columns.map((column) => pool.tile(slide, { dziLevel: 9, column, row: 3 })));
    expect(pool.processIds).toHaveLength(2);
    for (const id of pool.processIds)
      expect(os.getPriority(id)).toBe(os.constants.priority.PRIORITY_BELOW_NORMAL);
  });

  it('ends a process that is idle longer than idleMs, and starts a new one for the next job', async () => {
    const pool = renderPool({ idleMs: 20 });
    const address = { dziLevel: 8, column: 0, row: 0 };
    await pool.tile(slide, address);
    const [first] = pool.processIds;
    await vi.waitFor(() => expect(pool.processIds).toEqual([]), { timeout: 30_000 });
    expect(() => process.kill(first as number, 0)).toThrow('ESRCH');
    expect(await pool.tile(slide, address)).toBeInstanceOf(Uint8Array);
    expect(pool.faults).toBe(0);
  });

  it('runs the first job in the process that startProcess has started in advance', async () => {
    const pool = renderPool({ processes: 2 });
    pool.startProcess();
    pool.startProcess();
    const started = pool.processIds;
    expect(started).toHaveLength(1);
    await pool.tile(slide, { dziLevel: 8, column: 0, row: 0 });
    expect(pool.processIds).toEqual(started);

    const unusedPool = renderPool({ idleMs: 20 });
    unusedPool.startProcess();
    await vi.waitFor(() => expect(unusedPool.processIds).toEqual([]), { timeout: 30_000 });
    expect(unusedPool.faults).toBe(0);
  });

  it('throws FILE_CHANGED instead of rendering or listing tiles when the slide does not have the expected fingerprint', async () => {
    const pool = renderPool();
    const { fingerprint } = await pool.inspect(slide);
    const expected = { ...slide, fingerprint };
    const tiles = await pool.tilesToPrerender(expected, 1000);
    expect(tiles[0]).toEqual({ dziLevel: 0, column: 0, row: 0 });
    expect(await pool.prerenderTile(expected, { dziLevel: 8, column: 1, row: 1 })).toBeInstanceOf(Uint8Array);
    const replaced = { ...slide, fingerprint: 'that-of-another-file--' };
    const tile = pool.tile(replaced, { dziLevel: 8, column: 1, row: 1 });
    await expect(tile).rejects.toMatchObject({ code: 'FILE_CHANGED' });
    await expect(pool.tilesToPrerender(replaced, 9)).rejects.toMatchObject({ code: 'FILE_CHANGED' });
  });

  it('sets hasWaitingRequests while a requested tile is rendered, but not while a tile is prerendered', async () => {
    const pool = renderPool();
    expect(pool.hasWaitingRequests).toBe(false);
    const prerendered = pool.prerenderTile(slide, { dziLevel: 8, column: 0, row: 0 });
    expect(pool.hasWaitingRequests).toBe(false);
    const requested = pool.tile(slide, { dziLevel: 8, column: 1, row: 0 });
    expect(pool.hasWaitingRequests).toBe(true);
    await Promise.all([prerendered, requested]);
    expect(pool.hasWaitingRequests).toBe(false);
  });

  describe.skipIf(process.platform !== 'linux')('starts processes that', () => {
    /** Returns the environment of the first process of a pool. */
    async function environmentOf({ processIds: [id] }: RenderPool): Promise<Map<string, string>> {
      const environment = await readFile(`/proc/${id}/environ`, 'utf8');
      const settings = environment.split('\0').filter((setting) => setting !== '');
      return new Map(settings.map((setting) => setting.split('=') as [string, string]));
    }

    it('have only environment variables for temporary folders, compiled code and memory', async () => {
      const pool = renderPool();
      await pool.inspect(slide);
      const names = [...(await environmentOf(pool)).keys()];
      // Node's own variable for the channel to the parent process.
      const added = names.filter((name) => !name.startsWith('NODE_CHANNEL_'));
      expect(added.sort()).toEqual(['MALLOC_ARENA_MAX', 'NODE_COMPILE_CACHE', 'TEMP', 'TMP', 'TMPDIR']);
    });

    it('store compiled code in the configured folder', async () => {
      const compiledFolder = join(folder, 'compiled');
      const pool = renderPool({ compiledFolder });
      await pool.inspect(slide);
      expect((await environmentOf(pool)).get('NODE_COMPILE_CACHE')).toBe(compiledFolder);
      const cacheFiles = await readdir(compiledFolder, { recursive: true });
      expect(cacheFiles.length).toBeGreaterThan(20);
    });

    it('leave no temporary files after the pool is closed', async () => {
      const pool = renderPool();
      await pool.inspect(slide);
      const temporaryFolder = (await environmentOf(pool)).get('TMPDIR') ?? '';
      await writeFile(join(temporaryFolder, 'half-written'), 'tiles');
      await pool.close();
      expect(existsSync(temporaryFolder)).toBe(false);
    });
  });
});

describe('a render pool (processes that render slides) with requests of several accounts', () => {
  const requesterOf = (account: string, session = 'only session') => ({ account, session });
  const tileAt = (column: number, row = 0) => ({ dziLevel: 8, column, row });

  /**
   * Returns a pool whose only process is busy until `free` is called. `record` adds the name of a job to `done` when the job
   * completes, or its name and error code when it fails.
   */
  function busyPool(options: Partial<RenderPoolOptions> = {}) {
    const pool = renderPool(options);
    const controller = new AbortController();
    const occupied = pool
      .tile(endless, endlessAddress, controller.signal, requesterOf('occupying'))
      .catch(() => {});
    const done: string[] = [];
    const record = (name: string, job: Promise<unknown>) =>
      job.then(
        () => done.push(name),
        (error: { code: string }) => done.push(`${name} ${error.code}`),
      );
    const free = async () => {
      controller.abort();
      await occupied;
    };
    return { pool, done, record, free };
  }

  it("renders another account's tile second, however many tiles the first account waits for", async () => {
    const { pool, done, record, free } = busyPool();
    const jobs = [0, 1].flatMap((row) =>
      [0, 1].map((column) =>
        record('first', pool.tile(slide, tileAt(column, row), undefined, requesterOf('first'))),
      ),
    );
    jobs.push(
      record(
        'second',
        pool.tile(slide, { dziLevel: 6, column: 0, row: 0 }, undefined, requesterOf('second')),
      ),
    );
    await free();
    await Promise.all(jobs);
    expect(done).toEqual(['first', 'second', 'first', 'first', 'first']);
  });

  it('lets the sessions of one account take turns', async () => {
    const { pool, done, record, free } = busyPool();
    const jobs = [
      record('one', pool.tile(slide, tileAt(0), undefined, requesterOf('account', 'one'))),
      record('one', pool.tile(slide, tileAt(1), undefined, requesterOf('account', 'one'))),
      record('other', pool.tile(slide, tileAt(0, 1), undefined, requesterOf('account', 'other'))),
    ];
    await free();
    await Promise.all(jobs);
    expect(done).toEqual(['one', 'other', 'one']);
  });

  it('lets header reads and thumbnails of other accounts take turns with the tiles of the first account', async () => {
    const { pool, done, record, free } = busyPool();
    const jobs = [0, 1].flatMap((row) =>
      [0, 1].map((column) =>
        record('tile', pool.tile(slide, tileAt(column, row), undefined, requesterOf('first'))),
      ),
    );
    jobs.push(
      record('thumbnail', pool.thumbnail(slide, 100, undefined, requesterOf('second'))),
      record('header read', pool.inspect(slide, undefined, requesterOf('third'))),
    );
    await free();
    await Promise.all(jobs);
    expect(done).toEqual(['tile', 'thumbnail', 'header read', 'tile', 'tile', 'tile']);
  });

  it("runs tiles before thumbnails of the same session, and the server's own jobs last", async () => {
    vi.useFakeTimers({ toFake: ['performance'] }); // so that no job of the server exceeds its maximum wait
    const { pool, done, record, free } = busyPool();
    const jobs = [
      record('prerendered', pool.prerenderTile(slide, tileAt(1))),
      record('new file', pool.inspect(slide)),
      record('thumbnail', pool.thumbnail(slide, 100, undefined, requesterOf('viewer'))),
      record('tile', pool.tile(slide, tileAt(0), undefined, requesterOf('viewer'))),
    ];
    await free();
    await Promise.all(jobs);
    expect(done).toEqual(['tile', 'thumbnail', 'new file', 'prerendered']);
  });

  it('runs a job that two accounts have requested once, when the first of them has its turn', async () => {
    const { pool, done, record, free } = busyPool();
    const sharedTile = () => tileAt(1, 1);
    const jobs = [
      record('first', pool.tile(slide, tileAt(0), undefined, requesterOf('first'))),
      record('first', pool.tile(slide, tileAt(1), undefined, requesterOf('first'))),
      record('shared, for the first', pool.tile(slide, sharedTile(), undefined, requesterOf('first'))),
      record('shared, for the second', pool.tile(slide, sharedTile(), undefined, requesterOf('second'))),
      record('second', pool.tile(slide, tileAt(0, 1), undefined, requesterOf('second'))),
    ];
    expect(pool.queueLength).toBe(4);
    await free();
    await Promise.all(jobs);
    expect(done).toEqual(['first', 'shared, for the first', 'shared, for the second', 'first', 'second']);
  });

  it('rejects with BUSY the requests beyond the limit of a session or an account, and accepts those of other accounts', async () => {
    const { pool, done, record, free } = busyPool({ sessionQueueLimit: 2, accountQueueLimit: 3 });
    // Request 3 exceeds the limit of its session, and request 5 the limit of its account.
    const jobs = [
      record('1', pool.tile(slide, tileAt(0), undefined, requesterOf('flooding', 'a'))),
      record('2', pool.tile(slide, tileAt(1), undefined, requesterOf('flooding', 'a'))),
      record('3', pool.tile(slide, tileAt(0, 1), undefined, requesterOf('flooding', 'a'))),
      record('4', pool.tile(slide, tileAt(0, 1), undefined, requesterOf('flooding', 'b'))),
      record('5', pool.tile(slide, tileAt(1, 1), undefined, requesterOf('flooding', 'b'))),
      record('6', pool.tile(slide, tileAt(1, 1), undefined, requesterOf('other', 'a'))),
    ];
    await vi.waitFor(() => expect(done).toEqual(['3 BUSY', '5 BUSY']));
    await free();
    await Promise.all(jobs);
    expect(done.slice(2)).toEqual(['1', '6', '4', '2']);
  });

  it('displaces the newest request of the account with the most waiting requests when the queue is full', async () => {
    const { pool, done, record, free } = busyPool({ queueLimit: 3 });
    const jobs = [0, 1].flatMap((row) =>
      [0, 1].map((column) =>
        record(`${column}${row}`, pool.tile(slide, tileAt(column, row), undefined, requesterOf('flooding'))),
      ),
    );
    jobs.push(
      record('other', pool.tile(slide, { dziLevel: 6, column: 0, row: 0 }, undefined, requesterOf('other'))),
    );
    await vi.waitFor(() => expect(done).toEqual(['11 BUSY', '01 BUSY']));
    await free();
    await Promise.all(jobs);
    expect(done.slice(2)).toEqual(['00', 'other', '10']);
  });

  it('keeps one process free for other slides after a tile of a slide took longer than 2 seconds', async () => {
    const pool = renderPool({ processes: 2, timeoutMs: 10_000 });
    await expect(pool.tile(endless, endlessAddress)).rejects.toMatchObject({ code: 'DECODE_FAILED' });
    const controller = new AbortController();
    const longJobs = [0, 1].map((dziLevel) =>
      pool.tile(endless, { ...endlessAddress, dziLevel }, controller.signal, requesterOf('first')),
    );
    expect(pool.queueLength).toBe(1);
    await pool.tile(slide, tileAt(0), undefined, requesterOf('second'));
    controller.abort();
    for (const job of longJobs) await expect(job).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('still counts a slide as slow after a request for its next tile was aborted within 2 seconds', async () => {
    const pool = renderPool({ processes: 2, timeoutMs: 10_000 });
    await expect(pool.tile(endless, endlessAddress)).rejects.toMatchObject({ code: 'DECODE_FAILED' });
    await pool.inspect(slide); // starts a process, so that the next job does not take 2 seconds for that
    const controllers = [new AbortController(), new AbortController()] as const;
    const aborted = pool.tile(endless, endlessAddress, controllers[0].signal);
    const longJobs = [1, 2].map((dziLevel) =>
      pool.tile(endless, { ...endlessAddress, dziLevel }, controllers[1].signal),
    );
    controllers[0].abort();
    await expect(aborted).rejects.toThrow('aborted');
    // A slow slide may occupy only one of the two processes, so one job starts after the aborted one, and the other waits. The aborted
    // job ends after its current tile of 8192 × 8192 pixels, at the latest after the time limit of 10 s.
    await vi.waitFor(() => expect(pool.queueLength).toBeLessThan(2), { timeout: 20_000 });
    expect(pool.queueLength).toBe(1);
    controllers[1].abort();
    for (const job of longJobs) await expect(job).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('completes a job that two accounts have requested when one of them aborts its request', async () => {
    const { pool, done, record, free } = busyPool();
    const controller = new AbortController();
    const aborted = pool.tile(slide, tileAt(0), controller.signal, requesterOf('first'));
    const job = record('kept', pool.tile(slide, tileAt(0), undefined, requesterOf('second')));
    controller.abort();
    await expect(aborted).rejects.toThrow('aborted');
    expect(pool.queueLength).toBe(1);
    await free();
    await job;
    expect(done).toEqual(['kept']);
    expect(pool.queueLength).toBe(0);
  });
});

describe('a job of a render pool (processes that render slides)', () => {
  it('fails with DECODE_FAILED when it exceeds the time limit, and its process is replaced', async () => {
    const pool = renderPool({ timeoutMs: 10_000 });
    await pool.inspect(endless);
    const [stuckId] = pool.processIds;
    await expect(pool.tile(endless, endlessAddress)).rejects.toMatchObject({ code: 'DECODE_FAILED' });
    expect(await pool.inspect(slide)).toMatchObject({ format: 'aperio' });
    expect(pool.processIds).not.toContain(stuckId);
    expect(pool.faults).toBe(1);
  });

  it('fails with DECODE_FAILED when its process is killed, and the process is replaced', async () => {
    const pool = renderPool();
    await pool.inspect(endless);
    const rendering = pool.tile(endless, endlessAddress);
    const failure = rendering.catch((error: unknown) => error);
    const [killedId] = pool.processIds;
    process.kill(killedId as number, 'SIGKILL');
    expect(await failure).toMatchObject({ code: 'DECODE_FAILED' });
    expect(await pool.inspect(slide)).toMatchObject({ format: 'aperio' });
    expect(pool.processIds).not.toContain(killedId);
    expect(pool.faults).toBe(1);
  });

  it('ends when its request is aborted, so that the next job runs at once', async () => {
    const pool = renderPool();
    const controller = new AbortController();
    const aborted = pool.tile(endless, endlessAddress, controller.signal);
    controller.abort();
    await expect(aborted).rejects.toThrow('aborted');
    expect(await pool.inspect(slide)).toMatchObject({ format: 'aperio' });
    expect(pool.processIds).toHaveLength(1);
  });

  it('is not started when its request is aborted while the job waits', async () => {
    const pool = renderPool();
    const [running, waiting] = [new AbortController(), new AbortController()];
    const first = pool.tile(endless, endlessAddress, running.signal);
    const second = pool.tile(endless, { ...endlessAddress, dziLevel: 1 }, waiting.signal);
    waiting.abort();
    await expect(second).rejects.toThrow('aborted');
    running.abort();
    await expect(first).rejects.toThrow('aborted');
    expect(await pool.inspect(slide)).toMatchObject({ format: 'aperio' });
  });

  it('is completed for the second of two identical requests when the first one is aborted', async () => {
    const pool = renderPool();
    const controller = new AbortController();
    const address = { dziLevel: 8, column: 0, row: 0 };
    const aborted = pool.tile(slide, address, controller.signal);
    const second = pool.tile(slide, address);
    controller.abort();
    await expect(aborted).rejects.toThrow('aborted');
    expect(await second).toBeInstanceOf(Uint8Array);
  });

  it('is rejected when the signal of its request was aborted before the call', async () => {
    await expect(renderPool().inspect(slide, AbortSignal.abort())).rejects.toThrow('aborted');
  });

  it('fails with BUSY immediately when the queue is full', async () => {
    const pool = renderPool({ queueLimit: 1 });
    const controller = new AbortController();
    const requestTile = (dziLevel: number) =>
      pool.tile(endless, { ...endlessAddress, dziLevel }, controller.signal);
    const accepted = [requestTile(0), requestTile(1)]; // one runs, one waits
    await expect(requestTile(2)).rejects.toMatchObject({ code: 'BUSY' });
    const identical = requestTile(1);
    controller.abort();
    for (const aborted of [...accepted, identical]) await expect(aborted).rejects.toThrow('aborted');
  });
});

describe('closing a render pool (processes that render slides)', () => {
  it('ends its processes and fails all waiting requests with BUSY', async () => {
    const pool = renderPool();
    await pool.inspect(slide);
    const [id] = pool.processIds;
    const failures = [pool.tile(endless, endlessAddress), pool.thumbnail(endless, 100)].map((request) =>
      request.catch((error: unknown) => error),
    );
    await pool.close();
    expect(await Promise.all(failures)).toMatchObject([{ code: 'BUSY' }, { code: 'BUSY' }]);
    expect(() => process.kill(id as number, 0)).toThrow('ESRCH');
    await expect(pool.inspect(slide)).rejects.toMatchObject({ code: 'BUSY' });
  });
});
