/** The change queues, one per account. A queue continues to send changes of annotations after their slide is closed. */
import { createUuid } from '@lamina/annotations';
import type { AnnotationLayer } from '@lamina/contract';
import { createLayer, loadAnnotationLayers, sendChanges } from '../../api/annotations.ts';
import { authState } from '../../api/auth-state.ts';
import { ChangeQueue } from './change-queue.ts';
import { createPendingStorage } from './pending-storage.ts';
import { texts } from './texts.ts';

/** A queue, and a promise that resolves when its stored changes are loaded. */
interface StartedQueue {
  readonly queue: ChangeQueue;
  readonly started: Promise<void>;
}

/**
 * The queues by account id. An account that signs in again gets the same queue. A new queue could not take over the changes that
 * the first queue has stored: the page holds the Web Lock of the first queue until the page is closed, and until then the changes
 * count as those of another open tab.
 */
const queues = new Map<string, StartedQueue>();

/** Returns the queue of an account, after the queue has read the changes that this browser has stored. Sends all unsent changes now. */
export async function queueOf(uid: string): Promise<ChangeQueue> {
  const { queue, started } = queues.get(uid) ?? startQueue(uid);
  await started;
  queue.retry();
  return queue;
}

function startQueue(uid: string): StartedQueue {
  const queue = new ChangeQueue({
    storage: createPendingStorage(uid, createUuid()),
    send: sendChanges,
    createLayer: (imageId) => findOrCreateLayer(imageId, uid),
    isSignedIn: () => isSignedInAs(uid),
  });
  const startedQueue = { queue, started: queue.start() };
  queues.set(uid, startedQueue);
  return startedQueue;
}

const isSignedInAs = (uid: string) => authState().isAuthenticated && authState().user?.uid === uid;

/** Returns a layer of the slide that the user owns and may draw on (another tab may have created one). Otherwise creates a layer. */
async function findOrCreateLayer(imageId: string, uid: string): Promise<AnnotationLayer> {
  const layers = await loadAnnotationLayers(imageId);
  const ownLayer = layers.find(({ owner, rights }) => owner === uid && rights.annotate);
  if (ownLayer !== undefined) return ownLayer;
  if (!isSignedInAs(uid)) throw new Error('Another account has signed in, which would own the new layer.');
  return createLayer(imageId, texts.defaultLayerName);
}
