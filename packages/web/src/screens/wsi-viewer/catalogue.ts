/** How the catalogue is grouped, ordered, searched and narrowed, and as which lines it is shown. */
import { foldForSearch, naturalCompare, naturalKey } from '@lamina/contract';
import type { CatalogueImage } from '../../api/images.ts';
import { texts } from './texts.ts';

export interface CatalogueEntry {
  readonly image: CatalogueImage;
  /** File name, or the id where there is none. */
  readonly name: string;
  /** Natural key of the name. */
  readonly nameKey: string;
  /** File name, id, organ and dataset, folded, a line each. */
  readonly searchText: string;
}

export interface DatasetGroup {
  /** Of no other group, not even of one with the same name. */
  readonly key: string;
  readonly name: string;
  /** In the order asked for; never empty. */
  readonly entries: readonly CatalogueEntry[];
}

export const imageOrders = ['name', 'newest', 'size'] as const;
export type ImageOrder = (typeof imageOrders)[number];

/** What somebody wants to see of the catalogue. */
export interface Wish {
  /** As typed. */
  readonly query: string;
  /** `valueKey` of a dataset; empty: every one. */
  readonly dataset: string;
  /** `valueKey` of an organ; empty: every one. */
  readonly organ: string;
}

export const everything: Wish = { query: '', dataset: '', organ: '' };

/** A dataset or an organ one may narrow the catalogue to. */
export interface Choice {
  readonly key: string;
  readonly name: string;
  /** Images that would be shown, the rest of the wish staying as it is. */
  readonly count: number;
}

/**
 * Groups in the order of their first image; by name, in natural order of their own names, images without a
 * dataset last.
 */
export function groupByDataset(
  images: readonly CatalogueImage[],
  order: ImageOrder = 'name',
): readonly DatasetGroup[] {
  const ordered = images.map(entryOf).sort(comparing[order]);
  const byDataset = [...Map.groupBy(ordered, ({ image }) => image.dataset_name)];
  if (order === 'name') byDataset.sort(([a], [b]) => compareValues(a, b));
  return byDataset.map(([dataset, entries]) => ({
    key: valueKey(dataset),
    name: dataset ?? texts.unknown,
    entries,
  }));
}

/** Groups with what is wished; groups without any of it are left out. */
export function narrow(groups: readonly DatasetGroup[], wish: Wish): readonly DatasetGroup[] {
  const query = queryOf(wish);
  if (query === '' && wish.dataset === '' && wish.organ === '') return groups;
  return groups.flatMap((group) => {
    if (wish.dataset !== '' && group.key !== wish.dataset) return [];
    const entries = group.entries.filter((entry) => hasOrgan(entry, wish) && matches(entry, query));
    return entries.length > 0 ? [{ ...group, entries }] : [];
  });
}

/** Every dataset and every organ of the catalogue, in natural order. */
export function choicesIn(
  groups: readonly DatasetGroup[],
  wish: Wish,
): { readonly datasets: readonly Choice[]; readonly organs: readonly Choice[] } {
  const query = queryOf(wish);
  const organs = new Map<string | null, number>();
  const datasets = groups.map(({ key, name, entries }) => {
    let count = 0;
    for (const entry of entries) {
      const organ = entry.image.organ_type;
      const isFound = matches(entry, query);
      if (isFound && hasOrgan(entry, wish)) count++;
      const counts = isFound && (wish.dataset === '' || key === wish.dataset);
      organs.set(organ, (organs.get(organ) ?? 0) + (counts ? 1 : 0));
    }
    return { key, name, count, value: entries[0]?.image.dataset_name ?? null };
  });
  return {
    datasets: datasets
      .sort((a, b) => compareValues(a.value, b.value))
      .map(({ key, name, count }) => ({ key, name, count })),
    organs: [...organs]
      .sort(([a], [b]) => compareValues(a, b))
      .map(([organ, count]) => ({ key: valueKey(organ), name: organ ?? texts.unknown, count })),
  };
}

/** The whole catalogue is one wish, whatever blanks were typed. */
export function wishKey(wish: Wish): string {
  const parts = [queryOf(wish), wish.dataset, wish.organ];
  return parts.every((part) => part === '') ? '' : parts.join('\n');
}

/**
 * The image to go to from this one: the nearest in the catalogue as it is shown that can be looked at.
 *
 * @param from null, or an image that is not shown: the first one forwards, the last one backwards
 * @returns null at the end
 */
export function neighbourOf(
  groups: readonly DatasetGroup[],
  from: string | null,
  by: 1 | -1,
): { readonly group: DatasetGroup; readonly image: CatalogueImage } | null {
  const shown = groups.flatMap((group) => group.entries.map(({ image }) => ({ group, image })));
  const place = shown.findIndex(({ image }) => image.id === from);
  const start = place !== -1 ? place + by : by === 1 ? 0 : shown.length - 1;
  for (let at = start; at >= 0 && at < shown.length; at += by) {
    const next = shown[at];
    if (next?.image.status === 'ready') return next;
  }
  return null;
}

interface LineOf<Kind> {
  readonly kind: Kind;
  /** Of no other line, and the same when the catalogue is shown again. */
  readonly key: string;
  readonly group: DatasetGroup;
  /** Index of the group's own line. */
  readonly title: number;
  /** Pixels from the top of the list. */
  readonly top: number;
}
export type GroupLine = LineOf<'group'> & { readonly isOpen: boolean };
export type ImageLine = LineOf<'image'> & {
  readonly entry: CatalogueEntry;
  /** In its group, from 0. */
  readonly place: number;
};
export type Line = GroupLine | ImageLine;

/** Pixels. */
export interface LineHeights {
  readonly group: number;
  readonly image: number;
}

/** What stands in the list from top to bottom: every group, and the images of those that are open. */
export function linesOf(
  groups: readonly DatasetGroup[],
  isOpen: (group: DatasetGroup) => boolean,
  heights: LineHeights,
): readonly Line[] {
  const lines: Line[] = [];
  let top = 0;
  for (const group of groups) {
    const opened = isOpen(group);
    const title = lines.length;
    lines.push({ kind: 'group', key: groupLineKey(group), group, title, top, isOpen: opened });
    top += heights.group;
    if (!opened) continue;
    for (const [place, entry] of group.entries.entries()) {
      lines.push({ kind: 'image', key: entry.image.id, group, title, top, entry, place });
      top += heights.image;
    }
  }
  return lines;
}

/** @returns -1 when it is not among them; quicker than a map, which would be made anew with every key pressed */
export function indexOfLine(lines: readonly Line[], key: string | null): number {
  return lines.findIndex((line) => line.key === key);
}

export function groupLineKey(group: Pick<DatasetGroup, 'key'>): string {
  return `group ${group.key}`;
}

/** Says a dataset or an organ apart from there being none, which is called Unknown as one of them might be. */
function valueKey(value: string | null): string {
  return value === null ? '-' : `=${value}`;
}

/** An image that stays the same stays the same entry: what is shown of it need not be drawn again. */
const entries = new WeakMap<CatalogueImage, CatalogueEntry>();

function entryOf(image: CatalogueImage): CatalogueEntry {
  const known = entries.get(image);
  if (known !== undefined) return known;
  const { id, file_name, organ_type, dataset_name } = image;
  const searched = [file_name, id, organ_type, dataset_name].filter((text) => text !== null);
  const name = file_name ?? id;
  const entry = {
    image,
    name,
    nameKey: naturalKey(name),
    searchText: foldForSearch(searched.join('\n')),
  };
  entries.set(image, entry);
  return entry;
}

function queryOf({ query }: Wish): string {
  return foldForSearch(query.trim());
}

function matches({ searchText }: CatalogueEntry, foldedQuery: string): boolean {
  return foldedQuery === '' || searchText.includes(foldedQuery);
}

function hasOrgan({ image }: CatalogueEntry, { organ }: Wish): boolean {
  return organ === '' || valueKey(image.organ_type) === organ;
}

type Comparison = (a: CatalogueEntry, b: CatalogueEntry) => number;

const byName: Comparison = (a, b) =>
  compare(a.nameKey, b.nameKey) || compare(a.name, b.name) || compare(a.image.id, b.image.id);

const comparing: Readonly<Record<ImageOrder, Comparison>> = {
  name: byName,
  // Times of one form are in the order of their texts; what is not known comes last.
  newest: (a, b) => compare(b.image.created_at ?? '', a.image.created_at ?? '') || byName(a, b),
  size: (a, b) => (b.image.size_bytes ?? -1) - (a.image.size_bytes ?? -1) || byName(a, b),
};

/** Natural order; null last. */
function compareValues(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return naturalCompare(a, b);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
