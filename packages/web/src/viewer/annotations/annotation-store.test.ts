import { TransformStream } from 'node:stream/web';
import type { AnnotationFeature, FeatureJson } from '@lamina/annotations';
import type { AnnotationLayer } from '@lamina/contract';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChangeOutcome } from '../../api/annotations.ts';
import { AnnotationStore } from './annotation-store.ts';
import { annotationKey, newLayerId } from './pending-change.ts';
import { createQueue } from './testing/drawing-mode.ts';

const id = '6423a977-ffff-48db-affc-cd11632010f0';
const otherId = 'a9d3d08f-35cd-46d4-93d6-08d71feefaa6';

/** `Annotation.id` of the annotation with this id in the layer `layer`. */
const key = annotationKey({ layerId: 'layer', id });

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
/** An annotation as this user draws it: a point at (0, 0). */
const newFeature = (annotationId: string): AnnotationFeature => ({
  type: 'Feature',
  id: annotationId,
  geometry: { type: 'Point', coordinates: [0, 0] },
  properties: { objectType: 'annotation' },
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
 * @param send the server's responses to changes; by default, no change is sent
 * @returns also `x`, which returns the annotation's current x or undefined without the annotation, and `moveTo`, an own edit
 */
async function openStore(send?: (layerId: string) => Promise<ChangeOutcome>) {
  const queue = createQueue(send && { send });
  const store = new AnnotationStore('image', queue);
  await store.setLayers([layer], 'me');
  const x = () =>
    (store.find(key)?.feature.geometry as { readonly coordinates: number[] } | undefined)?.coordinates[0];
  const moveTo = (newX: number) => {
    const annotation = store.find(key);
    if (annotation === undefined) throw new Error('The annotation is missing.');
    const { feature } = annotation;
    store.change([{ id: key, feature: { ...feature, geometry: { type: 'Point', coordinates: [newX, 0] } } }]);
  };
  return { store, x, moveTo };
}

describe('AnnotationStore (annotations of the open slide), when other users change annotations,', () => {
  it('replaces an annotation that another user changes, and shows the initials of the other user for 6 s', async () => {
    vi.useFakeTimers();
    const { store, x } = await openStore();
    store.receiveChanges(putEvent(20, 2));
    expect(x()).toBe(20);
    expect(store.find(key)?.author).toBe('Deniz Kaya');
    expect([...store.recentAuthors]).toEqual([[key, 'DK']]);
    vi.advanceTimersByTime(6000);
    expect(store.recentAuthors.size).toBe(0);
  });

  it('shows the initials of another user for another 6 s when this user changes the annotation again', async () => {
    vi.useFakeTimers();
    const { store } = await openStore();
    store.receiveChanges(putEvent(20, 2));
    vi.advanceTimersByTime(4000);
    store.receiveChanges(putEvent(30, 3));
    vi.advanceTimersByTime(5999);
    expect([...store.recentAuthors]).toEqual([[key, 'DK']]);
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
    store.select([key]);
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
    expect(store.find(key)?.revision).toBe(3);
  });

  it('offers no undo of a local change when another user has changed the same annotation afterwards', async () => {
    const { store, moveTo, x } = await openStore(async () => ({ kind: 'applied', revisions: { [id]: 2 } }));
    moveTo(50);
    await vi.waitFor(() => expect(store.find(key)?.revision).toBe(2), { timeout: 5000 });
    store.receiveChanges(putEvent(60, 3));
    expect(store.canUndo).toBe(false);
    expect(x()).toBe(60);
  });

  it('loads the whole layer again, including deletions, when the server reports that the changes are too many for one event', async () => {
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

describe('AnnotationStore (annotations of the open slide), when annotations of two layers have the same id,', () => {
  /** Opens a store whose two layers contain an annotation with the same id, as after the import of an exported layer. */
  async function openWithTwoLayers() {
    const { store } = await openStore();
    await store.setLayers([layer, { ...layer, id: 'second' }], 'me');
    return store;
  }
  const layersOf = (store: AnnotationStore) => store.all().map(({ layerId }) => layerId);

  it('contains both annotations', async () => {
    const store = await openWithTwoLayers();
    expect(layersOf(store)).toEqual(['layer', 'second']);
    store.toggleLayer('layer');
    expect(store.all().map((annotation) => store.isVisible(annotation))).toEqual([false, true]);
  });

  it('deletes only the annotation of the layer that the event names', async () => {
    const store = await openWithTwoLayers();
    store.receiveChanges({ ...deleteEvent(2), layer_id: 'second' });
    expect(layersOf(store)).toEqual(['layer']);
  });

  it('keeps the annotation of one layer, and its unsent change, when the other layer is removed', async () => {
    const store = await openWithTwoLayers();
    store.change(store.all().map(({ id: changed, feature }) => ({ id: changed, feature })));
    store.removeLayer('second');
    expect(layersOf(store)).toEqual(['layer']);
    expect(store.queue.isPending('layer', id)).toBe(true);
  });

  it('stores an acknowledged revision only at the annotation of the layer whose change was sent', async () => {
    const { store } = await openStore(async (layerId) =>
      layerId === 'layer' ? { kind: 'applied', revisions: { [id]: 7 } } : { kind: 'unreachable' },
    );
    await store.setLayers([layer, { ...layer, id: 'second' }], 'me');
    store.change([{ id: key, feature: newFeature(id) }]);
    await vi.waitUntil(() => store.queue.state().kind === 'saved', { timeout: 5000 });
    expect(store.all().map(({ revision }) => revision)).toEqual([7, 1]);
  });
});

describe('AnnotationStore (annotations of the open slide), when the user draws the first annotation,', () => {
  const created = { ...layer, id: 'created', owner: 'me' };
  /** Draws the first annotation, for which the server creates the layer `created` after `beforeCreation`. */
  async function drawFirst(beforeCreation: (store: AnnotationStore) => Promise<void>) {
    const queue = createQueue({
      send: async () => ({ kind: 'applied', revisions: { [otherId]: 1 } }),
      createLayer: async () => {
        await beforeCreation(store);
        return created;
      },
    });
    const store = new AnnotationStore('image', queue);
    await store.setLayers([], 'me');
    const ids = store.change([{ feature: newFeature(otherId) }]);
    return { store, ids };
  }

  it('keeps the selection, the undo step and the id of this annotation when its layer is created', async () => {
    const { store, ids } = await drawFirst(async () => {});
    store.select(ids);
    await vi.waitUntil(() => store.queue.state().kind === 'saved', { timeout: 5000 });
    expect(store.selected()).toMatchObject([{ id: ids[0], layerId: 'created', revision: 1 }]);
    store.receiveChanges({ ...putEvent(30, 2), layer_id: 'created' });
    expect(store.all()).toHaveLength(2);
    store.undo();
    expect(store.all()).toMatchObject([{ layerId: 'created', feature: { id } }]);
  });

  it('adds this annotation to the annotations of the user’s layer when another tab has created the layer', async () => {
    const { store } = await drawFirst((opened) => opened.setLayers([created], 'me'));
    await vi.waitUntil(() => store.queue.state().kind === 'saved', { timeout: 5000 });
    expect(store.all()).toMatchObject([
      { layerId: 'created', feature: { id } },
      { layerId: 'created', feature: { id: otherId }, revision: 1 },
    ]);
    store.receiveChanges({ ...deleteEvent(2), layer_id: 'created' });
    store.undo();
    expect(store.all()).toEqual([]);
  });
});

describe('AnnotationStore (annotations of the open slide), after local changes,', () => {
  it('offers no undo of changes in a layer that is removed', async () => {
    const { store, moveTo } = await openStore(async () => ({ kind: 'applied', revisions: { [id]: 2 } }));
    moveTo(50);
    await vi.waitUntil(() => store.queue.state().kind === 'saved', { timeout: 5000 });
    store.change([{ id: key, feature: null }]);
    store.removeLayer('layer');
    expect(store.canUndo).toBe(false);
  });

  it('puts the user’s next annotation into a new layer when the layer created for the first annotation has been removed', async () => {
    const created = { ...layer, id: 'created', owner: 'me' };
    const queue = createQueue({
      send: async () => ({ kind: 'applied', revisions: { [id]: 1 } }),
      createLayer: async () => created,
    });
    const store = new AnnotationStore('image', queue);
    await store.setLayers([], 'me');
    store.change([{ feature: newFeature(id) }]);
    await vi.waitUntil(() => store.all()[0]?.layerId === 'created', { timeout: 5000 });
    store.removeLayer('created');
    store.change([{ feature: newFeature(otherId) }]);
    expect(store.all().map(({ layerId }) => layerId)).toEqual([newLayerId('image')]);
  });

  it('keeps a change that the server has not acknowledged when its layer is loaded again', async () => {
    const { store, x, moveTo } = await openStore();
    moveTo(50);
    store.receiveChanges({ layer_id: 'layer', reload: true, changes: [], authors: {} });
    await new Promise((resolve) => setTimeout(resolve, 20)); // the layer is loaded meanwhile
    expect(x()).toBe(50);
    const pending = store.queue.pendingOf('image').get(key)?.feature as FeatureJson;
    expect(pending.geometry).toMatchObject({ coordinates: [50, 0] });
  });
});

it('AnnotationStore shows the change of a second closed tab as soon as the change of a first one is stored', async () => {
  const changeTo = (x: number) => {
    const json = { ...newFeature(id), geometry: { type: 'Point', coordinates: [x, 0] } } as FeatureJson;
    return { id, layerId: 'layer', imageId: 'image', base: 1, feature: json };
  };
  const answers: ChangeOutcome[] = [
    { kind: 'applied', revisions: { [id]: 2 } },
    { kind: 'conflict', conflicts: [featureAt(30, 2, 'me')] },
  ];
  const send = async () => answers.shift() ?? { kind: 'unreachable' as const };
  const waiting = [{ change: changeTo(40), recordId: 'waiting' }];
  const queue = createQueue({ send }, { changes: [changeTo(30)], batches: [], waiting });
  await queue.start();
  const store = new AnnotationStore('image', queue);
  const shown: unknown[] = [];
  store.listen(() => shown.push(store.find(key)?.feature.geometry.coordinates));
  await store.setLayers([layer], 'me');
  const conflict = await vi.waitUntil(() => store.conflict, { timeout: 5000 });
  expect(shown).toContainEqual([30, 0]);
  expect(store.find(key)?.feature.geometry.coordinates).toEqual([40, 0]);
  expect(conflict.mine).toEqual(changeTo(40));
});

describe('AnnotationStore (annotations of the open slide), in a conflict with another user’s change,', () => {
  /** Moves the annotation to x = 50, while the server already has it at x = 20 in revision 2, and waits for the conflict. */
  async function openWithConflict() {
    const opened = await openStore(async () => ({ kind: 'conflict', conflicts: [featureAt(20, 2)] }));
    opened.moveTo(50);
    const conflict = await vi.waitUntil(() => opened.store.conflict, { timeout: 5000 });
    return { ...opened, conflict };
  }

  it.each(['mine', 'theirs'] as const)(
    'offers no undo of the local change after the user has chosen the version "%s"',
    async (keep) => {
      const { store, conflict, x } = await openWithConflict();
      store.resolve(conflict, keep);
      expect(store.canUndo).toBe(false);
      expect(x()).toBe(keep === 'mine' ? 50 : 20);
    },
  );

  it('keeps the conflict when the store of the other compared slide is asked to resolve it', async () => {
    const { store, conflict } = await openWithConflict();
    const otherStore = new AnnotationStore('other image', store.queue);
    expect(otherStore.conflict).toBeUndefined();
    otherStore.resolve(conflict, 'theirs');
    expect(otherStore.all()).toEqual([]);
    expect(store.conflict).toEqual(conflict);
  });
});

describe('AnnotationStore (annotations of the open slide), when rejected changes are discarded,', () => {
  const rejected: ChangeOutcome = { kind: 'rejected', error: new Error('layer_locked') };

  it('contains an annotation again whose deletion the server has rejected and the user has discarded', async () => {
    const { store, x } = await openStore(async () => rejected);
    store.change([{ id: key, feature: null }]);
    await vi.waitUntil(() => store.queue.state().kind === 'rejected', { timeout: 5000 });
    await store.discard([layer], 'me');
    expect(x()).toBe(10);
    expect(store.canUndo).toBe(false);
  });

  it('contains the annotation as on the server after the change is discarded through the store of the other compared slide', async () => {
    const { store, moveTo, x } = await openStore(async () => rejected);
    const otherHalf = new AnnotationStore('other image', store.queue);
    moveTo(50);
    await vi.waitUntil(() => store.queue.state().kind === 'rejected', { timeout: 5000 });
    await otherHalf.discard([], 'me');
    await vi.waitUntil(() => x() === 10);
    expect(store.canUndo).toBe(false);
  });

  it('keeps an unsent annotation, and its undo step, when a rejected change in another layer is discarded', async () => {
    const { store, moveTo, x } = await openStore(async (layerId) =>
      layerId === 'layer' ? rejected : { kind: 'unreachable' },
    );
    moveTo(50);
    await vi.waitUntil(() => store.queue.state().kind === 'rejected', { timeout: 5000 });
    const [otherKey] = store.change([{ feature: newFeature(otherId), layerId: newLayerId('image') }]);
    await store.discard([layer], 'me');
    expect(x()).toBe(10);
    expect(store.find(otherKey ?? '')?.layerId).toBe(newLayerId('image'));
    store.undo();
    expect(store.all().map((annotation) => annotation.id)).toEqual([key]);
  });
});

describe('AnnotationStore (annotations of the open slide), while an annotation is selected,', () => {
  it.each([
    ['layer', (store: AnnotationStore) => store.toggleLayer('layer')],
    ['class', (store: AnnotationStore) => store.toggleClass(null)],
  ])(
    'deselects the annotation when its %s is hidden, so that a drag cannot move a hidden annotation',
    async (_, hide) => {
      const { store } = await openStore();
      store.select([key]);
      hide(store);
      expect(store.selection.size).toBe(0);
    },
  );

  it('deselects the annotation when its layer is loaded again and no longer contains the annotation', async () => {
    const { store } = await openStore();
    store.select([key]);
    featuresOnServer = [];
    store.receiveChanges({ layer_id: 'layer', reload: true, changes: [], authors: {} });
    await vi.waitFor(() => expect(store.selection.size).toBe(0), { timeout: 5000 });
  });
});

describe('AnnotationStore (annotations of the open slide), while layers are loaded,', () => {
  it('offers no undo of a local change when a reload of the layer brings a later change of another user', async () => {
    const { store, moveTo, x } = await openStore(async () => ({ kind: 'applied', revisions: { [id]: 2 } }));
    moveTo(50);
    await vi.waitFor(() => expect(store.find(key)?.revision).toBe(2), { timeout: 5000 });
    featuresOnServer = [featureAt(60, 3)];
    store.receiveChanges({ layer_id: 'layer', reload: true, changes: [], authors: {} });
    await vi.waitFor(() => expect(x()).toBe(60), { timeout: 5000 });
    expect(store.canUndo).toBe(false);
  });

  it('still offers the undo of a local change when a reload contains this change before the server has acknowledged it', async () => {
    const { store, moveTo, x } = await openStore();
    moveTo(50);
    featuresOnServer = [featureAt(50, 2, 'me')];
    await store.reloadOutdatedLayers([{ ...layer, version: 2 }]);
    store.undo();
    expect(x()).toBe(10);
  });

  it('undoes a change of two annotations completely when the server acknowledges the change during a reload of the layer', async () => {
    const featuresAt = (x: number, revision: number) => [
      featureAt(x, revision, 'me'),
      { ...featureAt(x, revision, 'me'), id: otherId },
    ];
    featuresOnServer = featuresAt(10, 1);
    const acknowledgement = Promise.withResolvers<ChangeOutcome>();
    const send = vi.fn<() => Promise<ChangeOutcome>>(() => acknowledgement.promise);
    const { store } = await openStore(send);
    const geometries = () => store.all().map(({ feature }) => feature.geometry);
    const geometriesBefore = geometries();
    store.change(
      store.all().map((annotation) => ({ id: annotation.id, feature: newFeature(annotation.feature.id) })),
    );
    await vi.waitFor(() => expect(send).toHaveBeenCalledOnce(), { timeout: 5000 });

    const lastFeature = JSON.stringify({ ...featureAt(90, 1), id: 'b3c1a7f2-5d0e-4c8b-9a6f-1e2d3c4b5a69' });
    const loadedFeatures = [...featuresAt(0, 2).map((feature) => JSON.stringify(feature)), lastFeature];
    const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>>();
    vi.stubGlobal('fetch', async () => new Response(readable as unknown as BodyInit));
    const writer = writable.getWriter();
    const write = (text: string) => writer.write(new TextEncoder().encode(text));
    const reloading = store.reloadOutdatedLayers([{ ...layer, version: 2 }]);
    const text = `{"version":2,"authors":{},"features":[${loadedFeatures.join()}]}`;
    const end = text.length - 10;
    await write(text.slice(0, end)); // without the end of the last feature
    acknowledgement.resolve({ kind: 'applied', revisions: { [id]: 2, [otherId]: 2 } });
    await vi.waitUntil(() => store.queue.state().kind === 'saved', { timeout: 5000 });
    await write(text.slice(end));
    await writer.close();
    await reloading;

    store.undo();
    expect(geometries().slice(0, 2)).toEqual(geometriesBefore);
  });

  it('lists every layer whose annotations cannot be loaded, also when several fail at the same time', async () => {
    const { store } = await openStore();
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
    await store.setLayers([layer, { ...layer, id: 'second' }, { ...layer, id: 'third' }], 'me');
    expect([...store.failedLayers].sort()).toEqual(['second', 'third']);
  });
});
