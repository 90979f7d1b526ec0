/**
 * Remembers where a person was in the catalogue: filter, order, open groups and scroll position. They are kept until the page
 * is closed, in the query cache, which is cleared when a sign-in begins or ends.
 */
import type { ImageOrder } from '@lamina/contract';
import { useEffect, useState } from 'react';
import { queryClient } from '../../api/query-client.ts';
import { type CaseGroup, type CatalogueFilter, type DatasetGroup, noFilter } from './catalogue.ts';

export interface CatalogueViewState {
  readonly filter: CatalogueFilter;
  readonly order: ImageOrder;
  /** Key of the group that is open by default, the first one; null until the catalogue is loaded. */
  readonly firstGroup: string | null;
  /** By key of the group or the case: opened (true) or closed (false) in the whole catalogue. */
  readonly opened: ReadonlyMap<string, boolean>;
  /** The same in a filtered catalogue, until the filter changes. `filter` is its `filterKey`. */
  readonly openedFiltered: { readonly filter: string; readonly opened: ReadonlyMap<string, boolean> };
}

const initialViewState: CatalogueViewState = {
  filter: noFilter,
  order: 'name',
  firstGroup: null,
  opened: new Map(),
  openedFiltered: { filter: '', opened: new Map() },
};

const viewStateKey = ['catalogue-view-state'];
const scrollKey = ['catalogue-scroll'];
const panelKey = 'sidebar-panel';
for (const key of [viewStateKey, scrollKey, [panelKey]])
  queryClient.setQueryDefaults(key, { gcTime: Infinity });

/** Returns the view state and its setter, as `useState`; it starts with the state in which the person left the viewer. */
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
 * Returns whether a group or a case is open. Every case, and in a filtered catalogue every group, is open by default.
 *
 * @param filter `filterKey` of the list; empty: the whole catalogue
 */
export function isBranchOpen(
  viewState: CatalogueViewState,
  filter: string,
  branch: DatasetGroup | CaseGroup,
): boolean {
  const { key } = branch;
  if (filter === '')
    return viewState.opened.get(key) ?? (!('cases' in branch) || key === viewState.firstGroup);
  const { filter: openedIn, opened } = viewState.openedFiltered;
  return (openedIn === filter ? opened.get(key) : undefined) ?? true;
}

/** Returns the view state after the person has opened or closed a group or a case. */
export function withBranchOpened(
  viewState: CatalogueViewState,
  filter: string,
  { key }: DatasetGroup | CaseGroup,
  isOpen: boolean,
): CatalogueViewState {
  if (filter === '') return { ...viewState, opened: new Map(viewState.opened).set(key, isOpen) };
  const { filter: openedIn, opened } = viewState.openedFiltered;
  const kept = openedIn === filter ? opened : [];
  return { ...viewState, openedFiltered: { filter, opened: new Map(kept).set(key, isOpen) } };
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
