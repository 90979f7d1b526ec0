/** Uploads: announced, in progress, or done in the last days. */
import { sql } from 'kysely';
import type { Connection } from './database.ts';
import { isPostgres } from './dialects.ts';
import type { NewRow, Row, SlideRoot } from './schema.ts';

export type UploadRow = Row<'uploads'>;

export async function insertUpload(db: Connection, upload: NewRow<'uploads'>): Promise<void> {
  await db.insertInto('uploads').values(upload).execute();
}

export async function findUpload(db: Connection, id: string): Promise<UploadRow | null> {
  return (await db.selectFrom('uploads').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;
}

/** Finds the unfinished upload with this target path. */
export async function findUploadAt(db: Connection, placeKey: string): Promise<UploadRow | null> {
  const row = await db.selectFrom('uploads').selectAll().where('place_key', '=', placeKey).executeTakeFirst();
  return row ?? null;
}

/** Lists the latest uploads first, at most 200. */
export function listUploadsOf(db: Connection, uid: string): Promise<UploadRow[]> {
  return db
    .selectFrom('uploads')
    .selectAll()
    .where('uid', '=', uid)
    .orderBy('begun_at', 'desc')
    .orderBy('id')
    .limit(200)
    .execute();
}

/** Lists unfinished uploads. */
export function listUnfinishedUploads(db: Connection): Promise<UploadRow[]> {
  return db.selectFrom('uploads').selectAll().where('state', '!=', 'done').orderBy('begun_at').execute();
}

export async function updateUpload(
  db: Connection,
  id: string,
  changes: Partial<Pick<UploadRow, 'state' | 'problem' | 'place_key' | 'leased_until' | 'touched_at'>>,
): Promise<void> {
  await db.updateTable('uploads').set(changes).where('id', '=', id).execute();
}

/** @returns false when the upload is not open any more, and so was not deleted */
export async function deleteOpenUpload(db: Connection, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('uploads')
    .where('id', '=', id)
    .where('state', '=', 'open')
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0;
}

/** @param before ISO 8601; deletes uploads that were done earlier */
export async function deleteDoneUploads(db: Connection, before: string): Promise<void> {
  await db.deleteFrom('uploads').where('state', '=', 'done').where('touched_at', '<', before).execute();
}

/** Sums the announced bytes of all unfinished uploads. */
export async function sumUnfinishedUploads(
  db: Connection,
): Promise<{ readonly uploads: number; readonly bytes: number }> {
  const { count, bytes } = await db
    .selectFrom('uploads')
    .select((eb) => [eb.fn.countAll().as('count'), eb.fn.sum('size_bytes').as('bytes')])
    .where('state', '!=', 'done')
    .executeTakeFirstOrThrow();
  return { uploads: Number(count), bytes: Number(bytes ?? 0) };
}

/** Sums the bytes of uploaded slides that still exist. */
export async function sumUploadedSlides(db: Connection): Promise<number> {
  const { bytes } = await db
    .selectFrom('images')
    .select((eb) => eb.fn.sum('size_bytes').as('bytes'))
    .where('root', '=', 'uploads')
    .where('missing_since', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(bytes ?? 0);
}

interface ImageOfUpload {
  readonly id: string;
  readonly path: string;
  readonly file_name: string;
  readonly status: Row<'images'>['status'];
  readonly error: string | null;
}

/** Lists the slides at a path relative to the root: a file, or all below a folder; at most 100. */
export function listImagesAt(
  db: Connection,
  { root, place, isFolder }: { readonly root: SlideRoot; readonly place: string; readonly isFolder: boolean },
): Promise<ImageOfUpload[]> {
  const images = db
    .selectFrom('images')
    .select(['id', 'path', 'file_name', 'status', 'error'])
    .where('root', '=', root)
    .where('missing_since', 'is', null);
  if (!isFolder) return images.where('path', '=', place).execute();
  // '0' is the character after '/'. The collation of a language would order them differently.
  const path = isPostgres(db) ? sql<string>`path collate "C"` : sql.ref<string>('path');
  return images
    .where(path, '>', `${place}/`)
    .where(path, '<', `${place}0`)
    .orderBy('path')
    .limit(100)
    .execute();
}

/**
 * Claims an upload for placing, until the lease ends.
 *
 * @returns null when another process claimed it first, or it is done
 */
export async function claimUpload(
  db: Connection,
  id: string,
  { now, until }: { readonly now: string; readonly until: string },
): Promise<UploadRow | null> {
  const row = await db
    .updateTable('uploads')
    .set({ state: 'placing', leased_until: until })
    .where('id', '=', id)
    .where('state', '!=', 'done')
    .where((eb) => eb.or([eb('leased_until', 'is', null), eb('leased_until', '<', now)]))
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

export function isSameUpload(
  row: UploadRow,
  announced: { readonly isFolder: boolean; readonly fileCount: number; readonly sizeBytes: number },
): boolean {
  return (
    row.state === 'open' &&
    row.is_folder === (announced.isFolder ? 1 : 0) &&
    row.file_count === announced.fileCount &&
    row.size_bytes === announced.sizeBytes
  );
}
