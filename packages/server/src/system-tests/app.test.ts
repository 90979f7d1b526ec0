import net, { type AddressInfo } from 'node:net';
import { apiBase, createImageSession, getProfile } from '@lamina/contract';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testServer } from '../testing/test-server.ts';

const login = `${apiBase}/auth/login`;

describe('an invalid POST request to /auth/login', () => {
  it.each([
    [
      'a body that is not JSON',
      { payload: '{"email":"xxx', headers: { 'content-type': 'application/json' } },
      400,
      'invalid_request',
    ],
    [
      'a body that is a JSON list',
      { payload: '["xxx"]', headers: { 'content-type': 'application/json' } },
      400,
      'invalid_request',
    ],
    [
      'a body that is the JSON value null',
      { payload: 'null', headers: { 'content-type': 'application/json' } },
      400,
      'invalid_request',
    ],
    ['no body', {}, 400, 'invalid_request'],
    [
      'an empty form-encoded body (treated as no body)',
      {
        payload: '',
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' },
      },
      400,
      'invalid_request',
    ],
    [
      'a form-encoded body',
      { payload: 'email=xxx', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
      'unsupported_type',
    ],
    [
      'a JSON body with the content type text/plain',
      { payload: '{"email":"xxx"}', headers: { 'content-type': 'text/plain' } },
      415,
      'unsupported_type',
    ],
    [
      'a body of 70 kB',
      {
        payload: JSON.stringify({ email: 'x'.repeat(70_000) }),
        headers: { 'content-type': 'application/json' },
      },
      413,
      'too_large',
    ],
    ['a URL of more than 4096 characters', { query: { q: 'x'.repeat(5000) } }, 413, 'too_large'],
  ])(
    'that has %s is rejected with $2 $3, in a response that repeats neither its body nor its query',
    async (_, request, status, code) => {
      const { app, fixtures } = await testServer();
      await fixtures.user();
      const answer = await app.inject({ method: 'POST', url: login, ...request });
      expect(answer.statusCode).toBe(status);
      // `xxx` is in the body or in the query of each request that has one.
      expect(answer.body).not.toContain('xxx');
      expect(answer.json()).toMatchObject({
        code,
        message: expect.any(String),
        requestId: expect.any(String),
      });
    },
  );
});

describe('every response of the server API', () => {
  it('has the X-Request-Id of the request when this id is valid, otherwise a new one', async () => {
    const { app, logged } = await testServer();
    const ask = (id: string) =>
      app.inject({ url: `${apiBase}/user/profile`, headers: { 'x-request-id': id } });
    const good = await ask('my-request-1');
    expect(good.headers['x-request-id']).toBe('my-request-1');
    expect(good.json()).toMatchObject({ requestId: 'my-request-1' });
    const newIds = new Set<unknown>();
    for (const bad of ['short', 'x'.repeat(65), 'line\u001b[31m-red-request']) {
      const answer = await ask(bad);
      const newId = answer.headers['x-request-id'];
      expect(newId).toMatch(/^[0-9a-f-]{36}$/);
      newIds.add(newId);
      expect(logged()).not.toContain(JSON.stringify(bad));
    }
    expect(newIds.size).toBe(3);
  });

  it('has headers that forbid framing, MIME sniffing, and use by pages of other origins', async () => {
    const { app } = await testServer();
    const { headers } = await app.inject({ url: `${apiBase}/user/profile` });
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(headers['content-security-policy']).toContain("default-src 'self'");
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers).not.toHaveProperty('access-control-allow-origin');
    expect(headers).not.toHaveProperty('x-powered-by');
  });
});

describe('the access log of the server', () => {
  it('has one line per request, which contains neither bearer tokens nor ids of image sessions (credentials for tiles)', async () => {
    const { as, fixtures, logged } = await testServer();
    const user = await fixtures.user();
    const token = await fixtures.token(user);
    const { body } = await as(token).call(createImageSession);
    await as(token).call(getProfile);
    const url = `/image-catalog/proxy/00000000-0000-4000-8000-000000000000/image.dzi?session=${body.session_id}`;
    await as(null).inject({ method: 'GET', url });

    const lines = logged()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string; route?: string; uid?: string });
    const requests = lines.filter(({ msg }) => msg === 'request');
    expect(requests.map(({ route, uid = null }) => [route, uid])).toEqual([
      [`${apiBase}/auth/login`, null],
      [`${apiBase}/auth/image-session`, user.uid],
      [`${apiBase}/user/profile`, user.uid],
      [`${apiBase}/image-catalog/proxy/:imageId/image.dzi`, user.uid],
    ]);
    for (const line of requests) {
      expect(line).toMatchObject({
        level: 30,
        time: expect.any(Number) as number,
        requestId: expect.stringMatching(/^[\w-]{8,64}$/) as string,
        method: expect.any(String) as string,
        status: expect.any(Number) as number,
        ms: expect.any(Number) as number,
        bytes: expect.any(Number) as number,
        address: '127.0.0.1',
      });
    }
    expect(logged()).not.toContain(token);
    expect(logged()).not.toContain(body.session_id);
  });
});

describe('a client that opens many connections', () => {
  it.each([
    ['keeps only 5 of 12 connections when the setting CONNECTIONS_PER_ADDRESS is 5', '203.0.113.66', [], 5],
    [
      'keeps all 12 connections, in spite of CONNECTIONS_PER_ADDRESS = 5, if it is a trusted proxy',
      '203.0.113.66',
      ['203.0.113.0/24'],
      12,
    ],
    [
      'keeps all 12 connections, in spite of CONNECTIONS_PER_ADDRESS = 5, if it runs on the machine of the server',
      '127.0.0.1',
      [],
      12,
    ],
  ] as const)('%s', async (_, address, trustedProxies, keptCount) => {
    const { app, logged } = await testServer({ config: { connectionsPerAddress: 5, trustedProxies } });
    // All connections of a test come from this machine, so the test replaces the address that the server sees.
    app.server.prependListener('connection', (socket) =>
      Object.defineProperty(socket, 'remoteAddress', { value: address }),
    );
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const answers = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const socket = net.connect(port, '127.0.0.1');
        onTestFinished(() => void socket.destroy());
        socket.on('error', () => undefined);
        const closed = new Promise<null>((resolve) => socket.once('close', () => resolve(null)));
        const answer = new Promise<string>((resolve) =>
          socket.once('data', (data) => resolve(String(data).slice(0, 12))),
        );
        socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
        return Promise.race([answer, closed]);
      }),
    );
    expect(answers.filter((answer) => answer !== null)).toEqual(Array(keptCount).fill('HTTP/1.1 200'));
    expect(logged().includes('connection limit per address reached')).toBe(keptCount === 5);
  });
});

describe('a request to the server API', () => {
  it.each([
    ['POST', '/image-catalog/images', 405, 'This method is not supported.'],
    ['GET', '/image-catalog/nothing', 404, 'Not found.'],
    ['GET', '/auth/login', 405, 'Bu yöntem desteklenmiyor.'],
    ['GET', '/nothing', 404, 'Bulunamadı.'],
  ] as const)(
    '%s %s without Accept-Language is rejected with %d and %j (default language: English for images, otherwise Turkish)',
    async (method, path, status, message) => {
      const { app } = await testServer();
      const answer = await app.inject({ method, url: `/api/v1${path}` });
      expect([answer.statusCode, answer.json<{ message: string }>().message]).toEqual([status, message]);
    },
  );

  it('to approve an account is rejected with 400 when its body is the JSON value null', async () => {
    const { app, fixtures } = await testServer();
    const token = await fixtures.token(await fixtures.admin());
    const pending = await fixtures.user({ status: 'pending', role: 'unassigned' });
    const answer = await app.inject({
      method: 'POST',
      url: `/api/v1/admin/users/${pending.uid}/approve`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      payload: 'null',
    });
    expect(answer.statusCode).toBe(400);
  });

  it('to create an image session gets 201 when its empty body has the type application/x-www-form-urlencoded, as curl -d sends it', async () => {
    const { app, fixtures } = await testServer();
    const token = await fixtures.token(await fixtures.user());
    const answer = await app.inject({
      method: 'POST',
      url: '/api/v1/auth/image-session',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': '0',
      },
    });
    expect(answer.statusCode).toBe(201);
  });
});
