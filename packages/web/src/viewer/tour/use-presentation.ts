import type { PresentationEvent } from '@lamina/contract';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { follow, showToFollowers } from '../../api/presentations.ts';
import type { SlideView } from '../slide-view.ts';
import { fieldOf } from './steps.ts';

/** Shortest time between two fields that a presenter sends. */
const sendEveryMs = 60;
const nothing: PresentationEvent = { field: null, item: null };

function isShowing({ field, item }: PresentationEvent): boolean {
  return field !== null || item !== null;
}

interface PresentationInput {
  /** Null without a collection, when nothing can be presented or followed. */
  readonly collectionId: string | null;
  /** Image session of a share link; null for an account. */
  readonly session: string | null;
  readonly view: SlideView | null;
  /** Item that the person sees now. */
  readonly item: PresentationEvent['item'];
  /** Called with each event while the person follows. */
  readonly onShown: (event: PresentationEvent) => void;
}

interface Presentation {
  /** Whether the owner presents now. */
  readonly isLive: boolean;
  readonly isFollowing: boolean;
  readonly setFollowing: (isFollowing: boolean) => void;
  readonly isPresenting: boolean;
  readonly setPresenting: (isPresenting: boolean) => void;
}

/** Sends the field of the presenter to everyone who follows, and shows it to those who do. */
export function usePresentation(input: PresentationInput): Presentation {
  const { collectionId, session, view, item, onShown } = input;
  const [shown, setShown] = useState<PresentationEvent>(nothing);
  const [isFollowing, setFollowing] = useState(true);
  const [isPresenting, setPresenting] = useState(false);
  const isLive = !isPresenting && isShowing(shown);

  const receive = useEffectEvent((event: PresentationEvent) => {
    setShown(event);
    if (isPresenting || !isShowing(event)) return;
    // A person who left one presentation follows the next one.
    if (!isShowing(shown)) setFollowing(true);
    if (isFollowing || !isShowing(shown)) onShown(event);
  });
  useEffect(() => {
    if (collectionId === null) return;
    return follow(collectionId, session, (event) => receive(event));
  }, [collectionId, session]);

  usePresenting(isPresenting ? collectionId : null, view, item);

  return {
    isLive,
    isFollowing,
    setFollowing: (next) => {
      setFollowing(next);
      if (next && isLive) onShown(shown);
    },
    isPresenting,
    setPresenting,
  };
}

/** Sends the field of the view after each movement, one request at a time. @param collectionId null: nothing is sent */
function usePresenting(
  collectionId: string | null,
  view: SlideView | null,
  item: PresentationEvent['item'],
): void {
  const send = useRef<() => void>(() => undefined);
  const present = useEffectEvent((): PresentationEvent => {
    const field = view?.destination() ?? null;
    return { field: field === null ? null : fieldOf(field), item };
  });

  useEffect(() => {
    if (collectionId === null) return;
    let isSending = false;
    let isChanged = false;
    let isEnded = false;
    async function run(id: string) {
      if (isSending) return;
      isSending = true;
      while (isChanged && !isEnded) {
        isChanged = false;
        await Promise.all([
          showToFollowers(id, present()),
          new Promise((resolve) => setTimeout(resolve, sendEveryMs)),
        ]);
      }
      isSending = false;
      if (isEnded) await showToFollowers(id, nothing);
    }
    send.current = () => {
      isChanged = true;
      void run(collectionId);
    };
    send.current();
    return () => {
      isEnded = true;
      send.current = () => undefined;
      if (!isSending) void showToFollowers(collectionId, nothing);
    };
  }, [collectionId]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new item is sent too
  useEffect(() => send.current(), [item]);
  useEffect(() => {
    if (collectionId === null || view === null) return;
    send.current();
    return view.watch(() => send.current());
  }, [collectionId, view]);
}
