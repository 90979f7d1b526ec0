/** Tests the catalogue for administrators: its list, changes of many entries at once, and hidden and unreadable slides. */
import { randomUUID } from 'node:crypto';
import {
  changeImages,
  countManagedImages,
  getImage,
  listImages,
  listManagedImages,
  updateImage,
} from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { describe, expect, it } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import { slideServer } from '../testing/slide-server.ts';
import { testServer } from '../testing/test-server.ts';

/** Time at which entries were hidden or removed, or at which their file went missing. */
const at = '2026-05-01T08:00:00.000Z';

/** Starts a server, and returns functions that list managed entries and audit events as an administrator. */
async function startServer(database: 'SQLite' | 'PostgreSQL' = 'SQLite') {
  const server = await testServer({ database });
  const admin = server.as(await server.fixtures.admin());
  return {
    server,
    admin,
    listedNames: async (query: Readonly<Record<string, string>> = {}) => {
      const { status, body } = await admin.call(listManagedImages, { query });
      expect(status).toBe(200);
      return body.images.map(({ file_name }) => file_name);
    },
    auditEntries: async () => {
      const rows = await server.services.db
        .selectFrom('audit')
        .select(['action', 'target', 'detail'])
        .where('action', 'like', 'image-%')
        .where('action', 'not like', 'image-session%')
        .orderBy('seq')
        .execute();
      return rows.map(({ action, target, detail }) => [action, target, detail]);
    },
  };
}

describe.each(databaseKinds)('GET /admin/images: list of all slides (database: %s)', (database) => {
  it('filters and counts entries by status, dataset and search text', async () => {
    const { server, admin, listedNames } = await startServer(database);
    const { image } = server.fixtures;
    // The Turkish names mean ready, hidden, pending, damaged, missing and removed.
    await image({ file_name: 'hazır.svs', dataset_name: 'Meme', organ_type: 'Işık' });
    await image({ file_name: 'gizli.svs', dataset_name: 'Meme', hidden_at: at });
    await image({ file_name: 'bekleyen.svs', dataset_name: 'Deri', status: 'pending' });
    await image({ file_name: 'bozuk.svs', status: 'failed', error: 'It is broken.' });
    await image({ file_name: 'kayıp.svs', dataset_name: 'Deri', missing_since: at });
    await image({ file_name: 'kaldırılmış.svs', dataset_name: 'Deri', removed_at: at });

    expect(await listedNames()).toEqual(['bekleyen.svs', 'gizli.svs', 'hazır.svs', 'bozuk.svs']);
    expect(await listedNames({ status: 'ready' })).toEqual(['gizli.svs', 'hazır.svs']);
    expect(await listedNames({ status: 'pending' })).toEqual(['bekleyen.svs']);
    expect(await listedNames({ status: 'failed' })).toEqual(['bozuk.svs']);
    expect(await listedNames({ status: 'hidden' })).toEqual(['gizli.svs']);
    expect(await listedNames({ status: 'missing' })).toEqual(['kayıp.svs']);
    expect(await listedNames({ status: 'removed' })).toEqual(['kaldırılmış.svs']);
    expect(await listedNames({ dataset: 'Meme' })).toEqual(['gizli.svs', 'hazır.svs']);
    expect(await listedNames({ dataset: '' })).toEqual(['bozuk.svs']);
    expect(await listedNames({ q: 'IŞIK' })).toEqual(['hazır.svs']);
    expect(await listedNames({ q: 'deri', status: 'removed' })).toEqual(['kaldırılmış.svs']);

    const counts = async (query = {}) => (await admin.call(countManagedImages, { query })).body.counts;
    expect(await counts()).toEqual({
      listed: 4,
      ready: 2,
      pending: 1,
      failed: 1,
      hidden: 1,
      held: 0,
      missing: 1,
      removed: 1,
    });
    expect(await counts({ dataset: 'Deri' })).toMatchObject({ listed: 1, missing: 1, removed: 1, hidden: 0 });
    expect(await counts({ q: 'no such slide' })).toMatchObject({ listed: 0, ready: 0 });
  });

  it('returns pages that neither repeat nor miss an entry', async () => {
    const { server, admin, listedNames } = await startServer(database);
    for (const number of [10, 2, 1, 30, 4]) await server.fixtures.image({ file_name: `slide-${number}.svs` });
    const listed: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: Record<string, string> = { limit: '2', ...(cursor && { cursor }) };
      const { body } = await admin.call(listManagedImages, { query });
      listed.push(...body.images.map(({ file_name }) => file_name));
      cursor = body.next_cursor;
    }
    expect(listed).toEqual(['slide-1.svs', 'slide-2.svs', 'slide-4.svs', 'slide-10.svs', 'slide-30.svs']);
    expect(listed).toEqual(await listedNames());
    const invalidCursor = await admin.call(listManagedImages, { query: { cursor: 'nonsense' } });
    expect(invalidCursor).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });
});

describe.each(databaseKinds)('POST /admin/images/changes: bulk change (database: %s)', (database) => {
  it('moves entries to a dataset, and leaves entries that are already in it unchanged', async () => {
    const { server, admin, listedNames, auditEntries } = await startServer(database);
    const a = await server.fixtures.image({ file_name: 'a.svs' });
    const b = await server.fixtures.image({ file_name: 'b.svs', dataset_name: 'Meme' });
    const response = await admin.call(changeImages, {
      body: { ids: [a.id, b.id, a.id], dataset_name: 'Meme' },
    });
    expect(response).toMatchObject({ status: 200, body: { changed: 1, message: '1 slayt değiştirildi.' } });
    expect(await listedNames({ dataset: 'Meme' })).toEqual(['a.svs', 'b.svs']);
    const detail = '{"fields":"dataset_name","dataset_before":null,"dataset_after":"Meme"}';
    expect(await auditEntries()).toEqual([['image-edited', a.id, detail]]);
  });

  it('returns 404 and changes no entry when one of the entries is unknown or removed', async () => {
    const { server, admin, listedNames, auditEntries } = await startServer(database);
    const a = await server.fixtures.image({ file_name: 'a.svs' });
    const removed = await server.fixtures.image({ file_name: 'b.svs', removed_at: at });
    for (const other of [randomUUID(), removed.id]) {
      const response = await admin.call(changeImages, { body: { ids: [a.id, other], dataset_name: 'Meme' } });
      expect(response).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
    expect(await listedNames({ dataset: 'Meme' })).toEqual([]);
    expect(await auditEntries()).toEqual([]);
  });

  it('removes the entries of the request from the catalogue, and restores removed entries', async () => {
    const { server, admin, listedNames, auditEntries } = await startServer(database);
    const a = await server.fixtures.image({ file_name: 'a.svs' });
    const b = await server.fixtures.image({ file_name: 'b.svs', missing_since: at });
    const ids = [a.id, b.id];
    const change = async (removed: boolean) =>
      (await admin.call(changeImages, { body: { ids, removed } })).body;
    expect(await change(true)).toEqual({ changed: 2, message: '2 slayt katalogdan kaldırıldı.' });
    expect(await listedNames({ status: 'removed' })).toEqual(['a.svs', 'b.svs']);
    expect(await change(true)).toEqual({ changed: 0, message: 'Değişen bir şey yok.' });
    expect(await change(false)).toEqual({ changed: 2, message: '2 slayt kataloğa geri alındı.' });
    expect(await listedNames()).toEqual(['a.svs']);
    expect(await listedNames({ status: 'missing' })).toEqual(['b.svs']);
    const entries = await auditEntries();
    expect(entries.map(([action]) => action)).toEqual([
      'image-removed',
      'image-removed',
      'image-restored',
      'image-restored',
    ]);
  });

  it.each([
    ['no id', { ids: [] }],
    ['an id that is not a UUID', { ids: ['x'] }],
    ['more than 1,000 ids', { ids: Array.from({ length: 1001 }, () => randomUUID()) }],
    ['a dataset name of more than 200 characters', { ids: [randomUUID()], dataset_name: 'x'.repeat(201) }],
    ['read_again: false', { ids: [randomUUID()], read_again: false }],
  ])('is rejected with invalid_request when the request body has %s', async (_, body) => {
    const { admin } = await startServer(database);
    expect((await admin.call(changeImages, { body })).body).toMatchObject({ code: 'invalid_request' });
  });
});

const svsOptions = { width: 300, height: 200, tileSize: 128, downsamples: [1] } as const;

describe('hidden slide', () => {
  it('has no list entry, no details and no pixels for members from the moment it is hidden', async () => {
    const server = await slideServer();
    await server.put('Meme/a.svs', await buildSvs(svsOptions));
    await server.rescan();
    const imageId = await server.idOf('a.svs');
    const [admin, user] = [await server.fixtures.admin(), await server.fixtures.user()];
    const otherProcess = await server.another();
    const sessions = { admin: await server.sessionOf(admin), user: await server.sessionOf(user) };
    const pixels = async (session: string) => {
      const listedNames = ['image.dzi', 'thumbnail.jpg', 'image_files/9/0_0.jpeg'];
      const responses = listedNames.map((name) => server.pixels(`${imageId}/${name}`, session));
      return (await Promise.all(responses)).map(({ statusCode }) => statusCode);
    };
    const visibleTo = async (account: typeof user, client = server.as(account)) => ({
      list: (await client.call(listImages)).body.images.map(({ hidden }) => hidden),
      details: (await client.call(getImage, { params: { imageId } })).status,
    });
    const setHidden = (hidden: boolean) =>
      server.as(admin).call(updateImage, { params: { imageId }, body: { hidden } });

    expect(await pixels(sessions.user)).toEqual([200, 200, 200]);
    const before = await server.as(user).call(listImages);

    expect((await setHidden(true)).body.image).toMatchObject({ hidden: true });
    expect(await pixels(sessions.user)).toEqual([404, 404, 404]);
    expect(await visibleTo(user)).toEqual({ list: [], details: 404 });
    expect(await visibleTo(user, otherProcess.as(user))).toEqual({ list: [], details: 404 });
    expect(await pixels(sessions.admin)).toEqual([200, 200, 200]);
    expect(await visibleTo(admin)).toEqual({ list: [true], details: 200 });
    // The ETag of the earlier list is no longer valid.
    const headers = { 'if-none-match': String(before.headers.etag) };
    expect((await server.as(user).call(listImages, { headers })).status).toBe(200);

    await setHidden(false);
    expect(await pixels(sessions.user)).toEqual([200, 200, 200]);
    expect(await visibleTo(user)).toEqual({ list: [false], details: 200 });
    const auditEntries = await server.services.db
      .selectFrom('audit')
      .select(['action', 'actor_uid'])
      .where('action', 'in', ['image-hidden', 'image-shown'])
      .orderBy('seq')
      .execute();
    expect(auditEntries).toEqual([
      { action: 'image-hidden', actor_uid: admin.uid },
      { action: 'image-shown', actor_uid: admin.uid },
    ]);
  });

  it('stays hidden after its file changes', async () => {
    const server = await slideServer();
    await server.put('a.svs', await buildSvs(svsOptions));
    await server.rescan();
    const imageId = await server.idOf('a.svs');
    const admin = server.as(await server.fixtures.admin());
    await admin.call(changeImages, { body: { ids: [imageId], hidden: true } });
    await server.put('a.svs', await buildSvs({ ...svsOptions, width: 310 }));
    await server.rescan();
    const { body } = await admin.call(getImage, { params: { imageId } });
    expect(body.image).toMatchObject({ width: 310, hidden: true });
    expect((await server.as(await server.fixtures.user()).call(listImages)).body.images).toEqual([]);
  });
});

describe('slide whose file is unreadable', () => {
  it('is read again at the request of an administrator, even if the file has not changed', async () => {
    const server = await slideServer();
    await server.put('a.svs', 'no slide at all');
    await server.rescan();
    const imageId = await server.idOf('a.svs');
    const admin = server.as(await server.fixtures.admin());
    const image = async () => (await admin.call(getImage, { params: { imageId } })).body.image;
    expect(await image()).toMatchObject({ status: 'failed' });
    // Only the stored error changes, not the file: this shows that the file is read again although its fingerprint is the same.
    await server.services.db.updateTable('images').set({ error: 'Something else.' }).execute();

    const response = await admin.call(changeImages, { body: { ids: [imageId], read_again: true } });
    expect(response.body).toEqual({ changed: 1, message: '1 slayt yeniden okunuyor.' });
    await server.services.catalogue.settled();
    expect(await image()).toMatchObject({
      status: 'failed',
      error: 'This is not a slide in a format that can be read.',
    });

    await server.put('a.svs', await buildSvs(svsOptions));
    await admin.call(changeImages, { body: { ids: [imageId], read_again: true } });
    await server.services.catalogue.settled();
    expect(await image()).toMatchObject({ status: 'ready', error: null, width: 300 });
    const requestForReadyImage = await admin.call(changeImages, {
      body: { ids: [imageId], read_again: true },
    });
    expect(requestForReadyImage.body).toMatchObject({ changed: 0 });
  });
});
