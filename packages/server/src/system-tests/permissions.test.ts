/** Every endpoint, called by every kind of caller: docs/permissions.md sections 4 and 8. */
import fs from 'node:fs';
import path from 'node:path';
import {
  apiBase,
  createImageSession,
  createShareLink,
  deleteImageSession,
  type Endpoint,
  type ErrorCode,
  endpoints,
  errors,
  openShareLink,
  suspendUser,
} from '@lamina/contract';
import { buildIcc, buildSvs } from '@lamina/slide/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { saveDataset } from '../store/datasets.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import {
  type Actor,
  type AdditionalToken,
  actorDescriptions,
  actors,
  additionalTokens,
  catalogueBySession,
  expectedErrorCode,
  expectedStatus,
  expectedStatuses,
  pixelsBySession,
  type Session,
  sessionDescriptions,
  sessions,
  withLabels,
} from '../testing/permission-matrix.ts';
import { storedData } from '../testing/stored-data.ts';
import { type Answer, type TestServer, testServer } from '../testing/test-server.ts';
import {
  type Caller,
  missingId,
  newPassword,
  unknownToken,
  type WellFormedRequest,
  wellFormedRequests,
} from '../testing/well-formed-requests.ts';

describe.each(databaseKinds)('API permissions (database: %s):', (database) => {
  let server: TestServer;
  /** Address on which the server listens. */
  let address: string;
  /** Id of an image whose slide exists. */
  let imageId: string;
  let otherImageId: string;

  beforeAll(async () => {
    server = await testServer({ database, isShared: true });
    address = await server.app.listen({ host: '127.0.0.1', port: 0 });
    const folder = path.join(server.config.slidesDir, 'Set');
    fs.mkdirSync(folder);
    for (const name of ['a.svs', 'b.svs']) {
      fs.writeFileSync(path.join(folder, name), await buildSvs({ profile: buildIcc() }));
    }
    // Not `start`, which watches the folder: a scan at any time would mark the images without files as missing.
    await server.services.catalogue.rescan();
    await server.services.catalogue.settled();
    await server.fixtures.admin(); // so that no other administrator is the last one
    const { images } = await server.services.catalogue.list({ limit: 2 }, await server.fixtures.user());
    imageId = images[0]?.id ?? 'no slide was read';
    otherImageId = images[1]?.id ?? 'no slide was read';
  }, 60_000);
  afterAll(() => server.close());

  const { caller, requestFor } = wellFormedRequests(() => server);

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

  const stored = () => storedData(server.services.db);

  /** Whether the caller has no account that the server could identify. */
  const isAnonymous = (actor: Actor) => ['anonymous', 'bad token', 'visitor'].includes(actor);

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

  describe('the permission matrix (expected status by endpoint and caller)', () => {
    it('has exactly one row for each endpoint that does not serve pixels', () => {
      const named = Object.entries(endpoints).filter(([, endpoint]) => !isPixels(endpoint));
      expect(Object.keys(expectedStatuses).sort()).toEqual(named.map(([name]) => name).sort());
    });

    it('allows the role user every call of the role viewer, and the role admin every call of the role user', () => {
      const allowedCalls = (actor: Actor) =>
        Object.keys(expectedStatuses).filter((name) => expectedStatus(name, actor) < 300);
      expect(allowedCalls('user')).toEqual(expect.arrayContaining(allowedCalls('viewer')));
      expect(allowedCalls('admin')).toEqual(expect.arrayContaining(allowedCalls('user')));
    });
  });

  interface RejectedCall {
    readonly who: Caller;
    readonly request: WellFormedRequest;
    readonly answer: Answer;
  }

  describe.each(withLabels(Object.keys(expectedStatuses)))('%s', (_, name) => {
    const endpoint = endpoints[name] as Endpoint;
    const isRejected = (actor: Actor) => expectedErrorCode(name, actor) !== null;
    const rejected = new Map<Actor, RejectedCall>();
    let changedByRejectedCalls: readonly [before: unknown, after: unknown];

    async function prepare(actor: Actor) {
      const who = await caller(actor);
      const wellFormed = await requestFor(name, who, isAnonymous(actor));
      const query = { ...wellFormed.query, ...(who.visitor && { session: who.visitor.session }) };
      return { who, request: { ...wellFormed, query } };
    }

    async function callAs({ who, request }: Omit<RejectedCall, 'answer'>): Promise<RejectedCall> {
      return { who, request, answer: await ask(endpoint, request, who.token) };
    }

    // Reading all stored data takes longer than a call, so it is read only twice: before and after all calls that must be rejected.
    beforeAll(async () => {
      const prepared = [];
      for (const actor of actors.filter(isRejected)) prepared.push({ actor, ...(await prepare(actor)) });
      await everythingDone(); // waits for background tasks of the previous calls
      const before = await stored();
      for (const { actor, ...call } of prepared) rejected.set(actor, await callAs(call));
      changedByRejectedCalls = [before, await stored()];
    });

    const rows = actors.map((actor) => {
      const code = expectedErrorCode(name, actor);
      const outcome = `${expectedStatus(name, actor)}${code === null ? '' : ` (error code ${code})`}`;
      return [outcome, actorDescriptions[actor], actor] as const;
    });
    it.each(rows)('returns %s to %s', async (_, __, actor) => {
      const { who, answer } = rejected.get(actor) ?? (await callAs(await prepare(actor)));
      const code = expectedErrorCode(name, actor);
      const { code: given = null, status = null } = (answer.body || {}) as { code?: string; status?: string };
      expect({
        status: answer.status,
        code: given,
        signsOut: answer.headers['www-authenticate']?.toString().startsWith('Bearer') ?? false,
        ownStatus: given === null ? null : status,
      }).toEqual({
        status: expectedStatus(name, actor),
        code,
        signsOut: code?.startsWith('token_') ?? false,
        ownStatus: code === 'account_not_active' ? who.user.status : null,
      });
    });

    it('changes no stored data when it rejects a caller', () => {
      const [before, after] = changedByRejectedCalls;
      expect(after).toEqual(before);
    });

    const urlsOfMissingTargets = endpoint.path.includes(':')
      ? [endpoint.path.replace(/:\w+/g, missingId)]
      : [];
    it.each(urlsOfMissingTargets)(
      'returns the same response to a rejected caller whether or not the target exists (%s)',
      async (url) => {
        expect([...rejected.keys()]).toEqual(actors.filter(isRejected));
        expect(rejected.size).toBeGreaterThan(0);
        for (const { who, request, answer } of rejected.values()) {
          const notThere = await ask(endpoint, { ...request, url }, who.token);
          expect(withoutRequestId(notThere)).toEqual(withoutRequestId(answer));
        }
      },
    );

    const known = Object.values(endpoints).filter(({ path: other }) => other === endpoint.path);
    const method = known.some((each) => each.method === 'PATCH') ? 'PUT' : 'PATCH';
    it(`returns 405 to a caller without a token when the method is ${method}, which this path does not have`, async () => {
      const answer = await server.as(null).inject({ method, url: endpoint.path.replace(/:\w+/, 'x') });
      expect(answer).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
      expect(String(answer.headers.allow).split(', ')).toContain(endpoint.method);
    });
  });

  describe('callers without a token, pending accounts and administrators', () => {
    it.each(withLabels(Object.keys(expectedStatuses)))(
      'get the same status from %s with and without a slash at the end of the path',
      async (_, name) => {
        const endpoint = endpoints[name] as Endpoint;
        for (const actor of ['anonymous', 'pending', 'admin'] as const) {
          const who = await caller(actor);
          const request = await requestFor(name, who, actor === 'anonymous');
          const answer = await ask(endpoint, { ...request, url: `${request.url}/` }, who.token);
          expect([actor, answer.status]).toEqual([actor, expectedStatus(name, actor)]);
        }
      },
    );

    const reads = Object.keys(expectedStatuses).filter((name) => endpoints[name]?.method === 'GET');
    it.each(withLabels(reads))('get the same status, but no body, from HEAD as from %s', async (_, name) => {
      for (const actor of ['anonymous', 'pending', 'admin'] as const) {
        const who = await caller(actor);
        const { url, query } = await requestFor(name, who, actor === 'anonymous');
        const answer = await server.as(who.token).inject({ method: 'HEAD', url, ...(query && { query }) });
        expect([actor, answer.status, answer.body]).toEqual([actor, expectedStatus(name, actor), '']);
      }
    });
  });

  describe('POST /auth/verify', () => {
    it('verifies the token in the body and ignores an invalid bearer token in the header', async () => {
      const { token } = await caller('user');
      const request = { url: '/auth/verify', payload: { token } };
      const verify = endpoints.verifyToken as Endpoint;
      expect((await ask(verify, request, null)).status).toBe(200);
      expect((await ask(verify, request, unknownToken)).status).toBe(200);
    });
  });

  describe('a request outside the API', () => {
    it.each(actors.map((actor) => [actorDescriptions[actor], actor] as const))(
      'returns 200 for /health/live and /health/ready, and 404 for an unknown path, to %s',
      async (_, actor) => {
        const { token } = await caller(actor);
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
      },
    );
  });

  describe('a query parameter that is sent twice', () => {
    it('is rejected with 400 before authentication', async () => {
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

  /** Returns an image session of a new viewer in this state; undefined for none. */
  async function viewerWith(session: Session) {
    const { fixtures, as, clock } = server;
    const user = await fixtures.user({ role: 'viewer' });
    const token = await fixtures.token(user);
    const create = async (by: string) => (await as(by).call(createImageSession)).body.session_id;
    const idOf = async (): Promise<string | undefined> => {
      if (session === 'none') return undefined;
      if (session === 'unknown') return unknownToken;
      if (session === "another account's") return create(await fixtures.token(await fixtures.user()));
      const id = await create(token);
      if (session === 'tampered') return (id.startsWith('A') ? 'B' : 'A') + id.slice(1);
      if (session === 'revoked') await as(token).call(deleteImageSession, { params: { sessionId: id } });
      return id;
    };
    const id = await idOf();
    if (session !== 'expired') return { token, id };
    // The token stays in use, so that only the session has ended.
    clock.advance(35 * 60_000);
    await as(token).inject({ method: 'GET', url: '/user/profile' });
    clock.advance(35 * 60_000);
    return { token, id };
  }

  /** Returns '200', or status, code and the headers that tell the client what to renew. */
  function outcomeOf({ status, body, headers }: Answer): string {
    if (status === 200) return '200';
    const { code } = body as { code: string };
    return [status, code, headers['www-authenticate'], headers['cache-control']].join(' ');
  }

  /** Returns '200', or the status and the code of an error, for test names. */
  const statusAndCode = (expected: '200' | ErrorCode): string =>
    expected === '200' ? expected : `${errors[expected].status} ${expected}`;

  function outcomeFor(expected: '200' | ErrorCode): string {
    if (expected === '200') return expected;
    const realm = expected.startsWith('session_') ? 'ImageSession' : 'Bearer';
    return `${errors[expected].status} ${expected} ${realm} error="${expected}" no-store`;
  }

  describe('the image list and the details of an image', () => {
    it.each(
      sessions.map(
        (session) =>
          [statusAndCode(catalogueBySession[session]), sessionDescriptions[session], session] as const,
      ),
    )('return %s for a valid bearer token with %s (credential for tiles)', async (_, __, session) => {
      const { token, id } = await viewerWith(session);
      const query = id === undefined ? '' : `?session=${id}`;
      for (const url of ['/image-catalog/images', `/image-catalog/images/${imageId}`]) {
        expect(outcomeOf(await server.as(token).inject({ method: 'GET', url: url + query }))).toBe(
          outcomeFor(catalogueBySession[session]),
        );
      }
    });

    it('return 401 for a request with an image session (credential for tiles) but no bearer token', async () => {
      const { id } = await viewerWith('own');
      for (const url of ['/image-catalog/images', `/image-catalog/images/${imageId}`]) {
        expect(outcomeOf(await server.as(null).inject({ method: 'GET', url: `${url}?session=${id}` }))).toBe(
          outcomeFor('token_missing'),
        );
      }
    });
  });

  /** Descriptions of the additional bearer tokens, for test names. */
  const tokenDescriptions: Readonly<Record<AdditionalToken, string>> = {
    'no token': 'without a bearer token',
    'a token': "with the account's bearer token",
    "another account's token": "with another account's bearer token",
    'a bad token': 'with an unknown bearer token',
  };

  /** Describes the outcomes for one kind of image session and each additional bearer token, for test names. */
  function outcomesByToken(session: keyof typeof pixelsBySession): string {
    const outcomes = pixelsBySession[session];
    if (new Set(Object.values(outcomes)).size === 1) {
      return `${statusAndCode(outcomes['no token'])} with or without a bearer token`;
    }
    return additionalTokens
      .map((token) => `${statusAndCode(outcomes[token])} ${tokenDescriptions[token]}`)
      .join(', ');
  }

  const pixels = ['image.dzi', 'colour-table', 'thumbnail.jpg', 'image_files/9/0_0.jpeg'];

  type Ask = (method: 'GET' | 'HEAD', url: string, token: string | null) => Promise<Answer>;

  /** Sends a request over the network, so that the fast path answers tiles. */
  const askOverTheNetwork: Ask = async (method, url, token) => {
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
  /** Sends a request with Fastify's own `inject`, which the fast path does not see. */
  const askTheRoutes: Ask = async (method, url, token) => {
    const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
    const answer = await server.app.inject({ method, url: apiBase + url, headers });
    const isJson = answer.body !== '' && `${answer.headers['content-type']}`.startsWith('application/json');
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: isJson ? answer.json<unknown>() : answer.body,
    };
  };

  describe.each([
    ['the Fastify routes', askTheRoutes],
    ['the fast path (which bypasses Fastify)', askOverTheNetwork],
  ])('descriptor, colour table, thumbnail and tiles of an image through %s', (_, askPixels) => {
    const states = Object.keys(pixelsBySession) as (keyof typeof pixelsBySession)[];
    it.each(
      states.map((session) => [sessionDescriptions[session], outcomesByToken(session), session] as const),
    )('requested with %s (credential for tiles) return %s', async (_, __, session) => {
      const { token, id } = await viewerWith(session);
      const bearers = {
        'no token': null,
        'a token': token,
        "another account's token": await server.fixtures.token(await server.fixtures.admin()),
        'a bad token': unknownToken,
      };
      for (const name of pixels) {
        const url = `/image-catalog/proxy/${imageId}/${name}${id === undefined ? '' : `?session=${id}`}`;
        for (const kind of additionalTokens) {
          const expected = pixelsBySession[session][kind];
          const get = await askPixels('GET', url, bearers[kind]);
          expect(outcomeOf(get)).toBe(outcomeFor(expected));
          const head = await askPixels('HEAD', url, bearers[kind]);
          expect([head.status, head.body]).toEqual([get.status, '']);
        }
      }
    });

    it('return 404 for a missing or removed image, a missing tile and a malformed path', async () => {
      const { id } = await viewerWith('own');
      const removed = await server.fixtures.image({ removed_at: '2026-05-01T00:00:00.000Z' });
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

  describe('a visitor with a share link', () => {
    const everyEndpoint = Object.entries(endpoints).map(([name, endpoint]) => ({
      name,
      method: endpoint.method,
      url: endpoint.path.replace(/:\w+/g, missingId),
      isOpen: endpoint.access === 'anyone',
    }));

    it('gets 401 from every endpoint that needs a credential when the secret or the session of the link is sent as bearer token', async () => {
      const { visitor } = await caller('visitor');
      for (const credential of [visitor?.secret, visitor?.session]) {
        const opened: string[] = [];
        for (const { name, method, url, isOpen } of everyEndpoint) {
          if (isOpen) continue;
          const { status } = await server.as(credential ?? '').inject({ method, url, payload: {} });
          if (status !== 401) opened.push(`${name} ${status}`);
        }
        expect(opened).toEqual([]);
      }
    });

    it('has access with the image session (credential for tiles) of the link only to endpoints for pixels, IIIF and annotations', async () => {
      const { visitor: { session = '' } = {} } = await caller('visitor');
      const refused: string[] = [];
      for (const [name, { access, allowsVisitors, method, path }] of Object.entries(endpoints)) {
        if (access !== 'image-session' || allowsVisitors) continue;
        const url = path.replace(':sessionId', session).replace(/:\w+/g, missingId);
        const answer = await server.as(null).inject({ method, url, query: { session } });
        expect([name, outcomeOf(answer)]).toEqual([name, outcomeFor('session_invalid')]);
        refused.push(name);
      }
      expect(refused).not.toContain('getTile');
      const open = Object.entries(endpoints).flatMap(([name, { allowsVisitors }]) =>
        allowsVisitors ? name : [],
      );
      expect(open.sort()).toEqual([
        'getColourTable',
        'getDescriptor',
        'getThumbnail',
        'getTile',
        'iiifSessionBase',
        'iiifSessionCaseManifest',
        'iiifSessionCollectionManifest',
        'iiifSessionImage',
        'iiifSessionInformation',
        'iiifSessionManifest',
        'listAnnotationLayers',
        'listAnnotations',
      ]);
    });

    it('gets descriptor, colour table, thumbnail and tiles of the linked slide, and 404 for another slide', async () => {
      const { fixtures, as, services, clock } = server;
      const now = clock.now().toISOString();
      await saveDataset(services.db, { name: 'Set', access: 'open', isListed: false, isShared: true, now });
      const creator = await fixtures.user();
      const target = { type: 'slide', id: imageId } as const;
      const created = await as(creator).call(createShareLink, { body: { target, title: 'Ders' } });
      const secret = created.body.url.split('#')[1] ?? '';
      const { session_id: session } = (await as(null).call(openShareLink, { body: { secret } })).body;
      for (const ask of [askTheRoutes, askOverTheNetwork]) {
        for (const name of pixels) {
          const urlOf = (id: string) => `/image-catalog/proxy/${id}/${name}?session=${session}`;
          expect((await ask('GET', urlOf(imageId), null)).status).toBe(200);
          expect(await ask('GET', urlOf(otherImageId), null)).toMatchObject({ status: 404 });
          const stranger = await fixtures.token(await fixtures.user());
          expect(outcomeOf(await ask('GET', urlOf(imageId), stranger))).toBe(outcomeFor('session_invalid'));
        }
      }
      // The session does not belong to the creator of the link, so it is rejected together with the creator's token.
      const withCreatorToken = await as(creator).inject({
        method: 'GET',
        url: `/image-catalog/images?session=${session}`,
      });
      expect(outcomeOf(withCreatorToken)).toBe(outcomeFor('session_invalid'));
    });
  });

  describe('a field of a request body that no client may set (such as uid or password_hash)', () => {
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

    /** Returns the number of accounts by status and role. */
    async function countAccounts(): Promise<Map<string, number>> {
      const users = await server.services.db.selectFrom('users').select(['status', 'role']).execute();
      return new Map(
        Map.groupBy(users, ({ status, role }) => `${status} ${role}`)
          .entries()
          .map(([kind, group]) => [kind, group.length]),
      );
    }

    /** Calls an endpoint with more fields in its body. @returns how the call has changed the number of accounts by status and role */
    async function changesOf(name: string, more: object): Promise<{ status: number; changes: unknown }> {
      const who = await caller('admin');
      const endpoint = endpoints[name] as Endpoint;
      const request = await requestFor(name, who, false);
      const before = await countAccounts();
      const payload = JSON.stringify({ ...more, ...request.payload });
      const { status } = await server.as(who.token).inject({
        method: endpoint.method,
        url: request.url,
        headers: { 'content-type': 'application/json', 'x-user-id': mark },
        payload: payload.replace(/}$/, `,"__proto__":{"role":"admin","polluted":"${mark}"}}`),
        ...(request.query && { query: request.query }),
      });
      const after = await countAccounts();
      const kinds = [...new Set([...before.keys(), ...after.keys()])].sort();
      const changes = kinds.map((kind) => [kind, (after.get(kind) ?? 0) - (before.get(kind) ?? 0)]);
      return { status, changes: changes.filter(([, change]) => change !== 0) };
    }

    const withBody = Object.keys(expectedStatuses).filter((name) => endpoints[name]?.body !== undefined);
    it.each(withLabels(withBody))('is ignored by %s', async (_, name) => {
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

  describe('protected fields of an account (for example its e-mail address and status)', () => {
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

    it('do not change when an administrator sends them with an approval, suspension, promotion or new password', async () => {
      const { fixtures, services } = server;
      const { token } = await caller('admin');
      const find = async (uid: string) =>
        services.db.selectFrom('users').selectAll().where('uid', '=', uid).executeTakeFirstOrThrow();
      for (const [name, after] of [
        ['approveUser', { status: 'active', role: 'viewer', admin_approved: 1 }],
        ['suspendUser', { status: 'suspended' }],
        ['promoteUser', { role: 'admin' }],
        ['setUserPassword', {}],
      ] as const) {
        const endpoint = endpoints[name] as Endpoint;
        const user = await fixtures.user({ status: name === 'approveUser' ? 'pending' : 'active' });
        const before = await find(user.uid);
        const payload = { role: 'viewer', new_password: newPassword, ...forbidden };
        const answer = await ask(endpoint, { url: endpoint.path.replace(':uid', user.uid), payload }, token);
        expect([name, answer.status]).toEqual([name, 200]);
        const { updated_at: _, approval_date: __, ...stays } = { ...before, ...after };
        expect(await find(user.uid)).toMatchObject(stays);
      }
    });
  });

  describe('a database outage', () => {
    it('makes calls fail with a status of 500 or more, never with 401, which would sign users out', async () => {
      const serverWithoutDatabase = await testServer();
      const user = await serverWithoutDatabase.fixtures.user();
      const token = await serverWithoutDatabase.fixtures.token(user);
      await serverWithoutDatabase.services.db.destroy();
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
        expect((await serverWithoutDatabase.as(token).inject(request)).status).toBeGreaterThanOrEqual(500);
      }
      expect((await serverWithoutDatabase.app.inject({ url: '/health/ready' })).statusCode).toBe(503);
      expect((await serverWithoutDatabase.app.inject({ url: '/health/live' })).statusCode).toBe(200);
    });
  });

  describe('suspension of an account', () => {
    it('invalidates its image session (credential for tiles) for the descriptor, colour table, thumbnail and tiles of an image', async () => {
      const { fixtures, as } = server;
      const admin = await fixtures.admin();
      const user = await fixtures.user();
      const { body } = await as(await fixtures.token(user)).call(createImageSession);
      const urls = pixels.map((name) => `/image-catalog/proxy/${imageId}/${name}?session=${body.session_id}`);
      for (const url of urls) expect((await askOverTheNetwork('GET', url, null)).status).toBe(200);
      await as(admin).call(suspendUser, { params: { uid: user.uid } });
      for (const ask of [askTheRoutes, askOverTheNetwork]) {
        for (const url of urls) {
          expect(outcomeOf(await ask('GET', url, null))).toBe(outcomeFor('session_invalid'));
        }
      }
    });
  });
});
