/** Tests transactions on annotations that wait for each other. Only PostgreSQL runs transactions at the same time. */
import {
  changeAnnotations,
  createAnnotationLayer,
  deleteAccount,
  listAnnotationHistory,
  restoreAnnotation,
} from '@lamina/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nextChangeNo } from '../store/annotation-layers.ts';
import { acquireLock, type DatabaseTransaction } from '../store/database.ts';
import { limitLockWait, waitForBlockedQuery } from '../store/testing/blocked-query.ts';
import { everyDatabaseKind } from '../store/testing/test-database.ts';
import { type TestServer, testServer } from '../testing/test-server.ts';
import { pointFeature } from '../testing/well-formed-requests.ts';
import { sweepAnnotations } from './sweep.ts';

const dayMs = 24 * 60 * 60_000;
const isPostgresTested = everyDatabaseKind.includes('PostgreSQL');

describe.runIf(isPostgresTested)('concurrent changes of annotations (database: PostgreSQL)', () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await testServer({ database: 'PostgreSQL', isShared: true });
  }, 60_000);
  afterAll(() => server.close());

  /** Runs `work` while a transaction holds the counter of the slide, as each change of its annotations does. */
  function whileChanging(imageId: string, work: (tx: DatabaseTransaction) => Promise<void>): Promise<void> {
    return server.services.db.transaction().execute(async (tx) => {
      await nextChangeNo(tx, imageId);
      await work(tx);
    });
  }

  const changesOf = (...changes: object[]) => ({ changes });
  const creationOf = (feature: object) => changesOf({ op: 'put', feature, base_revision: null });

  it('a change by an administrator succeeds while another transaction locks the slide and then the audit log (no deadlock)', async () => {
    const owner = await server.fixtures.user();
    const layer = await server.fixtures.layer({ owner_uid: owner.uid });
    const admin = server.as(await server.fixtures.token(await server.fixtures.admin()));
    let changed: Promise<{ readonly status: number }> | undefined;
    await whileChanging(layer.image_id, async (tx) => {
      changed = admin.call(changeAnnotations, {
        params: { layerId: layer.id },
        body: creationOf(pointFeature()),
      });
      await waitForBlockedQuery(server.services.db);
      await limitLockWait(tx);
      await acquireLock(tx, 'audit');
    });
    expect((await changed)?.status).toBe(200);
  });

  it('a private layer that its owner creates while the account is being deleted does not remain in the database', async () => {
    const owner = await server.fixtures.user();
    const client = server.as(await server.fixtures.token(owner));
    const image = await server.fixtures.image({ width: 100, height: 100 });
    let created: Promise<unknown> | undefined;
    let deleted: Promise<{ readonly status: number }> | undefined;
    await whileChanging(image.id, async () => {
      created = client.call(createAnnotationLayer, {
        params: { imageId: image.id },
        body: { name: 'Notes' },
      });
      await waitForBlockedQuery(server.services.db);
      deleted = client.call(deleteAccount);
      await Promise.race([deleted, waitForBlockedQuery(server.services.db, 2)]);
    });
    await created;
    expect((await deleted)?.status).toBe(200);
    const layers = server.services.db.selectFrom('annotation_layers').select('id');
    expect(await layers.where('image_id', '=', image.id).execute()).toEqual([]);
  });

  it('two concurrent requests for a new layer get 201 and 409 when the account has 199 of 200 allowed layers on the slide', async () => {
    const owner = await server.fixtures.user();
    const client = server.as(await server.fixtures.token(owner));
    const image = await server.fixtures.image({ width: 100, height: 100 });
    for (let i = 0; i < 199; i++) await server.fixtures.layer({ owner_uid: owner.uid, image_id: image.id });
    const create = () =>
      client.call(createAnnotationLayer, { params: { imageId: image.id }, body: { name: 'A' } });
    let created: Promise<{ readonly status: number }>[] = [];
    await whileChanging(image.id, async () => {
      created = [create(), create()];
      await waitForBlockedQuery(server.services.db, 2);
    });
    const statuses = (await Promise.all(created)).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 409]);
  });

  it('a deleted annotation that is restored while the cleanup of old deleted annotations runs keeps its history', async () => {
    const owner = await server.fixtures.user();
    const layer = await server.fixtures.layer({ owner_uid: owner.uid });
    const feature = pointFeature();
    const params = { layerId: layer.id };
    const client = server.as(await server.fixtures.token(owner));
    await client.call(changeAnnotations, { params, body: creationOf(feature) });
    const deletion = { op: 'delete', id: feature.id, base_revision: 1 };
    await client.call(changeAnnotations, { params, body: changesOf(deletion) });
    const { db } = server.services;
    let restored: Promise<{ readonly status: number }> | undefined;
    let swept: Promise<void> | undefined;
    // The restoration has to wait for `audit` after its changes, because an administrator makes it.
    const admin = server.as(await server.fixtures.token(await server.fixtures.admin()));
    await db.transaction().execute(async (tx) => {
      await acquireLock(tx, 'audit');
      const annotation = { ...params, annotationId: feature.id };
      restored = admin.call(restoreAnnotation, { params: annotation });
      await waitForBlockedQuery(db);
      swept = sweepAnnotations(db, new Date(server.clock.now().getTime() + 31 * dayMs));
      await waitForBlockedQuery(db, 2);
    });
    await swept;
    expect((await restored)?.status).toBe(200);
    const history = await client.call(listAnnotationHistory, { params });
    expect(history.body.revisions.map(({ change, feature: content }) => [change, content?.id])).toEqual([
      ['restore', feature.id],
      ['delete', undefined],
      ['create', feature.id],
    ]);
  });
});
