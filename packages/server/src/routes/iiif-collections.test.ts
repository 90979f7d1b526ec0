/** IIIF manifests of cases and collections, requested by accounts, API tokens and visitors of share links. */
import {
  createCase,
  createCollection,
  createImageSession,
  createShareLink,
  endShareLink,
  openShareLink,
  type ShareTargetType,
  updateDataset,
} from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { describe, expect, it } from 'vitest';
import { insertGrant } from '../store/dataset-grants.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { slideServer } from '../testing/slide-server.ts';
import { missingId } from '../testing/well-formed-requests.ts';

interface CollectionDocument {
  readonly id: string;
  readonly type: string;
  readonly label: object;
  readonly items: readonly { readonly id: string; readonly type: string; readonly label: object }[];
}

const root = 'http://localhost:80/iiif';

/** Creates a collection of three items: a slide and a case in an open dataset, and a slide (`secret`) in a restricted dataset. */
async function setUp(database: (typeof databaseKinds)[number]) {
  const server = await slideServer({ database });
  const svs = await buildSvs();
  for (const place of ['Open/he.svs', 'Open/ihc.svs', 'Restricted/secret.svs']) await server.put(place, svs);
  await server.rescan();
  const [he, ihc, secret] = [
    await server.idOf('he.svs'),
    await server.idOf('ihc.svs'),
    await server.idOf('secret.svs'),
  ];
  const admin = server.as(await server.fixtures.admin());
  const owner = await server.fixtures.user();
  const teacher = server.as(owner);
  const createdCase = await admin.call(createCase, {
    body: {
      dataset: 'Open',
      name: 'Accession 7',
      description: 'Two stains',
      slides: [{ image_id: he, stain: 'H&E', block: 'A1' }, { image_id: ihc }, { image_id: secret }],
    },
  });
  const items = [
    { type: 'slide', id: he, text: 'First look here.' },
    { type: 'case', id: createdCase.body.id },
    { type: 'slide', id: secret },
  ] as const;
  const createdCollection = await teacher.call(createCollection, {
    body: { title: 'Course', items: [...items], readers: 'members' },
  });
  await admin.call(updateDataset, { body: { dataset: 'Open', access: 'open', sharing: true } });
  await admin.call(updateDataset, { body: { dataset: 'Restricted', access: 'restricted' } });
  const documents = {
    case: `manifest/case/${createdCase.body.id}`,
    collection: `manifest/collection/${createdCollection.body.id}`,
  };

  const get = async (path: string, token: string | null) => {
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    const response = await server.app.inject({ url: `/iiif/${path}`, headers });
    return { ...response, status: response.statusCode, document: response.json<CollectionDocument>() };
  };
  const openLinkTo = async (type: ShareTargetType, id: string) => {
    const body = { target: { type, id }, title: 'Conference' };
    const link = (await teacher.call(createShareLink, { body })).body;
    const secretOfLink = link.url.split('#')[1] ?? '';
    const opened = await server.as(null).call(openShareLink, { body: { secret: secretOfLink } });
    return { session: opened.body.session_id, linkId: link.id };
  };
  const reader = await server.fixtures.user({ role: 'viewer' });
  const token = await server.fixtures.token(reader);
  const ids = { he, ihc, secret, case: createdCase.body.id, collection: createdCollection.body.id };
  return { server, admin, teacher, owner, reader, token, ids, documents, get, openLinkTo };
}

describe.each(databaseKinds)('IIIF documents of cases and slide collections (database: %s)', (database) => {
  it('list the manifests of the slides in the order of the case or collection, with their titles and texts', async () => {
    const { ids, documents, token, get } = await setUp(database);
    const response = await get(documents.case, token);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.document).toMatchObject({
      '@context': 'http://iiif.io/api/presentation/3/context.json',
      id: `${root}/${documents.case}`,
      type: 'Collection',
      label: { none: ['Accession 7'] },
      summary: { none: ['Two stains'] },
      items: [
        {
          id: `${root}/manifest/${ids.he}`,
          type: 'Manifest',
          label: { none: ['A1 H&E'] },
          thumbnail: [{ id: `${root}/image/${ids.he}/full/!256,256/0/default.jpg` }],
        },
        { id: `${root}/manifest/${ids.ihc}`, label: { none: ['ihc.svs'] } },
      ],
    });
    expect((await get(documents.collection, token)).document).toMatchObject({
      label: { none: ['Course'] },
      items: [
        { id: `${root}/manifest/${ids.he}`, type: 'Manifest', summary: { none: ['First look here.'] } },
        { id: `${root}/${documents.case}`, type: 'Collection', label: { none: ['Accession 7'] } },
      ],
    });
  });

  it('list a slide of a restricted dataset only for readers with a grant', async () => {
    const { server, ids, reader, documents, token, get } = await setUp(database);
    const withoutGrant = await get(documents.collection, token);
    expect(withoutGrant.body).not.toContain(ids.secret);
    expect((await get(documents.case, token)).body).not.toContain(ids.secret);
    expect((await get(`manifest/${ids.secret}`, token)).status).toBe(404);
    const grant = { uid: reader.uid, dataset: 'Restricted', grantedBy: 'test' };
    await insertGrant(server.services.db, { ...grant, now: server.clock.now().toISOString() });
    for (const document of [documents.collection, documents.case]) {
      const { items } = (await get(document, token)).document;
      expect(items.map(({ id }) => id)).toContain(`${root}/manifest/${ids.secret}`);
    }
  });

  it('list for an API token only slides of the datasets that it is limited to', async () => {
    const { server, reader, documents, get } = await setUp(database);
    const openOnly = { scopes: ['slides:read' as const], datasets: ['Open'] };
    const otherDatasetOnly = { scopes: ['slides:read' as const], datasets: ['Nowhere'] };
    const { token } = await server.fixtures.apiToken(reader, openOnly);
    expect((await get(documents.case, token)).document.items).toHaveLength(2);
    const { token: otherToken } = await server.fixtures.apiToken(reader, otherDatasetOnly);
    expect((await get(documents.case, otherToken)).status).toBe(404);
    expect((await get(documents.collection, otherToken)).document.items).toEqual([]);
  });

  it('list only slides that the image session (credential for tiles) in the path of the request may view', async () => {
    const { server, reader, documents, get } = await setUp(database);
    const { session_id: session } = (await server.as(reader).call(createImageSession)).body;
    for (const document of Object.values(documents)) {
      const response = await get(`session/${session}/${document}`, null);
      expect(response.document.id).toBe(`${root}/session/${session}/${document}`);
      for (const { id } of response.document.items) {
        expect(id.startsWith(`${root}/session/${session}/manifest/`)).toBe(true);
        expect((await server.app.inject({ url: new URL(id).pathname })).statusCode).toBe(200);
      }
      expect(server.logged()).not.toContain(session);
    }
  });

  it('return an error to a request without access: token_missing, session_invalid or not_found', async () => {
    const { server, teacher, ids, documents, token, get } = await setUp(database);
    for (const document of Object.values(documents)) {
      expect((await get(document, null)).json()).toMatchObject({ code: 'token_missing' });
      const unknown = await get(`session/${'A'.repeat(43)}/${document}`, null);
      expect(unknown.json()).toMatchObject({ code: 'session_invalid' });
      expect((await get(document.replace(/[\w-]+$/, missingId), token)).json()).toMatchObject({
        code: 'not_found',
      });
    }
    const body = { title: 'Own', items: [{ type: 'slide' as const, id: ids.he }], readers: [] };
    const privateCollection = (await teacher.call(createCollection, { body })).body.id;
    expect((await get(`manifest/collection/${privateCollection}`, token)).status).toBe(404);
    expect(server.logged()).not.toContain(token);
  });
});

describe.each(databaseKinds)('the image session of a share link in IIIF paths (database: %s)', (database) => {
  it('gives access to exactly the linked slides, without names of files, datasets and cases', async () => {
    const { server, ids, documents, get, openLinkTo } = await setUp(database);
    const { session } = await openLinkTo('case', ids.case);
    const at = `session/${session}`;
    const list = await get(`${at}/${documents.case}`, null);
    expect(list.document).toMatchObject({ type: 'Collection', label: { none: ['Conference'] } });
    expect(list.document.items.map(({ id }) => id)).toEqual([
      `${root}/${at}/manifest/${ids.he}`,
      `${root}/${at}/manifest/${ids.ihc}`,
    ]);
    const manifest = await get(`${at}/manifest/${ids.he}`, null);
    expect(manifest.document).toMatchObject({ type: 'Manifest', label: { none: ['Conference · A1 H&E'] } });
    for (const { body } of [list, manifest]) expect(body).not.toMatch(/svs|Accession|Open|Two stains/);
    expect((await get(`${at}/image/${ids.he}/info.json`, null)).status).toBe(200);
    const image = await server.app.inject({ url: `/iiif/${at}/image/${ids.he}/full/20,/0/default.jpg` });
    expect(image.statusCode).toBe(200);
    for (const path of [
      documents.collection,
      `manifest/${ids.secret}`,
      `image/${ids.secret}/info.json`,
      `image/${ids.secret}/full/20,/0/default.jpg`,
    ]) {
      expect([path, (await get(`${at}/${path}`, null)).status]).toEqual([path, 404]);
    }
    expect(server.logged()).not.toContain(session);
  });

  it('gives access to a collection without names of files and cases, until the owner ends the link', async () => {
    const { ids, documents, teacher, admin, get, openLinkTo } = await setUp(database);
    await admin.call(updateDataset, { body: { dataset: 'Restricted', access: 'open', sharing: true } });
    const { session, linkId } = await openLinkTo('collection', ids.collection);
    const path = `session/${session}/${documents.collection}`;
    const { document, body } = await get(path, null);
    expect(document.items[0]).toMatchObject({ type: 'Manifest', summary: { none: ['First look here.'] } });
    expect(body).not.toMatch(/svs|Accession/);
    expect((await get(`session/${session}/${documents.case}`, null)).status).toBe(404);
    await teacher.call(endShareLink, { params: { linkId } });
    for (const ended of [path, `session/${session}/manifest/${ids.he}`]) {
      expect((await get(ended, null)).json()).toMatchObject({ code: 'session_invalid' });
    }
  });
});
