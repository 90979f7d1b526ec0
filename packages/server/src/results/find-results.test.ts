/** Results that lie beside slides: found, replaced, removed, and no slides of the catalogue. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { deleteResultLayer, listImages, listResultLayers } from '@lamina/contract';
import { buildSvs, makeBucket, withoutObjectStore } from '@lamina/slide/testing';
import { describe, expect, it, vi } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import { slideServer } from '../testing/slide-server.ts';
import { valueTiff } from './testing/value-tiff.ts';

// Slides are read in processes of their own, which a busy machine takes its time to start.
vi.setConfig({ testTimeout: 60_000 });

const point = { type: 'Feature', geometry: { type: 'Point', coordinates: [1, 2] }, properties: {} };

describe.each(databaseKinds)('Result files beside slides, on %s', (database) => {
  it('become result layers of the slide, change with their files, and are not listed as slides', async () => {
    const server = await slideServer({ database });
    const { services, config } = server;
    const admin = server.as(await server.given.admin());
    const mask = valueTiff({ width: 16, height: 16, values: new Uint8Array(256).fill(1) });

    /** Puts a file that is old enough to be complete. */
    async function put(name: string, bytes: Uint8Array | string, seconds = 1_000_000): Promise<void> {
      await server.put(name, bytes);
      await fs.utimes(path.join(config.slidesDir, name), seconds, seconds);
    }
    async function find() {
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
    await put('Set/other_mask.tif.txt', mask);
    await server.rescan();
    expect((await admin.call(listImages)).body.images.map(({ file_name }) => file_name)).toEqual(['a.svs']);
    const found = await find();
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
    expect((await admin.call(deleteResultLayer, { params: { layerId: layer?.id ?? '' } })).status).toBe(204);
    await fs.rm(path.join(config.slidesDir, 'Set/a_detections.geojson'));
    expect((await find()).map(({ name }) => name)).toEqual(['a.svs_likelihood_map.tif']);

    await put('Set/a_mask.tif', mask, 2_000_000);
    const again = await find();
    expect(again.map(({ name }) => name).sort()).toEqual(['a.svs_likelihood_map.tif', 'a_mask.tif']);
    expect(again.every(({ id }) => id !== layer?.id)).toBe(true);
  });
});

describe.skipIf(withoutObjectStore !== null)('Result files in a bucket (needs TEST_S3_ENDPOINT)', () => {
  it('become result layers of the slide and change with their objects', async () => {
    const server = await slideServer({ config: { objectStore: await makeBucket('slides/') } });
    const { services, config } = server;
    const admin = server.as(await server.given.admin());
    const store = services.objectStorage?.store;
    if (store === undefined) throw new Error('the server has no object store');
    async function put(key: string, bytes: Uint8Array | string): Promise<void> {
      const file = path.join(config.dataDir, 'to-put');
      await fs.writeFile(file, bytes);
      await store?.put(key, file);
    }
    async function find() {
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
    await put('Set/a_mask.tif', valueTiff({ width: 16, height: 16, values: new Uint8Array(256).fill(1) }));
    await put('Set/a_detections.geojson', JSON.stringify([point, point]));
    await put('Set/a_likelihood_map.tif', 'no TIFF');
    await server.rescan();
    // The scan that finds a slide is over before the slide has been read.
    expect(await find()).toEqual([
      ['a_detections.geojson', 'ready', 2, null],
      ['a_likelihood_map.tif', 'failed', null, 'unknown_format'],
      ['a_mask.tif', 'ready', null, null],
    ]);
    expect((await admin.call(listImages)).body.images.map(({ file_name }) => file_name)).toEqual(['a.svs']);
    expect(await fs.readdir(path.join(config.dataDir, 'results', 'partial'))).toEqual([]);

    await put('Set/a_detections.geojson', JSON.stringify([point, point, point]));
    await store.delete('Set/a_mask.tif');
    await store.delete('Set/a_likelihood_map.tif');
    expect(await find()).toEqual([['a_detections.geojson', 'ready', 3, null]]);
  });
});
