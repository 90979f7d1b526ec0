/** Search and filters of the list of slides as they stand in the address. */
import { ManagedStatus } from '@lamina/contract';
import type { SlideFilter } from '../../api/slides.ts';

export interface ShownSlides {
  readonly status: ManagedStatus;
  readonly filter: SlideFilter;
}

/** An empty `dataset` means the slides without a dataset; without the parameter the slides of all datasets are shown. */
export function shownSlidesOf(address: URLSearchParams): ShownSlides {
  return {
    status: ManagedStatus.safeParse(address.get('status')).data ?? 'listed',
    filter: { search: address.get('q')?.trim() ?? '', dataset: address.get('dataset') },
  };
}

/** Values that are the usual ones stay out of the address. */
export function addressOfSlides({ status, filter: { search, dataset } }: ShownSlides): URLSearchParams {
  return new URLSearchParams({
    ...(search !== '' && { q: search }),
    ...(dataset !== null && { dataset }),
    ...(status !== 'listed' && { status }),
  });
}
