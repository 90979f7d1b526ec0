/** Originals through HTTP: rights, ranges, ETags, refusals, lists of several files, and audit events. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  apiBase,
  grantDataset,
  listDatasets,
  revokeDataset,
  suspendUser,
  updateDataset,
} from '@lamina/contract';
import { openOriginal, planOriginals } from '@lamina/slide';
import {
  buildCzi,
  buildDicom,
  buildEts,
  buildSvs,
  buildVsi,
  makeBucket,
  withoutObjectStore,
} from '@lamina/slide/testing';
import { describe, expect, it, vi } from 'vitest';
import { hashSecret } from '../platform/secrets.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { slideServer } from '../testing/slide-server.ts';

// Render processes, which read the slides, may start slowly on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

/** A block of pixels of a CZI file; pixel type 3 is Bgr24, three samples of 8 bits. */
const cziBlock = {
  x: 0,
  y: 0,
  width: 64,
  height: 64,
  pixelType: 3,
  compression: 0,
  data: new Uint8Array(64 * 64 * 3).fill(99),
};

/** Starts a server with an SVS and a CZI file in the dataset "Set" and a DICOM slide of three files in "Series", and an API token. */
async function startServer(database: (typeof databaseKinds)[number] = 'SQLite') {
  const server = await slideServer({ database });
  const { fixtures, services } = server;
  const svs = await buildSvs();
  const czi = buildCzi({ subblocks: [cziBlock] }).bytes;
  await server.put('Set/a.svs', svs);
  await server.put('Set/b.czi', czi);
  await server.put('Series/0.dcm', await buildDicom({ instance: '1' }));
  await server.put('Series/1.dcm', await buildDicom({ instance: '2', downsample: 2 }));
  await server.put(
    'Series/2-label.dcm',
    await buildDicom({ instance: '3', kind: 'LABEL', width: 32, height: 32 }),
  );
  await server.rescan();
  const rows = await services.db.selectFrom('images').select(['id', 'path']).execute();
  const idOf = (file: string) => rows.find(({ path }) => path === file)?.id ?? 'no slide was read';
  const user = await fixtures.user();
  const admin = server.as(await fixtures.admin());
  const allow = (dataset: string, download = true) =>
    admin.call(grantDataset, { body: { dataset, uid: user.uid, download } });
  const { token } = await fixtures.apiToken(user, { scopes: ['slides:download'] });

  /** Sends a request with the API token, and keeps the bytes. */
  async function get(
    url: string,
    headers: Readonly<Record<string, string>> = {},
    { method = 'GET', bearer = token }: { readonly method?: 'GET' | 'HEAD'; readonly bearer?: string } = {},
  ) {
    const response = await server.app.inject({
      method,
      url: `${apiBase}/image-catalog/images/${url}`,
      headers: { authorization: `Bearer ${bearer}`, ...headers },
    });
    const isJson = String(response.headers['content-type']).startsWith('application/json');
    return {
      status: response.statusCode,
      headers: response.headers,
      bytes: response.rawPayload,
      body: isJson && response.payload !== '' ? response.json<Record<string, unknown>>() : null,
    };
  }

  /** Returns target and detail of the audit events of downloads. */
  async function auditedDownloads(): Promise<unknown[]> {
    const events = await services.db
      .selectFrom('audit')
      .select(['target', 'detail'])
      .where('action', '=', 'original-downloaded')
      .orderBy('seq')
      .execute();
    return events.map(({ target, detail }) => [target, JSON.parse(detail)]);
  }

  /** Returns a function that reads from an offset of a.svs to another (inclusive) as a download with the API token, in blocks. */
  async function downloadOfSvs() {
    const { originals } = services;
    const original = await originals.find(user, idOf('Set/a.svs'));
    const [file] = original.plan.files;
    if (file === undefined) throw new Error('no file');
    const { signal } = new AbortController();
    const tokenHash = hashSecret(token);
    return (start: number, end: number) =>
      originals.read(original, file, { start, end, uid: user.uid, tokenHash, signal });
  }

  return { server, user, admin, token, svs, czi, idOf, allow, get, auditedDownloads, downloadOfSvs };
}

describe.each(databaseKinds)('download of the files of a slide (database: %s)', (database) => {
  it('returns 403 without a download grant for the dataset, even to administrators', async () => {
    const { server, user, admin, idOf, allow, get } = await startServer(database);
    const url = `${idOf('Set/a.svs')}/original`;
    expect(await get(url)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect((await admin.inject({ method: 'GET', url: `/image-catalog/images/${url}` })).status).toBe(403);
    await allow('set'); // the case of the name does not matter
    expect((await get(url)).status).toBe(200);
    expect(
      (await server.as(user).inject({ method: 'GET', url: `/image-catalog/images/${url}` })).status,
    ).toBe(200);

    const { datasets } = (await admin.call(listDatasets)).body;
    expect(datasets.find(({ name }) => name === 'Set')).toMatchObject({
      identifiable_originals: false,
      grants: [{ uid: user.uid, download: true }],
    });
    await admin.call(grantDataset, { body: { dataset: 'Set', uid: user.uid } }); // unchanged
    expect((await get(url)).status).toBe(200);
    await allow('Set', false);
    expect((await get(url)).status).toBe(403);
    expect((await get(`${user.uid}/original`)).status).toBe(404);
    const readToken = await server.fixtures.apiToken(user, { scopes: ['slides:read'] });
    expect((await get(url, {}, { bearer: readToken.token })).status).toBe(403);
  });

  it('returns 409 for a file that cannot be de-identified, and 200 when the dataset allows files that are not de-identified', async () => {
    const { admin, czi, idOf, allow, get, auditedDownloads } = await startServer(database);
    await allow('Set');
    const url = `${idOf('Set/b.czi')}/original`;
    expect(await get(url)).toMatchObject({ status: 409, body: { code: 'not_deidentifiable' } });
    const body = { dataset: 'Set', identifiable_originals: true };
    expect((await admin.call(updateDataset, { body })).status).toBe(200);
    const { status, bytes } = await get(url);
    expect([status, Buffer.compare(bytes, czi)]).toEqual([200, 0]);
    expect(await get(url)).toMatchObject({ status: 200 });
    expect(await auditedDownloads()).toMatchObject([
      [idOf('Set/b.czi'), { file: 'b.czi', from: 0, identifiable: true }],
      [idOf('Set/b.czi'), { file: 'b.czi', from: 0, identifiable: true }],
    ]);
    await admin.call(updateDataset, { body: { dataset: 'Set', identifiable_originals: false } });
    expect((await get(url)).status).toBe(409);
  });
});

describe('download of the file of a slide', () => {
  it('returns the same bytes in one response as in range requests', async () => {
    const { idOf, svs, allow, get, auditedDownloads, token } = await startServer();
    await allow('Set');
    const id = idOf('Set/a.svs');
    const whole = await get(`${id}/original`);
    const { etag } = whole.headers;
    expect(whole.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'accept-ranges': 'bytes',
      'content-length': String(svs.length),
      'content-disposition': `attachment; filename="a.svs"; filename*=UTF-8''a.svs`,
    });
    expect(whole.bytes.length).toBe(svs.length);
    expect(Buffer.compare(whole.bytes, Buffer.from(svs))).not.toBe(0); // label and macro were removed
    expect(whole.bytes.includes('Aperio')).toBe(true);

    const head = await get(`${id}/original`, { range: 'bytes=0-9' }, { method: 'HEAD' });
    expect([head.status, head.headers['content-length'], head.headers.etag, head.bytes.length]).toEqual([
      200,
      String(svs.length),
      etag,
      0,
    ]);

    const parts: Buffer[] = [];
    for (let at = 0; at < svs.length; at += 10_007) {
      const end = Math.min(at + 10_006, svs.length - 1);
      const part = await get(`${id}/original`, { range: `bytes=${at}-${end}`, 'if-range': String(etag) });
      expect([part.status, part.headers['content-range'], part.headers['content-length']]).toEqual([
        206,
        `bytes ${at}-${end}/${svs.length}`,
        String(end + 1 - at),
      ]);
      parts.push(part.bytes);
    }
    expect(Buffer.compare(Buffer.concat(parts), whole.bytes)).toBe(0);
    const last = await get(`${id}/original/a.svs`, { range: 'bytes=-5' });
    expect(Buffer.compare(last.bytes, whole.bytes.subarray(-5))).toBe(0);

    const prefix = token.slice(0, 12);
    const detail = { file_name: 'a.svs', file: 'a.svs', identifiable: false, token: prefix };
    expect(await auditedDownloads()).toEqual([
      [id, { ...detail, from: 0, to: svs.length - 1 }],
      [id, { ...detail, from: 0, to: 10_006 }],
    ]);
  });

  it('follows RFC 9110: returns 304 for its ETag, and 416 for a range beyond its end', async () => {
    const { idOf, svs, allow, get } = await startServer();
    await allow('Set');
    const url = `${idOf('Set/a.svs')}/original`;
    const { etag } = (await get(url, {}, { method: 'HEAD' })).headers;
    for (const ifNoneMatch of [`${etag}`, `W/${etag}`, `"another", ${etag}`, '*'])
      expect([ifNoneMatch, (await get(url, { 'if-none-match': ifNoneMatch })).status]).toEqual([
        ifNoneMatch,
        304,
      ]);
    expect((await get(url, { 'if-none-match': '"another"' })).status).toBe(200);
    expect((await get(url, { range: 'bytes=0-9', 'if-range': '"another"' })).status).toBe(200);
    expect((await get(url, { range: 'bytes=a-b' })).status).toBe(200);
    for (const range of [`bytes=${svs.length}-`, 'bytes=0-1,5-6']) {
      const unsatisfiable = await get(url, { range });
      expect([
        unsatisfiable.status,
        unsatisfiable.body?.code,
        unsatisfiable.headers['content-range'],
      ]).toEqual([416, 'range_not_satisfiable', `bytes */${svs.length}`]);
    }
    for (const path of ['b.czi', '../b.czi', '..%2fb.czi', 'a.svs/x', '%00', 'x'.repeat(600)]) {
      expect([path, (await get(`${url}/${path}`)).status]).toEqual([path, 404]);
    }
  });

  it('lists the files of a multi-file slide without its label image, and returns each listed file', async () => {
    const { idOf, allow, get } = await startServer();
    await allow('Series');
    const id = idOf('Series/0.dcm');
    const { body } = await get(`${id}/original`);
    const { files } = body as { files: { path: string; size_bytes: number }[] };
    expect(body).toMatchObject({ deidentified: true });
    expect(files.map(({ path }) => path)).toEqual(['0.dcm', '1.dcm']);
    for (const { path, size_bytes } of files) {
      const { status, bytes } = await get(`${id}/original/${path}`);
      expect([status, bytes.length]).toEqual([200, size_bytes]);
      expect(bytes.subarray(128, 132).toString()).toBe('DICM');
    }
    expect((await get(`${id}/original/2-label.dcm`)).status).toBe(404);
  });

  it('returns a VSI file and its ETS file unchanged when the dataset allows files that are not de-identified', async () => {
    const { server, admin, allow, get, auditedDownloads } = await startServer();
    const vsi = buildVsi([{ number: 1, width: 64, height: 64, type: 0 }]);
    const tile = { coordinates: [0, 0, 0, 0], data: new Uint8Array(64 * 64 * 3).fill(99) };
    const ets = buildEts({ tileWidth: 64, tileHeight: 64, compression: 0, tiles: [tile] });
    await server.put('Folder/area.vsi', vsi);
    await server.put('Folder/_area_/stack1/frame_t.ets', ets);
    await server.put('Folder/b.ets', 'this file does not belong to the slide');
    await server.rescan();
    const id = await server.idOf('area.vsi');
    await allow('Folder');
    expect(await get(`${id}/original`)).toMatchObject({ status: 409, body: { code: 'not_deidentifiable' } });
    await admin.call(updateDataset, { body: { dataset: 'Folder', identifiable_originals: true } });
    expect((await get(`${id}/original`)).body).toEqual({
      files: [
        { path: 'area.vsi', size_bytes: vsi.length },
        { path: '_area_/stack1/frame_t.ets', size_bytes: ets.length },
      ],
      deidentified: false,
    });
    for (const [path, bytes] of [
      ['area.vsi', vsi],
      ['_area_/stack1/frame_t.ets', ets],
    ] as const) {
      const download = await get(`${id}/original/${path}`);
      expect([download.status, Buffer.compare(download.bytes, bytes)]).toEqual([200, 0]);
    }
    for (const path of ['_area_/', 'b.ets', '_area_/../b.ets', '_area_/..%2fb.ets'])
      expect([path, (await get(`${id}/original/${path}`)).status]).toEqual([path, 404]);
    expect(await auditedDownloads()).toMatchObject([
      [id, { file: 'area.vsi', identifiable: true }],
      [id, { file: '_area_/stack1/frame_t.ets', identifiable: true }],
    ]);
  });

  it('returns a DICOM file with new UIDs that cannot be computed from the id of the slide', async () => {
    const { server, idOf, allow, get } = await startServer();
    await allow('Series');
    const id = idOf('Series/0.dcm');
    const { bytes } = await get(`${id}/original/0.dcm`);
    const location = { path: join(server.config.slidesDir, 'Series/0.dcm'), members: ['0.dcm'] };
    const guessedPlan = await planOriginals(location, null, id);
    const file = guessedPlan.files.find(({ path }) => path === '0.dcm');
    if (file === undefined) throw new Error('the plan has no file');
    const guess = await openOriginal(location, null, guessedPlan, file);
    const guessedBytes = await guess.read(0, file.size);
    await guess.close();
    expect(guessedBytes.length).toBe(bytes.length);
    expect(Buffer.compare(guessedBytes, bytes)).not.toBe(0);
  });

  it('returns no server error for invalid Range headers or 500 concurrent requests, only 200, 206, 416 or 429', async () => {
    const { idOf, allow, get } = await startServer();
    await allow('Set');
    const url = `${idOf('Set/a.svs')}/original`;
    const invalidRanges = [
      'bytes=',
      'bytes=-',
      'bytes=--1',
      'bytes=5-2',
      'bytes=-0',
      'bytes=99999999999999999999-',
      `bytes=0-${'9'.repeat(400)}`,
      `bytes=${Array.from({ length: 2000 }, (_, at) => `${at}-${at}`).join(',')}`,
      'items=0-9',
      'BYTES=0-9',
      '\u00e9',
    ];
    for (const range of invalidRanges) {
      const { status } = await get(url, { range });
      expect([range.slice(0, 40), [200, 206, 416].includes(status)]).toEqual([range.slice(0, 40), true]);
    }
    const responses = await Promise.all(
      Array.from({ length: 500 }, (_, at) => get(url, { range: `bytes=${at}-${at}` })),
    );
    expect(responses.filter(({ status }) => status !== 206 && status !== 429)).toEqual([]);
  });

  it('serves only 16 (the maximum) of 10,000 concurrent range requests of an account', async () => {
    const { allow, downloadOfSvs } = await startServer();
    await allow('Set');
    const read = await downloadOfSvs();
    const results = await Promise.allSettled(Array.from({ length: 10_000 }, (_, at) => read(at, at + 9)));
    const refusals = results.filter(({ status }) => status === 'rejected');
    expect(refusals).toHaveLength(10_000 - 16);
    for (const refusal of refusals) expect(refusal).toMatchObject({ reason: { code: 'rate_limited' } });
    for (const result of results) {
      if (result.status === 'fulfilled')
        for await (const bytes of result.value) expect(bytes.length).toBe(10);
    }
    for await (const bytes of await read(0, 9)) expect(bytes.length).toBe(10);
  });

  it('rejects the 17th concurrent download of an account with rate_limited (429), and completes the other 16', async () => {
    const { allow, downloadOfSvs } = await startServer();
    await allow('Set');
    const read = await downloadOfSvs();
    const running = await Promise.all(Array.from({ length: 16 }, () => read(0, 99)));
    await expect(read(0, 99)).rejects.toMatchObject({ code: 'rate_limited' });
    for (const blocks of running) for await (const bytes of blocks) expect(bytes.length).toBe(100);
    for await (const bytes of await read(0, 99)) expect(bytes.length).toBe(100);
  });

  it.each<[string, (started: Awaited<ReturnType<typeof startServer>>) => Promise<unknown>, string]>([
    [
      'suspends the account',
      ({ admin, user }) => admin.call(suspendUser, { params: { uid: user.uid } }),
      'token_invalid',
    ],
    ['revokes the download grant', ({ allow }) => allow('Set', false), 'forbidden'],
    [
      'restricts the dataset and revokes its grant',
      async ({ admin, user }) => {
        await admin.call(updateDataset, { body: { dataset: 'Set', access: 'restricted' } });
        await admin.call(revokeDataset, { query: { dataset: 'Set', uid: user.uid } });
      },
      'not_found',
    ],
  ])('ends a running download when an administrator %s', async (_, revoke, code) => {
    const started = await startServer();
    await started.allow('Set');
    const read = await started.downloadOfSvs();
    const blocks = (await read(0, started.svs.length - 1))[Symbol.asyncIterator]();
    const first = await blocks.next();
    expect(first.done).toBe(false);
    expect(first.value?.length).toBeLessThan(started.svs.length);
    await revoke(started);
    await expect(blocks.next()).rejects.toMatchObject({ code });
    expect(await blocks.next()).toMatchObject({ done: true });
  });
});

describe.skipIf(withoutObjectStore !== null)(
  'download of the file of a slide in object storage (needs TEST_S3_ENDPOINT)',
  () => {
    it('returns the de-identified copy of the file, also when the download is resumed with a range request', async () => {
      const server = await slideServer({ config: { objectStore: await makeBucket('slides/') } });
      const { fixtures, services, config } = server;
      const svs = await buildSvs();
      const file = join(config.dataDir, 'a.svs');
      await writeFile(file, svs);
      await services.objectStorage?.store.put('Set/a.svs', file);
      await server.rescan();
      const id = await server.idOf('a.svs');
      const user = await fixtures.user();
      const admin = server.as(await fixtures.admin());
      await admin.call(grantDataset, { body: { dataset: 'Set', uid: user.uid, download: true } });
      const { token } = await fixtures.apiToken(user, { scopes: ['slides:download'] });
      const get = (headers: Readonly<Record<string, string>>) =>
        server.app.inject({
          url: `${apiBase}/image-catalog/images/${id}/original`,
          headers: { authorization: `Bearer ${token}`, ...headers },
        });

      const firstPart = await get({ range: 'bytes=0-9999' });
      expect([firstPart.statusCode, firstPart.headers['content-range']]).toEqual([
        206,
        `bytes 0-9999/${svs.length}`,
      ]);
      const remainder = await get({ range: 'bytes=10000-', 'if-range': String(firstPart.headers.etag) });
      const location = { path: file, members: [] };
      const plan = await planOriginals(location, null, id);
      const [firstFile] = plan.files;
      if (firstFile === undefined) throw new Error('the plan has no file');
      const local = await openOriginal(location, null, plan, firstFile);
      const expected = await local.read(0, firstFile.size);
      await local.close();
      expect(Buffer.compare(Buffer.concat([firstPart.rawPayload, remainder.rawPayload]), expected)).toBe(0);
      expect(Buffer.compare(expected, svs)).not.toBe(0); // label and macro were removed
    });
  },
);
