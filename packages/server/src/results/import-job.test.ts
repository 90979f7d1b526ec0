/** Tests the job that imports result files, with a slide bucket that the test replaces. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type JobWorker, RetryLater } from '../jobs/jobs.ts';
import type { ObjectStore } from '../slide-storage/object-storage.ts';
import {
  deleteResultLayerRow,
  findResultLayer,
  insertResultLayer,
  newResultColumns,
} from '../store/result-layers.ts';
import type { SlideRoot } from '../store/schema.ts';
import { testServer } from '../testing/test-server.ts';
import { createResultImports } from './import-job.ts';
import { resultFiles } from './result-files.ts';
import { buildValueTiff } from './testing/value-tiff.ts';

/** Starts a server with a queued layer of the file `a_mask.tif`. `importWith` returns a function that runs the import. */
async function startWithLayer(root: SlideRoot) {
  const { services, config, fixtures } = await testServer();
  const { db, now, log } = services;
  const image = await fixtures.image({ root, width: 10, height: 10 });
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
  const files = resultFiles(config);
  function importWith(store: Pick<ObjectStore, 'head'> | null) {
    let runImport: JobWorker<'import-result'> | undefined;
    createResultImports({
      config,
      db,
      now,
      log,
      files,
      store: store as ObjectStore | null,
      jobs: {
        setWorker: (_, worker) => {
          runImport = worker as JobWorker<'import-result'>;
        },
        enqueue: async () => undefined,
      },
    });
    return async () => runImport?.({ layerId: layer.id }, new AbortController().signal);
  }
  return { db, config, files, layer, importWith };
}

describe('the import of an analysis result file', () => {
  it('ends without an error when its result layer is deleted while the object store does not respond to the download', async () => {
    const { db, layer, importWith } = await startWithLayer('bucket');
    const requested = Promise.withResolvers<void>();
    const store: Pick<ObjectStore, 'head'> = {
      head: (_, signal) => {
        requested.resolve();
        return new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason as Error));
        });
      },
    };
    const running = importWith(store)();
    await requested.promise;
    await deleteResultLayerRow(db, layer.id);
    await expect(running).resolves.toBeUndefined();
  });

  it.skipIf(!existsSync('/dev/full'))(
    'is retried, and its result layer stays queued, while the disk of the data folder is full',
    async () => {
      const { db, config, files, layer, importWith } = await startWithLayer('slides');
      const mask = buildValueTiff({ width: 16, height: 16, values: new Uint8Array(256).fill(1) });
      await fs.writeFile(path.join(config.slidesDir, 'a_mask.tif'), mask);
      await fs.mkdir(files.folder, { recursive: true });
      // Every write to /dev/full fails as on a full disk. The failed import deletes the link.
      await fs.symlink('/dev/full', `${files.pathOf(layer.id)}.importing`);
      const runImport = importWith(null);
      await expect(runImport()).rejects.toBeInstanceOf(RetryLater);
      expect(await findResultLayer(db, layer.id)).toMatchObject({ state: 'queued', problem: null });
      await runImport();
      expect(await findResultLayer(db, layer.id)).toMatchObject({ state: 'ready', problem: null });
    },
  );
});
