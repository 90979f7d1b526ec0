import type { AreaGeometry } from '@lamina/annotations';
import type { VectorDescriptor } from '@lamina/contract';
import { useEffect, useState } from 'react';
import { visibleBounds } from '../overlay/placement.ts';
import type { SlideView } from '../slide-view.ts';
import { type Counts, countIn } from './count-objects.ts';
import type { ObjectFilter } from './object-filter.ts';

/** Objects are counted when the view and the filter have not changed for this time. */
const restMs = 300;

interface Counting extends ObjectFilter {
  /** Null: nothing is counted. */
  readonly descriptor: VectorDescriptor | null;
  /** Null: the field of view. */
  readonly area: AreaGeometry | null;
}

/** Returns the objects in the field of view or in an area by class; null until they are known, or when there are too many. */
export function useCounts(view: SlideView, { descriptor, area, column, from, to }: Counting): Counts | null {
  const [counted, setCounted] = useState<(Counting & { readonly counts: Counts | null }) | null>(null);
  useEffect(() => {
    if (descriptor === null) return;
    const filter = { column, from, to };
    let timer: ReturnType<typeof setTimeout> | undefined;
    let request = new AbortController();
    const later = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const placement = view.placement();
        if (placement === null) return;
        request.abort();
        request = new AbortController();
        const { signal } = request;
        countIn(descriptor, area ?? visibleBounds(placement, view.size()), filter, signal).then(
          (counts) => {
            if (!signal.aborted) setCounted({ descriptor, area, ...filter, counts });
          },
          () => undefined, // counted again after the next movement
        );
      }, restMs);
    };
    const end = area === null ? view.watch(later) : () => undefined;
    later();
    return () => {
      end();
      clearTimeout(timer);
      request.abort();
    };
  }, [view, descriptor, area, column, from, to]);
  const isCurrent =
    counted !== null &&
    counted.descriptor === descriptor &&
    counted.area === area &&
    counted.column === column &&
    counted.from === from &&
    counted.to === to;
  return isCurrent ? counted.counts : null;
}
