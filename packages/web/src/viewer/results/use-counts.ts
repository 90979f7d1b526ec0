/** React hook that counts the objects of a result layer (such as detected cells) in the field of view or in an area. */
import type { AreaGeometry } from '@lamina/annotations';
import type { VectorDescriptor } from '@lamina/contract';
import { useEffect, useState } from 'react';
import { visiblePart } from '../overlay/placement.ts';
import type { SlideView } from '../slide-view.ts';
import { type Counts, countObjectsIn } from './count-objects.ts';
import type { ObjectFilter } from './layer-style.ts';

/** Objects are counted when the view and the filter have not changed for this time. */
const countDelayMs = 300;
/** Time after which objects are counted again when they could not be loaded. */
const retryAfterMs = 5000;

/** The objects to count, and the part of the slide in which they are counted. */
interface CountOptions extends ObjectFilter {
  /** The layer whose objects to count; null: nothing is counted. */
  readonly descriptor: VectorDescriptor | null;
  /** The area in which objects are counted; null: the field of view. */
  readonly area: AreaGeometry | null;
}

/**
 * Returns the number of objects of each class, by class name, in `area` or, without an area, in the field of view. After each
 * movement of the view, the hook counts the objects in the field of view again.
 *
 * @returns null if there is no layer, until the objects are counted, after a failed count, and when there are too many to count
 */
export function useCounts(
  view: SlideView,
  { descriptor, area, measurementIndex, minValue, maxValue }: CountOptions,
): Counts | null {
  /** The last counts, and the options with which they were counted; null before the first count. */
  const [lastCount, setLastCount] = useState<(CountOptions & { readonly counts: Counts | null }) | null>(
    null,
  );
  useEffect(() => {
    if (descriptor === null) return;
    const filter = { measurementIndex, minValue, maxValue };
    let timer: ReturnType<typeof setTimeout> | undefined;
    let runningCount = new AbortController();
    const scheduleCount = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const placement = view.placement();
        if (placement === null) return;
        runningCount.abort();
        runningCount = new AbortController();
        const { signal } = runningCount;
        countObjectsIn(descriptor, area ?? visiblePart(placement, view.size()), filter, signal).then(
          (counts) => {
            if (!signal.aborted) setLastCount({ descriptor, area, ...filter, counts });
          },
          () => {
            if (signal.aborted) return;
            setLastCount(null); // the last count may belong to an earlier field of view
            timer = setTimeout(scheduleCount, retryAfterMs);
          },
        );
      }, countDelayMs);
    };
    const stopWatching = area === null ? view.watch(scheduleCount) : () => undefined;
    scheduleCount();
    return () => {
      stopWatching();
      clearTimeout(timer);
      runningCount.abort();
    };
  }, [view, descriptor, area, measurementIndex, minValue, maxValue]);
  // Compares all options, but not the field of view: after a movement, the previous counts stay until the next count.
  const isCurrent =
    lastCount !== null &&
    lastCount.descriptor === descriptor &&
    lastCount.area === area &&
    lastCount.measurementIndex === measurementIndex &&
    lastCount.minValue === minValue &&
    lastCount.maxValue === maxValue;
  return isCurrent ? lastCount.counts : null;
}
