/** Entries of the catalogue: one row for each file that is, or was, in a slide folder. */
import type { Image, ImageStatus } from '@lamina/contract';
import { foldForSearch } from '@lamina/contract';
import { sql } from 'kysely';
import { type Stretch, searchTextOf, sortKeyOf, sortKeysOfDataset } from '../domain/catalogue-order.ts';
import type { Change, Connection } from './database.ts';
import { isPostgres } from './dialects.ts';
import type { Row, SlideRoot } from './schema.ts';

export type ImageRow = Row<'images'>;

/** What a list says of an entry, and where it stands. */
const listedColumns = [
  'id',
  'file_name',
  'dataset_name',
  'organ_type',
  'width',
  'height',
  'mpp_x',
  'mpp_y',
  'objective_power',
  'derived_scale',
  'vendor',
  'format',
  'size_bytes',
  'status',
  'error',
  'hidden_at',
  'created_at',
  'sort_key',
] as const satisfies readonly (keyof ImageRow)[];

export type ListedImage = Pick<ImageRow, (typeof listedColumns)[number]>;

export function imageOf(row: Omit<ListedImage, 'sort_key'>): Image {
  return {
    id: row.id,
    file_name: row.file_name,
    dataset_name: row.dataset_name,
    organ_type: row.organ_type,
    width: row.width,
    height: row.height,
    mpp_x: row.mpp_x,
    mpp_y: row.mpp_y,
    objective_power: row.objective_power,
    mpp_derived: row.derived_scale === 'mpp',
    objective_power_derived: row.derived_scale === 'objective_power',
    vendor: row.vendor,
    format: row.format,
    size_bytes: row.size_bytes,
    status: row.status,
    error: row.error,
    hidden: row.hidden_at !== null,
    created_at: row.created_at,
  };
}

/** What the catalogue says of a slide, and an administrator may change. */
export const editableFields = ['file_name', 'dataset_name', 'organ_type'] as const;
export type EditableField = (typeof editableFields)[number];

export interface ImageFilter {
  /** Null: every status. */
  readonly status: ImageStatus | null;
  /** Also what is hidden from members. */
  readonly evenHidden: boolean;
  readonly search: string | undefined;
  readonly dataset: string | undefined;
  readonly organ: string | undefined;
  /** Entries of these are left out. */
  readonly closedDatasets: ReadonlySet<string>;
  /** Where entries that are not left out stand, as `openStretches` says it; null: anywhere. */
  readonly stretches: readonly Stretch[] | null;
  /** The last entry of the page before. */
  readonly after: { readonly sortKey: string; readonly id: string } | null;
  readonly limit: number;
}

/** So many entries with a word are put in order; a word that more have is met soon enough on the way through the list. */
const mostFound = 1000;

/** Entries that are listed, in the order of the catalogue. */
export async function listImages(db: Connection, filter: ImageFilter): Promise<ListedImage[]> {
  const { search = '', dataset, limit } = filter;
  const pattern = search === '' ? null : `%${foldForSearch(search).replace(/[\\%_]/g, '\\$&')}%`;
  // In one dataset the way through the list is short.
  const found = pattern === null || dataset !== undefined ? null : await idsWith(db, pattern);
  if (found?.length === 0) return [];
  const places =
    found === null
      ? placesOf(db, filter, pattern)
      : within(matching(db, filter), { from: '', to: null }, filter.after)
          .where('id', 'in', found)
          .select(['id', 'sort_key']);
  if (places === null) return [];
  const page = db.selectFrom(places.as('places')).select('id').orderBy('sort_key').orderBy('id').limit(limit);
  // The rows are read for the page that goes out.
  return db
    .selectFrom('images')
    .where('id', 'in', page)
    .select(listedColumns)
    .orderBy('sort_key')
    .orderBy('id')
    .execute();
}

/** @returns null when there are too many */
async function idsWith(db: Connection, pattern: string): Promise<string[] | null> {
  const rows = await db
    .selectFrom('images')
    .select('id')
    .where(hasWords(pattern))
    .limit(mostFound + 1)
    .execute();
  return rows.length > mostFound ? null : rows.map(({ id }) => id);
}

const hasWords = (pattern: string) => sql<boolean>`search_text like ${pattern} escape '\\'`;

/** What matches, stretch by stretch, so that nothing is walked through that is left out anyway. */
function placesOf(db: Connection, filter: ImageFilter, pattern: string | null) {
  const { dataset, stretches, after, limit } = filter;
  const all = pattern === null ? matching(db, filter) : matching(db, filter).where(hasWords(pattern));
  const wanted = dataset === undefined ? (stretches ?? everything) : [sortKeysOfDataset(dataset)];
  const ahead = wanted.filter(({ to }) => to === null || after === null || to > after.sortKey);
  const [first, ...others] = ahead.map((stretch) => {
    const page = within(all, stretch, after)
      .select(['id', 'sort_key'])
      .orderBy('sort_key')
      .orderBy('id')
      .limit(limit);
    return db.selectFrom(page.as('stretch')).select(['id', 'sort_key']);
  });
  return first === undefined ? null : others.reduce((parts, part) => parts.unionAll(part), first);
}

const everything: readonly Stretch[] = [{ from: '', to: null }];

/** One beginning alone: with two, SQLite begins at the first and looks at all that the second leaves out. */
function within(query: ReturnType<typeof matching>, { from, to }: Stretch, after: ImageFilter['after']) {
  const ended = to === null ? query : query.where('sort_key', '<', to);
  if (after === null || after.sortKey < from)
    return from === '' ? ended : ended.where('sort_key', '>=', from);
  return ended.where(({ eb, refTuple, tuple }) =>
    eb(refTuple('sort_key', 'id'), '>', tuple(after.sortKey, after.id)),
  );
}

/**
 * What a list is narrowed by. SQLite, which counts nothing beforehand, takes an index of what all entries have in common
 * for a short way to few of them; with a plus before its name, no index answers for a column.
 */
function matching(db: Connection, filter: ImageFilter) {
  const column = (name: keyof ImageRow) => (isPostgres(db) ? sql.ref(name) : sql`+${sql.ref(name)}`);
  let query = db
    .selectFrom('images')
    .where(sql<boolean>`${column('removed_at')} is null`)
    .where(sql<boolean>`${column('missing_since')} is null`);
  if (filter.status !== null) query = query.where(sql<boolean>`${column('status')} = ${filter.status}`);
  if (!filter.evenHidden) query = query.where(sql<boolean>`${column('hidden_at')} is null`);
  if (filter.dataset !== undefined) {
    query = query.where(sql<boolean>`${column('dataset_name')} = ${filter.dataset}`);
  }
  if (filter.organ !== undefined) query = query.where('organ_type', '=', filter.organ);
  const closed = [...filter.closedDatasets];
  if (closed.length > 0) {
    query = query.where((eb) =>
      eb.or([eb('dataset_name', 'is', null), eb('dataset_name', 'not in', closed)]),
    );
  }
  return query;
}

/** Names of the datasets that entries are in, in no order. */
export async function listDatasetNames(db: Connection): Promise<string[]> {
  // From each name to the next in the index: as many steps as there are names, not entries.
  const { rows } = await sql<{ name: string }>`
    with recursive names (name) as (
      select min(dataset_name) from images
      union all
      select (select min(dataset_name) from images where dataset_name > name) from names where name is not null
    )
    select name from names where name is not null`.execute(db);
  return rows.map(({ name }) => name);
}

/** Also a removed one; null when its file is gone, unless that is asked for. */
export async function findImage(
  db: Connection,
  id: string,
  { evenMissing = false } = {},
): Promise<ImageRow | null> {
  const row = await db.selectFrom('images').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined || (row.missing_since !== null && !evenMissing) ? null : row;
}

/** Names of catalogue entries, those that are not shown any more included; in no order. */
export async function listImageNames(
  db: Connection,
  imageIds: readonly string[],
): Promise<{ readonly id: string; readonly fileName: string; readonly isListed: boolean }[]> {
  if (imageIds.length === 0) return [];
  const rows = await db
    .selectFrom('images')
    .select(['id', 'file_name', 'removed_at', 'missing_since'])
    .where('id', 'in', [...imageIds])
    .execute();
  return rows.map(({ id, file_name, removed_at, missing_since }) => ({
    id,
    fileName: file_name,
    isListed: removed_at === null && missing_since === null,
  }));
}

/** Whether no file has an entry: removed ones count, files that are gone do not. */
export async function hasNoImages(db: Connection): Promise<boolean> {
  const any = await db
    .selectFrom('images')
    .select('id')
    .where('missing_since', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return any === undefined;
}

/** What a scan compares the files with: every row there is. */
export type ScannedRow = Pick<
  ImageRow,
  | 'id'
  | 'root'
  | 'path'
  | 'members'
  | 'fingerprint'
  | 'status'
  | 'error'
  | 'file_name'
  | 'dataset_name'
  | 'organ_type'
  | 'edited_fields'
  | 'size_bytes'
  | 'missing_since'
>;

const scannedColumns = [
  'id',
  'root',
  'path',
  'members',
  'fingerprint',
  'status',
  'error',
  'file_name',
  'dataset_name',
  'organ_type',
  'edited_fields',
  'size_bytes',
  'missing_since',
] as const satisfies readonly (keyof ScannedRow)[];

/** By id, those behind this one; '' is before all. */
export function listScannedRows(db: Connection, afterId: string, limit: number): Promise<ScannedRow[]> {
  return db
    .selectFrom('images')
    .select(scannedColumns)
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** The row of a slide by where its leading file is, or was last; null when there is none. */
export async function findImageAt(db: Connection, root: SlideRoot, path: string): Promise<ScannedRow | null> {
  const row = await db
    .selectFrom('images')
    .select(scannedColumns)
    .where('root', '=', root)
    .where('path', '=', path)
    .executeTakeFirst();
  return row ?? null;
}

export interface NewImage {
  readonly id: string;
  readonly root: SlideRoot;
  readonly path: string;
  readonly members: string;
  /** As it was found; null when nobody has looked. */
  readonly fingerprint: string | null;
  readonly file_name: string;
  readonly dataset_name: string | null;
  readonly organ_type: string | null;
  readonly size_bytes: number;
}

/** Pending entries, some hundred at most. Another process may have found a file first: then its entry stands. */
export async function insertImages(tx: Connection, images: readonly NewImage[], now: string): Promise<void> {
  if (images.length === 0) return;
  await tx
    .insertInto('images')
    .values(
      images.map((image) => ({
        ...image,
        sort_key: sortKeyOf(image),
        search_text: searchTextOf(image),
        edited_fields: '[]',
        status: 'pending',
        error: null,
        width: null,
        height: null,
        mpp_x: null,
        mpp_y: null,
        objective_power: null,
        derived_scale: null,
        vendor: null,
        format: null,
        created_at: now,
        updated_at: now,
        removed_at: null,
        missing_since: null,
        hidden_at: null,
      })),
    )
    .onConflict((conflict) => conflict.columns(['root', 'path']).doNothing())
    .execute();
}

export type ImageChanges = Partial<
  Pick<
    ImageRow,
    | EditableField
    | 'edited_fields'
    | 'root'
    | 'path'
    | 'members'
    | 'fingerprint'
    | 'status'
    | 'error'
    | 'width'
    | 'height'
    | 'mpp_x'
    | 'mpp_y'
    | 'objective_power'
    | 'derived_scale'
    | 'vendor'
    | 'format'
    | 'size_bytes'
    | 'removed_at'
    | 'missing_since'
    | 'hidden_at'
  >
>;

/** Keeps place and search text in step with the names. @returns null when there is no such row */
export async function updateImage(
  tx: Change,
  id: string,
  changes: ImageChanges,
  now: string,
): Promise<ImageRow | null> {
  const changed = await tx
    .updateTable('images')
    .set({ ...changes, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  if (changed === undefined) return null;
  if (!editableFields.some((field) => field in changes)) return changed;
  return tx
    .updateTable('images')
    .set({ sort_key: sortKeyOf(changed), search_text: searchTextOf(changed) })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}
