/**
 * The view state of the viewer's catalogue (filter, order, open groups, open sidebar sections, scroll position), kept until the page is
 * closed or the user signs in or out. The query cache stores it, because signing in and out clear that cache.
 */
import type { ImageOrder } from '@lamina/contract';
import { useEffect, useState } from 'react';
import { queryClient } from '../../api/query-client.ts';
import { type CaseGroup, type CatalogueFilter, type DatasetGroup, noFilter } from './catalogue.ts';

export interface CatalogueViewState {
  readonly filter: CatalogueFilter;
  readonly order: ImageOrder;
  /** Key of the first group, which is open by default; null until the catalogue is loaded. */
  readonly firstGroup: string | null;
  /** The groups and cases that the user has opened (true) or closed (false) in the whole catalogue, by their keys. */
  readonly opened: ReadonlyMap<string, boolean>;
  /** The same as `opened`, but for the last filtered catalogue; `filterKey` (see catalogue.ts) identifies its filter. */
  readonly openedFiltered: { readonly filterKey: string; readonly opened: ReadonlyMap<string, boolean> };
}

const initialViewState: CatalogueViewState = {
  filter: noFilter,
  order: 'name',
  firstGroup: null,
  opened: new Map(),
  openedFiltered: { filterKey: '', opened: new Map() },
};

const viewStateKey = ['catalogue-view-state'];
const scrollKey = ['catalogue-scroll'];
const sectionKeyPrefix = 'sidebar-panel';
for (const key of [viewStateKey, scrollKey, [sectionKeyPrefix]])
  queryClient.setQueryDefaults(key, { gcTime: Infinity }); // never removed, although no query uses them

/** Like `useState`, but begins with the last view state, for example when the user returns to the viewer, and remembers each new one. */
export function useCatalogueViewState() {
  const [viewState, setViewState] = useState(
    () => queryClient.getQueryData<CatalogueViewState>(viewStateKey) ?? initialViewState,
  );
  useEffect(() => {
    queryClient.setQueryData(viewStateKey, viewState);
  }, [viewState]);
  return [viewState, setViewState] as const;
}

/**
 * Returns whether a group or a case is open. By default, the first group and all cases are open; in a filtered catalogue, all groups and
 * cases are.
 *
 * @param shownFilter `filterKey` (catalogue.ts) of the shown list; empty for the whole catalogue
 */
export function isBranchOpen(
  viewState: CatalogueViewState,
  shownFilter: string,
  branch: DatasetGroup | CaseGroup,
): boolean {
  const { key } = branch;
  const isCase = !('cases' in branch); // only groups contain `cases`
  if (shownFilter === '') return viewState.opened.get(key) ?? (isCase || key === viewState.firstGroup);
  const { filterKey, opened } = viewState.openedFiltered;
  return (filterKey === shownFilter ? opened.get(key) : undefined) ?? true;
}

/** Returns the view state after the user has opened or closed a group or a case of the list that `shownFilter` identifies. */
export function withBranchOpened(
  viewState: CatalogueViewState,
  shownFilter: string,
  { key }: DatasetGroup | CaseGroup,
  isOpen: boolean,
): CatalogueViewState {
  if (shownFilter === '') return { ...viewState, opened: new Map(viewState.opened).set(key, isOpen) };
  const { filterKey, opened } = viewState.openedFiltered;
  const openedBefore = filterKey === shownFilter ? opened : [];
  return {
    ...viewState,
    openedFiltered: { filterKey: shownFilter, opened: new Map(openedBefore).set(key, isOpen) },
  };
}

/** Returns the scroll position of the catalogue in pixels from the top; 0 before the first scroll. */
export function rememberedScroll(): number {
  return queryClient.getQueryData<number>(scrollKey) ?? 0;
}

export function rememberScroll(topPx: number): void {
  queryClient.setQueryData(scrollKey, topPx);
}

/** Returns whether a section of the sidebar is open, remembered like the view state, and a function that sets this. */
export function useSectionOpen(id: string, isInitiallyOpen: boolean) {
  const key = [sectionKeyPrefix, id];
  const [isOpen, setOpen] = useState(() => queryClient.getQueryData<boolean>(key) ?? isInitiallyOpen);
  const setSectionOpen = (next: boolean) => {
    queryClient.setQueryData(key, next);
    setOpen(next);
  };
  return [isOpen, setSectionOpen] as const;
}
