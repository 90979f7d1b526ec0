/** Tests when slides that are files on disk are opened, checked for changes and closed. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openSlide, SlideError } from '@lamina/slide';
import { buildSvs } from '@lamina/slide/testing';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createOpenSlides, type OpenRequest, type OpenSlides } from './open-slides.ts';

const largeSvs = await buildSvs({ width: 300, height: 200, downsamples: [1] });
const smallSvs = await buildSvs({ width: 100, height: 100, downsamples: [1] });

let folder: string;
let slides: OpenSlides;
beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'open-slides-'));
  slides = createOpenSlides({ limit: 3, log: pino({ level: 'silent' }), now: () => Date.now() });
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
});
afterEach(async () => {
  await slides.close();
  vi.useRealTimers();
  await fs.rm(folder, { recursive: true });
});

/** Creates or replaces a file, in one step as a rename does. */
async function replaceFile(name: string, bytes: Uint8Array): Promise<void> {
  await fs.writeFile(path.join(folder, `.${name}`), bytes);
  await fs.rename(path.join(folder, `.${name}`), path.join(folder, name));
}

/** Fingerprints of the files that were opened, in this order. */
const openedFingerprints: string[] = [];
const openRequestFor = (name: string): OpenRequest => ({
  id: name,
  async locate() {
    const file = path.join(folder, name);
    const isThere = await fs.access(file).then(
      () => true,
      () => false,
    );
    if (!isThere) throw new SlideError('FILE_MISSING', 'The file is not there.');
    return { path: file };
  },
  open(location, fingerprint) {
    openedFingerprints.push(fingerprint);
    return openSlide(location);
  },
});

const widthOf = (name: string) =>
  slides.use(openRequestFor(name), async ({ descriptor }) => descriptor.width);
const slideOf = (name: string) => slides.use(openRequestFor(name), async ({ slide }) => slide);
/** Returns whether the slide is open, by reading a tile: reading from a closed file fails. */
const isOpen = async (slide: Awaited<ReturnType<typeof slideOf>>) => {
  try {
    await slide.readTile({ level: 0, column: 0, row: 0 });
    return true;
  } catch {
    return false;
  }
};

describe('a slide (whose file the server opens for a request and keeps open for the next ones)', () => {
  it('is opened only once for two concurrent requests', async () => {
    await replaceFile('a.svs', largeSvs);
    const both = await Promise.all([slideOf('a.svs'), slideOf('a.svs')]);
    expect(both[0]).toBe(both[1]);
    expect(await slideOf('a.svs')).toBe(both[0]);
  });

  it('is opened once for two successive requests', async () => {
    await replaceFile('a.svs', largeSvs);
    openedFingerprints.length = 0;
    const { fingerprint } = await slideOf('a.svs');
    await slideOf('a.svs');
    expect(openedFingerprints).toEqual([fingerprint]);
  });

  it('is opened again from the new file within a second after its file was replaced', async () => {
    await replaceFile('a.svs', largeSvs);
    expect(await widthOf('a.svs')).toBe(300);
    await replaceFile('a.svs', smallSvs);
    vi.setSystemTime(Date.now() + 1001);
    expect(await widthOf('a.svs')).toBe(100);
  });

  it('is closed as soon as a background check has found that its file was replaced', async () => {
    await replaceFile('a.svs', largeSvs);
    const before = await slideOf('a.svs');
    await replaceFile('a.svs', smallSvs);
    vi.setSystemTime(Date.now() + 600);
    expect(await slideOf('a.svs')).toBe(before);
    vi.useRealTimers();
    await vi.waitFor(async () => expect(await isOpen(before)).toBe(false));
  });

  it('fails with FILE_MISSING within a second after its file was deleted', async () => {
    await replaceFile('a.svs', largeSvs);
    await widthOf('a.svs');
    await fs.rm(path.join(folder, 'a.svs'));
    vi.setSystemTime(Date.now() + 1001);
    await expect(widthOf('a.svs')).rejects.toMatchObject({ code: 'FILE_MISSING' });
  });

  it('stays open until its last reader has finished, even when it was evicted during the read', async () => {
    await replaceFile('a.svs', largeSvs);
    const mayFinish = Promise.withResolvers<void>();
    const readingStarted = Promise.withResolvers<void>();
    const reading = slides.use(openRequestFor('a.svs'), async ({ slide }) => {
      readingStarted.resolve();
      await mayFinish.promise;
      return { slide, wasOpen: await isOpen(slide) };
    });
    await readingStarted.promise;
    slides.closeSlide('a.svs');
    mayFinish.resolve();
    const { slide, wasOpen } = await reading;
    expect(wasOpen).toBe(true);
    await slides.close();
    expect(await isOpen(slide)).toBe(false);
  });

  it('is closed after five minutes without use', async () => {
    await replaceFile('a.svs', largeSvs);
    const slide = await slideOf('a.svs');
    await vi.advanceTimersByTimeAsync(4 * 60_000);
    expect(await isOpen(slide)).toBe(true);
    await vi.advanceTimersByTimeAsync(2 * 60_000);
    await slides.close();
    expect(await isOpen(slide)).toBe(false);
  });

  it('is closed within 20 s after its file was deleted, without a further request', async () => {
    await replaceFile('a.svs', largeSvs);
    const slide = await slideOf('a.svs');
    await fs.rm(path.join(folder, 'a.svs'));
    await vi.advanceTimersByTimeAsync(20_000);
    vi.useRealTimers();
    await vi.waitFor(async () => expect(await isOpen(slide)).toBe(false));
  });

  it('is closed when it is the least recently used of four open slides and the limit is three', async () => {
    for (const name of ['a.svs', 'b.svs', 'c.svs', 'd.svs']) await replaceFile(name, smallSvs);
    const first = await slideOf('a.svs');
    vi.setSystemTime(Date.now() + 1);
    const second = await slideOf('b.svs');
    vi.setSystemTime(Date.now() + 1);
    await slideOf('c.svs');
    await slideOf('a.svs');
    vi.setSystemTime(Date.now() + 1);
    await slideOf('d.svs');
    expect(await slideOf('a.svs')).toBe(first);
    expect(await slideOf('b.svs')).not.toBe(second);
  });

  it('fails again, without another attempt to open its file, for a request within a second after the opening failed', async () => {
    await replaceFile('a.svs', largeSvs.subarray(0, 1000));
    const unreadable = { code: expect.stringMatching(/^FILE_|^FORMAT_/) };
    await expect(widthOf('a.svs')).rejects.toMatchObject(unreadable);
    openedFingerprints.length = 0;
    await expect(widthOf('a.svs')).rejects.toMatchObject(unreadable);
    expect(openedFingerprints).toEqual([]);
    await replaceFile('a.svs', largeSvs);
    await vi.advanceTimersByTimeAsync(1001);
    expect(await widthOf('a.svs')).toBe(300);
  });

  it('registers a waiting request (joinOpening) only for requests that arrive before it is open', async () => {
    const joinEvents: string[] = [];
    const joinOpening = () => {
      joinEvents.push('join');
      return () => void joinEvents.push('leave');
    };
    const request = { ...openRequestFor('a.svs'), joinOpening };
    const use = () => slides.use(request, async ({ descriptor }) => descriptor.width);
    await replaceFile('a.svs', largeSvs);
    await Promise.all([use(), use()]);
    expect(joinEvents).toEqual(['join', 'join', 'leave', 'leave']);
    expect(await use()).toBe(300);
    expect(joinEvents).toHaveLength(4);
  });

  it('is opened again from the new file as soon as a background check has found that its file was replaced', async () => {
    await replaceFile('a.svs', largeSvs);
    const before = await slideOf('a.svs');
    await replaceFile('a.svs', smallSvs);
    vi.setSystemTime(Date.now() + 600);
    expect(await slideOf('a.svs')).toBe(before);
    vi.useRealTimers();
    await vi.waitFor(async () => expect(await slideOf('a.svs')).not.toBe(before));
  });

  it('is opened and read again when its file was replaced during the read', async () => {
    await replaceFile('a.svs', largeSvs);
    let attempts = 0;
    const width = await slides.use(openRequestFor('a.svs'), async ({ descriptor }) => {
      attempts++;
      if (attempts === 1) {
        await replaceFile('a.svs', smallSvs);
        throw new SlideError('FILE_CHANGED', 'The file has changed.');
      }
      return descriptor.width;
    });
    expect([attempts, width]).toEqual([2, 100]);
  });
});
