import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SlideError, type SlideLocation } from '../slide.ts';
import { createObjectReader } from '../source/object-reader.ts';
import { createObjectStore, type ObjectStore } from '../source/object-store.ts';
import { buildDicom } from '../testing/build-dicom.ts';
import { buildSvs } from '../testing/build-svs.ts';
import { type MemoryStore, memoryStore } from '../testing/memory-store.ts';
import { makeBucket, withoutObjectStore } from '../testing/test-bucket.ts';
import { TileMaker } from './tile-maker.ts';

const files = {
  'Set/slide.svs': await buildSvs(),
  'Set/large.dcm': await buildDicom(),
  'Set/small.dcm': await buildDicom({ downsample: 2, instance: '2' }),
};
const readerOf = (store: ObjectStore) => createObjectReader({ store, maxMemoryBytes: 2 ** 24, shelf: null });
const slides: readonly (readonly [string, SlideLocation, number])[] = [
  ['a file', { path: 'Set/slide.svs' }, 8],
  ['a series', { path: 'Set/large.dcm', members: ['small.dcm'] }, 6],
];

let folder: string;
const makers: TileMaker[] = [];
function makerOver(store: ObjectStore | null, timeoutMs = 60_000): TileMaker {
  const objects = store && readerOf(store);
  const maker = new TileMaker({ processes: 1, queueLimit: 100, timeoutMs, objects });
  makers.push(maker);
  return maker;
}

beforeAll(async () => {
  folder = await mkdtemp(join(os.tmpdir(), 'object-slides-'));
  for (const [key, bytes] of Object.entries(files)) await writeFile(join(folder, key.slice(4)), bytes);
});
afterEach(() => Promise.all(makers.splice(0).map((maker) => maker.close())));
afterAll(() => rm(folder, { recursive: true }));

/** Where the same slide is as a file. */
const asFile = ({ path, members }: SlideLocation): SlideLocation => ({
  path: join(folder, path.slice(4)),
  ...(members && { members }),
});
const asObject = (location: SlideLocation): SlideLocation => ({ ...location, isObject: true });

async function picturesOf(maker: TileMaker, location: SlideLocation, dziLevel: number) {
  const { fingerprint: _, ...summary } = await maker.inspect(location);
  const tile = await maker.tile(location, { dziLevel, column: 0, row: 0 });
  const thumbnail = await maker.thumbnail(location, 100);
  return { summary, tile: Buffer.from(tile), thumbnail: Buffer.from(thumbnail) };
}

describe.skipIf(withoutObjectStore !== null)(`slides of a real store (${withoutObjectStore ?? 'S3'})`, () => {
  it.each(slides)('look in every pixel as from a folder: %s', async (_, location, dziLevel) => {
    const store = createObjectStore(await makeBucket('some/prefix/'));
    for (const key of Object.keys(files)) await store.put(key, join(folder, key.slice(4)));
    expect(await picturesOf(makerOver(store), asObject(location), dziLevel)).toEqual(
      await picturesOf(makerOver(null), asFile(location), dziLevel),
    );
  });
});

describe('slides of a store', () => {
  const location = asObject({ path: 'Set/slide.svs' });
  const address = { dziLevel: 8, column: 0, row: 0 };
  const down = new SlideError('STORE_UNAVAILABLE', 'The object store does not answer');
  let store: MemoryStore;
  const newStore = () => {
    store = memoryStore(files);
    return store;
  };

  it('are told apart from damaged ones when the store does not answer', async () => {
    const maker = makerOver(newStore());
    store.failWith(down);
    await expect(maker.inspect(location)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    store.failWith(null);
    expect(await maker.inspect(location)).toMatchObject({ format: 'aperio' });
  });

  it('go on being drawn while the store is down, as far as they have been read', async () => {
    const maker = makerOver(newStore());
    const { fingerprint } = await maker.inspect(location);
    await maker.tile({ ...location, fingerprint }, address);
    store.failWith(down);
    const again = await maker.tile({ ...location, fingerprint }, { dziLevel: 8, column: 1, row: 1 });
    expect(again.length).toBeGreaterThan(100);
  });

  it('are the store’s fault when they take too long because it does', async () => {
    const inTime = newStore();
    const head: ObjectStore['head'] = (key) =>
      key === 'slow.svs' ? new Promise(() => {}) : inTime.head(key);
    const maker = makerOver({ ...inTime, head }, 8000);
    await maker.inspect(location); // starting a process takes its own time
    await expect(maker.inspect({ path: 'slow.svs', isObject: true })).rejects.toMatchObject({
      code: 'STORE_TIMEOUT',
    });
  });
});
