/**
 * Remembers the filter, order, open groups, open sidebar sections and scroll position of the catalogue, until the page is closed or a sign-in begins or ends.
 * They are stored in the query cache, because it is cleared at these times.
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
  /** The groups and cases that the person has opened (true) or closed (false) in the whole catalogue, by their keys. */
  readonly opened: ReadonlyMap<string, boolean>;
  /** The same for the last filtered catalogue (`filterKey` in catalogue.ts). */
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
const panelKeyPrefix = 'sidebar-panel';
for (const key of [viewStateKey, scrollKey, [panelKeyPrefix]])
  queryClient.setQueryDefaults(key, { gcTime: Infinity }); // kept although no query uses them

/** Like `useState`, but begins with the last view state, for example when the person returns from a slide, and remembers each new one. */
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
 * Returns whether a group or a case is open. By default, all cases and the first group are open, in a filtered catalogue all groups.
 *
 * @param listKey key of the filter of the list (`filterKey` in catalogue.ts); empty: the whole catalogue
 */
export function isBranchOpen(
  viewState: CatalogueViewState,
  listKey: string,
  branch: DatasetGroup | CaseGroup,
): boolean {
  const { key } = branch;
  const isCase = !('cases' in branch);
  if (listKey === '') return viewState.opened.get(key) ?? (isCase || key === viewState.firstGroup);
  const { filterKey, opened } = viewState.openedFiltered;
  return (filterKey === listKey ? opened.get(key) : undefined) ?? true;
}

/** Returns the view state after the person has opened or closed a group or a case. */
export function withBranchOpened(
  viewState: CatalogueViewState,
  listKey: string,
  { key }: DatasetGroup | CaseGroup,
  isOpen: boolean,
): CatalogueViewState {
  if (listKey === '') return { ...viewState, opened: new Map(viewState.opened).set(key, isOpen) };
  const { filterKey, opened } = viewState.openedFiltered;
  const keptBranches = filterKey === listKey ? opened : [];
  return {
    ...viewState,
    openedFiltered: { filterKey: listKey, opened: new Map(keptBranches).set(key, isOpen) },
  };
}

/** Returns the scroll position in pixels from the top; 0 before the first scroll. */
export function rememberedScroll(): number {
  return queryClient.getQueryData<number>(scrollKey) ?? 0;
}

export function rememberScroll(top: number): void {
  queryClient.setQueryData(scrollKey, top);
}

/** Remembers whether a section of the sidebar is open. @returns whether it is open, and a function that opens or closes it */
export function usePanel(id: string, isInitiallyOpen: boolean) {
  const key = [panelKeyPrefix, id];
  const [isOpen, setOpen] = useState(() => queryClient.getQueryData<boolean>(key) ?? isInitiallyOpen);
  const change = (next: boolean) => {
    queryClient.setQueryData(key, next);
    setOpen(next);
  };
  return [isOpen, change] as const;
}
