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
const tileBytes = 20_000;
let folder: string;
let renderPool: RenderPool;
let cache: TileCache;
let prerenderer: TilePrerenderer;
/** Tiles whose prerendering has started, in this order. */
let startedTiles: { slide: string; address: DeepZoomAddress }[];
/** Number of times that the prerenderer has read `hasWaitingRequests`. */
let checkCount: number;

function start(maxBytes = 100_000_000): void {
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
    tilesToRender: renderPool.tilesToRender.bind(renderPool),
    prerenderTile(...[location, address, signal]: Parameters<RenderPool['prerenderTile']>) {
      startedTiles.push({ slide: path.basename(location.path), address });
      return renderPool.prerenderTile(location, address, signal);
    },
  };
  prerenderer = createTilePrerenderer({ renderPool: observedPool, cache, maxBytes, log });
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

async function slide(name: string): Promise<RenderSource> {
  const location = { path: path.join(folder, name) };
  await fs.writeFile(location.path, await buildSvs({ width: 1000, height: 900, downsamples: [1] }));
  const { fingerprint } = await renderPool.inspect(location);
  return { location, fingerprint };
}

const all = (from: RenderSource) => renderPool.tilesToRender(from.location, 1000);
const isCached = ({ fingerprint }: RenderSource, address: DeepZoomAddress) =>
  cache.has({ fingerprint, name: tileNameIn(address) });

describe('the prerenderer', () => {
  it('renders all tiles that the file does not contain, from the smallest level to the largest', async () => {
    start();
    const from = await slide('one.svs');
    prerenderer.queue(from, 'opened');
    await prerenderer.settled();
    const tiles = await all(from);
    expect(tiles.length).toBeGreaterThan(20);
    expect(startedTiles.map(({ address }) => address)).toEqual(tiles);
    await cache.settled();
    for (const address of tiles) expect(await isCached(from, address)).toBe(true);
  });

  it('prerenders a slide once and skips cached tiles', async () => {
    start();
    const from = await slide('one.svs');
    const tiles = await all(from);
    const [first, second] = tiles as [DeepZoomAddress, DeepZoomAddress];
    const jpeg = await renderPool.tile(from.location, first);
    cache.put({ fingerprint: from.fingerprint, name: tileNameIn(first) }, jpeg);
    await cache.settled();
    for (let time = 0; time < 2; time++) {
      prerenderer.queue(from, 'opened');
      await prerenderer.settled();
    }
    expect(startedTiles).toHaveLength(tiles.length - 1);
    expect(startedTiles[0]?.address).toEqual(second);
  });

  it('prerenders slides in the order in which they were opened', async () => {
    start();
    const slides = [await slide('one.svs'), await slide('two.svs')];
    for (const from of slides) prerenderer.queue(from, 'opened');
    await prerenderer.settled();
    const order = startedTiles.map((tile) => tile.slide);
    expect(new Set(order)).toEqual(new Set(['one.svs', 'two.svs']));
    expect(order).toEqual(order.toSorted());
  });

  it('interrupts a slide found by a scan for a slide that a viewer opened, and resumes it afterwards', async () => {
    start();
    const [found, alsoFound, opened] = [
      await slide('one.svs'),
      await slide('two.svs'),
      await slide('three.svs'),
    ];
    prerenderer.queue(found, 'found');
    prerenderer.queue(alsoFound, 'found');
    prerenderer.queue(opened, 'opened');
    await prerenderer.settled();
    await cache.settled();
    expect([...new Set(startedTiles.map((tile) => tile.slide))]).toEqual(['three.svs', 'two.svs', 'one.svs']);
    for (const from of [found, alsoFound, opened]) {
      for (const address of await all(from)) expect(await isCached(from, address)).toBe(true);
    }
  });

  it('pauses while a request waits for a render worker', async () => {
    start();
    const from = await slide('one.svs');
    prerenderer.queue(from, 'opened');
    const address = { dziLevel: 8, column: 0, row: 0 };
    // Three concurrent requests, so that one always waits.
    const keepAsking = async (column: number) => {
      while (checkCount < 3) await renderPool.tile(from.location, { ...address, column });
    };
    await Promise.all([keepAsking(0), keepAsking(0), keepAsking(1)]);
    expect(startedTiles).toEqual([]);
    await prerenderer.settled();
    expect(startedTiles.length).toBeGreaterThan(20);
  });

  it('uses at most an eighth of the cache for one slide', async () => {
    start(8 * 5 * tileBytes);
    const from = await slide('one.svs');
    prerenderer.queue(from, 'opened');
    await prerenderer.settled();
    await cache.settled();
    const tiles = await all(from);
    expect(startedTiles.length).toBeGreaterThan(4);
    expect(startedTiles.length).toBeLessThan(tiles.length);
  });

  it('evicts no tile that is already cached', async () => {
    const maxBytes = 100 * tileBytes;
    start(maxBytes);
    const from = await slide('one.svs');
    const kept = { fingerprint: 'what-people-look-at', name: '1_0_0' };
    const jpeg = new Uint8Array(maxBytes * 0.8);
    jpeg.set([0xff, 0xd8]);
    jpeg.set([0xff, 0xd9], jpeg.length - 2);
    cache.put(kept, jpeg);
    await cache.settled();
    prerenderer.queue(from, 'opened');
    await prerenderer.settled();
    expect(startedTiles).toEqual([]);
    expect(await cache.has(kept)).toBe(true);
  });

  it('renders nothing when the disk cache is off', async () => {
    start(0);
    prerenderer.queue(await slide('one.svs'), 'opened');
    await prerenderer.settled();
    expect(startedTiles).toEqual([]);
  });

  it('stops when the file of the slide was replaced', async () => {
    start();
    const from = await slide('one.svs');
    prerenderer.queue({ ...from, fingerprint: 'that-of-another-file--' }, 'opened');
    await prerenderer.settled();
    expect(startedTiles).toEqual([]);
  });

  it('stops rendering when the server closes it', async () => {
    start();
    const from = await slide('one.svs');
    prerenderer.queue(from, 'opened');
    await vi.waitFor(() => expect(startedTiles.length).toBeGreaterThan(0), { timeout: 30_000 });
    await prerenderer.close();
    const { length } = startedTiles;
    prerenderer.queue({ ...from, fingerprint: 'another' }, 'opened');
    await prerenderer.settled();
    expect(startedTiles).toHaveLength(length);
  });
});
