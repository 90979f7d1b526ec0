/** Every call on annotation layers that are shared, private, locked or owned by another account: docs/permissions.md section 4.6. */
import { randomUUID } from 'node:crypto';
import {
  changeAnnotations,
  deleteAccount,
  deleteAnnotationLayer,
  type Endpoint,
  listAnnotationHistory,
  listAnnotationLayers,
  listAnnotations,
  restoreAnnotation,
  restoreAnnotationLayer,
  updateAnnotationLayer,
} from '@lamina/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LayerRow } from '../store/annotation-layers.ts';
import { saveDataset } from '../store/datasets.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type TestServer, type TestUser, testServer } from '../testing/test-server.ts';
import { pointFeature } from '../testing/well-formed-requests.ts';

type Target =
  | 'own private'
  | 'own, locked by oneself'
  | 'own, locked by an administrator'
  | 'shared, changed by its owner'
  | 'shared, changed by members'
  | 'shared, changed by members, locked'
  | "another's private"
  | "a deleted account's"
  | 'on a slide without access';

/** Descriptions of the targets, for test names. */
const targetDescriptions: Readonly<Record<Target, string>> = {
  'own private': 'a private layer of the caller',
  'own, locked by oneself': 'a private layer that the caller owns and has locked',
  'own, locked by an administrator': 'a private layer of the caller that an administrator has locked',
  'shared, changed by its owner': "another account's shared layer that only its owner may change",
  'shared, changed by members': "another account's shared layer that all members may change",
  'shared, changed by members, locked':
    "another account's shared layer that all members may change, locked by its owner",
  "another's private": "another account's private layer",
  "a deleted account's": 'a shared layer whose owner no longer has an account',
  'on a slide without access':
    "another account's shared layer on a slide of a restricted dataset for which the caller has no grant",
};

type Column = 'viewer' | 'user' | 'admin';

/** The status of a call by target: for a viewer, a user and an administrator as caller. */
type Rows = Readonly<Record<Target, string>>;

const read: Rows = {
  'own private': '200 200 200',
  'own, locked by oneself': '200 200 200',
  'own, locked by an administrator': '200 200 200',
  'shared, changed by its owner': '200 200 200',
  'shared, changed by members': '200 200 200',
  'shared, changed by members, locked': '200 200 200',
  "another's private": '404 404 200',
  "a deleted account's": '200 200 200',
  'on a slide without access': '404 404 200',
};
const change: Rows = {
  'own private': '403 200 200',
  'own, locked by oneself': '403 409 409',
  'own, locked by an administrator': '403 409 409',
  'shared, changed by its owner': '403 403 200',
  'shared, changed by members': '403 200 200',
  'shared, changed by members, locked': '403 409 409',
  "another's private": '403 404 200',
  "a deleted account's": '403 403 200',
  'on a slide without access': '403 404 200',
};
const rename: Rows = {
  ...change,
  'shared, changed by members': '403 403 200',
  'shared, changed by members, locked': '403 403 409',
};
const unlock: Rows = {
  ...rename,
  'own, locked by oneself': '403 200 200',
  'own, locked by an administrator': '403 403 200',
  'shared, changed by members, locked': '403 403 200',
};
const remove: Rows = {
  'own private': '403 204 204',
  'own, locked by oneself': '403 409 204',
  'own, locked by an administrator': '403 409 204',
  'shared, changed by its owner': '403 403 204',
  'shared, changed by members': '403 403 204',
  'shared, changed by members, locked': '403 403 204',
  "another's private": '403 404 204',
  "a deleted account's": '403 403 204',
  'on a slide without access': '403 404 204',
};
const restore: Rows = {
  'own private': '403 200 200',
  'own, locked by oneself': '403 200 200',
  'own, locked by an administrator': '403 200 200',
  'shared, changed by its owner': '403 404 200',
  'shared, changed by members': '403 404 200',
  'shared, changed by members, locked': '403 404 200',
  "another's private": '403 404 200',
  "a deleted account's": '403 404 200',
  'on a slide without access': '403 404 200',
};

interface Call {
  readonly endpoint: Endpoint;
  readonly rows: Rows;
  readonly payload?: (layer: LayerRow) => object;
  /** The layer is deleted before the call. */
  readonly isDeletedBefore?: true;
}

const calls: Readonly<Record<string, Call>> = {
  'list annotations': { endpoint: listAnnotations, rows: read },
  'read the history': { endpoint: listAnnotationHistory, rows: read },
  'change annotations': {
    endpoint: changeAnnotations,
    rows: change,
    payload: () => ({ changes: [{ op: 'put', feature: pointFeature(), base_revision: null }] }),
  },
  'rename the layer': {
    endpoint: updateAnnotationLayer,
    rows: rename,
    payload: ({ version }) => ({ name: 'Renamed', version }),
  },
  'unlock the layer': {
    endpoint: updateAnnotationLayer,
    rows: unlock,
    payload: ({ version }) => ({ locked: false, version }),
  },
  'delete the layer': { endpoint: deleteAnnotationLayer, rows: remove },
  'restore the deleted layer': { endpoint: restoreAnnotationLayer, rows: restore, isDeletedBefore: true },
};
const columns: readonly Column[] = ['viewer', 'user', 'admin'];

describe.each(databaseKinds)('permissions on annotation layers (database: %s):', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await testServer({ database, isShared: true });
    await server.fixtures.admin();
  }, 60_000);
  afterAll(() => server.close());

  async function createLayerFor(target: Target, caller: TestUser): Promise<LayerRow> {
    const { fixtures, services, clock } = server;
    const other = (await fixtures.user()).uid;
    const own = { owner_uid: caller.uid, visibility: 'private' } as const;
    const members = { owner_uid: other, editing: 'members' } as const;
    switch (target) {
      case 'own private':
        return fixtures.layer(own);
      case 'own, locked by oneself':
        return fixtures.layer({ ...own, locked_by: 'owner' });
      case 'own, locked by an administrator':
        return fixtures.layer({ ...own, locked_by: 'admin' });
      case 'shared, changed by its owner':
        return fixtures.layer({ owner_uid: other });
      case 'shared, changed by members':
        return fixtures.layer(members);
      case 'shared, changed by members, locked':
        return fixtures.layer({ ...members, locked_by: 'owner' });
      case "another's private":
        return fixtures.layer({ owner_uid: other, visibility: 'private' });
      case "a deleted account's":
        return fixtures.layer({ owner_uid: null });
      case 'on a slide without access': {
        const [name, now] = [`Kısıtlı ${randomUUID()}`, clock.now().toISOString()];
        await saveDataset(services.db, { name, access: 'restricted', isListed: false, now });
        const image = await fixtures.image({ dataset_name: name });
        return fixtures.layer({ ...members, image_id: image.id });
      }
    }
  }

  describe.each(Object.entries(calls))(
    'the request "%s"',
    (_, { endpoint, rows, payload, isDeletedBefore }) => {
      const tests = Object.entries(rows).map(([target, statuses]) => {
        const outcomes = columns.map((role, i) => `${statuses.split(' ')[i]} to role ${role}`);
        return [outcomes.join(', '), targetDescriptions[target as Target], target, statuses] as const;
      });
      it.each(tests)('returns %s for %s', async (_, __, target, expected) => {
        const statuses: number[] = [];
        for (const role of columns) {
          const caller = await server.fixtures.user({ role });
          const layer = await createLayerFor(target as Target, caller);
          if (isDeletedBefore) {
            await server.services.db
              .updateTable('annotation_layers')
              .set({ deleted_at: server.clock.now().toISOString() })
              .where('id', '=', layer.id)
              .execute();
          }
          const answer = await server.as(caller).inject({
            method: endpoint.method,
            url: endpoint.path.replace(':layerId', layer.id),
            ...(payload && { payload: payload(layer) }),
          });
          statuses.push(answer.status);
        }
        expect(statuses.join(' ')).toBe(expected);
      });
    },
  );

  it('a request for the list of layers returns 404 for a slide that the account may not view', async () => {
    const caller = await server.fixtures.user();
    const layer = await createLayerFor('on a slide without access', caller);
    const params = { imageId: layer.image_id };
    expect(await server.as(caller).call(listAnnotationLayers, { params })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
  });

  it('the list of layers contains shared and own layers for a member, and all layers for an administrator', async () => {
    const [member, other, admin] = [
      await server.fixtures.user(),
      await server.fixtures.user(),
      await server.fixtures.admin(),
    ];
    const shared = await server.fixtures.layer({ owner_uid: other.uid });
    const onSlide = { image_id: shared.image_id, visibility: 'private' } as const;
    const foreign = await server.fixtures.layer({ ...onSlide, owner_uid: other.uid });
    const own = await server.fixtures.layer({ ...onSlide, owner_uid: member.uid });
    const idsFor = async (who: TestUser) => {
      const params = { imageId: shared.image_id };
      const { body } = await server.as(who).call(listAnnotationLayers, { params });
      return body.layers.map(({ id }) => id).sort();
    };
    expect(await idsFor(member)).toEqual([shared.id, own.id].sort());
    expect(await idsFor(admin)).toEqual([shared.id, own.id, foreign.id].sort());
  });

  it("an administrator who reads and changes another account's private layer several times causes one audit event for reading and one for changing", async () => {
    const admin = await server.fixtures.admin();
    const layer = await createLayerFor("another's private", admin);
    const client = server.as(await server.fixtures.token(admin));
    for (let i = 0; i < 2; i++) {
      await client.call(listAnnotations, { params: { layerId: layer.id } });
      const changes = [{ op: 'put', feature: pointFeature(), base_revision: null }];
      await client.call(changeAnnotations, { params: { layerId: layer.id }, body: { changes } });
    }
    const events = await server.services.db
      .selectFrom('audit')
      .select('action')
      .where('actor_uid', '=', admin.uid)
      .where('target', '=', layer.image_id)
      .execute();
    expect(events.map(({ action }) => action).sort()).toEqual([
      'annotation-layer-read',
      'annotations-changed',
    ]);
  });

  it.each([
    [
      'a conflicting change',
      (admin: TestUser, layerId: string, id: string) =>
        server.as(admin).call(changeAnnotations, {
          params: { layerId },
          body: { changes: [{ op: 'delete', id, base_revision: 99 }] },
        }),
    ],
    [
      'the restoration of an annotation that is not deleted',
      (admin: TestUser, layerId: string, annotationId: string) =>
        server.as(admin).call(restoreAnnotation, { params: { layerId, annotationId } }),
    ],
  ])(
    "an administrator's request that returns an annotation of another account's private layer is audited as reading the layer: %s",
    async (_, request) => {
      const owner = await server.fixtures.user();
      const admin = await server.fixtures.admin();
      const layer = await server.fixtures.layer({ owner_uid: owner.uid, visibility: 'private' });
      const feature = pointFeature();
      const changes = [{ op: 'put', feature, base_revision: null }];
      await server.as(owner).call(changeAnnotations, { params: { layerId: layer.id }, body: { changes } });
      expect(JSON.stringify((await request(admin, layer.id, feature.id)).body)).toContain(feature.id);
      const events = await server.services.db
        .selectFrom('audit')
        .select(['action', 'actor_uid'])
        .where('target', '=', layer.image_id)
        .execute();
      expect(events).toEqual([{ action: 'annotation-layer-read', actor_uid: admin.uid }]);
    },
  );

  it('an audit event records that an administrator restored an annotation in the layer of another account', async () => {
    const owner = await server.fixtures.user();
    const admin = await server.fixtures.admin();
    const layer = await server.fixtures.layer({ owner_uid: owner.uid });
    const feature = pointFeature();
    for (const change of [
      { op: 'put', feature, base_revision: null },
      { op: 'delete', id: feature.id, base_revision: 1 },
    ]) {
      const params = { layerId: layer.id };
      await server.as(owner).call(changeAnnotations, { params, body: { changes: [change] } });
    }
    const params = { layerId: layer.id, annotationId: feature.id };
    expect((await server.as(admin).call(restoreAnnotation, { params })).status).toBe(200);
    const events = await server.services.db
      .selectFrom('audit')
      .select(['action', 'actor_uid'])
      .where('target', '=', layer.image_id)
      .execute();
    expect(events).toEqual([{ action: 'annotations-changed', actor_uid: admin.uid }]);
  });

  it('deletion of an account erases its private layers and keeps its shared layers, without the name of the owner', async () => {
    const owner = await server.fixtures.user({ displayName: 'Ayşe Yılmaz' });
    const shared = await server.fixtures.layer({ owner_uid: owner.uid });
    const secret = await server.fixtures.layer({
      owner_uid: owner.uid,
      visibility: 'private',
      image_id: shared.image_id,
    });
    const feature = pointFeature();
    const changes = [{ op: 'put', feature, base_revision: null }];
    for (const { id: layerId } of [shared, secret]) {
      await server.as(owner).call(changeAnnotations, { params: { layerId }, body: { changes } });
    }
    expect((await server.as(owner).call(deleteAccount)).status).toBe(200);
    const admin = await server.fixtures.admin();
    const headers = { 'accept-language': 'tr' };
    const params = { imageId: shared.image_id };
    const { body } = await server.as(admin).call(listAnnotationLayers, { params, headers });
    expect(body.layers).toMatchObject([{ id: shared.id, owner: null, owner_name: 'Silinmiş hesap' }]);
    const list = await server.as(admin).call(listAnnotations, { params: { layerId: shared.id }, headers });
    expect(JSON.parse(String(list.body))).toMatchObject({ authors: { [owner.uid]: 'Silinmiş hesap' } });
    const left = server.services.db.selectFrom('annotations').select('id').where('layer_id', '=', secret.id);
    expect(await left.execute()).toEqual([]);
  });

  it('deleted layers and annotations are erased after 30 days, and the account that changed them stays recorded', async () => {
    const owner = await server.fixtures.user();
    const [kept, deleted] = [
      await server.fixtures.layer({ owner_uid: owner.uid }),
      await server.fixtures.layer({ owner_uid: owner.uid }),
    ];
    const feature = pointFeature();
    const { db, jobs } = server.services;
    const send = (changes: object[]) =>
      server.as(owner).call(changeAnnotations, { params: { layerId: kept.id }, body: { changes } });
    await send([{ op: 'put', feature, base_revision: null }]);
    await send([{ op: 'delete', id: feature.id, base_revision: 1 }]);
    await server.as(owner).call(deleteAnnotationLayer, { params: { layerId: deleted.id } });
    server.clock.advance(31 * 24 * 60 * 60_000);
    await jobs.enqueue('sweep', {});
    await jobs.idle('sweep');
    const annotation = { layerId: kept.id, annotationId: feature.id };
    expect((await server.as(owner).call(restoreAnnotation, { params: annotation })).status).toBe(404);
    const layers = await db
      .selectFrom('annotation_layers')
      .select('id')
      .where('owner_uid', '=', owner.uid)
      .execute();
    expect(layers.map(({ id }) => id)).toEqual([kept.id]);
    const revisions = await db
      .selectFrom('annotation_revisions')
      .select(['change', 'feature', 'author'])
      .where('layer_id', '=', kept.id)
      .orderBy('revision')
      .execute();
    expect(revisions).toEqual([
      { change: 'create', feature: null, author: owner.uid },
      { change: 'delete', feature: null, author: owner.uid },
    ]);
  });
});
