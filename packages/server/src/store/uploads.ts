/**
 * Queries for uploads (a file, or a folder of files, that an administrator uploads), and for the slides that they have created. An
 * upload is `open` while its files are sent and verified, `placing` while it is moved to the slide storage, then `done` for some days.
 */
import { expressionBuilder, sql } from 'kysely';
import type { Connection } from './database.ts';
import { isPostgres } from './dialects.ts';
import type { NewRow, Row, SlideRoot, Tables } from './schema.ts';

export type UploadRow = Row<'uploads'>;

export async function insertUpload(db: Connection, upload: NewRow<'uploads'>): Promise<void> {
  await db.insertInto('uploads').values(upload).execute();
}

export async function findUpload(db: Connection, id: string): Promise<UploadRow | null> {
  return (await db.selectFrom('uploads').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;
}

/** Finds the unfinished upload to a destination. @param placeKey normalised path of the destination, unique among unfinished uploads */
export async function findUploadAt(db: Connection, placeKey: string): Promise<UploadRow | null> {
  const row = await db.selectFrom('uploads').selectAll().where('place_key', '=', placeKey).executeTakeFirst();
  return row ?? null;
}

/** Lists the 200 latest uploads of an account, newest first. */
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

/** Lists the unfinished uploads of all accounts, oldest first. */
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

/**
 * Deletes an upload that is still open, or that could not be moved to the slide storage (problem `storage`), unless a process tries
 * to move it again.
 *
 * @param now ISO 8601
 * @returns false when the upload is in another state, and therefore was not deleted
 */
export async function deleteUnfinishedUpload(db: Connection, id: string, now: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('uploads')
    .where('id', '=', id)
    .where((eb) =>
      eb.or([eb('state', '=', 'open'), eb.and([eb('problem', '=', 'storage'), isNotLeased(now)])]),
    )
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0;
}

/** Condition: no process holds a lease on the upload, so none works on it. @param now ISO 8601 */
const isNotLeased = (now: string) => {
  const eb = expressionBuilder<Tables, 'uploads'>();
  return eb.or([eb('leased_until', 'is', null), eb('leased_until', '<', now)]);
};

/** Deletes the records of uploads that were done before a time (ISO 8601). */
export async function deleteDoneUploads(db: Connection, before: string): Promise<void> {
  await db.deleteFrom('uploads').where('state', '=', 'done').where('touched_at', '<', before).execute();
}

/** Returns the number of all unfinished uploads and their total announced size in bytes. */
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

/** Returns the total size in bytes of the uploaded slides whose files still exist. */
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
  readonly error_code: string | null;
}

/**
 * Lists the slides that an upload has created: the slide at a path, or the first 100 slides below a folder.
 *
 * @param destination `targetPath` is the path of the file or folder relative to the root
 */
export function listImagesOfUpload(
  db: Connection,
  {
    root,
    targetPath,
    isFolder,
  }: { readonly root: SlideRoot; readonly targetPath: string; readonly isFolder: boolean },
): Promise<ImageOfUpload[]> {
  const images = db
    .selectFrom('images')
    .select(['id', 'path', 'file_name', 'status', 'error', 'error_code'])
    .where('root', '=', root)
    .where('missing_since', 'is', null);
  if (!isFolder) return images.where('path', '=', targetPath).execute();
  // '0' is the character after '/', so paths between "folder/" and "folder0" are below the folder. This needs the byte order
  // of collation "C"; the order of a language may be different.
  const path = isPostgres(db) ? sql<string>`path collate "C"` : sql.ref<string>('path');
  return images
    .where(path, '>', `${targetPath}/`)
    .where(path, '<', `${targetPath}0`)
    .orderBy('path')
    .limit(100)
    .execute();
}

/**
 * Claims an upload (state `placing`), so that this process moves it to its destination. No other process can claim it
 * until the lease ends at `until` (ISO 8601).
 *
 * @returns null when another process has claimed it, or it is done
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
    .where(isNotLeased(now))
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

/**
 * Returns whether a newly announced upload can resume a stored one. The stored one must still be open, and both must be of the same
 * kind (file or folder), with the same number of files and the same size.
 */
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
