import { type RefObject, useEffect } from 'react';
import { type Half, linkViews, type OpenedView } from './link-views.ts';

/**
 * While both views are there and are to be linked, one follows the other.
 *
 * @param leader the half that a person moves; read at each step, so it has to be told before the step is made
 * @param occasion another one links them anew, as they lie then
 */
export function useLinkedViews(
  first: OpenedView | null,
  second: OpenedView | null,
  isLinked: boolean,
  leader: RefObject<Half>,
  occasion: string,
): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the occasion is what it waits for
  useEffect(() => {
    if (!isLinked || first === null || second === null) return;
    return linkViews({ first, second }, () => leader.current);
  }, [first, second, isLinked, leader, occasion]);
}
