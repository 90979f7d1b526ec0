import { type RefObject, useCallback, useEffect, useRef } from 'react';
import { type Half, type LinkedViews, linkViews, type OpenedView } from './link-views.ts';
import type { Affine } from './registered-field.ts';

/**
 * Links both views while both exist and linking is on.
 *
 * @param leader the side that the person moves; read at each step, so it must be set before the step
 * @param occasion a new value links them again, as they lie then
 * @param registration from pixels of the first to pixels of the second slide; null without one. Must be a stable object
 * @returns a function that completes a running movement at once, to be called before the leader changes
 */
export function useLinkedViews(
  first: OpenedView | null,
  second: OpenedView | null,
  isLinked: boolean,
  leader: RefObject<Half>,
  occasion: string,
  registration: Affine | null,
): () => void {
  const linked = useRef<LinkedViews | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new occasion links again
  useEffect(() => {
    if (!isLinked || first === null || second === null) return;
    const views = linkViews({ first, second }, () => leader.current, registration);
    linked.current = views;
    return () => {
      linked.current = null;
      views?.unlink();
    };
  }, [first, second, isLinked, leader, occasion, registration]);
  return useCallback(() => linked.current?.completeMovement(), []);
}
