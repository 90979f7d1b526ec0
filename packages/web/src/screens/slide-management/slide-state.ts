/** The states of a slide on the slides screen of administrators, and the actions that they allow without a dialog. */
import type { ManagedImage } from '@lamina/contract';
import type { BulkEdit } from '../../api/slides.ts';

/**
 * The state of a slide for administrators. `removed` takes precedence over `missing`, and `missing` over the others.
 *
 * - `ready`: the slide can be viewed
 * - `pending`: the server has not read the file yet
 * - `failed`: the server cannot read the file
 * - `missing`: the last scan did not find the file
 * - `removed`: an administrator has removed the slide from the catalogue
 */
export type SlideState = 'ready' | 'pending' | 'failed' | 'missing' | 'removed';

/** Returns the state of a slide. Whether members see the slide (`hidden`) is independent of the state. */
export function stateOf({ removed, missing, status }: ManagedImage): SlideState {
  if (removed) return 'removed';
  return missing ? 'missing' : status; // 'ready', 'pending' or 'failed'
}

/**
 * An action on one or more slides that needs no dialog. `restore` puts a removed slide back into the catalogue; `reingest` makes the
 * server read the file of a failed slide again.
 */
export type QuickAction = 'hide' | 'show' | 'restore' | 'reingest';

/** The change that each action sends to the server. */
export const quickChanges: Readonly<Record<QuickAction, BulkEdit>> = {
  hide: { hidden: true },
  show: { hidden: false },
  restore: { removed: false },
  reingest: { read_again: true },
};

/** Returns the slides that the action would change. */
export function slidesChangedBy(
  action: QuickAction,
  slides: readonly ManagedImage[],
): readonly ManagedImage[] {
  return slides.filter(isChangedBy[action]);
}

/** Whether an action would change a slide. */
const isChangedBy: Readonly<Record<QuickAction, (slide: ManagedImage) => boolean>> = {
  hide: ({ removed, hidden }) => !removed && !hidden,
  show: ({ removed, hidden }) => !removed && hidden,
  restore: ({ removed }) => removed,
  reingest: (slide) => stateOf(slide) === 'failed',
};
