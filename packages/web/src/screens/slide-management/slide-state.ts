import type { ManagedImage } from '@lamina/contract';
import type { BulkEdit } from '../../api/slides.ts';

/** The most important state of a slide for an administrator; each slide has exactly one. */
export type SlideState = 'ready' | 'pending' | 'failed' | 'missing' | 'removed';

/** Returns the state of a slide. Whether members see the slide (`hidden`) is independent of it. */
export function stateOf({ removed, missing, status }: ManagedImage): SlideState {
  if (removed) return 'removed';
  return missing ? 'missing' : status; // 'ready', 'pending' or 'failed'
}

/** An action on one or many slides that needs no dialog. */
export type QuickAction = 'hide' | 'show' | 'bringBack' | 'readAgain';

export const quickChanges: Readonly<Record<QuickAction, BulkEdit>> = {
  hide: { hidden: true },
  show: { hidden: false },
  bringBack: { removed: false },
  readAgain: { read_again: true },
};

/** Returns the slides that the action would change. */
export function slidesChangedBy(
  action: QuickAction,
  slides: readonly ManagedImage[],
): readonly ManagedImage[] {
  return slides.filter(isChangedBy[action]);
}

const isChangedBy: Readonly<Record<QuickAction, (slide: ManagedImage) => boolean>> = {
  hide: ({ removed, hidden }) => !removed && !hidden,
  show: ({ removed, hidden }) => !removed && hidden,
  bringBack: ({ removed }) => removed,
  readAgain: (slide) => stateOf(slide) === 'failed',
};
