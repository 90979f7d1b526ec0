import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { buildDicom } from '../testing/build-dicom.ts';
import { buildEndlessTiff } from '../testing/build-endless-tiff.ts';
import { buildSvs } from '../testing/build-svs.ts';
import { difference, pixelsOf } from '../testing/compare-pixels.ts';
import { paintPlain } from '../testing/paint-tissue.ts';
import { TileMaker, type TileMakerOptions } from './tile-maker.ts';

// A busy machine takes its time to start a process.
vi.setConfig({ testTimeout: 60_000 });

let folder: string;
let slide: { path: string };
/** Its overview would take minutes. */
let endless: { path: string };
const endlessly = { dziLevel: 0, column: 0, row: 0 };

beforeAll(async () => {
  folder = await mkdtemp(join(os.tmpdir(), 'tile-maker-'));
  slide = { path: join(folder, 'slide.svs') };
  endless = { path: join(folder, 'endless.tif') };
  await writeFile(slide.path, await buildSvs());
  await writeFile(endless.path, buildEndlessTiff());
});
afterAll(() => rm(folder, { recursive: true }));

const makers: TileMaker[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(makers.splice(0).map((maker) => maker.close()));
});
function tileMaker(options: Partial<TileMakerOptions> = {}): TileMaker {
  const maker = new TileMaker({ processes: 1, queueLimit: 100, timeoutMs: 60_000, ...options });
  makers.push(maker);
  return maker;
}

describe('a tile maker', () => {
  it('makes tiles, of the size that Deep Zoom promises', async () => {
    const maker = tileMaker();
    const tile = await maker.tile(slide, { dziLevel: 8, column: 1, row: 1 });
    expect(await pixelsOf(tile)).toMatchObject({ width: 112, height: 72 });
  });

  it('makes thumbnails', async () => {
    const thumbnail = await tileMaker().thumbnail(slide, 100);
    expect(await pixelsOf(thumbnail)).toMatchObject({ width: 100, height: 83 });
  });

  it('says what a slide is', async () => {
    expect(await tileMaker().inspect(slide)).toEqual({
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

  it('says which files are one slide', async () => {
    const place = await mkdtemp(join(folder, 'series-'));
    const names = ['large.dcm', 'small.dcm', 'broken.dcm', 'gone.dcm'];
    await writeFile(join(place, 'large.dcm'), await buildDicom());
    await writeFile(join(place, 'small.dcm'), await buildDicom({ downsample: 2, instance: '2' }));
    await writeFile(join(place, 'broken.dcm'), (await buildDicom({ instance: '3' })).subarray(0, 200));
    expect(await tileMaker().group({ path: place }, names, [])).toEqual([
      { leading: 'large.dcm', members: ['small.dcm'] },
    ]);
  });

  it.each<[string, (maker: TileMaker) => Promise<unknown>, string]>([
    [
      'of a file that is missing',
      (maker) => maker.inspect({ path: join(folder, 'secret.svs') }),
      'FILE_MISSING',
    ],
    [
      'of a tile that is not there',
      (maker) => maker.tile(slide, { dziLevel: 99, column: 0, row: 0 }),
      'TILE_OUT_OF_RANGE',
    ],
    ['of no slide', (maker) => maker.thumbnail({ path: import.meta.filename }, 100), 'FORMAT_NOT_RECOGNISED'],
  ])('says what is wrong %s as if it had read the file here', async (_, ask, code) => {
    await expect(ask(tileMaker())).rejects.toMatchObject({
      name: 'SlideError',
      code,
      message: expect.not.stringContaining(folder),
    });
  });

  it('shows the file that is there now', async () => {
    const maker = tileMaker();
    const path = join(folder, 'replaced.svs');
    const address = { dziLevel: 8, column: 0, row: 0 };
    for (const colour of [
      [200, 30, 30],
      [30, 30, 200],
    ] as const) {
      const picture = paintPlain(480, 400, colour);
      await writeFile(`${path}.new`, await buildSvs({ picture, hasAssociatedImages: false }));
      await rename(`${path}.new`, path);
      const shown = await pixelsOf(await maker.tile({ path }, address));
      expect(difference(shown, paintPlain(128, 128, colour)).most).toBeLessThan(4);
    }
  });

  it('does the same job once for all who ask for it at once', async () => {
    const maker = tileMaker();
    const address = { dziLevel: 8, column: 0, row: 0 };
    const ask = () => maker.tile(slide, address);
    const [one, other] = await Promise.all([ask(), ask()]);
    expect(other).toBe(one);
    expect(await ask()).not.toBe(one);
  });

  it('makes tiles first, then what somebody waits for, then what nobody has asked for yet', async () => {
    vi.useFakeTimers({ toFake: ['performance'] }); // nobody's patience ends, however slow the machine is
    const maker = tileMaker();
    const done: string[] = [];
    const note = (what: string) => () => done.push(what);
    const tileAt = (column: number) => ({ dziLevel: 8, column, row: 0 });
    await Promise.all([
      maker.inspect(slide), // the process has this one before the others come
      maker.tileAhead(slide, tileAt(0)).then(note('ahead')),
      maker.tileAhead(slide, tileAt(1)).then(note('ahead, and asked for meanwhile')),
      maker.thumbnail(slide, 100).then(note('thumbnail')),
      maker.tile(slide, tileAt(1)),
      maker.tile(slide, { dziLevel: 8, column: 0, row: 1 }).then(note('tile')),
    ]);
    expect(done).toEqual(['ahead, and asked for meanwhile', 'tile', 'thumbnail', 'ahead']);
  });

  it('makes what somebody has waited for long before tiles that are asked for now', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const maker = tileMaker();
    const done: string[] = [];
    const note = (what: string) => () => done.push(what);
    const running = maker.inspect(slide);
    const earlier = [
      maker.tileAhead(slide, { dziLevel: 8, column: 0, row: 0 }).then(note('ahead')),
      maker.thumbnail(slide, 100).then(note('thumbnail')),
    ];
    vi.advanceTimersByTime(2001);
    const later = maker.tile(slide, { dziLevel: 8, column: 1, row: 0 }).then(note('tile'));
    await Promise.all([running, ...earlier, later]);
    expect(done).toEqual(['thumbnail', 'tile', 'ahead']);
  });

  it('leaves one process to tiles, whatever else takes its time', async () => {
    const maker = tileMaker({ processes: 2 });
    const leaving = new AbortController();
    const slow = [100, 101].map((side) => maker.thumbnail(endless, side, leaving.signal));
    await maker.tile(slide, { dziLevel: 8, column: 0, row: 0 });
    leaving.abort();
    for (const one of slow) await expect(one).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('works in processes of lower priority, no more than it was told', async () => {
    const maker = tileMaker({ processes: 2 });
    const columns = [0, 1, 2, 3];
    await Promise.all(columns.map((column) => maker.tile(slide, { dziLevel: 9, column, row: 3 })));
    expect(maker.processIds).toHaveLength(2);
    for (const id of maker.processIds)
      expect(os.getPriority(id)).toBe(os.constants.priority.PRIORITY_BELOW_NORMAL);
  });

  it('ends processes that have nothing to do, and starts others when they are needed', async () => {
    const maker = tileMaker({ idleMs: 20 });
    const address = { dziLevel: 8, column: 0, row: 0 };
    await maker.tile(slide, address);
    const [first] = maker.processIds;
    await vi.waitFor(() => expect(maker.processIds).toEqual([]), { timeout: 30_000 });
    expect(() => process.kill(first as number, 0)).toThrow('ESRCH');
    expect(await maker.tile(slide, address)).toBeInstanceOf(Uint8Array);
    expect(maker.faults).toBe(0);
  });

  it('says which tiles the file does not have, and makes none of another file than it is told', async () => {
    const maker = tileMaker();
    const { fingerprint } = await maker.inspect(slide);
    const expected = { ...slide, fingerprint };
    const tiles = await maker.tilesToMake(expected, 1000);
    expect(tiles[0]).toEqual({ dziLevel: 0, column: 0, row: 0 });
    expect(await maker.tileAhead(expected, { dziLevel: 8, column: 1, row: 1 })).toBeInstanceOf(Uint8Array);
    const other = { ...slide, fingerprint: 'that-of-another-file--' };
    for (const asked of [
      maker.tile(other, { dziLevel: 8, column: 1, row: 1 }),
      maker.tilesToMake(other, 9),
    ]) {
      await expect(asked).rejects.toMatchObject({ code: 'FILE_CHANGED' });
    }
  });

  it('knows whether somebody waits', async () => {
    const maker = tileMaker();
    expect(maker.isWanted).toBe(false);
    const ahead = maker.tileAhead(slide, { dziLevel: 8, column: 0, row: 0 });
    expect(maker.isWanted).toBe(false);
    const asked = maker.tile(slide, { dziLevel: 8, column: 1, row: 0 });
    expect(maker.isWanted).toBe(true);
    await Promise.all([ahead, asked]);
    expect(maker.isWanted).toBe(false);
  });

  describe.skipIf(process.platform !== 'linux')('has processes that', () => {
    /** The environment of a process that works. */
    async function environmentOf({ processIds: [id] }: TileMaker): Promise<Map<string, string>> {
      const environment = await readFile(`/proc/${id}/environ`, 'utf8');
      const settings = environment.split('\0').filter((setting) => setting !== '');
      return new Map(settings.map((setting) => setting.split('=') as [string, string]));
    }

    it('know nothing of the environment but where to write for a while and how to use memory', async () => {
      const maker = tileMaker();
      await maker.inspect(slide);
      const names = [...(await environmentOf(maker)).keys()];
      // What Node itself needs to speak with its parent.
      const told = names.filter((name) => !name.startsWith('NODE_CHANNEL_'));
      expect(told.sort()).toEqual(['MALLOC_ARENA_MAX', 'TEMP', 'TMP', 'TMPDIR']);
    });

    it('keep compiled code where they are told, for the next one', async () => {
      const compiledFolder = join(folder, 'compiled');
      const maker = tileMaker({ compiledFolder });
      await maker.inspect(slide);
      expect((await environmentOf(maker)).get('NODE_COMPILE_CACHE')).toBe(compiledFolder);
      const kept = await readdir(compiledFolder, { recursive: true });
      expect(kept.length).toBeGreaterThan(20);
    });

    it('leave nothing there, however they end', async () => {
      const maker = tileMaker();
      await maker.inspect(slide);
      const own = (await environmentOf(maker)).get('TMPDIR') ?? '';
      await writeFile(join(own, 'half-written'), 'tiles');
      await maker.close();
      expect(existsSync(own)).toBe(false);
    });
  });
});

describe('a job that', () => {
  it('takes too long fails, and the process is replaced', async () => {
    const maker = tileMaker({ timeoutMs: 10_000 });
    await maker.inspect(endless);
    const [stuck] = maker.processIds;
    await expect(maker.tile(endless, endlessly)).rejects.toMatchObject({ code: 'DECODE_FAILED' });
    expect(await maker.inspect(slide)).toMatchObject({ format: 'aperio' });
    expect(maker.processIds).not.toContain(stuck);
    expect(maker.faults).toBe(1);
  });

  it('brings its process down fails, and the process is replaced', async () => {
    const maker = tileMaker();
    await maker.inspect(endless);
    const making = maker.tile(endless, endlessly);
    const failure = making.catch((error: unknown) => error);
    const [crashing] = maker.processIds;
    process.kill(crashing as number, 'SIGKILL');
    expect(await failure).toMatchObject({ code: 'DECODE_FAILED' });
    expect(await maker.inspect(slide)).toMatchObject({ format: 'aperio' });
    expect(maker.processIds).not.toContain(crashing);
    expect(maker.faults).toBe(1);
  });

  it('nobody waits for any more does not keep the next one waiting', async () => {
    const maker = tileMaker();
    const controller = new AbortController();
    const given = maker.tile(endless, endlessly, controller.signal);
    controller.abort();
    await expect(given).rejects.toThrow('aborted');
    expect(await maker.inspect(slide)).toMatchObject({ format: 'aperio' });
    expect(maker.processIds).toHaveLength(1);
  });

  it('is dropped before it began is never begun', async () => {
    const maker = tileMaker();
    const [running, waiting] = [new AbortController(), new AbortController()];
    const first = maker.tile(endless, endlessly, running.signal);
    const second = maker.tile(endless, { ...endlessly, dziLevel: 1 }, waiting.signal);
    waiting.abort();
    await expect(second).rejects.toThrow('aborted');
    running.abort();
    await expect(first).rejects.toThrow('aborted');
    expect(await maker.inspect(slide)).toMatchObject({ format: 'aperio' });
  });

  it('one has stopped waiting for is still done for the other', async () => {
    const maker = tileMaker();
    const controller = new AbortController();
    const address = { dziLevel: 8, column: 0, row: 0 };
    const given = maker.tile(slide, address, controller.signal);
    const kept = maker.tile(slide, address);
    controller.abort();
    await expect(given).rejects.toThrow('aborted');
    expect(await kept).toBeInstanceOf(Uint8Array);
  });

  it('is asked for by someone who has gone already is refused', async () => {
    await expect(tileMaker().inspect(slide, AbortSignal.abort())).rejects.toThrow('aborted');
  });

  it('is one more than may wait is refused at once', async () => {
    const maker = tileMaker({ queueLimit: 1 });
    const controller = new AbortController();
    const ask = (dziLevel: number) => maker.tile(endless, { ...endlessly, dziLevel }, controller.signal);
    const accepted = [ask(0), ask(1)];
    await expect(ask(2)).rejects.toMatchObject({ code: 'BUSY' });
    const same = ask(1);
    controller.abort();
    for (const given of [...accepted, same]) await expect(given).rejects.toThrow('aborted');
  });
});

describe('closing a tile maker', () => {
  it('ends its processes, and refuses all who wait', async () => {
    const maker = tileMaker();
    await maker.inspect(slide);
    const [id] = maker.processIds;
    const refusals = [maker.tile(endless, endlessly), maker.thumbnail(endless, 100)].map((asked) =>
      asked.catch((error: unknown) => error),
    );
    await maker.close();
    expect(await Promise.all(refusals)).toMatchObject([{ code: 'BUSY' }, { code: 'BUSY' }]);
    expect(() => process.kill(id as number, 0)).toThrow('ESRCH');
    await expect(maker.inspect(slide)).rejects.toMatchObject({ code: 'BUSY' });
  });
});
