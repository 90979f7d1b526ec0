import { eraseLayersDeletedBefore } from '../store/annotation-layers.ts';
import { eraseAnnotationsDeletedBefore } from '../store/annotations.ts';
import type { Database } from '../store/database.ts';
import { restorableSince } from './layers.ts';

/** Permanently deletes the layers and annotations that can no longer be restored. Called by a scheduled job. */
export async function sweepAnnotations(db: Database, now: Date): Promise<void> {
  const before = restorableSince(now);
  await eraseLayersDeletedBefore(db, before);
  await db.transaction().execute((tx) => eraseAnnotationsDeletedBefore(tx, before));
}
