/**
 * Queries for the metadata files (catalogue.csv or dataset.json) that scans have found. A file that disappears stays in the table,
 * so that scans can report it as missing. A missing or invalid file has a catalogue entry that shows administrators the error. When
 * an administrator removes this entry, the file also leaves the table.
 */
import {
  type Connection,
  type Database,
  type DatabaseTransaction,
  runLockedTransaction,
} from './database.ts';
import type { SlideRoot } from './schema.ts';

/** Lists the paths of the known metadata files of a root, relative to the root. */
export async function listMetadataFiles(db: Connection, root: SlideRoot): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom('metadata_files').select('path').where('root', '=', root).execute();
  return new Set(rows.map(({ path }) => path));
}

/** Adds metadata files by their paths relative to the root; known files stay unchanged. */
export async function insertMetadataFiles(
  tx: DatabaseTransaction,
  root: SlideRoot,
  paths: readonly string[],
  now: string,
): Promise<void> {
  if (paths.length === 0) return;
  await tx
    .insertInto('metadata_files')
    .values(paths.map((path) => ({ root, path, seen_at: now })))
    .onConflict((conflict) => conflict.columns(['root', 'path']).doNothing())
    .execute();
}

/** Removes metadata files from the table by their paths relative to the root. */
export async function deleteMetadataFiles(
  tx: DatabaseTransaction,
  root: SlideRoot,
  paths: readonly string[],
): Promise<void> {
  if (paths.length === 0) return;
  await tx.deleteFrom('metadata_files').where('root', '=', root).where('path', 'in', paths).execute();
}

/**
 * Deletes the rows of metadata files whose catalogue entry an administrator has removed, and deletes these entries. Scans then
 * no longer report the file as missing. If the file still exists, the next scan adds it again.
 */
export async function deleteRemovedMetadataFiles(db: Database): Promise<void> {
  // Acquiring the lock `catalogue` invalidates all cached lists, so this function returns early when there is nothing to delete.
  if ((await listRemovedMetadataFiles(db)).length === 0) return;
  await runLockedTransaction(db, 'catalogue', async (tx) => {
    for (const { id, root, path } of await listRemovedMetadataFiles(tx)) {
      await deleteMetadataFiles(tx, root, [path]);
      await tx.deleteFrom('images').where('id', '=', id).execute();
    }
  });
}

function listRemovedMetadataFiles(db: Connection) {
  return db
    .selectFrom('metadata_files')
    .innerJoin('images', (join) =>
      join.onRef('images.root', '=', 'metadata_files.root').onRef('images.path', '=', 'metadata_files.path'),
    )
    .select(['images.id', 'images.root', 'images.path'])
    .where('images.removed_at', 'is not', null)
    .execute();
}
