/** Tests the import of a catalogue file (a CSV file) through the API: the preview of its changes (`check`), and `apply`. */
import {
  apiBase,
  applyCatalogueImport,
  checkCatalogueImport,
  exportCatalogue,
  type ImportPlan,
  listImages,
  updateImage,
} from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { formatCsvLine } from '../platform/csv.ts';
import { everyDatabaseKind } from '../store/testing/test-database.ts';
import { testServer } from '../testing/test-server.ts';

const missingId = '00000000-0000-4000-8000-000000000000';

/** Starts a server, and returns functions that import catalogue files as an administrator. */
async function startCatalogue(database: 'SQLite' | 'PostgreSQL' = 'SQLite') {
  const server = await testServer({ database });
  const admin = await server.fixtures.admin();
  const client = server.as(admin);
  const send = (url: string, file: string | Buffer, query = {}) =>
    client.inject({ method: 'POST', url, payload: file, query, headers: { 'content-type': 'text/csv' } });
  return {
    server,
    admin,
    client,
    check: async (file: string | Buffer) => {
      const response = await send(checkCatalogueImport.path, file);
      expect([response.status, response.body]).toEqual([200, expect.anything()]);
      return response.body as ImportPlan;
    },
    apply: (file: string | Buffer, plan: string) => send(applyCatalogueImport.path, file, { plan }),
    images: async () => (await client.call(listImages)).body.images,
    auditEntries: () =>
      server.services.db
        .selectFrom('audit')
        .select(['action', 'target', 'detail'])
        .where('action', 'in', ['image-edited', 'catalogue-imported'])
        .orderBy('seq')
        .execute(),
  };
}

describe.each(everyDatabaseKind)('import of a catalogue CSV file (database: %s)', (database) => {
  it('applies exactly the changes that its preview has shown for each row', async () => {
    const { server, check, apply, images, auditEntries } = await startCatalogue(database);
    const a = await server.fixtures.image({ path: 'Meme/a.svs', file_name: 'a.svs', dataset_name: 'Meme' });
    const b = await server.fixtures.image({ path: 'Meme/sol/b.svs', file_name: 'b.svs', organ_type: 'Deri' });
    const c = await server.fixtures.image({ path: 'c.svs', file_name: 'c.svs', organ_type: 'Deri' });
    const file = [
      'id;file_name;dataset_name;organ_type',
      `${a.id};Olgu 1;Meme;Işık`,
      ';sol\\b.svs;Çalışma;',
      ';c.svs;;Deri',
      `${missingId};;;Deri`,
      ';yok.svs;;Deri',
    ].join('\n');

    const plan = await check(file);
    expect(plan).toMatchObject({
      encoding: 'utf-8',
      rows: 5,
      changed: 2,
      unchanged: 1,
      unknown: 2,
      wrong: 0,
    });
    expect(plan.changes).toEqual([
      {
        line: 2,
        image_id: a.id,
        file_name: 'a.svs',
        fields: [
          { field: 'file_name', before: 'a.svs', after: 'Olgu 1' },
          { field: 'organ_type', before: null, after: 'Işık' },
        ],
      },
      {
        line: 3,
        image_id: b.id,
        file_name: 'b.svs',
        fields: [{ field: 'dataset_name', before: null, after: 'Çalışma' }],
      },
    ]);
    expect(plan.unknown_lines.map(({ line, subject }) => [line, subject])).toEqual([
      [5, missingId],
      [6, 'yok.svs'],
    ]);
    expect((await images()).find(({ id }) => id === a.id)).toMatchObject({ file_name: 'a.svs' });
    expect(await auditEntries()).toEqual([]);

    expect(await apply(file, plan.plan)).toMatchObject({ status: 200, body: { changed: 2 } });
    const after = new Map((await images()).map((image) => [image.id, image]));
    expect(after.get(a.id)).toMatchObject({ file_name: 'Olgu 1', dataset_name: 'Meme', organ_type: 'Işık' });
    expect(after.get(b.id)).toMatchObject({
      file_name: 'b.svs',
      dataset_name: 'Çalışma',
      organ_type: 'Deri',
    });
    expect(after.get(c.id)).toMatchObject({ file_name: 'c.svs', organ_type: 'Deri' });
    expect(await auditEntries()).toEqual([
      {
        action: 'catalogue-imported',
        target: null,
        detail: JSON.stringify({ rows: 5, changed: 2, unchanged: 1, unknown: 2 }),
      },
      {
        action: 'image-edited',
        target: a.id,
        detail: JSON.stringify({
          fields: 'file_name organ_type',
          file_name_before: 'a.svs',
          file_name_after: 'Olgu 1',
          organ_before: null,
          organ_after: 'Işık',
        }),
      },
      {
        action: 'image-edited',
        target: b.id,
        detail: '{"fields":"dataset_name","dataset_before":null,"dataset_after":"Çalışma"}',
      },
    ]);
    // The order of the list and the search use the new values.
    const { body } = await server
      .as(await server.fixtures.admin())
      .call(listImages, { query: { q: 'ışık' } });
    expect(body.images.map(({ id }) => id)).toEqual([a.id]);
    expect(await check(file)).toMatchObject({ changed: 0, unchanged: 3 });
  });

  it('is rejected with 409 and changes nothing when the catalogue has changed since the preview', async () => {
    const { server, client, check, apply, images } = await startCatalogue(database);
    const a = await server.fixtures.image({ file_name: 'a.svs' });
    await server.fixtures.image({ path: 'b.svs', file_name: 'b.svs' });
    const file = `id,file_name,organ_type\n${a.id},,Meme\n,b.svs,Meme\n`;
    const plan = await check(file);
    await client.call(updateImage, { params: { imageId: a.id }, body: { organ_type: 'Akciğer' } });

    expect(await apply(file, plan.plan)).toMatchObject({ status: 409, body: { code: 'import_changed' } });
    expect((await images()).map(({ organ_type }) => organ_type)).toEqual(['Akciğer', null]);
    const newPlan = await check(file);
    expect(newPlan.changes[0]?.fields).toEqual([{ field: 'organ_type', before: 'Akciğer', after: 'Meme' }]);
    expect(await apply(file, newPlan.plan)).toMatchObject({ status: 200, body: { changed: 2 } });
  });

  it('marks each field with a value in the file as edited, so that later scans of the slide folder do not change the field', async () => {
    const { server, check, apply } = await startCatalogue(database);
    const { id } = await server.fixtures.image({ edited_fields: '["organ_type"]' });
    const file = `id,dataset_name\n${id},Çalışma\n`;
    await apply(file, (await check(file)).plan);
    const { edited_fields } = await server.services.db
      .selectFrom('images')
      .select('edited_fields')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(JSON.parse(edited_fields)).toEqual(['organ_type', 'dataset_name']);
  });

  it('changes nothing when the name in a row differs from the name of the slide only in its Unicode form', async () => {
    const { server, check } = await startCatalogue(database);
    const { id } = await server.fixtures.image({ file_name: 'Böbrek' });
    expect(await check(`id,file_name\n${id},${'Böbrek'.normalize('NFD')}\n`)).toMatchObject({
      changed: 0,
      unchanged: 1,
    });
  });

  it('finds no changes in an unedited export whose slide names are in Unicode form NFD or start with a space, = or an apostrophe', async () => {
    const { server, check } = await startCatalogue(database);
    const rows: string[] = [];
    for (const file_name of ['Böbrek.svs'.normalize('NFD'), ' a.svs', "'=b.svs", '=c.svs']) {
      const { id } = await server.fixtures.image({ file_name });
      rows.push(formatCsvLine([id, file_name]));
    }
    expect(await check(`id,file_name\r\n${rows.join('')}`)).toMatchObject({ changed: 0, unchanged: 4 });
  });

  it('applies a file of 1,200 rows and keeps the hash chain of the audit log intact', async () => {
    const { server, check, apply } = await startCatalogue(database);
    const ids: string[] = [];
    for (let i = 0; i < 1200; i++) ids.push((await server.fixtures.image()).id);
    const file = `id,organ_type\n${ids.map((id, i) => `${id},Organ ${i % 7}`).join('\n')}\n`;
    const plan = await check(file);
    expect(plan).toMatchObject({ changed: 1200, wrong: 0 });
    expect(await apply(file, plan.plan)).toMatchObject({ status: 200, body: { changed: 1200 } });
    const stored = await server.services.db.selectFrom('images').select(['id', 'organ_type']).execute();
    expect(new Map(stored.map(({ id, organ_type }) => [id, organ_type]))).toEqual(
      new Map(ids.map((id, i) => [id, `Organ ${i % 7}`])),
    );
    server.services.auditLog.checkChain();
    await server.services.background.idle();
    expect(server.services.auditLog.chain()).toMatchObject({ state: 'intact' });
  }, 60_000);
});

describe('row of an imported catalogue CSV file', () => {
  it.each([
    ['by the path of the slide', 'Meme/sol/a.svs', 'Meme/sol/a.svs'],
    ['by the end of the path of the slide', 'sol/a.svs', 'Meme/sol/a.svs'],
    ['by a path with backslashes', 'Meme\\sol\\a.svs', 'Meme/sol/a.svs'],
    ['by a file name that only this slide has', 'c.svs', 'Meme/c.svs'],
    ['by the displayed name of the slide', 'Olgu 7', 'x/7.svs'],
    ['by the name of the slide in Unicode form NFD', 'ö.svs'.normalize('NFD'), 'ö.svs'],
  ])('is assigned to the slide that the row names %s', async (_, nameInFile, matchingPath) => {
    const { server, check } = await startCatalogue();
    const paths = ['Meme/sol/a.svs', 'Meme/sağ/a.svs', 'Meme/c.svs', 'ö.svs'];
    const idByPath = new Map<string, string>();
    for (const slidePath of paths) {
      idByPath.set(slidePath, (await server.fixtures.image({ path: slidePath })).id);
    }
    idByPath.set('x/7.svs', (await server.fixtures.image({ path: 'x/7.svs', file_name: 'Olgu 7' })).id);
    const { changes } = await check(`file_name,organ_type\n${nameInFile},Meme\n`);
    expect(changes.map(({ image_id }) => image_id)).toEqual([idByPath.get(matchingPath)]);
  });

  it('is reported as wrong, and the import gets 400, when it names several slides, or the same slide as an earlier row', async () => {
    const { server, check, apply, images } = await startCatalogue();
    const { id } = await server.fixtures.image({ path: '1/a.svs' });
    await server.fixtures.image({ path: '2/a.svs' });
    const file = `id,file_name,organ_type\n,1/a.svs,Meme\n,a.svs,Meme\n${id},,Deri\n`;
    const plan = await check(file);
    expect(plan).toMatchObject({ changed: 1, wrong: 2 });
    expect(plan.wrong_lines.map(({ line, reason }) => [line, reason])).toEqual([
      [3, expect.stringContaining('birden çok slayt')],
      [4, expect.stringContaining('2. satırda')],
    ]);
    expect(await apply(file, plan.plan)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect((await images()).map(({ organ_type }) => organ_type)).toEqual([null, null]);
  });

  it.each(['removed_at', 'missing_since'] as const)(
    'is reported as unknown when it names a slide whose column %s is set (a removed or missing slide)',
    async (column) => {
      const { server, check } = await startCatalogue();
      const { id } = await server.fixtures.image({ [column]: server.clock.now().toISOString() });
      expect(await check(`id,organ_type\n${id},Meme\n`)).toMatchObject({ changed: 0, unknown: 1 });
    },
  );

  it('leaves a field of the slide unchanged when the cell is empty', async () => {
    const { server, check } = await startCatalogue();
    const { id } = await server.fixtures.image({ organ_type: 'Meme', dataset_name: 'Set' });
    expect(await check(`id,dataset_name,organ_type\n${id},,\n`)).toMatchObject({ changed: 0, unchanged: 1 });
  });
});

describe('request body of a catalogue CSV import', () => {
  it('is rejected with 415 when it is not CSV, with 413 when it is too large, and with 400 when it is empty', async () => {
    const { server, admin, client } = await startCatalogue();
    const token = await server.fixtures.token(admin);
    const send = (payload: string | Buffer, type: string) =>
      server.app.inject({
        method: 'POST',
        url: apiBase + checkCatalogueImport.path,
        payload,
        headers: { authorization: `Bearer ${token}`, 'content-type': type },
      });
    expect((await send('{}', 'application/json')).statusCode).toBe(415);
    expect((await send('x', 'application/x-msdownload')).statusCode).toBe(415);
    const tooLarge = Buffer.alloc(10 * 1024 * 1024 + 1, 'A'); // one byte more than the limit of 10 MiB
    expect((await send(tooLarge, 'text/csv')).statusCode).toBe(413);
    expect((await client.inject({ method: 'POST', url: checkCatalogueImport.path })).status).toBe(400);
    // Other routes accept no CSV.
    const otherRoute = await client.inject({
      method: 'POST',
      url: '/admin/images/changes',
      payload: 'a',
      headers: { 'content-type': 'text/csv' },
    });
    expect(otherRoute.status).toBe(415);
  });
});

describe('export of the catalogue as CSV', () => {
  it('returns a CSV file with the columns of an import file and the slides in catalogue order, and writes an audit event', async () => {
    const { server, client, check } = await startCatalogue();
    const b = await server.fixtures.image({
      file_name: '=b.svs',
      dataset_name: 'Meme',
      organ_type: 'Işık "1"',
    });
    const a = await server.fixtures.image({ file_name: 'a.svs', dataset_name: 'Meme' });
    await server.fixtures.image({ file_name: 'gone.svs', removed_at: server.clock.now().toISOString() });
    const { body, headers } = await client.inject({ method: 'GET', url: exportCatalogue.path });
    expect(body).toBe(
      [
        '\uFEFFid,file_name,dataset_name,organ_type',
        `${b.id},'=b.svs,Meme,"Işık ""1"""`,
        `${a.id},a.svs,Meme,`,
        '',
      ].join('\r\n'),
    );
    expect(headers['content-disposition']).toMatch(/^attachment; filename="katalog-\d{4}-\d\d-\d\d\.csv"$/);
    expect(await check(String(body))).toMatchObject({ rows: 2, changed: 0, unchanged: 2 });
    const auditEntries = await server.services.db
      .selectFrom('audit')
      .select('action')
      .where('action', '=', 'catalogue-exported')
      .execute();
    expect(auditEntries).toHaveLength(1);
  });
});
