/** Catalogue entries: one row for each slide that is, or was, in a slide root. */
import { searchTextOf, sortKeyOf } from '../domain/catalogue-order.ts';
import { registerNames } from './catalogue-names.ts';
import type { Change, Connection } from './database.ts';
import { isOneOf } from './dialects.ts';
import type { Row, SlideRoot } from './schema.ts';

export type ImageRow = Row<'images'>;

/** Fields of an entry that an administrator may edit. */
export const editableFields = ['file_name', 'dataset_name', 'organ_type'] as const;
export type EditableField = (typeof editableFields)[number];

/** Finds an entry, also a removed one; null when its file is missing, unless `includeMissing`. */
export async function findImage(
  db: Connection,
  id: string,
  { includeMissing = false } = {},
): Promise<ImageRow | null> {
  const row = await db.selectFrom('images').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined || (row.missing_since !== null && !includeMissing) ? null : row;
}

/** Lists names of entries, unlisted ones included, unordered. */
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

/** Whether the catalogue has no entry with a file; removed entries count, missing files do not. */
export async function hasNoImages(db: Connection): Promise<boolean> {
  const any = await db
    .selectFrom('images')
    .select('id')
    .where('missing_since', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return any === undefined;
}

/** The columns that a scan compares with the files; scans read all rows. */
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
  | 'hidden_at'
  | 'metadata_hold'
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
  'hidden_at',
  'metadata_hold',
] as const satisfies readonly (keyof ScannedRow)[];

/** Lists rows by id, starting after an id; '' starts at the first. */
export function listScannedRows(db: Connection, afterId: string, limit: number): Promise<ScannedRow[]> {
  return db
    .selectFrom('images')
    .select(scannedColumns)
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Finds the entry by the current or last path of its leading file; null when there is none. */
export async function findImageAt(db: Connection, root: SlideRoot, path: string): Promise<ScannedRow | null> {
  const row = await db
    .selectFrom('images')
    .select(scannedColumns)
    .where('root', '=', root)
    .where('path', '=', path)
    .executeTakeFirst();
  return row ?? null;
}

/** Where the leading file of an entry is or was, and its dataset. */
export type ImageLocation = Pick<ImageRow, 'id' | 'root' | 'path' | 'dataset_name'>;

/** Lists the entries with these paths below a root, unordered. */
export function listImagesAt(
  db: Connection,
  root: SlideRoot,
  paths: readonly string[],
): Promise<ImageLocation[]> {
  return placedImages(db)
    .where('root', '=', root)
    .where(isOneOf(db, 'path', paths))
    .execute();
}

/** Lists entries by id, unordered; unknown ones are missing from the result. */
export function findImageLocations(db: Connection, ids: readonly string[]): Promise<ImageLocation[]> {
  return placedImages(db)
    .where(isOneOf(db, 'id', ids))
    .execute();
}

function placedImages(db: Connection) {
  return db.selectFrom('images').select(['id', 'root', 'path', 'dataset_name']);
}

export interface NewImage {
  readonly id: string;
  readonly root: SlideRoot;
  readonly path: string;
  readonly members: string;
  /** Fingerprint from the scan; null when it was not computed. */
  readonly fingerprint: string | null;
  readonly file_name: string;
  readonly dataset_name: string | null;
  readonly organ_type: string | null;
  readonly size_bytes: number;
  /** Null or absent: members see the slide as soon as it is read. */
  readonly hidden_at?: string | null;
  readonly metadata_hold?: string | null;
}

/** Inserts pending entries, some hundred at most. An entry that another process inserted first stays. */
export async function insertImages(tx: Connection, images: readonly NewImage[], now: string): Promise<void> {
  if (images.length === 0) return;
  const spelled = await withCanonicalNames(tx, images);
  await tx
    .insertInto('images')
    .values(
      spelled.map((image) => ({
        hidden_at: null,
        metadata_hold: null,
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
        file_mpp_x: null,
        file_mpp_y: null,
        file_objective_power: null,
        entered_mpp: null,
        entered_objective_power: null,
        plane: null,
        planes: null,
        times: null,
        error_code: null,
        vendor: null,
        format: null,
        created_at: now,
        updated_at: now,
        removed_at: null,
        missing_since: null,
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
    | 'file_mpp_x'
    | 'file_mpp_y'
    | 'file_objective_power'
    | 'entered_mpp'
    | 'entered_objective_power'
    | 'plane'
    | 'planes'
    | 'times'
    | 'error_code'
    | 'vendor'
    | 'format'
    | 'size_bytes'
    | 'removed_at'
    | 'missing_since'
    | 'hidden_at'
    | 'metadata_hold'
  >
>;

/** Replaces datasets and organs by their canonical spelling, and registers new names. */
export async function withCanonicalNames<T extends Partial<Pick<ImageRow, 'dataset_name' | 'organ_type'>>>(
  tx: Connection,
  images: readonly T[],
): Promise<T[]> {
  const datasets = await registerNames(
    tx,
    'dataset',
    images.flatMap(({ dataset_name: name }) => name ?? []),
  );
  const organs = await registerNames(
    tx,
    'organ',
    images.flatMap(({ organ_type: name }) => name ?? []),
  );
  return images.map((image) => ({
    ...image,
    ...(image.dataset_name && { dataset_name: datasets(image.dataset_name) }),
    ...(image.organ_type && { organ_type: organs(image.organ_type) }),
  }));
}

/**
 * Updates an entry, and its sort key and search text with the names.
 *
 * @returns null when the entry does not exist
 */
export async function updateImage(
  tx: Change,
  id: string,
  changes: ImageChanges,
  now: string,
): Promise<ImageRow | null> {
  const [spelled = changes] = await withCanonicalNames(tx, [changes]);
  const changed = await tx
    .updateTable('images')
    .set({ ...spelled, updated_at: now })
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
