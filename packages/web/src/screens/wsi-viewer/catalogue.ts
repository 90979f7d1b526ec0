/** Groups, filters and lines of the catalogue's list. */
import type { Image, ImageOrder, listImageGroups, ResponseOf } from '@lamina/contract';
import type { ImageRows, Listing } from '../../api/catalogue.ts';
import { texts } from './texts.ts';

export interface DatasetGroup {
  /** Unique among the groups, also among those with the same name. */
  readonly key: string;
  readonly name: string;
  /** Number of its images; at least 1. */
  readonly count: number;
  /** Position of its first image in the list of all groups, one after the other. */
  readonly start: number;
}

/** What a person wants to see of the catalogue. */
export interface CatalogueFilter {
  /** As typed. */
  readonly query: string;
  /** `valueKey` of a dataset; empty: all. */
  readonly dataset: string;
  /** `valueKey` of an organ; empty: all. */
  readonly organ: string;
}

export const noFilter: CatalogueFilter = { query: '', dataset: '', organ: '' };

/** A dataset or an organ that the catalogue can be filtered by. */
export interface Choice {
  readonly key: string;
  readonly name: string;
  /** Number of images in the list if it were chosen. */
  readonly count: number;
}

type Groups = ResponseOf<typeof listImageGroups>;

export function groupsOf({ groups }: Pick<Groups, 'groups'>): readonly DatasetGroup[] {
  let start = 0;
  return groups.map(({ dataset_name, images }) => {
    const group = { ...named(dataset_name), count: images, start };
    start += images;
    return group;
  });
}

export function choicesOf({ datasets, organs }: Pick<Groups, 'datasets' | 'organs'>): {
  readonly datasets: readonly Choice[];
  readonly organs: readonly Choice[];
} {
  return {
    datasets: datasets.map(({ dataset_name, images }) => ({ ...named(dataset_name), count: images })),
    organs: organs.map(({ organ_type, images }) => ({ ...named(organ_type), count: images })),
  };
}

function named(value: string | null): { readonly key: string; readonly name: string } {
  return { key: valueKey(value), name: value ?? texts.unknown };
}

/** Distinguishes a dataset or an organ that is called Unknown from there being none. */
function valueKey(value: string | null): string {
  return value === null ? '-' : `=${value}`;
}

export function listingOf(filter: CatalogueFilter, order: ImageOrder): Listing {
  const nameOf = (key: string) => (key === '' ? undefined : key === '-' ? null : key.slice(1));
  return {
    query: filter.query.trim(),
    dataset: nameOf(filter.dataset),
    organ: nameOf(filter.organ),
    order,
  };
}

/** Returns the same key for lists with the same images; empty for the whole catalogue. */
export function filterKey({ query, dataset, organ }: Listing): string {
  const isWhole = query === '' && dataset === undefined && organ === undefined;
  return isWhole
    ? ''
    : JSON.stringify([query, dataset ?? null, dataset === null, organ ?? null, organ === null]);
}

interface LineOf<Kind> {
  readonly kind: Kind;
  readonly group: DatasetGroup;
  /** Index of the group's own line. */
  readonly title: number;
  /** Pixels from the top of the list. */
  readonly top: number;
}
export type GroupLine = LineOf<'group'> & { readonly isOpen: boolean };
export type ImageLine = LineOf<'image'> & {
  /** In its group, from 0. */
  readonly place: number;
  /** In the list of all groups. */
  readonly position: number;
};
export type Line = GroupLine | ImageLine;

/** Pixels. */
export interface LineHeights {
  readonly group: number;
  readonly image: number;
}

/** The lines from top to bottom, every group and the images of open ones, computed on demand: there may be 100,000. */
export interface ListLayout {
  readonly groups: readonly DatasetGroup[];
  readonly count: number;
  lineAt(index: number): Line | undefined;
  /** Index of the line at this many pixels from the top. */
  indexAtTop(top: number): number;
  /** -1 when there is no such group. */
  indexOfGroup(key: string): number;
  /** -1 when the group of the image is closed. */
  indexOfPosition(position: number): number;
}

export function layOut(
  groups: readonly DatasetGroup[],
  isOpen: (group: DatasetGroup) => boolean,
  heights: LineHeights,
): ListLayout {
  const titles: GroupLine[] = [];
  let count = 0;
  let top = 0;
  for (const group of groups) {
    const isGroupOpen = isOpen(group);
    titles.push({ kind: 'group', group, title: count, top, isOpen: isGroupOpen });
    const images = isGroupOpen ? group.count : 0;
    count += 1 + images;
    top += heights.group + images * heights.image;
  }
  /** The last title for which the value is at most this. */
  const lastTitle = (limit: number, startOf: (title: GroupLine) => number): GroupLine | undefined => {
    let from = 0;
    let to = titles.length;
    while (to - from > 1) {
      const middle = (from + to) >> 1;
      const title = titles[middle];
      if (title !== undefined && startOf(title) <= limit) from = middle;
      else to = middle;
    }
    return titles[from];
  };
  return {
    groups,
    count,
    lineAt(index) {
      if (index < 0 || index >= count) return undefined;
      const line = lastTitle(index, ({ title }) => title);
      if (line === undefined || line.title === index) return line;
      const place = index - line.title - 1;
      const imageTop = line.top + heights.group + place * heights.image;
      const { group, title } = line;
      return { kind: 'image', group, title, top: imageTop, place, position: group.start + place };
    },
    indexAtTop(limit) {
      const line = lastTitle(limit, (title) => title.top);
      if (line === undefined || !line.isOpen || limit < line.top + heights.group) return line?.title ?? -1;
      const place = Math.floor((limit - line.top - heights.group) / heights.image);
      return line.title + 1 + Math.min(place, line.group.count - 1);
    },
    indexOfGroup: (key) => titles.find(({ group }) => group.key === key)?.title ?? -1,
    indexOfPosition(position) {
      const line = lastTitle(position, ({ group }) => group.start);
      if (line === undefined || position < 0 || position >= line.group.start + line.group.count) return -1;
      return line.isOpen ? line.title + 1 + position - line.group.start : -1;
    },
  };
}

/** Returns the group of a position in the list of all groups. */
export function groupAt(groups: readonly DatasetGroup[], position: number): DatasetGroup | undefined {
  return groups.find(({ start, count }) => position >= start && position < start + count);
}

/** The lines with the rows that are loaded. */
export interface CatalogueLines {
  readonly layout: ListLayout;
  imageOf(line: ImageLine): Image | undefined;
  /** The same key for the same group or image after a change of the catalogue; a row that is not loaded has that of its position. */
  keyAt(index: number): string | null;
  /** -1 when no line has the key. */
  indexOf(key: string | null): number;
}

const groupPrefix = 'group ';
const rowPrefix = 'row ';

export function linesOf(layout: ListLayout, rows: ImageRows): CatalogueLines {
  return {
    layout,
    imageOf: ({ position }) => rows.imageAt(position),
    keyAt(index) {
      const line = layout.lineAt(index);
      if (line === undefined) return null;
      return line.kind === 'group'
        ? `${groupPrefix}${line.group.key}`
        : (rows.imageAt(line.position)?.id ?? `${rowPrefix}${line.position}`);
    },
    indexOf(key) {
      if (key === null) return -1;
      if (key.startsWith(groupPrefix)) return layout.indexOfGroup(key.slice(groupPrefix.length));
      const position = key.startsWith(rowPrefix) ? Number(key.slice(rowPrefix.length)) : rows.positionOf(key);
      return layout.indexOfPosition(position);
    },
  };
}
