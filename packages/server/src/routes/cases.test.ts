/** Cases (the slides of one specimen) through HTTP: creation, changes, visibility, and registration of their slides. */
import {
  createCase,
  deleteCase,
  getCase,
  listCases,
  registerCaseSlides,
  updateCase,
  updateDataset,
} from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { findCases, saveCase } from '../store/cases.ts';
import { runLockedTransaction, watchQueries } from '../store/database.ts';
import { waitForBlockedQuery } from '../store/testing/blocked-query.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type TestServer, testServer } from '../testing/test-server.ts';

describe.each(databaseKinds)('cases (ordered groups of slides) in the API (database: %s)', (database) => {
  /** Creates slides of one dataset, their input for a case, and a client of an administrator. */
  async function createSlides(server: TestServer, count = 3) {
    const images: string[] = [];
    for (let i = 0; i < count; i++) {
      images.push((await server.fixtures.image({ dataset_name: 'Böbrek', mpp_x: 0.25, mpp_y: 0.25 })).id);
    }
    const admin = server.as(await server.fixtures.admin());
    const slides = images.map((image_id, i) => ({ image_id, stain: ['HE', 'PAS', 'Masson'][i] ?? null }));
    return { images, admin, slides };
  }

  it('are returned with their slides in the order of the request that created them, with stain, block and note', async () => {
    const server = await testServer({ database });
    const { admin, images } = await createSlides(server);
    const slides = images.toReversed().map((image_id) => ({ image_id, stain: 'HE', block: 'A1', note: 'n' }));
    const created = await admin.call(createCase, { body: { dataset: 'böbrek', name: 'V-7', slides } });
    expect(created).toMatchObject({
      status: 201,
      body: { version: 1, dataset: 'Böbrek', name: 'V-7', slides },
    });
    const reader = server.as(await server.fixtures.user({ role: 'viewer' }));
    const { body } = await reader.call(listCases, { query: { dataset: 'BÖBREK' } });
    expect(body.cases).toEqual([created.body]);
    expect((await reader.call(listCases, { query: { dataset: 'Akciğer' } })).body.cases).toEqual([]);
  });

  it('return 409 for a change that states an outdated version number', async () => {
    const server = await testServer({ database });
    const { admin, slides } = await createSlides(server);
    const { body } = await admin.call(createCase, { body: { dataset: 'Böbrek', name: 'V-1', slides } });
    const params = { caseId: body.id };
    const changed = await admin.call(updateCase, { params, body: { name: 'V-2', version: 1 } });
    expect(changed.body).toMatchObject({ name: 'V-2', version: 2, slides: body.slides });
    expect(await admin.call(updateCase, { params, body: { name: 'V-3', version: 1 } })).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    });
    expect((await admin.call(deleteCase, { params })).status).toBe(204);
    expect((await admin.call(getCase, { params })).status).toBe(404);
    expect(await auditedActions(server)).toEqual(['case-created', 'case-changed', 'case-deleted']);
  });

  async function auditedActions(server: TestServer) {
    const rows = await server.services.db.selectFrom('audit').select('action').orderBy('seq').execute();
    return rows.map(({ action }) => action).filter((action) => action.startsWith('case-'));
  }

  it('omit hidden and removed slides, and return 404 to accounts without a grant for their restricted dataset', async () => {
    const server = await testServer({ database });
    const { admin, images, slides } = await createSlides(server);
    const { body } = await admin.call(createCase, { body: { dataset: 'Böbrek', name: 'V-1', slides } });
    const reader = server.as(await server.fixtures.user());
    const visibleSlides = async () =>
      (await reader.call(getCase, { params: { caseId: body.id } })).body.slides;
    await admin.inject({
      method: 'PUT',
      url: `/image-catalog/images/${images[0]}`,
      payload: { hidden: true },
    });
    await admin.inject({ method: 'DELETE', url: `/image-catalog/images/${images[1]}` });
    expect((await visibleSlides()).map(({ image_id }) => image_id)).toEqual([images[2]]);

    await admin.call(updateDataset, { body: { dataset: 'Böbrek', access: 'restricted' } });
    expect((await reader.call(listCases)).body.cases).toEqual([]);
    expect((await reader.call(getCase, { params: { caseId: body.id } })).status).toBe(404);
  });

  it('are listed with no more database queries for a restricted dataset without a grant than for an unknown dataset', async () => {
    const server = await testServer({ database });
    const { admin, slides } = await createSlides(server);
    await admin.call(createCase, { body: { dataset: 'Böbrek', name: 'V-1', slides } });
    await admin.call(updateDataset, { body: { dataset: 'Böbrek', access: 'restricted', listed: false } });
    const reader = server.as(await server.fixtures.token(await server.fixtures.user({ role: 'viewer' })));
    let queries = 0;
    watchQueries(server.services.db, () => queries++);
    const queriesFor = async (query: { readonly dataset?: string }) => {
      await reader.call(listCases, { query }); // fills the caches
      queries = 0;
      expect((await reader.call(listCases, { query })).body.cases).toEqual([]);
      return queries;
    };
    const ofUnknownDataset = await queriesFor({ dataset: 'Yok' });
    expect(await queriesFor({ dataset: 'Böbrek' })).toBeLessThanOrEqual(ofUnknownDataset);
    expect(await queriesFor({})).toBeLessThanOrEqual(ofUnknownDataset); // reads no slides of the restricted dataset either
  });

  it.each([
    ['an unknown dataset', { dataset: 'Yok' }, 404],
    ['an unknown slide', { slides: [{ image_id: '00000000-0000-4000-8000-000000000000' }] }, 404],
    ['no name', { name: ' ' }, 400],
  ])('cannot be created with %s: the request gets $2', async (_, change, status) => {
    const server = await testServer({ database });
    const { admin, slides } = await createSlides(server);
    const body = { dataset: 'Böbrek', name: 'V-1', slides, ...change };
    expect((await admin.call(createCase, { body })).status).toBe(status);
  });

  it('can have 200 slides with notes of 1,000 characters, the maximum of each', async () => {
    const server = await testServer({ database });
    const { admin } = await createSlides(server, 0);
    const images = await Promise.all(
      Array.from({ length: 200 }, () => server.fixtures.image({ dataset_name: 'Böbrek' })),
    );
    const slides = images.map(({ id }) => ({ image_id: id, note: 'ş'.repeat(1000) }));
    const created = await admin.call(createCase, { body: { dataset: 'Böbrek', name: 'V-1', slides } });
    expect(created.status).toBe(201);
    const change = { params: { caseId: created.body.id }, body: { slides } };
    expect((await admin.call(updateCase, change)).body.slides).toHaveLength(200);
  });

  it('store the transformation between two slides that is computed from pairs of corresponding points', async () => {
    const server = await testServer({ database });
    const { admin, slides, images } = await createSlides(server);
    const { body } = await admin.call(createCase, { body: { dataset: 'Böbrek', name: 'V-1', slides } });
    const user = server.as(await server.fixtures.user());
    const params = { caseId: body.id };
    const [from_image = '', to_image = ''] = images;
    // A rotation by 90° and a shift: (x, y) becomes (100 - y, 200 + x).
    const points: { from: [number, number]; to: [number, number] }[] = [
      { from: [0, 0], to: [100, 200] },
      { from: [1000, 0], to: [100, 1200] },
    ];
    const registration = { from_image, to_image, points };
    const registered = await user.call(registerCaseSlides, { params, body: registration });
    expect(registered).toMatchObject({
      status: 200,
      body: { matrix: [0, 1, -1, 0, 100, 200], residual_um: 0 },
    });
    const threePairs = [
      ...points,
      { from: [0, 1000] as [number, number], to: [-860, 200] as [number, number] },
    ];
    const affine = await user.call(registerCaseSlides, {
      params,
      body: { ...registration, points: threePairs },
    });
    expect(affine.body.matrix[2]).toBeCloseTo(-0.96, 9); // x moves from 100 to -860 over 1000 pixels in y
    const caseAfterwards = await user.call(getCase, { params });
    expect(caseAfterwards.body.registrations).toEqual([{ from_image, to_image, ...affine.body }]);

    const equalPoints = points.map(({ to }) => ({ from: [5, 5] as [number, number], to }));
    for (const invalidChange of [
      { points: equalPoints },
      { to_image: from_image },
      { points: points.slice(1) },
    ]) {
      expect(
        (await user.call(registerCaseSlides, { params, body: { ...registration, ...invalidChange } })).status,
      ).toBe(400);
    }
    await admin.call(updateCase, { params, body: { slides: slides.slice(1) } });
    expect((await user.call(getCase, { params })).body.registrations).toEqual([]);
    expect((await user.call(registerCaseSlides, { params, body: registration })).status).toBe(404);
  });

  it('keep a slide whose file is missing, and its alignment, when an administrator saves the case', async () => {
    const server = await testServer({ database });
    const { db } = server.services;
    const { admin, slides, images } = await createSlides(server);
    const { body } = await admin.call(createCase, { body: { dataset: 'Böbrek', name: 'V-1', slides } });
    const params = { caseId: body.id };
    const [from_image = '', to_image = ''] = images;
    const points: { from: [number, number]; to: [number, number] }[] = [
      { from: [0, 0], to: [5, 5] },
      { from: [10, 0], to: [15, 5] },
    ];
    await admin.call(registerCaseSlides, { params, body: { from_image, to_image, points } });
    const before = (await admin.call(getCase, { params })).body;
    const setMissing = (missing_since: string | null) =>
      db.updateTable('images').set({ missing_since }).where('id', '=', to_image).execute();
    await setMissing(server.clock.now().toISOString());
    const listed = (await admin.call(getCase, { params })).body;
    const change = { description: 'Tamam', slides: listed.slides, version: listed.version };
    const changed = await admin.call(updateCase, { params, body: change });
    expect(changed).toMatchObject({ status: 200, body: { description: 'Tamam', slides: listed.slides } });
    await setMissing(null);
    const { slides: slidesAfter, registrations } = (await admin.call(getCase, { params })).body;
    expect({ slides: slidesAfter, registrations }).toEqual({
      slides: before.slides,
      registrations: before.registrations,
    });
  });

  it.each([
    ['coordinates above 1e9', 1e300, 0.25],
    ['a residual error that is not finite', 1e9, 1e300],
  ])(
    'reject with 400 an alignment of two slides with %s, and stay readable',
    async (_, coordinate, mpp_x) => {
      const server = await testServer({ database });
      const { admin, slides, images } = await createSlides(server);
      await server.services.db.updateTable('images').set({ mpp_x }).execute();
      const { body } = await admin.call(createCase, { body: { dataset: 'Böbrek', name: 'V-1', slides } });
      const user = server.as(await server.fixtures.user());
      const params = { caseId: body.id };
      const [from_image = '', to_image = ''] = images;
      const points: { from: [number, number]; to: [number, number] }[] = [
        { from: [0, 0], to: [0, 0] },
        { from: [1, 0], to: [coordinate, 0] },
        { from: [0, 1], to: [0, coordinate] },
        { from: [1, 1], to: [0, 0] },
      ];
      const registration = { from_image, to_image, points };
      expect((await user.call(registerCaseSlides, { params, body: registration })).status).toBe(400);
      expect((await user.call(listCases)).body.cases).toEqual([body]);
    },
  );

  it('keep a slide that a scan adds to the case while a request to align two other slides is running', async () => {
    const server = await testServer({ database });
    const { db } = server.services;
    const { admin, slides, images } = await createSlides(server);
    const body = { dataset: 'Böbrek', name: 'V-1', slides: slides.slice(0, 2) };
    const { id } = (await admin.call(createCase, { body })).body;
    const params = { caseId: id };
    const token = await server.fixtures.token(await server.fixtures.user());
    const [from_image = '', to_image = '', addedImage = ''] = images;
    const points: { from: [number, number]; to: [number, number] }[] = [
      { from: [0, 0], to: [0, 0] },
      { from: [10, 0], to: [10, 0] },
    ];
    let registered: Promise<{ readonly status: number }> | undefined;
    // As a scan does: the case changes in a transaction that holds the lock `catalogue`.
    await runLockedTransaction(db, 'catalogue', async (tx) => {
      const [stored] = await findCases(tx, [id]);
      if (stored === undefined) throw new Error('the case is not stored');
      const addedSlide = { image_id: addedImage, stain: null, block: null, note: null };
      await saveCase(tx, { ...stored, slides: [...stored.slides, addedSlide] });
      const request = { params, body: { from_image, to_image, points } };
      registered = server.as(token).call(registerCaseSlides, request);
      if (database === 'PostgreSQL') await waitForBlockedQuery(db); // on SQLite the request waits for the only connection
    });
    expect((await registered)?.status).toBe(200);
    const { body: caseAfterwards } = await admin.call(getCase, { params });
    expect(caseAfterwards.slides.map(({ image_id }) => image_id)).toEqual(images);
  });
});
