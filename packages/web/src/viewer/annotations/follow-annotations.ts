/**
 * The stream of changes that other users make to the annotations of the open slide (server-sent events). When the connection is
 * lost, a new stream resumes after the last received event. A hidden tab closes the connection and reconnects when it is visible.
 */
import { AppError } from '@lamina/contract';
import { annotationEventSchemas, loadAnnotationLayers, openAnnotationEvents } from '../../api/annotations.ts';
import type { AnnotationStore } from './annotation-store.ts';
import { readServerEvents, type ServerEvent } from './server-events.ts';

/** Delays before successive reconnects; the last delay repeats. */
const reconnectDelaysMs = [500, 1000, 2000, 5000, 10_000];
/** The server sends at least a comment every 10 s; a connection that stays silent longer than this is treated as lost. */
const silenceTimeoutMs = 25_000;

/**
 * Applies events to the store until the signal is aborted, or until the server denies access to the slide (401, 403, 404).
 *
 * @param uid id of the user's account
 */
export async function followAnnotations(
  store: AnnotationStore,
  uid: string,
  signal: AbortSignal,
): Promise<void> {
  let lastEventId: string | null = null; // null before the first event with an id
  /** Number of delays since a connection was last opened; the next delay is `reconnectDelaysMs[delayCount]`. */
  let delayCount = 0;
  while (!signal.aborted) {
    await untilVisible(signal);
    if (signal.aborted) return;
    const connectionAbort = new AbortController();
    const connectionSignal = AbortSignal.any([signal, connectionAbort.signal]);
    const closeWhenHidden = () => {
      if (document.hidden) connectionAbort.abort();
    };
    document.addEventListener('visibilitychange', closeWhenHidden);
    let silenceTimer: ReturnType<typeof setTimeout> | undefined;
    const restartSilenceTimer = () => {
      clearTimeout(silenceTimer);
      silenceTimer = setTimeout(() => connectionAbort.abort(), silenceTimeoutMs);
    };
    try {
      const stream = await openAnnotationEvents(store.imageId, lastEventId, connectionSignal);
      delayCount = 0;
      restartSilenceTimer();
      store.setLive(true);
      // A resumed stream also delivers missed changes, but not the removal of layers. A new stream delivers neither.
      const isResumed = lastEventId !== null;
      void refreshLayers(store, uid, isResumed, signal);
      for await (const event of readServerEvents(stream)) {
        restartSilenceTimer();
        if (event === null) continue; // a comment, which only shows that the connection works
        try {
          applyEvent(event, store);
        } catch {
          // A resumed stream would begin with this event again. A new stream loads the layers that the event may have changed.
          lastEventId = null;
          break;
        }
        if (event.id !== '') lastEventId = event.id;
      }
    } catch (error) {
      // With 401, the sign-in has ended; with 403 or 404, the account may not view the slide any more. After any other error, the loop reconnects.
      if (error instanceof AppError && (error.status === 404 || error.status === 401 || error.status === 403))
        return;
    } finally {
      clearTimeout(silenceTimer);
      document.removeEventListener('visibilitychange', closeWhenHidden);
      connectionAbort.abort();
      if (!signal.aborted) store.setLive(false);
    }
    await wait(reconnectDelaysMs[Math.min(delayCount++, reconnectDelaysMs.length - 1)] ?? 0, signal);
  }
}

/** Loads the layers of the slide. For a new stream, also reloads the annotations of layers that have changed on the server. */
async function refreshLayers(
  store: AnnotationStore,
  uid: string,
  isResumed: boolean,
  signal: AbortSignal,
): Promise<void> {
  try {
    const layers = await loadAnnotationLayers(store.imageId);
    if (signal.aborted) return;
    await store.setLayers(layers, uid);
    if (!isResumed) await store.reloadOutdatedLayers(layers);
  } catch {
    // The next connection loads the layers again.
  }
}

function applyEvent({ event, data }: ServerEvent, store: AnnotationStore): void {
  const eventData: unknown = JSON.parse(data);
  switch (event) {
    case 'layer': {
      const { layer } = annotationEventSchemas.layer.parse(eventData);
      store.receiveLayer(layer);
      return;
    }
    case 'layer-removed':
      store.removeLayer(annotationEventSchemas['layer-removed'].parse(eventData).layer_id);
      return;
    case 'annotations':
      store.receiveChanges(annotationEventSchemas.annotations.parse(eventData));
      return;
  }
}

/** Resolves when the page is visible or the signal is aborted. */
function untilVisible(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const resolveIfVisible = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', resolveIfVisible);
      resolve();
    };
    document.addEventListener('visibilitychange', resolveIfVisible);
    signal.addEventListener('abort', resolveIfVisible, { once: true });
  });
}

/** Resolves after `ms` milliseconds, or as soon as the signal is aborted. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
