/**
 * Queries for the slide management of administrators. They also see catalogue entries that are removed or hidden, and entries
 * whose file is missing.
 */
import type { ManagedCounts, ManagedStatus } from '@lamina/contract';
import { type RawBuilder, sql } from 'kysely';
import { rangeOfNamedDataset, searchTextOf, sortKeyOf } from '../domain/catalogue-order.ts';
import type { Connection, Database, DatabaseTransaction } from './database.ts';
import { type ImageRow, withCanonicalNames } from './images.ts';
import { containsWords } from './listed-images.ts';

export interface ManagedFilter {
  /** Words that the search text of an entry must contain; undefined: no search. */
  readonly search: string | undefined;
  /** Dataset of the entries; '' selects entries without a dataset; undefined does not filter by dataset. */
  readonly dataset: string | undefined;
}

interface ManagedPage extends ManagedFilter {
  readonly status: ManagedStatus;
  /** Last entry of the previous page; null starts with the first entry. */
  readonly after: { readonly sortKey: string; readonly id: string } | null;
  readonly limit: number;
}

/** Condition for the listed entries: their file exists, and no administrator has removed them. Hidden entries are listed, too. */
const isListed = sql<boolean>`removed_at is null and missing_since is null`;

const statusConditions: Readonly<Record<ManagedStatus, RawBuilder<boolean>>> = {
  listed: isListed,
  ready: sql<boolean>`${isListed} and status = 'ready'`,
  pending: sql<boolean>`${isListed} and status = 'pending'`,
  failed: sql<boolean>`${isListed} and status = 'failed'`,
  hidden: sql<boolean>`${isListed} and hidden_at is not null`,
  missing: sql<boolean>`removed_at is null and missing_since is not null`,
  removed: sql<boolean>`removed_at is not null`,
  // A scan did not apply the metadata files to these entries (see domain/metadata-hold.ts).
  held: sql<boolean>`${isListed} and metadata_hold is not null`,
};

/** Lists a page of entries in catalogue order. */
export function listManagedImages(db: Connection, page: ManagedPage): Promise<ImageRow[]> {
  let entries = selectMatching(db, page).where(statusConditions[page.status]);
  const { after } = page;
  if (after !== null) {
    entries = entries.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('sort_key', 'id'), '>', tuple(after.sortKey, after.id)),
    );
  }
  // The subquery finds the ids of the page in an index, so the outer query reads whole rows of this page only.
  const pageIds = entries.select('id').orderBy('sort_key').orderBy('id').limit(page.limit);
  return db
    .selectFrom('images')
    .selectAll()
    .where('id', 'in', pageIds)
    .orderBy('sort_key')
    .orderBy('id')
    .execute();
}

/** Counts the entries of each status that match a filter. */
export async function countManagedImages(db: Connection, filter: ManagedFilter): Promise<ManagedCounts> {
  const countOf = (status: ManagedStatus) =>
    sql<number | null>`sum(case when ${statusConditions[status]} then 1 else 0 end)`.as(status);
  const statuses = Object.keys(statusConditions) as ManagedStatus[];
  const counts = await selectMatching(db, filter).select(statuses.map(countOf)).executeTakeFirstOrThrow();
  // The sum of no rows is null; PostgreSQL returns sums as text.
  return Object.fromEntries(statuses.map((status) => [status, Number(counts[status] ?? 0)])) as ManagedCounts;
}

function selectMatching(db: Connection, { search, dataset }: ManagedFilter) {
  let query = db.selectFrom('images');
  if (dataset === '') query = query.where('dataset_name', 'is', null);
  else if (dataset !== undefined) {
    // The range lets the query use the index of sort keys. Names that differ only in case share a range, so the
    // query also compares the name.
    const { from, to } = rangeOfNamedDataset(dataset);
    query = query
      .where('sort_key', '>=', from)
      .where('sort_key', '<', to)
      .where('dataset_name', '=', dataset);
  }
  const searchCondition = containsWords(search ?? '');
  return searchCondition === null ? query : query.where(searchCondition);
}

/** Finds entries by id, unordered; unknown ids are missing from the result. */
export async function findImages(db: Connection, ids: readonly string[]): Promise<ImageRow[]> {
  const images: ImageRow[] = [];
  for (let start = 0; start < ids.length; start += idsPerStatement) {
    const batch = ids.slice(start, start + idsPerStatement);
    images.push(...(await db.selectFrom('images').selectAll().where('id', 'in', batch).execute()));
  }
  return images;
}

/** Number of ids per statement, which stays below SQLite's limit of 32,766 parameters. */
const idsPerStatement = 500;

/** Id of an entry, and the columns that change when an administrator or a scan renames it or moves it to another dataset. */
export type ImageNames = Pick<
  ImageRow,
  'id' | 'file_name' | 'dataset_name' | 'organ_type' | 'edited_fields' | 'metadata_hold'
>;

/** The columns that an import compares with the rows of a catalogue file (a CSV that an administrator exported and edited). */
export type ImageNamesAndPath = ImageNames & Pick<ImageRow, 'path'>;

/** Returns the names and paths of listed entries, sorted by id, starting after `afterId`. */
export function listImageNamesAndPaths(
  db: Connection,
  afterId: string,
  limit: number,
): Promise<ImageNamesAndPath[]> {
  return db
    .selectFrom('images')
    .select(['id', 'path', 'file_name', 'dataset_name', 'organ_type', 'edited_fields', 'metadata_hold'])
    .where('removed_at', 'is', null)
    .where('missing_since', 'is', null)
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Returns listed entries in catalogue order, starting after a position, for the export to a catalogue file. */
export function listImagesToExport(
  db: Database,
  after: { readonly sortKey: string; readonly id: string },
  limit: number,
): Promise<Pick<ImageRow, 'id' | 'sort_key' | 'file_name' | 'dataset_name' | 'organ_type'>[]> {
  return db
    .selectFrom('images')
    .select(['id', 'sort_key', 'file_name', 'dataset_name', 'organ_type'])
    .where('removed_at', 'is', null)
    .where('missing_since', 'is', null)
    .where(({ eb, refTuple, tuple }) => eb(refTuple('sort_key', 'id'), '>', tuple(after.sortKey, after.id)))
    .orderBy('sort_key')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/**
 * Updates the names of entries with one statement. The caller passes at most a few hundred entries, because a
 * statement has a limited number of parameters.
 */
export async function updateImageNames(
  tx: DatabaseTransaction,
  entries: readonly ImageNames[],
  now: string,
): Promise<void> {
  if (entries.length === 0) return;
  const canonicalNames = await withCanonicalNames(tx, entries);
  const rows = canonicalNames.map(
    (names) =>
      sql`(${names.id}, ${names.file_name}, ${names.dataset_name}, ${names.organ_type}, ${names.edited_fields}, ${names.metadata_hold}, ${sortKeyOf(names)}, ${searchTextOf(names)})`,
  );
  // Both databases name the columns of `values` column1, column2 …. The first row determines their types, so nullable
  // columns need a cast.
  await sql`
    update images set
      file_name = named.column2,
      dataset_name = cast(named.column3 as text),
      organ_type = cast(named.column4 as text),
      edited_fields = named.column5,
      metadata_hold = cast(named.column6 as text),
      sort_key = named.column7,
      search_text = named.column8,
      updated_at = ${now}
    from (values ${sql.join(rows)}) as named
    where images.id = named.column1
  `.execute(tx);
}
