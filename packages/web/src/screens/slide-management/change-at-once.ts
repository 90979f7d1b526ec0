import type { ManagedImage } from '@lamina/contract';
import { changeSlides } from '../../api/slides.ts';
import { announce } from '../../notifications/notify.ts';
import { type QuickAction, quickChanges } from './slide-state.ts';

/** Does it, and tells how it ended. @returns whether it was done */
export async function updateOptimistically(
  action: QuickAction,
  slides: readonly ManagedImage[],
): Promise<boolean> {
  const ids = slides.map(({ id }) => id);
  const result = await changeSlides(ids, quickChanges[action]);
  announce(result);
  return result.success;
}
