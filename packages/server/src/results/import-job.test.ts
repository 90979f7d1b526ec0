/** Tests the job that imports result files, with a slide bucket that the test replaces. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { JobWorker } from '../jobs/jobs.ts';
import type { ObjectStore } from '../slide-storage/object-storage.ts';
import { deleteResultLayerRow, insertResultLayer, newResultColumns } from '../store/result-layers.ts';
import { testServer } from '../testing/test-server.ts';
import { createResultImports } from './import-job.ts';
import { resultFiles } from './result-files.ts';

describe('the import of a result file', () => {
  it('stops the download of the file when its layer is deleted, although the download makes no progress', async () => {
    const { services, config, fixtures } = await testServer();
    const { db, now, log } = services;
    const image = await fixtures.image({ root: 'bucket', width: 10, height: 10 });
    const layer = await db.transaction().execute((tx) =>
      insertResultLayer(tx, {
        ...newResultColumns,
        id: randomUUID(),
        image_id: image.id,
        name: 'Tumor',
        kind: 'raster',
        owner_uid: null,
        source: 'folder',
        source_path: 'a_mask.tif',
        state: 'queued',
        created_at: now().toISOString(),
        updated_at: now().toISOString(),
      }),
    );
    const requested = Promise.withResolvers<void>();
    const store: Pick<ObjectStore, 'head'> = {
      head: (_, signal) => {
        requested.resolve();
        return new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason as Error));
        });
      },
    };
    let runImport: JobWorker<'import-result'> | undefined;
    createResultImports({
      config,
      db,
      now,
      log,
      files: resultFiles(config),
      store: store as ObjectStore,
      jobs: {
        setWorker: (_, worker) => {
          runImport = worker as JobWorker<'import-result'>;
        },
        enqueue: async () => undefined,
      },
    });
    const running = runImport?.({ layerId: layer.id }, new AbortController().signal);
    await requested.promise;
    await deleteResultLayerRow(db, layer.id);
    await expect(running).resolves.toBeUndefined();
  });
});
