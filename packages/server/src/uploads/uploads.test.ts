import fs from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buildSvs } from '@lamina/slide/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { newResultColumns } from '../store/result-layers.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type TestServer, type TestUser, testServer } from '../testing/test-server.ts';
import { type SendRequest, sender, sha256Of } from './testing/send.ts';
import { createUploads } from './uploads.ts';

// Slides are read by worker processes, which start slowly on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const hourMs = 3_600_000;
/** The end of a lease, before the time of the test server, so that another process may take over the work. */
const endedLease = '2026-01-01T00:00:00.000Z';

function requestAs(server: Pick<TestServer, 'as'>, who: TestUser | string): SendRequest {
  const client = server.as(who);
  return async (method, url, { headers, body } = {}) => {
    const response = await client.inject({
      method: method as 'GET',
      url,
      ...(headers && { headers }),
      ...(body && { payload: body instanceof Uint8Array ? Buffer.from(body) : body }),
    });
    return { ...response, headers: response.headers as Record<string, string> };
  };
}

/** Starts a server. Returns functions that send requests as an administrator, and functions that list the server's files. */
async function startServer(options: Parameters<typeof testServer>[0] = {}) {
  const server = await testServer(options);
  const { services, config } = server;
  const admin = await server.fixtures.admin();
  const entriesBelow = (folder: string) =>
    fs.existsSync(folder) ? (fs.readdirSync(folder, { recursive: true }) as string[]).sort() : [];
  const filesBelow = (folder: string) =>
    entriesBelow(folder).filter((name) => fs.statSync(path.join(folder, name)).isFile());
  return {
    server,
    admin,
    sendRequest: requestAs(server, admin),
    as: (who: TestUser | string) => sender(requestAs(server, who)),
    ...sender(requestAs(server, admin)),
    slidePath: (place: string) => path.join(config.dataDir, 'uploads', 'slides', place),
    slideFiles: () => filesBelow(path.join(config.dataDir, 'uploads', 'slides')),
    partFiles: () => filesBelow(path.join(config.dataDir, 'uploads', 'partial')),
    settled: () => services.uploads.settled(),
    async catalogued() {
      await services.uploads.settled();
      await services.catalogue.rescan();
      await services.catalogue.settled();
    },
    actions: async () =>
      (await services.db.selectFrom('audit').select(['action', 'actor_uid']).orderBy('seq').execute())
        .filter(({ action }) => action.startsWith('upload'))
        .map(({ action, actor_uid }) => [action, actor_uid]),
  };
}

const bytes = (text: string) => new TextEncoder().encode(text);

describe.each(databaseKinds)('a slide upload by an administrator (database: %s)', (database) => {
  it('in two parts becomes a slide of the dataset, and the file of the slide has exactly the uploaded bytes', async () => {
    const { begin, create, part, offsetOf, finish, list, slidePath, partFiles, catalogued, actions, admin } =
      await startServer({ database });
    const svs = await buildSvs();
    const { begun } = await begin({ dataset: 'Böbrek', path: 'a.svs', files: { 'a.svs': svs } });
    expect(begun).toMatchObject({ upload: { state: 'open', problem: null }, files: [] });
    const { status, fileId } = await create(begun.upload.id, 'a.svs', svs.length);
    expect(status).toBe(201);
    expect((await part(fileId, 0, svs.subarray(0, 1000))).status).toBe(204);
    expect(await offsetOf(fileId)).toBe(1000);
    expect((await part(fileId, 1000, svs.subarray(1000))).status).toBe(204);
    expect(await finish(fileId, sha256Of(svs))).toMatchObject({ status: 202, body: { state: 'checking' } });
    await catalogued();
    expect(sha256Of(fs.readFileSync(slidePath('Böbrek/a.svs')))).toBe(sha256Of(svs));
    expect(partFiles()).toEqual([]);
    expect(await list()).toMatchObject([
      {
        dataset: 'Böbrek',
        path: 'a.svs',
        state: 'done',
        checked_count: 1,
        images: [{ file_name: 'a.svs', status: 'ready', error: null }],
      },
    ]);
    expect(await actions()).toEqual([
      ['upload-begun', admin.uid],
      ['upload-finished', admin.uid],
    ]);
  });

  it('of a folder is moved to the slide storage only after all its files were received', async () => {
    const { begin, create, part, finish, list, slideFiles, settled, partFiles } = await startServer({
      database,
    });
    const files = { 'S/1.dcm': bytes('one'), 'S/2.dcm': bytes(''), 'notes.txt': bytes('three') };
    const { begun } = await begin({ dataset: 'Set', path: 'Case 7', isFolder: true, files });
    for (const [name, content] of Object.entries(files)) {
      expect(slideFiles()).toEqual([]);
      const { fileId } = await create(begun.upload.id, name, content.length);
      if (content.length > 0) await part(fileId, 0, content);
      await finish(fileId, sha256Of(content));
      await settled();
    }
    expect(slideFiles()).toEqual(['Set/Case 7/S/1.dcm', 'Set/Case 7/S/2.dcm', 'Set/Case 7/notes.txt']);
    expect(partFiles()).toEqual([]);
    expect(await list()).toMatchObject([{ state: 'done', file_count: 3, checked_count: 3 }]);
  });

  it('of a folder is listed with the slides in this folder, and without the slides in a folder with a similar name', async () => {
    const { sendAll, list, catalogued } = await startServer({ database });
    const svs = await buildSvs();
    await sendAll({ dataset: 'Set', path: 'Case_7', isFolder: true, files: { 'x/a.svs': svs } });
    await sendAll({ dataset: 'Set', path: 'Case-7', isFolder: true, files: { 'b.svs': svs } });
    await sendAll({ dataset: 'Set', path: 'Case_7.svs', files: { 'Case_7.svs': svs } });
    await catalogued();
    const imagesByPath = (await list()).map(({ path: uploadPath, images }) => [
      uploadPath,
      images.map((image) => image.file_name),
    ]);
    expect(Object.fromEntries(imagesByPath)).toEqual({
      Case_7: ['a.svs'],
      'Case-7': ['b.svs'],
      'Case_7.svs': ['Case_7.svs'],
    });
  });

  it('can be continued at another server process that shares the data folder', async () => {
    const { begin, create, part, server, admin, slideFiles } = await startServer({ database });
    const other = sender(requestAs(await server.another(), admin));
    const { begun } = await begin({ dataset: 'S', path: 'a.svs', files: { 'a.svs': bytes('123456') } });
    const { fileId } = await create(begun.upload.id, 'a.svs', 6);
    await other.part(fileId, 0, bytes('12'));
    await part(fileId, 2, bytes('34'));
    expect(await other.offsetOf(fileId)).toBe(4);
    await other.part(fileId, 4, bytes('56'));
    await other.finish(fileId, sha256Of(bytes('123456')));
    await expect.poll(async () => (await other.list())[0]?.state, { timeout: 20_000 }).toBe('done');
    expect(slideFiles()).toEqual(['S/a.svs']);
  });

  it('is deleted after two days without a received part', async () => {
    const { begin, create, as, partFiles, server, settled, actions, admin } = await startServer({ database });
    const { services, clock } = server;
    const { begun } = await begin({ dataset: 'S', path: 'a.svs', files: { 'a.svs': bytes('12345') } });
    const { fileId } = await create(begun.upload.id, 'a.svs', 5);
    clock.advance(47 * hourMs);
    await as(admin).part(fileId, 0, bytes('123'));
    clock.advance(47 * hourMs);
    services.uploads.start();
    await settled();
    expect(await as(admin).list()).toHaveLength(1);
    clock.advance(2 * hourMs);
    services.uploads.start();
    await settled();
    expect(await as(admin).list()).toEqual([]);
    expect(partFiles()).toEqual([]);
    expect(await actions()).toEqual([
      ['upload-begun', admin.uid],
      ['upload-abandoned', null],
    ]);
  });
});

describe('a file of an upload', () => {
  it.each(['https://example.com', 'null'])(
    'has no CORS header in the response when a page of the origin %s sends a part of the file',
    async (origin) => {
      const { begin, create, sendRequest } = await startServer();
      const { begun } = await begin({ dataset: 'X', path: 'a.svs', files: { 'a.svs': bytes('abc') } });
      const { fileId } = await create(begun.upload.id, 'a.svs', 3);
      const { status, headers } = await sendRequest('PATCH', `/admin/upload-files/${fileId}`, {
        headers: {
          origin,
          'tus-resumable': '1.0.0',
          'content-type': 'application/offset+octet-stream',
          'upload-offset': '0',
        },
        body: bytes('abc'),
      });
      expect(status).toBe(204);
      expect(headers).not.toHaveProperty('access-control-allow-origin');
    },
  );

  it('is rejected when its SHA-256 differs from the value that the client states, and can then be sent again', async () => {
    const { begin, create, part, finish, list, slideFiles, partFiles, settled } = await startServer();
    const announcement = { dataset: 'S', path: 'a.svs', files: { 'a.svs': bytes('12345') } };
    const { begun } = await begin(announcement);
    const first = await create(begun.upload.id, 'a.svs', 5);
    await part(first.fileId, 0, bytes('12x45'));
    await finish(first.fileId, sha256Of(bytes('12345')));
    await settled();
    expect(await list()).toMatchObject([{ state: 'open', problem: 'checksum', checked_count: 0 }]);
    expect([slideFiles(), partFiles()]).toEqual([[], []]);

    const again = await begin(announcement);
    expect(again.begun).toMatchObject({
      upload: { id: begun.upload.id, problem: null },
      files: [{ id: first.fileId, state: 'refused' }],
    });
    const second = await create(begun.upload.id, 'a.svs', 5);
    await part(second.fileId, 0, bytes('12345'));
    await finish(second.fileId, sha256Of(bytes('12345')));
    await settled();
    expect(slideFiles()).toEqual(['S/a.svs']);
  });

  it('cannot be finished before the server has received all its bytes (status 409)', async () => {
    const { begin, create, part, finish } = await startServer();
    const { begun } = await begin({ dataset: 'S', path: 'a.svs', files: { 'a.svs': bytes('12345') } });
    const { fileId } = await create(begun.upload.id, 'a.svs', 5);
    await part(fileId, 0, bytes('1234'));
    expect(await finish(fileId, sha256Of(bytes('12345')))).toMatchObject({
      status: 409,
      body: { code: 'upload_incomplete' },
    });
  });

  it.each([
    ['starts before the end of the received bytes', 2, '345', 409],
    ['exceeds the announced size', 3, '45678', 413],
  ])('does not change when a part that $0 is rejected with $3', async (_, offset, more, status) => {
    const { begin, create, part, offsetOf } = await startServer();
    const { begun } = await begin({ dataset: 'S', path: 'a.svs', files: { 'a.svs': bytes('12345') } });
    const { fileId } = await create(begun.upload.id, 'a.svs', 5);
    await part(fileId, 0, bytes('123'));
    expect((await part(fileId, offset, bytes(more))).status).toBe(status);
    expect(await offsetOf(fileId)).toBe(3);
  });

  it('is rejected with 400 when its name or size differs from the announcement of the upload', async () => {
    const { begin, create } = await startServer();
    const { begun } = await begin({ dataset: 'S', path: 'a.svs', files: { 'a.svs': bytes('12345') } });
    const { id } = begun.upload;
    expect((await create(id, 'b.svs', 5)).status).toBe(400);
    expect((await create(id, '../a.svs', 5)).status).toBe(400);
    expect((await create(id, 'a.svs', 4)).status).toBe(400);
    expect((await create(id, 'a.svs', 6)).status).toBe(400);
    expect((await create('00000000-0000-4000-8000-000000000000', 'a.svs', 5)).status).toBe(404);
    expect((await create(id, 'a.svs', 5)).status).toBe(201);
  });
});

describe('announcement of an upload (POST /admin/uploads)', () => {
  const file = { 'a.svs': bytes('12345') };

  it.each([
    ['the path "../a.svs", outside the dataset,', { path: '../a.svs' }],
    ['an absolute path', { path: '/a.svs' }],
    ['the hidden file .a.svs', { path: '.a.svs' }],
    ['the name con.svs, which Windows reserves,', { path: 'con.svs' }],
    ['a control character in the file name', { path: 'a\u0007.svs' }],
    ['the file a.exe, which is not a slide,', { path: 'a.exe' }],
    ['the dataset name ".."', { dataset: '..' }],
    ['a slash in the dataset name', { dataset: 'a/b' }],
    ['a space as the dataset name', { dataset: ' ' }],
  ])('with %s returns 400 with a message', async (_, invalidFields) => {
    const { begin, partFiles } = await startServer();
    const { status, body } = await begin({ dataset: 'S', path: 'a.svs', files: file, ...invalidFields });
    expect({ status, body }).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect((body as { message: string }).message).toMatch(/\S{3,}.*\.$/);
    expect(partFiles()).toEqual([]);
  });

  it('returns 409 when the target path exists, and when another administrator is uploading to this path', async () => {
    const { begin, sendAll, as, server, settled, slidePath } = await startServer();
    await sendAll({ dataset: 'S', path: 'a.svs', files: { 'a.svs': bytes('first') } });
    await settled();
    const again = await begin({ dataset: 'S', path: 'a.svs', files: { 'a.svs': bytes('other') } });
    expect(again).toMatchObject({ status: 409, body: { code: 'upload_exists' } });
    expect(fs.readFileSync(slidePath('S/a.svs'), 'utf8')).toBe('first');
    const below = await begin({ dataset: 'S', path: 'a.svs/b.svs', files: { 'b.svs': bytes('other') } });
    expect(below.status).toBe(409);

    await begin({ dataset: 'S', path: 'b.svs', files: file });
    const other = as(await server.fixtures.admin());
    expect((await other.begin({ dataset: 'S', path: 'B.svs', files: file })).status).toBe(409);
  });

  it('does not reserve the target path: the upload reports a conflict when another file was created there meanwhile', async () => {
    const { begin, create, part, finish, list, settled, slidePath, sendRequest } = await startServer();
    const { begun } = await begin({ dataset: 'S', path: 'a.svs', files: file });
    const { fileId } = await create(begun.upload.id, 'a.svs', 5);
    await part(fileId, 0, file['a.svs']);
    fs.mkdirSync(path.dirname(slidePath('S/a.svs')), { recursive: true });
    fs.writeFileSync(slidePath('S/a.svs'), 'by hand');
    await finish(fileId, sha256Of(file['a.svs']));
    await settled();
    expect(await list()).toMatchObject([{ state: 'open', problem: 'exists' }]);
    expect(fs.readFileSync(slidePath('S/a.svs'), 'utf8')).toBe('by hand');
    expect((await sendRequest('DELETE', `/admin/uploads/${begun.upload.id}`)).status).toBe(204);
  });

  it.each([
    ['more bytes than the limit per upload', 413, 'upload_too_large', { uploadMaxBytes: 4 }],
    ['more bytes than the quota for all uploads', 507, 'quota_exceeded', { uploadQuotaBytes: 4 }],
  ])('of %s returns %d %s', async (_, status, code, config) => {
    const { begin } = await startServer({ config });
    const response = await begin({ dataset: 'S', path: 'a.svs', files: file });
    expect(response).toMatchObject({ status, body: { code } });
  });

  it('returns 507 when open uploads, uploaded slides and this upload together exceed the quota', async () => {
    const svs = await buildSvs();
    const { begin, sendAll, catalogued } = await startServer({
      config: { uploadQuotaBytes: svs.length + 10 },
    });
    await sendAll({ dataset: 'S', path: 'a.svs', files: { 'a.svs': svs } });
    await catalogued();
    const beginSized = (name: string, size: number) =>
      begin({ dataset: 'S', path: name, files: { [name]: new Uint8Array(size) } });
    expect((await beginSized('b.svs', 11)).status).toBe(507); // 10 bytes are left
    expect((await beginSized('b.svs', 6)).status).toBe(200);
    expect((await beginSized('c.svs', 6)).status).toBe(507); // 4 bytes are left
    expect((await beginSized('c.svs', 4)).status).toBe(200);
  });

  it('returns 507 when the upload and the stored result layers (computed overlays) together exceed the quota', async () => {
    const { server, begin } = await startServer({ config: { uploadQuotaBytes: 1000 } });
    const { db, now } = server.services;
    const at = now().toISOString();
    await db
      .insertInto('result_layers')
      .values({
        ...newResultColumns,
        id: 'layer',
        image_id: (await server.fixtures.image()).id,
        name: 'Tumor',
        kind: 'raster',
        owner_uid: null,
        source: 'upload',
        state: 'ready',
        size_bytes: 996,
        created_at: at,
        updated_at: at,
      })
      .execute();
    const response = await begin({ dataset: 'S', path: 'a.svs', files: file }); // 5 bytes, while 4 are left
    expect(response).toMatchObject({ status: 507, body: { code: 'quota_exceeded' } });
  });

  it('returns 409 when 100 uploads are open on the server', async () => {
    const { begin } = await startServer();
    const announce = (number: number) =>
      begin({ dataset: 'S', path: `${number}.svs`, files: { [`${number}.svs`]: bytes('1') } });
    for (let number = 0; number < 100; number++) expect((await announce(number)).status).toBe(200);
    expect(await announce(100)).toMatchObject({ status: 409, body: { code: 'too_many_uploads' } });
  });
});

describe('an open upload of an administrator', () => {
  it('returns 404 to an API token of this administrator that is limited to another dataset', async () => {
    const { server, admin, begin, create, offsetOf, as } = await startServer();
    const { begun } = await begin({ dataset: 'Böbrek', path: 'a.svs', files: { 'a.svs': bytes('12345') } });
    const { fileId } = await create(begun.upload.id, 'a.svs', 5);
    const uploadsOf = async (datasets: string[]) => {
      const { token } = await server.fixtures.apiToken(admin, { datasets });
      return { ...as(token), client: server.as(token) };
    };
    expect(await (await uploadsOf(['Böbrek'])).list()).toHaveLength(1);
    const limited = await uploadsOf(['Akciğer']);
    expect(await limited.list()).toEqual([]);
    const abandoned = { method: 'DELETE', url: `/admin/uploads/${begun.upload.id}` } as const;
    for (const { status } of [
      await limited.create(begun.upload.id, 'a.svs', 5),
      await limited.part(fileId, 0, bytes('12345')),
      await limited.finish(fileId, sha256Of(bytes('12345'))),
      await limited.client.inject(abandoned),
    ]) {
      expect(status).toBe(404);
    }
    expect(await limited.offsetOf(fileId)).toBeNaN();
    expect(await offsetOf(fileId)).toBe(0);
  });

  it('returns 404 to an administrator who did not begin the upload', async () => {
    const { begin, create, as, server, list } = await startServer();
    const { begun } = await begin({ dataset: 'S', path: 'a.svs', files: { 'a.svs': bytes('12345') } });
    const { fileId } = await create(begun.upload.id, 'a.svs', 5);
    const otherAdmin = await server.fixtures.admin();
    const [other, sendRequest] = [as(otherAdmin), requestAs(server, otherAdmin)];
    expect(await other.list()).toEqual([]);
    expect((await other.create(begun.upload.id, 'a.svs', 5)).status).toBe(404);
    expect((await other.part(fileId, 0, bytes('12345'))).status).toBe(404);
    expect((await other.finish(fileId, sha256Of(bytes('12345')))).status).toBe(404);
    expect(await other.offsetOf(fileId)).toBeNaN();
    expect((await sendRequest('DELETE', `/admin/uploads/${begun.upload.id}`)).status).toBe(404);
    expect(await list()).toHaveLength(1);
  });

  describe('that cannot be moved to the slide storage, because it has a file and a folder of the same name', () => {
    const announcement = {
      dataset: 'S',
      path: 'Case 7',
      isFolder: true,
      files: { a: bytes('12345'), 'a/b': bytes('678') },
    };
    const notStored = { state: 'placing', problem: 'storage' };

    it('leaves no files when it is deleted', async () => {
      const { sendAll, settled, list, sendRequest, partFiles } = await startServer();
      const id = await sendAll(announcement);
      await settled();
      expect(await list()).toMatchObject([notStored]);
      expect((await sendRequest('DELETE', `/admin/uploads/${id}`)).status).toBe(204);
      expect([await list(), partFiles()]).toEqual([[], []]);
    });

    it('cannot be deleted while another process tries to move it again (status 409)', async () => {
      const { sendAll, settled, sendRequest, server } = await startServer();
      const id = await sendAll(announcement);
      await settled();
      const leased_until = new Date(server.clock.now().getTime() + 1000).toISOString();
      await server.services.db.updateTable('uploads').set({ leased_until }).execute();
      expect((await sendRequest('DELETE', `/admin/uploads/${id}`)).status).toBe(409);
    });

    it('expires 48 hours after its last progress, although cleanups try to move it again', async () => {
      const { sendAll, settled, as, admin, server, partFiles } = await startServer();
      await sendAll(announcement);
      await settled();
      for (const [hours, expected] of [
        [30, [notStored]],
        [20, []],
      ] as const) {
        server.clock.advance(hours * hourMs);
        server.services.uploads.start();
        await settled();
        expect(await as(admin).list()).toMatchObject(expected); // signs in again after these hours
      }
      expect(partFiles()).toEqual([]);
    });
  });

  it('expires 48 hours after its last progress, even if another process deletes another expired upload at the same moment', async () => {
    const { begin, create, part, settled, server } = await startServer();
    for (const name of ['a.svs', 'b.svs', 'c.svs']) {
      const { begun } = await begin({ dataset: 'S', path: name, files: { [name]: bytes('12345') } });
      const { fileId } = await create(begun.upload.id, name, 5);
      await part(fileId, 0, bytes('123'));
    }
    const { db, uploads } = server.services;
    const discard = uploads.parts.discard.bind(uploads.parts);
    // Deletes another upload, as another process could, as soon as this process has deleted the first one.
    vi.spyOn(uploads.parts, 'discard').mockImplementationOnce(async (fileId) => {
      await discard(fileId);
      const { upload_id } = await db
        .selectFrom('upload_files')
        .select('upload_id')
        .orderBy('upload_id')
        .executeTakeFirstOrThrow();
      await db.deleteFrom('upload_files').where('upload_id', '=', upload_id).execute();
      await db.deleteFrom('uploads').where('id', '=', upload_id).execute();
    });
    server.clock.advance(49 * hourMs);
    uploads.start();
    await settled();
    expect(await db.selectFrom('uploads').select('id').execute()).toEqual([]);
    expect(server.logged()).not.toContain('cleanup of unfinished uploads failed');
  });

  it('returns 404 to the request for a new file when the upload is deleted while the server processes this request', async () => {
    const { begin, create, sendRequest, server } = await startServer();
    const { begun } = await begin({ dataset: 'S', path: 'a.svs', files: { 'a.svs': bytes('12345') } });
    const { parts } = server.services.uploads;
    const beginPart = parts.begin.bind(parts);
    vi.spyOn(parts, 'begin').mockImplementation(async (...part) => {
      await sendRequest('DELETE', `/admin/uploads/${begun.upload.id}`);
      return beginPart(...part);
    });
    expect((await create(begun.upload.id, 'a.svs', 5)).status).toBe(404);
  });

  it('leaves no files when it is deleted, and can be announced again', async () => {
    const { begin, create, part, sendRequest, list, partFiles, actions, admin } = await startServer();
    const announcement = { dataset: 'S', path: 'a.svs', files: { 'a.svs': bytes('12345') } };
    const { begun } = await begin(announcement);
    const { fileId } = await create(begun.upload.id, 'a.svs', 5);
    await part(fileId, 0, bytes('123'));
    expect((await sendRequest('DELETE', `/admin/uploads/${begun.upload.id}`)).status).toBe(204);
    expect([await list(), partFiles()]).toEqual([[], []]);
    expect((await part(fileId, 3, bytes('45'))).status).toBe(404);
    expect((await begin(announcement)).status).toBe(200);
    expect(await actions()).toEqual([
      ['upload-begun', admin.uid],
      ['upload-abandoned', admin.uid],
      ['upload-begun', admin.uid],
    ]);
  });

  it('can no longer be deleted or get a further file as soon as it is complete (status 409)', async () => {
    const { sendAll, settled, sendRequest, create } = await startServer();
    const id = await sendAll({ dataset: 'S', path: 'a.svs', files: { 'a.svs': bytes('12345') } });
    await settled();
    expect((await sendRequest('DELETE', `/admin/uploads/${id}`)).status).toBe(409);
    expect((await create(id, 'a.svs', 5)).status).toBe(409);
  });

  it.each([
    ['it had verified the files of the upload', { state: 'open', leased_until: null }],
    ['it had started to move the files', { state: 'placing', leased_until: endedLease }],
  ] as const)(
    'is completed by the next server process when a process ended after %s',
    async (_, leftState) => {
      const { begin, create, part, server, slideFiles, settled, list } = await startServer();
      const { services } = server;
      const { begun } = await begin({ dataset: 'S', path: 'a.svs', files: { 'a.svs': bytes('12345') } });
      const { fileId } = await create(begun.upload.id, 'a.svs', 5);
      await part(fileId, 0, bytes('12345'));
      await services.db.updateTable('upload_files').set({ state: 'checked' }).execute();
      await services.db.updateTable('uploads').set(leftState).execute();
      services.uploads.start();
      await settled();
      expect(slideFiles()).toEqual(['S/a.svs']);
      expect(await list()).toMatchObject([{ state: 'done' }]);
    },
  );

  it('is not moved to the slide storage by a process while another process is moving it', async () => {
    const { begin, create, part, server, slideFiles, settled } = await startServer();
    const { services, clock } = server;
    const { begun } = await begin({ dataset: 'S', path: 'a.svs', files: { 'a.svs': bytes('12345') } });
    const { fileId } = await create(begun.upload.id, 'a.svs', 5);
    await part(fileId, 0, bytes('12345'));
    await services.db.updateTable('upload_files').set({ state: 'checked' }).execute();
    const leased_until = new Date(clock.now().getTime() + 1000).toISOString();
    await services.db.updateTable('uploads').set({ state: 'placing', leased_until }).execute();
    services.uploads.start();
    await settled();
    expect(slideFiles()).toEqual([]);
  });

  it('is completed by the next server process when a process ended while it verified a file', async () => {
    const { begin, create, part, server, slideFiles, settled } = await startServer();
    const { services } = server;
    const { begun } = await begin({ dataset: 'S', path: 'a.svs', files: { 'a.svs': bytes('12345') } });
    const { fileId } = await create(begun.upload.id, 'a.svs', 5);
    await part(fileId, 0, bytes('12345'));
    const interrupted = { state: 'checking', leased_until: endedLease } as const;
    const sha256 = sha256Of(bytes('12345'));
    await services.db
      .updateTable('upload_files')
      .set({ ...interrupted, sha256 })
      .execute();
    services.uploads.start();
    await settled();
    expect(slideFiles()).toEqual(['S/a.svs']);
  });
});

describe('an upload when the disk of the server is full', () => {
  it('fails with storage_full, keeps the received bytes, and can be resumed when space is free', async () => {
    const { server, admin } = await startServer();
    let free = 1024 ** 3;
    const uploads = createUploads({
      ...server.services,
      onPlaced: () => undefined,
      freeBytes: async () => free,
    });
    onTestFinished(() => uploads.close());
    const uploader = { uid: admin.uid, origin: { address: '127.0.0.1', requestId: null } };
    const announce = (name: string, size_bytes: number) =>
      uploads.begin(uploader, { dataset: 'S', path: name, is_folder: false, file_count: 1, size_bytes });
    const storageFull = { code: 'storage_full', status: 507 };

    await expect(announce('a.svs', 600 * 1024 ** 2)).rejects.toMatchObject(storageFull);
    const { upload } = await announce('b.svs', 400 * 1024 ** 2);
    await expect(announce('c.svs', 200 * 1024 ** 2)).rejects.toMatchObject(storageFull); // b is still incomplete
    const file = { uploadId: upload.id, path: 'b.svs', sizeBytes: 400 * 1024 ** 2, modifiedMs: 0 };
    const fileId = await uploads.beginFile(admin, file);
    await uploads.expectPart(admin, fileId, 1000);
    await uploads.parts.write(Readable.from([Buffer.alloc(1000)]), fileId, 0);
    free = 100 * 1024 ** 2;
    await expect(uploads.expectPart(admin, fileId, 1000)).rejects.toMatchObject(storageFull);
    expect(await uploads.file(admin, fileId)).toMatchObject({ offset: 1000 });
    free = 1024 ** 3;
    await uploads.expectPart(admin, fileId, 1000);
  });
});
