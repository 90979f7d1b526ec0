import type { Jobs } from '../jobs/jobs.ts';
import type { Database } from '../store/database.ts';
import { updateResultLayerInState } from '../store/result-layers.ts';

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly jobs: Pick<Jobs, 'enqueue'>;
}

/** Queues the import of a layer whose file is complete. May be called repeatedly: the job ignores a layer that is imported already. */
export async function queueImport({ db, now, jobs }: Dependencies, layerId: string): Promise<void> {
  const changes = { state: 'queued', updated_at: now().toISOString() } as const;
  await updateResultLayerInState(db, layerId, changes, ['uploading']); // no change in any other state
  await jobs.enqueue('import-result', { layerId });
}
