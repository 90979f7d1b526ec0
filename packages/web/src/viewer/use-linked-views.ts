import { type RefObject, useEffect } from 'react';
import { type Half, linkViews, type OpenedView } from './link-views.ts';
import type { Affine } from './registered-field.ts';

/**
 * Links both views while both exist and linking is on.
 *
 * @param leader the side that the person moves; read at each step, so it must be set before the step
 * @param occasion a new value links them again, as they lie then
 * @param registration from pixels of the first to pixels of the second slide; null without one. Must be a stable object
 */
export function useLinkedViews(
  first: OpenedView | null,
  second: OpenedView | null,
  isLinked: boolean,
  leader: RefObject<Half>,
  occasion: string,
  registration: Affine | null,
): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new occasion links again
  useEffect(() => {
    if (!isLinked || first === null || second === null) return;
    return linkViews({ first, second }, () => leader.current, registration);
  }, [first, second, isLinked, leader, occasion, registration]);
}
