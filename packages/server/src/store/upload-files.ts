/**
 * Queries for the files of unfinished uploads and for their progress. A file whose bytes have all arrived has the
 * state `checking` until a process has verified its checksum. The state then becomes `checked` or, if the checksum differs, `refused`.
 */
import type { Connection } from './database.ts';
import type { NewRow, Row } from './schema.ts';

export type UploadFileRow = Row<'upload_files'>;

export async function insertUploadFile(db: Connection, file: NewRow<'upload_files'>): Promise<void> {
  await db.insertInto('upload_files').values(file).execute();
}

export async function findUploadFile(db: Connection, id: string): Promise<UploadFileRow | null> {
  return (await db.selectFrom('upload_files').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;
}

/** Lists the files of an upload, sorted by path. */
export function listUploadFiles(db: Connection, uploadId: string): Promise<UploadFileRow[]> {
  return db
    .selectFrom('upload_files')
    .selectAll()
    .where('upload_id', '=', uploadId)
    .orderBy('path')
    .execute();
}

export async function deleteUploadFile(db: Connection, id: string): Promise<void> {
  await db.deleteFrom('upload_files').where('id', '=', id).execute();
}

export async function deleteUploadFiles(db: Connection, uploadId: string): Promise<void> {
  await db.deleteFrom('upload_files').where('upload_id', '=', uploadId).execute();
}

export async function updateUploadFile(
  db: Connection,
  id: string,
  changes: Partial<Pick<UploadFileRow, 'state' | 'sha256' | 'leased_until'>>,
): Promise<void> {
  await db.updateTable('upload_files').set(changes).where('id', '=', id).execute();
}

/** Returns the number of files of an upload, their total size in bytes, and the number of files that have been checked. */
export async function countUploadFiles(
  db: Connection,
  uploadId: string,
): Promise<{ readonly files: number; readonly bytes: number; readonly checked: number }> {
  const rows = await db
    .selectFrom('upload_files')
    .select((eb) => ['state', eb.fn.countAll().as('count'), eb.fn.sum('size_bytes').as('bytes')])
    .where('upload_id', '=', uploadId)
    .groupBy('state')
    .execute();
  type StateRow = (typeof rows)[number];
  const sumOf = (numberOf: (row: StateRow) => number) =>
    rows.reduce((total, row) => total + numberOf(row), 0);
  return {
    files: sumOf(({ count }) => Number(count)),
    bytes: sumOf(({ bytes }) => Number(bytes ?? 0)),
    checked: sumOf(({ state, count }) => (state === 'checked' ? Number(count) : 0)),
  };
}

/**
 * Claims a completely received file, so that this process checks it. No other process can claim it until the lease ends at `until`
 * (ISO 8601).
 *
 * @returns null when no file waits for its check
 */
export async function claimUploadFile(
  db: Connection,
  { now, until }: { readonly now: string; readonly until: string },
): Promise<UploadFileRow | null> {
  for (;;) {
    const candidate = await db
      .selectFrom('upload_files')
      .select('id')
      .where('state', '=', 'checking')
      .where((eb) => eb.or([eb('leased_until', 'is', null), eb('leased_until', '<', now)]))
      .limit(1)
      .executeTakeFirst();
    if (candidate === undefined) return null;
    const claimed = await db
      .updateTable('upload_files')
      .set({ leased_until: until })
      .where('id', '=', candidate.id)
      .where('state', '=', 'checking')
      .where((eb) => eb.or([eb('leased_until', 'is', null), eb('leased_until', '<', now)]))
      .returningAll()
      .executeTakeFirst();
    if (claimed !== undefined) return claimed;
    // Another process claimed the candidate first, so the loop tries the next one.
  }
}
