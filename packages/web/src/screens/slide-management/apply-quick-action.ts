import type { ManagedImage } from '@lamina/contract';
import { changeSlides } from '../../api/slides.ts';
import { announce } from '../../notifications/notify.ts';
import { type QuickAction, quickChanges } from './slide-state.ts';

/** Applies an action that needs no dialog to slides, and shows the result as a toast. @returns whether the action succeeded */
export async function applyQuickAction(
  action: QuickAction,
  slides: readonly ManagedImage[],
): Promise<boolean> {
  const ids = slides.map(({ id }) => id);
  const result = await changeSlides(ids, quickChanges[action]);
  announce(result);
  return result.success;
}
