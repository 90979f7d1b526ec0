/**
 * The query parameters of the URL of the slides screen, which contain the search and the filters of the slide list.
 * Example: `?q=liver&dataset=TCGA&status=failed`.
 */
import { ManagedStatus } from '@lamina/contract';
import type { SlideFilter } from '../../api/slides.ts';

export interface SlideListFilters {
  readonly status: ManagedStatus;
  readonly filter: SlideFilter;
}

/** Parses the parameters. An empty `dataset` selects the slides without a dataset; without the parameter, all slides match. */
export function readSlideFilters(query: URLSearchParams): SlideListFilters {
  return {
    status: ManagedStatus.safeParse(query.get('status')).data ?? 'listed',
    filter: { search: query.get('q')?.trim() ?? '', dataset: query.get('dataset') },
  };
}

/** Returns the query parameters of the filters. Filters with their default value are omitted. */
export function writeSlideFilters({
  status,
  filter: { search, dataset },
}: SlideListFilters): URLSearchParams {
  return new URLSearchParams({
    ...(search !== '' && { q: search }),
    ...(dataset !== null && { dataset }),
    ...(status !== 'listed' && { status }),
  });
}
