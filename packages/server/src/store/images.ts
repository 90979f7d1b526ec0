/**
 * Queries that read and change catalogue entries, mainly for scans, which compare the entries with the stored files.
 * There is one entry for each slide that is, or was, in a slide root (a storage location such as the slide folder or
 * the bucket), and for each faulty metadata file (catalogue.csv or dataset.json).
 */
import { searchTextOf, sortKeyOf } from '../domain/catalogue-order.ts';
import { registerNames } from './catalogue-names.ts';
import type { Connection, DatabaseTransaction } from './database.ts';
import { isOneOf } from './dialects.ts';
import type { Row, SlideRoot } from './schema.ts';

export type ImageRow = Row<'images'>;

/** Fields of an entry that an administrator may edit. */
export const editableFields = ['file_name', 'dataset_name', 'organ_type'] as const;
export type EditableField = (typeof editableFields)[number];

/** Finds an entry, even a removed one; null if there is none, or its file is missing and `includeMissing` is false. */
export async function findImage(
  db: Connection,
  id: string,
  { includeMissing = false } = {},
): Promise<ImageRow | null> {
  const row = await db.selectFrom('images').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined || (row.missing_since !== null && !includeMissing) ? null : row;
}

/** Lists the file names of entries by id, unordered. Entries that are removed or whose file is missing have `isListed` false. */
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

/** Returns whether no entry has an existing file. Removed entries count, too. */
export async function hasNoImages(db: Connection): Promise<boolean> {
  const firstImage = await db
    .selectFrom('images')
    .select('id')
    .where('missing_since', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return firstImage === undefined;
}

/** The columns that a scan compares with the files (see `NewImage`). A scan reads all rows, but only these columns. */
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

/** Lists entries sorted by id, starting after `afterId`; '' starts with the first entry. */
export function listScannedRows(db: Connection, afterId: string, limit: number): Promise<ScannedRow[]> {
  return db
    .selectFrom('images')
    .select(scannedColumns)
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Finds an entry by the current or last known path of its main file; null when there is none. */
export async function findImageAt(db: Connection, root: SlideRoot, path: string): Promise<ScannedRow | null> {
  const row = await db
    .selectFrom('images')
    .select(scannedColumns)
    .where('root', '=', root)
    .where('path', '=', path)
    .executeTakeFirst();
  return row ?? null;
}

/** Current or last known path of an entry's main file (the file by which the slide is opened), and its dataset. */
export type ImageLocation = Pick<ImageRow, 'id' | 'root' | 'path' | 'dataset_name'>;

/** Lists the entries with these paths below a root, unordered. */
export function listImagesAt(
  db: Connection,
  root: SlideRoot,
  paths: readonly string[],
): Promise<ImageLocation[]> {
  return selectImageLocations(db)
    .where('root', '=', root)
    .where(isOneOf(db, 'path', paths))
    .execute();
}

/** Finds the locations of entries by id, unordered; unknown ids are missing from the result. */
export function findImageLocations(db: Connection, ids: readonly string[]): Promise<ImageLocation[]> {
  return selectImageLocations(db)
    .where(isOneOf(db, 'id', ids))
    .execute();
}

function selectImageLocations(db: Connection) {
  return db.selectFrom('images').select(['id', 'root', 'path', 'dataset_name']);
}

export interface NewImage {
  readonly id: string;
  readonly root: SlideRoot;
  readonly path: string;
  /** JSON array of the slide's other files (see `ImageTable` in schema.ts). */
  readonly members: string;
  /** Fingerprint (a value that changes whenever a file of the slide changes) that the scan computed; null when it computed none. */
  readonly fingerprint: string | null;
  readonly file_name: string;
  readonly dataset_name: string | null;
  readonly organ_type: string | null;
  readonly size_bytes: number;
  /** Time since which the entry is hidden. Null or absent: members see the slide as soon as it has been read. */
  readonly hidden_at?: string | null;
  /** JSON: why the metadata files are not applied to the slide (see schema.ts). Null or absent: they are applied. */
  readonly metadata_hold?: string | null;
}

/**
 * Inserts entries with the status `pending` (the slide has not been read yet). The caller passes at most a few hundred
 * entries, because a statement has a limited number of parameters. An existing entry for the same path stays unchanged.
 */
export async function insertImages(tx: Connection, images: readonly NewImage[], now: string): Promise<void> {
  if (images.length === 0) return;
  const canonicalImages = await withCanonicalNames(tx, images);
  await tx
    .insertInto('images')
    .values(
      canonicalImages.map((image) => ({
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

/** Returns copies of the images with the canonical spelling of their dataset and organ. Registers names that are new. */
export async function withCanonicalNames<T extends Partial<Pick<ImageRow, 'dataset_name' | 'organ_type'>>>(
  tx: Connection,
  images: readonly T[],
): Promise<T[]> {
  const canonicalDataset = await registerNames(
    tx,
    'dataset',
    images.flatMap(({ dataset_name: name }) => name ?? []),
  );
  const canonicalOrgan = await registerNames(
    tx,
    'organ',
    images.flatMap(({ organ_type: name }) => name ?? []),
  );
  return images.map((image) => ({
    ...image,
    ...(image.dataset_name && { dataset_name: canonicalDataset(image.dataset_name) }),
    ...(image.organ_type && { organ_type: canonicalOrgan(image.organ_type) }),
  }));
}

/**
 * Updates an entry. When a name changes, also updates the sort key (the position in the catalogue) and the search text.
 *
 * @returns the changed entry; null when it does not exist
 */
export async function updateImage(
  tx: DatabaseTransaction,
  id: string,
  changes: ImageChanges,
  now: string,
): Promise<ImageRow | null> {
  const [canonicalChanges = changes] = await withCanonicalNames(tx, [changes]); // the default only satisfies the type
  const changed = await tx
    .updateTable('images')
    .set({ ...canonicalChanges, updated_at: now })
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
