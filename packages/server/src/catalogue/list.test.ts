/** Tests the endpoint that lists the images of the catalogue: order, search, filters, pages, ETags and access. */
import { randomUUID } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import {
  apiBase,
  getImage,
  type Image,
  listImages,
  type QueryInputOf,
  updateDataset,
  updateImage,
} from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { describe, expect, it } from 'vitest';
import { runLockedTransaction } from '../store/database.ts';
import { insertImages } from '../store/images.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { startCatalogueServer, svs } from './testing/catalogue-server.ts';

describe.each(databaseKinds)('GET /image-catalog/images (database: %s)', (database) => {
  it('returns an empty list with the message "No images found." for an empty catalogue', async () => {
    const { reader } = await startCatalogueServer(database);
    const { body } = await reader.call(listImages);
    expect(body).toEqual({ images: [], next_cursor: null, message: 'No images found.' });
  });

  it('returns the properties of a slide and no path of its file', async () => {
    const { server, reader } = await startCatalogueServer(database);
    await server.put('Breast/sub/a.svs', svs);
    await server.rescan();
    const { body } = await reader.call(listImages);
    expect(body).toEqual({
      images: [
        {
          id: expect.stringMatching(/^[\da-f-]{36}$/),
          file_name: 'a.svs',
          dataset_name: 'Breast',
          organ_type: null,
          width: 200,
          height: 150,
          mpp_x: 0.499,
          mpp_y: 0.499,
          objective_power: 20,
          mpp_derived: false,
          objective_power_derived: false,
          vendor: expect.any(String),
          format: 'aperio',
          size_bytes: svs.length,
          status: 'ready',
          error: null,
          hidden: false,
          created_at: server.clock.now().toISOString(),
        },
      ],
      next_cursor: null,
    });
    expect(JSON.stringify(body)).not.toContain(server.config.slidesDir);
  });

  it('derives a missing pixel size or objective power by the rule pixel size × power = 10 µm, and marks the value as derived', async () => {
    const { server, reader, list } = await startCatalogueServer(database);
    const small = { width: 64, height: 48, tileSize: 64, downsamples: [1] };
    await server.put('a/both.svs', svs);
    await server.put('a/magnification.svs', await buildSvs({ ...small, properties: { AppMag: '40' } }));
    await server.put('a/neither.svs', await buildSvs({ ...small, properties: {} }));
    await server.put('a/pixel size.svs', await buildSvs({ ...small, properties: { MPP: '0.5026' } }));
    await server.rescan();
    const scales = (await list(reader)).map((image) => ({
      mpp: [image.mpp_x, image.mpp_y],
      mppDerived: image.mpp_derived,
      power: image.objective_power,
      powerDerived: image.objective_power_derived,
    }));
    expect(scales).toEqual([
      { mpp: [0.499, 0.499], mppDerived: false, power: 20, powerDerived: false },
      { mpp: [0.25, 0.25], mppDerived: true, power: 40, powerDerived: false }, // 10 / 40
      { mpp: [null, null], mppDerived: false, power: null, powerDerived: false },
      { mpp: [0.5026, 0.5026], mppDerived: false, power: 20, powerDerived: true }, // 10 / 0.5026, rounded to a usual power
    ]);
  });

  it('returns images by dataset and name in natural order, and images without a dataset last', async () => {
    const { server, listedNames } = await startCatalogueServer(database);
    for (const [dataset_name, file_name] of [
      [null, 'a.svs'],
      ['Set 10', 'a.svs'],
      ['Set 2', 'slide-10.svs'],
      ['Set 2', 'Slide-2.svs'],
      ['Çene', 'z.svs'],
      ['Dalak', 'y.svs'],
      ['Cilt', 'x.svs'],
    ] as const) {
      await server.fixtures.image({ dataset_name, file_name });
    }
    // Cilt, Çene, Dalak, Set 2, Set 10, no dataset
    expect(await listedNames()).toEqual([
      'x.svs',
      'z.svs',
      'y.svs',
      'Slide-2.svs',
      'slide-10.svs',
      'a.svs',
      'a.svs',
    ]);
  });

  it('returns 304 for the ETag of the list until the list changes for the account that requests it', async () => {
    const { server, admin, reader } = await startCatalogueServer(database);
    const { id: imageId } = await server.fixtures.image({ dataset_name: 'Colon' });
    const first = await reader.call(listImages);
    const etag = String(first.headers.etag);
    const conditional = { headers: { 'if-none-match': etag } };

    expect(await reader.call(listImages, conditional)).toMatchObject({ status: 304, body: '' });
    const severalTags = { headers: { 'if-none-match': `"x", ${etag}` } };
    expect(await reader.call(listImages, severalTags)).toMatchObject({ status: 304, body: '' });
    expect(await reader.call(listImages, { ...conditional, query: { q: 'x' } })).toMatchObject({
      status: 200,
    });
    expect(await admin.call(listImages, conditional)).toMatchObject({ status: 200 });

    await admin.call(updateImage, { params: { imageId }, body: { organ_type: 'Colon' } });
    const after = await reader.call(listImages, conditional);
    expect(after).toMatchObject({ status: 200, body: { images: [{ organ_type: 'Colon' }] } });

    const conditionalAfter = { headers: { 'if-none-match': String(after.headers.etag) } };
    await admin.call(updateDataset, { body: { dataset: 'Colon', access: 'restricted', listed: false } });
    expect(await reader.call(listImages, conditionalAfter)).toMatchObject({
      status: 200,
      body: { images: [] },
    });
  });

  it('returns 304 without Content-Length to HEAD with the ETag of the list', async () => {
    const { server, reader } = await startCatalogueServer(database);
    await server.fixtures.image();
    const { headers } = await reader.call(listImages);
    const { path: url } = listImages;
    const conditional = { method: 'HEAD', url, headers: { 'if-none-match': String(headers.etag) } } as const;
    const answer = await reader.inject(conditional);
    expect([answer.status, answer.headers['content-length']]).toEqual([304, undefined]);
  });

  it('returns for a request without a limit the same images as page by page, also to an account without access to some datasets', async () => {
    const { server, administrator, viewer, admin, reader } = await startCatalogueServer(database);
    // The server reads this list with three queries of at most 1,000 images.
    const fileNames = Array.from({ length: 2100 }, (_, i) => `slide ${i}.svs`);
    const at = server.clock.now().toISOString();
    await runLockedTransaction(server.services.db, 'catalogue', async (tx) => {
      for (let from = 0; from < fileNames.length; from += 100) {
        const images = fileNames.slice(from, from + 100).map((file_name, i) => ({
          id: randomUUID(),
          root: 'slides' as const,
          path: file_name,
          members: '[]',
          fingerprint: null,
          file_name,
          dataset_name: i % 5 === 0 ? null : `Set ${i % 5}`,
          organ_type: null,
          size_bytes: 1,
        }));
        await insertImages(tx, images, at);
      }
      await tx.updateTable('images').set({ status: 'ready' }).execute();
    });
    for (const dataset of ['Set 1', 'Set 3']) {
      await admin.call(updateDataset, { body: { dataset, access: 'restricted', listed: false } });
    }
    for (const [client, count] of [
      [admin, 2100],
      [reader, 1260], // 3 of 5 images are not in Set 1 or Set 3
    ] as const) {
      const { headers, body } = await client.call(listImages);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(listImages.response.strict().parse(body)).toEqual(body);
      const imagesOfPages: Image[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query: Record<string, string> = { limit: '500', ...(cursor !== '' && { cursor }) };
        const page: { images: Image[]; next_cursor: string | null } = (
          await client.call(listImages, { query })
        ).body;
        imagesOfPages.push(...page.images);
        cursor = page.next_cursor;
      }
      expect(imagesOfPages).toHaveLength(count);
      expect(body).toEqual({ images: imagesOfPages, next_cursor: null });
      const authorization = `Bearer ${await server.fixtures.token(client === admin ? administrator : viewer)}`;
      for (const [encoding, decompress] of [
        ['br', brotliDecompressSync],
        ['gzip', gunzipSync],
      ] as const) {
        const compressed = await server.app.inject({
          url: `${apiBase}/image-catalog/images`,
          headers: { authorization, 'accept-encoding': encoding },
        });
        expect(compressed.headers['content-encoding']).toBe(encoding);
        expect(JSON.parse(decompress(compressed.rawPayload).toString())).toEqual(body);
      }
    }
  }, 60_000);

  it('returns search results in the order of the list, for frequent and for rare words', async () => {
    const { server, reader, listedNames } = await startCatalogueServer(database);
    const at = server.clock.now().toISOString();
    // 1,100 images; the names of numbers 3 and 603 contain the word "seldom".
    await runLockedTransaction(server.services.db, 'catalogue', async (tx) => {
      for (let from = 0; from < 1100; from += 100) {
        const images = Array.from({ length: 100 }, (_, i) => ({
          id: randomUUID(),
          root: 'slides' as const,
          path: `${from + i}`,
          members: '[]',
          fingerprint: null,
          file_name: `HE ${from + i}${(from + i) % 600 === 3 ? ' seldom' : ''}.svs`,
          dataset_name: `Set ${i % 3}`,
          organ_type: null,
          size_bytes: 1,
        }));
        await insertImages(tx, images, at);
      }
      await tx.updateTable('images').set({ status: 'ready' }).execute();
    });
    expect(await listedNames(reader, { q: 'he ', limit: '3' })).toEqual([
      'HE 0.svs',
      'HE 3 seldom.svs',
      'HE 6.svs',
    ]);
    expect(await listedNames(reader, { q: 'SELDOM' })).toEqual(['HE 3 seldom.svs', 'HE 603 seldom.svs']);
    expect(await listedNames(reader, { q: 'seldom', dataset: 'Set 0' })).toEqual([
      'HE 3 seldom.svs',
      'HE 603 seldom.svs',
    ]);
    expect(await listedNames(reader, { q: 'never' })).toEqual([]);
    expect(await listedNames(reader, { q: 'he' })).toHaveLength(1100);
  }, 60_000);

  it('filters by a dataset name in any letter case, and leaves out datasets with similar names', async () => {
    const { server, reader, listedNames } = await startCatalogueServer(database);
    for (const [number, dataset_name] of ['Ki-67', 'KI-67', 'Ki-067', 'Ki-67 b', 'Ki-6', null].entries()) {
      await server.fixtures.image({ dataset_name, file_name: `${number} of ${dataset_name}.svs` });
    }
    for (const dataset of ['Ki-67', 'KI-67', 'ki-67']) {
      expect(await listedNames(reader, { dataset })).toEqual(['0 of Ki-67.svs', '1 of KI-67.svs']);
      expect(await listedNames(reader, { dataset, limit: '5' })).toEqual([
        '0 of Ki-67.svs',
        '1 of KI-67.svs',
      ]);
    }
  });

  it('returns pages that neither repeat nor miss an image, even if images are added between two requests', async () => {
    const { server, reader, listedNames } = await startCatalogueServer(database);
    for (let i = 0; i < 7; i++) await server.fixtures.image({ dataset_name: 'Set', file_name: 'same.svs' });
    for (let i = 0; i < 5; i++) await server.fixtures.image({ file_name: `slide-${i}.svs` });
    const listedIds: string[] = [];
    const pageSizes: number[] = [];
    let cursor: string | null = null;
    do {
      const query: Record<string, string> = cursor === null ? { limit: '5' } : { limit: '5', cursor };
      const { body }: { body: { images: Image[]; next_cursor: string | null } } = await reader.call(
        listImages,
        {
          query,
        },
      );
      listedIds.push(...body.images.map(({ id }) => id));
      pageSizes.push(body.images.length);
      cursor = body.next_cursor;
      // An image that is inserted before the current position does not shift the following pages.
      await server.fixtures.image({ dataset_name: 'A', file_name: 'early.svs' });
    } while (cursor !== null);
    expect(pageSizes).toEqual([5, 5, 2]); // the 12 images that existed at the start
    expect(new Set(listedIds).size).toBe(12);
    expect((await listedNames(reader, { limit: '500' })).length).toBe(15); // with the 3 inserted images
  });

  it('returns no cursor with the last page, even if that page is full', async () => {
    const { server, reader } = await startCatalogueServer(database);
    for (let i = 0; i < 4; i++) await server.fixtures.image();
    const { body } = await reader.call(listImages, { query: { limit: '4' } });
    expect(body.images).toHaveLength(4);
    expect(body.next_cursor).toBeNull();
  });

  it.each<[string, string, QueryInputOf<typeof listImages>]>([
    ['a limit of 0', 'limit', { limit: '0' }],
    ['a limit of 501', 'limit', { limit: '501' }],
    ['a limit in scientific notation', 'limit', { limit: '1e9' }],
    ['a limit that is text', 'limit', { limit: 'all' }],
    ['an invalid cursor', 'cursor', { cursor: 'nonsense' }],
    ['a cursor that contains SQL', 'cursor', { cursor: Buffer.from("' or 1=1--.x").toString('base64url') }],
    ['an empty cursor', 'cursor', { cursor: '' }],
    ['a search of 201 characters', 'q', { q: 'a'.repeat(201) }],
    ['a search with a NUL character', 'q', { q: 'a\u0000b' }],
    ['a dataset name with a NUL character', 'dataset', { dataset: '\u0000' }],
    ['an organ with a NUL character', 'organ', { organ: '\u0000' }],
  ])('returns 400 for a query with %s', async (_, field, query) => {
    const { reader } = await startCatalogueServer(database);
    const { status, body } = await reader.call(listImages, { query: query as Record<string, string> });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'invalid_request', field });
  });

  it('finds words of file name, id, organ and dataset in any letter case, with and without diacritics', async () => {
    const { server, reader, listedNames } = await startCatalogueServer(database);
    const first = await server.fixtures.image({
      file_name: 'IŞIK-1.svs',
      organ_type: 'Karaciğer',
      dataset_name: 'İzmir',
    });
    await server.fixtures.image({ file_name: 'other.svs', organ_type: 'Akciğer', dataset_name: 'Ankara' });
    for (const q of [
      'ışık',
      'IŞIK',
      'işik',
      'KARACİĞER',
      'karacIğer',
      'izmir',
      'IZMIR',
      ' Izmir ',
      first.id,
    ]) {
      expect(await listedNames(reader, { q }), q).toEqual(['IŞIK-1.svs']);
    }
    expect(await listedNames(reader, { q: first.id.slice(0, 8).toUpperCase() })).toEqual(['IŞIK-1.svs']);
    expect(await listedNames(reader, { q: 'ciğer' })).toHaveLength(2);
    expect(await listedNames(reader, { q: '' })).toHaveLength(2);
    expect(await listedNames(reader, { q: 'isik' })).toEqual(['IŞIK-1.svs']);
    expect(await listedNames(reader, { q: 'izmir ışık' })).toEqual(['IŞIK-1.svs']);
    expect(await listedNames(reader, { q: 'izmir other' })).toEqual([]);
  });

  it.each(['%', '_', '\\', '%%', "'", "' or 1=1--", '"; drop table images;--'])(
    'finds, for the search %j, only the image whose name contains this text',
    async (q) => {
      const { server, reader, listedNames } = await startCatalogueServer(database);
      await server.fixtures.image({ file_name: 'plain.svs' });
      await server.fixtures.image({ file_name: `odd${q}name.svs` });
      expect(await listedNames(reader, { q })).toEqual([`odd${q}name.svs`]);
    },
  );

  it('filters by the complete name of a dataset or an organ, in any letter case', async () => {
    const { server, reader, listedNames } = await startCatalogueServer(database);
    await server.fixtures.image({ file_name: 'a', dataset_name: 'Set', organ_type: 'Meme' });
    await server.fixtures.image({ file_name: 'b', dataset_name: 'Set', organ_type: 'Deri' });
    await server.fixtures.image({ file_name: 'c', dataset_name: 'Set 2', organ_type: 'Meme' });
    expect(await listedNames(reader, { dataset: 'Set' })).toEqual(['a', 'b']);
    expect(await listedNames(reader, { organ: 'Meme' })).toEqual(['a', 'c']);
    expect(await listedNames(reader, { dataset: 'Set', organ: 'Meme', q: 'A' })).toEqual(['a']);
    expect(await listedNames(reader, { dataset: 'set' })).toEqual(['a', 'b']);
    expect(await listedNames(reader, { organ: 'MEME' })).toEqual(['a', 'c']);
    expect(await listedNames(reader, { dataset: 'Se' })).toEqual([]);
    expect(await listedNames(reader, { organ: 'Mem' })).toEqual([]);
  });

  it('returns images that are not ready, and their errors, to administrators only', async () => {
    const { server, admin, reader, listedNames, list } = await startCatalogueServer(database);
    const failed = await server.fixtures.image({
      file_name: 'f',
      status: 'failed',
      error: 'The file is damaged.',
    });
    const pending = await server.fixtures.image({ file_name: 'p', status: 'pending' });
    await server.fixtures.image({ file_name: 'r' });
    expect(await listedNames()).toEqual(['r']);
    expect((await list(admin)).map(({ status, error }) => [status, error])).toEqual([
      ['failed', 'The file is damaged.'],
      ['pending', null],
      ['ready', null],
    ]);
    for (const { id } of [failed, pending]) {
      expect((await admin.call(getImage, { params: { imageId: id } })).status).toBe(200);
      expect((await reader.call(getImage, { params: { imageId: id } })).status).toBe(404);
    }
  });
});
