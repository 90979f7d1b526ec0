/** Every endpoint, asked by everybody: permissions.md sections 4 and 8. */
import fs from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  apiBase,
  createImageSession,
  deleteImageSession,
  type Endpoint,
  type ErrorCode,
  endpoints,
  errors,
  suspendUser,
} from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseKinds } from './store/testing/test-database.ts';
import {
  type Actor,
  actors,
  answerFor,
  answers,
  catalogueBySession,
  codeFor,
  pixelsBySession,
  type Session,
  sessions,
  tokensAlong,
} from './testing/permission-matrix.ts';
import { type Answer, type TestServer, testServer } from './testing/test-server.ts';
import {
  missingId,
  newPassword,
  unknownToken,
  type WellFormedRequest,
  wellFormedRequests,
} from './testing/well-formed-requests.ts';

describe.each(databaseKinds)('on %s', (database) => {
  let server: TestServer;
  /** Where it listens. */
  let address: string;
  /** Of a slide that is really there. */
  let imageId: string;

  beforeAll(async () => {
    // With `debug`, the fast lane of tiles would be closed.
    server = await testServer({ database, isShared: true, config: { logLevel: 'info' } });
    address = await server.app.listen({ host: '127.0.0.1', port: 0 });
    const folder = path.join(server.config.slidesDir, 'Set');
    fs.mkdirSync(folder);
    fs.writeFileSync(path.join(folder, 'a.svs'), await buildSvs());
    await server.services.catalogue.start();
    await server.services.catalogue.settled();
    await server.given.admin(); // so that no other is the last
    const { images } = await server.services.catalogue.list({ limit: 1 }, await server.given.user());
    imageId = images[0]?.id ?? 'no slide was read';
  }, 60_000);
  afterAll(() => server.close());

  const { asker, requestFor } = wellFormedRequests(() => server);

  function ask(
    endpoint: Endpoint,
    { url, payload, query, headers }: WellFormedRequest,
    token: string | null,
  ): Promise<Answer> {
    return server.as(token).inject({
      method: endpoint.method,
      url,
      ...(payload && { payload }),
      ...(query && { query }),
      ...(headers && { headers }),
    });
  }

  /** Everything that is stored, but for the trail and the clocks. */
  async function stored(): Promise<unknown> {
    const { db } = server.services;
    return {
      users: await db.selectFrom('users').selectAll().orderBy('uid').execute(),
      identities: await db.selectFrom('identities').selectAll().orderBy('uid').execute(),
      tokens: await db.selectFrom('tokens').select(['hash', 'expires_at']).orderBy('hash').execute(),
      sessions: await db
        .selectFrom('image_sessions')
        .select(['hash', 'expires_at'])
        .orderBy('hash')
        .execute(),
      secondFactors: await db.selectFrom('second_factors').selectAll().orderBy('uid').execute(),
      resets: await db.selectFrom('password_resets').selectAll().orderBy('hash').execute(),
      images: await db.selectFrom('images').selectAll().orderBy('id').execute(),
      applications: await db.selectFrom('applications').selectAll().orderBy('uid').execute(),
      datasets: await db.selectFrom('datasets').selectAll().orderBy('name').execute(),
      grants: await db.selectFrom('dataset_grants').selectAll().orderBy('uid').execute(),
      datasetRequests: await db.selectFrom('dataset_requests').selectAll().orderBy('id').execute(),
      uploads: await db.selectFrom('uploads').select(['id', 'state']).orderBy('id').execute(),
      uploadFiles: await db.selectFrom('upload_files').select(['id', 'state']).orderBy('id').execute(),
    };
  }

  async function everythingDone(): Promise<void> {
    const { background, uploads, catalogue } = server.services;
    await background.idle();
    await uploads.settled();
    await catalogue.settled();
  }

  const isPixels = (endpoint: Endpoint) => endpoint.access === 'image-session';
  const withoutRequestId = ({ status, body }: Answer) => ({
    status,
    body: { ...(body as object), requestId: '' },
  });

  describe('the matrix', () => {
    it('has a row for each endpoint that is not about pixels, and no other', () => {
      const named = Object.entries(endpoints).filter(([, endpoint]) => !isPixels(endpoint));
      expect(Object.keys(answers).sort()).toEqual(named.map(([name]) => name).sort());
    });

    it('gives user whatever viewer has, and admin whatever user has', () => {
      const letIn = (actor: Actor) => Object.keys(answers).filter((name) => answerFor(name, actor) < 300);
      expect(letIn('user')).toEqual(expect.arrayContaining(letIn('viewer')));
      expect(letIn('admin')).toEqual(expect.arrayContaining(letIn('user')));
    });
  });

  describe.each(Object.keys(answers))('%s', (name) => {
    const endpoint = endpoints[name] as Endpoint;

    it.each(actors)('%s', async (actor) => {
      const who = await asker(actor);
      const request = await requestFor(name, who, actor === 'anonymous' || actor === 'bad token');
      await everythingDone(); // what the call before left to be done
      const before = await stored();
      const answer = await ask(endpoint, request, who.token);

      const code = codeFor(name, actor);
      const { code: given = null, status = null } = (answer.body || {}) as { code?: string; status?: string };
      expect({
        status: answer.status,
        code: given,
        signsOut: answer.headers['www-authenticate']?.toString().startsWith('Bearer') ?? false,
        ownStatus: given === null ? null : status,
        hasChanged: code !== null && !isDeepStrictEqual(await stored(), before),
      }).toEqual({
        status: answerFor(name, actor),
        code,
        signsOut: code?.startsWith('token_') ?? false,
        ownStatus: code === 'account_not_active' ? who.user.status : null,
        hasChanged: false,
      });
    });

    it('knows no other method', async () => {
      const known = Object.values(endpoints).filter(({ path: other }) => other === endpoint.path);
      const method = known.some((each) => each.method === 'PATCH') ? 'PUT' : 'PATCH';
      const answer = await server.as(null).inject({ method, url: endpoint.path.replace(/:\w+/, 'x') });
      expect(answer).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
      expect(String(answer.headers.allow).split(', ')).toContain(endpoint.method);
    });
  });

  describe('however it is spelled', () => {
    it.each(Object.keys(answers))('%s with a slash at its end', async (name) => {
      const endpoint = endpoints[name] as Endpoint;
      for (const actor of ['anonymous', 'pending', 'admin'] as const) {
        const who = await asker(actor);
        const request = await requestFor(name, who, actor === 'anonymous');
        const answer = await ask(endpoint, { ...request, url: `${request.url}/` }, who.token);
        expect([actor, answer.status]).toEqual([actor, answerFor(name, actor)]);
      }
    });

    const reads = Object.keys(answers).filter((name) => endpoints[name]?.method === 'GET');
    it.each(reads)('%s by HEAD', async (name) => {
      for (const actor of ['anonymous', 'pending', 'admin'] as const) {
        const who = await asker(actor);
        const { url, query } = await requestFor(name, who, actor === 'anonymous');
        const answer = await server.as(who.token).inject({ method: 'HEAD', url, ...(query && { query }) });
        expect([actor, answer.status, answer.body]).toEqual([actor, answerFor(name, actor), '']);
      }
    });
  });

  describe('a refused caller is answered alike whether or not the target exists', () => {
    const withTarget = Object.keys(answers).filter((name) => endpoints[name]?.path.includes(':'));

    it.each(withTarget)('%s', async (name) => {
      const endpoint = endpoints[name] as Endpoint;
      for (const actor of actors.filter((each) => answerFor(name, each) >= 400)) {
        const who = await asker(actor);
        const request = await requestFor(name, who, actor === 'anonymous');
        const missing = { ...request, url: endpoint.path.replace(/:\w+/, missingId) };
        const [there, notThere] = [
          await ask(endpoint, request, who.token),
          await ask(endpoint, missing, who.token),
        ];
        expect(withoutRequestId(notThere)).toEqual(withoutRequestId(there));
      }
    });
  });

  describe('verifying a token', () => {
    it('judges the token in the body alone', async () => {
      const { token } = await asker('user');
      const request = { url: '/auth/verify', payload: { token } };
      const verify = endpoints.verifyToken as Endpoint;
      expect((await ask(verify, request, null)).status).toBe(200);
      expect((await ask(verify, request, unknownToken)).status).toBe(200);
    });
  });

  describe('beyond the API', () => {
    it.each(actors)('health is open to %s, everything unknown is not there', async (actor) => {
      const { token } = await asker(actor);
      const headers = token === null ? {} : { authorization: `Bearer ${token}` };
      for (const url of ['/health/live', '/health/ready']) {
        const { statusCode, body } = await server.app.inject({ url, headers });
        expect([statusCode, JSON.parse(body)]).toEqual([200, { status: 'ok' }]);
      }
      for (const url of ['/nothing', '/admin', '/user', '/auth', '/metrics', '/auth/verify/more']) {
        expect(await server.as(token).inject({ method: 'GET', url })).toMatchObject({
          status: 404,
          body: { code: 'not_found' },
        });
      }
    });
  });

  describe('a parameter that is sent twice', () => {
    it('is refused before anybody is asked who they are', async () => {
      for (const url of [
        '/image-catalog/images?q=a&q=b',
        `/image-catalog/proxy/${imageId}/image.dzi?session=a&session=b`,
      ]) {
        expect(await server.as(null).inject({ method: 'GET', url })).toMatchObject({
          status: 400,
          body: { code: 'invalid_request' },
        });
      }
    });
  });

  /** An account that looks at slides, with a session in this state; undefined for none. */
  async function viewerWith(session: Session) {
    const { given, as, clock } = server;
    const user = await given.user({ role: 'viewer' });
    const token = await given.token(user);
    const create = async (by: string) => (await as(by).call(createImageSession)).body.session_id;
    const idOf = async (): Promise<string | undefined> => {
      if (session === 'none') return undefined;
      if (session === 'unknown') return unknownToken;
      if (session === "another account's") return create(await given.token(await given.user()));
      const id = await create(token);
      if (session === 'tampered') return (id.startsWith('A') ? 'B' : 'A') + id.slice(1);
      if (session === 'revoked') await as(token).call(deleteImageSession, { params: { sessionId: id } });
      return id;
    };
    const id = await idOf();
    if (session !== 'expired') return { token, id };
    // The token is used meanwhile, so that the session alone has ended.
    clock.advance(35 * 60_000);
    await as(token).inject({ method: 'GET', url: '/user/profile' });
    clock.advance(35 * 60_000);
    return { token, id };
  }

  /** '200', or the refusal with what the browser is told to renew. */
  function outcomeOf({ status, body, headers }: Answer): string {
    if (status === 200) return '200';
    const { code } = body as { code: string };
    return [status, code, headers['www-authenticate'], headers['cache-control']].join(' ');
  }

  function outcomeFor(expected: '200' | ErrorCode): string {
    if (expected === '200') return expected;
    const realm = expected.startsWith('session_') ? 'ImageSession' : 'Bearer';
    return `${errors[expected].status} ${expected} ${realm} error="${expected}" no-store`;
  }

  describe('the catalogue, with a good token', () => {
    it.each(sessions)('and as session: %s', async (session) => {
      const { token, id } = await viewerWith(session);
      const query = id === undefined ? '' : `?session=${id}`;
      for (const url of ['/image-catalog/images', `/image-catalog/images/${imageId}`]) {
        expect(outcomeOf(await server.as(token).inject({ method: 'GET', url: url + query }))).toBe(
          outcomeFor(catalogueBySession[session]),
        );
      }
    });

    it('is not opened by a session alone', async () => {
      const { id } = await viewerWith('own');
      for (const url of ['/image-catalog/images', `/image-catalog/images/${imageId}`]) {
        expect(outcomeOf(await server.as(null).inject({ method: 'GET', url: `${url}?session=${id}` }))).toBe(
          outcomeFor('token_missing'),
        );
      }
    });
  });

  const pixels = ['image.dzi', 'thumbnail.jpg', 'image_files/9/0_0.jpeg'];

  type Ask = (method: 'GET' | 'HEAD', url: string, token: string | null) => Promise<Answer>;

  /** As a browser does: through everything that stands before the routes, the fast lane of tiles among it. */
  const askOverTheWire: Ask = async (method, url, token) => {
    const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
    const answer = await fetch(address + apiBase + url, { method, headers });
    const text = await answer.text();
    const isJson = text !== '' && answer.headers.get('content-type')?.startsWith('application/json');
    return {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: isJson ? JSON.parse(text) : text,
    };
  };
  const askTheRoutes: Ask = (method, url, token) => server.as(token).inject({ method, url });

  describe.each([
    ['asked of the routes', askTheRoutes],
    ['asked over the wire', askOverTheWire],
  ])('pixels, %s,', (_, askPixels) => {
    const states = Object.keys(pixelsBySession) as (keyof typeof pixelsBySession)[];
    it.each(states)('with this session: %s', async (session) => {
      const { token, id } = await viewerWith(session);
      const bearers = {
        'no token': null,
        'a token': token,
        "another account's token": await server.given.token(await server.given.admin()),
        'a bad token': unknownToken,
      };
      for (const name of pixels) {
        const url = `/image-catalog/proxy/${imageId}/${name}${id === undefined ? '' : `?session=${id}`}`;
        for (const along of tokensAlong) {
          const expected = pixelsBySession[session][along];
          const get = await askPixels('GET', url, bearers[along]);
          expect(outcomeOf(get)).toBe(outcomeFor(expected));
          const head = await askPixels('HEAD', url, bearers[along]);
          expect([head.status, head.body]).toEqual([get.status, '']);
        }
      }
    });

    it('that are not there are 404, however they are spelled', async () => {
      const { id } = await viewerWith('own');
      const removed = await server.given.image({ removed_at: '2026-05-01T00:00:00.000Z' });
      const absent = [
        ...[missingId, removed.id, 'x', '..%2f..%2fetc%2fpasswd', '%00', `${imageId}%2f..`].flatMap((image) =>
          pixels.map((name) => `${image}/${name}`),
        ),
        ...[
          '-1/0_0.jpeg',
          '99/0_0.jpeg',
          '9/9_0.jpeg',
          '9/0_9.jpeg',
          '9/0_0.png',
          '9/0_0',
          '9/a_b.jpeg',
          '9/..%2f0_0.jpeg',
        ].map((tile) => `${imageId}/image_files/${tile}`),
      ];
      for (const each of absent) {
        const answer = await askPixels('GET', `/image-catalog/proxy/${each}?session=${id}`, null);
        expect([each, answer.status, (answer.body as { code: string }).code]).toEqual([
          each,
          404,
          'not_found',
        ]);
      }
    });
  });

  describe('a field that nobody may set, in a body', () => {
    const mark = 'set-by-a-stranger';
    const unsettable = {
      ...Object.fromEntries(
        [
          ...[
            'uid',
            'id',
            'userId',
            'email_key',
            'password_hash',
            'token',
            'token_hash',
            'hash',
            'session_id',
          ],
          ...[
            'createdAt',
            'updatedAt',
            'approvalDate',
            'created_at',
            'path',
            'root',
            'uri',
            'storage',
            'removed_at',
          ],
          ...['email', 'displayName', 'display_name', 'provider', 'subject', 'granted_by'],
        ].map((field) => [field, mark]),
      ),
      role: 'admin',
      status: 'active',
      adminApproved: true,
      admin_approved: 1,
      user: { role: 'admin', uid: mark },
      expires_at: null,
    };

    /** How many accounts there are of each kind. */
    async function census(): Promise<Map<string, number>> {
      const users = await server.services.db.selectFrom('users').select(['status', 'role']).execute();
      return new Map(
        Map.groupBy(users, ({ status, role }) => `${status} ${role}`)
          .entries()
          .map(([kind, group]) => [kind, group.length]),
      );
    }

    /** What the call changed in the numbers of accounts. */
    async function changesOf(name: string, more: object): Promise<{ status: number; changes: unknown }> {
      const who = await asker('admin');
      const endpoint = endpoints[name] as Endpoint;
      const request = await requestFor(name, who, false);
      const before = await census();
      const payload = JSON.stringify({ ...more, ...request.payload });
      const { status } = await server.as(who.token).inject({
        method: endpoint.method,
        url: request.url,
        headers: { 'content-type': 'application/json', 'x-user-id': mark },
        payload: payload.replace(/}$/, `,"__proto__":{"role":"admin","polluted":"${mark}"}}`),
        ...(request.query && { query: request.query }),
      });
      const after = await census();
      const kinds = [...new Set([...before.keys(), ...after.keys()])].sort();
      const changes = kinds.map((kind) => [kind, (after.get(kind) ?? 0) - (before.get(kind) ?? 0)]);
      return { status, changes: changes.filter(([, change]) => change !== 0) };
    }

    const withBody = Object.keys(answers).filter((name) => endpoints[name]?.body !== undefined);
    it.each(withBody)('%s ignores it', async (name) => {
      const settable = Object.keys((endpoints[name] as Endpoint).body?.shape ?? {});
      const more = Object.fromEntries(
        Object.entries(unsettable).filter(([field]) => !settable.includes(field)),
      );
      const plain = await changesOf(name, { nothing: 1 });
      expect(await changesOf(name, more)).toEqual(plain);
      expect(JSON.stringify(await stored())).not.toContain(mark);
      expect('polluted' in {}).toBe(false);
    });
  });

  describe('fields that nobody may set', () => {
    const forbidden = {
      uid: 'x',
      email: 'x@example.org',
      displayName: 'X',
      status: 'deactivated',
      adminApproved: false,
      createdAt: 'x',
      updatedAt: 'x',
      approvalDate: 'x',
      password: 'x',
      password_hash: 'x',
      constructor: { prototype: { role: 'admin' } },
    };

    it('are left alone by every call of an administrator', async () => {
      const { given, services } = server;
      const { token } = await asker('admin');
      const find = async (uid: string) =>
        services.db.selectFrom('users').selectAll().where('uid', '=', uid).executeTakeFirstOrThrow();
      for (const [name, after] of [
        ['approveUser', { status: 'active', role: 'viewer', admin_approved: 1 }],
        ['suspendUser', { status: 'suspended' }],
        ['promoteUser', { role: 'admin' }],
        ['setUserPassword', {}],
      ] as const) {
        const endpoint = endpoints[name] as Endpoint;
        const user = await given.user({ status: name === 'approveUser' ? 'pending' : 'active' });
        const before = await find(user.uid);
        const payload = { role: 'viewer', new_password: newPassword, ...forbidden };
        const answer = await ask(endpoint, { url: endpoint.path.replace(':uid', user.uid), payload }, token);
        expect([name, answer.status]).toEqual([name, 200]);
        const { updated_at: _, approval_date: __, ...stays } = { ...before, ...after };
        expect(await find(user.uid)).toMatchObject(stays);
      }
    });
  });

  describe('an outage of the database', () => {
    it('signs nobody out: it is never answered as a refusal', async () => {
      const away = await testServer();
      const user = await away.given.user();
      const token = await away.given.token(user);
      await away.services.db.destroy();
      for (const request of [
        { method: 'GET' as const, url: '/user/profile' },
        { method: 'POST' as const, url: '/auth/verify', payload: { token } },
        {
          method: 'POST' as const,
          url: '/auth/login',
          payload: { email: user.email, password: user.password },
        },
        { method: 'POST' as const, url: `/admin/users/${user.uid}/suspend` },
      ]) {
        expect((await away.as(token).inject(request)).status).toBeGreaterThanOrEqual(500);
      }
      expect((await away.app.inject({ url: '/health/ready' })).statusCode).toBe(503);
      expect((await away.app.inject({ url: '/health/live' })).statusCode).toBe(200);
    });
  });

  describe('what a suspension leaves of a session', () => {
    it('is nothing, for every kind of pixels', async () => {
      const { given, as } = server;
      const admin = await given.admin();
      const user = await given.user();
      const { body } = await as(await given.token(user)).call(createImageSession);
      const urls = pixels.map((name) => `/image-catalog/proxy/${imageId}/${name}?session=${body.session_id}`);
      for (const url of urls) expect((await askOverTheWire('GET', url, null)).status).toBe(200);
      await as(admin).call(suspendUser, { params: { uid: user.uid } });
      for (const ask of [askTheRoutes, askOverTheWire]) {
        for (const url of urls) {
          expect(outcomeOf(await ask('GET', url, null))).toBe(outcomeFor('session_invalid'));
        }
      }
    });
  });
});
