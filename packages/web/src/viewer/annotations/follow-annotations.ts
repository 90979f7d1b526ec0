/**
 * Shows the changes of other people while a slide is open. The stream continues after the last event that arrived; a hidden
 * tab closes it and continues when it is shown again.
 */
import { AppError } from '@lamina/contract';
import { annotationEvents, loadAnnotationLayers, openAnnotationEvents } from '../../api/annotations.ts';
import type { AnnotationStore } from './annotation-store.ts';
import { readServerEvents, type ServerEvent } from './server-events.ts';

const reconnectMs = [500, 1000, 2000, 5000, 10_000];
/** The server sends a comment every 10 s; a connection without one is dead. */
const silenceMs = 25_000;

export async function followAnnotations(
  store: AnnotationStore,
  uid: string,
  end: AbortSignal,
): Promise<void> {
  let lastEventId: string | null = null;
  let failures = 0;
  while (!end.aborted) {
    await untilVisible(end);
    if (end.aborted) return;
    const connection = new AbortController();
    const signal = AbortSignal.any([end, connection.signal]);
    const closeWhenHidden = () => {
      if (document.hidden) connection.abort();
    };
    document.addEventListener('visibilitychange', closeWhenHidden);
    let silence: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => connection.abort(), silenceMs);
    };
    try {
      const stream = await openAnnotationEvents(store.imageId, lastEventId, signal);
      failures = 0;
      heard();
      store.setLive(true);
      // Layers that were removed, and what happened before the first connection, are not among the events.
      void refreshLayers(store, uid, lastEventId === null, end);
      for await (const event of readServerEvents(stream)) {
        heard();
        if (event === null) continue;
        apply(event, store);
        if (event.id !== '') lastEventId = event.id;
      }
    } catch (error) {
      // The slide may not be viewed any more, or the sign-in has ended.
      if (error instanceof AppError && (error.status === 404 || error.status === 401 || error.status === 403))
        return;
    } finally {
      clearTimeout(silence);
      document.removeEventListener('visibilitychange', closeWhenHidden);
      connection.abort();
      if (!end.aborted) store.setLive(false);
    }
    await wait(reconnectMs[Math.min(failures++, reconnectMs.length - 1)] ?? 0, end);
  }
}

async function refreshLayers(
  store: AnnotationStore,
  uid: string,
  isFirst: boolean,
  signal: AbortSignal,
): Promise<void> {
  try {
    const layers = await loadAnnotationLayers(store.imageId);
    if (signal.aborted) return;
    await store.setLayers(layers, uid);
    if (isFirst) await store.reloadOlderLayers(layers);
  } catch {
    // The next connection does it.
  }
}

function apply({ event, data }: ServerEvent, store: AnnotationStore): void {
  const value: unknown = JSON.parse(data);
  switch (event) {
    case 'layer': {
      const { layer } = annotationEvents.layer.parse(value);
      store.receiveLayer(layer);
      return;
    }
    case 'layer-removed':
      store.removeLayer(annotationEvents['layer-removed'].parse(value).layer_id);
      return;
    case 'annotations':
      store.receiveChanges(annotationEvents.annotations.parse(value));
      return;
  }
}

function untilVisible(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const check = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', check);
      resolve();
    };
    document.addEventListener('visibilitychange', check);
    signal.addEventListener('abort', check, { once: true });
  });
}

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
