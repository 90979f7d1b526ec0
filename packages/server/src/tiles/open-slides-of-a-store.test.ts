/** Tests how slides of an object storage (bucket) stay open while their objects change and while the storage does not answer. */
import { createObjectReader, type ObjectMetadata, openSlide, SlideError } from '@lamina/slide';
import { buildSvs, type MemoryStore, memoryStore } from '@lamina/slide/testing';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createOpenSlides, type OpenRequest, type OpenSlides } from './open-slides.ts';

const large = await buildSvs({ width: 300, height: 200, downsamples: [1] });
const small = await buildSvs({ width: 100, height: 100, downsamples: [1] });
const key = 'Set/a.svs';
const outage = new SlideError('STORE_UNAVAILABLE', 'The object store does not answer');

let store: MemoryStore;
/** When set, called instead of `head` of the store, which returns size and version of an object. */
let headOverride: ((key: string) => Promise<ObjectMetadata>) | null;
let slides: OpenSlides;
let openRequest: OpenRequest;
let openCount: number;

beforeEach(() => {
  store = memoryStore({ [key]: large });
  headOverride = null;
  openCount = 0;
  const objects = createObjectReader({
    store: { ...store, head: (name) => (headOverride ?? store.head)(name) },
    maxMemoryBytes: 2 ** 24,
    diskCache: null,
  });
  vi.useFakeTimers({
    toFake: ['performance', 'setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'],
  });
  slides = createOpenSlides({ limit: 3, log: pino({ level: 'silent' }), objects });
  openRequest = {
    id: key,
    locate: async () => ({ path: key, isObject: true }),
    open(location) {
      openCount++;
      return openSlide(location, objects);
    },
  };
});
afterEach(async () => {
  await slides.close();
  vi.useRealTimers();
});

const width = () => slides.use(openRequest, async ({ descriptor }) => descriptor.width);
const tile = () => slides.use(openRequest, ({ slide }) => slide.readTile({ level: 0, column: 0, row: 0 }));

describe('an open slide that is stored as an object in a bucket', () => {
  it('is checked for a replaced object at most twice a second, and only while it is in use', async () => {
    for (let use = 0; use < 50; use++) {
      await width();
      vi.advanceTimersByTime(100);
    }
    expect(store.requests.head).toBeGreaterThan(5);
    expect(store.requests.head).toBeLessThanOrEqual(11); // one to open the slide, then two in each of 5 s
    vi.advanceTimersByTime(60_000);
    expect(store.requests.head).toBeLessThanOrEqual(11);
  });

  it('is opened again from the new object within a second after its object was replaced', async () => {
    expect(await width()).toBe(300);
    store.set(key, small);
    vi.advanceTimersByTime(1001);
    expect(await width()).toBe(100);
  });

  it('fails with FILE_MISSING within a second after its object was deleted', async () => {
    await width();
    await store.delete(key);
    vi.advanceTimersByTime(1001);
    await expect(width()).rejects.toMatchObject({ code: 'FILE_MISSING' });
  });

  it('returns tiles from cached blocks for 30 s while the object store fails, and then the error of the store', async () => {
    await tile();
    store.failWith(outage);
    for (const ms of [1001, 10_000, 18_000]) {
      vi.advanceTimersByTime(ms);
      expect(await width()).toBe(300);
      expect(await tile()).toMatchObject({ codec: 'jpeg' });
    }
    vi.advanceTimersByTime(2000);
    await expect(width()).rejects.toBe(outage);
  });

  it('is not opened again after a 40 s outage of the object store: the next request uses the open slide', async () => {
    await tile();
    store.failWith(outage);
    vi.advanceTimersByTime(40_000);
    await expect(tile()).rejects.toBe(outage);
    store.failWith(null);
    expect(await tile()).toMatchObject({ codec: 'jpeg' });
    vi.advanceTimersByTime(400);
    expect(await width()).toBe(300);
    expect(openCount).toBe(1);
  });

  it('is opened again from the new object when its object was replaced during an outage of the object store', async () => {
    await tile();
    store.failWith(outage);
    vi.advanceTimersByTime(5000);
    expect(await width()).toBe(300);
    store.failWith(null);
    store.set(key, small);
    await width(); // starts a check, and does not wait for it
    await vi.waitFor(async () => expect(await width()).toBe(100));
  });

  it('is used unchecked when the object store does not answer the check for a replaced object within 500 ms', async () => {
    await width();
    headOverride = () => new Promise(() => {});
    vi.advanceTimersByTime(5000);
    const widthDuringCheck = width();
    await vi.advanceTimersByTimeAsync(500);
    expect(await widthDuringCheck).toBe(300);
  });
});
