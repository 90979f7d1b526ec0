/** Share links, which open slides for visitors without an account, through HTTP: creation, opening, end, password and limits. */
import fs from 'node:fs';
import path from 'node:path';
import {
  apiBase,
  createCase,
  createCollection,
  createImageSession,
  createShareLink,
  deleteImage,
  endShareLink,
  listAudit,
  listShareLinks,
  openShareLink,
  suspendUser,
  updateDataset,
} from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { describe, expect, it } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type TestServer, testServer } from '../testing/test-server.ts';

const day = 24 * 3_600_000;

describe.each(databaseKinds)('share links to slides (database: %s)', (database) => {
  /** Starts a server with two slides of a dataset that may be shared, and a teacher, who creates links. */
  async function setUp() {
    const server = await testServer({ database });
    const folder = path.join(server.config.slidesDir, 'Ders');
    fs.mkdirSync(folder);
    for (const name of ['a.svs', 'b.svs']) fs.writeFileSync(path.join(folder, name), await buildSvs());
    await server.services.catalogue.rescan();
    await server.services.catalogue.settled();
    const admin = server.as(await server.fixtures.admin());
    await admin.call(updateDataset, { body: { dataset: 'Ders', access: 'open', sharing: true } });
    const teacher = await server.fixtures.user();
    const { images } = await server.services.catalogue.list({ limit: 2 }, teacher);
    const [image = '', otherImage = ''] = images.map(({ id }) => id);
    const createLink = async (options: object = {}) => {
      const target = { type: 'slide', id: image } as const;
      const created = await server
        .as(teacher)
        .call(createShareLink, { body: { target, title: 'Ders 3', ...options } });
      expect(created.status).toBe(201);
      return { id: created.body.id, secret: created.body.url.split('#')[1] ?? '', created: created.body };
    };
    return { server, admin, teacher, image, otherImage, createLink };
  }

  /** Opens a link as a visitor, who has no account. */
  const openLink = (server: Pick<TestServer, 'as'>, secret: string, password?: string) =>
    server.as(null).call(openShareLink, { body: { secret, ...(password !== undefined && { password }) } });

  /** Opens a link as a visitor who presents a session, in order to renew it. */
  const renewSession = (
    server: Pick<TestServer, 'as'>,
    secret: string,
    session_id: string,
    password?: string,
  ) =>
    server
      .as(null)
      .call(openShareLink, { body: { secret, session_id, ...(password !== undefined && { password }) } });

  const tileStatus = async (server: Pick<TestServer, 'as'>, image: string, session: string) =>
    (
      await server.as(null).inject({
        method: 'GET',
        url: `/image-catalog/proxy/${image}/image_files/9/0_0.jpeg?session=${session}`,
      })
    ).status;

  it('give a visitor access to exactly the linked slide, without names of files or datasets', async () => {
    const { server, teacher, image, otherImage, createLink } = await setUp();
    const { secret, created } = await createLink();
    expect(created.url).toMatch(/^https?:\/\/[^#]+\/shared#[\w-]{43}$/);
    expect(created.expires_at).toBe(new Date(server.clock.now().getTime() + 7 * day).toISOString());
    const opened = await openLink(server, secret);
    expect(opened).toMatchObject({
      status: 200,
      body: { title: 'Ders 3', items: [{ image_id: image, title: 'Ders 3' }], free_movement: true },
    });
    expect(JSON.stringify(opened.body)).not.toMatch(/svs|"Ders"|example\.org/);
    expect(await tileStatus(server, image, opened.body.session_id)).toBe(200);
    expect(await tileStatus(server, otherImage, opened.body.session_id)).toBe(404);
    const stored = await server.services.db.selectFrom('share_links').selectAll().execute();
    expect(JSON.stringify(stored)).not.toContain(secret);
    const { body } = await server.as(teacher).call(listShareLinks);
    expect(body.share_links).toMatchObject([
      { id: created.id, owner: teacher.uid, openings: 1, max_openings: null, ended: false },
    ]);
    expect(body.share_links[0]).not.toHaveProperty('url');
  });

  it('write audit events for the opening of the link and of the slide, which name the link but no account as actor', async () => {
    const { server, admin, image, createLink } = await setUp();
    const { id, secret } = await createLink();
    await tileStatus(server, image, (await openLink(server, secret)).body.session_id);
    const { entries } = (await admin.call(listAudit)).body;
    expect(entries.find(({ action }) => action === 'share-link-opened')).toMatchObject({
      actor: null,
      target: { kind: 'other', id },
    });
    expect(entries.find(({ action }) => action === 'image-opened')).toMatchObject({
      actor: null,
      target: { kind: 'image', id: image },
      detail: { by: 'tile', share_link: id },
    });
  });

  it('return the same 404 when they are unknown, ended, expired or opened as often as allowed', async () => {
    const { server, teacher, createLink } = await setUp();
    const usedUp = await createLink({ max_openings: 1 });
    const ended = await createLink();
    const late = await createLink({
      expires_at: new Date(server.clock.now().getTime() + 1000).toISOString(),
    });
    expect((await openLink(server, usedUp.secret)).status).toBe(200);
    await server.as(teacher).call(endShareLink, { params: { linkId: ended.id } });
    server.clock.advance(1000);
    const responses = await Promise.all(
      ['A'.repeat(43), usedUp.secret, ended.secret, late.secret].map((secret) => openLink(server, secret)),
    );
    for (const { status, body } of responses) {
      expect({ status, ...body, requestId: '' }).toEqual({
        status: 404,
        ...responses[0]?.body,
        requestId: '',
      });
    }
    const { share_links } = (await server.as(teacher).call(listShareLinks)).body;
    expect(Object.fromEntries(share_links.map((link) => [link.id, link.ended]))).toEqual({
      [usedUp.id]: false, // its visitor still sees the slide, so its creator can still end it
      [ended.id]: true,
      [late.id]: true,
    });
  });

  it('that were opened as often as allowed can still be ended, which ends the session of the visitor', async () => {
    const { server, teacher, image, createLink } = await setUp();
    const { id, secret } = await createLink({ max_openings: 1 });
    const { session_id: session } = (await openLink(server, secret)).body;
    const listed = async () => (await server.as(teacher).call(listShareLinks)).body.share_links;
    expect(await listed()).toMatchObject([{ id, openings: 1, max_openings: 1, ended: false }]);
    expect(await tileStatus(server, image, session)).toBe(200);
    await server.as(teacher).call(endShareLink, { params: { linkId: id } });
    expect(await tileStatus(server, image, session)).toBe(401);
    expect(await listed()).toMatchObject([{ id, ended: true }]);
  });

  it('that were opened as often as allowed let their visitor renew the session until the link ends, in every process', async () => {
    const { server, teacher, image, createLink } = await setUp();
    const otherProcess = await server.another();
    const { id, secret } = await createLink({ max_openings: 1 });
    const { session_id: session, expires_in } = (await openLink(server, secret)).body;
    for (const restMs of [60_000, 0, -60_000]) {
      server.clock.advance(expires_in * 1000 - restMs); // before the end of the session, at its end, after its end
      const status = restMs > 0 ? 200 : 401;
      for (const process of [server, otherProcess])
        expect(await tileStatus(process, image, session)).toBe(status);
      const renewed = await renewSession(server, secret, session);
      expect(renewed).toMatchObject({
        status: 200,
        body: { session_id: session, expires_in, title: 'Ders 3' },
      });
      server.clock.advance(1001); // the maximum age of a cached session in the other process
      for (const process of [server, otherProcess])
        expect(await tileStatus(process, image, session)).toBe(200);
    }
    expect((await openLink(server, secret)).status).toBe(404);
    expect((await server.as(teacher).call(listShareLinks)).body.share_links).toMatchObject([
      { id, openings: 1 },
    ]);
    const sessions = await server.services.db.selectFrom('image_sessions').selectAll().execute();
    expect(sessions.filter(({ share_link_id }) => share_link_id === id)).toHaveLength(1);
    await server.as(teacher).call(endShareLink, { params: { linkId: id } });
    expect((await renewSession(server, secret, session)).status).toBe(404);
  });

  it.each<[string, (world: Awaited<ReturnType<typeof setUp>>, session: string) => Promise<string> | string]>([
    ['an unknown session', () => 's'.repeat(43)],
    [
      'a session of another link',
      async ({ server, createLink }) => (await openLink(server, (await createLink()).secret)).body.session_id,
    ],
    [
      'a session of an account',
      async ({ server, teacher }) => (await server.as(teacher).call(createImageSession)).body.session_id,
    ],
    [
      'a session that expired 12 hours ago',
      ({ server }, session) => {
        server.clock.advance(3_600_000 + 12 * 3_600_000);
        return session;
      },
    ],
    [
      'a session that ended because sharing of the dataset was switched off for a time',
      async ({ admin }, session) => {
        for (const sharing of [false, true])
          await admin.call(updateDataset, { body: { dataset: 'Ders', access: 'open', sharing } });
        return session;
      },
    ],
  ])(
    'that were opened as often as allowed return 404 to a visitor who presents %s',
    async (_, sessionToPresent) => {
      const world = await setUp();
      const { server, createLink } = world;
      const { secret } = await createLink({ max_openings: 1 });
      const { session_id: session } = (await openLink(server, secret)).body;
      const presented = await sessionToPresent(world, session);
      expect((await renewSession(server, secret, presented)).status).toBe(404);
    },
  );

  it('count an opening, and create a new session, for a visitor who presents an unknown session', async () => {
    const { server, teacher, createLink } = await setUp();
    const { secret } = await createLink({ max_openings: 1 });
    const opened = await renewSession(server, secret, 's'.repeat(43));
    expect(opened.status).toBe(200);
    expect(opened.body.session_id).not.toBe('s'.repeat(43));
    expect((await server.as(teacher).call(listShareLinks)).body.share_links).toMatchObject([{ openings: 1 }]);
  });

  it('require the password of the link for the renewal of a session, too', async () => {
    const { server, createLink } = await setUp();
    const { secret } = await createLink({ password: 'gizli-söz', max_openings: 1 });
    const { session_id: session } = (await openLink(server, secret, 'gizli-söz')).body;
    expect(await renewSession(server, secret, session)).toMatchObject({
      body: { code: 'password_required' },
    });
    expect(await renewSession(server, secret, session, 'no')).toMatchObject({
      body: { code: 'password_invalid' },
    });
    expect((await renewSession(server, secret, session, 'gizli-söz')).status).toBe(200);
  });

  it('keep the expired session of a visitor in the database for 12 hours, in which the visitor can renew it', async () => {
    const { server, createLink } = await setUp();
    const { expires_in } = (await openLink(server, (await createLink()).secret)).body;
    const sessionsAfterCleanup = async () => {
      await server.services.imageSessions.deleteExpired();
      return (await server.services.db.selectFrom('image_sessions').selectAll().execute()).length;
    };
    server.clock.advance(expires_in * 1000 + 12 * 3_600_000 - 1);
    expect(await sessionsAfterCleanup()).toBe(1);
    server.clock.advance(1);
    expect(await sessionsAfterCleanup()).toBe(0);
  });

  it('all end when their creator is suspended, even if they are more than the maximum number of parameters of an SQL statement', async () => {
    const { server, admin, teacher, image, createLink } = await setUp();
    const { secret } = await createLink();
    const { session_id: session } = (await openLink(server, secret)).body;
    const { db } = server.services;
    const row = await db.selectFrom('share_links').selectAll().executeTakeFirstOrThrow();
    const count = database === 'SQLite' ? 33_000 : 66_000; // the limits are 32,766 and 65,535 parameters
    for (let start = 0; start < count; start += 1000) {
      const ids = Array.from({ length: 1000 }, (_, n) => `link-${start + n}`);
      await db
        .insertInto('share_links')
        .values(ids.map((id) => ({ ...row, id, secret_hash: id })))
        .execute();
    }
    expect(await tileStatus(server, image, session)).toBe(200);
    expect((await admin.call(suspendUser, { params: { uid: teacher.uid } })).status).toBe(200);
    expect(await tileStatus(server, image, session)).toBe(401);
    const open = await db.selectFrom('share_links').select('id').where('ended_at', 'is', null).execute();
    expect(open).toEqual([]);
  });

  describe('stop serving tiles to a visitor', () => {
    it.each<[string, (world: Awaited<ReturnType<typeof setUp>>, linkId: string) => Promise<unknown>]>([
      [
        'when their creator ends the link',
        ({ server, teacher }, linkId) => server.as(teacher).call(endShareLink, { params: { linkId } }),
      ],
      [
        'when an administrator ends the link',
        ({ admin }, linkId) => admin.call(endShareLink, { params: { linkId } }),
      ],
      [
        'when their creator is suspended',
        ({ admin, teacher }) => admin.call(suspendUser, { params: { uid: teacher.uid } }),
      ],
      [
        'when the dataset is restricted',
        ({ admin }) => admin.call(updateDataset, { body: { dataset: 'Ders', access: 'restricted' } }),
      ],
      [
        'when sharing of the dataset is switched off',
        ({ admin }) =>
          admin.call(updateDataset, { body: { dataset: 'Ders', access: 'open', sharing: false } }),
      ],
      [
        'when the slide is removed',
        ({ admin, image }) => admin.call(deleteImage, { params: { imageId: image } }),
      ],
      [
        'when the account of their creator is deleted',
        ({ server, teacher }) => server.as(teacher).inject({ method: 'DELETE', url: '/user/account' }),
      ],
    ])(
      '%s, at once in the process that handles the change and within a second in another process',
      async (_, end) => {
        const world = await setUp();
        const { server, image, createLink } = world;
        const otherProcess = await server.another();
        const { id, secret } = await createLink();
        const { session_id: session } = (await openLink(server, secret)).body;
        for (const process of [server, otherProcess])
          expect(await tileStatus(process, image, session)).toBe(200);
        const ended = (await end(world, id)) as { status: number };
        expect(ended.status).toBeLessThan(300);
        expect(await tileStatus(server, image, session)).toBeGreaterThanOrEqual(401);
        server.clock.advance(1001);
        await new Promise((resolve) => setTimeout(resolve, 600)); // the cache of the catalogue uses real time instead of the test clock
        await tileStatus(otherProcess, image, session);
        await new Promise((resolve) => setTimeout(resolve, 300));
        expect(await tileStatus(otherProcess, image, session)).toBeGreaterThanOrEqual(401);
        expect((await openLink(server, secret)).status).toBe(404);
      },
    );
  });

  it('can be opened again after sharing was switched off and on, but not after a suspension of their creator', async () => {
    const { server, admin, teacher, image, createLink } = await setUp();
    const { secret } = await createLink();
    const { session_id: session } = (await openLink(server, secret)).body;
    const updateSettings = (sharing: boolean) =>
      admin.call(updateDataset, { body: { dataset: 'Ders', access: 'open', sharing } });
    await updateSettings(false);
    await updateSettings(true);
    expect(await tileStatus(server, image, session)).toBe(401);
    expect((await openLink(server, secret)).status).toBe(200);
    await admin.call(suspendUser, { params: { uid: teacher.uid } });
    await admin.inject({ method: 'POST', url: `/admin/users/${teacher.uid}/approve`, payload: {} });
    expect((await openLink(server, secret)).status).toBe(404);
  });

  it('can be ended by their creator while sharing of their dataset is switched off', async () => {
    const { server, admin, teacher, createLink } = await setUp();
    const { id, secret } = await createLink();
    const updateSettings = (sharing: boolean) =>
      admin.call(updateDataset, { body: { dataset: 'Ders', access: 'open', sharing } });
    await updateSettings(false);
    const listed = async () => (await server.as(teacher).call(listShareLinks)).body.share_links;
    expect(await listed()).toMatchObject([{ id, ended: false }]);
    expect((await server.as(teacher).call(endShareLink, { params: { linkId: id } })).status).toBe(204);
    await updateSettings(true);
    expect(await listed()).toMatchObject([{ id, ended: true }]);
    expect((await openLink(server, secret)).status).toBe(404);
  });

  it('require the password of the link, and return 429 after 10 wrong passwords from one network', async () => {
    const { server, createLink } = await setUp();
    const { secret } = await createLink({ password: 'gizli-söz' });
    expect(await openLink(server, secret)).toMatchObject({
      status: 401,
      body: { code: 'password_required' },
    });
    for (let i = 0; i < 9; i++) {
      expect(await openLink(server, secret, 'yanlış')).toMatchObject({
        status: 401,
        body: { code: 'password_invalid' },
      });
    }
    expect((await openLink(server, secret, 'gizli-söz')).status).toBe(200);
    await openLink(server, secret, 'yanlış'); // the 10th wrong password
    const limited = await openLink(server, secret, 'gizli-söz');
    expect(limited).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('return 429 after 1000 openings from one network, and can still be opened from another network', async () => {
    const { server, createLink } = await setUp();
    const [{ secret }, otherLink] = [await createLink(), await createLink()];
    const url = `${apiBase}${openShareLink.path}`;
    const openFrom = async (remoteAddress: string, openedSecret = secret) =>
      (await server.app.inject({ method: 'POST', url, payload: { secret: openedSecret }, remoteAddress }))
        .statusCode;
    expect(await openFrom('192.0.2.1')).toBe(200);
    await server.services.db.updateTable('throttles').set({ count: 999 }).execute();
    expect([await openFrom('192.0.2.1'), await openFrom('192.0.2.1')]).toEqual([200, 429]);
    expect(await openFrom('198.51.100.1')).toBe(200);
    expect(await openFrom('192.0.2.1', otherLink.secret)).toBe(200);
    server.clock.advance(31_000);
    expect(await openFrom('192.0.2.1')).toBe(200);
  });

  it('return 429 after 100 wrong secrets from one network, which can still open a link with the right secret', async () => {
    const { server, createLink } = await setUp();
    const { secret } = await createLink();
    const statuses: number[] = [];
    for (let i = 0; i < 105; i++) statuses.push((await openLink(server, `${i}`.padEnd(43, 'x'))).status);
    expect(statuses.slice(0, 100)).toEqual(Array.from({ length: 100 }, () => 404));
    expect(statuses.slice(100)).toEqual(Array.from({ length: 5 }, () => 429));
    expect((await openLink(server, secret)).status).toBe(200);
    server.clock.advance(31_000); // the first block lasts 30 s
    expect((await openLink(server, 'x'.repeat(43))).status).toBe(404);
    expect((await openLink(server, 'x'.repeat(43))).status).toBe(429);
  });

  it('return 429 for wrong secrets from a blocked network whose block is only in the cache, not in the database', async () => {
    const { server } = await setUp();
    for (let i = 0; i < 101; i++) await openLink(server, `${i}`.padEnd(43, 'x'));
    await server.services.db.deleteFrom('throttles').execute();
    expect((await openLink(server, 'x'.repeat(43))).status).toBe(429);
  });

  it.each([
    ['an end date in the past', { expires_at: '2026-04-30T00:00:00Z' }, 400],
    ['an end date more than a year ahead', { expires_at: '2027-06-01T00:00:00Z' }, 400],
    [
      'a slide that does not exist',
      { target: { type: 'slide', id: '00000000-0000-4000-8000-000000000000' } },
      404,
    ],
    ['a maximum of 0 openings', { max_openings: 0 }, 400],
  ])('cannot be created with %s: the request gets $2', async (_, change, status) => {
    const { server, teacher, image } = await setUp();
    const body = { target: { type: 'slide', id: image }, title: 'Ders', ...change };
    expect((await server.as(teacher).call(createShareLink, { body })).status).toBe(status);
  });

  it('cannot be created while sharing of the dataset is off (403), nor for a slide that the creator may not view (404)', async () => {
    const { server, admin, teacher, image } = await setUp();
    const updateSettings = (body: object) =>
      admin.call(updateDataset, { body: { dataset: 'Ders', ...body } });
    const createLinkToSlide = () =>
      server
        .as(teacher)
        .call(createShareLink, { body: { target: { type: 'slide', id: image }, title: 'Ders' } });
    await updateSettings({ access: 'open', sharing: false });
    expect(await createLinkToSlide()).toMatchObject({ status: 403, body: { code: 'sharing_off' } });
    await updateSettings({ access: 'restricted', sharing: true });
    expect((await createLinkToSlide()).status).toBe(404);
  });

  it('to a case give access to the slides of the case, in the order of the case', async () => {
    const { server, admin, image, otherImage, createLink } = await setUp();
    const slides = [{ image_id: otherImage, stain: 'PAS' }, { image_id: image }];
    const created = await admin.call(createCase, { body: { dataset: 'Ders', name: 'Vaka', slides } });
    const { secret } = await createLink({ target: { type: 'case', id: created.body.id } });
    const { body } = await openLink(server, secret);
    expect(body.items).toMatchObject([
      { image_id: otherImage, title: 'Ders 3 · PAS' },
      { image_id: image, title: 'Ders 3 · 2' },
    ]);
    expect(await tileStatus(server, otherImage, body.session_id)).toBe(200);
  });

  it.each(['case', 'collection'] as const)(
    'to a %s give no access to the slides of a case in a restricted dataset, even if the dataset of the slides is open',
    async (type) => {
      const { server, admin, teacher, image, otherImage, createLink } = await setUp();
      await server.fixtures.image({ dataset_name: 'Gizli', file_name: 'c.svs' });
      const slides = [{ image_id: image, stain: 'HE', block: 'A1-gizli' }];
      const created = (await admin.call(createCase, { body: { dataset: 'Gizli', name: 'Vaka', slides } }))
        .body;
      const items = [
        { type: 'case', id: created.id },
        { type: 'slide', id: otherImage },
      ] as const;
      const collection = await server
        .as(teacher)
        .call(createCollection, { body: { title: 'Ders', readers: 'members', items: [...items] } });
      const id = type === 'case' ? created.id : collection.body.id;
      const { secret } = await createLink({ target: { type, id } });
      const { session_id: session } = (await openLink(server, secret)).body;
      expect(await tileStatus(server, image, session)).toBe(200);
      await admin.call(updateDataset, { body: { dataset: 'Gizli', access: 'restricted' } });
      expect(await tileStatus(server, image, session)).toBe(401);
      const openedAgain = await openLink(server, secret);
      expect(JSON.stringify(openedAgain.body)).not.toContain('gizli');
      if (type === 'case') expect(openedAgain.status).toBe(404);
      else {
        expect(openedAgain.body.items.map(({ image_id }) => image_id)).toEqual([otherImage]);
        expect(await tileStatus(server, image, openedAgain.body.session_id)).toBe(404);
      }
    },
  );

  it('are listed for administrators but not for other accounts, which get 404 when they end one', async () => {
    const { server, admin, teacher, createLink } = await setUp();
    const { id } = await createLink();
    const stranger = await server.fixtures.user();
    expect((await server.as(stranger).call(listShareLinks)).body.share_links).toEqual([]);
    expect((await server.as(stranger).call(endShareLink, { params: { linkId: id } })).status).toBe(404);
    expect((await admin.call(listShareLinks)).body.share_links).toMatchObject([
      { id, owner: teacher.uid, owner_name: teacher.email },
    ]);
  });
});
