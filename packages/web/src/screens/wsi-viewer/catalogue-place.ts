/**
 * Remembers where a person was in the catalogue: filter, order, open groups and scroll position. They are kept until the page
 * is closed, in the query cache, which is cleared when a sign-in begins or ends.
 */
import type { ImageOrder } from '@lamina/contract';
import { useEffect, useState } from 'react';
import { queryClient } from '../../api/query-client.ts';
import { type CaseGroup, type CatalogueFilter, type DatasetGroup, noFilter } from './catalogue.ts';

export interface CataloguePlace {
  readonly filter: CatalogueFilter;
  readonly order: ImageOrder;
  /** Key of the group that is open by default, the first one; null until the catalogue is loaded. */
  readonly firstGroup: string | null;
  /** By key of the group or the case: opened (true) or closed (false) in the whole catalogue. */
  readonly opened: ReadonlyMap<string, boolean>;
  /** The same in a filtered catalogue, until the filter changes. `filter` is its `filterKey`. */
  readonly openedFiltered: { readonly filter: string; readonly opened: ReadonlyMap<string, boolean> };
}

const initialPlace: CataloguePlace = {
  filter: noFilter,
  order: 'name',
  firstGroup: null,
  opened: new Map(),
  openedFiltered: { filter: '', opened: new Map() },
};

const placeKey = ['catalogue-place'];
const scrollKey = ['catalogue-scroll'];
const panelKey = 'sidebar-panel';
for (const key of [placeKey, scrollKey, [panelKey]]) queryClient.setQueryDefaults(key, { gcTime: Infinity });

/** Returns the place and its setter, as `useState`; it starts with the place at which the person left the viewer. */
export function useCataloguePlace() {
  const [place, setPlace] = useState(
    () => queryClient.getQueryData<CataloguePlace>(placeKey) ?? initialPlace,
  );
  useEffect(() => {
    queryClient.setQueryData(placeKey, place);
  }, [place]);
  return [place, setPlace] as const;
}

/**
 * Returns whether a group or a case is open. Every case, and in a filtered catalogue every group, is open by default.
 *
 * @param filter `filterKey` of the list; empty: the whole catalogue
 */
export function isOpenIn(place: CataloguePlace, filter: string, branch: DatasetGroup | CaseGroup): boolean {
  const { key } = branch;
  if (filter === '') return place.opened.get(key) ?? (!('cases' in branch) || key === place.firstGroup);
  const { filter: openedIn, opened } = place.openedFiltered;
  return (openedIn === filter ? opened.get(key) : undefined) ?? true;
}

/** Returns the place after the person has opened or closed a group or a case. */
export function withBranch(
  place: CataloguePlace,
  filter: string,
  { key }: DatasetGroup | CaseGroup,
  isOpen: boolean,
): CataloguePlace {
  if (filter === '') return { ...place, opened: new Map(place.opened).set(key, isOpen) };
  const { filter: openedIn, opened } = place.openedFiltered;
  const kept = openedIn === filter ? opened : [];
  return { ...place, openedFiltered: { filter, opened: new Map(kept).set(key, isOpen) } };
}

/** Returns the scroll position in pixels from the top; 0 before the first scroll. */
export function rememberedScroll(): number {
  return queryClient.getQueryData<number>(scrollKey) ?? 0;
}

export function rememberScroll(top: number): void {
  queryClient.setQueryData(scrollKey, top);
}

/** Whether a section of the sidebar is open, as the person left it. @returns the state and a function that changes it */
export function usePanel(id: string, isOpenAtFirst: boolean) {
  const key = [panelKey, id];
  const [isOpen, setOpen] = useState(() => queryClient.getQueryData<boolean>(key) ?? isOpenAtFirst);
  const change = (next: boolean) => {
    queryClient.setQueryData(key, next);
    setOpen(next);
  };
  return [isOpen, change] as const;
}
