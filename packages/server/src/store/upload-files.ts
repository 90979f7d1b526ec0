/** The files of uploads that are not done, and how far each of them is. */
import type { Connection } from './database.ts';
import type { NewRow, Row } from './schema.ts';

export type UploadFileRow = Row<'upload_files'>;

export async function insertUploadFile(db: Connection, file: NewRow<'upload_files'>): Promise<void> {
  await db.insertInto('upload_files').values(file).execute();
}

export async function findUploadFile(db: Connection, id: string): Promise<UploadFileRow | null> {
  return (await db.selectFrom('upload_files').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;
}

/** Sorted by their paths. */
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

/** How many there are of each upload, and how much of it is checked. */
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
  const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + of(row), 0);
  return {
    files: sum(({ count }) => Number(count)),
    bytes: sum(({ bytes }) => Number(bytes ?? 0)),
    checked: sum(({ state, count }) => (state === 'checked' ? Number(count) : 0)),
  };
}

/**
 * Takes a file that has come whole and that nobody is reading; whoever takes it has until the lease ends.
 *
 * @returns null when there is none
 */
export async function claimUploadFile(
  db: Connection,
  { now, until }: { readonly now: string; readonly until: string },
): Promise<UploadFileRow | null> {
  for (;;) {
    const free = await db
      .selectFrom('upload_files')
      .select('id')
      .where('state', '=', 'checking')
      .where((eb) => eb.or([eb('leased_until', 'is', null), eb('leased_until', '<', now)]))
      .limit(1)
      .executeTakeFirst();
    if (free === undefined) return null;
    const taken = await db
      .updateTable('upload_files')
      .set({ leased_until: until })
      .where('id', '=', free.id)
      .where('state', '=', 'checking')
      .where((eb) => eb.or([eb('leased_until', 'is', null), eb('leased_until', '<', now)]))
      .returningAll()
      .executeTakeFirst();
    if (taken !== undefined) return taken; // else another process was quicker
  }
}
