/** Tests the endpoints that return, edit, remove and restore a single catalogue entry. */
import { deleteImage, getImage, updateImage } from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import { missingId, startCatalogueServer } from './testing/catalogue-server.ts';

describe.each(databaseKinds)('GET /image-catalog/images/:imageId (database: %s)', (database) => {
  it('returns the catalogue entry whose id is in the URL path', async () => {
    const { server, reader } = await startCatalogueServer(database);
    const { id } = await server.fixtures.image({ file_name: 'a.svs' });
    const { status, body } = await reader.call(getImage, { params: { imageId: id } });
    expect(status).toBe(200);
    expect(body.image).toMatchObject({ id, file_name: 'a.svs' });
  });

  it.each([missingId, 'a.svs', '..%2f', "' or 1=1--", `${missingId}x`, '\u0000'])(
    'returns for the invalid or unknown id %j the same 404 as for a removed entry',
    async (imageId) => {
      const { server, reader } = await startCatalogueServer(database);
      const removed = await server.fixtures.image({ removed_at: '2026-05-01T00:00:00.000Z' });
      const responseFor = async (id: string) => {
        const { status, body } = await reader.call(getImage, { params: { imageId: id } });
        const { requestId: _, ...bodyWithoutRequestId } = body as unknown as { requestId: string };
        return { status, ...bodyWithoutRequestId };
      };
      expect(await responseFor(imageId)).toEqual({ status: 404, code: 'not_found', message: 'Not found.' });
      expect(await responseFor(removed.id)).toEqual(await responseFor(imageId));
    },
  );
});

describe.each(databaseKinds)('PUT and DELETE /image-catalog/images/:imageId (database: %s)', (database) => {
  it('PUT changes the fields of the entry, its position in the image list, and the search words that find it', async () => {
    const { server, admin, reader, listedNames } = await startCatalogueServer(database);
    const { id } = await server.fixtures.image({ file_name: 'z.svs', dataset_name: 'Old' });
    await server.fixtures.image({ file_name: 'b.svs', dataset_name: 'New' });
    const { status, body } = await admin.call(updateImage, {
      params: { imageId: id },
      body: { file_name: ' a.svs ', dataset_name: 'New', organ_type: 'Böbrek' },
    });
    expect(status).toBe(200);
    expect(body.image).toMatchObject({ file_name: 'a.svs', dataset_name: 'New', organ_type: 'Böbrek' });
    expect(await listedNames()).toEqual(['a.svs', 'b.svs']);
    expect(await listedNames(reader, { q: 'böbrek' })).toEqual(['a.svs']);
    expect(await listedNames(reader, { q: 'old' })).toEqual([]);
  });

  it('PUT removes the dataset of the entry when dataset_name is null, and its organ when organ_type is an empty string', async () => {
    const { server, admin } = await startCatalogueServer(database);
    const { id } = await server.fixtures.image({ dataset_name: 'Set', organ_type: 'Meme' });
    const { body } = await admin.call(updateImage, {
      params: { imageId: id },
      body: { dataset_name: null, organ_type: '' },
    });
    expect(body.image).toMatchObject({ dataset_name: null, organ_type: null });
  });

  it('PUT returns 200 and changes nothing when the body has only fields that cannot be edited', async () => {
    const { server, admin } = await startCatalogueServer(database);
    const before = await server.fixtures.image({ file_name: 'a.svs' });
    const { status } = await admin.call(updateImage, {
      params: { imageId: before.id },
      body: {
        id: missingId,
        path: '../../etc/passwd',
        root: 'demo',
        uri: 'http://169.254.169.254/',
        status: 'failed',
        error: 'x',
        width: 1_000_000,
        fingerprint: 'x',
        edited_fields: '["path"]',
        missing_since: 'x',
        __proto__: { removed_at: 'x' },
      },
    });
    expect(status).toBe(200);
    const after = await server.services.db
      .selectFrom('images')
      .selectAll()
      .where('id', '=', before.id)
      .executeTakeFirst();
    expect(after).toEqual(before);
  });

  it.each([
    ['an empty file name', { file_name: '' }],
    ['a file name of 256 characters', { file_name: 'x'.repeat(256) }],
    ['a file name with a NUL character', { file_name: 'a\u0000b' }],
    ['a dataset name of 201 characters', { dataset_name: 'x'.repeat(201) }],
    ['a number as organ', { organ_type: 5 }],
    ['removed: true (DELETE removes an entry)', { removed: true }],
    ['null as file name', { file_name: null }],
  ])('PUT returns 400 when the body contains %s', async (_, body) => {
    const { server, admin } = await startCatalogueServer(database);
    const { id } = await server.fixtures.image();
    const response = await admin.call(updateImage, { params: { imageId: id }, body });
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ code: 'invalid_request', field: Object.keys(body)[0] });
  });

  it('PUT with a calibration sets the pixel size or objective power, PUT with calibration: null restores the scale of the file; both write audit events', async () => {
    const { server, admin, reader } = await startCatalogueServer(database);
    const { id } = await server.fixtures.image({
      ...{ mpp_x: 0.5, mpp_y: 0.5, objective_power: 20 },
      ...{ file_mpp_x: 0.5, file_mpp_y: 0.5, file_objective_power: 20 },
    });
    const params = { imageId: id };
    const scaleAfter = async (calibration: object | null) => {
      expect(await admin.call(updateImage, { params, body: { calibration } })).toMatchObject({ status: 200 });
      const { image } = (await reader.call(getImage, { params })).body;
      return {
        mpp: [image.mpp_x, image.mpp_y],
        mppDerived: image.mpp_derived,
        power: image.objective_power,
        powerDerived: image.objective_power_derived,
        entered: image.scale_entered,
      };
    };
    // If only one value is entered, the other one is derived: objective power × µm per pixel = 10.
    const scaleOfEnteredMpp = {
      ...{ mpp: [0.25, 0.25], mppDerived: false },
      ...{ power: 40, powerDerived: true, entered: true },
    };
    expect(await scaleAfter({ mpp: 0.25 })).toEqual(scaleOfEnteredMpp);
    expect(await scaleAfter({ mpp: 0.25 })).toEqual(scaleOfEnteredMpp); // no change, so no audit event
    expect(await scaleAfter({ objective_power: 10 })).toEqual({
      ...{ mpp: [1, 1], mppDerived: true },
      ...{ power: 10, powerDerived: false, entered: true },
    });
    expect(await scaleAfter({ mpp: 0.3, objective_power: 40 })).toEqual({
      ...{ mpp: [0.3, 0.3], mppDerived: false },
      ...{ power: 40, powerDerived: false, entered: true },
    });
    expect(await scaleAfter(null)).toEqual({
      ...{ mpp: [0.5, 0.5], mppDerived: false },
      ...{ power: 20, powerDerived: false, entered: undefined },
    });
    const entries = await server.services.db
      .selectFrom('audit')
      .select('detail')
      .where('action', '=', 'image-calibrated')
      .orderBy('seq')
      .execute();
    expect(entries.map(({ detail }) => JSON.parse(detail))).toEqual([
      { mpp_before: null, mpp_after: 0.25 },
      { mpp_before: 0.25, mpp_after: null, objective_power_before: null, objective_power_after: 10 },
      { mpp_before: null, mpp_after: 0.3, objective_power_before: 10, objective_power_after: 40 },
      { mpp_before: 0.3, mpp_after: null, objective_power_before: 40, objective_power_after: null },
    ]);
  });

  it.each([
    ['neither pixel size nor objective power', {}],
    ['a pixel size of 0', { mpp: 0 }],
    ['a pixel size that is text', { mpp: 'x' }],
    ['a pixel size of 1,000 m', { mpp: 1e9 }],
    ['a negative objective power', { objective_power: -1 }],
  ])(
    'PUT returns 400 when the calibration (pixel size and objective power) has %s',
    async (_, calibration) => {
      const { server, admin } = await startCatalogueServer(database);
      const { id } = await server.fixtures.image({ file_name: 'a.svs' });
      const response = await admin.call(updateImage, { params: { imageId: id }, body: { calibration } });
      expect(response).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    },
  );

  it('DELETE removes the entry, and PUT with removed: false restores it; both write audit events', async () => {
    const { server, admin, listedNames } = await startCatalogueServer(database);
    const { id } = await server.fixtures.image({ file_name: 'a.svs' });
    const params = { imageId: id };
    const removed = await admin.call(deleteImage, { params });
    expect(removed).toMatchObject({ status: 204, body: '' });
    expect(await listedNames()).toEqual([]);
    expect(await listedNames(admin)).toEqual([]);
    expect((await admin.call(getImage, { params })).status).toBe(404);
    expect((await admin.call(deleteImage, { params })).status).toBe(404);
    expect((await admin.call(updateImage, { params, body: { organ_type: 'x' } })).status).toBe(404);

    const restored = await admin.call(updateImage, { params, body: { removed: false, organ_type: 'Meme' } });
    expect(restored.body).toMatchObject({ image: { id, organ_type: 'Meme' } });
    expect(await listedNames()).toEqual(['a.svs']);

    const auditEntries = await server.services.db
      .selectFrom('audit')
      .select(['action', 'target', 'detail'])
      .where('target', '=', id)
      .orderBy('seq')
      .execute();
    expect(auditEntries).toEqual([
      { action: 'image-removed', target: id, detail: '{}' },
      { action: 'image-restored', target: id, detail: '{}' },
      {
        action: 'image-edited',
        target: id,
        detail: JSON.stringify({ fields: 'organ_type', organ_before: null, organ_after: 'Meme' }),
      },
    ]);
  });
});
