/** Metadata files that scans have found. A file stays known until it is found again or an administrator removes its entry. */
import { type Change, type Connection, change, type Database } from './database.ts';
import type { SlideRoot } from './schema.ts';

/** Lists paths relative to the root. */
export async function listMetadataFiles(db: Connection, root: SlideRoot): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom('metadata_files').select('path').where('root', '=', root).execute();
  return new Set(rows.map(({ path }) => path));
}

export async function insertMetadataFiles(
  tx: Change,
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

export async function deleteMetadataFiles(
  tx: Change,
  root: SlideRoot,
  paths: readonly string[],
): Promise<void> {
  if (paths.length === 0) return;
  await tx.deleteFrom('metadata_files').where('root', '=', root).where('path', 'in', paths).execute();
}

/**
 * Deletes metadata files whose entries an administrator has removed, and those entries. A missing file then
 * counts as absent; an existing one is listed again by the next scan.
 */
export async function deleteRemovedMetadataFiles(db: Database): Promise<void> {
  if ((await listRemoved(db)).length === 0) return; // a change without need would invalidate all cached lists
  await change(db, 'catalogue', async (tx) => {
    for (const { id, root, path } of await listRemoved(tx)) {
      await deleteMetadataFiles(tx, root, [path]);
      await tx.deleteFrom('images').where('id', '=', id).execute();
    }
  });
}

function listRemoved(db: Connection) {
  return db
    .selectFrom('metadata_files')
    .innerJoin('images', (join) =>
      join.onRef('images.root', '=', 'metadata_files.root').onRef('images.path', '=', 'metadata_files.path'),
    )
    .select(['images.id', 'images.root', 'images.path'])
    .where('images.removed_at', 'is not', null)
    .execute();
}
