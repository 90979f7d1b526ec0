/** Different spellings of a dataset's name mean the same dataset: in folders, metadata files, uploads and HTTP calls. */
import {
  applyCatalogueImport,
  changeImages,
  checkCatalogueImport,
  grantDataset,
  type ImportPlan,
  listDatasets,
  listImages,
  listManagedImages,
  listRequestableDatasets,
  requestDataset,
  revokeDataset,
  updateDataset,
  updateImage,
  updateUserAccess,
} from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import { slideServer } from '../testing/slide-server.ts';
import { type SendRequest, sender } from '../uploads/testing/send.ts';

let svs: Uint8Array;
let otherSvs: Uint8Array;
beforeAll(async () => {
  svs = await buildSvs();
  otherSvs = await buildSvs({ width: 100, height: 80, downsamples: [1] });
}, 60_000);

/** A dataset name in Unicode form NFD, in which macOS writes file names. */
const nfdName = 'Iğdır çalışması'.normalize('NFD');
/** The same name in Unicode form NFC, in which the catalogue stores it. */
const nfcName = nfdName.normalize('NFC');
/** The name with a zero-width space. Requests may name an existing dataset in this way, but may not give this name to slides. */
const withInvisibleCharacter = nfcName.replace('ç', '\u200bç');
/** Spellings that all mean the same dataset. */
const spellings: readonly string[] = [
  nfcName,
  nfdName,
  'IĞDIR ÇALIŞMASI', // Turkish capitals
  'iğdir çalişmasi', // dotted i instead of dotless ı
  nfcName.replace(' ', '\u00a0'), // a no-break space
  withInvisibleCharacter,
];

/** Starts a server with a restricted dataset of one slide, in a folder whose name is in NFD, and an open dataset of one slide. */
async function startServerWithTwoDatasets(database: (typeof databaseKinds)[number] = 'SQLite') {
  const server = await slideServer({ database });
  const admin = server.as(await server.fixtures.admin());
  const viewer = await server.fixtures.user({ role: 'viewer' });
  const member = server.as(viewer);
  await server.put(`${nfdName}/a.svs`, svs);
  await server.put('Open/b.svs', otherSvs);
  await server.rescan();
  await admin.call(updateDataset, { body: { dataset: nfcName, access: 'restricted' } });
  return {
    server,
    admin,
    viewer,
    member,
    /** Returns the file names of the slides that an account sees; by default, the member without a grant. */
    listedNames: async (client = member, query: Readonly<Record<string, string>> = {}) =>
      (await client.call(listImages, { query })).body.images.map(({ file_name }) => file_name),
    datasets: async () => (await admin.call(listDatasets)).body.datasets.map(({ name }) => name),
  };
}

type Admin = Awaited<ReturnType<typeof startServerWithTwoDatasets>>['admin'];

/** Returns a function that sends the requests of an upload as an administrator. */
function requestAs(admin: Admin): SendRequest {
  return async (method, url, { headers, body } = {}) => {
    const response = await admin.inject({
      method: method as 'POST',
      url,
      ...(headers !== undefined && { headers }),
      ...(body !== undefined && { payload: body instanceof Uint8Array ? Buffer.from(body) : body }),
    });
    return { ...response, headers: response.headers as Record<string, string | undefined> };
  };
}

describe.each(databaseKinds)(
  'dataset whose folder name is in Unicode form NFD (database: %s)',
  (database) => {
    it('is restricted by a request that names it in Unicode form NFC', async () => {
      const { listedNames, datasets } = await startServerWithTwoDatasets(database);
      expect(await listedNames()).toEqual(['b.svs']);
      expect(await datasets()).toEqual([nfcName, 'Open']);
    });

    it('contains the slides of other folders whose names are different spellings of its name', async () => {
      const { server, listedNames, datasets } = await startServerWithTwoDatasets(database);
      for (const name of spellings) await server.put(`${name}/sub/c.svs`, svs);
      await server.rescan();
      expect(await listedNames()).toEqual(['b.svs']);
      expect(await datasets()).toEqual([nfcName, 'Open']);
    });

    it('contains the slides whose metadata files (catalogue.csv, dataset.json) spell its name differently', async () => {
      const { server, listedNames, datasets } = await startServerWithTwoDatasets(database);
      for (const [number, name] of spellings.entries()) {
        await server.put(`Csv ${number}/catalogue.csv`, `file_name,dataset_name\nb.svs,${name}\n`);
        await server.put(`Csv ${number}/b.svs`, svs);
        await server.put(`Json ${number}/dataset.json`, JSON.stringify({ dataset_name: name }));
        await server.put(`Json ${number}/b.svs`, otherSvs);
      }
      await server.rescan();
      expect(await listedNames()).toEqual(['b.svs']);
      expect(await datasets()).toEqual([nfcName, 'Open']);
    });

    it('contains the slides that an edit, a bulk move or an import assigns to a different spelling of its name', async () => {
      const { server, admin, listedNames, datasets } = await startServerWithTwoDatasets(database);
      const imageId = await server.idOf('b.svs');
      const moveBack = () => admin.call(updateImage, { params: { imageId }, body: { dataset_name: 'Open' } });
      for (const name of spellings) {
        // The name with an invisible character is rejected, so the slide stays in the open dataset.
        const [status, visible] = name === withInvisibleCharacter ? [400, ['b.svs']] : [200, []];
        const body = { dataset_name: name };
        const edited = await admin.call(updateImage, { params: { imageId }, body });
        expect([name, edited.status, await listedNames()]).toEqual([name, status, visible]);
        await moveBack();
        const moved = await admin.call(changeImages, { body: { ids: [imageId], ...body } });
        expect([name, moved.status, await listedNames()]).toEqual([name, status, visible]);
        await moveBack();
        const file = Buffer.from(`file_name;dataset_name\nb.svs;${name}\n`);
        const send = (url: string, query = {}) =>
          admin.inject({
            method: 'POST',
            url,
            query,
            headers: { 'content-type': 'text/csv' },
            payload: file,
          });
        const plan = (await send(checkCatalogueImport.path)).body as ImportPlan;
        await send(applyCatalogueImport.path, { plan: plan.plan });
        expect([name, await listedNames()]).toEqual([name, []]);
        expect(plan.changes[0]?.fields).toMatchObject([{ after: nfcName }]);
        await moveBack();
      }
      expect(await datasets()).toEqual([nfcName, 'Open']);
    });

    it('is recognised by a different spelling of its name when access is granted, revoked or requested, and in filters', async () => {
      const { admin, viewer, member, listedNames } = await startServerWithTwoDatasets(database);
      const { uid } = viewer;
      for (const name of spellings) {
        await admin.call(updateDataset, { body: { dataset: name, access: 'restricted', listed: true } });
        expect((await member.call(requestDataset, { body: { dataset: name, reason: 'Tez' } })).status).toBe(
          200,
        );
        expect((await member.call(listRequestableDatasets)).body.datasets).toMatchObject([{ name: nfcName }]);
        await admin.call(grantDataset, { body: { dataset: name, uid } });
        expect(await listedNames(member, { dataset: name })).toEqual(['a.svs']);
        await admin.call(revokeDataset, { query: { dataset: name, uid } });
        expect(await listedNames()).toEqual(['b.svs']);
        await admin.call(updateUserAccess, { params: { uid }, body: { datasets: [name] } });
        expect(await listedNames(member, { dataset: name })).toEqual(['a.svs']);
        await admin.call(updateUserAccess, { params: { uid }, body: { datasets: [] } });
        const managed = await admin.call(listManagedImages, { query: { dataset: name } });
        expect(managed.body.images).toHaveLength(1);
      }
    });
  },
);

describe.each(databaseKinds)('dataset or organ name in dataset.json (database: %s)', (database) => {
  it('is used without its invisible characters and lone surrogates, and ignored when it contains NUL', async () => {
    const { server, admin, datasets } = await startServerWithTwoDatasets(database);
    await server.put(
      'Json/dataset.json',
      JSON.stringify({ dataset_name: 'Ye\u200bni', organ_type: 'Me\ud800me' }),
    );
    await server.put('Json/c.svs', svs);
    await server.put('Nul/dataset.json', JSON.stringify({ dataset_name: 'a\u0000b' }));
    await server.put('Nul/d.svs', otherSvs);
    await server.rescan();
    expect(await datasets()).toEqual([nfcName, 'Nul', 'Open', 'Yeni']);
    const { images } = (await admin.call(listImages, { query: { dataset: 'Yeni' } })).body;
    expect(images).toMatchObject([{ file_name: 'c.svs', organ_type: 'Meme' }]);
  });
});

describe('restricted dataset', () => {
  it('contains the slides of an upload that names it in a different spelling', async () => {
    const { server, admin, listedNames, datasets } = await startServerWithTwoDatasets();
    const { begin, sendAll } = sender(requestAs(admin));
    const validSpellings = spellings.filter((name) => name !== withInvisibleCharacter);
    for (const [number, dataset] of validSpellings.entries()) {
      const path = `up ${number}.svs`;
      await sendAll({ dataset, path, files: { [path]: otherSvs } });
    }
    const rejected = await begin({
      dataset: withInvisibleCharacter,
      path: 'up.svs',
      files: { 'up.svs': otherSvs },
    });
    expect(rejected).toMatchObject({ status: 400, body: { code: 'invalid_request', field: 'dataset' } });
    await server.services.uploads.settled();
    await server.rescan();
    expect(await listedNames(admin)).toHaveLength(2 + validSpellings.length);
    expect(await listedNames()).toEqual(['b.svs']);
    expect(await datasets()).toEqual([nfcName, 'Open']);
  });

  it('can be created before its first slide, which members without a grant then cannot see', async () => {
    const { server, admin, member, listedNames } = await startServerWithTwoDatasets();
    const created = await admin.call(updateDataset, { body: { dataset: 'Yeni', access: 'restricted' } });
    expect(created.status).toBe(200);
    expect((await admin.call(listDatasets)).body.datasets).toContainEqual({
      name: 'Yeni',
      access: 'restricted',
      listed: false,
      images: 0,
      grants: [],
      requests: [],
      sharing: false,
      identifiable_originals: false,
    });
    await server.put('YENİ/new.svs', svs);
    await server.rescan();
    expect(await listedNames(member)).toEqual(['b.svs']);
  });

  it('is not created with a control character in its name: the request gets 400', async () => {
    const { admin } = await startServerWithTwoDatasets();
    const response = await admin.call(updateDataset, { body: { dataset: 'a\u0000b', access: 'restricted' } });
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });
});

describe('organ of a slide', () => {
  it('is stored in the spelling that was used first, and is found by a filter in any spelling', async () => {
    const { server, admin, listedNames } = await startServerWithTwoDatasets();
    const imageId = await server.idOf('b.svs');
    await admin.call(updateImage, { params: { imageId }, body: { organ_type: 'Akciğer' } });
    await server.put('Lung/catalogue.csv', `file_name,organ_type\nc.svs,${'AKCİĞER'.normalize('NFD')}\n`);
    await server.put('Lung/c.svs', svs);
    await server.rescan();
    for (const organ of ['Akciğer', 'AKCİĞER', 'akciğer'.normalize('NFD')]) {
      expect((await listedNames(admin, { organ })).sort()).toEqual(['b.svs', 'c.svs']);
    }
    const { images } = (await admin.call(listImages, { query: { organ: 'Akciğer' } })).body;
    expect(new Set(images.map(({ organ_type }) => organ_type))).toEqual(new Set(['Akciğer']));
  });
});

describe.each(databaseKinds)('catalogue search (database: %s)', (database) => {
  it('finds slides by dataset, organ or file name in any letter case and Unicode form', async () => {
    const { server, admin, listedNames } = await startServerWithTwoDatasets(database);
    await server.put('Open/x Iğdır.svs'.normalize('NFD'), svs);
    await server.rescan();
    const imageId = await server.idOf('b.svs');
    await admin.call(updateImage, { params: { imageId }, body: { organ_type: 'Iğdır' } });
    const queries = ['IĞDIR', 'ığdır', 'iğdir', 'İĞDİR'];
    for (const q of [...queries, ...queries.map((query) => query.normalize('NFD'))]) {
      // a.svs by its dataset, b.svs by its organ, and the new slide by its file name
      expect([q, (await listedNames(admin, { q })).length]).toEqual([q, 3]);
    }
  });
});
