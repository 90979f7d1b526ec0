/**
 * Queries that list, count and search catalogue entries for a reader (the account that sends the request), who may not see all of
 * them. They are written so that each database uses the intended index, because a catalogue may have 100,000 entries. They must also
 * never compare the text of entries that the reader may not see: the duration of a search would reveal that text.
 *
 * The file is long because lists, counts and searches share the conditions of the reader.
 */
import { type ImageOrder, type ImageStatus, searchWords } from '@lamina/contract';
import { type RawBuilder, sql } from 'kysely';
import { rangeOfDataset, type SortKeyRange } from '../domain/catalogue-order.ts';
import { noDataset } from '../domain/dataset-access.ts';
import type { Connection } from './database.ts';
import { isPostgres } from './dialects.ts';
import { type ListedImage, listedColumns } from './listed-image.ts';
import type { Row } from './schema.ts';

type ImageRow = Row<'images'>;

/** The entries that a reader may see. */
export interface Visibility {
  /** Status that entries must have; null allows every status. */
  readonly status: ImageStatus | null;
  /** Whether hidden entries, which only administrators may see, are included. */
  readonly includesHidden: boolean;
  /** Datasets whose entries the reader may not see; `noDataset` stands for entries without a dataset. */
  readonly inaccessibleDatasets: ReadonlySet<string>;
  /** Ranges of sort keys outside the restricted datasets (`unrestrictedRanges` in domain/catalogue-order.ts); null: no limit. */
  readonly ranges: readonly SortKeyRange[] | null;
}

/** The entries that a list contains: what the reader requests, of the entries that the reader may see (`Visibility`). */
export interface ImageFilter extends Visibility {
  /** Words that the search text of an entry must contain, as the user typed them; undefined: no search. */
  readonly search: string | undefined;
  /** Dataset of the entries; null selects entries without a dataset, undefined those of all datasets. */
  readonly dataset: string | null | undefined;
  /** Organ of the entries; null selects entries without an organ, undefined those of all organs. */
  readonly organ: string | null | undefined;
  /** Excludes entries that are in a case of their dataset. */
  readonly withoutCases?: boolean;
}

/** Position of an entry in the catalogue, which is sorted by sort key (dataset, then file name) and id. */
export interface ImagePosition {
  readonly sortKey: string;
  readonly id: string;
}

/** A page of a list, either after an entry or after a number of entries. */
export interface ImagePage extends ImageFilter {
  readonly order?: ImageOrder;
  /** Last entry of the previous page, for the order `name` only; null starts with the first entry. */
  readonly after: ImagePosition | null;
  /** Number of entries to skip before the page. */
  readonly skip?: number;
  readonly limit: number;
}

/**
 * A search with at most this number of matches finds all of them in the word index (`images_by_words`, an index of `search_text`) and
 * sorts them. With more matches, the words are so frequent that a scan of the sorted list quickly finds enough entries for a page.
 */
const maxSortedResults = 1000;

/** Returns a page of entries in the requested order. */
export async function listImages(db: Connection, page: ImagePage): Promise<ListedImage[]> {
  const { order = 'name', dataset, limit, skip = 0 } = page;
  // A restricted dataset looks like one that does not exist. Returning here guarantees that no query reads its entries.
  if (isForRestrictedDataset(page)) return [];

  const words = searchWords(page.search ?? '');
  // A search either scans the list or first finds the matching entries in the word index. The list of one dataset is short enough
  // to scan. On SQLite, the lists of readers with restrictions are scanned too: one index contains all filter columns, and the
  // visible entries are adjacent in it. `matchingIds` is null when the list is scanned, which also happens with too many matches.
  const scansList = order !== 'name' || dataset !== undefined || (!isPostgres(db) && !seesEverything(page));
  const matchingIds = words.length === 0 || scansList ? null : await findIdsWithWords(db, page, words);
  if (matchingIds?.length === 0) return [];

  // Each query first selects the ids of the page from an index, then reads the rows of these ids.
  if (order !== 'name') {
    const pageIds = selectSortedByColumn(db, page, words, order).select('id').limit(limit).offset(skip);
    return sortInOrder(selectListedColumns(db).where('id', 'in', pageIds), order).execute();
  }
  const positions =
    matchingIds === null
      ? selectPositions(db, page, words)
      : withinRange(selectMatching(db, page), allSortKeys, page.after)
          .where('id', 'in', matchingIds)
          .select(['id', 'sort_key']);
  if (positions === null) return []; // the reader may see no range of sort keys after the previous page
  const pageIds = db
    .selectFrom(positions.as('positions'))
    .select('id')
    .orderBy('sort_key')
    .orderBy('id')
    .limit(limit)
    .offset(skip);
  return sortInOrder(selectListedColumns(db).where('id', 'in', pageIds), order).execute();
}

/** Selects the columns of lists. The query reads whole rows instead of an index, so it must select only one page. */
function selectListedColumns(db: Connection) {
  return db.selectFrom('images').select(listedColumns);
}

/** Returns how many entries precede `entry` in the list of its dataset; null when the filter excludes `entry`. */
export async function countImagesBefore(
  db: Connection,
  filter: ImageFilter,
  order: ImageOrder,
  entry: Pick<ImageRow, 'id' | 'sort_key' | 'dataset_name' | 'size_bytes' | 'created_at'>,
): Promise<number | null> {
  if (filter.dataset !== undefined && filter.dataset !== entry.dataset_name) return null;
  const filterInDataset = { ...filter, dataset: entry.dataset_name };
  const words = searchWords(filter.search ?? '');
  const matches = await selectMatchingWords(db, filterInDataset, words)
    .where('id', '=', entry.id)
    .select('id')
    .execute();
  if (matches.length === 0) return null;

  const precedesByName = sql<boolean>`(sort_key, id) < (${entry.sort_key}, ${entry.id})`;
  const column = order === 'newest' ? 'created_at' : 'size_bytes'; // not used for the order `name`
  const value = entry[column];
  const precedesEntry =
    order === 'name'
      ? precedesByName
      : sql<boolean>`(${sql.ref(column)} > ${value} or (${sql.ref(column)} = ${value} and ${precedesByName}))`;
  const { count } = await withinRange(
    selectMatchingWords(db, filterInDataset, words),
    rangeOfDataset(entry.dataset_name),
    null, // from the first entry
  )
    .where(precedesEntry)
    .select((eb) => eb.fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Number of entries with the same dataset and organ, and the values by which `newest` and `largest` sort datasets. */
export interface ImageCount {
  readonly dataset: string | null;
  readonly organ: string | null;
  readonly images: number;
  /** Creation time of the newest entry, ISO 8601. */
  readonly newest: string;
  /** Size of the largest entry in bytes. */
  readonly largest: number;
}

/** Counts the entries that match a search, grouped by dataset and organ. */
export async function countImages(
  db: Connection,
  filter: Visibility & Pick<ImageFilter, 'search'>,
): Promise<ImageCount[]> {
  const filterOfAll = { ...filter, dataset: undefined, organ: undefined };
  const rows = await selectMatchingWords(db, filterOfAll, searchWords(filter.search ?? ''))
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

/** Returns whether the reader may see every listed entry (one that no administrator has removed and whose file exists). */
function seesEverything({ status, includesHidden, inaccessibleDatasets }: Visibility): boolean {
  return status === null && includesHidden && inaccessibleDatasets.size === 0;
}

/** Returns the ids of all entries that contain the words; null when there are more than `maxSortedResults`. */
async function findIdsWithWords(
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

/** Returns the condition that the search text contains each word; null if there are no words. */
export function containsWords(search: string): RawBuilder<boolean> | null {
  const words = searchWords(search);
  return words.length === 0 ? null : textContains(words);
}

function textContains(words: readonly string[]): RawBuilder<boolean> {
  // Escapes the wildcards of LIKE: the word 5% becomes the pattern %5\%%.
  const patterns = words.map((word) => `%${word.replace(/[\\%_]/g, '\\$&')}%`);
  const conditions = patterns.map((pattern) => sql`search_text like ${pattern} escape '\\'`);
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
}

/**
 * Returns the condition that an entry contains the words, without comparing the text of entries that the reader may not see.
 * AND would not guarantee that: databases evaluate its operands in any order, and the word index covers all entries. CASE
 * evaluates the visibility first and prevents the use of the word index.
 */
function hasWords(db: Connection, filter: Visibility, words: readonly string[]): RawBuilder<boolean> {
  if (seesEverything(filter)) return textContains(words);
  const isVisible = sql.join(visibilityConditions(db, filter), sql` and `);
  const never = isPostgres(db) ? sql`false` : sql`0`;
  return sql<boolean>`case when ${isVisible} then ${textContains(words)} else ${never} end`;
}

function selectMatchingWords(db: Connection, filter: ImageFilter, words: readonly string[]) {
  const query = selectMatching(db, filter);
  return words.length === 0 ? query : query.where(hasWords(db, filter, words));
}

/**
 * Returns a query for the positions of the matching entries after the position `after`; null when none can match. It is a union
 * over the ranges of sort keys that the reader may see, so that the database does not read restricted datasets.
 */
function selectPositions(db: Connection, page: ImagePage, words: readonly string[]) {
  const { after, limit, skip = 0 } = page;
  const matching = selectMatchingWords(db, page, words);
  const remainingRanges = rangesOf(page).filter(
    ({ to: end }) => end === null || after === null || end > after.sortKey,
  );
  const [firstQuery, ...otherQueries] = remainingRanges.map((range) => {
    const positions = withinRange(matching, range, after)
      .select(['id', 'sort_key'])
      .orderBy('sort_key')
      .orderBy('id')
      .limit(limit + skip);
    return db.selectFrom(positions.as('range')).select(['id', 'sort_key']);
  });
  return firstQuery === undefined
    ? null
    : otherQueries.reduce((union, query) => union.unionAll(query), firstQuery);
}

/** Selects all matching entries, sorted by creation time or size. No index has this order: the database sorts them. */
function selectSortedByColumn(db: Connection, page: ImagePage, words: readonly string[], order: ImageOrder) {
  const range = page.dataset === undefined ? allSortKeys : rangeOfDataset(page.dataset);
  return sortInOrder(withinRange(selectMatchingWords(db, page, words), range, null), order); // null: from the start
}

/** Returns whether the filter selects a dataset that the reader may not see. */
function isForRestrictedDataset({ dataset, inaccessibleDatasets }: ImageFilter): boolean {
  return dataset !== undefined && inaccessibleDatasets.has(dataset ?? noDataset);
}

/** Returns the ranges of sort keys in which the query searches: that of the dataset, or those that the reader may see. */
function rangesOf({ dataset, ranges }: ImageFilter): readonly SortKeyRange[] {
  return dataset === undefined ? (ranges ?? [allSortKeys]) : [rangeOfDataset(dataset)];
}

const allSortKeys: SortKeyRange = { from: '', to: null };

/**
 * Limits a query to a range of sort keys and to the entries after a position. Adds only the higher of the two lower bounds:
 * given both, SQLite would start at the lower one and scan all entries that the other excludes.
 */
function withinRange(
  query: ReturnType<typeof selectMatching>,
  { from, to }: SortKeyRange,
  after: ImagePosition | null,
): ReturnType<typeof selectMatching> {
  const belowEnd = to === null ? query : query.where('sort_key', '<', to);
  if (after === null || after.sortKey < from)
    return from === '' ? belowEnd : belowEnd.where('sort_key', '>=', from);
  return belowEnd.where(({ eb, refTuple, tuple }) =>
    eb(refTuple('sort_key', 'id'), '>', tuple(after.sortKey, after.id)),
  );
}

/** Sorts a query in the order of a list; entries that are equal in that order are sorted by name. */
function sortInOrder<Query extends { orderBy(column: 'sort_key' | 'id' | RawBuilder<unknown>): Query }>(
  query: Query,
  order: ImageOrder,
): Query {
  const firstColumns = { name: null, newest: sql`created_at desc`, largest: sql`size_bytes desc` };
  const firstColumn = firstColumns[order];
  return (firstColumn === null ? query : query.orderBy(firstColumn)).orderBy('sort_key').orderBy('id');
}

/** Selects the listed entries that the reader may see and that match the filter. Does not apply the search words. */
function selectMatching(db: Connection, filter: ImageFilter) {
  return filterConditions(db, filter).reduce(
    (query, condition) => query.where(condition),
    db.selectFrom('images'),
  );
}

/** Returns the conditions of a filter including its search words, for a query that joins other tables to `images`. */
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
    ...visibilityConditions(db, filter),
    ...(dataset === undefined ? [] : [equals(unindexed(db, 'dataset_name'), dataset)]),
    ...(organ === undefined ? [] : [equals(sql.ref('organ_type'), organ)]),
    ...(withoutCases ? [sql<boolean>`not exists ${casesOfImage}`] : []),
  ];
}

/** Subquery for the cases that contain an image and belong to its dataset. */
const casesOfImage = sql`(select 1 from case_slides cross join cases
  where case_slides.image_id = images.id and cases.id = case_slides.case_id and cases.dataset = images.dataset_name)`;

function equals(column: RawBuilder<unknown>, value: string | null): RawBuilder<boolean> {
  return value === null ? sql<boolean>`${column} is null` : sql<boolean>`${column} = ${value}`;
}

/**
 * Returns a reference to a column for which SQLite uses no index. Without statistics, SQLite would use an index even
 * for a value that most rows have; a unary plus before the column name prevents that. PostgreSQL has statistics.
 */
function unindexed(db: Connection, name: keyof ImageRow): RawBuilder<unknown> {
  return isPostgres(db) ? sql.ref(name) : sql`+${sql.ref(name)}`;
}

/** Returns the conditions under which the reader may see an entry. */
function visibilityConditions(db: Connection, filter: Visibility): readonly RawBuilder<boolean>[] {
  const column = (name: keyof ImageRow) => unindexed(db, name);
  const restricted = [...filter.inaccessibleDatasets];
  return [
    sql<boolean>`${column('removed_at')} is null`,
    sql<boolean>`${column('missing_since')} is null`,
    ...(filter.status === null ? [] : [sql<boolean>`${column('status')} = ${filter.status}`]),
    ...(filter.includesHidden ? [] : [sql<boolean>`${column('hidden_at')} is null`]),
    ...(restricted.length === 0
      ? []
      : [
          filter.inaccessibleDatasets.has(noDataset)
            ? // This also excludes entries without a dataset, because a comparison with null is never true.
              sql<boolean>`dataset_name not in (${sql.join(restricted)})`
            : sql<boolean>`(dataset_name is null or dataset_name not in (${sql.join(restricted)}))`,
        ]),
  ];
}

/** Lists the names of the datasets that have entries, unordered. */
export async function listDatasetNames(db: Connection): Promise<string[]> {
  // The recursive query looks up the next name in the index: one step per name instead of one per entry.
  const { rows } = await sql<{ name: string }>`
    with recursive names (name) as (
      select min(dataset_name) from images
      union all
      select (select min(dataset_name) from images where dataset_name > name) from names where name is not null
    )
    select name from names where name is not null`.execute(db);
  return rows.map(({ name }) => name);
}
