/** Tests that result files beside slides become result layers, which follow changes of the files, and are not listed as slides. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { apiBase, deleteResultLayer, listImages, listResultLayers } from '@lamina/contract';
import { buildSvs, makeBucket, withoutObjectStore } from '@lamina/slide/testing';
import { describe, expect, it, vi } from 'vitest';
import type { JobWorker } from '../jobs/jobs.ts';
import { deleteResultLayerRow, newResultColumns } from '../store/result-layers.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { slideServer } from '../testing/slide-server.ts';
import { registerFindResults } from './find-results.ts';
import { resultFiles } from './result-files.ts';
import { buildValueTiff } from './testing/value-tiff.ts';

// Slides are read in separate processes, whose start takes long on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

/** A GeoJSON file with one detected object. */
const point = { type: 'Feature', geometry: { type: 'Point', coordinates: [1, 2] }, properties: {} };

describe.each(databaseKinds)('search of the slide folder for analysis results (database: %s)', (database) => {
  it('adds a result layer for each result file beside a slide, and deletes the layer when the file is deleted', async () => {
    const server = await slideServer({ database });
    const { services, config } = server;
    const admin = server.as(await server.fixtures.admin());
    const maskValues = Uint8Array.from({ length: 256 }, (_, i) => [0, 100, 200][i % 3] as number);
    const mask = buildValueTiff({ width: 16, height: 16, values: maskValues });

    /** Writes a file whose modification time is old enough that the job considers it complete. */
    async function put(
      name: string,
      bytes: Uint8Array | string,
      modifiedAtSeconds = 1_000_000,
    ): Promise<void> {
      await server.put(name, bytes);
      await fs.utimes(path.join(config.slidesDir, name), modifiedAtSeconds, modifiedAtSeconds);
    }
    /** Runs the job and the imports that it queues, and returns the layers of the slide. */
    async function findAndImport() {
      await services.jobs.enqueue('find-results', {});
      await services.jobs.idle('find-results');
      await services.jobs.idle('import-result');
      const { body } = await admin.call(listResultLayers, {
        params: { imageId: await server.idOf('a.svs') },
      });
      return body.layers;
    }

    await put('Set/a.svs', await buildSvs());
    await put('Set/a_mask.tif', mask);
    await put('Set/a_detections.geojson', JSON.stringify([point]));
    await put('Set/a.svs_likelihood_map.tif', 'no TIFF');
    await put('Set/other_mask.tif.txt', mask); // neither a result nor a slide
    await fs.symlink('missing.png', path.join(config.slidesDir, 'Set/a_mask.png')); // a link without its target
    await server.rescan();
    expect((await admin.call(listImages)).body.images.map(({ file_name }) => file_name)).toEqual(['a.svs']);
    const found = await findAndImport();
    expect(
      found
        .map(({ name, kind, state, source, owner }) => [name, kind, state, source, owner])
        .sort((a, b) => (String(a) < String(b) ? -1 : 1)),
    ).toEqual([
      ['a.svs_likelihood_map.tif', 'raster', 'failed', 'folder', null],
      ['a_detections.geojson', 'vector', 'ready', 'folder', null],
      ['a_mask.tif', 'raster', 'ready', 'folder', null],
    ]);

    const layer = found.find(({ name }) => name === 'a_mask.tif');
    const session = await server.sessionOf(await server.fixtures.admin());
    const descriptor = await server.app.inject({
      url: `${apiBase}/image-catalog/overlays/${layer?.id}/descriptor?session=${session}`,
    });
    const { categories } = descriptor.json<{ categories: readonly { value: number }[] }>();
    // Only `_mask` in the file name makes these values categories: without it, three values above 64 would count as continuous.
    expect(categories.map(({ value }) => value)).toEqual([0, 100, 200]);
    expect((await admin.call(deleteResultLayer, { params: { layerId: layer?.id ?? '' } })).status).toBe(204);
    await fs.rm(path.join(config.slidesDir, 'Set/a_detections.geojson'));
    expect((await findAndImport()).map(({ name }) => name)).toEqual(['a.svs_likelihood_map.tif']);

    await put('Set/a_mask.tif', mask, 2_000_000);
    const afterReplacement = await findAndImport();
    expect(afterReplacement.map(({ name }) => name).sort()).toEqual([
      'a.svs_likelihood_map.tif',
      'a_mask.tif',
    ]);
    expect(afterReplacement.every(({ id }) => id !== layer?.id)).toBe(true);
  });

  it('keeps the layer of a result file that is being written again, until the complete file is imported', async () => {
    const server = await slideServer({ database });
    const { services, config } = server;
    const { db, now, log } = services;
    const admin = server.as(await server.fixtures.admin());
    // The queue runs only one search at a time. This test runs its own, so those that scans enqueue meanwhile must do nothing.
    services.jobs.setWorker('find-results', async () => {});
    await services.jobs.idle('find-results');
    const file = path.join(config.slidesDir, 'Set/a_detections.geojson');
    await server.put('Set/a.svs', await buildSvs());
    await server.put('Set/a_detections.geojson', JSON.stringify([point]));
    await fs.utimes(file, 1_000_000, 1_000_000);
    await server.rescan();

    /** The job, which the test runs itself: in the queue it would be repeated until the file is complete. */
    let search: JobWorker<'find-results'> | undefined;
    const enqueued: string[] = [];
    let areImportsHeld = false;
    registerFindResults({
      config,
      db,
      now,
      log,
      files: resultFiles(config),
      jobs: {
        setWorker: (_, worker) => {
          search = worker as JobWorker<'find-results'>;
        },
        enqueue: async (name, ...others) => {
          enqueued.push(name);
          if (name === 'import-result' && !areImportsHeld) await services.jobs.enqueue(name, ...others);
        },
      },
    });
    async function searchAndImport() {
      enqueued.length = 0;
      await search?.({}, new AbortController().signal);
      await services.jobs.idle('import-result');
      const { body } = await admin.call(listResultLayers, {
        params: { imageId: await server.idOf('a.svs') },
      });
      return body.layers.map(({ id, state, object_count }) => ({ id, state, object_count }));
    }

    const [before] = await searchAndImport();
    expect(before).toMatchObject({ state: 'ready', object_count: 1 });
    await server.put('Set/a_detections.geojson', '[{"type": "Feat'); // the first part of the new content, modified now
    expect(await searchAndImport()).toEqual([before]);
    expect(enqueued).toEqual(['find-results']); // searches again later

    await server.put('Set/a_detections.geojson', JSON.stringify([point, point]));
    await fs.utimes(file, 2_000_000, 2_000_000);
    areImportsHeld = true;
    const during = await searchAndImport();
    const queued = { id: expect.any(String) as string, state: 'queued', object_count: null };
    expect(during).toEqual(expect.arrayContaining([before, queued]));
    expect(await searchAndImport()).toEqual(during); // a search before the import has ended
    areImportsHeld = false;
    const layerId = during.find(({ state }) => state === 'queued')?.id ?? '';
    await services.jobs.enqueue('import-result', { layerId });
    const after = await searchAndImport();
    expect(after).toEqual([{ id: expect.any(String) as string, state: 'ready', object_count: 2 }]);
    expect(after[0]?.id).not.toBe(before?.id);
  });
});

describe('search of the slide folder for analysis results', () => {
  it('adds the result file a_detections.geojson as a layer to a.svs and to a.tif', async () => {
    const server = await slideServer();
    const { services, config } = server;
    const admin = server.as(await server.fixtures.admin());
    for (const name of ['a.svs', 'a.tif']) await server.put(`Set/${name}`, await buildSvs());
    await server.put('Set/a_detections.geojson', JSON.stringify([point]));
    await server.put('Set/a.tif.geojson', JSON.stringify([point, point]));
    const inAnHour = Date.now() / 1000 + 3600;
    for (const name of ['a_detections.geojson', 'a.tif.geojson'])
      await fs.utimes(path.join(config.slidesDir, 'Set', name), inAnHour, inAnHour);
    await server.rescan();
    async function layersAfterSearch() {
      await services.jobs.enqueue('find-results', {});
      await services.jobs.idle('find-results');
      await services.jobs.idle('import-result');
      const layers: { readonly id: string; readonly text: string }[] = [];
      for (const fileName of ['a.svs', 'a.tif']) {
        const params = { imageId: await server.idOf(fileName) };
        for (const { id, name, state } of (await admin.call(listResultLayers, { params })).body.layers)
          layers.push({ id, text: `${fileName}: ${name} ${state}` });
      }
      return layers;
    }
    const layers = await layersAfterSearch();
    expect(layers.map(({ text }) => text).sort()).toEqual([
      'a.svs: a_detections.geojson ready',
      'a.tif: a.tif.geojson ready',
      'a.tif: a_detections.geojson ready',
    ]);
    expect(await layersAfterSearch()).toEqual(layers);
  });
});

describe('a result file (beside a slide) whose import exceeded the quota', () => {
  it('is imported again when the quota has more free bytes than at the last attempt', async () => {
    const server = await slideServer({ config: { uploadQuotaBytes: 2_000_000 } });
    const { services, config } = server;
    const { db, now, log } = services;
    const admin = server.as(await server.fixtures.admin());
    services.jobs.setWorker('find-results', async () => {}); // this test runs its own searches
    await services.jobs.idle('find-results');
    await server.put('Set/a.svs', await buildSvs());
    await server.put('Set/a_detections.geojson', JSON.stringify([point]));
    await fs.utimes(path.join(config.slidesDir, 'Set/a_detections.geojson'), 1_000_000, 1_000_000);
    await server.rescan();
    const at = now().toISOString();
    const imageId = await server.idOf('a.svs');
    await db
      .insertInto('result_layers')
      .values({
        ...newResultColumns,
        id: 'large',
        image_id: imageId,
        name: 'An uploaded layer that leaves one byte of the quota',
        kind: 'raster',
        owner_uid: null,
        source: 'upload',
        state: 'ready',
        size_bytes: config.uploadQuotaBytes - 1,
        created_at: at,
        updated_at: at,
      })
      .execute();

    let search: JobWorker<'find-results'> | undefined;
    let imports = 0;
    registerFindResults({
      config,
      db,
      now,
      log,
      files: resultFiles(config),
      jobs: {
        setWorker: (_, worker) => {
          search = worker as JobWorker<'find-results'>;
        },
        enqueue: async (name, ...others) => {
          if (name === 'import-result') imports++;
          await services.jobs.enqueue(name, ...others);
        },
      },
    });
    async function searchAndImport() {
      await search?.({}, new AbortController().signal);
      await services.jobs.idle('import-result');
      const { body } = await admin.call(listResultLayers, { params: { imageId } });
      const layer = body.layers.find(({ name }) => name === 'a_detections.geojson');
      return [layer?.state, layer?.problem?.code, imports];
    }
    expect(await searchAndImport()).toEqual(['failed', 'quota_exceeded', 1]);
    // The first search of a process tries again, because the quota may be larger than before the restart; later ones do not.
    expect(await searchAndImport()).toEqual(['failed', 'quota_exceeded', 2]);
    expect(await searchAndImport()).toEqual(['failed', 'quota_exceeded', 2]);
    await deleteResultLayerRow(db, 'large');
    expect(await searchAndImport()).toEqual(['ready', undefined, 3]);
    expect(await searchAndImport()).toEqual(['ready', undefined, 3]);
  });
});

describe.skipIf(withoutObjectStore !== null)('a scan of a slide bucket (needs TEST_S3_ENDPOINT)', () => {
  it('adds, replaces and deletes result layers when the result files beside slides change', async () => {
    const server = await slideServer({ config: { objectStore: await makeBucket('slides/') } });
    const { services, config } = server;
    const admin = server.as(await server.fixtures.admin());
    const store = services.objectStorage?.store;
    if (store === undefined) throw new Error('the server has no object store');
    async function put(key: string, bytes: Uint8Array | string): Promise<void> {
      const file = path.join(config.dataDir, 'to-put');
      await fs.writeFile(file, bytes);
      await store?.put(key, file);
    }
    /** Scans the bucket, waits for the imports, and returns the layers of the slide. */
    async function scanAndImport() {
      await server.rescan();
      await services.jobs.idle('import-result');
      const { body } = await admin.call(listResultLayers, {
        params: { imageId: await server.idOf('a.svs') },
      });
      return body.layers
        .map(({ name, state, object_count, problem }) => [name, state, object_count, problem?.code ?? null])
        .sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));
    }

    await put('Set/a.svs', await buildSvs());
    await put(
      'Set/a_mask.tif',
      buildValueTiff({ width: 16, height: 16, values: new Uint8Array(256).fill(1) }),
    );
    await put('Set/a_detections.geojson', JSON.stringify([point, point]));
    await put('Set/a_likelihood_map.tif', 'no TIFF');
    await server.rescan();
    // The first scan finds the slide, but ends before the slide has been read; only the next one searches for results.
    expect(await scanAndImport()).toEqual([
      ['a_detections.geojson', 'ready', 2, null],
      ['a_likelihood_map.tif', 'failed', null, 'unknown_format'],
      ['a_mask.tif', 'ready', null, null],
    ]);
    expect((await admin.call(listImages)).body.images.map(({ file_name }) => file_name)).toEqual(['a.svs']);
    expect(await fs.readdir(path.join(config.dataDir, 'results', 'partial'))).toEqual([]);

    await put('Set/a_detections.geojson', JSON.stringify([point, point, point]));
    await store.delete('Set/a_mask.tif');
    await store.delete('Set/a_likelihood_map.tif');
    expect(await scanAndImport()).toEqual([['a_detections.geojson', 'ready', 3, null]]);
  });
});
