/** Lists, counts and searches of catalogue entries, limited to the entries that their reader may see. */
import { type ImageOrder, type ImageStatus, searchWords } from '@lamina/contract';
import { type RawBuilder, sql } from 'kysely';
import { rangeOfDataset, type SortKeyRange } from '../domain/catalogue-order.ts';
import { withoutDataset } from '../domain/dataset-access.ts';
import type { Connection } from './database.ts';
import { isPostgres } from './dialects.ts';
import { type ListedImage, listedColumns } from './listed-image.ts';
import type { Row } from './schema.ts';

type ImageRow = Row<'images'>;

/** Which entries a reader may see. */
export interface Visibility {
  /** Null: every status. */
  readonly status: ImageStatus | null;
  /** Whether entries that are hidden from members are included. */
  readonly includesHidden: boolean;
  /** Names of datasets whose entries are left out. */
  readonly restrictedDatasets: ReadonlySet<string>;
  /** Sort keys of the entries outside restricted datasets, as `unrestrictedRanges` returns them; null: any. */
  readonly ranges: readonly SortKeyRange[] | null;
}

export interface ImageFilter extends Visibility {
  readonly search: string | undefined;
  /** Null: entries without a dataset. */
  readonly dataset: string | null | undefined;
  /** Null: entries without an organ. */
  readonly organ: string | null | undefined;
  /** Leaves out entries that are in a case of their dataset. */
  readonly withoutCases?: boolean;
}

export interface ImagePosition {
  readonly sortKey: string;
  readonly id: string;
}

export interface ImagePage extends ImageFilter {
  readonly order?: ImageOrder;
  /** The last entry of the previous page, in the order of names; null: the list begins with its first entry. */
  readonly after: ImagePosition | null;
  /** Number of entries that are left out before the page. */
  readonly skip?: number;
  readonly limit: number;
}

/** Up to this number of matches, a search sorts the matches. A word with more matches is found quickly by scanning the list. */
const maxSortedResults = 1000;

/** Returns a page of entries in the order of the catalogue. */
export async function listImages(db: Connection, page: ImagePage): Promise<ListedImage[]> {
  const { order = 'name', dataset, limit, skip = 0 } = page;
  // A restricted dataset is treated as one that does not exist: its entries are not read, whatever plan the database chooses.
  if (isRestricted(page)) return [];
  const words = searchWords(page.search ?? '');
  // Within a dataset the list is short enough to scan. On SQLite, readers with restrictions scan too: one index contains
  // all filter columns, and visible entries are adjacent in it.
  const isScan = order !== 'name' || dataset !== undefined || (!isPostgres(db) && !seesEverything(page));
  const ids = words.length === 0 || isScan ? null : await idsWithWords(db, page, words);
  if (ids?.length === 0) return [];
  if (order !== 'name') {
    const selected = orderedPlaces(db, page, words, order).select('id').limit(limit).offset(skip);
    return inOrder(listed(db).where('id', 'in', selected), order).execute();
  }
  const places =
    ids === null
      ? placesOf(db, page, words)
      : within(matching(db, page), everything, page.after).where('id', 'in', ids).select(['id', 'sort_key']);
  if (places === null) return [];
  const selected = db
    .selectFrom(places.as('places'))
    .select('id')
    .orderBy('sort_key')
    .orderBy('id')
    .limit(limit)
    .offset(skip);
  return inOrder(listed(db).where('id', 'in', selected), order).execute();
}

/** Selects whole rows; used for the entries of a page only. */
function listed(db: Connection) {
  return db.selectFrom('images').select(listedColumns);
}

/** Returns how many entries come before an entry in its dataset; null when the filter leaves the entry out. */
export async function countImagesBefore(
  db: Connection,
  filter: ImageFilter,
  order: ImageOrder,
  entry: Pick<ImageRow, 'id' | 'sort_key' | 'dataset_name' | 'size_bytes' | 'created_at'>,
): Promise<number | null> {
  if (filter.dataset !== undefined && filter.dataset !== entry.dataset_name) return null;
  const inDataset = { ...filter, dataset: entry.dataset_name };
  const words = searchWords(filter.search ?? '');
  const matches = await withWords(db, inDataset, words).where('id', '=', entry.id).select('id').execute();
  if (matches.length === 0) return null;
  const isEarlier = sql<boolean>`(sort_key, id) < (${entry.sort_key}, ${entry.id})`;
  const column = order === 'newest' ? 'created_at' : 'size_bytes';
  const value = entry[column];
  const condition =
    order === 'name'
      ? isEarlier
      : sql<boolean>`(${sql.ref(column)} > ${value} or (${sql.ref(column)} = ${value} and ${isEarlier}))`;
  const { count } = await within(withWords(db, inDataset, words), rangeOfDataset(entry.dataset_name), null)
    .where(condition)
    .select((eb) => eb.fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Number of entries with one dataset and one organ, and the values by which datasets are sorted in the other orders. */
export interface ImageCount {
  readonly dataset: string | null;
  readonly organ: string | null;
  readonly images: number;
  /** Creation time of the newest entry, ISO 8601. */
  readonly newest: string;
  /** Size of the largest entry in bytes. */
  readonly largest: number;
}

/** Counts the entries that match a search, by dataset and organ. */
export async function countImages(
  db: Connection,
  filter: Visibility & Pick<ImageFilter, 'search'>,
): Promise<ImageCount[]> {
  const all = { ...filter, dataset: undefined, organ: undefined };
  const rows = await withWords(db, all, searchWords(filter.search ?? ''))
    .select((eb) => [
      'dataset_name',
      'organ_type',
      eb.fn.countAll().as('images'),
      eb.fn.max('created_at').as('newest'),
      eb.fn.max('size_bytes').as('largest'),
    ])
    .groupBy(['dataset_name', 'organ_type'])
    .execute();
  return rows.map((row) => ({
    dataset: row.dataset_name,
    organ: row.organ_type,
    images: Number(row.images),
    newest: row.newest,
    largest: Number(row.largest),
  }));
}

/** Whether the reader sees every listed entry. */
function seesEverything({ status, includesHidden, restrictedDatasets }: Visibility): boolean {
  return status === null && includesHidden && restrictedDatasets.size === 0;
}

/** @returns null when there are more than `maxSortedResults` */
async function idsWithWords(
  db: Connection,
  filter: ImageFilter,
  words: readonly string[],
): Promise<string[] | null> {
  const rows = await db
    .selectFrom('images')
    .select('id')
    .where(hasWords(db, filter, words))
    .limit(maxSortedResults + 1)
    .execute();
  return rows.length > maxSortedResults ? null : rows.map(({ id }) => id);
}

/** Returns the condition that the search text contains each word; null without words. */
export function containsWords(search: string): RawBuilder<boolean> | null {
  const words = searchWords(search);
  return words.length === 0 ? null : contains(words);
}

function contains(words: readonly string[]): RawBuilder<boolean> {
  const patterns = words.map((word) => `%${word.replace(/[\\%_]/g, '\\$&')}%`);
  const conditions = patterns.map((pattern) => sql`search_text like ${pattern} escape '\\'`);
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
}

/**
 * Returns the condition that an entry has the words. The text of entries that the reader may not see is never compared,
 * because the duration would reveal it. AND does not fix the order of evaluation, and a word index covers all entries.
 * CASE is evaluated from left to right and uses no index.
 */
function hasWords(db: Connection, filter: Visibility, words: readonly string[]): RawBuilder<boolean> {
  if (seesEverything(filter)) return contains(words);
  const never = isPostgres(db) ? sql`false` : sql`0`;
  return sql<boolean>`case when ${sql.join(visibility(db, filter), sql` and `)} then ${contains(words)} else ${never} end`;
}

function withWords(db: Connection, filter: ImageFilter, words: readonly string[]) {
  return words.length === 0 ? matching(db, filter) : matching(db, filter).where(hasWords(db, filter, words));
}

/** Returns the query of the matching places, range by range, so that the database does not read restricted datasets; null for none. */
function placesOf(db: Connection, page: ImagePage, words: readonly string[]) {
  const { after, limit, skip = 0 } = page;
  const all = withWords(db, page, words);
  const ahead = rangesOf(page).filter(({ to }) => to === null || after === null || to > after.sortKey);
  const [first, ...others] = ahead.map((range) => {
    const places = within(all, range, after)
      .select(['id', 'sort_key'])
      .orderBy('sort_key')
      .orderBy('id')
      .limit(limit + skip);
    return db.selectFrom(places.as('range')).select(['id', 'sort_key']);
  });
  return first === undefined ? null : others.reduce((parts, part) => parts.unionAll(part), first);
}

/** Sorts the matching entries by time or size; no index contains these orders. */
function orderedPlaces(db: Connection, page: ImagePage, words: readonly string[], order: ImageOrder) {
  const range = page.dataset === undefined ? everything : rangeOfDataset(page.dataset);
  return inOrder(within(withWords(db, page, words), range, null), order);
}

/** Whether the filter asks for a dataset that the reader may not see. */
function isRestricted({ dataset, restrictedDatasets }: ImageFilter): boolean {
  return dataset !== undefined && restrictedDatasets.has(dataset ?? withoutDataset);
}

function rangesOf({ dataset, ranges }: ImageFilter): readonly SortKeyRange[] {
  return dataset === undefined ? (ranges ?? [everything]) : [rangeOfDataset(dataset)];
}

const everything: SortKeyRange = { from: '', to: null };

/** Adds only one lower bound, because with two SQLite starts at the first and scans all entries that the second excludes. */
function within(
  query: ReturnType<typeof matching>,
  { from, to }: SortKeyRange,
  after: ImagePosition | null,
): ReturnType<typeof matching> {
  const ended = to === null ? query : query.where('sort_key', '<', to);
  if (after === null || after.sortKey < from)
    return from === '' ? ended : ended.where('sort_key', '>=', from);
  return ended.where(({ eb, refTuple, tuple }) =>
    eb(refTuple('sort_key', 'id'), '>', tuple(after.sortKey, after.id)),
  );
}

/** Adds the order of a list. */
function inOrder<Query extends { orderBy(column: 'sort_key' | 'id' | RawBuilder<unknown>): Query }>(
  query: Query,
  order: ImageOrder,
): Query {
  const first = order === 'newest' ? sql`created_at desc` : order === 'largest' ? sql`size_bytes desc` : null;
  return (first === null ? query : query.orderBy(first)).orderBy('sort_key').orderBy('id');
}

/** The listed entries that the reader may see and that match the filter, except for its search. */
function matching(db: Connection, filter: ImageFilter) {
  return filterConditions(db, filter).reduce(
    (query, condition) => query.where(condition),
    db.selectFrom('images'),
  );
}

/** Returns the conditions of a filter and of its search, for a query that joins other tables to `images`. */
export function filterAndSearchConditions(
  db: Connection,
  filter: ImageFilter,
): readonly RawBuilder<boolean>[] {
  const words = searchWords(filter.search ?? '');
  return [...filterConditions(db, filter), ...(words.length === 0 ? [] : [hasWords(db, filter, words)])];
}

function filterConditions(db: Connection, filter: ImageFilter): readonly RawBuilder<boolean>[] {
  const { dataset, organ, withoutCases = false } = filter;
  return [
    ...visibility(db, filter),
    ...(dataset === undefined ? [] : [equals(unindexed(db, 'dataset_name'), dataset)]),
    ...(organ === undefined ? [] : [equals(sql.ref('organ_type'), organ)]),
    ...(withoutCases ? [sql<boolean>`not exists ${casesOfImage}`] : []),
  ];
}

/** The cases of an image's dataset that it is in. */
const casesOfImage = sql`(select 1 from case_slides cross join cases
  where case_slides.image_id = images.id and cases.id = case_slides.case_id and cases.dataset = images.dataset_name)`;

function equals(column: RawBuilder<unknown>, value: string | null): RawBuilder<boolean> {
  return value === null ? sql<boolean>`${column} is null` : sql<boolean>`${column} = ${value}`;
}

/**
 * Returns a column reference that no index serves. SQLite has no statistics and would take an index on a common value for
 * selective; a plus before the name prevents that.
 */
function unindexed(db: Connection, name: keyof ImageRow): RawBuilder<unknown> {
  return isPostgres(db) ? sql.ref(name) : sql`+${sql.ref(name)}`;
}

/** The conditions under which the reader may see an entry. */
function visibility(db: Connection, filter: Visibility): readonly RawBuilder<boolean>[] {
  const column = (name: keyof ImageRow) => unindexed(db, name);
  const restricted = [...filter.restrictedDatasets];
  return [
    sql<boolean>`${column('removed_at')} is null`,
    sql<boolean>`${column('missing_since')} is null`,
    ...(filter.status === null ? [] : [sql<boolean>`${column('status')} = ${filter.status}`]),
    ...(filter.includesHidden ? [] : [sql<boolean>`${column('hidden_at')} is null`]),
    ...(restricted.length === 0
      ? []
      : [
          filter.restrictedDatasets.has(withoutDataset)
            ? sql<boolean>`dataset_name not in (${sql.join(restricted)})`
            : sql<boolean>`(dataset_name is null or dataset_name not in (${sql.join(restricted)}))`,
        ]),
  ];
}

/** Returns the names of the datasets that have entries, in no order. */
export async function listDatasetNames(db: Connection): Promise<string[]> {
  // Jumps from each name to the next in the index: one step per name instead of per entry.
  const { rows } = await sql<{ name: string }>`
    with recursive names (name) as (
      select min(dataset_name) from images
      union all
      select (select min(dataset_name) from images where dataset_name > name) from names where name is not null
    )
    select name from names where name is not null`.execute(db);
  return rows.map(({ name }) => name);
}
