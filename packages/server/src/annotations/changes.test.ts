/** Tests the endpoints that change, list and restore annotations and that list annotation layers. */
import { randomInt, randomUUID } from 'node:crypto';
import {
  changeAnnotations,
  createAnnotationLayer,
  listAnnotationHistory,
  listAnnotationLayers,
  listAnnotations,
  restoreAnnotation,
} from '@lamina/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findLayer, type LayerRow } from '../store/annotation-layers.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type TestServer, type TestUser, testServer } from '../testing/test-server.ts';
import { sweepAnnotations } from './sweep.ts';

interface ListResponse {
  readonly version: number;
  readonly event_id: string;
  readonly next_cursor: string | null;
  readonly authors: Readonly<Record<string, string | null>>;
  readonly features: readonly {
    readonly id: string;
    readonly geometry: { readonly coordinates: unknown };
    readonly properties: Readonly<Record<string, unknown>>;
  }[];
}

const square = (x: number, size = 10) => ({
  type: 'Polygon',
  coordinates: [
    [
      [x, 0],
      [x + size, 0],
      [x + size, size],
      [x, size],
      [x, 0],
    ],
  ],
});

const dayMs = 24 * 60 * 60_000;

/** Returns random characters, which a database cannot compress. */
const randomText = (length: number) =>
  Array.from({ length }, () => String.fromCodePoint(0x4e00 + randomInt(20_000))).join('');

const tumor = { name: 'Tumor', color: [200, 0, 0] };

describe.each(databaseKinds)('annotation endpoints (database: %s)', (database) => {
  let server: TestServer;
  let owner: TestUser;
  let layer: LayerRow;

  beforeAll(async () => {
    server = await testServer({ database, isShared: true });
  }, 60_000);
  afterAll(() => server.close());
  beforeEach(async () => {
    owner = await server.fixtures.user({ displayName: 'Ayşe Yılmaz' });
    layer = await server.fixtures.layer({ owner_uid: owner.uid, editing: 'members' });
  });

  const feature = (id: string, properties: object = {}, x = 0) => ({
    type: 'Feature',
    id,
    geometry: square(x),
    properties: { objectType: 'annotation', ...properties },
  });
  const put = (newFeature: object, base_revision: number | null = null) => ({
    op: 'put',
    feature: newFeature,
    base_revision,
  });
  const deletion = (id: string, base_revision: number) => ({ op: 'delete', id, base_revision });

  const send = (caller: TestUser, changes: readonly object[], layerId = layer.id) =>
    server.as(caller).call(changeAnnotations, { params: { layerId }, body: { changes } });

  async function list(caller: TestUser, query?: Record<string, string>): Promise<ListResponse> {
    const response = await server
      .as(caller)
      .call(listAnnotations, { params: { layerId: layer.id }, ...(query && { query }) });
    expect(response.status).toBe(200);
    expect(String(response.headers['content-type'])).toContain('application/geo+json');
    return JSON.parse(String(response.body)) as ListResponse;
  }

  describe('POST annotation changes', () => {
    it('stores an annotation with all properties that QuPath writes, and GET annotations returns it with its author', async () => {
      const id = randomUUID();
      const properties = {
        name: 'A',
        classification: tumor,
        measurements: { 'Area µm^2': 1.5, Ki67: 'NaN' },
        metadata: { key: 'value' },
        isLocked: true,
        description: 'one\ntwo',
      };
      const response = await send(owner, [put(feature(id, properties))]);
      expect(response).toMatchObject({ status: 200, body: { version: 2, revisions: { [id]: 1 } } });
      const { features, version, authors, next_cursor } = await list(owner);
      expect({ version, authors, next_cursor }).toEqual({
        version: 2,
        authors: { [owner.uid]: 'Ayşe Yılmaz' },
        next_cursor: null,
      });
      const at = server.clock.now().toISOString();
      expect(features).toEqual([
        {
          ...feature(id, properties),
          properties: {
            objectType: 'annotation',
            ...properties,
            revision: 1,
            created_by: owner.uid,
            created_at: at,
            updated_by: owner.uid,
            updated_at: at,
          },
        },
      ]);
    });

    it('returns 409 and applies no change of a batch when one of its changes states a wrong revision of an annotation', async () => {
      const [unchangedId, newId] = [randomUUID(), randomUUID()];
      await send(owner, [put(feature(unchangedId))]);
      const wrongRevision = 7;
      const response = await send(owner, [put(feature(newId)), deletion(unchangedId, wrongRevision)]);
      expect(response).toMatchObject({ status: 409, body: { code: 'conflict' } });
      expect((await list(owner)).features.map(({ id }) => id)).toEqual([unchangedId]);
    });

    it('returns 409 with the current state of each annotation whose revision in the batch is outdated', async () => {
      const [changed, deleted] = [randomUUID(), randomUUID()];
      const colleague = await server.fixtures.user();
      await send(owner, [put(feature(changed)), put(feature(deleted))]);
      await send(colleague, [put(feature(changed, { name: 'theirs' }), 1), deletion(deleted, 1)]);
      const response = await send(owner, [
        put(feature(changed, { name: 'mine' }), 1),
        put(feature(deleted, { name: 'mine' }), 1),
      ]);
      expect(response).toMatchObject({
        status: 409,
        body: {
          code: 'conflict',
          conflicts: [
            { id: changed, properties: { name: 'theirs', revision: 2, updated_by: colleague.uid } },
            { id: deleted, geometry: null, properties: { deleted: true, revision: 2 } },
          ],
        },
      });
    });

    it('returns the same response when the client sends a batch again, even after later changes by another account', async () => {
      const [firstId, secondId] = [randomUUID(), randomUUID()];
      const batch = [put(feature(firstId)), put(feature(secondId))];
      const first = await send(owner, batch);
      expect((await send(owner, batch)).body).toEqual(first.body);
      const change = [put(feature(firstId, { name: 'A' }), 1), deletion(secondId, 1)];
      const second = await send(owner, change);
      expect((await send(owner, change)).body).toEqual(second.body);
      await send(await server.fixtures.user(), [put(feature(firstId, { name: 'theirs' }), 2)]);
      expect((await send(owner, change)).body).toEqual(second.body);
      expect(await list(owner)).toMatchObject({
        version: 4,
        features: [{ id: firstId, properties: { name: 'theirs', revision: 3 } }],
      });
    });

    it('restores a deleted annotation when its author sends it again as a new annotation with the same id', async () => {
      const id = randomUUID();
      await send(owner, [put(feature(id))]);
      await send(owner, [deletion(id, 1)]);
      const response = await send(owner, [put(feature(id))]);
      expect(response).toMatchObject({ status: 200, body: { revisions: { [id]: 3 } } });
      expect((await list(owner)).features.map((each) => each.id)).toEqual([id]);
    });

    it('restores an annotation deleted by another account if its author sends it with the revision of the deletion, but not without a revision', async () => {
      const id = randomUUID();
      const created = await send(owner, [put(feature(id))]);
      await send(await server.fixtures.user(), [deletion(id, 1)]);
      expect((await send(owner, [put(feature(id))])).body).toEqual(created.body);
      expect((await list(owner)).features).toEqual([]);
      const restored = await send(owner, [put(feature(id), 2)]);
      expect(restored).toMatchObject({ status: 200, body: { revisions: { [id]: 3 } } });
      expect((await list(owner)).features.map((each) => each.id)).toEqual([id]);
    });

    it('gives revision 3 to an annotation that was deleted at revision 2, erased by the cleanup 31 days later, and is created again', async () => {
      const id = randomUUID();
      await send(owner, [put(feature(id))]);
      await send(owner, [deletion(id, 1)]);
      await sweepAnnotations(server.services.db, new Date(server.clock.now().getTime() + 31 * dayMs));
      const batch = [put(feature(id)), put(feature(randomUUID()))];
      const created = await send(owner, batch);
      expect(created).toMatchObject({ status: 200, body: { revisions: { [id]: 3 } } });
      expect((await send(owner, batch)).body).toEqual(created.body);
      const { body } = await server
        .as(owner)
        .call(listAnnotationHistory, { params: { layerId: layer.id }, query: { annotation: id } });
      expect(body.revisions.map(({ revision, change }) => [revision, change])).toEqual([
        [3, 'create'],
        [2, 'delete'],
        [1, 'create'],
      ]);
    });

    it('stores an annotation whose class has ten names of 1,000 characters, and GET annotation layers counts it by this class', async () => {
      const names = Array.from({ length: 10 }, () => randomText(1000));
      const classification = { names, color: [1, 2, 3] };
      expect((await send(owner, [put(feature(randomUUID(), { classification }))])).status).toBe(200);
      const params = { imageId: layer.image_id };
      const { body } = await server.as(owner).call(listAnnotationLayers, { params });
      expect(body.layers[0]?.counts).toEqual([{ name: names.join(': '), color: [1, 2, 3], count: 1 }]);
    });

    it('returns 409 conflict for a new annotation with the id of an annotation of another account', async () => {
      const id = randomUUID();
      await send(owner, [put(feature(id))]);
      expect(await send(await server.fixtures.user(), [put(feature(id, { name: 'B' }))])).toMatchObject({
        status: 409,
        body: { code: 'conflict' },
      });
    });

    it.each([
      ['two changes of one annotation', (id: string) => [put(feature(id)), put(feature(id), 1)]],
      [
        'a ring that is not closed',
        (id: string) => [
          put({
            ...feature(id),
            geometry: {
              type: 'Polygon',
              coordinates: [
                [
                  [0, 0],
                  [1, 0],
                  [1, 1],
                  [0, 1],
                ],
              ],
            },
          }),
        ],
      ],
      ['coordinates far outside the slide', (id: string) => [put(feature(id, {}, 200_000))]],
      ['an id that is not a UUID', () => [put(feature('x'))]],
      [
        'a GeometryCollection',
        (id: string) => [put({ ...feature(id), geometry: { type: 'GeometryCollection', geometries: [] } })],
      ],
      ['no change', () => []],
      ['1,001 changes', () => Array.from({ length: 1001 }, () => put(feature(randomUUID())))],
    ])('returns 400 for a batch with %s', async (_, changes) => {
      expect(await send(owner, changes(randomUUID()))).toMatchObject({
        status: 400,
        body: { code: 'invalid_request' },
      });
      expect((await list(owner)).features).toEqual([]);
    });

    it('accepts a batch of 1,000 annotations', async () => {
      const changes = Array.from({ length: 1000 }, (_, i) => put(feature(randomUUID(), {}, i)));
      const response = await send(owner, changes);
      expect(response.status).toBe(200);
      expect((await list(owner)).features).toHaveLength(1000);
    });

    it('returns 409 layer_full when a layer would have more than 5 million vertices', async () => {
      await server.services.db
        .updateTable('annotation_layers')
        .set({ vertex_count: 4_999_999 })
        .where('id', '=', layer.id)
        .execute();
      expect(await send(owner, [put(feature(randomUUID()))])).toMatchObject({
        status: 409,
        body: { code: 'layer_full' },
      });
    });

    it('stores all new annotations of 20 concurrent accounts, and only the first of their 20 changes to one shared annotation', async () => {
      const shared = randomUUID();
      await send(owner, [put(feature(shared))]);
      const writers = await Promise.all(Array.from({ length: 20 }, () => server.fixtures.user()));
      const ownIds = writers.map(() => Array.from({ length: 3 }, () => randomUUID()));
      const results = await Promise.all(
        writers.map(async (writer, i) => {
          const statuses: number[] = [];
          for (const id of ownIds[i] ?? []) statuses.push((await send(writer, [put(feature(id))])).status);
          const onShared = await send(writer, [put(feature(shared, { name: writer.uid }), 1)]);
          return { statuses, onShared: onShared.status };
        }),
      );
      expect(results.flatMap(({ statuses }) => statuses)).toEqual(Array(60).fill(200));
      expect(results.map(({ onShared }) => onShared).toSorted((a, b) => a - b)).toEqual([
        200,
        ...Array(19).fill(409),
      ]);
      const { features, version } = await list(owner);
      expect(features.map(({ id }) => id).sort()).toEqual([shared, ...ownIds.flat()].sort());
      expect(version).toBe(1 + 1 + 60 + 1); // initial version, shared annotation, new annotations, first change
    }, 60_000);
  });

  describe('GET annotations', () => {
    it('returns 304 when If-None-Match equals the ETag, and 200 after a change', async () => {
      const params = { layerId: layer.id };
      const first = await server.as(owner).call(listAnnotations, { params });
      const headers = { 'if-none-match': String(first.headers.etag) };
      const again = await server.as(owner).call(listAnnotations, { params, headers });
      expect(again).toMatchObject({ status: 304, body: '' });
      await send(owner, [put(feature(randomUUID()))]);
      expect((await server.as(owner).call(listAnnotations, { params, headers })).status).toBe(200);
    });

    it('returns 200 for an ETag from before a restore of the database, although the layer has the same version again', async () => {
      await send(owner, [put(feature(randomUUID()))]);
      const stored = await findLayer(server.services.db, layer.id);
      const params = { layerId: layer.id };
      const { headers } = await server.as(owner).call(listAnnotations, { params });
      server.clock.advance(1000);
      // The restored layer has its version of the backup; the next change increments it.
      await server.services.db
        .updateTable('annotation_layers')
        .set({ version: Number(stored?.version) - 1 })
        .where('id', '=', layer.id)
        .execute();
      await send(owner, [put(feature(randomUUID()))]);
      expect((await list(owner)).version).toBe(stored?.version);
      const ifNoneMatch = { 'if-none-match': String(headers.etag) };
      const again = await server.as(owner).call(listAnnotations, { params, headers: ifNoneMatch });
      expect(again.status).toBe(200);
    });

    it('returns only annotations that intersect the rectangle of the parameter bbox', async () => {
      const [left, right] = [randomUUID(), randomUUID()];
      await send(owner, [put(feature(left)), put(feature(right, {}, 100))]);
      expect((await list(owner, { bbox: '5,5,50,50' })).features.map(({ id }) => id)).toEqual([left]);
    });

    it('returns the annotations of a layer in pages, in the order of their creation', async () => {
      const ids = Array.from({ length: 5 }, () => randomUUID());
      await send(
        owner,
        ids.map((id) => put(feature(id))),
      );
      const listedIds: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page = await list(owner, { limit: '2', ...(cursor && { cursor }) });
        listedIds.push(...page.features.map(({ id }) => id));
        cursor = page.next_cursor;
      }
      expect(listedIds).toEqual(ids);
    });

    it('returns all 10,000 annotations of a layer, with 30 vertices each, when the request has no limit', async () => {
      const ring = Array.from({ length: 30 }, (_, i) => {
        const angle = (2 * Math.PI * i) / 29;
        return [
          500 + Math.round(9000 * Math.cos(angle)) / 100,
          500 + Math.round(9000 * Math.sin(angle)) / 100,
        ];
      });
      ring[29] = ring[0] as number[];
      for (let batch = 0; batch < 10; batch++) {
        const changes = Array.from({ length: 1000 }, () =>
          put({
            ...feature(randomUUID(), { classification: tumor }),
            geometry: { type: 'Polygon', coordinates: [ring] },
          }),
        );
        expect((await send(owner, changes)).status).toBe(200);
      }
      const response = await server.as(owner).call(listAnnotations, { params: { layerId: layer.id } });
      expect((JSON.parse(String(response.body)) as ListResponse).features).toHaveLength(10_000);
    }, 120_000);
  });

  describe('GET history of annotations', () => {
    it('returns every change of a layer or of one annotation with its author, newest first', async () => {
      const [firstId, secondId] = [randomUUID(), randomUUID()];
      await send(owner, [put(feature(firstId))]);
      await send(owner, [put(feature(secondId))]);
      await send(owner, [put(feature(firstId, { name: 'A' }), 1)]);
      await send(owner, [deletion(firstId, 2)]);
      const client = server.as(owner);
      const params = { layerId: layer.id };
      const all = await client.call(listAnnotationHistory, { params });
      expect(all.body.revisions.map(({ annotation, change }) => [annotation, change])).toEqual([
        [firstId, 'delete'],
        [firstId, 'change'],
        [secondId, 'create'],
        [firstId, 'create'],
      ]);
      expect(all.body.revisions[0]).toMatchObject({
        author: owner.uid,
        author_name: 'Ayşe Yılmaz',
        revision: 3,
        feature: null,
      });
      const firstPageOfA = await client.call(listAnnotationHistory, {
        params,
        query: { annotation: firstId, limit: '2' },
      });
      expect(firstPageOfA.body.revisions.map(({ revision }) => revision)).toEqual([3, 2]);
      const query = { annotation: firstId, cursor: firstPageOfA.body.next_cursor ?? '' };
      const secondPageOfA = await client.call(listAnnotationHistory, { params, query });
      expect(secondPageOfA.body).toMatchObject({
        revisions: [{ revision: 1, change: 'create' }],
        next_cursor: null,
      });
    });
  });

  describe('GET history of annotations with a cursor that the server has not issued', () => {
    it.each(['5.\u0000', '5.x', 'x'])(
      'returns 400 when the cursor contains the position %j',
      async (text) => {
        const query = { cursor: Buffer.from(text).toString('base64url') };
        const response = await server
          .as(owner)
          .call(listAnnotationHistory, { params: { layerId: layer.id }, query });
        expect(response).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
      },
    );
  });

  describe('POST restore of an annotation', () => {
    it('restores an annotation that was just deleted, and returns 404 for one deleted more than 30 days ago', async () => {
      const id = randomUUID();
      await send(owner, [put(feature(id, { name: 'A' }))]);
      await send(owner, [deletion(id, 1)]);
      const params = { layerId: layer.id, annotationId: id };
      const restored = await server.as(owner).call(restoreAnnotation, { params });
      expect(restored).toMatchObject({ status: 200, body: { id, properties: { name: 'A', revision: 3 } } });
      await send(owner, [deletion(id, 3)]);
      server.clock.advance(31 * 24 * 60 * 60_000);
      expect((await server.as(owner).call(restoreAnnotation, { params })).status).toBe(404);
    });
  });

  describe('annotation layers of a slide', () => {
    it('GET returns for each layer the number of its annotations by class', async () => {
      await send(owner, [
        put(feature(randomUUID(), { classification: tumor })),
        put(feature(randomUUID(), { classification: tumor })),
        put(feature(randomUUID())),
      ]);
      const params = { imageId: layer.image_id };
      const { body } = await server.as(owner).call(listAnnotationLayers, { params });
      expect(body.layers).toMatchObject([
        {
          id: layer.id,
          owner: owner.uid,
          owner_name: 'Ayşe Yılmaz',
          annotation_count: 3,
          counts: [
            { name: 'Tumor', color: [200, 0, 0], count: 2 },
            { name: null, color: null, count: 1 },
          ],
        },
      ]);
    });

    it('POST creates a private layer that only its owner may edit when the request states only a name', async () => {
      const params = { imageId: layer.image_id };
      const created = await server
        .as(owner)
        .call(createAnnotationLayer, { params, body: { name: 'Stroma' } });
      expect(created).toMatchObject({
        status: 201,
        body: { name: 'Stroma', visibility: 'private', editing: 'owner', locked: false, version: 1 },
      });
    });
  });
});
