/** The change queue of the signed-in user, which continues to send changes of annotations after their slide is closed. */
import { createUuid } from '@lamina/annotations';
import type { AnnotationLayer } from '@lamina/contract';
import { createLayer, loadAnnotationLayers, sendChanges } from '../../api/annotations.ts';
import { authState } from '../../api/auth-state.ts';
import { ChangeQueue } from './change-queue.ts';
import { rememberPendingAnnotations } from './pending-flag.ts';
import { createPendingStorage } from './pending-storage.ts';
import { texts } from './texts.ts';

/** The queue of the last account; null before the first one. `started` resolves when the stored changes are loaded. */
let current: { readonly uid: string; readonly queue: ChangeQueue; readonly started: Promise<void> } | null =
  null;

/** Returns the queue of an account, which immediately sends the unsent changes that this browser has stored. */
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
    // If the page is closed before all changes are sent, the remaining ones are sent when the user opens a slide again.
    onChange: () => rememberPendingAnnotations(queue.state().kind !== 'saved'),
  });
  return { uid, queue, started: queue.start() };
}

/** Returns the user's layer of a slide: the existing one (created, for example, by another tab), or else a new one. */
async function findOrCreateLayer(imageId: string, uid: string): Promise<AnnotationLayer> {
  const layers = await loadAnnotationLayers(imageId);
  const ownLayer = layers.find(({ owner, rights }) => owner === uid && rights.annotate);
  return ownLayer ?? createLayer(imageId, texts.defaultLayerName);
}
