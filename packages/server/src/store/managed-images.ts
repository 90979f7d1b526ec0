/** Entries of the catalogue as administrators keep them: removed ones, hidden ones and those without a file too. */
import { foldForSearch, type ManagedCounts, type ManagedStatus } from '@lamina/contract';
import { type RawBuilder, sql } from 'kysely';
import { searchTextOf, sortKeyOf, sortKeysOfDataset } from '../domain/catalogue-order.ts';
import type { Change, Connection, Database } from './database.ts';
import type { ImageRow } from './images.ts';

export interface ManagedFilter {
  readonly search: string | undefined;
  /** Empty: entries that are in no dataset. */
  readonly dataset: string | undefined;
}

interface ManagedPage extends ManagedFilter {
  readonly status: ManagedStatus;
  /** The last entry of the page before. */
  readonly after: { readonly sortKey: string; readonly id: string } | null;
  readonly limit: number;
}

const isListed = sql<boolean>`removed_at is null and missing_since is null`;

const conditions: Readonly<Record<ManagedStatus, RawBuilder<boolean>>> = {
  listed: isListed,
  ready: sql<boolean>`${isListed} and status = 'ready'`,
  pending: sql<boolean>`${isListed} and status = 'pending'`,
  failed: sql<boolean>`${isListed} and status = 'failed'`,
  hidden: sql<boolean>`${isListed} and hidden_at is not null`,
  missing: sql<boolean>`removed_at is null and missing_since is not null`,
  removed: sql<boolean>`removed_at is not null`,
};

/** In the order of the catalogue. */
export function listManagedImages(db: Connection, page: ManagedPage): Promise<ImageRow[]> {
  let places = matching(db, page).where(conditions[page.status]);
  const { after } = page;
  if (after !== null) {
    places = places.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('sort_key', 'id'), '>', tuple(after.sortKey, after.id)),
    );
  }
  // Found in the index alone; the rows are read for the page that goes out.
  const found = places.select('id').orderBy('sort_key').orderBy('id').limit(page.limit);
  return db
    .selectFrom('images')
    .selectAll()
    .where('id', 'in', found)
    .orderBy('sort_key')
    .orderBy('id')
    .execute();
}

export async function countManagedImages(db: Connection, filter: ManagedFilter): Promise<ManagedCounts> {
  const counted = (status: ManagedStatus) =>
    sql<number | null>`sum(case when ${conditions[status]} then 1 else 0 end)`.as(status);
  const statuses = Object.keys(conditions) as ManagedStatus[];
  const counts = await matching(db, filter).select(statuses.map(counted)).executeTakeFirstOrThrow();
  // A sum of nothing is null; PostgreSQL gives sums as text.
  return Object.fromEntries(statuses.map((status) => [status, Number(counts[status] ?? 0)])) as ManagedCounts;
}

function matching(db: Connection, { search, dataset }: ManagedFilter) {
  let query = db.selectFrom('images');
  if (dataset === '') query = query.where('dataset_name', 'is', null);
  else if (dataset !== undefined) {
    const { from, to } = sortKeysOfDataset(dataset);
    query = query
      .where('sort_key', '>=', from)
      .where('sort_key', '<', to)
      .where('dataset_name', '=', dataset);
  }
  if (search !== undefined && search !== '') {
    const pattern = `%${foldForSearch(search).replace(/[\\%_]/g, '\\$&')}%`;
    query = query.where(sql<boolean>`search_text like ${pattern} escape '\\'`);
  }
  return query;
}

/** Of these; in no order. Those that are not there are not among them. */
export async function findImages(db: Connection, ids: readonly string[]): Promise<ImageRow[]> {
  const found: ImageRow[] = [];
  for (let from = 0; from < ids.length; from += idsAtOnce) {
    const some = ids.slice(from, from + idsAtOnce);
    found.push(...(await db.selectFrom('images').selectAll().where('id', 'in', some).execute()));
  }
  return found;
}

/** Far below what either database takes as parameters of one statement. */
const idsAtOnce = 500;

/** What a catalogue file is compared with. */
export type NamedImage = Pick<
  ImageRow,
  'id' | 'path' | 'file_name' | 'dataset_name' | 'organ_type' | 'edited_fields'
>;

/** Entries that are listed, by their ids: the next ones after this one. */
export function listNamedImages(db: Connection, afterId: string, limit: number): Promise<NamedImage[]> {
  return db
    .selectFrom('images')
    .select(['id', 'path', 'file_name', 'dataset_name', 'organ_type', 'edited_fields'])
    .where('removed_at', 'is', null)
    .where('missing_since', 'is', null)
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Entries that are listed, in the order of the catalogue: the next ones after this place. */
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

/** What an entry is called from now on, all of it. */
export type Naming = Pick<ImageRow, 'id' | 'file_name' | 'dataset_name' | 'organ_type' | 'edited_fields'>;

/** Many at once, by one statement. At most as many as go into one: some hundred. */
export async function nameImages(tx: Change, namings: readonly Naming[], now: string): Promise<void> {
  if (namings.length === 0) return;
  const rows = namings.map(
    (naming) =>
      sql`(${naming.id}, ${naming.file_name}, ${naming.dataset_name}, ${naming.organ_type}, ${naming.edited_fields}, ${sortKeyOf(naming)}, ${searchTextOf(naming)})`,
  );
  // Both databases call the columns of such a list column1, column2 …; the first row says of which type they are.
  await sql`
    update images set
      file_name = named.column2,
      dataset_name = cast(named.column3 as text),
      organ_type = cast(named.column4 as text),
      edited_fields = named.column5,
      sort_key = named.column6,
      search_text = named.column7,
      updated_at = ${now}
    from (values ${sql.join(rows)}) as named
    where images.id = named.column1
  `.execute(tx);
}
