/** The change queue of the signed-in user, which continues to send changes of annotations after their slide is closed. */
import { createUuid } from '@lamina/annotations';
import type { AnnotationLayer } from '@lamina/contract';
import { createLayer, loadAnnotationLayers, sendChanges } from '../../api/annotations.ts';
import { authState } from '../../api/auth-state.ts';
import { ChangeQueue } from './change-queue.ts';
import { rememberPendingAnnotations } from './pending-flag.ts';
import { createPendingStorage } from './pending-storage.ts';
import { texts } from './texts.ts';

/** The queue of the last account; null before the first slide with annotations. `started` resolves when its storage is read. */
let current: { readonly uid: string; readonly queue: ChangeQueue; readonly started: Promise<void> } | null =
  null;

/** Returns the queue of an account. It contains the unsent changes that this browser has stored, and sends them at once. */
export async function queueOf(uid: string): Promise<ChangeQueue> {
  current = current?.uid === uid ? current : startQueue(uid);
  const { queue, started } = current;
  await started;
  queue.retry();
  return queue;
}

function startQueue(uid: string) {
  const queue = new ChangeQueue({
    storage: createPendingStorage(uid, createUuid()),
    send: sendChanges,
    createLayer: (imageId) => findOrCreateLayer(imageId, uid),
    isSignedIn: () => authState().isAuthenticated && authState().user?.uid === uid,
  });
  queue.listen({
    onApplied: () => {},
    onLayerCreated: () => {},
    // If the page is closed before all changes are sent, the next opened slide sends the others.
    onChange: () => rememberPendingAnnotations(queue.state().kind !== 'saved'),
  });
  return { uid, queue, started: queue.start() };
}

/** Creates a layer unless the user has one: another tab, or an earlier request whose response was lost, may have created it. */
async function findOrCreateLayer(imageId: string, uid: string): Promise<AnnotationLayer> {
  const layers = await loadAnnotationLayers(imageId);
  const ownLayer = layers.find(({ owner, rights }) => owner === uid && rights.annotate);
  return ownLayer ?? createLayer(imageId, texts.defaultLayerName);
}
