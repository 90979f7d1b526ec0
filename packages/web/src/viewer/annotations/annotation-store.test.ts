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

/** The annotation as the server stores it: a point at (x, 0). @param author id of the account that made the last change */
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
/** Server event: an account has moved the annotation to (x, 0). */
const putEvent = (x: number, revision: number, author = 'colleague') => ({
  layer_id: 'layer',
  changes: [{ op: 'put' as const, feature: featureAt(x, revision, author) }],
  authors,
});
/** Server event: an account has deleted the annotation. */
const deleteEvent = (revision: number) => ({
  layer_id: 'layer',
  changes: [{ op: 'delete' as const, id, revision }],
  authors,
});

/** The annotations that the server returns for every layer. */
let featuresOnServer: readonly unknown[];
beforeEach(() => {
  featuresOnServer = [featureAt(10, 1)];
  vi.stubGlobal('fetch', async () => Response.json({ features: featuresOnServer, authors, version: 1 }));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/**
 * Opens a store for the account `me`, with one shared layer that contains one annotation at x = 10.
 *
 * @returns also `x`, which returns the annotation's current x or undefined without the annotation, and `moveTo`, an own edit
 */
async function openStore(send: () => Promise<ChangeOutcome> = async () => ({ kind: 'unreachable' })) {
  const doNothing = async () => {};
  const queue = new ChangeQueue({
    storage: {
      load: async () => ({ changes: [], batches: [] }),
      saveChange: doNothing,
      removeChange: doNothing,
      startBatch: doNothing,
      endBatch: doNothing,
    },
    send,
    createLayer: () => Promise.reject(new Error('not expected')),
    isSignedIn: () => true,
  });
  const store = new AnnotationStore('image', queue);
  await store.setLayers([layer], 'me');
  const x = () =>
    (store.find(id)?.feature.geometry as { readonly coordinates: number[] } | undefined)?.coordinates[0];
  const moveTo = (newX: number) => {
    const annotation = store.find(id);
    if (annotation === undefined) throw new Error('The annotation is missing.');
    const { feature } = annotation;
    store.change([{ id, feature: { ...feature, geometry: { type: 'Point', coordinates: [newX, 0] } } }]);
  };
  return { store, x, moveTo };
}

describe('AnnotationStore (annotations of the open slide): changes of other users', () => {
  it('replaces an annotation that another user changes, and shows the user’s initials for 6 s', async () => {
    vi.useFakeTimers();
    const { store, x } = await openStore();
    store.receiveChanges(putEvent(20, 2));
    expect(x()).toBe(20);
    expect(store.find(id)?.author).toBe('Deniz Kaya');
    expect([...store.recentAuthors]).toEqual([[id, 'DK']]);
    vi.advanceTimersByTime(6000);
    expect(store.recentAuthors.size).toBe(0);
  });

  it('shows a user’s initials for 6 s after the last change when the user changes an annotation twice within 6 s', async () => {
    vi.useFakeTimers();
    const { store } = await openStore();
    store.receiveChanges(putEvent(20, 2));
    vi.advanceTimersByTime(4000);
    store.receiveChanges(putEvent(30, 3));
    vi.advanceTimersByTime(5999);
    expect([...store.recentAuthors]).toEqual([[id, 'DK']]);
    vi.advanceTimersByTime(1);
    expect(store.recentAuthors.size).toBe(0);
  });

  it('ignores a change whose revision is not later than the stored revision', async () => {
    const { store, x } = await openStore();
    store.receiveChanges(putEvent(20, 3));
    store.receiveChanges(putEvent(30, 2));
    store.receiveChanges(deleteEvent(3));
    expect(x()).toBe(20);
  });

  it('deletes and deselects an annotation that another user deletes', async () => {
    const { store, x } = await openStore();
    store.select([id]);
    store.receiveChanges(deleteEvent(2));
    expect(x()).toBeUndefined();
    expect(store.selection.size).toBe(0);
  });

  it('applies another user’s change only after the server has acknowledged the local change to the same annotation', async () => {
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

  it('offers no undo of a local change when another user has changed the same annotation afterwards', async () => {
    const { store, moveTo, x } = await openStore(async () => ({ kind: 'applied', revisions: { [id]: 2 } }));
    moveTo(50);
    await vi.waitFor(() => expect(store.find(id)?.revision).toBe(2), { timeout: 5000 });
    store.receiveChanges(putEvent(60, 3));
    expect(store.canUndo).toBe(false);
    expect(x()).toBe(60);
  });

  it('loads the whole layer again, including deletions, when the changes are too many for one event', async () => {
    const { store, x } = await openStore();
    featuresOnServer = [];
    store.receiveChanges({ layer_id: 'layer', reload: true, changes: [], authors: {} });
    await vi.waitFor(() => expect(x()).toBeUndefined(), { timeout: 5000 });
  });

  it('loads a layer only once when its loading is requested twice at the same time', async () => {
    const { store } = await openStore();
    const load = vi.fn<typeof fetch>(async () =>
      Response.json({ features: featuresOnServer, authors, version: 1 }),
    );
    vi.stubGlobal('fetch', load);
    const newLayer = { ...layer, id: 'new' };
    await Promise.all([store.setLayers([layer, newLayer], 'me'), store.setLayers([layer, newLayer], 'me')]);
    expect(load).toHaveBeenCalledOnce();
  });

  it('contains no annotation of a layer that is removed while its annotations are being loaded', async () => {
    const { store, x } = await openStore();
    store.receiveChanges({ layer_id: 'layer', reload: true, changes: [], authors: {} });
    store.removeLayer('layer');
    await new Promise((resolve) => setTimeout(resolve, 20)); // the layer is loaded meanwhile
    expect(x()).toBeUndefined();
  });

  it('removes the annotations of a removed layer, and loads the annotations of a layer that an event adds', async () => {
    const { store, x } = await openStore();
    store.removeLayer('layer');
    expect(x()).toBeUndefined();
    const { counts: _counts, ...layerOfEvent } = layer;
    store.receiveLayer(layerOfEvent);
    await vi.waitFor(() => expect(x()).toBe(10), { timeout: 5000 });
    expect(store.layers).toHaveLength(1);
  });
});

describe('AnnotationStore (annotations of the open slide): local changes', () => {
  it('keeps a change that the server has not acknowledged when its layer is loaded again', async () => {
    const { store, x, moveTo } = await openStore();
    moveTo(50);
    store.receiveChanges({ layer_id: 'layer', reload: true, changes: [], authors: {} });
    await new Promise((resolve) => setTimeout(resolve, 20)); // the layer is loaded meanwhile
    expect(x()).toBe(50);
    const pending = store.queue.pendingOf('image').get(id)?.feature as FeatureJson;
    expect(pending.geometry).toMatchObject({ coordinates: [50, 0] });
  });
});

describe('AnnotationStore (annotations of the open slide): loading of layers', () => {
  it('lists every layer whose annotations cannot be loaded, also when several fail at the same time', async () => {
    const { store } = await openStore();
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
    await store.setLayers([layer, { ...layer, id: 'second' }, { ...layer, id: 'third' }], 'me');
    expect([...store.failedLayers].sort()).toEqual(['second', 'third']);
  });
});
