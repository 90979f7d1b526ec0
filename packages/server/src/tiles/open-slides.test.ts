import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openSlide, SlideError } from '@lamina/slide';
import { buildSvs } from '@lamina/slide/testing';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createOpenSlides, type OpenRequest, type OpenSlides } from './open-slides.ts';

const large = await buildSvs({ width: 300, height: 200, downsamples: [1] });
const small = await buildSvs({ width: 100, height: 100, downsamples: [1] });

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

async function put(name: string, bytes: Uint8Array): Promise<void> {
  await fs.writeFile(path.join(folder, `.${name}`), bytes);
  await fs.rename(path.join(folder, `.${name}`), path.join(folder, name));
}

const opened: string[] = [];
const openRequestFor = (name: string): OpenRequest => ({
  id: name,
  async locate() {
    const place = path.join(folder, name);
    const isThere = await fs.access(place).then(
      () => true,
      () => false,
    );
    if (!isThere) throw new SlideError('FILE_MISSING', 'The file is not there.');
    return { path: place };
  },
  open(location, fingerprint) {
    opened.push(fingerprint);
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

describe('an open slide', () => {
  it('is opened once for concurrent requests', async () => {
    await put('a.svs', large);
    const both = await Promise.all([slideOf('a.svs'), slideOf('a.svs')]);
    expect(both[0]).toBe(both[1]);
    expect(await slideOf('a.svs')).toBe(both[0]);
  });

  it('is opened with the fingerprint of its file', async () => {
    await put('a.svs', large);
    opened.length = 0;
    const { fingerprint } = await slideOf('a.svs');
    await slideOf('a.svs');
    expect(opened).toEqual([fingerprint]);
  });

  it('is replaced within a second after its file was replaced', async () => {
    await put('a.svs', large);
    expect(await widthOf('a.svs')).toBe(300);
    await put('a.svs', small);
    vi.setSystemTime(Date.now() + 1001);
    expect(await widthOf('a.svs')).toBe(100);
  });

  it('is checked in the background while requests are answered', async () => {
    await put('a.svs', large);
    const before = await slideOf('a.svs');
    await put('a.svs', small);
    vi.setSystemTime(Date.now() + 600);
    expect(await slideOf('a.svs')).toBe(before);
    vi.useRealTimers();
    await vi.waitFor(async () => expect(await isOpen(before)).toBe(false));
  });

  it('fails with FILE_MISSING within a second after its file was deleted', async () => {
    await put('a.svs', large);
    await widthOf('a.svs');
    await fs.rm(path.join(folder, 'a.svs'));
    vi.setSystemTime(Date.now() + 1001);
    await expect(widthOf('a.svs')).rejects.toMatchObject({ code: 'FILE_MISSING' });
  });

  it('stays open until its last reader has finished, also after it was evicted', async () => {
    await put('a.svs', large);
    const gate = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const reading = slides.use(openRequestFor('a.svs'), async ({ slide }) => {
      started.resolve();
      await gate.promise;
      return { slide, wasOpen: await isOpen(slide) };
    });
    await started.promise;
    slides.forget('a.svs');
    gate.resolve();
    const { slide, wasOpen } = await reading;
    expect(wasOpen).toBe(true);
    await slides.close();
    expect(await isOpen(slide)).toBe(false);
  });

  it('is closed after five minutes without use', async () => {
    await put('a.svs', large);
    const slide = await slideOf('a.svs');
    await vi.advanceTimersByTimeAsync(4 * 60_000);
    expect(await isOpen(slide)).toBe(true);
    await vi.advanceTimersByTimeAsync(2 * 60_000);
    await slides.close();
    expect(await isOpen(slide)).toBe(false);
  });

  it('is closed without a request after its file was deleted', async () => {
    await put('a.svs', large);
    const slide = await slideOf('a.svs');
    await fs.rm(path.join(folder, 'a.svs'));
    await vi.advanceTimersByTimeAsync(20_000);
    vi.useRealTimers();
    await vi.waitFor(async () => expect(await isOpen(slide)).toBe(false));
  });

  it('is closed when it is the least recently used of more than the limit', async () => {
    for (const name of ['a.svs', 'b.svs', 'c.svs', 'd.svs']) await put(name, small);
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

  it('is opened again at most once a second when opening fails', async () => {
    await put('a.svs', large.subarray(0, 1000));
    const refused = { code: expect.stringMatching(/^FILE_|^FORMAT_/) };
    await expect(widthOf('a.svs')).rejects.toMatchObject(refused);
    opened.length = 0;
    await expect(widthOf('a.svs')).rejects.toMatchObject(refused);
    expect(opened).toEqual([]);
    await put('a.svs', large);
    await vi.advanceTimersByTimeAsync(1001);
    expect(await widthOf('a.svs')).toBe(300);
  });

  it('is shared only with requests that arrived while it was being opened', async () => {
    const joined: string[] = [];
    const joinOpening = () => {
      joined.push('join');
      return () => void joined.push('leave');
    };
    const request = { ...openRequestFor('a.svs'), joinOpening };
    const use = () => slides.use(request, async ({ descriptor }) => descriptor.width);
    await put('a.svs', large);
    await Promise.all([use(), use()]);
    expect(joined).toEqual(['join', 'join', 'leave', 'leave']);
    expect(await use()).toBe(300);
    expect(joined).toHaveLength(4);
  });

  it('is served while its background check runs, and replaced after it', async () => {
    await put('a.svs', large);
    const before = await slideOf('a.svs');
    await put('a.svs', small);
    vi.setSystemTime(Date.now() + 600);
    expect(await slideOf('a.svs')).toBe(before);
    vi.useRealTimers();
    await vi.waitFor(async () => expect(await slideOf('a.svs')).not.toBe(before));
  });

  it('is opened and read again when its file was replaced during the read', async () => {
    await put('a.svs', large);
    let attempts = 0;
    const width = await slides.use(openRequestFor('a.svs'), async ({ descriptor }) => {
      attempts++;
      if (attempts === 1) {
        await put('a.svs', small);
        throw new SlideError('FILE_CHANGED', 'The file has changed.');
      }
      return descriptor.width;
    });
    expect([attempts, width]).toEqual([2, 100]);
  });
});
