/** Tests which annotated slides and counts an account gets for the start page and the catalogue, through HTTP. */
import { randomUUID } from 'node:crypto';
import { changeAnnotations, countAnnotations, listRecentAnnotations } from '@lamina/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { saveDataset } from '../store/datasets.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type TestServer, type TestUser, testServer } from '../testing/test-server.ts';
import { pointFeature } from '../testing/well-formed-requests.ts';

describe.each(databaseKinds)(
  'GET /user/recent-annotations and GET /image-catalog/annotation-counts (database: %s)',
  (database) => {
    let server: TestServer;
    let member: TestUser;
    let other: TestUser;
    let admin: TestUser;

    beforeAll(async () => {
      server = await testServer({ database, isShared: true });
    }, 60_000);
    afterAll(() => server.close());
    beforeEach(async () => {
      await server.services.db.deleteFrom('annotation_layers').execute();
      const { fixtures } = server;
      [member, other, admin] = [
        await fixtures.user({ displayName: 'Ayşe Yılmaz' }),
        await fixtures.user({ displayName: 'Can Öz' }),
        await fixtures.admin(),
      ];
    });

    const listRecent = async (reader: TestUser) =>
      (await server.as(reader).call(listRecentAnnotations)).body.slides;
    const countFor = async (reader: TestUser, images: readonly string[]) =>
      (await server.as(reader).call(countAnnotations, { query: { images: images.join() } })).body.counts;

    it('recent-annotations lists each annotated slide once, with its last changed layer, the most recently changed slide first', async () => {
      const older = await server.fixtures.layer({
        owner_uid: other.uid,
        name: 'Vessels',
        annotation_count: 2,
      });
      server.clock.advance(1000);
      const newer = await server.fixtures.layer({ owner_uid: member.uid, annotation_count: 1 });
      server.clock.advance(1000);
      await server.fixtures.layer({
        image_id: newer.image_id,
        owner_uid: member.uid,
        name: 'Margins',
        annotation_count: 5,
      });
      expect(await listRecent(member)).toMatchObject([
        { image_id: newer.image_id, layer_name: 'Margins', owner_name: 'Ayşe Yılmaz', annotation_count: 5 },
        { image_id: older.image_id, layer_name: 'Vessels', owner_name: 'Can Öz', annotation_count: 2 },
      ]);
    });

    it('recent-annotations lists a slide first, and annotation-counts counts 1, after a member has drawn an annotation on the slide', async () => {
      const layer = await server.fixtures.layer({ owner_uid: member.uid });
      server.clock.advance(1000);
      await server.fixtures.layer({ owner_uid: other.uid, annotation_count: 1 });
      expect(await listRecent(member)).toHaveLength(1);
      server.clock.advance(1000);
      const changes = [{ op: 'put', feature: pointFeature(), base_revision: null }];
      await server.as(member).call(changeAnnotations, { params: { layerId: layer.id }, body: { changes } });
      expect((await listRecent(member))[0]).toMatchObject({ image_id: layer.image_id, annotation_count: 1 });
      expect(await countFor(member, [layer.image_id])).toEqual({ [layer.image_id]: 1 });
    });

    it('recent-annotations lists the latest 8 slides (the limit) that a member may see, although 101 newer layers are in a restricted dataset', async () => {
      const ownImageIds: string[] = [];
      for (let i = 0; i < 9; i++) {
        ownImageIds.push(
          (await server.fixtures.layer({ owner_uid: member.uid, annotation_count: 1 })).image_id,
        );
        server.clock.advance(1000);
      }
      const name = `Kısıtlı ${randomUUID()}`;
      const now = server.clock.now().toISOString();
      await saveDataset(server.services.db, { name, access: 'restricted', isListed: false, now });
      const { id } = await server.fixtures.image({ dataset_name: name });
      for (let i = 0; i < 101; i++) {
        await server.fixtures.layer({ image_id: id, owner_uid: other.uid, annotation_count: 1 });
      }
      const slides = await listRecent(member);
      expect(slides.map((slide) => slide.image_id)).toEqual(ownImageIds.reverse().slice(0, 8));
      expect((await listRecent(admin))[0]?.image_id).toBe(id);
    });

    it('annotation-counts counts the annotations of shared and own layers for a member, and of all layers for an administrator', async () => {
      const shared = await server.fixtures.layer({ owner_uid: other.uid, annotation_count: 3 });
      // The counts 3, 10, 100 and 1000 show in the sums which layers were counted.
      const onSlide = { image_id: shared.image_id, visibility: 'private' } as const;
      await server.fixtures.layer({ ...onSlide, owner_uid: other.uid, annotation_count: 10 });
      await server.fixtures.layer({ ...onSlide, owner_uid: member.uid, annotation_count: 100 });
      const deleted_at = server.clock.now().toISOString();
      await server.fixtures.layer({ ...onSlide, owner_uid: member.uid, annotation_count: 1000, deleted_at });
      const empty = await server.fixtures.image({});
      const images = [shared.image_id, empty.id, randomUUID()];
      expect(await countFor(member, images)).toEqual({ [shared.image_id]: 103 });
      expect(await countFor(other, images)).toEqual({ [shared.image_id]: 13 });
      expect(await countFor(admin, images)).toEqual({ [shared.image_id]: 113 });
    });

    it('both endpoints omit, for a member, the annotations in a private layer of another account', async () => {
      const layer = await server.fixtures.layer({
        owner_uid: other.uid,
        visibility: 'private',
        annotation_count: 1,
      });
      expect(await listRecent(member)).toEqual([]);
      expect(await countFor(member, [layer.image_id])).toEqual({});
    });

    it.each([
      ['of a restricted dataset; an administrator gets their count', 'restricted'],
      ['that is hidden from members; an administrator gets their count', 'hidden'],
      ['that was deleted; an administrator gets no count either', 'deleted'],
      ['whose file cannot be read; an administrator gets their count', 'failed'],
    ] as const)('both endpoints omit, for a member, the annotations of a slide %s', async (_, kind) => {
      const at = server.clock.now().toISOString();
      const name = `Kısıtlı ${randomUUID()}`;
      if (kind === 'restricted') {
        await saveDataset(server.services.db, { name, access: 'restricted', isListed: false, now: at });
      }
      const image = await server.fixtures.image({
        ...(kind === 'restricted' && { dataset_name: name }),
        ...(kind === 'hidden' && { hidden_at: at }),
        ...(kind === 'deleted' && { removed_at: at }),
        ...(kind === 'failed' && { status: 'failed' }),
      });
      await server.fixtures.layer({ image_id: image.id, owner_uid: member.uid, annotation_count: 1 });
      expect(await listRecent(member)).toEqual([]);
      expect(await countFor(member, [image.id])).toEqual({});
      const isListed = kind !== 'deleted';
      expect(await countFor(admin, [image.id])).toEqual(isListed ? { [image.id]: 1 } : {});
    });

    it('annotation-counts returns 400 for 101 slide ids, and for a slide id that is not a UUID', async () => {
      const requestCounts = (images: string) =>
        server.as(member).inject({ method: 'GET', url: `${countAnnotations.path}?images=${images}` });
      expect((await requestCounts(Array.from({ length: 101 }, () => randomUUID()).join())).status).toBe(400);
      expect((await requestCounts('slide')).status).toBe(400);
    });
  },
);
