/**
 * Where somebody was in the catalogue, kept while the page lives and they are signed in: it is remembered
 * where the server's answers are, which are forgotten with the sign-in.
 */
import { useEffect, useState } from 'react';
import { queryClient } from '../../api/query-client.ts';
import { type DatasetGroup, everything, type ImageOrder, type Wish, wishKey } from './catalogue.ts';

export interface CataloguePlace {
  readonly wish: Wish;
  readonly order: ImageOrder;
  /** Key of the group that is open without anybody having opened it; null until there is one. */
  readonly firstGroup: string | null;
  /** By key of the group: what was opened (true) or closed (false) in the whole catalogue. */
  readonly opened: ReadonlyMap<string, boolean>;
  /** The same in a narrowed catalogue, whose wish it is forgotten with. */
  readonly openedNarrowed: { readonly wish: string; readonly opened: ReadonlyMap<string, boolean> };
}

const atFirst: CataloguePlace = {
  wish: everything,
  order: 'name',
  firstGroup: null,
  opened: new Map(),
  openedNarrowed: { wish: '', opened: new Map() },
};

const placeKey = ['catalogue-place'];
const scrollKey = ['catalogue-scroll'];
for (const key of [placeKey, scrollKey]) queryClient.setQueryDefaults(key, { gcTime: Infinity });

/** As it was when the viewer was left. */
export function useCataloguePlace() {
  const [place, setPlace] = useState(() => queryClient.getQueryData<CataloguePlace>(placeKey) ?? atFirst);
  useEffect(() => {
    queryClient.setQueryData(placeKey, place);
  }, [place]);
  return [place, setPlace] as const;
}

/** In a narrowed catalogue everything is open at first. */
export function isOpenIn(place: CataloguePlace, wish: Wish, group: DatasetGroup): boolean {
  const narrowedTo = wishKey(wish);
  if (narrowedTo === '') return place.opened.get(group.key) ?? group.key === place.firstGroup;
  const { wish: rememberedWish, opened } = place.openedNarrowed;
  return (rememberedWish === narrowedTo ? opened.get(group.key) : undefined) ?? true;
}

export function withGroup(
  place: CataloguePlace,
  wish: Wish,
  group: DatasetGroup,
  isOpen: boolean,
): CataloguePlace {
  const narrowedTo = wishKey(wish);
  if (narrowedTo === '') return { ...place, opened: new Map(place.opened).set(group.key, isOpen) };
  const { wish: rememberedWish, opened } = place.openedNarrowed;
  const kept = rememberedWish === narrowedTo ? opened : [];
  return { ...place, openedNarrowed: { wish: narrowedTo, opened: new Map(kept).set(group.key, isOpen) } };
}

/** Pixels from the top; 0 where nothing is remembered. */
export function rememberedScroll(): number {
  return queryClient.getQueryData<number>(scrollKey) ?? 0;
}

export function rememberScroll(top: number): void {
  queryClient.setQueryData(scrollKey, top);
}
