/** React hook around link-views.ts, for the comparison of two slides side by side. */
import { type RefObject, useCallback, useEffect, useRef } from 'react';
import { type Half, type LinkedViews, linkViews, type OpenedView } from './link-views.ts';
import type { Affine } from './registered-field.ts';

/**
 * Links two views that are compared side by side: the view that the user does not move follows the movements of the other view. The
 * views are linked while both have an open slide and `isLinked` is true.
 *
 * @param first the view on the left; null while it has no open slide
 * @param second the view on the right; null while it has no open slide
 * @param leader the side that the user moves; `useLinkedViews` reads it at each step of a movement
 * @param historyStep identifies the last step back or forward in the browser history. When it changes, the views are linked again: the
 *   parts of the slides that they show at that moment then correspond to each other
 * @param registration the transformation from pixels of the first to pixels of the second slide; null if there is none. Must be a
 *   stable object
 * @returns a function that completes a running movement immediately; it must be called before the leader changes
 */
export function useLinkedViews(
  first: OpenedView | null,
  second: OpenedView | null,
  isLinked: boolean,
  leader: RefObject<Half>,
  historyStep: string,
  registration: Affine | null,
): () => void {
  const linkedViews = useRef<LinkedViews | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: after a step in the browser history, the views are linked again
  useEffect(() => {
    if (!isLinked || first === null || second === null) return;
    const views = linkViews({ first, second }, () => leader.current, registration);
    linkedViews.current = views;
    return () => {
      linkedViews.current = null;
      views?.unlink();
    };
  }, [first, second, isLinked, leader, historyStep, registration]);
  return useCallback(() => linkedViews.current?.completeMovement(), []);
}
