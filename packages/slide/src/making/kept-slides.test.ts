import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Slide } from '../slide.ts';
import { buildSvs } from '../testing/build-svs.ts';
import { KeptSlides } from './kept-slides.ts';

let folder: string;
let svs: Uint8Array;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kept-slides-'));
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
const itself = async (slide: Slide) => slide;
const readTile = (slide: Slide) => slide.readTile({ level: 0, column: 0, row: 0 });

describe('slides that are kept open', () => {
  it('are opened once', async () => {
    const [kept, location] = [new KeptSlides(), await newSlide('once.svs')];
    expect(await kept.use(location, itself)).toBe(await kept.use(location, itself));
  });

  it('are opened anew when the file was replaced, and the old one is closed', async () => {
    const [kept, location] = [new KeptSlides(), await newSlide('replaced.svs')];
    const old = await kept.use(location, itself);
    await replace(location);
    expect(await kept.use(location, itself)).not.toBe(old);
    await expect(readTile(old)).rejects.toMatchObject({ name: 'SlideError' });
  });

  it('give no answer when the file was replaced meanwhile: it may be of both', async () => {
    const [kept, location] = [new KeptSlides(), await newSlide('meanwhile.svs')];
    const answer = kept.use(location, async (slide) => {
      await replace(location);
      return readTile(slide);
    });
    await expect(answer).rejects.toMatchObject({ code: 'FILE_CHANGED' });
    await expect(kept.use(location, readTile)).resolves.not.toBeNull();
  });

  it('are the expected ones, or nothing is answered', async () => {
    const [kept, location] = [new KeptSlides(), await newSlide('expected.svs')];
    const { fingerprint } = await kept.use(location, itself);
    const expected = { ...location, fingerprint };
    await expect(kept.use(expected, readTile)).resolves.not.toBeNull();
    await replace(location);
    for (let time = 0; time < 2; time++) {
      await expect(kept.use(expected, readTile)).rejects.toMatchObject({ code: 'FILE_CHANGED' });
    }
    const current = await kept.use(location, itself);
    expect(current.fingerprint).not.toBe(fingerprint);
    await expect(kept.use(expected, readTile)).rejects.toMatchObject({ code: 'FILE_CHANGED' });
  });

  it('are gone when the file is', async () => {
    const [kept, location] = [new KeptSlides(), await newSlide('gone.svs')];
    const old = await kept.use(location, itself);
    await rm(location.path);
    await expect(kept.use(location, itself)).rejects.toMatchObject({ code: 'FILE_MISSING' });
    await expect(readTile(old)).rejects.toMatchObject({ name: 'SlideError' });
  });

  it('are four, the one used longest ago closed first', async () => {
    const kept = new KeptSlides();
    const locations = await Promise.all([0, 1, 2, 3, 4].map((i) => newSlide(`${i}.svs`)));
    const [first, second, ...others] = locations as [
      { path: string },
      { path: string },
      ...{ path: string }[],
    ];
    const kept1 = await kept.use(first, itself);
    const closed = await kept.use(second, itself);
    await kept.use(first, itself);
    for (const location of others) await kept.use(location, itself);
    await expect(readTile(closed)).rejects.toMatchObject({ name: 'SlideError' });
    expect(await kept.use(first, itself)).toBe(kept1);
  });

  it('stay when a job on them fails', async () => {
    const [kept, location] = [new KeptSlides(), await newSlide('fails.svs')];
    const slide = await kept.use(location, itself);
    const failing = kept.use(location, () => Promise.reject(new Error('This job failed')));
    await expect(failing).rejects.toThrow('This job failed');
    expect(await kept.use(location, itself)).toBe(slide);
  });

  it('are closed twenty seconds after their last use, whatever else is asked for', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const kept = new KeptSlides();
    const [busy, idle] = [await newSlide('busy.svs'), await newSlide('idle.svs')];
    const slide = await kept.use(idle, itself);
    for (let seconds = 0; seconds < 30; seconds += 5) {
      await kept.use(busy, readTile);
      await vi.advanceTimersByTimeAsync(5000);
    }
    await expect(readTile(slide)).rejects.toMatchObject({ name: 'SlideError' });
    await expect(readTile(await kept.use(busy, itself))).resolves.not.toBeNull();
  });
});
