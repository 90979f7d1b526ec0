import type { ManagedImage } from '@lamina/contract';
import type { ChangeOfMany } from '../../api/slides.ts';

/** What an administrator has to know of a slide first. */
export type SlideState = 'ready' | 'pending' | 'failed' | 'missing' | 'removed';

/** Whether it is hidden is another matter: a slide may be that beside any of these. */
export function stateOf({ removed, missing, status }: ManagedImage): SlideState {
  if (removed) return 'removed';
  return missing ? 'missing' : status;
}

/** What can be done to one or to many at the press of a button. */
export type QuickAction = 'hide' | 'show' | 'bringBack' | 'readAgain';

export const quickChanges: Readonly<Record<QuickAction, ChangeOfMany>> = {
  hide: { hidden: true },
  show: { hidden: false },
  bringBack: { removed: false },
  readAgain: { read_again: true },
};

/** Those of these slides that the action would change. */
export function changedBy(action: QuickAction, slides: readonly ManagedImage[]): readonly ManagedImage[] {
  return slides.filter(isChangedBy[action]);
}

const isChangedBy: Readonly<Record<QuickAction, (slide: ManagedImage) => boolean>> = {
  hide: ({ removed, hidden }) => !removed && !hidden,
  show: ({ removed, hidden }) => !removed && hidden,
  bringBack: ({ removed }) => removed,
  readAgain: (slide) => stateOf(slide) === 'failed',
};
