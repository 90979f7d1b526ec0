import type { FeatureJson } from '@lamina/annotations';
import { type AnnotationChange, type AnnotationLayer, AppError } from '@lamina/contract';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ChangeOutcome } from '../../api/annotations.ts';
import { ChangeQueue, type QueueListener } from './change-queue.ts';
import {
  annotationKey,
  newLayerId,
  type PendingBatch,
  type PendingChange,
  type WaitingChange,
} from './pending-change.ts';
import type { PendingStorage } from './pending-storage.ts';

const id = '6423a977-ffff-48db-affc-cd11632010f0';
const otherId = 'a9d3d08f-35cd-46d4-93d6-08d71feefaa6';

/** An annotation with one point, at (x, 0). */
const featureAt = (x: number, annotationId = id): FeatureJson => ({
  type: 'Feature',
  id: annotationId,
  geometry: { type: 'Point', coordinates: [x, 0] },
  properties: { objectType: 'annotation' },
});
/** A change that puts an annotation at (x, 0). @param base revision on the server to which it applies; null: a new annotation */
const put = (x: number, base: number | null = null, annotationId = id): PendingChange => ({
  id: annotationId,
  layerId: 'layer',
  imageId: 'image',
  base,
  feature: featureAt(x, annotationId),
});
/** A change that deletes the annotation. */
const remove = (base: number | null): PendingChange => ({ ...put(0, base), feature: null });

/** A storage that outlives a queue, as IndexedDB outlives a page. */
function memoryStorage(initiallyWaiting: readonly WaitingChange[] = []) {
  const waiting = new Set(initiallyWaiting);
  const changes = new Map<string, PendingChange>();
  const batches = new Map<string, PendingBatch>();
  const storage: PendingStorage = {
    load: async () => ({
      changes: [...changes.values()],
      batches: [...batches.values()],
      waiting: [...waiting],
    }),
    saveChange: async (change) => void changes.set(annotationKey(change), change),
    removeChange: async (change) => void changes.delete(annotationKey(change)),
    resumeChange: async (resumed) => {
      waiting.delete(resumed);
      changes.set(annotationKey(resumed.change), resumed.change);
    },
    moveChanges: async (moved, layerId) => {
      for (const change of moved) {
        changes.delete(annotationKey(change));
        changes.set(annotationKey({ ...change, layerId }), { ...change, layerId });
      }
    },
    startBatch: async (batch) => {
      batches.set(batch.layerId, batch);
      for (const change of batch.changes) changes.delete(annotationKey(change));
    },
    endBatch: async (layerId, remainingChanges) => {
      batches.delete(layerId);
      for (const change of remainingChanges) changes.set(annotationKey(change), change);
    },
  };
  return { storage, isEmpty: () => changes.size === 0 && batches.size === 0 && waiting.size === 0 };
}

/** A response of the server to a batch of changes. */
type ServerResponse = (changes: readonly AnnotationChange[]) => ChangeOutcome | Promise<ChangeOutcome>;

/** The server applies all changes of the batch; their annotations then have this revision. */
const applied =
  (revision: number): ServerResponse =>
  (changes) => ({
    kind: 'applied',
    revisions: Object.fromEntries(
      changes.map((change) => [change.op === 'put' ? change.feature.id : change.id, revision]),
    ),
  });
const unreachable: ServerResponse = () => ({ kind: 'unreachable' });

/** Creates a queue whose server gives these responses one after the other, and then repeats the last one. */
function queueWith(
  responses: ServerResponse[],
  { storage } = memoryStorage(),
  isSignedIn = () => true,
  createLayer: () => Promise<AnnotationLayer> = async () => ({ id: 'created' }) as AnnotationLayer,
) {
  const sent: { readonly layerId: string; readonly changes: readonly AnnotationChange[] }[] = [];
  const queue = new ChangeQueue({
    storage,
    isSignedIn,
    createLayer,
    send: async (layerId, changes) => {
      sent.push({ layerId, changes });
      const response = responses.length > 1 ? responses.shift() : responses[0];
      return response === undefined ? { kind: 'unreachable' } : response(changes);
    },
  });
  return { queue, sent };
}

const noListener: QueueListener = {
  onApplied: () => {},
  onLayerCreated: () => {},
  onResumed: () => {},
  onDiscarded: () => {},
  onChange: () => {},
};

const untilSaved = (queue: ChangeQueue) =>
  vi.waitUntil(() => queue.state().kind === 'saved', { timeout: 5000 });

describe('ChangeQueue (annotation changes that wait to be sent)', () => {
  it('sends, within 1 s, only the latest version of an annotation that changes twice in succession', async () => {
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const memory = memoryStorage();
    const { queue, sent } = queueWith([applied(1)], memory);
    queue.add(put(1));
    queue.add(put(2));
    expect(queue.state()).toEqual({ kind: 'saving', count: 1 });
    await vi.advanceTimersByTimeAsync(1000);
    expect(queue.state()).toEqual({ kind: 'saved' });
    expect(sent).toEqual([
      { layerId: 'layer', changes: [{ op: 'put', feature: featureAt(2), base_revision: null }] },
    ]);
    await vi.waitUntil(memory.isEmpty);
  });

  it('sends no further batch when the account of the queue signs out while a batch is being sent', async () => {
    let isSignedIn = true;
    const signOut: ServerResponse = (changes) => {
      isSignedIn = false;
      return applied(1)(changes);
    };
    const { queue, sent } = queueWith([signOut], memoryStorage(), () => isSignedIn);
    queue.add(put(1));
    queue.add({ ...put(2, null, otherId), layerId: 'other layer' });
    await vi.waitUntil(() => !queue.isPending('layer', id));
    queue.retry();
    await new Promise((resolve) => setTimeout(resolve, 50)); // the queue sends without delay if it sends at all
    expect(sent.map(({ layerId }) => layerId)).toEqual(['layer']);
    expect(queue.state()).toEqual({ kind: 'saving', count: 1 });
  });

  it('keeps and sends both pending changes when an annotation of one slide and one of another slide have the same id', async () => {
    const memory = memoryStorage();
    const { queue: queueOfClosedPage } = queueWith([unreachable], memory);
    const changes = [put(1, 1), { ...put(2, 1), layerId: 'layer of another slide', imageId: 'other image' }];
    for (const change of changes) queueOfClosedPage.add(change);
    expect(queueOfClosedPage.state()).toEqual({ kind: 'saving', count: 2 });
    await vi.waitUntil(() => queueOfClosedPage.state().kind === 'offline');

    const { queue, sent } = queueWith([applied(2)], memory);
    await queue.start();
    await untilSaved(queue);
    expect(sent).toEqual(
      changes.map(({ layerId, feature }) => ({
        layerId,
        changes: [{ op: 'put', feature, base_revision: 1 }],
      })),
    );
  });

  it('divides changes of more than 4 MiB into several requests', async () => {
    const { queue, sent } = queueWith([applied(1)]);
    const positions = Array.from({ length: 50_000 }, (_, index) => [123456.78, index] as const);
    for (let number = 0; number < 10; number++) {
      const annotationId = `6423a977-ffff-48db-affc-cd11632010f${number}`;
      const feature = featureAt(0, annotationId);
      queue.add({
        ...put(0, null, annotationId),
        feature: { ...feature, geometry: { type: 'LineString', coordinates: positions } },
      });
    }
    await untilSaved(queue);
    expect(sent.map(({ changes }) => changes.length)).toEqual([3, 3, 3, 1]);
    for (const { changes } of sent) expect(JSON.stringify(changes).length).toBeLessThan(4 * 2 ** 20);
  });

  it('divides a batch into smaller ones when the server answers 413 (request too large)', async () => {
    const error = new AppError('too_large');
    const tooLarge =
      (limit: number): ServerResponse =>
      (changes) =>
        changes.length > limit ? { kind: 'rejected', error } : applied(1)(changes);
    const { queue, sent } = queueWith([tooLarge(2)]);
    for (let number = 0; number < 5; number++)
      queue.add(put(0, null, `6423a977-ffff-48db-affc-cd11632010f${number}`));
    await untilSaved(queue);
    expect(sent.map(({ changes }) => changes.length)).toEqual([5, 2, 2, 1]);
  });

  it('holds back a change that the server rejects with 413 even alone, and sends the other changes of the layer', async () => {
    const error = new AppError('too_large');
    const rejectsLarge: ServerResponse = (changes) =>
      changes.some((change) => change.op === 'put' && change.feature.id === id)
        ? { kind: 'rejected', error }
        : applied(1)(changes);
    const memory = memoryStorage();
    const { queue, sent } = queueWith([rejectsLarge], memory);
    queue.add(put(1));
    queue.add(put(2, null, otherId));
    await vi.waitUntil(() => queue.state().kind === 'too-large' && !queue.isPending('layer', otherId));
    expect(queue.state()).toEqual({ kind: 'too-large', count: 1, changes: [put(1)] });
    queue.add(put(3, 1, otherId));
    await vi.waitUntil(() => !queue.isPending('layer', otherId));
    const sentBefore = sent.length;
    queue.add(put(4)); // a change of the large annotation is sent: it may be smaller now
    await vi.waitUntil(() => sent.length > sentBefore && queue.state().kind === 'too-large');
    queue.discard();
    expect(queue.state()).toEqual({ kind: 'saved' });
    await vi.waitUntil(memory.isEmpty);
  });

  it('does not send a change of more than 16 MiB, and sends the other changes of the layer', async () => {
    const { queue, sent } = queueWith([applied(1)]);
    const positions = Array.from({ length: 900_000 }, (_, index) => [123456.78, index + 0.25] as const);
    const large: PendingChange = {
      ...put(0),
      feature: { ...featureAt(0), geometry: { type: 'LineString', coordinates: positions } },
    };
    queue.add(large);
    queue.add(put(2, null, otherId));
    await vi.waitUntil(() => queue.state().kind === 'too-large' && !queue.isPending('layer', otherId), {
      timeout: 5000,
    });
    expect(queue.state()).toEqual({ kind: 'too-large', count: 1, changes: [large] });
    expect(sent.map(({ changes }) => changes)).toEqual([
      [{ op: 'put', feature: featureAt(2, otherId), base_revision: null }],
    ]);
  });

  it('does not send an annotation that is deleted before it was sent', async () => {
    const { queue, sent } = queueWith([applied(1)]);
    queue.add(put(1));
    queue.add(remove(null));
    expect(queue.state()).toEqual({ kind: 'saved' });
    await new Promise((resolve) => setTimeout(resolve, 400)); // longer than the delay before sending, 300 ms
    expect(sent).toEqual([]);
  });

  it('resends a batch unchanged when it got no response, before it sends changes made in the meantime', async () => {
    const { queue, sent } = queueWith([unreachable, applied(1), applied(2)]);
    queue.add(put(1));
    await vi.waitUntil(() => queue.state().kind === 'offline');
    queue.add(put(2));
    expect(queue.state()).toEqual({ kind: 'offline', count: 1 });
    queue.retry();
    await untilSaved(queue);
    const [firstBatch, resentBatch, laterBatch] = sent;
    expect(resentBatch).toEqual(firstBatch);
    expect(laterBatch?.changes).toEqual([{ op: 'put', feature: featureAt(2), base_revision: 1 }]);
  });

  it('sends the deletion of an annotation only after the server has acknowledged the creation of the annotation', async () => {
    const response = Promise.withResolvers<ChangeOutcome>();
    const { queue, sent } = queueWith([() => response.promise, applied(2)]);
    queue.add(put(1));
    await vi.waitUntil(() => sent.length === 1);
    queue.add(remove(null));
    response.resolve({ kind: 'applied', revisions: { [id]: 1 } });
    await untilSaved(queue);
    expect(sent[1]?.changes).toEqual([{ op: 'delete', id, base_revision: 1 }]);
  });

  it('sends changes that were stored before the page was reloaded, beginning with the batch that got no response', async () => {
    const memory = memoryStorage();
    const { queue: queueOfClosedPage } = queueWith([unreachable], memory);
    queueOfClosedPage.add(put(1));
    await vi.waitUntil(() => queueOfClosedPage.state().kind === 'offline');
    queueOfClosedPage.add(put(2));
    await vi.waitUntil(async () => (await memory.storage.load()).changes.length === 1);

    const { queue, sent } = queueWith([applied(1), applied(2)], memory);
    await queue.start();
    expect(queue.pendingOf('image').get(annotationKey(put(2)))?.feature).toEqual(featureAt(2));
    await untilSaved(queue);
    expect(sent.map(({ changes }) => changes)).toEqual([
      [{ op: 'put', feature: featureAt(1), base_revision: null }],
      [{ op: 'put', feature: featureAt(2), base_revision: 1 }],
    ]);
  });

  it('holds back a change that conflicts with the version on the server, and sends the other changes', async () => {
    const theirs = { ...featureAt(9), properties: { revision: 5 } };
    const { queue, sent } = queueWith([() => ({ kind: 'conflict', conflicts: [theirs] }), applied(1)]);
    queue.add(put(1, 3));
    queue.add(put(2, null, otherId));
    await vi.waitUntil(() => sent.length === 2);
    expect(sent[1]?.changes).toEqual([{ op: 'put', feature: featureAt(2, otherId), base_revision: null }]);
    expect(queue.conflicts()).toEqual([{ mine: put(1, 3), theirs }]);
  });

  it('sends the local version, based on the revision on the server, when the user chooses the local version in a conflict', async () => {
    const theirs = { ...featureAt(9), properties: { revision: 5 } };
    const { queue, sent } = queueWith([() => ({ kind: 'conflict', conflicts: [theirs] }), applied(6)]);
    queue.add(put(1, 3));
    const conflict = await vi.waitUntil(() => queue.conflicts()[0]);
    queue.resolve(conflict, 'mine', 5);
    await untilSaved(queue);
    expect(sent[1]?.changes).toEqual([{ op: 'put', feature: featureAt(1), base_revision: 5 }]);
    expect(queue.conflicts()).toEqual([]);
  });

  it('drops the local version when the user chooses the version on the server in a conflict', async () => {
    const memory = memoryStorage();
    const theirs = { ...featureAt(9), properties: { revision: 5 } };
    const { queue, sent } = queueWith([() => ({ kind: 'conflict', conflicts: [theirs] })], memory);
    queue.add(put(1, 3));
    const conflict = await vi.waitUntil(() => queue.conflicts()[0]);
    queue.resolve(conflict, 'theirs', 5);
    expect(queue.state()).toEqual({ kind: 'saved' });
    expect(sent).toHaveLength(1);
    await vi.waitUntil(memory.isEmpty);
  });

  it('sends the change of a second closed tab after the change of a first one, and reports the conflict between both', async () => {
    const memory = memoryStorage([{ change: put(2, 1), recordId: 'waiting' }]);
    await memory.storage.saveChange(put(1, 1));
    const theirs = { ...featureAt(1), properties: { revision: 2 } };
    const { queue, sent } = queueWith(
      [applied(2), () => ({ kind: 'conflict', conflicts: [theirs] }), applied(3)],
      memory,
    );
    const onResumed = vi.fn<QueueListener['onResumed']>();
    queue.listen({ ...noListener, onResumed });
    await queue.start();
    expect(queue.state()).toEqual({ kind: 'saving', count: 1 });
    const conflict = await vi.waitUntil(() => queue.conflicts()[0]);
    expect(sent.map(({ changes }) => changes)).toEqual([
      [{ op: 'put', feature: featureAt(1), base_revision: 1 }],
      [{ op: 'put', feature: featureAt(2), base_revision: 1 }],
    ]);
    expect(conflict).toEqual({ mine: put(2, 1), theirs });
    expect(onResumed.mock.calls).toEqual([[put(2, 1)]]);
    queue.resolve(conflict, 'mine', 2);
    await untilSaved(queue);
    expect(sent.at(-1)?.changes).toEqual([{ op: 'put', feature: featureAt(2), base_revision: 2 }]);
    await vi.waitUntil(memory.isEmpty);
  });

  it('sends a waiting change after the user has discarded the rejected change for which it waits', async () => {
    const memory = memoryStorage([{ change: put(2, 1), recordId: 'waiting' }]);
    await memory.storage.saveChange(put(1, 1));
    const error = new AppError('layer_locked');
    const { queue, sent } = queueWith([() => ({ kind: 'rejected', error }), applied(2)], memory);
    await queue.start();
    await vi.waitUntil(() => queue.state().kind === 'rejected');
    queue.discard();
    await untilSaved(queue);
    expect(sent.at(-1)?.changes).toEqual([{ op: 'put', feature: featureAt(2), base_revision: 1 }]);
  });

  it('creates a layer before it sends the first annotation of a user on a slide', async () => {
    const { queue, sent } = queueWith([applied(1)]);
    const onLayerCreated = vi.fn<QueueListener['onLayerCreated']>();
    queue.listen({ ...noListener, onLayerCreated });
    queue.add({ ...put(1), layerId: newLayerId('image') });
    await untilSaved(queue);
    expect(sent[0]?.layerId).toBe('created');
    expect(onLayerCreated).toHaveBeenCalledWith(newLayerId('image'), { id: 'created' });
  });

  it('keeps changes that the server has rejected, and sends these again only when the user retries', async () => {
    const error = new AppError('layer_locked');
    const { queue } = queueWith([() => ({ kind: 'rejected', error }), applied(1)]);
    queue.add(put(1));
    await vi.waitUntil(() => queue.state().kind === 'rejected');
    expect(queue.state()).toEqual({ kind: 'rejected', count: 1, error });
    queue.retry();
    await untilSaved(queue);
  });

  it('sends the changes of a layer although the server has rejected the changes of another, locked layer', async () => {
    const error = new AppError('layer_locked');
    const { queue, sent } = queueWith([() => ({ kind: 'rejected', error }), applied(1), unreachable]);
    queue.add({ ...put(1), layerId: 'locked layer' });
    await vi.waitUntil(() => queue.state().kind === 'rejected');
    queue.add(put(2, null, otherId));
    await vi.waitUntil(() => sent.length === 2);
    expect(sent.map(({ layerId }) => layerId)).toEqual(['locked layer', 'layer']);
    await vi.waitUntil(() => !queue.isPending('layer', otherId));
    expect(queue.state()).toEqual({ kind: 'rejected', count: 1, error });
    queue.add(put(3, 1, otherId));
    const onDiscarded = vi.fn<QueueListener['onDiscarded']>();
    queue.listen({ ...noListener, onDiscarded });
    queue.discard();
    expect(onDiscarded.mock.calls).toEqual([[[{ ...put(1), layerId: 'locked layer' }]]]);
    expect([...queue.pendingOf('image').values()]).toEqual([put(3, 1, otherId)]);
  });

  it('sends the changes of an existing layer when the server rejects the creation of another layer', async () => {
    const refuse = () => Promise.reject(new AppError('forbidden'));
    const { queue, sent } = queueWith([applied(1)], memoryStorage(), () => true, refuse);
    queue.add({ ...put(1), layerId: newLayerId('image') });
    queue.add(put(2, null, otherId));
    await vi.waitUntil(() => sent.length === 1);
    await vi.waitUntil(() => !queue.isPending('layer', otherId));
    expect(queue.state()).toMatchObject({ kind: 'rejected', count: 1 });
  });

  it('sends the changes of an account only while this account is signed in', async () => {
    let isSignedIn = false;
    const { queue, sent } = queueWith([applied(1)], memoryStorage(), () => isSignedIn);
    queue.add(put(1));
    await new Promise((resolve) => setTimeout(resolve, 400)); // longer than the delay before sending, 300 ms
    expect(sent).toEqual([]);
    isSignedIn = true;
    queue.retry();
    await untilSaved(queue);
  });
});
