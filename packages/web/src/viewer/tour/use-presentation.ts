import type { PresentationEvent } from '@lamina/contract';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { endPresentation, receivePresentation, showToFollowers } from '../../api/presentations.ts';
import type { SlideView } from '../slide-view.ts';
import { fieldOf } from './steps.ts';

/** Shortest time between two fields of view that a presenter sends. */
const minSendIntervalMs = 60;
/** Interval at which a presenter's page sends the current event again: otherwise the server ends the presentation. */
const repeatIntervalMs = 20_000;
/** An event that has not changed for this time is no longer repeated, because the requests keep even an unattended page signed in. */
const repeatForMs = 30 * 60_000;
/** The event that ends a presentation. */
const endEvent: PresentationEvent = { field: null, item: null };

/** Whether the event shows a field or an item; the event that ends a presentation shows neither. */
function isShowing({ field, item }: PresentationEvent): boolean {
  return field !== null || item !== null;
}

interface PresentationInput {
  /** The collection that is presented; null when there is none. */
  readonly collectionId: string | null;
  /** Image session (the credential for loading pixels) of a share link; null for an account. */
  readonly session: string | null;
  readonly view: SlideView | null; // null before the slide is shown
  /** The item that the user sees now: its position in the collection, or an image id (see `itemOfStep`); null if there is none. */
  readonly item: PresentationEvent['item'];
  /** Called with each field or item of the presenter while the user follows. */
  readonly onShown: (event: PresentationEvent) => void;
}

interface Presentation {
  /** Whether another user, the owner of the collection, is presenting. */
  readonly isLive: boolean;
  /** Whether the user follows the current presentation, or would follow the next presentation. */
  readonly isFollowing: boolean;
  readonly setFollowing: (isFollowing: boolean) => void;
  readonly isPresenting: boolean; // whether this user is presenting
  readonly setPresenting: (isPresenting: boolean) => void;
}

/**
 * Connects a tour to the presentation of its collection. In a presentation, the owner of the collection (the presenter) shows it
 * live: the presenter's tour sends the field of view, and the tours of followers show the same field.
 */
export function usePresentation(input: PresentationInput): Presentation {
  const { collectionId, session, view, item, onShown } = input;
  const [lastEvent, setLastEvent] = useState<PresentationEvent>(endEvent);
  const [isFollowing, setFollowing] = useState(true);
  const [isPresenting, setPresenting] = useState(false);
  const isLive = !isPresenting && isShowing(lastEvent);

  const receive = useEffectEvent((event: PresentationEvent) => {
    setLastEvent(event);
    if (isPresenting || !isShowing(event)) return;
    // A user who stopped following one presentation follows the next one again.
    const isNewPresentation = !isShowing(lastEvent);
    if (isNewPresentation) setFollowing(true);
    if (isFollowing || isNewPresentation) onShown(event);
  });
  useEffect(() => {
    if (collectionId === null) return;
    return receivePresentation(collectionId, session, (event) => receive(event)); // returns the function that disconnects
  }, [collectionId, session]);

  useFieldSending(isPresenting ? collectionId : null, view, item);

  return {
    isLive,
    isFollowing,
    setFollowing: (next) => {
      setFollowing(next);
      if (next && isLive) onShown(lastEvent);
    },
    isPresenting,
    setPresenting,
  };
}

/**
 * Sends the field of view to the followers after each movement, one request at a time, and repeats it while it does not change. When the
 * page is closed, it ends the presentation.
 *
 * @param collectionId null sends nothing
 */
function useFieldSending(
  collectionId: string | null,
  view: SlideView | null,
  item: PresentationEvent['item'],
): void {
  /** Sends the current field and item, or marks them to be sent after the running request. */
  const send = useRef<() => void>(() => undefined);
  const currentEvent = useEffectEvent((): PresentationEvent => {
    const field = view?.destination() ?? null;
    return { field: field === null ? null : fieldOf(field), item };
  });

  useEffect(() => {
    if (collectionId === null) return;
    let isSending = false;
    let isChanged = false; // whether the field or item has changed since the last request began
    let isEnded = false;
    let lastChange = performance.now();
    /** Sends the current field and item, and sends them again as long as they have changed during the last request. */
    async function sendUntilCurrent(id: string) {
      if (isSending) return;
      isSending = true;
      while (isChanged && !isEnded) {
        isChanged = false;
        await Promise.all([
          showToFollowers(id, currentEvent()),
          new Promise((resolve) => setTimeout(resolve, minSendIntervalMs)),
        ]);
      }
      isSending = false;
      if (isEnded) await showToFollowers(id, endEvent); // after the last request, so that it arrives last
    }
    const sendCurrent = () => {
      isChanged = true;
      void sendUntilCurrent(collectionId);
    };
    send.current = () => {
      lastChange = performance.now();
      sendCurrent();
    };
    send.current();
    const repeatTimer = setInterval(() => {
      if (performance.now() - lastChange < repeatForMs) sendCurrent();
    }, repeatIntervalMs);
    // Browsers do not run the cleanup of an effect when a page is closed. If the page is shown again, the timer continues.
    const endOnClose = () => endPresentation(collectionId);
    window.addEventListener('pagehide', endOnClose);
    return () => {
      window.removeEventListener('pagehide', endOnClose);
      clearInterval(repeatTimer);
      isEnded = true;
      send.current = () => undefined;
      if (!isSending) void showToFollowers(collectionId, endEvent);
    };
  }, [collectionId]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: each new item is sent, too
  useEffect(() => send.current(), [item]);
  useEffect(() => {
    if (collectionId === null || view === null) return;
    send.current();
    return view.watch(() => send.current());
  }, [collectionId, view]);
}
