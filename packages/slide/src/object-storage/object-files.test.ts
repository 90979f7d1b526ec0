import { beforeEach, describe, expect, it, vi } from 'vitest';
import { fingerprintOf, openSlideFiles } from '../location/open-slide-files.ts';
import { SlideError } from '../model/slide.ts';
import { groupSlideFiles, openSlide } from '../open-slide.ts';
import { buildDicom } from '../testing/build-dicom.ts';
import { buildSvs } from '../testing/build-svs.ts';
import { type MemoryStore, memoryStore } from '../testing/memory-store.ts';
import { createObjectReader, type ObjectReader } from './object-reader.ts';

const text = (words: string) => new TextEncoder().encode(words);
const slide = await buildSvs();
const storeError = new SlideError('STORE_UNAVAILABLE', 'The object store does not answer');

let store: MemoryStore;
let objects: ObjectReader;
beforeEach(() => {
  store = memoryStore({
    'secret.dat': text('secret'),
    'Set/slide.vsi': text('main'),
    'Set/beside.dat': text('beside'),
    'Set/_slide_/stack1/frame_t.ets': text('part'),
  });
  objects = createObjectReader({ store, maxMemoryBytes: 2 ** 24, diskCache: null });
});

const objectAt = (path: string, members?: readonly string[]) =>
  ({ path, isObject: true, ...(members && { members }) }) as const;
const textOf = async (name: string) => {
  const files = await openSlideFiles(objectAt('Set/slide.vsi'), objects);
  const source = await files.open(name);
  return Buffer.from(await source.read(0, source.size)).toString();
};

describe('the objects of a slide in object storage', () => {
  it('are the main object and all objects in its folder and subfolders when the location lists no members', async () => {
    const files = await openSlideFiles(objectAt('Set/slide.vsi'), objects);
    expect(files).toMatchObject({ name: 'slide.vsi', path: null });
    expect(await files.list()).toEqual(['beside.dat', 'slide.vsi']);
    expect(await textOf('beside.dat')).toBe('beside');
    expect(await textOf('_slide_/stack1/frame_t.ets')).toBe('part');
  });

  it('are only the main object and its members (further files of the slide) when the location lists the members', async () => {
    const files = await openSlideFiles(objectAt('Set/slide.vsi', ['_slide_/']), objects);
    expect(await files.list()).toEqual(['_slide_/', 'slide.vsi']);
  });

  it('in a member folder are listed by listFolder with their sizes; other folders are rejected with FILE_CORRUPT', async () => {
    const files = await openSlideFiles(objectAt('Set/slide.vsi', ['_slide_/']), objects);
    expect(await files.listFolder('_slide_/')).toEqual([{ path: '_slide_/stack1/frame_t.ets', size: 4 }]);
    for (const name of ['_slide_', '_slide_/stack1/', '../', './']) {
      await expect(files.listFolder(name)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
    }
  });

  it.each(['../secret.dat', 'parts/../../secret.dat', '..', '.', '', '/secret.dat', 'beside.dat\0'])(
    'are rejected with FILE_CORRUPT when the slide refers to them by an unsafe path: %j',
    async (name) => {
      await expect(textOf(name)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
    },
  );

  it('cause FILE_MISSING when a requested object does not exist', async () => {
    await expect(textOf('gone.dat')).rejects.toMatchObject({ code: 'FILE_MISSING' });
    await expect(openSlideFiles(objectAt('gone.svs'), objects)).rejects.toMatchObject({
      code: 'FILE_MISSING',
    });
  });

  it('cause STORE_UNAVAILABLE while the storage does not respond', async () => {
    store.failWith(storeError);
    await expect(openSlideFiles(objectAt('Set/slide.vsi'), objects)).rejects.toBe(storeError);
    await expect(fingerprintOf(objectAt('Set/slide.vsi'), objects)).rejects.toBe(storeError);
    await expect(openSlideFiles(objectAt('Set/slide.vsi'), null)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
  });

  it('cause FILE_CHANGED when they are read after they were replaced', async () => {
    const { main } = await openSlideFiles(objectAt('Set/slide.vsi'), objects);
    store.set('Set/slide.vsi', text('another'));
    await expect(main.read(0, 4)).rejects.toMatchObject({ code: 'FILE_CHANGED' });
    await expect(main.read(0, 8)).rejects.toMatchObject({ code: 'FILE_TRUNCATED' });
  });
});

describe('the fingerprint (version of the files) of a slide in object storage', () => {
  it('is the same from fingerprintOf and from openSlideFiles, also after the objects were moved to other keys', async () => {
    const members = ['beside.dat', '_slide_/'];
    const files = await openSlideFiles(objectAt('Set/slide.vsi', members), objects);
    expect(await fingerprintOf(objectAt('Set/slide.vsi', members), objects)).toBe(files.fingerprint);
    store.set('Other/renamed.vsi', text('main'));
    store.set('Other/beside.dat', text('beside'));
    store.set('Other/_slide_/stack1/frame_t.ets', text('part'));
    expect(await fingerprintOf(objectAt('Other/renamed.vsi', members), objects)).toBe(files.fingerprint);
  });

  it.each(['Set/slide.vsi', 'Set/beside.dat', 'Set/_slide_/stack1/frame_t.ets'])(
    'changes when the object %s of the slide is replaced',
    async (key) => {
      const location = objectAt('Set/slide.vsi', ['beside.dat', '_slide_/']);
      const before = await fingerprintOf(location, objects);
      store.set(key, text('another'));
      const newReader = createObjectReader({ store, maxMemoryBytes: 0, diskCache: null });
      expect(await fingerprintOf(location, newReader)).not.toBe(before);
    },
  );

  it('is requested from the storage at most twice per second for all callers together', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const readFingerprint = () => fingerprintOf(objectAt('Set/slide.vsi'), objects);
    await Promise.all([readFingerprint(), readFingerprint()]);
    vi.advanceTimersByTime(499);
    await readFingerprint();
    expect(store.requests.head).toBe(1);
    vi.advanceTimersByTime(1);
    await readFingerprint();
    expect(store.requests.head).toBe(2);
    vi.useRealTimers();
  });
});

describe('a slide in object storage', () => {
  it('opens with the metadata of the slide and returns its tiles', async () => {
    store.set('Set/slide.svs', slide);
    const opened = await openSlide(objectAt('Set/slide.svs'), objects);
    expect(opened).toMatchObject({ format: 'aperio', objectivePower: 20 });
    expect(await opened.readTile({ level: 0, column: 1, row: 1 })).toMatchObject({
      codec: 'jpeg',
      width: 128,
    });
    await opened.close();
  });

  it('is rejected with FORMAT_NOT_SUPPORTED when it is a MIRAX slide, which needs local files', async () => {
    store.set('Set/slide.mrxs', text('MIRAX'));
    await expect(openSlide(objectAt('Set/slide.mrxs'), objects)).rejects.toMatchObject({
      code: 'FORMAT_NOT_SUPPORTED',
      message: 'MIRAX slides can be read only from a slide folder.',
    });
  });

  it('consists of all DICOM objects of its series when groupSlideFiles groups the objects', async () => {
    store.set('Series/large.dcm', await buildDicom());
    store.set('Series/small.dcm', await buildDicom({ downsample: 2, instance: '2' }));
    const group = () =>
      groupSlideFiles({ path: 'Series', isObject: true }, ['large.dcm', 'small.dcm'], [], objects);
    expect(await group()).toEqual([{ main: 'large.dcm', members: ['small.dcm'] }]);
    const series = await openSlide(objectAt('Series/large.dcm', ['small.dcm']), objects);
    expect(series.levels).toHaveLength(2);
  });

  it('makes groupSlideFiles fail with STORE_UNAVAILABLE when the storage does not respond', async () => {
    store.set('Series/large.dcm', await buildDicom());
    store.failWith(storeError);
    const group = groupSlideFiles({ path: 'Series', isObject: true }, ['large.dcm', 'b.vms'], [], objects);
    await expect(group).rejects.toBe(storeError);
  });
});
