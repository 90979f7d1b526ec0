import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type DeepZoomAddress, TileMaker } from '@lamina/slide';
import { buildSvs } from '@lamina/slide/testing';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type MadeFrom, tileNameIn } from './made-from.ts';
import { createTileCache, type TileCache } from './tile-cache.ts';
import { createTileFiller, type TileFiller } from './tile-filler.ts';

// A busy machine takes its time to start a process.
vi.setConfig({ testTimeout: 60_000 });

const log = pino({ level: 'silent' });
const tileBytes = 20_000;
let folder: string;
let maker: TileMaker;
let cache: TileCache;
let filler: TileFiller;
/** In the order they were begun. */
let begun: { slide: string; address: DeepZoomAddress }[];
/** How often it was looked whether somebody waits. */
let looks: number;

function start(maxBytes = 100_000_000): void {
  maker = new TileMaker({ processes: 2, queueLimit: 100, timeoutMs: 60_000 });
  cache = createTileCache({
    folder: path.join(folder, 'tiles'),
    maxDiskBytes: maxBytes,
    maxMemoryBytes: 0,
    log,
  });
  const watched = {
    get isWanted() {
      looks++;
      return maker.isWanted;
    },
    tilesToMake: maker.tilesToMake.bind(maker),
    tileAhead(...[location, address, signal]: Parameters<TileMaker['tileAhead']>) {
      begun.push({ slide: path.basename(location.path), address });
      return maker.tileAhead(location, address, signal);
    },
  };
  filler = createTileFiller({ maker: watched, cache, maxBytes, log });
}

beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'tile-filler-'));
  begun = [];
  looks = 0;
});
afterEach(async () => {
  await filler.close();
  await maker.close();
  await cache.close();
  await fs.rm(folder, { recursive: true });
});

async function slide(name: string): Promise<MadeFrom> {
  const location = { path: path.join(folder, name) };
  await fs.writeFile(location.path, await buildSvs({ width: 1000, height: 900, downsamples: [1] }));
  const { fingerprint } = await maker.inspect(location);
  return { location, fingerprint };
}

const all = (from: MadeFrom) => maker.tilesToMake(from.location, 1000);
const isKept = ({ fingerprint }: MadeFrom, address: DeepZoomAddress) =>
  cache.has({ fingerprint, name: tileNameIn(address) });

describe('a slide that was opened', () => {
  it('is filled with all tiles that its file does not have, the smallest level first', async () => {
    start();
    const from = await slide('one.svs');
    filler.fill(from, 'opened');
    await filler.settled();
    const tiles = await all(from);
    expect(tiles.length).toBeGreaterThan(20);
    expect(begun.map(({ address }) => address)).toEqual(tiles);
    await cache.settled();
    for (const address of tiles) expect(await isKept(from, address)).toBe(true);
  });

  it('is filled once, and what is kept already is not made again', async () => {
    start();
    const from = await slide('one.svs');
    const tiles = await all(from);
    const [first, second] = tiles as [DeepZoomAddress, DeepZoomAddress];
    const jpeg = await maker.tile(from.location, first);
    cache.put({ fingerprint: from.fingerprint, name: tileNameIn(first) }, jpeg);
    await cache.settled();
    for (let time = 0; time < 2; time++) {
      filler.fill(from, 'opened');
      await filler.settled();
    }
    expect(begun).toHaveLength(tiles.length - 1);
    expect(begun[0]?.address).toEqual(second);
  });

  it('waits for the one that was opened before it', async () => {
    start();
    const slides = [await slide('one.svs'), await slide('two.svs')];
    for (const from of slides) filler.fill(from, 'opened');
    await filler.settled();
    const order = begun.map((tile) => tile.slide);
    expect(new Set(order)).toEqual(new Set(['one.svs', 'two.svs']));
    expect(order).toEqual(order.toSorted());
  });

  it('is filled before those that have only been found, and one of those goes on after it', async () => {
    start();
    const [found, alsoFound, opened] = [
      await slide('one.svs'),
      await slide('two.svs'),
      await slide('three.svs'),
    ];
    filler.fill(found, 'found');
    filler.fill(alsoFound, 'found');
    filler.fill(opened, 'opened');
    await filler.settled();
    await cache.settled();
    expect([...new Set(begun.map((tile) => tile.slide))]).toEqual(['three.svs', 'two.svs', 'one.svs']);
    for (const from of [found, alsoFound, opened]) {
      for (const address of await all(from)) expect(await isKept(from, address)).toBe(true);
    }
  });

  it('waits as long as somebody waits for a picture', async () => {
    start();
    const from = await slide('one.svs');
    filler.fill(from, 'opened');
    const address = { dziLevel: 8, column: 0, row: 0 };
    // Two ask in turn, so that at any time one of them waits.
    const keepAsking = async (column: number) => {
      while (looks < 3) await maker.tile(from.location, { ...address, column });
    };
    await Promise.all([keepAsking(0), keepAsking(0), keepAsking(1)]);
    expect(begun).toEqual([]);
    await filler.settled();
    expect(begun.length).toBeGreaterThan(20);
  });

  it('is filled as far as an eighth of the cache', async () => {
    start(8 * 5 * tileBytes);
    const from = await slide('one.svs');
    filler.fill(from, 'opened');
    await filler.settled();
    await cache.settled();
    const tiles = await all(from);
    expect(begun.length).toBeGreaterThan(4);
    expect(begun.length).toBeLessThan(tiles.length);
  });

  it('drives nothing out of the cache', async () => {
    const maxBytes = 100 * tileBytes;
    start(maxBytes);
    const from = await slide('one.svs');
    const kept = { fingerprint: 'what-people-look-at', name: '1_0_0' };
    const jpeg = new Uint8Array(maxBytes * 0.8);
    jpeg.set([0xff, 0xd8]);
    jpeg.set([0xff, 0xd9], jpeg.length - 2);
    cache.put(kept, jpeg);
    await cache.settled();
    filler.fill(from, 'opened');
    await filler.settled();
    expect(begun).toEqual([]);
    expect(await cache.has(kept)).toBe(true);
  });

  it('is not filled where nothing is kept', async () => {
    start(0);
    filler.fill(await slide('one.svs'), 'opened');
    await filler.settled();
    expect(begun).toEqual([]);
  });

  it('is left as it is when its file was replaced meanwhile', async () => {
    start();
    const from = await slide('one.svs');
    filler.fill({ ...from, fingerprint: 'that-of-another-file--' }, 'opened');
    await filler.settled();
    expect(begun).toEqual([]);
  });

  it('is filled no further when the program ends', async () => {
    start();
    const from = await slide('one.svs');
    filler.fill(from, 'opened');
    await vi.waitFor(() => expect(begun.length).toBeGreaterThan(0), { timeout: 30_000 });
    await filler.close();
    const { length } = begun;
    filler.fill({ ...from, fingerprint: 'another' }, 'opened');
    await filler.settled();
    expect(begun).toHaveLength(length);
  });
});
