import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SlideError, type SlideLocation } from '../model/slide.ts';
import { createObjectReader } from '../object-storage/object-reader.ts';
import { createObjectStore, type ObjectStore } from '../object-storage/object-store.ts';
import { buildDicom } from '../testing/build-dicom.ts';
import { buildSvs } from '../testing/build-svs.ts';
import { compiledCodeFolder } from '../testing/compiled-code.ts';
import { type MemoryStore, memoryStore } from '../testing/memory-store.ts';
import { makeBucket, withoutObjectStore } from '../testing/test-bucket.ts';
import { RenderPool } from './render-pool.ts';

const files = {
  'Set/slide.svs': await buildSvs(),
  'Set/large.dcm': await buildDicom(),
  'Set/small.dcm': await buildDicom({ downsample: 2, instance: '2' }),
};
/** Returns the name of an object without its prefix. */
const nameOf = (key: string) => key.slice('Set/'.length);
const readerOf = (store: ObjectStore) =>
  createObjectReader({ store, maxMemoryBytes: 2 ** 24, diskCache: null });
/** Name, location, and the Deep Zoom level whose first tile is compared. */
const slides: readonly (readonly [string, SlideLocation, number])[] = [
  ['of one file', { path: 'Set/slide.svs' }, 8],
  ['of several files', { path: 'Set/large.dcm', members: ['small.dcm'] }, 6],
];

let folder: string;
const pools: RenderPool[] = [];
function poolOver(store: ObjectStore | null, timeoutMs = 60_000): RenderPool {
  const objects = store && readerOf(store);
  const pool = new RenderPool({
    processes: 1,
    queueLimit: 100,
    timeoutMs,
    compiledFolder: compiledCodeFolder,
    objects,
  });
  pools.push(pool);
  return pool;
}

beforeAll(async () => {
  folder = await mkdtemp(join(os.tmpdir(), 'object-slides-'));
  for (const [key, bytes] of Object.entries(files)) await writeFile(join(folder, nameOf(key)), bytes);
});
afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.close())));
afterAll(() => rm(folder, { recursive: true }));

/** Returns the location of the same slide in the local folder. */
const asFile = ({ path, members }: SlideLocation): SlideLocation => ({
  path: join(folder, nameOf(path)),
  ...(members && { members }),
});
const asObject = (location: SlideLocation): SlideLocation => ({ ...location, isObject: true });

async function picturesOf(pool: RenderPool, location: SlideLocation, dziLevel: number) {
  const { fingerprint: _, ...summary } = await pool.inspect(location);
  const tile = await pool.tile(location, { dziLevel, column: 0, row: 0 });
  const thumbnail = await pool.thumbnail(location, 100);
  return { summary, tile: Buffer.from(tile), thumbnail: Buffer.from(thumbnail) };
}

describe.skipIf(withoutObjectStore !== null)(
  `RenderPool with a slide in S3 object storage${withoutObjectStore === null ? '' : ` (skipped: ${withoutObjectStore})`}`,
  () => {
    it.each(slides)(
      'returns the same metadata, tile and thumbnail as for a local copy of the slide (a slide %s)',
      async (_, location, dziLevel) => {
        const store = createObjectStore(await makeBucket('some/prefix/'));
        for (const key of Object.keys(files)) await store.put(key, join(folder, nameOf(key)));
        expect(await picturesOf(poolOver(store), asObject(location), dziLevel)).toEqual(
          await picturesOf(poolOver(null), asFile(location), dziLevel),
        );
      },
    );
  },
);

describe('slides in object storage, opened and rendered by RenderPool', () => {
  const location = asObject({ path: 'Set/slide.svs' });
  const address = { dziLevel: 8, column: 0, row: 0 };
  const storeError = new SlideError('STORE_UNAVAILABLE', 'The object store does not answer');
  let store: MemoryStore;
  const newStore = () => {
    store = memoryStore(files);
    return store;
  };

  it('fail with STORE_UNAVAILABLE while the storage does not respond, and open again afterwards', async () => {
    const pool = poolOver(newStore());
    store.failWith(storeError);
    await expect(pool.inspect(location)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    store.failWith(null);
    expect(await pool.inspect(location)).toMatchObject({ format: 'aperio' });
  });

  it('keep being rendered from cached blocks while the storage is down', async () => {
    const pool = poolOver(newStore());
    const { fingerprint } = await pool.inspect(location);
    await pool.tile({ ...location, fingerprint }, address);
    store.failWith(storeError);
    const again = await pool.tile({ ...location, fingerprint }, { dziLevel: 8, column: 1, row: 1 });
    expect(again.length).toBeGreaterThan(100);
  });

  it('fail with STORE_TIMEOUT, not DECODE_FAILED, when the storage does not respond within the time limit', async () => {
    const responsive = newStore();
    const head: ObjectStore['head'] = (key) =>
      key === 'slow.svs' ? new Promise(() => {}) : responsive.head(key);
    const pool = poolOver({ ...responsive, head }, 8000);
    await pool.inspect(location); // starts the process, so that its start does not count towards the limit
    await expect(pool.inspect({ path: 'slow.svs', isObject: true })).rejects.toMatchObject({
      code: 'STORE_TIMEOUT',
    });
  });
});
