import type { FeatureJson } from '@lamina/annotations';
import type { AnnotationLayer } from '@lamina/contract';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChangeOutcome } from '../../api/annotations.ts';
import { AnnotationStore } from './annotation-store.ts';
import { ChangeQueue } from './change-queue.ts';

const id = '6423a977-ffff-48db-affc-cd11632010f0';

const layer: AnnotationLayer = {
  id: 'layer',
  image_id: 'image',
  name: 'Layer',
  owner: 'owner',
  owner_name: 'Ayşe Yılmaz',
  visibility: 'members',
  editing: 'members',
  locked: false,
  source: 'manual',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  version: 1,
  deleted_at: null,
  annotation_count: 1,
  counts: [],
  rights: { annotate: true, manage: false, lock: false },
};

const featureAt = (x: number, revision: number, author = 'colleague') => ({
  type: 'Feature',
  id,
  geometry: { type: 'Point', coordinates: [x, 0] },
  properties: {
    objectType: 'annotation',
    revision,
    updated_by: author,
    updated_at: '2026-01-01T00:00:00Z',
  },
});
const authors = { colleague: 'Deniz Kaya' };
const putEvent = (x: number, revision: number, author = 'colleague') => ({
  layer_id: 'layer',
  changes: [{ op: 'put' as const, feature: featureAt(x, revision, author) }],
  authors,
});
const deleteEvent = (revision: number) => ({
  layer_id: 'layer',
  changes: [{ op: 'delete' as const, id, revision }],
  authors,
});

let listed: readonly unknown[];
beforeEach(() => {
  listed = [featureAt(10, 1)];
  vi.stubGlobal('fetch', async () => Response.json({ features: listed, authors, version: 1 }));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A store with one shared layer that contains one annotation. */
async function openStore(send: () => Promise<ChangeOutcome> = async () => ({ kind: 'unreachable' })) {
  const done = async () => {};
  const queue = new ChangeQueue({
    storage: {
      load: async () => ({ changes: [], batches: [] }),
      saveChange: done,
      removeChange: done,
      startBatch: done,
      endBatch: done,
    },
    send,
    createLayer: () => Promise.reject(new Error('not expected')),
    isSignedIn: () => true,
  });
  const store = new AnnotationStore('image', queue);
  await store.setLayers([layer], 'me');
  const x = () =>
    (store.find(id)?.feature.geometry as { readonly coordinates: number[] } | undefined)?.coordinates[0];
  const moveTo = (to: number) => {
    const known = store.find(id);
    if (known === undefined) throw new Error('The annotation is missing.');
    store.change([{ id, feature: { ...known.feature, geometry: { type: 'Point', coordinates: [to, 0] } } }]);
  };
  return { store, x, moveTo };
}

describe('changes of other people', () => {
  it('replace the annotation and show the initials of the author for 6 s', async () => {
    vi.useFakeTimers();
    const { store, x } = await openStore();
    store.receiveChanges(putEvent(20, 2));
    expect(x()).toBe(20);
    expect(store.find(id)?.author).toBe('Deniz Kaya');
    expect([...store.recentAuthors]).toEqual([[id, 'DK']]);
    vi.advanceTimersByTime(6000);
    expect(store.recentAuthors.size).toBe(0);
  });

  it('are ignored when the store has a later revision', async () => {
    const { store, x } = await openStore();
    store.receiveChanges(putEvent(20, 3));
    store.receiveChanges(putEvent(30, 2));
    store.receiveChanges(deleteEvent(3));
    expect(x()).toBe(20);
  });

  it('delete an annotation and end its selection', async () => {
    const { store, x } = await openStore();
    store.select([id]);
    store.receiveChanges(deleteEvent(2));
    expect(x()).toBeUndefined();
    expect(store.selection.size).toBe(0);
  });

  it('are applied only after the server has acknowledged the change of this person to the same annotation', async () => {
    const send = vi.fn<() => Promise<ChangeOutcome>>(async () => ({
      kind: 'applied',
      revisions: { [id]: 2 },
    }));
    const { store, x, moveTo } = await openStore(send);
    moveTo(50);
    store.receiveChanges(putEvent(50, 2, 'me'));
    store.receiveChanges(putEvent(60, 3));
    expect(x()).toBe(50);
    await vi.waitFor(() => expect(x()).toBe(60), { timeout: 5000 });
    expect(send).toHaveBeenCalledOnce();
    expect(store.find(id)?.revision).toBe(3);
  });

  it('are not reverted when the person undoes an earlier own change', async () => {
    const { store, moveTo, x } = await openStore(async () => ({ kind: 'applied', revisions: { [id]: 2 } }));
    moveTo(50);
    await vi.waitFor(() => expect(store.find(id)?.revision).toBe(2), { timeout: 5000 });
    store.receiveChanges(putEvent(60, 3));
    expect(store.canUndo).toBe(false);
    expect(x()).toBe(60);
  });

  it('are loaded with the whole layer, including deletions, when they are too many for one event', async () => {
    const { store, x } = await openStore();
    listed = [];
    store.receiveChanges({ layer_id: 'layer', reload: true, changes: [], authors: {} });
    await vi.waitFor(() => expect(x()).toBeUndefined(), { timeout: 5000 });
  });

  it('do not load a layer a second time while the layer is being loaded', async () => {
    const { store } = await openStore();
    const load = vi.fn<typeof fetch>(async () => Response.json({ features: listed, authors, version: 1 }));
    vi.stubGlobal('fetch', load);
    const other = { ...layer, id: 'other' };
    await Promise.all([store.setLayers([layer, other], 'me'), store.setLayers([layer, other], 'me')]);
    expect(load).toHaveBeenCalledOnce();
  });

  it('show no annotation of a layer that is removed while its annotations are being loaded', async () => {
    const { store, x } = await openStore();
    store.receiveChanges({ layer_id: 'layer', reload: true, changes: [], authors: {} });
    store.removeLayer('layer');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(x()).toBeUndefined();
  });

  it('add a new layer with its annotations and remove a layer that is no longer readable', async () => {
    const { store, x } = await openStore();
    store.removeLayer('layer');
    expect(x()).toBeUndefined();
    const { counts: _counts, ...described } = layer;
    store.receiveLayer(described);
    await vi.waitFor(() => expect(x()).toBe(10), { timeout: 5000 });
    expect(store.layers).toHaveLength(1);
  });
});

describe('unacknowledged changes', () => {
  it('stay in the store when their layer is loaded again', async () => {
    const { store, x, moveTo } = await openStore();
    moveTo(50);
    store.receiveChanges({ layer_id: 'layer', reload: true, changes: [], authors: {} });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(x()).toBe(50);
    const pending = store.queue.pendingOf('image').get(id)?.feature as FeatureJson;
    expect(pending.geometry).toMatchObject({ coordinates: [50, 0] });
  });
});
