import type { AreaGeometry } from '@lamina/annotations';
import type { VectorDescriptor } from '@lamina/contract';
import { useEffect, useState } from 'react';
import { visibleBounds } from '../overlay/placement.ts';
import type { SlideView } from '../slide-view.ts';
import { type Counts, countObjectsIn } from './count-objects.ts';
import type { ObjectFilter } from './object-filter.ts';

/** Objects are counted when view and filter have not changed for this long. */
const countDelayMs = 300;

/** What is counted. */
interface Counting extends ObjectFilter {
  /** The layer; null: nothing is counted. */
  readonly descriptor: VectorDescriptor | null;
  /** The area in which objects are counted; null: the field of view. */
  readonly area: AreaGeometry | null;
}

/**
 * Returns the numbers of objects in the field of view or in an area, by class; null until they are counted, and when there are too many
 * objects to count.
 */
export function useCounts(
  view: SlideView,
  { descriptor, area, column, minValue, maxValue }: Counting,
): Counts | null {
  /** The last counts, with what was counted; null before the first. */
  const [counted, setCounted] = useState<(Counting & { readonly counts: Counts | null }) | null>(null);
  useEffect(() => {
    if (descriptor === null) return;
    const filter = { column, minValue, maxValue };
    let timer: ReturnType<typeof setTimeout> | undefined;
    let request = new AbortController();
    const scheduleCount = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const placement = view.placement();
        if (placement === null) return;
        request.abort();
        request = new AbortController();
        const { signal } = request;
        countObjectsIn(descriptor, area ?? visibleBounds(placement, view.size()), filter, signal).then(
          (counts) => {
            if (!signal.aborted) setCounted({ descriptor, area, ...filter, counts });
          },
          () => undefined, // the objects are counted again after the next movement
        );
      }, countDelayMs);
    };
    const stopWatching = area === null ? view.watch(scheduleCount) : () => undefined;
    scheduleCount();
    return () => {
      stopWatching();
      clearTimeout(timer);
      request.abort();
    };
  }, [view, descriptor, area, column, minValue, maxValue]);
  // After a movement, the counts of the previous field stay until the new field is counted.
  const isCurrent =
    counted !== null &&
    counted.descriptor === descriptor &&
    counted.area === area &&
    counted.column === column &&
    counted.minValue === minValue &&
    counted.maxValue === maxValue;
  return isCurrent ? counted.counts : null;
}
