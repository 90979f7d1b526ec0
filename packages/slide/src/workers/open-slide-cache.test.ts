import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Slide } from '../model/slide.ts';
import { buildSvs } from '../testing/build-svs.ts';
import { OpenSlideCache } from './open-slide-cache.ts';

let folder: string;
let svs: Uint8Array;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'open-slide-cache-'));
  svs = await buildSvs({ width: 160, height: 140, downsamples: [1], hasAssociatedImages: false });
});
afterAll(() => rm(folder, { recursive: true }));

async function newSlide(name: string): Promise<{ path: string }> {
  const path = join(folder, name);
  await writeFile(path, svs);
  return { path };
}
async function replace({ path }: { path: string }): Promise<void> {
  await writeFile(`${path}.new`, svs);
  await rename(`${path}.new`, path);
}
const returnSlide = async (slide: Slide) => slide;
const readTile = (slide: Slide) => slide.readTile({ level: 0, column: 0, row: 0 });

describe('the cache of open slides in a render process', () => {
  it('opens a slide only once for two uses', async () => {
    const [cache, location] = [new OpenSlideCache(), await newSlide('once.svs')];
    expect(await cache.use(location, returnSlide)).toBe(await cache.use(location, returnSlide));
  });

  it('closes a slide whose file was replaced, and opens the new file', async () => {
    const [cache, location] = [new OpenSlideCache(), await newSlide('replaced.svs')];
    const old = await cache.use(location, returnSlide);
    await replace(location);
    expect(await cache.use(location, returnSlide)).not.toBe(old);
    await expect(readTile(old)).rejects.toMatchObject({ name: 'SlideError' });
  });

  it('throws FILE_CHANGED when the file is replaced during a read, because the result could mix both files', async () => {
    const [cache, location] = [new OpenSlideCache(), await newSlide('meanwhile.svs')];
    const tile = cache.use(location, async (slide) => {
      await replace(location);
      return readTile(slide);
    });
    await expect(tile).rejects.toMatchObject({ code: 'FILE_CHANGED' });
    await expect(cache.use(location, readTile)).resolves.not.toBeNull();
  });

  it('throws FILE_CHANGED when the file does not have the fingerprint that the caller expects', async () => {
    const [cache, location] = [new OpenSlideCache(), await newSlide('expected.svs')];
    const { fingerprint } = await cache.use(location, returnSlide);
    const expected = { ...location, fingerprint };
    await expect(cache.use(expected, readTile)).resolves.not.toBeNull();
    await replace(location);
    for (let time = 0; time < 2; time++) {
      await expect(cache.use(expected, readTile)).rejects.toMatchObject({ code: 'FILE_CHANGED' });
    }
    const current = await cache.use(location, returnSlide);
    expect(current.fingerprint).not.toBe(fingerprint);
    await expect(cache.use(expected, readTile)).rejects.toMatchObject({ code: 'FILE_CHANGED' });
  });

  it('throws FILE_MISSING after the file was deleted, and closes the slide', async () => {
    const [cache, location] = [new OpenSlideCache(), await newSlide('gone.svs')];
    const old = await cache.use(location, returnSlide);
    await rm(location.path);
    await expect(cache.use(location, returnSlide)).rejects.toMatchObject({ code: 'FILE_MISSING' });
    await expect(readTile(old)).rejects.toMatchObject({ name: 'SlideError' });
  });

  it('holds four slides and closes the least recently used one when a fifth is opened', async () => {
    const cache = new OpenSlideCache();
    const locations = await Promise.all([0, 1, 2, 3, 4].map((i) => newSlide(`${i}.svs`)));
    const [first, second, ...others] = locations as [
      { path: string },
      { path: string },
      ...{ path: string }[],
    ];
    const firstOpened = await cache.use(first, returnSlide);
    const closed = await cache.use(second, returnSlide);
    await cache.use(first, returnSlide);
    for (const location of others) await cache.use(location, returnSlide);
    await expect(readTile(closed)).rejects.toMatchObject({ name: 'SlideError' });
    expect(await cache.use(first, returnSlide)).toBe(firstOpened);
  });

  it('keeps a slide open when a job that uses it fails', async () => {
    const [cache, location] = [new OpenSlideCache(), await newSlide('fails.svs')];
    const slide = await cache.use(location, returnSlide);
    const failing = cache.use(location, () => Promise.reject(new Error('This job failed')));
    await expect(failing).rejects.toThrow('This job failed');
    expect(await cache.use(location, returnSlide)).toBe(slide);
  });

  it('closes a slide 20 seconds after its last use, even while other slides are in use', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const cache = new OpenSlideCache();
    const [busy, idle] = [await newSlide('busy.svs'), await newSlide('idle.svs')];
    const slide = await cache.use(idle, returnSlide);
    for (let seconds = 0; seconds < 30; seconds += 5) {
      await cache.use(busy, readTile);
      await vi.advanceTimersByTimeAsync(5000);
    }
    await expect(readTile(slide)).rejects.toMatchObject({ name: 'SlideError' });
    await expect(readTile(await cache.use(busy, returnSlide))).resolves.not.toBeNull();
  });
});
