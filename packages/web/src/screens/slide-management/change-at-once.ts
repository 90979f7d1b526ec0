import type { ManagedImage } from '@lamina/contract';
import { announce } from '../../announce.ts';
import { changeSlides } from '../../api/slides.ts';
import { type QuickAction, quickChanges } from './slide-state.ts';

/** Does it, and tells how it ended. @returns whether it was done */
export async function changeAtOnce(action: QuickAction, slides: readonly ManagedImage[]): Promise<boolean> {
  const ids = slides.map(({ id }) => id);
  const result = await changeSlides(ids, quickChanges[action]);
  announce(result);
  return result.success;
}
