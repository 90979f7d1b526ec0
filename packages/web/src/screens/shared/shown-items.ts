/** The items of a share link that its page shows. An item keeps its place in the tour when its slide can no longer be viewed. */
import type { SharedItem } from '@lamina/contract';

export interface ShownItem extends SharedItem {
  /** False when the server no longer opens the slide, for example because an administrator has hidden it. */
  readonly isAvailable: boolean;
}

/**
 * Returns the items to show after the link has been opened, again or for the first time.
 *
 * @param shown items before; empty at the first opening
 * @param opened items that the link opens now. If some of them are new, because the owner has changed the collection, only these
 *   items are shown; otherwise, the shown items that are missing here become unavailable.
 */
export function itemsAfterOpening(
  shown: readonly ShownItem[],
  opened: readonly SharedItem[],
): readonly ShownItem[] {
  const openedByKey = new Map(opened.map((item) => [keyOf(item), item]));
  const shownKeys = new Set(shown.map(keyOf));
  const hasNewItems = opened.some((item) => !shownKeys.has(keyOf(item)));
  if (hasNewItems) return opened.map((item) => ({ ...item, isAvailable: true }));
  return shown.map((item) => {
    const openedItem = openedByKey.get(keyOf(item));
    return openedItem === undefined ? { ...item, isAvailable: false } : { ...openedItem, isAvailable: true };
  });
}

/** Returns the items after the server has stated that the link does not open this slide. */
export function withoutSlide(shown: readonly ShownItem[], imageId: string): readonly ShownItem[] {
  return shown.map((item) => (item.image_id === imageId ? { ...item, isAvailable: false } : item));
}

/** Returns the item of a step; of the last step if there are fewer steps. Undefined for a link without items. */
export function itemOfStep(shown: readonly ShownItem[], stepIndex: number): ShownItem | undefined {
  return shown[stepIndex] ?? shown.at(-1);
}

function keyOf({ item, image_id }: SharedItem): string {
  return `${item ?? ''} ${image_id}`;
}
