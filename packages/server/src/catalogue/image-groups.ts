/** The catalogue as the viewer reads it: groups with their numbers of images, and pages of the list that the groups form. */
import {
  AppError,
  type getImagePosition,
  type ImageOrder,
  type listImageGroups,
  type listImageRows,
  naturalCompare,
  type QueryOf,
  type ResponseOf,
  searchWords,
  type User,
} from '@lamina/contract';
import { rangeOfDataset } from '../domain/catalogue-order.ts';
import { opens } from '../domain/image-session.ts';
import type { Database } from '../store/database.ts';
import { findImage } from '../store/images.ts';
import type { ListedImage } from '../store/listed-image.ts';
import {
  countImages,
  countImagesBefore,
  type ImageCount,
  type ImageFilter,
  listImages,
} from '../store/listed-images.ts';
import { hashOf, imageFor, type ListFilters, type ReaderFilters, seesAll } from './reader-filter.ts';

type GroupsQuery = QueryOf<typeof listImageGroups>;
type RowsQuery = QueryOf<typeof listImageRows>;

export interface ImageGroups {
  groups(query: GroupsQuery, reader: User): Promise<ResponseOf<typeof listImageGroups>>;
  rows(query: RowsQuery, reader: User): Promise<ResponseOf<typeof listImageRows>>;
  /** @throws AppError not_found, also for an entry that the reader may not see */
  position(
    imageId: string,
    query: QueryOf<typeof getImagePosition>,
    reader: User,
  ): Promise<ResponseOf<typeof getImagePosition>>;
  /** Weak ETag of the groups: changes whenever they might. */
  etagOf(query: GroupsQuery, reader: User): Promise<string>;
}

interface Group {
  readonly dataset: string | null;
  readonly images: number;
  /** Position of its first row in the list. */
  readonly start: number;
}

/** Counts of so many searches and kinds of readers are kept until the catalogue changes. */
const maxCached = 100;

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

export function createImageGroups(db: Database, readers: ReaderFilters): ImageGroups {
  const cache = new Map<string, Promise<readonly ImageCount[]>>();

  /** Returns the counts of everything that the search finds, whatever the other filters are; one query for concurrent callers. */
  async function countsFor({ q = '' }: GroupsQuery, reader: User) {
    const viewKey = await readers.viewKey(reader);
    const key = `${searchWords(q).join('\n')}\n${viewKey}`;
    const cached = cache.get(key);
    const counts =
      cached ?? readers.visibilityFor(reader).then((seen) => countImages(db, { ...seen, search: q }));
    cache.delete(key);
    cache.set(key, counts);
    if (cached === undefined) counts.catch(() => cache.delete(key));
    for (const oldest of cache.keys()) if (cache.size > maxCached) cache.delete(oldest);
    return { revision: hashOf(viewKey), counts: await counts };
  }

  /** The rows of several groups in one query, which the order of names allows, or group by group. */
  async function rowsOf(
    groups: readonly Group[],
    filter: ImageFilter,
    { order, from, limit }: RowsQuery,
  ): Promise<readonly ListedImage[]> {
    const shown = groups.filter(({ start, images }) => start < from + limit && start + images > from);
    const [first] = shown;
    if (first === undefined) return [];
    const skip = Math.max(0, from - first.start);
    if (order === 'name' && filter.dataset === undefined && haveSeparateRanges(shown)) {
      const after = { sortKey: rangeOfDataset(first.dataset).from, id: '' };
      return listImages(db, { ...filter, after, skip, limit });
    }
    const rows: ListedImage[] = [];
    for (const { dataset, start } of shown) {
      const page = { skip: Math.max(0, from - start), limit: limit - rows.length };
      rows.push(...(await listImages(db, { ...filter, dataset, order, after: null, ...page })));
    }
    return rows;
  }

  return {
    async groups(query, reader) {
      const { counts: all } = await countsFor({ order: 'name' }, reader);
      const { revision, counts } = await countsFor(query, reader);
      const { dataset, organ } = await readers.filterFor(filtersOf(query), reader);
      const ofOrgan = counts.filter((each) => organ === undefined || each.organ === organ);
      const ofDataset = counts.filter((each) => dataset === undefined || each.dataset === dataset);
      return {
        revision,
        groups: groupsOf(counts, { dataset, organ }, query.order).map(({ dataset: name, images }) => ({
          dataset_name: name,
          images,
        })),
        datasets: sumBy(all, ofOrgan, 'dataset').map(([dataset_name, images]) => ({ dataset_name, images })),
        organs: sumBy(all, ofDataset, 'organ').map(([organ_type, images]) => ({ organ_type, images })),
      };
    },

    async rows(query, reader) {
      const { revision, counts } = await countsFor(query, reader);
      const filter = await readers.filterFor(filtersOf(query), reader);
      const rows = await rowsOf(groupsOf(counts, filter, query.order), filter, query);
      return { revision, images: rows.map((row) => imageFor(reader, row)) };
    },

    async position(imageId, query, reader) {
      // Read before the entry, so that an unknown id costs the same queries as that of an invisible entry.
      const { revision, counts } = await countsFor(query, reader);
      const filter = await readers.filterFor(filtersOf(query), reader);
      const row = uuid.test(imageId) ? await findImage(db, imageId) : null;
      const { restrictedDatasets } = filter;
      const isVisible =
        row !== null &&
        row.removed_at === null &&
        (row.status === 'ready' || seesAll(reader)) &&
        opens(
          { restrictedDatasets, seesHidden: seesAll(reader) },
          { dataset: row.dataset_name, isHidden: row.hidden_at !== null },
        );
      if (!isVisible) throw new AppError('not_found');
      const group = groupsOf(counts, filter, query.order).find(({ dataset }) => dataset === row.dataset_name);
      if (group === undefined) return { revision, position: null };
      const before = await countImagesBefore(db, filter, query.order, row);
      return { revision, position: before === null ? null : group.start + before };
    },

    async etagOf({ session: _, ...query }, reader) {
      return `W/"${hashOf(JSON.stringify([await readers.viewKey(reader), query]))}"`;
    },
  };
}

function filtersOf(query: GroupsQuery): ListFilters {
  const { q, dataset, no_dataset, organ, no_organ } = query;
  return {
    q,
    dataset: no_dataset === undefined ? dataset : null,
    organ: no_organ === undefined ? organ : null,
  };
}

/** Returns the groups of the list in its order. */
function groupsOf(
  counts: readonly ImageCount[],
  { dataset, organ }: Pick<ImageFilter, 'dataset' | 'organ'>,
  order: ImageOrder,
): readonly Group[] {
  const matching = counts.filter(
    (each) =>
      (dataset === undefined || each.dataset === dataset) && (organ === undefined || each.organ === organ),
  );
  const groups = [...Map.groupBy(matching, (each) => each.dataset)].map(([name, parts]) => ({
    dataset: name,
    images: sum(parts),
    newest: parts.reduce((newest, part) => (part.newest > newest ? part.newest : newest), ''),
    largest: Math.max(...parts.map((part) => part.largest)),
  }));
  groups.sort((a, b) => {
    const byFirstImage =
      order === 'newest' ? compare(b.newest, a.newest) : order === 'largest' ? b.largest - a.largest : 0;
    return byFirstImage || compareNames(a.dataset, b.dataset);
  });
  let start = 0;
  return groups.map(({ dataset: name, images }) => {
    const group = { dataset: name, images, start };
    start += images;
    return group;
  });
}

/** Whether no two groups share a range of sort keys, as names do that differ in leading zeros only. */
function haveSeparateRanges(groups: readonly Group[]): boolean {
  return new Set(groups.map(({ dataset }) => rangeOfDataset(dataset).from)).size === groups.length;
}

/** Returns every dataset or organ in natural order, null last, with its number of images among those counted. */
function sumBy(
  all: readonly ImageCount[],
  counted: readonly ImageCount[],
  field: 'dataset' | 'organ',
): readonly (readonly [name: string | null, images: number])[] {
  const sums = new Map(all.map((each) => [each[field], 0]));
  for (const each of counted) sums.set(each[field], (sums.get(each[field]) ?? 0) + each.images);
  return [...sums].sort(([a], [b]) => compareNames(a, b));
}

function sum(parts: readonly ImageCount[]): number {
  return parts.reduce((total, { images }) => total + images, 0);
}

/** Natural order; null last. */
function compareNames(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return naturalCompare(a, b);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
