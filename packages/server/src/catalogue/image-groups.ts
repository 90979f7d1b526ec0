/**
 * The catalogue as the viewer requests it: groups (one per dataset) with their image counts, and pages of the list in which
 * the groups follow each other. In a list sorted by name, each group starts with its cases (named groups of images), so
 * the position of a case follows from the counts alone.
 */
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
import { mayViewImage } from '../domain/image-session.ts';
import type { Database } from '../store/database.ts';
import { findImage, type ImageRow } from '../store/images.ts';
import {
  type CaseCount,
  countImagesOfCases,
  findCaseOfImage,
  listImagesOfCases,
} from '../store/listed-cases.ts';
import type { ListedImage } from '../store/listed-image.ts';
import {
  countImages,
  countImagesBefore,
  type ImageCount,
  type ImageFilter,
  listImages,
} from '../store/listed-images.ts';
import { imageFor, type ListFilters, type ReaderFilters, seesAll } from './reader-filter.ts';

type GroupsQuery = QueryOf<typeof listImageGroups>;
type RowsQuery = QueryOf<typeof listImageRows>;

export interface ImageGroups {
  /** Returns the groups with their image counts, and the datasets and organs by which the viewer can filter. */
  groups(query: GroupsQuery, reader: User): Promise<ResponseOf<typeof listImageGroups>>;
  /** Returns a page of the list. */
  rows(query: RowsQuery, reader: User): Promise<ResponseOf<typeof listImageRows>>;
  /** Returns an entry's position, null if filters exclude it. @throws AppError not_found, also if the reader may not see it */
  position(
    imageId: string,
    query: QueryOf<typeof getImagePosition>,
    reader: User,
  ): Promise<ResponseOf<typeof getImagePosition>>;
  /** Returns a weak ETag that changes whenever the groups may have changed. */
  etagOf(query: GroupsQuery, reader: User): Promise<string>;
}

/** The images of one dataset that match the filters; `dataset` is null for images without a dataset. */
interface Group {
  readonly dataset: string | null;
  /** Number of images. */
  readonly images: number;
  /** Position of the group's first row in the list, from 0. */
  readonly start: number;
  /** Cases in the order of the list; empty unless the list is sorted by name. */
  readonly cases: readonly CaseOfGroup[];
}

interface CaseOfGroup {
  readonly id: string;
  readonly name: string;
  /** Number of images. */
  readonly images: number;
  /** Position of the first row of the case in the list, from 0. */
  readonly start: number;
}

/** Maximum number of cached image counts: one for each search and set of access rights, valid until the catalogue changes. */
const maxCachedCounts = 100;
/** Maximum number of cached case counts. It is smaller, because each of them may list tens of thousands of cases. */
const maxCachedCaseCounts = 10;

const uuidPattern = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

export function createImageGroups(db: Database, readerFilters: ReaderFilters): ImageGroups {
  const countsCache = new Map<string, Promise<readonly ImageCount[]>>();
  const caseCountsCache = new Map<string, Promise<readonly CaseCount[]>>();

  /**
   * Counts the images and cases that the search finds, without the other filters. Concurrent callers share one query.
   * The returned revision changes whenever the catalogue or the access rights of the reader may have changed.
   */
  async function countsFor({ q = '', order }: Pick<GroupsQuery, 'q' | 'order'>, reader: User) {
    // `view.key` changes with the catalogue and the access rights of the reader, so outdated counts are not found again.
    const view = await readerFilters.viewOf(reader);
    const key = `${searchWords(q).join('\n')}\n${view.key}`;
    const filter = { ...view.visibility, search: q };
    const counts = getOrLoad(countsCache, maxCachedCounts, key, async () => countImages(db, filter));
    const caseCounts =
      order === 'name'
        ? getOrLoad(caseCountsCache, maxCachedCaseCounts, key, async () => countImagesOfCases(db, filter))
        : [];
    return { revision: readerFilters.hashOf(view.key), counts: await counts, caseCounts: await caseCounts };
  }

  /**
   * Returns the rows of a page, which starts at the position `from` of the list. One query reads the page if it is in
   * the order of the sort keys of the images (dataset, then file name); otherwise each group has its own queries.
   */
  async function rowsOf(
    groups: readonly Group[],
    filter: ImageFilter,
    { order, from, limit }: RowsQuery,
  ): Promise<readonly ListedImage[]> {
    const requestedGroups = groups.filter(
      ({ start, images }) => start < from + limit && start + images > from,
    );
    const [firstGroup] = requestedGroups;
    if (firstGroup === undefined) return [];
    const skip = Math.max(0, from - firstGroup.start); // rows of the group on earlier pages
    const hasCases = requestedGroups.some(({ cases }) => cases.length > 0);
    const isInSortKeyOrder =
      order === 'name' && filter.dataset === undefined && !hasCases && haveSeparateRanges(requestedGroups);
    if (isInSortKeyOrder) {
      const positionBeforeFirstGroup = { sortKey: rangeOfDataset(firstGroup.dataset).from, id: '' };
      return listImages(db, { ...filter, after: positionBeforeFirstGroup, skip, limit });
    }
    const rows: ListedImage[] = [];
    for (const group of requestedGroups) {
      const filterOfGroup = { ...filter, dataset: group.dataset };
      rows.push(...(await rowsOfCases(group, filterOfGroup, from, from + limit)));
      const remainingRows = limit - rows.length;
      if (remainingRows <= 0) break;
      const startWithoutCase = group.start + totalImages(group.cases);
      const page = { skip: Math.max(0, from - startWithoutCase), limit: remainingRows };
      const onlyWithoutCase = group.cases.length > 0; // images of cases have been listed above
      const filterOfPage = { ...filterOfGroup, withoutCases: onlyWithoutCase };
      rows.push(...(await listImages(db, { ...filterOfPage, order, after: null, ...page })));
    }
    return rows;
  }

  /** Returns the rows of the group's cases whose position in the list is at least `from` and less than `end`. */
  async function rowsOfCases({ cases }: Group, filter: ImageFilter, from: number, end: number) {
    const requestedCases = cases.filter(({ start, images }) => start < end && start + images > from);
    const [firstCase] = requestedCases;
    if (firstCase === undefined) return [];
    const ids = requestedCases.map(({ id }) => id);
    const rows = await listImagesOfCases(db, filter, ids);
    return rows.slice(Math.max(0, from - firstCase.start), end - firstCase.start);
  }

  /** Returns the position of an entry in the list, from 0; null when the filter excludes the entry. */
  async function positionIn(group: Group, filter: ImageFilter, order: ImageOrder, entry: ImageRow) {
    const caseId = group.cases.length === 0 ? null : await findCaseOfImage(db, entry);
    if (caseId === null) {
      // Images without a case follow the cases of their group.
      const before = await countImagesBefore(
        db,
        { ...filter, withoutCases: group.cases.length > 0 },
        order,
        entry,
      );
      return before === null ? null : group.start + totalImages(group.cases) + before;
    }
    const start = group.cases.find(({ id }) => id === caseId)?.start;
    const rows = await listImagesOfCases(db, { ...filter, dataset: entry.dataset_name }, [caseId]);
    const indexInCase = rows.findIndex(({ id }) => id === entry.id);
    return start === undefined || indexInCase === -1 ? null : start + indexInCase;
  }

  return {
    async groups(query, reader) {
      const { counts: countsWithoutSearch } = await countsFor({ order: query.order }, reader);
      const { revision, counts, caseCounts } = await countsFor(query, reader);
      const { dataset, organ } = await readerFilters.filterFor(filtersOf(query), reader);
      // The counts of the datasets ignore the dataset filter, and the counts of the organs ignore the organ filter.
      const countsForDatasets = counts.filter((count) => organ === undefined || count.organ === organ);
      const countsForOrgans = counts.filter((count) => dataset === undefined || count.dataset === dataset);
      return {
        revision,
        groups: groupsOf({ counts, caseCounts }, { dataset, organ }, query.order).map(
          ({ dataset: name, images, cases }) => ({
            dataset_name: name,
            images,
            ...(cases.length > 0 && {
              cases: cases.map((listed) => ({ id: listed.id, name: listed.name, images: listed.images })),
            }),
          }),
        ),
        datasets: countImagesByName(countsWithoutSearch, countsForDatasets, 'dataset').map(
          ([dataset_name, images]) => ({
            dataset_name,
            images,
          }),
        ),
        organs: countImagesByName(countsWithoutSearch, countsForOrgans, 'organ').map(
          ([organ_type, images]) => ({
            organ_type,
            images,
          }),
        ),
      };
    },

    async rows(query, reader) {
      const { revision, ...counts } = await countsFor(query, reader);
      const filter = await readerFilters.filterFor(filtersOf(query), reader);
      const rows = await rowsOf(groupsOf(counts, filter, query.order), filter, query);
      return { revision, images: rows.map((row) => imageFor(reader, row)) };
    },

    async position(imageId, query, reader) {
      // These queries precede the query for the entry, so that response times do not reveal invisible entries.
      const { revision, ...counts } = await countsFor(query, reader);
      const filter = await readerFilters.filterFor(filtersOf(query), reader);
      const row = uuidPattern.test(imageId) ? await findImage(db, imageId) : null;
      const { inaccessibleDatasets } = filter;
      const isVisible =
        row !== null &&
        row.removed_at === null &&
        (row.status === 'ready' || seesAll(reader)) &&
        mayViewImage(
          { inaccessibleDatasets, seesHidden: seesAll(reader) },
          { dataset: row.dataset_name, isHidden: row.hidden_at !== null },
        );
      if (!isVisible) throw new AppError('not_found');
      const group = groupsOf(counts, filter, query.order).find(({ dataset }) => dataset === row.dataset_name);
      if (group === undefined) return { revision, position: null };
      return { revision, position: await positionIn(group, filter, query.order, row) };
    },

    // The image session (the credential for tile requests) in the query does not change the response.
    async etagOf({ session: _, ...query }, reader) {
      return `W/"${readerFilters.hashOf(JSON.stringify([await readerFilters.viewKey(reader), query]))}"`;
    },
  };
}

/** Converts the filters of a query; `no_dataset` and `no_organ` select the images without a dataset or organ. */
function filtersOf(query: GroupsQuery): ListFilters {
  const { q, dataset, no_dataset, organ, no_organ } = query;
  return {
    q,
    dataset: no_dataset === undefined ? dataset : null,
    organ: no_organ === undefined ? organ : null,
  };
}

/** Returns the cached value of a key, or loads and caches it; evicts the least recently used keys beyond `maxSize`. */
function getOrLoad<T>(
  cache: Map<string, Promise<T>>,
  maxSize: number,
  key: string,
  load: () => Promise<T>,
): Promise<T> {
  const existing = cache.get(key);
  const value = existing ?? load();
  // A Map keeps the order of insertion, so the least recently used key is the first one.
  cache.delete(key);
  cache.set(key, value);
  if (existing === undefined) value.catch(() => cache.delete(key));
  for (const leastRecentKey of cache.keys()) {
    if (cache.size <= maxSize) break;
    cache.delete(leastRecentKey);
  }
  return value;
}

/** Numbers of images by dataset and organ, and by case and organ. */
interface Counts {
  readonly counts: readonly ImageCount[];
  readonly caseCounts: readonly CaseCount[];
}

/** Returns the groups that match the filters, in the order of the list. */
function groupsOf(
  { counts, caseCounts }: Counts,
  { dataset, organ }: Pick<ImageFilter, 'dataset' | 'organ'>,
  order: ImageOrder,
): readonly Group[] {
  const matches = (count: Pick<ImageCount, 'dataset' | 'organ'>) =>
    (dataset === undefined || count.dataset === dataset) && (organ === undefined || count.organ === organ);
  // Each count is for one dataset and one organ, with the creation time of the newest image and the bytes of the largest one.
  const groups = [...Map.groupBy(counts.filter(matches), (count) => count.dataset)].map(([name, parts]) => ({
    dataset: name,
    images: totalImages(parts),
    newest: parts.map((part) => part.newest).reduce((latest, time) => (time > latest ? time : latest), ''),
    largest: Math.max(...parts.map((part) => part.largest)),
  }));
  groups.sort((a, b) => {
    let byOrder = 0;
    if (order === 'newest') byOrder = compareTexts(b.newest, a.newest);
    else if (order === 'largest') byOrder = b.largest - a.largest;
    return byOrder || compareNames(a.dataset, b.dataset);
  });
  const casesByDataset = Map.groupBy(caseCounts.filter(matches), (count) => count.dataset);
  let start = 0;
  return groups.map(({ dataset: name, images }) => {
    const cases = name === null ? [] : casesInOrder(casesByDataset.get(name) ?? [], start);
    const group = { dataset: name, images, start, cases };
    start += images;
    return group;
  });
}

/** Returns the cases of a group in the order of the list. @param start position of the group's first row in the list, from 0 */
function casesInOrder(counts: readonly CaseCount[], start: number): readonly CaseOfGroup[] {
  // Each count is for one case and one organ.
  const cases = [...Map.groupBy(counts, ({ id }) => id).values()].flatMap((parts) => {
    const [anyPart] = parts; // all parts have the same id, name and sort key
    return anyPart === undefined ? [] : [{ ...anyPart, images: totalImages(parts) }];
  });
  cases.sort((a, b) => compareTexts(a.sortKey, b.sortKey) || compareTexts(a.id, b.id));
  let nextStart = start;
  return cases.map(({ id, name, images }) => {
    const caseOfGroup = { id, name, images, start: nextStart };
    nextStart += images;
    return caseOfGroup;
  });
}

/** Returns whether each group has its own range of sort keys. Datasets such as `Set 1` and `Set 01` share one. */
function haveSeparateRanges(groups: readonly Group[]): boolean {
  return new Set(groups.map(({ dataset }) => rangeOfDataset(dataset).from)).size === groups.length;
}

/** Returns each dataset or organ in `all` with its number of images in `counted` (may be 0), in natural order; null is last. */
function countImagesByName(
  all: readonly ImageCount[],
  counted: readonly ImageCount[],
  field: 'dataset' | 'organ',
): readonly (readonly [name: string | null, images: number])[] {
  const sums = new Map(all.map((count) => [count[field], 0]));
  for (const count of counted) sums.set(count[field], (sums.get(count[field]) ?? 0) + count.images);
  return [...sums].sort(([a], [b]) => compareNames(a, b));
}

function totalImages(parts: readonly { readonly images: number }[]): number {
  return parts.reduce((total, { images }) => total + images, 0);
}

/** Compares names in natural order; null is last. */
function compareNames(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return naturalCompare(a, b);
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
