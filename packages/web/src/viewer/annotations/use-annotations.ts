import { useEffect, useState, useSyncExternalStore } from 'react';
import { invalidateAnnotationCount } from '../../api/annotated-slides.ts';
import { useAnnotationLayers } from '../../api/annotations.ts';
import { AnnotationStore } from './annotation-store.ts';
import { DrawingSession } from './drawing-session.ts';
import { followAnnotations } from './follow-annotations.ts';
import { HitIndex } from './hit-index.ts';
import { queueOf } from './queues.ts';

/** The annotations of the open slide, the state of drawing on it, and the index that finds annotations by position. */
export interface SlideAnnotations {
  readonly store: AnnotationStore;
  readonly session: DrawingSession;
  readonly hitIndex: HitIndex;
}

/**
 * Opens the annotations of a slide, and follows the changes of other users until the component is unmounted.
 *
 * @param uid id of the user's account
 * @returns null until the unsent changes that this browser has stored are read
 */
export function useAnnotations(imageId: string, uid: string): SlideAnnotations | null {
  const [slideAnnotations, setSlideAnnotations] = useState<SlideAnnotations | null>(null);
  useEffect(() => {
    let isClosed = false;
    let openedStore: AnnotationStore | null = null;
    let stopListening = () => {};
    void queueOf(uid).then((queue) => {
      if (isClosed) return;
      openedStore = new AnnotationStore(imageId, queue);
      stopListening = queue.listen({
        onApplied: () => invalidateAnnotationCount(imageId), // updates the number of annotations in the catalogue
        onLayerCreated: () => {},
        onResumed: () => {},
        onDiscarded: () => {},
        onChange: () => {},
      });
      const hitIndex = new HitIndex();
      openedStore.listen((ids) => hitIndex.invalidate(ids));
      setSlideAnnotations({ store: openedStore, session: new DrawingSession(openedStore), hitIndex });
    });
    return () => {
      isClosed = true;
      stopListening();
      openedStore?.close();
      setSlideAnnotations(null);
    };
  }, [imageId, uid]);

  // `AnnotationsGate` has made the same query, so the layers are usually available before the event stream is connected.
  const { data: layers } = useAnnotationLayers(imageId);
  const store = slideAnnotations?.store;
  useEffect(() => {
    if (store === undefined) return;
    const connection = new AbortController();
    void followAnnotations(store, uid, connection.signal);
    return () => connection.abort();
  }, [store, uid]);
  useEffect(() => {
    if (store === undefined || layers === undefined) return;
    void store.setLayers(layers, uid);
  }, [store, layers, uid]);
  return slideAnnotations;
}

/** Renders a component again after each change of the annotations. @returns a number that each change increments */
export function useStoreVersion(store: AnnotationStore): number {
  return useSyncExternalStore(store.listen, () => store.version);
}

/**
 * Renders a component again only when one value of the store changes, not after each change of the annotations.
 *
 * @param readValue must return the same primitive or object while the value has not changed
 */
export function useStoreValue<Value>(
  store: AnnotationStore,
  readValue: (store: AnnotationStore) => Value,
): Value {
  return useSyncExternalStore(store.listen, () => readValue(store));
}

/** Renders a component again only when one value of the drawing state changes, as `useStoreValue` does for the store. */
export function useSessionValue<Value>(
  session: DrawingSession,
  readValue: (session: DrawingSession) => Value,
): Value {
  return useSyncExternalStore(session.listen, () => readValue(session));
}
