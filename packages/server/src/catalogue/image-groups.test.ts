/** Tests the endpoints from which the viewer reads the catalogue: groups (one per dataset), pages of rows, and positions. */
import { createHash } from 'node:crypto';
import {
  createCase,
  getImagePosition,
  grantDataset,
  type ImageOrder,
  listImageGroups,
  listImageRows,
  updateDataset,
  updateImage,
} from '@lamina/contract';
import { describe, expect, it, vi } from 'vitest';
import { createEncryption } from '../platform/encryption.ts';
import { type DatabaseKind, databaseKinds } from '../store/testing/test-database.ts';
import { createReaderFilters } from './reader-filter.ts';
import { missingId, startCatalogueServer } from './testing/catalogue-server.ts';

type Query = Readonly<Record<string, string>>;

/** Returns functions that request groups, rows and positions; groups are returned as `name: count`, rows as file names. */
function requestsAs(client: Awaited<ReturnType<typeof startCatalogueServer>>['reader']) {
  return {
    async groups(query: Query = {}) {
      const { body } = await client.call(listImageGroups, { query });
      const nameAndCount = (name: string | null, images: number) => `${name ?? '-'}: ${images}`;
      return {
        groups: body.groups.map(({ dataset_name, images }) => nameAndCount(dataset_name, images)),
        datasets: body.datasets.map(({ dataset_name, images }) => nameAndCount(dataset_name, images)),
        organs: body.organs.map(({ organ_type, images }) => nameAndCount(organ_type, images)),
      };
    },
    async rows(query: Query = {}) {
      const { body } = await client.call(listImageRows, { query });
      return body.images.map(({ file_name }) => file_name);
    },
    position: (imageId: string, query: Query = {}) =>
      client.call(getImagePosition, { params: { imageId }, query }),
  };
}

/**
 * Starts a server with seven images: five in three datasets and two without a dataset; four with one of two organs and three
 * without an organ.
 */
async function startSmallCatalogue(databaseKind: DatabaseKind) {
  const testCatalogue = await startCatalogueServer(databaseKind);
  const { image } = testCatalogue.server.fixtures;
  const dayOf = (number: number) => `2026-11-0${number}T00:00:00.000Z`;
  const images: { readonly id: string; readonly file_name: string }[] = [];
  // Each row: dataset, file name, organ, size in bytes, day of November 2026 on which the image was created.
  for (const [dataset_name, file_name, organ_type, size_bytes, createdDay] of [
    ['Set 10', 'a.svs', 'Kolon', 10, 1],
    ['Set 2', 'slide-10.svs', 'Meme', 40, 2],
    ['Set 2', 'slide-2.svs', 'Kolon', 20, 9],
    ['Set 2', 'slide-1.svs', null, 30, 3],
    ['Çene', 'H&E kolon.svs', null, 90, 1],
    [null, 'şüpheli.svs', 'Meme', 5, 8],
    [null, 'z.svs', null, 5, 1],
  ] as const) {
    const created_at = dayOf(createdDay);
    const added = await image({ dataset_name, file_name, organ_type, size_bytes });
    await testCatalogue.server.services.db
      .updateTable('images')
      .set({ created_at })
      .where('id', '=', added.id)
      .execute();
    images.push(added);
  }
  const idOf = (name: string) => images.find(({ file_name }) => file_name === name)?.id ?? '';
  return { ...testCatalogue, idOf, viewer: requestsAs(testCatalogue.reader) };
}

/** File names of the small catalogue in each order. Each order sorts the groups, and the images within a group. */
const fileNamesByOrder: Readonly<Record<ImageOrder, readonly string[]>> = {
  name: ['H&E kolon.svs', 'slide-1.svs', 'slide-2.svs', 'slide-10.svs', 'a.svs', 'şüpheli.svs', 'z.svs'],
  newest: ['slide-2.svs', 'slide-1.svs', 'slide-10.svs', 'şüpheli.svs', 'z.svs', 'H&E kolon.svs', 'a.svs'],
  largest: ['H&E kolon.svs', 'slide-10.svs', 'slide-1.svs', 'slide-2.svs', 'a.svs', 'şüpheli.svs', 'z.svs'],
};

describe.each(databaseKinds)(
  'GET /image-catalog/images/groups, …/rows and …/:imageId/position (database: %s)',
  (databaseKind) => {
    it('groups and rows return empty lists for an empty catalogue', async () => {
      const { reader } = await startCatalogueServer(databaseKind);
      expect(await requestsAs(reader).groups()).toEqual({ groups: [], datasets: [], organs: [] });
      expect(await requestsAs(reader).rows()).toEqual([]);
    });

    it('groups returns datasets in natural order with their image counts, and images without a dataset last', async () => {
      const { viewer } = await startSmallCatalogue(databaseKind);
      const datasets = ['Çene: 1', 'Set 2: 3', 'Set 10: 1', '-: 2'];
      expect(await viewer.groups()).toEqual({
        groups: datasets,
        datasets,
        organs: ['Kolon: 2', 'Meme: 2', '-: 3'],
      });
    });

    it('groups ignores the dataset filter in the counts per dataset and the organ filter in the counts per organ, and includes counts of 0', async () => {
      const { viewer } = await startSmallCatalogue(databaseKind);
      expect(await viewer.groups({ organ: 'Kolon' })).toEqual({
        groups: ['Set 2: 1', 'Set 10: 1'],
        datasets: ['Çene: 0', 'Set 2: 1', 'Set 10: 1', '-: 0'],
        organs: ['Kolon: 2', 'Meme: 2', '-: 3'],
      });
      expect(await viewer.groups({ dataset: 'set 2', q: 'slide' })).toEqual({
        groups: ['Set 2: 3'],
        datasets: ['Çene: 0', 'Set 2: 3', 'Set 10: 0', '-: 0'],
        organs: ['Kolon: 1', 'Meme: 1', '-: 1'],
      });
      expect((await viewer.groups({ no_dataset: 'true' })).groups).toEqual(['-: 2']);
      expect(await viewer.rows({ no_dataset: 'true', no_organ: 'true' })).toEqual(['z.svs']);
    });

    it.each<ImageOrder>(['name', 'newest', 'largest'])(
      'rows returns the images in the order "%s", in pages without gaps, and position returns the place of each image',
      async (order) => {
        const { viewer, idOf } = await startSmallCatalogue(databaseKind);
        expect(await viewer.rows({ order })).toEqual(fileNamesByOrder[order]);
        for (const from of [0, 1, 2, 4, 6, 7]) {
          expect([from, await viewer.rows({ order, from: String(from), limit: '3' })]).toEqual([
            from,
            fileNamesByOrder[order].slice(from, from + 3),
          ]);
        }
        for (const [position, name] of fileNamesByOrder[order].entries()) {
          const { body } = await viewer.position(idOf(name), { order });
          expect([name, body.position]).toEqual([name, position]);
        }
      },
    );

    /**
     * Starts the small catalogue with two cases of Set 2, which share a slide, and one case of Çene. Two of the cases also name a
     * slide of another dataset, which does not count as a slide of the case.
     */
    async function startSmallCatalogueWithCases() {
      const testCatalogue = await startSmallCatalogue(databaseKind);
      const { admin, idOf } = testCatalogue;
      const makeCase = async (dataset: string, name: string, ...slides: readonly string[]) => {
        const body = { dataset, name, slides: slides.map((fileName) => ({ image_id: idOf(fileName) })) };
        const created = await admin.call(createCase, { body });
        expect(created.status).toBe(201);
        return created.body.id;
      };
      await makeCase('Set 2', 'Vaka 10', 'slide-10.svs', 'slide-1.svs');
      await makeCase('Set 2', 'Vaka 2', 'slide-10.svs', 'a.svs');
      await makeCase('Çene', 'Vaka 1', 'H&E kolon.svs', 'slide-2.svs');
      /** Returns the cases of each dataset as `name: count`. */
      const cases = async (query: Query = {}) => {
        const { body } = await testCatalogue.reader.call(listImageGroups, { query });
        return Object.fromEntries(
          body.groups.map((group) => [
            group.dataset_name ?? '-',
            group.cases?.map(({ name, images }) => `${name}: ${images}`),
          ]),
        );
      };
      return { ...testCatalogue, makeCase, cases };
    }

    it('groups lists the cases (groups of slides) of a dataset in natural order, without slides of other datasets', async () => {
      const { cases, viewer } = await startSmallCatalogueWithCases();
      // slide-10.svs is in two cases of Set 2 and is listed in the first one, Vaka 2.
      expect(await cases()).toEqual({
        Çene: ['Vaka 1: 1'],
        'Set 2': ['Vaka 2: 1', 'Vaka 10: 1'],
        'Set 10': undefined,
        '-': undefined,
      });
      expect((await viewer.groups()).groups).toEqual(['Çene: 1', 'Set 2: 3', 'Set 10: 1', '-: 2']);
    });

    it('rows returns the slides of cases before slides without a case, in pages, and position returns the place of each slide', async () => {
      const { viewer, idOf, listedNames } = await startSmallCatalogueWithCases();
      const rows = [
        'H&E kolon.svs',
        'slide-10.svs',
        'slide-1.svs',
        'slide-2.svs',
        'a.svs',
        'şüpheli.svs',
        'z.svs',
      ];
      for (let from = 0; from <= rows.length; from++) {
        for (const limit of [1, 2, 3, 100]) {
          const page = await viewer.rows({ from: String(from), limit: String(limit) });
          expect([from, limit, page]).toEqual([from, limit, rows.slice(from, from + limit)]);
        }
      }
      for (const [position, name] of rows.entries()) {
        expect([name, (await viewer.position(idOf(name))).body.position]).toEqual([name, position]);
      }
      expect(await listedNames()).toEqual(fileNamesByOrder.name); // GET /image-catalog/images ignores cases
      expect(await viewer.rows({ order: 'largest' })).toEqual(fileNamesByOrder.largest);
    });

    it('groups counts the slides of a case that match the filters, and omits cases without a match', async () => {
      const { cases, viewer, idOf } = await startSmallCatalogueWithCases();
      expect(await cases({ organ: 'Meme', dataset: 'set 2' })).toEqual({ 'Set 2': ['Vaka 2: 1'] });
      expect(await viewer.rows({ organ: 'Meme', dataset: 'set 2' })).toEqual(['slide-10.svs']);
      expect(await cases({ q: 'slide-1.svs' })).toEqual({ 'Set 2': ['Vaka 10: 1'] });
      expect(await cases({ order: 'newest' })).toMatchObject({ 'Set 2': undefined });
      const positionWithOtherOrgan = await viewer.position(idOf('slide-1.svs'), { organ: 'Meme' });
      expect(positionWithOtherOrgan.body.position).toBeNull();
    });

    it('groups returns a new revision when a case is created, and no case of a restricted dataset to an account without a grant', async () => {
      const { admin, reader, cases, makeCase } = await startSmallCatalogueWithCases();
      const revision = async () => (await reader.call(listImageGroups)).body.revision;
      const before = await revision();
      await makeCase('Set 10', 'Vaka 5', 'a.svs');
      expect(await revision()).not.toBe(before);
      expect((await cases())['Set 10']).toEqual(['Vaka 5: 1']);
      await admin.call(updateDataset, { body: { dataset: 'Set 2', access: 'restricted' } });
      expect(await cases()).toEqual({ Çene: ['Vaka 1: 1'], 'Set 10': ['Vaka 5: 1'], '-': undefined });
    });

    it('groups and rows separate two datasets whose names differ only in leading zeros', async () => {
      const { server, reader } = await startCatalogueServer(databaseKind);
      for (const [dataset_name, file_name] of [
        ['Set 1', 'b'],
        ['Set 01', 'a'],
        ['Set 1', 'd'],
        ['Set 01', 'c'],
      ] as const) {
        await server.fixtures.image({ dataset_name, file_name });
      }
      const viewer = requestsAs(reader);
      expect((await viewer.groups()).groups).toEqual(['Set 01: 2', 'Set 1: 2']);
      expect(await viewer.rows()).toEqual(['a', 'c', 'b', 'd']);
      expect(await viewer.rows({ from: '1', limit: '2' })).toEqual(['c', 'b']);
    });

    it('position returns the place of an image in a filtered list, and null when the filter leaves the image out', async () => {
      const { viewer, idOf } = await startSmallCatalogue(databaseKind);
      const positionIn = async (query: Query) =>
        (await viewer.position(idOf('slide-2.svs'), query)).body.position;
      expect(await positionIn({ dataset: 'Set 2' })).toBe(1);
      expect(await positionIn({ organ: 'Kolon' })).toBe(0);
      expect(await positionIn({ q: 'slide-2 set' })).toBe(0);
      expect(await positionIn({ q: 'svs', organ: 'Meme' })).toBeNull();
      expect(await positionIn({ dataset: 'Set 10' })).toBeNull();
      expect(await positionIn({ q: 'nothing has this' })).toBeNull();
    });

    it('rows finds images by parts of words in any order, with or without diacritics', async () => {
      const { viewer } = await startSmallCatalogue(databaseKind);
      for (const [q, expectedNames] of [
        ['supheli', ['şüpheli.svs']],
        ['SÜPHELI', ['şüpheli.svs']],
        ['kolon h&e', ['H&E kolon.svs']],
        ['cene kol', ['H&E kolon.svs']],
        ['  kolon   slide ', ['slide-2.svs']],
        ['kolon meme', []],
      ] as const) {
        expect([q, await viewer.rows({ q })]).toEqual([q, expectedNames]);
      }
    });

    it('groups returns 304 for its ETag until the catalogue changes, and then 200 with a new revision of the catalogue', async () => {
      const { admin, reader, idOf } = await startSmallCatalogue(databaseKind);
      const first = await reader.call(listImageGroups);
      const etag = { headers: { 'if-none-match': String(first.headers.etag) } };
      expect((await reader.call(listImageGroups, etag)).status).toBe(304);
      expect((await reader.call(listImageGroups, { ...etag, query: { q: 'x' } })).status).toBe(200);
      expect((await reader.call(listImageRows)).body.revision).toBe(first.body.revision);
      await admin.call(updateImage, { params: { imageId: idOf('a.svs') }, body: { dataset_name: 'New' } });
      const changed = await reader.call(listImageGroups, etag);
      expect(changed.status).toBe(200);
      expect(changed.body.revision).not.toBe(first.body.revision);
      expect(changed.body.groups).toContainEqual({ dataset_name: 'New', images: 1 });
      expect((await reader.call(listImageRows)).body.revision).toBe(changed.body.revision);
    });

    it('groups and rows return keyed hashes as revision and ETag, so that a reader cannot verify a guessed name of an unlisted dataset', async () => {
      const { server, admin, reader, viewer: account } = await startCatalogueServer(databaseKind);
      await server.fixtures.image({ dataset_name: 'Gizli', file_name: 'a.svs' });
      const restriction = { dataset: 'Gizli', access: 'restricted', listed: false } as const;
      await admin.call(updateDataset, { body: restriction });
      const responses = [await reader.call(listImageGroups), await reader.call(listImageRows)];
      const sent = responses.map(({ body, headers }) => `${body.revision} ${String(headers.etag)}`).join(' ');
      const query = { order: 'name' };
      for (let counter = 0; counter < 100; counter++) {
        const key = JSON.stringify([counter, false, ['Gizli']]);
        for (const guess of [key, JSON.stringify([key, query])]) {
          expect(sent).not.toContain(createHash('sha256').update(guess).digest('base64url'));
        }
      }
      // Another process with the same key returns the same revision.
      const { db, datasets, config } = server.services;
      const ofOtherProcess = createReaderFilters(db, datasets, createEncryption(config));
      const { key } = await ofOtherProcess.viewOf(account);
      expect(key).toContain('Gizli');
      expect(responses[0]?.body.revision).toBe(ofOtherProcess.hashOf(key));
    });

    it.each([
      ['an unknown order', 'order', { order: 'random' }],
      ['a negative first position (from)', 'from', { from: '-1' }],
      ['a limit of 201', 'limit', { limit: '201' }],
      ['a limit of 0', 'limit', { limit: '0' }],
      ['no_dataset=yes', 'no_dataset', { no_dataset: 'yes' }],
      ['a search with a NUL character', 'q', { q: 'a\u0000b' }],
      ['a dataset name of 256 characters', 'dataset', { dataset: 'a'.repeat(256) }],
    ])('rows returns 400 for a query with %s', async (_, field, query: Query) => {
      const { reader } = await startCatalogueServer(databaseKind);
      const { status, body } = await reader.call(listImageRows, { query });
      expect(status).toBe(400);
      expect(body).toMatchObject({ code: 'invalid_request', field });
    });
  },
);

describe.each(databaseKinds)(
  'access to the groups, rows and positions of the catalogue (database: %s)',
  (databaseKind) => {
    it('is given for restricted, hidden and failed images to administrators only, and for removed images to no account', async () => {
      const { server, admin, reader } = await startCatalogueServer(databaseKind);
      const at = server.clock.now().toISOString();
      const { image } = server.fixtures;
      await image({ dataset_name: 'Open', file_name: 'visible.svs', organ_type: 'Kolon' });
      const secrets = [
        await image({ dataset_name: 'Secret', file_name: 'secret restricted.svs', organ_type: 'Timus' }),
        await image({
          dataset_name: 'Open',
          file_name: 'secret hidden.svs',
          organ_type: 'Dalak',
          hidden_at: at,
        }),
        await image({
          dataset_name: 'Open',
          file_name: 'secret failed.svs',
          status: 'failed',
          error: 'Damaged.',
        }),
      ];
      const removed = await image({ dataset_name: 'Gone', file_name: 'secret removed.svs', removed_at: at });
      await admin.call(updateDataset, { body: { dataset: 'Secret', access: 'restricted', listed: false } });

      const viewer = requestsAs(reader);
      expect(await viewer.groups()).toEqual({
        groups: ['Open: 1'],
        datasets: ['Open: 1'],
        organs: ['Kolon: 1'],
      });
      for (const query of [
        {},
        { dataset: 'Secret' },
        { q: 'secret' },
        { organ: 'Timus' },
        { order: 'largest' },
      ]) {
        const rows = await viewer.rows(query);
        expect([query, rows.filter((name) => name.startsWith('secret'))]).toEqual([query, []]);
      }
      expect((await viewer.groups({ dataset: 'Secret' })).groups).toEqual([]);
      for (const { id } of [...secrets, removed]) expect((await viewer.position(id)).status).toBe(404);
      expect((await viewer.position(missingId)).status).toBe(404);

      const administrator = requestsAs(admin);
      expect((await administrator.groups()).groups).toEqual(['Open: 3', 'Secret: 1']);
      expect((await administrator.groups({ q: 'secret' })).groups).toEqual(['Open: 2', 'Secret: 1']);
      expect((await administrator.position(secrets[0]?.id ?? '')).body.position).toBe(3); // after the 3 images of Open
      expect((await administrator.position(removed.id)).status).toBe(404);
    });

    it('ends for members as soon as the dataset of the images is restricted', async () => {
      const { admin, reader, idOf } = await startSmallCatalogue(databaseKind);
      const viewer = requestsAs(reader);
      expect((await viewer.groups()).groups).toHaveLength(4);
      await admin.call(updateDataset, { body: { dataset: 'Set 2', access: 'restricted', listed: false } });
      expect((await viewer.groups()).groups).toEqual(['Çene: 1', 'Set 10: 1', '-: 2']);
      expect(await viewer.rows({ from: '1', limit: '1' })).toEqual(['a.svs']);
      expect((await viewer.position(idOf('slide-2.svs'))).status).toBe(404);
      expect((await viewer.position(idOf('a.svs'))).body.position).toBe(1);
    });

    it('is not given to account B, which has no grant, after account A got a grant while a request of A was running', async () => {
      const { server } = await startSmallCatalogue(databaseKind);
      const { fixtures, as, services } = server;
      const [admin, grantee, other] = [await fixtures.admin(), await fixtures.user(), await fixtures.user()];
      await as(admin).call(updateDataset, { body: { dataset: 'Set 2', access: 'restricted' } });
      const inaccessibleTo = services.datasets.inaccessibleTo.bind(services.datasets);
      let reads = 0;
      vi.spyOn(services.datasets, 'inaccessibleTo').mockImplementation(async (user, connection) => {
        const datasets = await inaccessibleTo(user, connection);
        if (user.uid === grantee.uid) {
          reads += 1;
          // The first read is that of the ETag, the second that of the groups.
          if (reads === 2) {
            const body = { dataset: 'Set 2', uid: grantee.uid };
            expect((await as(admin).call(grantDataset, { body })).status).toBeLessThan(300);
          }
        }
        return datasets;
      });
      await requestsAs(as(grantee)).groups();
      expect(reads).toBeGreaterThanOrEqual(2);
      expect((await requestsAs(as(other)).groups()).groups.join()).not.toContain('Set 2');
    });
  },
);
