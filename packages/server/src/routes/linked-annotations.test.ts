/** Tests which annotations the visitors of share links may read. */
import fs from 'node:fs';
import path from 'node:path';
import {
  changeAnnotations,
  createAnnotationLayer,
  createImageSession,
  createShareLink,
  deleteAnnotationLayer,
  endShareLink,
  listAnnotationLayers,
  openShareLink,
  suspendUser,
  updateDataset,
} from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { describe, expect, it } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import { testServer } from '../testing/test-server.ts';
import { pointFeature } from '../testing/well-formed-requests.ts';

describe.each(databaseKinds)('annotations read through a share link (database: %s)', (database) => {
  /** Starts a server with a slide that may be shared, which has a layer for members and a private layer of the teacher, and another slide. */
  async function setUp(config: { readonly imageSessionCookie?: 'strict' } = {}) {
    const server = await testServer({ database, config });
    const folder = path.join(server.config.slidesDir, 'Ders');
    fs.mkdirSync(folder);
    for (const name of ['a.svs', 'b.svs']) fs.writeFileSync(path.join(folder, name), await buildSvs());
    await server.services.catalogue.rescan();
    await server.services.catalogue.settled();
    const admin = server.as(await server.fixtures.admin());
    await admin.call(updateDataset, { body: { dataset: 'Ders', access: 'open', sharing: true } });
    const account = await server.fixtures.user({ displayName: 'Ayşe Öğretmen' });
    const teacher = server.as(account);
    const { images } = await server.services.catalogue.list({ limit: 2 }, account);
    const [image = '', other = ''] = images.map(({ id }) => id);

    const layerOn = async (imageId: string, visibility: 'members' | 'private') => {
      const created = await teacher.call(createAnnotationLayer, {
        params: { imageId },
        body: { name: 'hasta-17.geojson', visibility },
      });
      const feature = {
        ...pointFeature(),
        properties: {
          objectType: 'annotation',
          name: 'Mitoz',
          description: 'Hasta 17',
          metadata: { a: 'b' },
        },
      };
      await teacher.call(changeAnnotations, {
        params: { layerId: created.body.id },
        body: { changes: [{ op: 'put', feature, base_revision: null }] },
      });
      return created.body.id;
    };
    const openLink = async (show_annotations: boolean) => {
      const target = { type: 'slide', id: image } as const;
      const created = await teacher.call(createShareLink, {
        body: { target, title: 'Ders 3', show_annotations },
      });
      const secret = created.body.url.split('#')[1] ?? '';
      const opened = await server.as(null).call(openShareLink, { body: { secret } });
      return { linkId: created.body.id, session: opened.body.session_id };
    };
    const layersOf = (session: string, imageId = image) =>
      server.as(null).call(listAnnotationLayers, { params: { imageId }, query: { session } });
    const annotationsOf = (session: string, layerId: string) =>
      server.as(null).inject({
        method: 'GET',
        url: `/annotation-layers/${layerId}/annotations?session=${session}`,
      });
    return { server, admin, account, teacher, image, other, layerOn, openLink, layersOf, annotationsOf };
  }

  it('are those of layers that all members may read, without authors, descriptions and layer names', async () => {
    const { image, layerOn, openLink, layersOf, annotationsOf } = await setUp();
    const layerId = await layerOn(image, 'members');
    const hiddenId = await layerOn(image, 'private');
    const { session } = await openLink(true);
    const layers = await layersOf(session);
    expect(layers.status).toBe(200);
    expect(layers.body.layers).toEqual([
      expect.objectContaining({ id: layerId, name: 'Layer 1', owner: null, owner_name: null }),
    ]);
    const list = await annotationsOf(session, layerId);
    expect(list.status).toBe(200);
    const annotationList: unknown = JSON.parse(String(list.body));
    expect(annotationList).toMatchObject({
      authors: {},
      features: [{ geometry: { type: 'Point' }, properties: { name: 'Mitoz', objectType: 'annotation' } }],
    });
    expect(JSON.stringify([layers.body, annotationList])).not.toMatch(
      /Ayşe|Hasta|hasta|created_by|updated_by/,
    );
    expect((await annotationsOf(session, hiddenId)).status).toBe(404);
  });

  it('cannot be read without the cookie of the image session (credential for tiles) when IMAGE_SESSION_COOKIE is strict: the request gets 401', async () => {
    const { server, image, layerOn, openLink } = await setUp({ imageSessionCookie: 'strict' });
    const layerId = await layerOn(image, 'members');
    const { session } = await openLink(true);
    const addresses = [
      `/image-catalog/images/${image}/annotation-layers?session=${session}`,
      `/annotation-layers/${layerId}/annotations?session=${session}`,
    ];
    const cookie = `image_session_${session.slice(0, 8)}=${session}`;
    for (const url of addresses) {
      const [without, withCookie] = [
        await server.as(null).inject({ method: 'GET', url }),
        await server.as(null).inject({ method: 'GET', url, headers: { cookie } }),
      ];
      expect([url, without.status, withCookie.status]).toEqual([url, 401, 200]);
    }
  });

  it('are not returned (404) through a link that excludes annotations, nor for a slide outside the link', async () => {
    const { image, other, layerOn, openLink, layersOf, annotationsOf } = await setUp();
    const layerId = await layerOn(image, 'members');
    const otherId = await layerOn(other, 'members');
    const linkWithoutAnnotations = await openLink(false);
    expect((await layersOf(linkWithoutAnnotations.session)).status).toBe(404);
    expect((await annotationsOf(linkWithoutAnnotations.session, layerId)).status).toBe(404);
    const linkWithAnnotations = await openLink(true);
    expect((await layersOf(linkWithAnnotations.session, other)).status).toBe(404);
    expect((await annotationsOf(linkWithAnnotations.session, otherId)).status).toBe(404);
  });

  it.each([
    ['the link is ended', 'link ends'],
    ['the creator of the link is suspended', 'creator is suspended'],
    ['sharing of the dataset is switched off', 'dataset is no longer shared'],
    ['the layer is deleted', 'layer is deleted'],
  ] as const)('are not returned (401 or 404) from the moment when %s', async (_, event) => {
    const { admin, teacher, account, image, layerOn, openLink, annotationsOf } = await setUp();
    const layerId = await layerOn(image, 'members');
    const { linkId, session } = await openLink(true);
    expect((await annotationsOf(session, layerId)).status).toBe(200);
    if (event === 'link ends') await teacher.call(endShareLink, { params: { linkId } });
    if (event === 'creator is suspended') await admin.call(suspendUser, { params: { uid: account.uid } });
    if (event === 'dataset is no longer shared') {
      await admin.call(updateDataset, { body: { dataset: 'Ders', access: 'open', sharing: false } });
    }
    if (event === 'layer is deleted') await teacher.call(deleteAnnotationLayer, { params: { layerId } });
    expect([401, 404]).toContain((await annotationsOf(session, layerId)).status);
  });

  it('cannot be read with the image session (credential for tiles) of a signed-in account: the request gets 401', async () => {
    const { teacher, layersOf } = await setUp();
    const session = (await teacher.call(createImageSession)).body.session_id;
    expect(await layersOf(session)).toMatchObject({ status: 401, body: { code: 'session_invalid' } });
  });

  it('cannot be changed with the image session (credential for tiles) of a visitor: the request gets 401', async () => {
    const { server, image, layerOn, openLink } = await setUp();
    const layerId = await layerOn(image, 'members');
    const { session } = await openLink(true);
    const response = await server.as(null).inject({
      method: 'POST',
      url: `/annotation-layers/${layerId}/changes?session=${session}`,
      payload: { changes: [{ op: 'put', feature: pointFeature(), base_revision: null }] },
    });
    expect(response).toMatchObject({ status: 401, body: { code: 'token_missing' } });
  });
});
