/** Tests which tiles are rendered before the first request, and when, with real render processes and a real tile cache. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type DeepZoomAddress, RenderPool } from '@lamina/slide';
import { buildSvs } from '@lamina/slide/testing';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { compiledCodeFolder } from '../testing/shared-render-pool.ts';
import { type RenderSource, tileNameIn } from './render-source.ts';
import { createTileCache, type TileCache } from './tile-cache.ts';
import { createTilePrerenderer, type TilePrerenderer } from './tile-prerenderer.ts';

// Render processes may start slowly on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const log = pino({ level: 'silent' });
const tileBytes = 20_000; // approximate size of a rendered tile
let folder: string;
let renderPool: RenderPool;
let cache: TileCache;
let prerenderer: TilePrerenderer;
/** Creates another prerenderer for the same cache, as a restart of the server does. */
let createPrerenderer: () => TilePrerenderer;
/** Tiles whose prerendering has started, in this order. */
let startedTiles: { slide: string; address: DeepZoomAddress }[];
/** Number of times that the prerenderer has read `hasWaitingRequests`. */
let checkCount: number;

function startPrerenderer(maxBytes = 100_000_000): void {
  renderPool = new RenderPool({
    processes: 2,
    queueLimit: 100,
    timeoutMs: 60_000,
    compiledFolder: compiledCodeFolder,
  });
  cache = createTileCache({
    folder: path.join(folder, 'tiles'),
    maxDiskBytes: maxBytes,
    maxMemoryBytes: 0,
    log,
  });
  const observedPool = {
    get hasWaitingRequests() {
      checkCount++;
      return renderPool.hasWaitingRequests;
    },
    tilesToPrerender: renderPool.tilesToPrerender.bind(renderPool),
    prerenderTile(...[location, address, signal]: Parameters<RenderPool['prerenderTile']>) {
      startedTiles.push({ slide: path.basename(location.path), address });
      return renderPool.prerenderTile(location, address, signal);
    },
  };
  createPrerenderer = () => createTilePrerenderer({ renderPool: observedPool, cache, maxBytes, log });
  prerenderer = createPrerenderer();
}

beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'tile-prerenderer-'));
  startedTiles = [];
  checkCount = 0;
});
afterEach(async () => {
  await prerenderer.close();
  await renderPool.close();
  await cache.close();
  await fs.rm(folder, { recursive: true });
});

/** Creates a slide of 1000 × 900 pixels that stores only full resolution, so that the tiles of all smaller levels are rendered. */
async function createSlide(name: string): Promise<RenderSource> {
  const location = { path: path.join(folder, name) };
  await fs.writeFile(location.path, await buildSvs({ width: 1000, height: 900, downsamples: [1] }));
  const { fingerprint } = await renderPool.inspect(location);
  return { location, fingerprint };
}

/** Returns the addresses of all tiles of the slide that its file does not contain. */
const tilesToPrerender = (source: RenderSource) => renderPool.tilesToPrerender(source.location, 1000);
const isCached = async ({ fingerprint }: RenderSource, address: DeepZoomAddress) =>
  (await cache.sizeOf({ fingerprint, name: tileNameIn(address) })) !== null;

describe('the prerenderer (which fills the tile cache in the background)', () => {
  it('renders all tiles that the file does not contain, from the smallest level to the largest', async () => {
    startPrerenderer();
    const source = await createSlide('one.svs');
    prerenderer.queue(source, 'opened');
    await prerenderer.settled();
    const tiles = await tilesToPrerender(source);
    expect(tiles.length).toBeGreaterThan(20);
    expect(startedTiles.map(({ address }) => address)).toEqual(tiles);
    await cache.settled();
    for (const address of tiles) expect(await isCached(source, address)).toBe(true);
  });

  it('renders a slide that is queued twice only once, and skips its cached tiles', async () => {
    startPrerenderer();
    const source = await createSlide('one.svs');
    const tiles = await tilesToPrerender(source);
    const [first, second] = tiles as [DeepZoomAddress, DeepZoomAddress]; // only the first one is cached
    const jpeg = await renderPool.tile(source.location, first);
    cache.put({ fingerprint: source.fingerprint, name: tileNameIn(first) }, jpeg);
    await cache.settled();
    for (let round = 0; round < 2; round++) {
      prerenderer.queue(source, 'opened');
      await prerenderer.settled();
    }
    expect(startedTiles).toHaveLength(tiles.length - 1);
    expect(startedTiles[0]?.address).toEqual(second);
  });

  it('renders slides in the order in which viewers opened them', async () => {
    startPrerenderer();
    const slides = [await createSlide('one.svs'), await createSlide('two.svs')];
    for (const source of slides) prerenderer.queue(source, 'opened');
    await prerenderer.settled();
    const order = startedTiles.map((tile) => tile.slide);
    expect(new Set(order)).toEqual(new Set(['one.svs', 'two.svs']));
    expect(order).toEqual(order.toSorted());
  });

  it('prefers a slide that a user has opened to slides that a scan has found and queued earlier', async () => {
    startPrerenderer();
    const [found, alsoFound, opened] = [
      await createSlide('one.svs'),
      await createSlide('two.svs'),
      await createSlide('three.svs'),
    ];
    prerenderer.queue(found, 'found');
    prerenderer.queue(alsoFound, 'found');
    prerenderer.queue(opened, 'opened');
    await prerenderer.settled();
    await cache.settled();
    expect([...new Set(startedTiles.map((tile) => tile.slide))]).toEqual(['three.svs', 'two.svs', 'one.svs']);
    for (const source of [found, alsoFound, opened]) {
      for (const address of await tilesToPrerender(source))
        expect(await isCached(source, address)).toBe(true);
    }
  });

  it('renders no tile while a request of a viewer waits for a render worker', async () => {
    startPrerenderer();
    const source = await createSlide('one.svs');
    prerenderer.queue(source, 'opened');
    const address = { dziLevel: 8, column: 0, row: 0 };
    // Three concurrent requests for two render processes, so that one request always waits.
    const keepRequesting = async (column: number) => {
      while (checkCount < 3) await renderPool.tile(source.location, { ...address, column });
    };
    await Promise.all([keepRequesting(0), keepRequesting(0), keepRequesting(1)]);
    expect(startedTiles).toEqual([]);
    await prerenderer.settled();
    expect(startedTiles.length).toBeGreaterThan(20);
  });

  it('uses at most an eighth of the disk cache for one slide', async () => {
    startPrerenderer(8 * 5 * tileBytes); // an eighth of the cache holds about five tiles
    const source = await createSlide('one.svs');
    prerenderer.queue(source, 'opened');
    await prerenderer.settled();
    await cache.settled();
    const tiles = await tilesToPrerender(source);
    expect(startedTiles.length).toBeGreaterThan(4);
    expect(startedTiles.length).toBeLessThan(tiles.length);
  });

  it('renders no further tiles of a slide after a restart when the cached ones already use an eighth of the disk cache', async () => {
    startPrerenderer(8 * 5 * tileBytes);
    const source = await createSlide('one.svs');
    prerenderer.queue(source, 'opened');
    await prerenderer.settled();
    await cache.settled();
    startedTiles = [];
    await prerenderer.close();
    prerenderer = createPrerenderer();
    prerenderer.queue(source, 'opened');
    await prerenderer.settled();
    expect(startedTiles).toEqual([]);
  });

  it('renders nothing instead of evicting tiles when the cache is 80 % full', async () => {
    const maxBytes = 100 * tileBytes;
    startPrerenderer(maxBytes);
    const source = await createSlide('one.svs');
    const cachedTile = { fingerprint: 'viewed-slide', name: '1_0_0' };
    const jpeg = new Uint8Array(maxBytes * 0.8);
    jpeg.set([0xff, 0xd8]);
    jpeg.set([0xff, 0xd9], jpeg.length - 2);
    cache.put(cachedTile, jpeg);
    await cache.settled();
    prerenderer.queue(source, 'opened');
    await prerenderer.settled();
    expect(startedTiles).toEqual([]);
    expect(await cache.sizeOf(cachedTile)).toBe(jpeg.length);
  });

  it('renders nothing when the disk cache is off', async () => {
    startPrerenderer(0);
    prerenderer.queue(await createSlide('one.svs'), 'opened');
    await prerenderer.settled();
    expect(startedTiles).toEqual([]);
  });

  it('renders nothing when the file of a queued slide has been replaced (its fingerprint differs)', async () => {
    startPrerenderer();
    const source = await createSlide('one.svs');
    prerenderer.queue({ ...source, fingerprint: 'that-of-another-file--' }, 'opened');
    await prerenderer.settled();
    expect(startedTiles).toEqual([]);
  });

  it('starts no further tile after close(), and ignores slides that are queued later', async () => {
    startPrerenderer();
    const source = await createSlide('one.svs');
    prerenderer.queue(source, 'opened');
    await vi.waitFor(() => expect(startedTiles.length).toBeGreaterThan(0), { timeout: 30_000 });
    await prerenderer.close();
    const { length } = startedTiles;
    prerenderer.queue({ ...source, fingerprint: 'another' }, 'opened');
    await prerenderer.settled();
    expect(startedTiles).toHaveLength(length);
  });
});
