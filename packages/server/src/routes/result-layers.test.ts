/** Result layers (rasters that programs have computed for a slide) through HTTP: upload, import, tiles, values, rights and refusals. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { createResultLayer, deleteResultLayer, type RasterDescriptor } from '@lamina/contract';
import sharp from 'sharp';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createOverlays } from '../results/overlays.ts';
import { resultFiles } from '../results/result-files.ts';
import { buildValueTiff } from '../results/testing/value-tiff.ts';
import { findResultLayer } from '../store/result-layers.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { slideWithResults } from '../testing/slide-with-results.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Returns float values: column / 100, except pixel 0 of the first row, which has no data, and pixel 1, which is infinite. */
function ramp(width: number, height: number): Float32Array {
  const values = Float32Array.from({ length: width * height }, (_, i) => (i % width) / 100);
  values[0] = Number.NaN;
  values[1] = Number.POSITIVE_INFINITY;
  return values;
}

describe.each(databaseKinds)('Result layers computed by image analysis (database: %s)', (database) => {
  it('return descriptor, tiles and exact values of an uploaded floating-point TIFF', async () => {
    const { send, overlay, image, owner } = await slideWithResults(database);
    // The slide has 1000 × 800 pixels, so a pixel of the raster covers 2 × 2 pixels of the slide.
    const layer = await send(buildValueTiff({ width: 500, height: 400, values: ramp(500, 400), tile: 128 }));
    expect(layer).toMatchObject({
      state: 'ready',
      progress: 1,
      problem: null,
      owner: owner.uid,
      upload: null,
    });
    const descriptor = (await overlay(layer.id, 'descriptor')).json<RasterDescriptor>();
    expect(descriptor).toMatchObject({
      kind: 'raster',
      image_id: image.id,
      width: 500,
      height: 400,
      value_type: 'float32',
      value_range: { min: 0, max: expect.closeTo(4.99, 5) },
      usual_range: { min: expect.closeTo(0.05, 1), max: expect.closeTo(4.95, 1) },
      categories: null,
      registration: [2, 0, 0, 2, 0, 0],
      encoding: { no_data: 0 },
    });
    expect(descriptor.levels.map(({ z, width }) => [z, width])).toEqual([
      [0, 250],
      [1, 500],
    ]);
    expect((await overlay(layer.id, 'value?x=200.5&y=10')).json()).toEqual({ value: 1 });
    expect((await overlay(layer.id, 'value?x=0&y=0')).json()).toEqual({ value: null });
    expect((await overlay(layer.id, 'value?x=2&y=0')).json()).toEqual({ value: null });
    expect((await overlay(layer.id, 'value?x=1001&y=0')).json()).toEqual({ value: null });
    const tile = await overlay(layer.id, 'tiles/1/1_0.png');
    expect(tile.headers['content-type']).toBe('image/png');
    const { data, info } = await sharp(tile.rawPayload)
      .toColourspace('b-w')
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect([info.width, info.height, info.channels]).toEqual([244, 256, 1]);
    const shown = descriptor.encoding.offset + descriptor.encoding.scale * (data[44] ?? 0);
    // The tile starts at column 256, so its pixel 44 is column 300, which has the value 3.
    expect(Math.abs(shown - 3)).toBeLessThanOrEqual(descriptor.encoding.scale / 2 + 1e-9);
    expect((await overlay(layer.id, 'tiles/1/2_0.png')).statusCode).toBe(404);
  });

  it('can be uploaded in two parts, the second from the offset that HEAD returns after an interruption', async () => {
    const { server, image, bearer, request, part } = await slideWithResults(database);
    const { body } = await server.as(bearer).call(createResultLayer, {
      params: { imageId: image.id },
      body: { name: 'Maske', kind: 'raster' },
    });
    const address = body.upload as string;
    const bytes = Buffer.from(buildValueTiff({ width: 8, height: 8, values: new Uint8Array(64).fill(1) }));
    const beforeUpload = await request('HEAD', address);
    expect(beforeUpload.headers).toMatchObject({ 'upload-offset': '0', 'upload-defer-length': '1' });
    const length = { 'upload-length': String(bytes.length) };
    expect(
      (await request('PATCH', address, { ...part(0), ...length }, bytes.subarray(0, 40))).statusCode,
    ).toBe(204);
    const afterFirstPart = await request('HEAD', address);
    expect(afterFirstPart.headers).toMatchObject({
      'upload-offset': '40',
      'upload-length': String(bytes.length),
    });
    expect((await request('PATCH', address, part(0), bytes)).statusCode).toBe(409);
    expect((await request('PATCH', address, part(40), bytes.subarray(40))).statusCode).toBe(204);
    await server.services.jobs.idle('import-result');
    expect((await request('GET', address)).json()).toMatchObject({ state: 'ready' });
    // A client that lost the last response learns from HEAD that the server has the whole file.
    const whole = String(bytes.length);
    expect((await request('HEAD', address)).headers).toMatchObject({
      'upload-offset': whole,
      'upload-length': whole,
    });
    expect((await request('PATCH', address, part(0), bytes)).statusCode).toBe(409);
  });

  describe('whose upload or import was interrupted by a restart', () => {
    /** Creates a layer whose file has been stored completely, but whose import is not queued. */
    async function receivedLayer(state: 'uploading' | 'queued' | 'importing') {
      const layers = await slideWithResults(database);
      const { server, image, bearer, request } = layers;
      const { body } = await server.as(bearer).call(createResultLayer, {
        params: { imageId: image.id },
        body: { name: 'Maske', kind: 'raster' },
      });
      const bytes = buildValueTiff({ width: 8, height: 8, values: new Uint8Array(64).fill(1) });
      const address = body.upload as string;
      await request('POST', address, { 'upload-length': String(bytes.length) });
      const file = path.join(server.config.dataDir, 'results', 'partial', body.id);
      await fs.writeFile(file, bytes);
      await server.services.db
        .updateTable('result_layers')
        .set({ state })
        .where('id', '=', body.id)
        .execute();
      return { ...layers, layerId: body.id, address, bytes, file };
    }

    it.each(['uploading', 'queued', 'importing'] as const)(
      'are imported by the clean-up job (sweep) when their file is complete and their state is %s',
      async (state) => {
        const { server, request, address } = await receivedLayer(state);
        await server.services.jobs.enqueue('sweep', {});
        await server.services.jobs.idle('sweep');
        await server.services.jobs.idle('import-result');
        expect((await request('GET', address)).json()).toMatchObject({ state: 'ready' });
      },
    );

    it.each([
      ['are imported again after one import was interrupted', 1, 'ready'],
      ['get the state failed, without another import, after two imports were interrupted', 2, 'failed'],
    ])('%s', async (_, times, state) => {
      const { server, request, address, layerId } = await receivedLayer('importing');
      await fs.writeFile(
        path.join(server.config.dataDir, 'results', 'partial', `${layerId}.begun`),
        '.'.repeat(times),
      );
      await server.services.jobs.enqueue('sweep', {});
      await server.services.jobs.idle('sweep');
      await server.services.jobs.idle('import-result');
      expect((await request('GET', address)).json()).toMatchObject({ state });
    });

    it('are imported when the client requests the upload offset (HEAD) of a file that is complete', async () => {
      const { server, request, address } = await receivedLayer('uploading');
      await request('HEAD', address);
      await server.services.jobs.idle('import-result');
      expect((await request('GET', address)).json()).toMatchObject({ state: 'ready' });
    });

    it('can be uploaded from the beginning when their partly uploaded file is missing', async () => {
      const { server, request, address, part, bytes, file } = await receivedLayer('uploading');
      await fs.rm(file);
      await request('POST', address, { 'upload-length': String(bytes.length) });
      expect((await request('PATCH', address, part(0), Buffer.from(bytes))).statusCode).toBe(204);
      await server.services.jobs.idle('import-result');
      expect((await request('GET', address)).json()).toMatchObject({ state: 'ready' });
    });
  });

  it('can be deleted by their owner and by administrators; other accounts get 403', async () => {
    const { server, send, overlay, bearer } = await slideWithResults(database);
    const layer = await send(buildValueTiff({ width: 8, height: 8, values: new Uint8Array(64) }));
    const params = { layerId: layer.id };
    expect((await server.as(await server.fixtures.user()).call(deleteResultLayer, { params })).status).toBe(
      403,
    );
    expect((await server.as(bearer).call(deleteResultLayer, { params })).status).toBe(204);
    expect((await overlay(layer.id, 'descriptor')).statusCode).toBe(404);
    const other = await send(buildValueTiff({ width: 8, height: 8, values: new Uint8Array(64) }));
    const admin = server.as(await server.fixtures.admin());
    expect((await admin.call(deleteResultLayer, { params: { layerId: other.id } })).status).toBe(204);
  });
});

describe('Raster result layers (for example heatmaps over a slide)', () => {
  it('have two categories, 0 and 255, for a PNG mask with these two sample values', async () => {
    const { send, overlay } = await slideWithResults();
    const values = Uint8Array.from({ length: 300 * 300 }, (_, i) => (i % 300 < 150 ? 0 : 255));
    const png = await sharp(values, { raw: { width: 300, height: 300, channels: 1 } })
      .png()
      .toBuffer();
    const layer = await send(png);
    const descriptor = (await overlay(layer.id, 'descriptor')).json<RasterDescriptor>();
    expect(descriptor.categories?.map(({ value }) => value)).toEqual([0, 255]);
    expect(descriptor.encoding).toEqual({ scale: 1, offset: 0, no_data: null });
    const tile = await sharp((await overlay(layer.id, 'tiles/1/0_0.png')).rawPayload)
      .extractChannel(0)
      .raw()
      .toBuffer();
    expect([tile[149], tile[150]]).toEqual([0, 255]);
  });

  it('have no value where the imported 16-bit PNG is transparent', async () => {
    const { send, overlay } = await slideWithResults();
    const greyAndAlpha = Uint16Array.from(
      { length: 300 * 300 * 2 },
      (_, i) => (i % 600 < 300 ? [1000, 65_535] : [0, 0])[i % 2] ?? 0,
    );
    const png = await sharp(greyAndAlpha, { raw: { width: 300, height: 300, channels: 2 } })
      .toColourspace('grey16')
      .png()
      .toBuffer();
    const layer = await send(png);
    const { value_range, encoding } = (await overlay(layer.id, 'descriptor')).json<RasterDescriptor>();
    expect(value_range).toEqual({ min: 1000, max: 1000 });
    expect(encoding.no_data).not.toBeNull();
  });

  const folder = process.env.TEST_SLIDES;

  it.skipIf(folder === undefined)(
    'have 21 categories after the import of a DICOM label map with 21 categories (needs TEST_SLIDES)',
    async () => {
      const { send, overlay } = await slideWithResults();
      const file = path.join(folder ?? '', 'dicom/highdicom/seg_image_sm_control_labelmap.dcm');
      const layer = await send(await fs.readFile(file));
      expect(layer).toMatchObject({ state: 'ready' });
      const descriptor = (await overlay(layer.id, 'descriptor')).json<RasterDescriptor>();
      expect(descriptor.categories?.length).toBe(21);
      const values = descriptor.categories?.map(({ value }) => value);
      expect(values).toContain(descriptor.value_range?.max);
    },
  );

  it('are placed on the slide by the pixel size or by the affine matrix of the upload', async () => {
    const { send, overlay } = await slideWithResults();
    const bytes = buildValueTiff({ width: 100, height: 80, values: new Uint16Array(8000).map((_, i) => i) });
    // Pixels of the slide have 0.5 µm, so a raster pixel of 2 µm covers 4 × 4 of them: x = 4 is in the second column.
    const byMpp = await send(bytes, { registration: { method: 'pixel-size', mpp: 2 } });
    expect((await overlay(byMpp.id, 'value?x=4&y=0')).json()).toEqual({ value: 1 });
    // Raster (column, row) is (80 - row, column) on the slide, so x = 79.5, y = 3.5 is in column 3 of row 0.
    const turned = await send(bytes, { registration: { method: 'affine', matrix: [0, 1, -1, 0, 80, 0] } });
    expect((await overlay(turned.id, 'value?x=79.5&y=3.5')).json()).toEqual({ value: 3 });
  });

  it.each([
    ['text instead of an image', Buffer.from('this is no picture'), 'unknown_format'],
    ['a TIFF header without data', Buffer.from([0x49, 0x49, 42, 0, 255, 255, 0, 0]), 'damaged'],
    ['a PNG that claims 16 million × 16 million pixels', pngHeader({ side: 16_000_000 }), 'too_large'],
    ['a PNG whose palette has 16 bits per pixel', pngHeader({ side: 8, bits: 16, colourType: 3 }), 'damaged'],
    ['an empty file', Buffer.alloc(0), 'unknown_format'],
  ])('have the state failed (problem code: $2) after the upload of %s', async (_, bytes, code) => {
    const { send } = await slideWithResults();
    const layer = await send(bytes);
    expect(layer).toMatchObject({ state: 'failed', problem: { code } });
  });

  it.runIf(process.platform === 'linux')(
    'free their disk space when they are deleted after a view, because the server closes their file',
    async () => {
      const { server, send, overlay, bearer } = await slideWithResults();
      const layer = await send(buildValueTiff({ width: 8, height: 8, values: new Uint8Array(64) }));
      await overlay(layer.id, 'descriptor');
      expect(await countOpenFiles(layer.id)).toBe(1);
      await server.as(bearer).call(deleteResultLayer, { params: { layerId: layer.id } });
      await vi.waitFor(async () => expect(await countOpenFiles(layer.id)).toBe(0));
    },
  );

  it.runIf(process.platform === 'linux')(
    'free their disk space five minutes after their last view when another process has deleted them, because this process closes their file',
    async () => {
      const { server, send, bearer } = await slideWithResults();
      const { db, catalogue } = server.services;
      const { id } = await send(buildValueTiff({ width: 8, height: 8, values: new Uint8Array(64) }));
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const clock = vi.spyOn(performance, 'now').mockReturnValue(1);
      const passMinutes = (minutes: number) => {
        clock.mockReturnValue(performance.now() + minutes * 60_000);
        vi.advanceTimersByTime(minutes * 60_000);
      };
      onTestFinished(() => {
        vi.useRealTimers();
        clock.mockRestore();
      });
      // Another process has its own files, which do not report that this process deletes a layer.
      const otherOverlays = createOverlays({ db, catalogue, files: resultFiles(server.config) });
      const row = await findResultLayer(db, id);
      const view = () => otherOverlays.describe({ layer: row, image: null } as never);
      await view();
      passMinutes(4);
      await view();
      await server.as(bearer).call(deleteResultLayer, { params: { layerId: id } });
      passMinutes(4);
      expect(await countOpenFiles(id)).toBe(1);
      passMinutes(2);
      vi.useRealTimers();
      await vi.waitFor(async () => expect(await countOpenFiles(id)).toBe(0));
    },
  );

  it('have the state failed after the upload of a raster with the values -1.7e308 and 1.7e308, whose difference is not a finite number', async () => {
    const { send } = await slideWithResults();
    const values = Float64Array.from({ length: 64 }, (_, i) => (i % 2 === 0 ? 1.7e308 : -1.7e308));
    const layer = await send(buildValueTiff({ width: 8, height: 8, values }));
    expect(layer).toMatchObject({ state: 'failed', problem: { code: 'unsupported' } });
  });

  it('have the state failed after an internal error of the import, which is logged once and not as a rejected file', async () => {
    const { server, image, bearer, request, part } = await slideWithResults();
    const { body } = await server.as(bearer).call(createResultLayer, {
      params: { imageId: image.id },
      body: { name: 'Tumor', kind: 'raster' },
    });
    // The import cannot parse this registration, which no request can store.
    const invalid = { registration: 'not JSON' };
    await server.services.db.updateTable('result_layers').set(invalid).where('id', '=', body.id).execute();
    const address = body.upload as string;
    const bytes = Buffer.from(buildValueTiff({ width: 8, height: 8, values: new Uint8Array(64) }));
    await request('PATCH', address, { ...part(0), 'upload-length': String(bytes.length) }, bytes);
    await server.services.jobs.idle('import-result');
    expect((await request('GET', address)).json()).toMatchObject({
      state: 'failed',
      problem: { code: 'internal' },
    });
    const log = server.logged();
    expect(log.match(/result layer is marked as failed/g)).toHaveLength(1);
    expect(log).not.toContain('analysis result file rejected');
  });

  it('return 404 to a request with the image session (credential for tiles) of an account that may not view the slide', async () => {
    const { server, send, overlay, image } = await slideWithResults();
    const layer = await send(buildValueTiff({ width: 8, height: 8, values: new Uint8Array(64) }));
    const reader = await server.fixtures.user();
    expect((await overlay(layer.id, 'descriptor', reader)).statusCode).toBe(200);
    await server.services.db
      .updateTable('images')
      .set({ hidden_at: 'x' })
      .where('id', '=', image.id)
      .execute();
    server.services.catalogue.evict([image.id]);
    expect((await overlay(layer.id, 'descriptor', reader)).statusCode).toBe(404);
  });
});

/** Counts the open files of this process that belong to a layer. */
async function countOpenFiles(layerId: string): Promise<number> {
  const descriptors = await fs.readdir('/proc/self/fd');
  const targets = await Promise.all(
    descriptors.map((descriptor) => fs.readlink(`/proc/self/fd/${descriptor}`).catch(() => '')),
  );
  return targets.filter((target) => target.includes(layerId)).length;
}

/** Returns a PNG with a header and an empty data chunk; by default its pixels are grey. @param side width and height in pixels */
function pngHeader({ side, bits = 8, colourType = 0 }: { side: number; bits?: number; colourType?: number }) {
  const bytes = Buffer.alloc(57);
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]).copy(bytes);
  bytes.write('IHDR', 12);
  bytes.writeUInt32BE(side, 16);
  bytes.writeUInt32BE(side, 20);
  bytes[24] = bits;
  bytes[25] = colourType;
  bytes.writeUInt32BE(0, 33);
  bytes.write('IDAT', 37);
  return bytes;
}
